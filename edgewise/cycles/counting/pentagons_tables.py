"""Pentagons on a GPU: the ends of every top's wedges in a table, joined by edges.

The count is that of :mod:`edgewise.cycles.counting.pentagons`, top by top, and what is taken off is the same,
so that CPU threads and GPUs can share the tops.  The table keeps, for every end ``u`` of a wedge, the wedges
``p(u)``, the sum ``S(u)`` of the wedges that end beside it, and what ``u`` is to lose.  All workers of a
crew add to these at once, by atomics; between the steps they meet.

A middle that is an end, too, gives the ends beside it less: its ``S`` is lowered by its degree less one
before the middles are credited, and its own share, ``p S`` as it was, is kept by what it is to lose.
"""

import numpy as np

from edgewise.cycles.counting.apex import Tops, regions, wedges_as_work
from edgewise.cycles.counting.tables import HALF, LOWER, clear, deal, enter_wedges, find, meet_crew, slots_for
from edgewise.device import arrays, device, each_row, fetch_add
from edgewise.device.warps import find_segment, inclusive_scan, segment_sum, shuffle
from edgewise.primitives import exclusive_scan

#: Words of a slot: the end and its wedges; the sum of those beside it; what it is to lose.
FIELDS = 3


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
        ends = inclusive_scan(length, lane)
        total, shift, edge = shuffle(ends, lanes - 1), start + length - ends, np.int64(lane)
        while edge - lane < total:
            owner = find_segment(edge, ends, lanes)
            entry, wedges = edge + shuffle(shift, owner), shuffle(held & LOWER, owner)
            if edge < total:
                other = np.int64(neighbours[entry])
                slot = find(table, base, slots, other) if other < top else np.int64(-1)
                if slot >= 0:
                    fetch_add(table, base + slots + chunk + owner, table[base + slot] & LOWER)
                    fetch_add(table, base + slots + slot, wedges)
            edge += lanes
        chunk += warps * lanes


@device
def lower_middles(top, crew, table, base, slots, ranked):
    """Let the middles that are ends give less to those beside them, but keep their own."""
    offsets, neighbours, split = ranked
    _, warp, warps, lane, lanes, _, _ = crew
    for entry in range(offsets[top] + warp * lanes + lane, split[top], warps * lanes):
        middle = np.int64(neighbours[entry])
        slot = find(table, base, slots, middle)
        if slot >= 0:
            others = offsets[middle + 1] - offsets[middle] - 1
            table[base + slots + slot] -= others
            table[base + 2 * slots + slot] = -others * (table[base + slot] & LOWER)


@device
def credit_middles(top, crew, table, base, slots, ranked, below, counts, ladder):
    """Credit every middle; note at the ends what they lose.  Twice what the top gets, and its triangles."""
    offsets, neighbours, split = ranked
    _, _, warps, lane, lanes, _, _ = crew
    above, sums, losses = offsets[top + 1] - split[top], base + slots, base + 2 * slots
    chunk, end, own, around = offsets[top], split[top], np.int64(0), np.int64(0)
    while chunk < end:
        entry, length, ends, shift = deal(chunk, end, crew, ranked, below)
        triangles, found = np.int64(0), np.int64(0)
        if entry < end:
            slot = find(table, base, slots, np.int64(neighbours[entry]))
            if slot >= 0:
                triangles = table[base + slot] & LOWER
        total, wedge = shuffle(ends, lanes - 1), np.int64(lane)
        while wedge - lane < total:
            owner, value = find_segment(wedge, ends, lanes), np.int64(0)
            position, loss = wedge + shuffle(shift, owner), shuffle(triangles, owner)
            if wedge < total:
                slot = find(table, base, slots, np.int64(neighbours[position]))
                value = table[sums + slot]
                if loss > 0:
                    fetch_add(table, losses + slot, loss)
            done = wedge - lane
            found += segment_sum(value, ends - length - done, ends - done, lane)
            wedge += lanes
        if entry < end:
            middle = np.int64(neighbours[entry])
            others = offsets[middle + 1] - offsets[middle] - 1
            found -= triangles * (2 * others - 2 + above)
            if found != 0:
                fetch_add(counts, middle, found)
            if triangles > 0:
                ladder[offsets[middle] + length] = triangles
                own += triangles * (length + 1 - 2 * others - 2 * above)
                around += triangles
        chunk += warps * lanes
    return own, around


