"""Apex vertices distributed to warps, blocks or the whole grid of a GPU, with tables of their wedges.

A *wedge* of an apex ``v`` is a path ``v, a, u`` whose middle ``a`` and endpoint ``u`` are lower than ``v``.
Squares and pentagons are counted from the number of wedges that end in each ``u``.  Arrays over all vertices
for thousands of workers would not fit into memory, so a thread group has a hash table with open addressing.
A slot is one word: the endpoint plus one in the upper half (``KEY_SHIFT``), its wedges in the lower
(``COUNT_MASK``); zero is an empty slot.

The tasks are sorted by wedges, most first, and cut into four parts: vertices counted by the whole grid, by
blocks with tables in the memory of the GPU, by blocks with tables in shared memory, and by warps.  Each part
is one launch, in which the thread groups take vertices from an atomic counter.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.counting.ranked import RankedCSR, even_pieces
from edgewise.cycles.counting.wedges import Limits, key_of_wedges, measure_row, measure_wedges, place_apex
from edgewise.device import (
    arrays,
    barrier_wait,
    cas,
    device,
    each,
    fetch_add,
    launch,
    parallel_region,
)
from edgewise.device.regions import workers
from edgewise.device.warps import (
    block_barrier,
    block_size,
    find_segment,
    inclusive_scan,
    shuffle,
    warp_barrier,
    warp_size,
)
from edgewise.errors import OptionError
from edgewise.primitives import ascending, count

#: Kinds of thread groups.
WARP, BLOCK, GRID = 0, 1, 2
#: Threads of a block.
THREADS = 256
#: Blocks of a multiprocessor.
BLOCKS_PER_SM = 8
#: Blocks of a multiprocessor whose tables are in the GPU's memory.
BLOCKS_PER_SM_OUTSIDE = 4
#: These tables may take one part in so many of the free memory of the GPU.
PART = 8
#: Wedges, times the fields of a slot, from which on the grid counts a vertex: smaller ones do not pay for the
#: barriers, larger ones for one table per block, which do not fit into the cache.
WORDS_OF_GRID = 1 << 20
#: Slots of the smallest table; there are a third more than there may be endpoints.
SLOTS = 32
KEY_SHIFT = 32
COUNT_MASK = (1 << KEY_SHIFT) - 1
#: The largest rank that fits into a slot of a table.
RANKS = 2**31 - 2


class ThreadGroup(NamedTuple):
    """The threads that work on one vertex (``kind``: WARP, BLOCK or GRID), as one of them sees it.

    It is thread ``lane`` of ``n_lanes`` in warp ``warp`` of ``n_warps``, and ``worker`` of its region.
    """

    kind: int
    warp: int
    n_warps: int
    lane: int
    n_lanes: int
    worker: Any


@device
def warp_group(worker):
    """The worker's warp."""
    return ThreadGroup(WARP, 0, 1, worker.id % warp_size(), warp_size(), worker)


