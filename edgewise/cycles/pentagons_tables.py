"""Pentagons on a GPU: the ends of every top's wedges in a table, joined by edges.

A pentagon whose highest vertex is ``v`` is two wedges ``v, a, u`` and ``v, b, w`` and the edge ``u, w``.
With ``p(u)`` wedges that end in ``u`` and ``S(u)`` the sum of ``p(w)`` over the neighbours ``w`` of ``u``,
an end lies on ``p(u) S(u)`` such pairs, ``v`` on half of their sum, and a middle on the sum of ``S`` over
the ends of its wedges.  Of these pairs some meet themselves and are taken off again:

* ``a = w`` or ``b = u``: a middle that is an end, too.  With ``p(a)`` triangles below ``v`` at a middle and
``d``   wedges through it: ``p(a) d`` from ``v``, twice that from ``a``, and from each end ``u`` of ``a``
``p(a)``, and ``d``   if ``u`` is a middle as well. * both at once, ``v, a, b, a, b``, was taken off twice:
half of ``p(a)`` comes back to ``v``, ``2 p(a)`` to ``a``. * ``a = b``: an edge from ``v`` to a corner of a
triangle below ``v``; see :mod:`edgewise.cycles.corners`.

The counts by top are from Kowalik's algorithm for five-cycles in sparse graphs (2003), taken to vertices.
"""

import numpy as np

from edgewise.cycles.corners import corners
from edgewise.cycles.tables import HALF, LOWER, clear, deal, enter_wedges, find, meet_crew, slots_for
from edgewise.cycles.tops import Tops, regions, wedges_as_work
from edgewise.device import arrays, device, fetch_add
from edgewise.device.warps import from_lane, owner_of, sum_of_share, sum_up_to

#: Words of a slot: the end and its wedges; their sum over its neighbours; what is to be taken off.
FIELDS = 3
#: In the word of what is to be taken off: this end is a middle, too.
MIDDLE = 1 << 61


@device
def mark_middles(top, crew, table, base, slots, ranked):
    """Mark the ends that are middles."""
    offsets, neighbours, split = ranked
    _, warp, warps, lane, lanes, _, _ = crew
    for entry in range(offsets[top] + warp * lanes + lane, split[top], warps * lanes):
        slot = find(table, base, slots, np.int64(neighbours[entry]))
        if slot >= 0:
            table[base + 2 * slots + slot] = MIDDLE


@device
def join_ends(top, crew, table, base, slots, ranked):
    """For each edge between two ends add the wedges of each to the sum of the other."""
    offsets, neighbours, split = ranked
    _, warp, warps, lane, lanes, _, _ = crew
    chunk = warp * lanes
    while chunk < slots:
        held, length, start = np.int64(0), np.int64(0), np.int64(0)
        if chunk + lane < slots:
            held = table[base + chunk + lane]
        if held != 0:
            end = (held >> HALF) - 1
            start = split[end]
            length = offsets[end + 1] - start
        ends = sum_up_to(length, lane)
        total, shift, edge = from_lane(ends, lanes - 1), start + length - ends, np.int64(lane)
        while edge - lane < total:
            owner = owner_of(edge, ends, lanes)
            entry, wedges = edge + from_lane(shift, owner), from_lane(held & LOWER, owner)
            if edge < total:
                other = np.int64(neighbours[entry])
                slot = find(table, base, slots, other) if other < top else np.int64(-1)
                if slot >= 0:
                    fetch_add(table, base + slots + chunk + owner, table[base + slot] & LOWER)
                    fetch_add(table, base + slots + slot, wedges)
            edge += lanes
        chunk += warps * lanes


@device
def credit_middles(top, crew, table, base, slots, given):
    """Give every middle what its wedges are part of; note at the ends what is to be taken off."""
    offsets, neighbours, split, below, counts, _, ladder = given
    _, _, warps, lane, lanes, _, _ = crew
    ranked, sums, off = (offsets, neighbours, split), base + slots, base + 2 * slots
    chunk, end, own = offsets[top], split[top], np.int64(0)
    while chunk < end:
        entry, length, ends, shift = deal(chunk, end, crew, ranked, below)
        triangles, found = np.int64(0), np.int64(0)
        if entry < end:
            slot = find(table, base, slots, np.int64(neighbours[entry]))
            if slot >= 0:
                triangles = table[base + slot] & LOWER
        total, wedge = from_lane(ends, lanes - 1), np.int64(lane)
        while wedge - lane < total:
            owner = owner_of(wedge, ends, lanes)
            place, its_triangles = wedge + from_lane(shift, owner), from_lane(triangles, owner)
            its_length, value = from_lane(length, owner), np.int64(0)
            if wedge < total:
                slot = find(table, base, slots, np.int64(neighbours[place]))
                value = table[sums + slot]
                less = its_triangles
                if table[off + slot] >= MIDDLE:
                    less += its_length
                if less > 0:
                    fetch_add(table, off + slot, less)
            done = wedge - lane
            found += sum_of_share(value, ends - length - done, ends - done, lane)
            wedge += lanes
        if entry < end:
            middle = np.int64(neighbours[entry])
            found += 2 * triangles - 2 * triangles * length
            if found != 0:
                fetch_add(counts, middle, found)
            pendant = ladder[offsets[middle] + length + 1] - ladder[offsets[middle]]
            own += triangles - 2 * triangles * length - 2 * pendant
        chunk += warps * lanes
    return own


@device
def credit_ends(crew, table, base, slots, counts):
    """Give every end what it is part of; return twice what the top is part of with these ends."""
    _, warp, warps, lane, lanes, _, _ = crew
    own = np.int64(0)
    for slot in range(warp * lanes + lane, slots, warps * lanes):
        held = table[base + slot]
        if held != 0:
            pairs = (held & LOWER) * table[base + slots + slot]
            found = pairs - (table[base + 2 * slots + slot] & (MIDDLE - 1))
            own += pairs
            if found != 0:
                fetch_add(counts, (held >> HALF) - 1, found)
    return own


@device
def count_top(top, wedges, crew, table, base, given):
    """Credit all pentagons whose highest vertex is ``top``."""
    offsets, neighbours, split, below, counts, twice, _ = given
    ranked, lane, lanes = (offsets, neighbours, split), crew[3], crew[4]
    slots = slots_for(min(wedges, top))
    clear(crew, table, base, FIELDS * slots)
    meet_crew(crew)
    enter_wedges(top, crew, table, base, slots, ranked, below)
    meet_crew(crew)
    mark_middles(top, crew, table, base, slots, ranked)
    join_ends(top, crew, table, base, slots, ranked)
    meet_crew(crew)
    own = credit_middles(top, crew, table, base, slots, given)
    meet_crew(crew)
    own = sum_up_to(own + credit_ends(crew, table, base, slots, counts), lane)
    if lane == lanes - 1 and own != 0:
        fetch_add(twice, top, own)
    meet_crew(crew)


REGIONS = regions(count_top, __name__, words=FIELDS * 1024)


class Pentagons(Tops):
    """A count of pentagons under way; see :class:`edgewise.cycles.method.Solver`."""

    def __init__(self, ranked, order, **sizes):
        self.corrections, ladder = corners(ranked)
        super().__init__(REGIONS, ranked, order, FIELDS, ladder, **sizes)

    def settle(self):
        """Take off the triangles with an edge to a corner, for all vertices but the edge's other end."""
        with arrays.on(self.place):
            self.found -= self.corrections


def start(ranked, order, length, **sizes):
    """Make ready to count pentagons; see :class:`edgewise.cycles.method.Solver`."""
    return Pentagons(ranked, order, **sizes)


work = wedges_as_work