@device
def credit_ends(crew, table, base, slots, counts):
    """Credit every end; return what they got."""
    _, warp, warps, lane, lanes, _, _ = crew
    own = np.int64(0)
    for slot in range(warp * lanes + lane, slots, warps * lanes):
        held = table[base + slot]
        if held != 0:
            found = (held & LOWER) * table[base + slots + slot] - table[base + 2 * slots + slot]
            own += found
            if found != 0:
                fetch_add(counts, (held >> HALF) - 1, found)
    return own


@device
def count_top(top, wedges, crew, table, base, given):
    """Credit all pentagons whose highest vertex is ``top``."""
    offsets, neighbours, split, below, counts, twice, around, ladder = given
    ranked, lane, lanes = (offsets, neighbours, split), crew[3], crew[4]
    slots = slots_for(min(wedges, top))
    clear(crew, table, base, FIELDS * slots)
    meet_crew(crew)
    enter_wedges(top, crew, table, base, slots, ranked, below)
    meet_crew(crew)
    join_ends(top, crew, table, base, slots, ranked)
    meet_crew(crew)
    lower_middles(top, crew, table, base, slots, ranked)
    meet_crew(crew)
    own, triangles = credit_middles(top, crew, table, base, slots, ranked, below, counts, ladder)
    meet_crew(crew)
    own = inclusive_scan(own + credit_ends(crew, table, base, slots, counts), lane)
    triangles = inclusive_scan(triangles, lane)
    if lane == lanes - 1 and own != 0:
        fetch_add(twice, top, own)
    if lane == lanes - 1 and triangles > 0:
        fetch_add(around, top, triangles)
    meet_crew(crew)


@each_row
def climb(vertex, lane, lanes, offsets, neighbours, split, below, sums, around, counts):
    """Take off the triangles below a vertex at its lower neighbours."""
    lost = np.int64(0)
    for entry in range(offsets[vertex] + lane, split[vertex], lanes):
        corner = np.int64(neighbours[entry])
        lost += around[corner] // 2 + sums[offsets[corner] + below[entry]] - sums[split[corner]]
    if lost > 0:
        fetch_add(counts, vertex, -lost)


REGIONS = regions(count_top, __name__, words=FIELDS * 1024)


class Pentagons(Tops):
    """A count of pentagons under way; see :class:`edgewise.cycles.method.Solver`.

    What a top gets is counted ``twice``, and so are the triangles ``around`` it whose highest vertex it is;
    the ladder has the triangles at each corner where their top stands in the corner's row.
    """

    def __init__(self, ranked, order, **sizes):
        n, device = ranked.n_vertices, ranked.device
        self.twice, self.around = arrays.zeros(n, np.int64, device), arrays.zeros(n, np.int64, device)
        self.ladder = arrays.zeros(len(ranked.neighbours), np.int64, device)
        extras = self.twice, self.around, self.ladder
        super().__init__(REGIONS, ranked, order, FIELDS, extras, **sizes)

    @property
    def counts(self):
        """What was found so far, by rank: (n,) int64 array."""
        with arrays.on(self.device):
            counts = self.found + self.twice // 2
            given = self.below, exclusive_scan(self.ladder), self.around, counts
            climb(len(counts), *self.graph, *given, width="warp")
        return counts


def start(ranked, order, length, **sizes):
    """Make ready to count pentagons; see :class:`edgewise.cycles.method.Solver`."""
    return Pentagons(ranked, order, **sizes)


work = wedges_as_work