@device
def block_group(worker):
    """All warps of the worker's block."""
    lanes, size = warp_size(), block_size()
    return ThreadGroup(BLOCK, worker.id % size // lanes, size // lanes, worker.id % lanes, lanes, worker)


@device
def grid_group(worker):
    """All warps of the grid."""
    lanes = warp_size()
    return ThreadGroup(GRID, worker.id // lanes, worker.count // lanes, worker.id % lanes, lanes, worker)


@device
def group_barrier(group):
    """Wait for all threads of the group."""
    if group.kind == WARP:
        warp_barrier()
    elif group.kind == BLOCK:
        block_barrier()
    else:
        barrier_wait(group.worker)


class ApexGraph(NamedTuple):
    """A ranked graph; ``lengths``, (2 m,) uint32, are the wedges ``v, a, u`` at entry ``a`` of row ``v``."""

    csr: RankedCSR
    lengths: Any


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
    slots = np.int64(SLOTS)
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

    entry: Any
    length: Any
    last: Any
    shift: Any


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


class ApexTasks(NamedTuple):
    """The apex vertices ``order[first:end]`` of one launch; ``wedges``, (n,) int64, are those below each.

    ``order`` is an int64 array; ``counter``, (1,) int64, is the number of tasks that were taken.
    """

    counter: Any
    first: int
    end: int
    order: Any
    wedges: Any


class Tables(NamedTuple):
    """Memory for tables outside shared memory: an int64 array, of which each block gets ``stride`` words."""

    words: Any
    stride: int


class Regions(NamedTuple):
    """The four ways to count; words of shared memory that a block's tables have, and words of a slot."""

    by_grid: parallel_region
    by_blocks_outside: parallel_region
    by_blocks: parallel_region
    by_warps: parallel_region
    words: int
    fields: int


def apex_regions(count_at_apex, module, words, fields):
    """Make the four regions of a module, with so many words of a block's shared memory for tables.

    ``count_at_apex(apex, group, table, state)`` is called when the wedges of the apex are in the table, which
    has ``fields`` words a slot; ``state`` is a record with a field ``graph``: :class:`ApexGraph`.
    """

    @device
    def count(task, group, tasks, words, base, state):
        apex = np.int64(tasks.order[task])
        table = WedgeTable(words, base, slots_for(min(np.int64(tasks.wedges[apex]), apex)))
        clear(group, table, fields * table.n_slots)
        group_barrier(group)
        insert_wedges(apex, group, table, state.graph)
        group_barrier(group)
        count_at_apex(apex, group, table, state)
        group_barrier(group)

    def by_warps(worker, tables, tasks, state):
        lanes, size = warp_size(), block_size()
        base = worker.id % size // lanes * ((len(worker.shared) - 1) // (size // lanes))
        group, task = warp_group(worker), np.int64(0)
        while task < tasks.end:
            if group.lane == 0:
                task = tasks.first + np.int64(fetch_add(tasks.counter, 0, 1))
            task = np.int64(shuffle(task, 0))
            if task < tasks.end:
                count(task, group, tasks, worker.shared, base, state)

    def by_blocks(worker, tables, tasks, state):
        group, task = block_group(worker), np.int64(0)
        while task < tasks.end:
            task = take_for_block(worker, len(worker.shared) - 1, tasks)
            if task < tasks.end:
                count(task, group, tasks, worker.shared, 0, state)

    def by_blocks_outside(worker, tables, tasks, state):
        group, base, task = block_group(worker), worker.id // block_size() * tables.stride, np.int64(0)
        while task < tasks.end and base + tables.stride <= len(tables.words):  # there may be more blocks
            task = take_for_block(worker, 0, tasks)
            if task < tasks.end:
                count(task, group, tasks, tables.words, base, state)

    def by_grid(worker, tables, tasks, state):
        group = grid_group(worker)
        for task in range(tasks.first, tasks.end):
            count(task, group, tasks, tables.words, 0, state)

    made, shared_words = [], (0, 1, words + 1, words + 1)
    for body, n_shared in zip((by_grid, by_blocks_outside, by_blocks, by_warps), shared_words):
        n_blocks = BLOCKS_PER_SM if n_shared > 1 else BLOCKS_PER_SM_OUTSIDE
        body.__module__, body.__qualname__ = module, body.__name__
        made.append(parallel_region(body, threads=THREADS, max_blocks_per_sm=n_blocks, shared_words=n_shared))
    return Regions._make([*made, words, fields])


@device
def take_for_block(worker, at, tasks):
    """Take the next task for a block, by way of its shared word ``at``."""
    block_barrier()  # until then other threads may read the last task
    if worker.id % block_size() == 0:
        worker.shared[at] = tasks.first + np.int64(fetch_add(tasks.counter, 0, 1))
    block_barrier()
    return worker.shared[at]


def wedges_of(ranked, total=None):
    """Wedges of each middle, (2 m,) uint32 by entry in the apex' row; of each apex, (n,) int64.

    ``total``, an int64 array if it is given, gets all wedges, added to its first element.
    """
    device = ranked.device
    lengths = arrays.empty(len(ranked.neighbours), np.uint32, device)
    wedges = arrays.zeros(ranked.n_vertices, np.int64, device)
    total = arrays.zeros(1, np.int64, device) if total is None else total
    if device == "cpu":
        measure_row(ranked.n_vertices, ranked.csr, lengths, wedges)
        total[0] += wedges.sum()
        return lengths, wedges
    measure_wedges(ranked.row_of_entries(), ranked.csr, lengths, wedges, total)
    return lengths, wedges


class ApexCounter:
    """A solver on a GPU; subclasses set ``counts`` and ``state``, the record for ``count_at_apex``.

    Up to ``small`` wedges a warp counts a vertex, up to ``large`` a block with its table in shared memory,
    and from ``all_from`` on the whole grid does.  Without an order the tasks are all vertices with wedges, of
    which there are ``total``; :meth:`begin` is then left to the caller.
    """

    counts: Any
    state: Any

    def __init__(self, regions, ranked, order=None, small=None, large=None, all_from=None):
        if ranked.n_vertices > RANKS:
            raise OptionError(f"{ranked.n_vertices:,} vertices are too many for tables; at most {RANKS:,}")
        self.regions, self.device, self.n_vertices = regions, ranked.device, ranked.n_vertices
        #: All wedges, the most below an apex, and the vertices that have more than each of the limits.
        self.facts = arrays.zeros(2 + len(Limits(0, 0, 0)), np.int64, self.device)
        self.rows = ranked.row_of_entries()
        lengths, self.wedges = wedges_of(ranked._replace(rows=self.rows), self.facts)
        self.graph = ApexGraph(ranked.csr, lengths)
        #: Wedges up to which a warp, a block, and a block with a table outside count a vertex, ascending.
        self.limits = self._limits(small, large, all_from)
        if order is None:
            self._order_all()
        else:
            most = int(self.wedges.max()) if len(self.wedges) else 0
            self.order, self.parts = order, self._cut(order)
            self.sizes = self._table_sizes(most)
            self.begin()

    def begin(self) -> None:
        """Begin with no cycles, in memory of its own."""
        self.credits = arrays.zeros(self.n_vertices, np.int64, self.device)
        self.tables = Tables(arrays.empty(self.sizes[0], np.int64, self.device), self.sizes[1])

    def _limits(self, small, large, all_from):
        words, fields = self.regions.words, self.regions.fields
        warps_per_block = 1 if self.device == "cpu" else min(THREADS, launch.BLOCK) // launch.WARP
        slots, of_warp = words // fields, words // fields // warps_per_block
        fit_warp, fit_block = (_power_of_two(number) * 3 // 4 for number in (of_warp, slots))
        outside = WORDS_OF_GRID // fields if all_from is None else all_from
        block = min(fit_block, outside, fit_block if large is None else large)
        return min(fit_warp, block, fit_warp if small is None else small), block, outside

    def _table_sizes(self, most):
        """Words of the tables outside shared memory, and of one of them if each block has its own.

        One of the grid and those of the blocks are in the same array; ``most`` are the wedges of an apex.
        """
        if most <= self.limits[1]:
            return 0, 1
        most = min(most, self.n_vertices)
        of_grid = int(slots_for(most)) * self.regions.fields
        stride = int(slots_for(min(most, self.limits[2]))) * self.regions.fields
        if self.device == "cpu":
            n_blocks = workers()
        else:
            n_blocks = BLOCKS_PER_SM_OUTSIDE * launch.processors(self.device)
        free = arrays.free_memory(self.device) // 8
        if of_grid > free:
            raise arrays.out_of_memory(8 * of_grid, self.device)
        n_blocks = max(1, min(n_blocks, free // (PART * stride)))
        return max(of_grid, n_blocks * stride), stride

    def _order_all(self):
        """Sort the vertices that have wedges by these, most first; the host waits once."""
        keys = arrays.empty(self.n_vertices, np.int64, self.device)
        key_of_wedges(self.n_vertices, self.wedges, keys)
        order = arrays.empty(self.n_vertices, np.int64, self.device)
        place_apex(self.n_vertices, ascending(keys), order, Limits(*self.limits[::-1]), self.facts)
        total, most, *self.parts = arrays.move(self.facts, "cpu").tolist()
        self.total, self.parts = total, [0, *self.parts]
        self.order, self.sizes = order[: self.parts[-1]], self._table_sizes(most)

    def _cut(self, order):
        """Bounds of the four parts of an order; ``None`` if it is not sorted by wedges, most first."""
        wedges = self.wedges[order]
        if count(wedges[1:] > wedges[:-1]):
            return None
        limits = arrays.move(-np.array(self.limits[::-1], np.int64), self.device)
        bounds = arrays.move(arrays.namespace(self.device).searchsorted(-wedges, limits), "cpu")
        return [0, *bounds.tolist(), len(order)]

    def count_all(self):
        """Count at all vertices: counts by rank, (n,) int64 array."""
        self.count(0, len(self.order))
        return self.counts

    def count(self, first: int, end: int) -> None:
        """Count at the vertices ``order[first:end]``."""
        with arrays.on(self.device):
            order, parts, start = self.order, self.parts, first
            if parts is None:
                order = order[first:end]
                by_wedges = arrays.namespace(self.device).argsort(-self.wedges[order])
                order, start, end = order[by_wedges], 0, end - first
                parts = self._cut(order)
            counters = arrays.zeros(len(parts) - 1, np.int64, self.device)
            for number, (region, low, high) in enumerate(zip(self.regions, parts, parts[1:])):
                low, high = max(low, start), min(high, end)
                if low < high:
                    counter = counters[number : number + 1]
                    region(self.tables, ApexTasks(counter, low, high, order, self.wedges), self.state)


@partial(each, least_chunk=1)
def bound_wedges(piece, pieces, csr, factor, bounds):
    """Sum up the lengths of the rows of each vertex's lower neighbours, times a factor."""
    for apex in range(pieces[piece], pieces[piece + 1]):
        total = np.int64(0)
        for entry in range(csr.offsets[apex], csr.split[apex]):
            middle = np.int64(csr.neighbours[entry])
            total += csr.offsets[middle + 1] - csr.offsets[middle]
        bounds[apex] = total * factor


def wedge_bounds(ranked, factor=1, kind=np.int64):
    """Upper bounds of the wedges below each vertex, on the CPU, times a factor: (n,) array of ``kind``."""
    bounds, pieces = np.empty(ranked.n_vertices, kind), even_pieces(ranked.offsets)
    bound_wedges(len(pieces) - 1, pieces, ranked.csr, kind(factor), bounds)
    return bounds


def max_wedge_bound(ranked, enough):
    """Upper bound of the wedges below any vertex on the CPU; a closer one where it is above ``enough``."""
    # Ranks are ordered by degree: no lower neighbour's row is longer than the vertex's own.
    bounds = (ranked.split - ranked.offsets[:-1]) * (ranked.offsets[1:] - ranked.offsets[:-1])
    largest = int(bounds.max(initial=0))
    return largest if largest <= enough else int(wedge_bounds(ranked).max())


def wedge_work(ranked, cost):
    """Operations of each apex, about: (n,) float64 array; ``cost`` is that of a wedge on the CPU."""
    if ranked.device == "cpu":
        return wedge_bounds(ranked, cost, np.float64)
    return wedges_of(ranked)[1].astype(np.float64)


def _power_of_two(number):
    """The largest power of two up to a number, at least 1."""
    return 1 << max(0, number.bit_length() - 1)
