"""Tables of the ends of wedges, for a warp, a team or all workers at once.

A *wedge* of a top vertex ``v`` is a path ``v, a, u`` whose middle ``a`` and end ``u`` are lower than ``v``.
Squares and pentagons are counted from the number of wedges that end in each ``u``.  An array over all
vertices for each worker would not fit beside thousands of workers, so they keep a hash table with room for
the ends there can be: in a block's shared memory where these are few, else in the GPU's memory.

A *crew* works on one top: ``(kind, warp, warps, lane, lanes, barrier, everyone)``, the warp's number in the
crew and the lane's in its warp.  A slot of a table is one word: the end plus one in the upper half, its
wedges in the lower; zero is an empty slot.
"""

import numpy as np

from edgewise.cycles.counting.lookup import first_from
from edgewise.device import Worker, barrier_wait, cas, device, each_row, fetch_add
from edgewise.device.warps import (
    block_barrier,
    block_size,
    find_segment,
    inclusive_scan,
    shuffle,
    warp_barrier,
    warp_size,
)

#: Kinds of crews.
WARP, TEAM, ALL = 0, 1, 2
#: A table has at least so many slots, and a third more than there may be ends.
FEWEST = 32
HALF = 32
LOWER = (1 << HALF) - 1


@device
def warp_crew(worker):
    """A warp by itself."""
    lanes = warp_size()
    return WARP, 0, 1, worker.id % lanes, lanes, worker.barrier, worker.count


@device
def team_crew(worker):
    """All warps of a team."""
    lanes, team = warp_size(), block_size()
    return (
        TEAM,
        worker.id % team // lanes,
        team // lanes,
        worker.id % lanes,
        lanes,
        worker.barrier,
        worker.count,
    )


@device
def whole_crew(worker):
    """All warps there are."""
    lanes = warp_size()
    return (
        ALL,
        worker.id // lanes,
        worker.count // lanes,
        worker.id % lanes,
        lanes,
        worker.barrier,
        worker.count,
    )


@device
def meet_crew(crew):
    """Wait until the whole crew is here."""
    if crew[0] == WARP:
        warp_barrier()
    elif crew[0] == TEAM:
        block_barrier()
    else:
        barrier_wait(Worker(0, crew[6], crew[5]))


@device
def slots_for(wedges):
    """Slots of a table for the ends of so many wedges."""
    slots = np.int64(FEWEST)
    while 3 * slots < 4 * wedges:
        slots *= 2
    return slots


@device
def clear(crew, table, base, words):
    """Empty a stretch of the table."""
    _, warp, warps, lane, lanes, _, _ = crew
    for word in range(warp * lanes + lane, words, warps * lanes):
        table[base + word] = 0


@device
def first_slot(vertex, slots):
    """Slot where the search for a vertex begins."""
    return (vertex * 0x9E3779B1 >> 12) & (slots - 1)


@device
def enter(table, base, slots, vertex):
    """Count one more wedge that ends in ``vertex``."""
    slot, key = first_slot(vertex, slots), vertex + 1
    while True:
        held = table[base + slot]
        if held == 0:
            held = cas(table, base + slot, np.int64(0), (key << HALF) + 1)
            if held == 0:
                return
        if held >> HALF == key:
            fetch_add(table, base + slot, 1)
            return
        slot = (slot + 1) & (slots - 1)


@device
def find(table, base, slots, vertex):
    """Slot of ``vertex``, or -1."""
    slot, key = first_slot(vertex, slots), vertex + 1
    while True:
        held = table[base + slot]
        if held >> HALF == key:
            return slot
        if held == 0:
            return np.int64(-1)
        slot = (slot + 1) & (slots - 1)


@device
def deal(chunk, end, crew, ranked, below):
    """Give each lane one of the top's lower neighbours, a middle, and what sharing out their wedges takes.

    Returns
    -------
    entry : int
        The middle's entry, ``end`` or more if there is none for this lane.
    length : int
        Its wedges.
    ends : int
        Wedges of the lanes up to this one.
    shift : int
        What to add to a wedge's number among those of the warp, if it is this lane's, to get its entry.
    """
    offsets, neighbours, _ = ranked
    _, warp, warps, lane, _, _, _ = crew
    entry, length, start = chunk + warp + warps * lane, np.int64(0), np.int64(0)
    if entry < end:
        length, start = np.int64(below[entry]), offsets[neighbours[entry]]
    ends = inclusive_scan(length, lane)
    return entry, length, ends, start + length - ends


@device
def enter_wedges(top, crew, table, base, slots, ranked, below):
    """Enter the ends of all wedges of a top into its table."""
    offsets, neighbours, split = ranked
    _, _, warps, lane, lanes, _, _ = crew
    chunk, end = offsets[top], split[top]
    while chunk < end:
        _, _, ends, shift = deal(chunk, end, crew, ranked, below)
        total, wedge = shuffle(ends, lanes - 1), np.int64(lane)
        while wedge - lane < total:
            entry = wedge + shuffle(shift, find_segment(wedge, ends, lanes))
            if wedge < total:
                enter(table, base, slots, np.int64(neighbours[entry]))
            wedge += lanes
        chunk += warps * lanes


@each_row
def measure(top, lane, lanes, offsets, neighbours, split, below, wedges):
    """Count the wedges of a top: of each lower neighbour's row, what is lower than the top."""
    found = np.int64(0)
    for entry in range(offsets[top] + lane, split[top], lanes):
        middle = np.int64(neighbours[entry])
        length = first_from(top, split[middle], offsets[middle + 1], neighbours) - offsets[middle]
        below[entry] = length
        found += length
    if found > 0:
        fetch_add(wedges, top, found)
