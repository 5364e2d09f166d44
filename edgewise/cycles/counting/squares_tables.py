"""Squares on a GPU: the ends of every top's wedges in a table.

Two wedges of one top ``v`` that end in the same ``u`` are a square, found at its highest vertex (Chiba and
Nishizeki 1985; per vertex: Burkhardt and Harris, *Simple and efficient four-cycle counting on sparse graphs*,
arXiv 2303.06090).  With ``L(u)`` wedges that end in ``u``, ``v`` and ``u`` lie on ``L (L - 1) / 2`` squares,
and a middle on ``L - 1`` for each of its wedges.  The wedges are gone through twice: ends are entered into
the table, then the middles ask it.
"""

import numpy as np

from edgewise.cycles.counting.apex import Tops, regions, wedges_as_work
from edgewise.cycles.counting.tables import (
    HALF,
    LOWER,
    clear,
    deal,
    enter_wedges,
    find,
    meet_crew,
    slots_for,
)
from edgewise.device import device, fetch_add
from edgewise.device.warps import find_segment, inclusive_scan, segment_sum, shuffle


@device
def credit_middles(top, crew, table, base, slots, ranked, below, counts):
    """Give every middle the squares of its wedges."""
    offsets, neighbours, split = ranked
    _, _, warps, lane, lanes, _, _ = crew
    chunk, end = offsets[top], split[top]
    while chunk < end:
        entry, length, ends, shift = deal(chunk, end, crew, ranked, below)
        total, wedge, found = shuffle(ends, lanes - 1), np.int64(lane), np.int64(0)
        while wedge - lane < total:
            position = wedge + shuffle(shift, find_segment(wedge, ends, lanes))
            others = np.int64(0)
            if wedge < total:
                others = (table[base + find(table, base, slots, np.int64(neighbours[position]))] & LOWER) - 1
            done = wedge - lane
            found += segment_sum(others, ends - length - done, ends - done, lane)
            wedge += lanes
        if found > 0:
            fetch_add(counts, neighbours[entry], found)
        chunk += warps * lanes


@device
def credit_ends(top, crew, table, base, slots, counts):
    """Give every end, and the top, the squares between them."""
    _, warp, warps, lane, lanes, _, _ = crew
    own = np.int64(0)
    for slot in range(warp * lanes + lane, slots, warps * lanes):
        held = table[base + slot]
        wedges = held & LOWER
        if wedges > 1:
            found = wedges * (wedges - 1) // 2
            fetch_add(counts, (held >> HALF) - 1, found)
            own += found
    own = inclusive_scan(own, lane)
    if lane == lanes - 1 and own > 0:
        fetch_add(counts, top, own)


@device
def count_top(top, wedges, crew, table, base, given):
    """Credit all squares whose highest vertex is ``top``."""
    offsets, neighbours, split, below, counts = given
    ranked = offsets, neighbours, split
    slots = slots_for(min(wedges, top))
    clear(crew, table, base, slots)
    meet_crew(crew)
    enter_wedges(top, crew, table, base, slots, ranked, below)
    meet_crew(crew)
    credit_middles(top, crew, table, base, slots, ranked, below, counts)
    credit_ends(top, crew, table, base, slots, counts)
    meet_crew(crew)


REGIONS = regions(count_top, __name__, words=4096)


def start(ranked, order, length, **sizes):
    """Make ready to count squares; see :class:`edgewise.cycles.method.Solver`."""
    return Tops(REGIONS, ranked, order, fields=1, **sizes)


work = wedges_as_work
