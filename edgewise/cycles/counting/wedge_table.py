"""Hash tables of the endpoints of wedges, for a warp, a block or the whole grid.

A *wedge* of an apex ``v`` is a path ``v, a, u`` whose middle ``a`` and endpoint ``u`` are lower than ``v``.
Squares and pentagons are counted from the number of wedges that end in each ``u``.  An array over all
vertices for each of thousands of workers would not fit into memory.  A
:class:`~edgewise.cycles.counting.apex.ThreadGroup` therefore has a table with open addressing for the
endpoints that its apex can have: in a block's shared memory where these are few, else in the GPU's memory.

A slot of a table is one word: the endpoint plus one in the upper half (``KEY_SHIFT``), its wedges in the
lower (``COUNT_MASK``); zero is an empty slot.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import cas, device, fetch_add
from edgewise.device.warps import find_segment, inclusive_scan, shuffle

#: Slots that a table has at least; there are a third more than there may be endpoints.
MIN_SLOTS = 32
KEY_SHIFT = 32
COUNT_MASK = (1 << KEY_SHIFT) - 1


class WedgeTable(NamedTuple):
    """A table of ``n_slots``, a power of two, from index ``base`` of an int64 array on.

    Further fields of the slots follow in blocks of ``n_slots`` words.
    """

    words: Any
    base: int
    n_slots: int


@device
def slots_for(endpoints):
    """Slots of a table that holds so many endpoints."""
    slots = np.int64(MIN_SLOTS)
    while 3 * slots < 4 * endpoints:
        slots *= 2
    return slots


@device
def clear(group, table, n_words):
    """Set the first words of the table to zero."""
    for word in range(group.warp * group.n_lanes + group.lane, n_words, group.n_warps * group.n_lanes):
        table.words[table.base + word] = 0


@device
def first_slot(vertex, n_slots):
    """Slot in which the search for a vertex begins."""
    return (vertex * 0x9E3779B1 >> 12) & (n_slots - 1)


@device
def insert(table, vertex):
    """Count one more wedge that ends in ``vertex``; other threads may do the same."""
    words, base, n_slots = table
    slot, key = first_slot(vertex, n_slots), vertex + 1
    while True:
        word = words[base + slot]
        if word == 0:
            word = cas(words, base + slot, np.int64(0), (key << KEY_SHIFT) + 1)
            if word == 0:
                return
        if word >> KEY_SHIFT == key:
            fetch_add(words, base + slot, 1)
            return
        slot = (slot + 1) & (n_slots - 1)


@device
def find(table, vertex):
    """Slot of ``vertex``, or -1."""
    words, base, n_slots = table
    slot, key = first_slot(vertex, n_slots), vertex + 1
    while True:
        word = words[base + slot]
        if word >> KEY_SHIFT == key:
            return slot
        if word == 0:
            return np.int64(-1)
        slot = (slot + 1) & (n_slots - 1)


class WedgeShare(NamedTuple):
    """A lane's middle, and how the wedges of the warp's middles are distributed evenly to its lanes.

    ``entry`` is the middle's in the row of the apex, not below the row's end if the lane has none; ``length``
    its wedges, ``last`` their inclusive scan over the lanes.  If wedge ``w`` of the warp is this middle's,
    its endpoint is at entry ``w + shift``.
    """

    entry: int
    length: int
    last: int
    shift: int


@device
def wedge_shares(chunk, end, group, graph):
    """Give each lane one of the lower neighbours of an apex, from entry ``chunk`` on."""
    entry, length, start = chunk + group.warp + group.n_warps * group.lane, np.int64(0), np.int64(0)
    if entry < end:
        length, start = np.int64(graph.lengths[entry]), graph.csr.offsets[graph.csr.neighbours[entry]]
    last = inclusive_scan(length, group.lane)
    return WedgeShare(entry, length, last, start + length - last)


@device
def insert_wedges(apex, group, table, graph):
    """Insert the endpoints of all wedges of an apex."""
    csr = graph.csr
    chunk, end = csr.offsets[apex], csr.split[apex]
    while chunk < end:
        share = wedge_shares(chunk, end, group, graph)
        total, wedge = shuffle(share.last, group.n_lanes - 1), np.int64(group.lane)
        while wedge - group.lane < total:
            entry = wedge + shuffle(share.shift, find_segment(wedge, share.last, group.n_lanes))
            if wedge < total:
                insert(table, np.int64(csr.neighbours[entry]))
            wedge += group.n_lanes
        chunk += group.n_warps * group.n_lanes
