"""Apex vertices distributed to warps, blocks or the whole grid, by their number of wedges.

Most apex vertices of a graph have a few dozen wedges, and a few have millions.  The tasks are sorted by
wedges, most first, and cut into four parts: vertices counted by the whole grid, by blocks with tables in the
memory of the GPU, by blocks with tables in shared memory, and by warps.  Each part is one launch, in which
the thread groups take vertices from an atomic counter.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.counting.ranked import RankedCSR, first_from
from edgewise.cycles.counting.wedge_table import (
    WedgeTable,
    clear,
    insert_wedges,
    slots_for,
)
from edgewise.cycles.method import Solver
from edgewise.device import arrays, barrier_wait, device, each_row, fetch_add, parallel_region
from edgewise.device.launch import processors
from edgewise.device.regions import workers
from edgewise.device.warps import (
    block_barrier,
    block_size,
    shuffle,
    warp_barrier,
    warp_size,
    warps_per_block,
)
from edgewise.errors import OptionError

#: Kinds of thread groups.
WARP, BLOCK, GRID = 0, 1, 2
#: Threads of a block, and the most blocks of a multiprocessor.
THREADS, MAX_BLOCKS_PER_SM = 256, 8
#: Blocks of a multiprocessor whose tables are in the GPU's memory; these may take an eighth of its free part.
BLOCKS_PER_SM_OUTSIDE, PART = 4, 8
#: Wedges, times the fields of a slot, from which on the grid counts a vertex: smaller ones do not pay for the
#: barriers, larger ones for one table per block, which do not fit into the cache.
MIN_WORDS_OF_GRID = 1 << 20
#: The largest rank that fits into a slot of a table.
MAX_VERTICES = 2**31 - 2


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


class ApexTasks(NamedTuple):
    """The apex vertices ``order[first:end]`` of one launch, an int64 array.

    ``counter``, (1,) int64, is the number of tasks that were taken; ``wedges``, (n,) int64, are those below
    each vertex.
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
    """Make the four regions.

    Parameters
    ----------
    count_at_apex : device function
        ``count_at_apex(apex, group, table, state)``, called when the wedges of the apex are in the table.
        ``state`` is a record with a field ``graph``: :class:`ApexGraph`.
    module : str
        Name of its module.
    words : int
        Words of a block's shared memory for tables.
    fields : int
        Words of each slot.

    Returns
    -------
    Regions
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

    made = []
    for body, n_shared in (
        (by_grid, 0),
        (by_blocks_outside, 1),
        (by_blocks, words + 1),
        (by_warps, words + 1),
    ):
        n_blocks = MAX_BLOCKS_PER_SM if n_shared > 1 else BLOCKS_PER_SM_OUTSIDE
        body.__module__, body.__qualname__ = module, body.__name__
        made.append(parallel_region(body, threads=THREADS, max_blocks_per_sm=n_blocks, shared_words=n_shared))
    return Regions(*made, words, fields)


@device
def take_for_block(worker, at, tasks):
    """Take the next task for a block, by way of its shared word ``at``."""
    block_barrier()  # until then other threads may read the last task
    if worker.id % block_size() == 0:
        worker.shared[at] = tasks.first + np.int64(fetch_add(tasks.counter, 0, 1))
    block_barrier()
    return worker.shared[at]


class ApexCounter(Solver):
    """A count under way on a GPU; see :class:`edgewise.cycles.method.Solver`.

    Subclasses set ``state``, the record that ``count_at_apex`` takes.

    Parameters
    ----------
    regions : Regions
    ranked : edgewise.cycles.counting.ranked.Ranked
    order : (tasks,) int64 array
    small, large, all_from : int, optional
        Wedges up to which a warp, or a block, counts a vertex with a table in shared memory, and from which
        on the grid does.
    """

    state: Any

    def __init__(self, regions, ranked, order, small=None, large=None, all_from=None):
        if ranked.n_vertices > MAX_VERTICES:
            raise OptionError(
                f"{ranked.n_vertices:,} vertices are too many for tables; at most {MAX_VERTICES:,}"
            )
        self.regions, self.device, self.order = regions, ranked.device, order
        self.credits = arrays.zeros(ranked.n_vertices, np.int64, self.device)
        lengths, self.wedges = wedges_of(ranked)
        self.graph = ApexGraph(ranked.csr, lengths)
        #: Wedges up to which a warp, a block, and a block with a table outside count a vertex, ascending.
        self.limits = self._limits(small, large, all_from)
        self.tables = self._tables(int(self.wedges.max()) if len(self.wedges) else 0, ranked.n_vertices)
        self.parts = self._cut(order)

    def _limits(self, small, large, all_from):
        words, fields = self.regions.words, self.regions.fields
        slots, of_warp = words // fields, words // fields // warps_per_block(THREADS, self.device)
        fit_warp, fit_block = (_power_of_two(number) * 3 // 4 for number in (of_warp, slots))
        outside = MIN_WORDS_OF_GRID // fields if all_from is None else all_from
        block = min(fit_block, outside, fit_block if large is None else large)
        return min(fit_warp, block, fit_warp if small is None else small), block, outside

    def _tables(self, most, n):
        """Tables outside shared memory, one per block or one for the grid, in the same array."""
        if most <= self.limits[1]:
            return Tables(arrays.empty(0, np.int64, self.device), 1)
        of_grid = int(slots_for(min(most, n))) * self.regions.fields
        stride = int(slots_for(min(most, n, self.limits[2]))) * self.regions.fields
        if self.device == "cpu":
            n_blocks = workers()
        else:
            n_blocks = BLOCKS_PER_SM_OUTSIDE * processors(self.device)
        free = arrays.free_memory(self.device) // 8
        if of_grid > free:
            raise arrays.out_of_memory(8 * of_grid, self.device)
        n_blocks = max(1, min(n_blocks, free // (PART * stride)))
        return Tables(arrays.empty(max(of_grid, n_blocks * stride), np.int64, self.device), stride)

    def _cut(self, order):
        """Bounds of the four parts of an order; ``None`` if it is not sorted by wedges, most first."""
        wedges = self.wedges[order]
        if bool((wedges[1:] > wedges[:-1]).any()):
            return None
        limits = arrays.move(-np.array(self.limits[::-1], np.int64), self.device)
        bounds = arrays.move(arrays.namespace(self.device).searchsorted(-wedges, limits), "cpu")
        return [0, *bounds.tolist(), len(order)]

    @property
    def counts(self):
        """Counts so far, by rank: (n,) int64 array."""
        return self.credits

    def count(self, first: int, end: int) -> None:
        """Count at the vertices ``order[first:end]``."""
        with arrays.on(self.device):
            order, parts, start = self.order, self.parts, first
            if parts is None:
                order = order[first:end]
                by_wedges = arrays.namespace(self.device).argsort(-self.wedges[order])
                order, start, end = order[by_wedges], 0, end - first
                parts = self._cut(order)
            for region, low, high in zip(self.regions, parts, parts[1:]):
                low, high = max(low, start), min(high, end)
                if low < high:
                    counter = arrays.zeros(1, np.int64, self.device)
                    region(self.tables, ApexTasks(counter, low, high, order, self.wedges), self.state)


@each_row
def measure_wedges(apex, lane, n_lanes, csr, lengths, wedges):
    """Count the wedges of an apex: of each lower neighbour's row, the entries below the apex."""
    total = np.int64(0)
    for entry in range(csr.offsets[apex] + lane, csr.split[apex], n_lanes):
        middle = np.int64(csr.neighbours[entry])
        start = csr.offsets[middle]
        length = first_from(apex, csr.split[middle], csr.offsets[middle + 1], csr.neighbours) - start
        lengths[entry] = length
        total += length
    if total > 0:
        fetch_add(wedges, apex, total)


def wedges_of(ranked):
    """Wedges of each middle, (2 m,) uint32 by entry in the apex' row; of each apex, (n,) int64."""
    device = ranked.device
    lengths = arrays.empty(len(ranked.neighbours), np.uint32, device)
    wedges = arrays.zeros(ranked.n_vertices, np.int64, device)
    measure_wedges(ranked.n_vertices, ranked.csr, lengths, wedges, width="warp")
    return lengths, wedges


def _power_of_two(number):
    """The largest power of two up to a number, at least 1."""
    return 1 << max(0, number.bit_length() - 1)
