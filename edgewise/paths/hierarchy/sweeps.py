"""Sweeps over a hierarchy from many sources at a time, on CPU threads or on a GPU (PHAST).

The distances from a source take two steps.  A search that ascends from it reaches a few ranks
(:mod:`edgewise.paths.hierarchy.restriction`), and gives each the length of the best path that only ascends.
Then one pass over all ranks from the highest to the lowest gives each the least distance that it has or that
its row of higher neighbours, which are known already, offers.  The pass reads memory almost in order and does
not depend on the source, so a *batch* of sources shares it.  ``distances[number]`` is a row with one distance
from each source, the *lanes* of vectors on a CPU and of warps on a GPU; the rows of the hierarchy are read
once for all of them, and a neighbour's distances are whole lines of memory.

The searches that ascend run on the host, one thread a batch: the sources of a batch share the ranks near the
top, and each edge is relaxed for all lanes at once.  Nothing is written to most rows before the pass reaches
them: ``places`` says which of them begin with a row of what has ascended, and all others begin without paths.

The pass goes level by level.  The ranks of a level do not depend on each other: workers, or the warps of a
cooperative launch, share them and wait for each other between levels.  Where there are at least as many
batches as threads, each thread of a CPU takes batches of its own and waits for nobody; it passes the ranks in
the order of a depth-first search, which finds most neighbours in its cache.  Restricted to the ranks above
some targets, the same pass gives a table of distances.

"No path" is a ceiling as in :mod:`edgewise.paths.apsp.search`, half of an integer type, so that sums do not
wrap round; longer shortcuts are cut off at it.  A path that passes the ceiling has a first prefix that does,
and the one before it is less than the longest shortcut below it.  So nothing was cut off if no distance comes
so near to it, which need not be looked at where the longest entries of all levels together stay below it.

The distances of integers are those of any search.  Floats are added in another order, since a shortcut's
length is the sum of its parts: each sum may be off by a unit in the last place for every edge of the path.

D. Delling, A. Goldberg, A. Nowatzyk and R. Werneck, "PHAST: hardware-accelerated shortest path trees" (IPDPS
2011).
"""

from copy import copy
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.device import Worker, arrays, barrier_wait, compiled, device, parallel_region
from edgewise.device.regions import workers
from edgewise.device.shares import own_share
from edgewise.device.target import on_gpu, overload_on_cpu
from edgewise.device.warps import warp_size
from edgewise.paths.apsp.search import ceiling_of, end_of, largest_of
from edgewise.paths.csr import CSR, unreached
from edgewise.paths.hierarchy import Hierarchy
from edgewise.paths.hierarchy.restriction import (
    Descent,
    ascend,
    ascending_in,
    in_type,
    restricted,
    whole,
)
from edgewise.primitives.thread_pool import ThreadPool
from edgewise.primitives.vectors import lesser, of_bytes, wrapping_add, write

#: Sources of a batch on a GPU: two for each lane of a warp.
SOURCES = 64
#: Entries of a row that a GPU thread reads at a time.
ENTRIES = 4
#: Columns of a result that a CPU thread writes at a time, whose distances stay in its cache.
STRIP = 256
#: Batches for each thread whose searches run ahead of the passes.
AHEAD = 4
U = np.uint64  # an unsigned index needs no test for one below zero

read, lanes_of = of_bytes(256)
read_line, lanes_of_line = of_bytes(64)


class Sweep(NamedTuple):
    """The rows that are passed, and the memory of one batch.

    ``rows`` and ``levels`` are those of a :class:`~edgewise.paths.hierarchy.restriction.Descent`, with
    weights in the type of the distances.  ``distances`` (rows * width,) has those of a rank side by side;
    ``places`` (rows,) is the row of an :class:`Ascent` that a rank begins with, zero between batches.
    ``width`` is 1, or on a CPU the number of distances in ``step`` cache lines, 1 or 4.  On a GPU ``step`` is
    4, the entries read at a time: a compiler that knew it would unroll the loop, and take more registers than
    there are.
    """

    rows: CSR
    levels: Any
    width: int
    step: int
    places: Any
    distances: Any


class Ascent(NamedTuple):
    """What searches that ascend have found for a batch.

    ``values`` ((k + 1) * width,) has the distances of the k ranks that are reached, from the second row on;
    the first row has none.  ``numbers`` (k,) int64 are their numbers in the sweep, -1 where it does not pass.
    """

    numbers: Any
    values: Any


class Starts(NamedTuple):
    """Where a batch of ``width`` lanes starts: lane ``lanes[i]`` (k,) int64 at rank ``ranks[i]`` (k,) int64.

    A vector holds ``step`` distances; ``ceiling`` stands where no path leads.
    """

    ranks: Any
    lanes: Any
    width: int
    step: int
    ceiling: Any


class Output(NamedTuple):
    """Where the distances of a batch go: those of ``columns`` (t,) int64, numbers of the sweep, in order.

    Lane ``i`` is written to row ``lines[i]`` (sources,) int64 of the flat (k * t,) array ``result``, in which
    ``none`` stands where no path leads, as ``ceiling`` does in the sweep.
    """

    columns: Any
    lines: Any
    ceiling: Any
    none: Any
    result: Any


@on_gpu
def offer(values, own, weight, at, width, step):
    """Lower the distances at ``at`` to those at ``own`` and a weight more, lane by lane."""
    for lane in range(width):
        values[at + lane] = min(values[at + lane], values.dtype.type(values[own + lane] + weight))


@overload_on_cpu(offer)
def _offer_on_cpu(values, own, weight, at, width, step):
    def offer_vectors(values, own, weight, at, width, step):
        if width == 1:
            values[U(at)] = min(values[U(at)], values.dtype.type(values[U(own)] + weight))
            return
        for lane in range(0, width, step):
            offered = wrapping_add(read_line(values, own + lane), weight)
            write(values, at + lane, lesser(read_line(values, at + lane), offered))

    return offer_vectors


@compiled
def push(rows, starts, memory, numbers, ascent):
    """Give all ranks that a search has listed their distances by paths that only ascend, lane by lane.

    The ``memory`` is then ready for the next search.
    """
    values, reached, width = ascent.values, len(ascent.numbers), starts.width
    for at in range(len(values)):
        values[at] = starts.ceiling
    for start in range(len(starts.ranks)):
        values[np.int64(memory.places[starts.ranks[start]]) * width + starts.lanes[start]] = 0
    for place in range(reached, 0, -1):
        rank = np.int64(memory.order[place - 1])
        for entry in range(rows.offsets[rank], rows.offsets[rank + 1]):
            at = np.int64(memory.places[rows.neighbours[entry]]) * width
            offer(values, place * width, rows.weights[entry], at, width, starts.step)
        ascent.numbers[place - 1] = numbers[rank] if len(numbers) else rank
    for position in range(reached):
        memory.places[np.int64(memory.order[position])] = 0


@on_gpu
def lower(sweep, values, number, lane, lanes):
    """Give a rank the least distances that it begins with, or that its row offers, in a thread's lanes."""
    offsets, neighbours, weights = sweep.rows
    distances, width, kind = sweep.distances, sweep.width, values.dtype.type
    start, own = np.int64(sweep.places[number]) * width, number * width
    begin, end = offsets[number], offsets[number + 1]
    final = end - 1
    for first in range(lane, width, 2 * lanes):
        gap = min(lanes, width - 1 - first)
        at, entry = start + first, begin
        low, other = values[U(at)], values[U(at + gap)]
        while entry < end:  # four entries at a time, the last one again
            one, two = U(entry), U(min(entry + 1, final))
            three, four = U(min(entry + 2, final)), U(min(entry + 3, final))
            a, b = np.int64(neighbours[one]) * width + first, np.int64(neighbours[two]) * width + first
            c, d = np.int64(neighbours[three]) * width + first, np.int64(neighbours[four]) * width + first
            p, q, r, s = weights[one], weights[two], weights[three], weights[four]
            low = min(low, min(kind(distances[U(a)] + p), kind(distances[U(b)] + q)))
            low = min(low, min(kind(distances[U(c)] + r), kind(distances[U(d)] + s)))
            a, b, c, d = a + gap, b + gap, c + gap, d + gap
            other = min(other, min(kind(distances[U(a)] + p), kind(distances[U(b)] + q)))
            other = min(other, min(kind(distances[U(c)] + r), kind(distances[U(d)] + s)))
            entry += sweep.step
        distances[U(own + first)] = low
        distances[U(own + first + gap)] = other


@overload_on_cpu(lower)
def _lower_on_cpu(sweep, values, number, lane, lanes):
    """Vectors take the place of lanes; a batch of one source has none."""

    def lower_vectors(sweep, values, number, lane, lanes):
        offsets, neighbours, weights = sweep.rows
        distances, width = sweep.distances, sweep.width
        begin, end = offsets[U(number)], offsets[U(number + 1)]
        start, at = np.int64(sweep.places[U(number)]) * width, number * width
        if width == 1:
            low = values[U(start)]
            for entry in range(begin, end):
                offered = distances[U(neighbours[U(entry)])] + weights[U(entry)]
                low = min(low, distances.dtype.type(offered))
            distances[U(at)] = low
        elif sweep.step == 1:
            line = read_line(values, start)
            for entry in range(begin, end):
                other = np.int64(neighbours[U(entry)]) * width
                line = lesser(wrapping_add(read_line(distances, other), weights[U(entry)]), line)
            write(distances, at, line)
        else:
            least = read(values, start)
            for entry in range(begin, end):
                other = np.int64(neighbours[U(entry)]) * width
                least = lesser(wrapping_add(read(distances, other), weights[U(entry)]), least)
            write(distances, at, least)

    return lower_vectors


@device
def write_columns(worker, sweep, output):
    """Write the lanes of a worker's share of the columns, a strip of them at a time on a CPU."""
    columns, lines, ceiling, none, result = output
    first, end, step = own_share(worker, 0, len(columns))
    strip = STRIP if step == 1 else 1
    for begin in range(first, end, strip * step):
        stop = min(begin + strip, end)
        for lane in range(len(lines)):
            line = lines[lane] * len(columns)
            for column in range(begin, stop):
                value = sweep.distances[U(columns[column] * sweep.width + lane)]
                result[U(line + column)] = value if value < ceiling else none


@device
def settle(worker, sweep, ascent, there):
    """Let the ranks that have ascended distances begin with these, or no longer (``there`` 1 or 0)."""
    for position in range(worker.id, len(ascent.numbers), worker.count):
        if ascent.numbers[position] >= 0:
            sweep.places[ascent.numbers[position]] = (position + 1) * there


@device
def pass_level(worker, sweep, ascent, level):
    """Lower a worker's share of the ranks of a level; on a GPU each warp, or each thread for one source."""
    lanes = warp_size() if sweep.width > 1 else 1
    team = Worker(worker.id // lanes, worker.count // lanes, worker.barrier)
    first, end, step = own_share(team, sweep.levels[level], sweep.levels[level + 1])
    for number in range(first, end, step):
        lower(sweep, ascent.values, number, worker.id % lanes, lanes)


@parallel_region.by(min_blocks_per_sm=4)
def sweep_together(worker, sweep, ascent, output):
    """Pass a batch from the highest level to the lowest with all workers; write the columns."""
    settle(worker, sweep, ascent, 1)
    barrier_wait(worker)
    for level in range(len(sweep.levels) - 2, -1, -1):
        pass_level(worker, sweep, ascent, level)
        barrier_wait(worker)
    settle(worker, sweep, ascent, 0)
    write_columns(worker, sweep, output)


@compiled
def sweep_alone(sweep, ascent, output):
    """Pass a batch with one thread."""
    worker = Worker(0, 1, sweep.levels)  # which waits for nobody
    settle(worker, sweep, ascent, 1)
    for level in range(len(sweep.levels) - 2, -1, -1):
        pass_level(worker, sweep, ascent, level)
    settle(worker, sweep, ascent, 0)
    write_columns(worker, sweep, output)


class Order(NamedTuple):
    """What sweeps pass, and in which order: a ``descent`` on their device, in the type of the distances.

    ``numbers`` are those of the descent, on the host; ``columns`` (t,) int64 are the rows of the vertices
    that are wanted.
    """

    descent: Descent
    numbers: Any
    columns: Any


class Sweeps:
    """A hierarchy on the host, prepared for sweeps in one type on one device.

    They pass all ranks, and distances come in the order of the vertices; those that :meth:`restricted`
    returns pass what leads to the ``targets`` (k,) int64, ranks.
    """

    def __init__(self, hierarchy: Hierarchy, dtype, device: str):
        self.hierarchy, self.dtype, self.device = hierarchy, np.dtype(dtype), device
        self.ceiling, self.targets = ceiling_of(dtype), None
        outgoing = whole(hierarchy)._replace(rows=hierarchy.outgoing.rows)
        self.upward = in_type(outgoing, dtype, self.ceiling, "cpu").rows
        self.heaviest, self.always_fits = self._bounds()
        #: Memories of searches that ascend, each used by one thread at a time.
        self.memories: SimpleQueue = SimpleQueue()

    @cached_property
    def by_level(self) -> Order:
        """The order of passes that all workers share."""
        return self._ordered(True)

    @cached_property
    def depth_first(self) -> Order:
        """The order of passes of single threads."""
        return self._ordered(False)

    def _ordered(self, by_level):
        ranks = self.hierarchy.ranks.astype(np.int64) if self.targets is None else self.targets
        if by_level and self.targets is None:
            made = whole(self.hierarchy)
        else:
            made = restricted(self.hierarchy, ranks, by_level)
        columns = made.numbers[ranks] if len(made.numbers) else ranks
        descent = in_type(made, self.dtype, self.ceiling, self.device)
        return Order(descent, made.numbers, arrays.move(columns, self.device))

    def _bounds(self):
        """The longest entry, and whether no path by entries of all levels can come near the ceiling."""
        heaviest, all_levels = 0.0, 0.0
        for upward in (self.hierarchy.outgoing, self.hierarchy.incoming):
            rows = upward.rows
            if len(rows.weights):
                starts = rows.offsets[self.hierarchy.levels]
                used = starts[:-1][np.diff(starts) > 0]
                longest = np.maximum.reduceat(rows.weights, used).astype(np.float64)
                heaviest, all_levels = max(heaviest, longest.max()), all_levels + longest.sum()
        return heaviest, 2 * all_levels < end_of(self.dtype)

    def restricted(self, targets) -> "Sweeps":
        """Sweeps to some vertices only."""
        restricted = copy(self)
        restricted.targets = self.hierarchy.ranks[targets].astype(np.int64)
        for name in "by_level", "depth_first":
            vars(restricted).pop(name, None)
        return restricted

    def sweep(self, order, width) -> Sweep:
        """The memory of one batch of ``width`` sources."""
        kind = np.int32 if len(self.hierarchy.ranks) < 2**31 - 1 else np.int64
        rows, levels, _ = order.descent
        places = arrays.zeros(rows.n_vertices, kind, self.device)
        distances = arrays.empty(rows.n_vertices * width, self.dtype, self.device)
        step = max(1, width // lanes_of_line(self.dtype)) if self.device == "cpu" else ENTRIES
        return Sweep(rows, levels, width, step, places, distances)

    def ascent(self, order, vertices, width, lanes=None) -> Ascent:
        """Search from vertices, ascending; on the host, by one thread.

        Each has a lane of its own, or that of ``lanes``.
        """
        try:
            memory = self.memories.get_nowait()
        except Empty:
            memory = ascending_in(self.hierarchy)
        ranks = self.hierarchy.ranks[vertices].astype(np.int64)
        reached = ascend(self.upward, ranks, memory)
        ascent = Ascent(np.empty(reached, np.int64), np.empty((reached + 1) * width, self.dtype))
        lanes, step = np.arange(len(ranks)) if lanes is None else lanes, lanes_of_line(self.dtype)
        starts = Starts(ranks, lanes, width, step, self.dtype.type(self.ceiling))
        push(self.upward, starts, memory, order.numbers, ascent)
        self.memories.put(memory)
        return ascent

    def width_of(self, n_sources) -> int:
        """Sources of a batch."""
        if n_sources == 1:
            return 1
        if self.device != "cpu":
            return SOURCES
        line = lanes_of_line(self.dtype)
        return line if n_sources <= line else lanes_of(self.dtype)

    def nearest(self, sources):
        """Distances from the nearest of (k,) vertices, and whether one was too large for its type."""
        order = self.by_level
        sweep = self.sweep(order, 1)
        result = arrays.empty(len(order.columns), self.dtype, self.device)
        found = self.ascent(order, sources, 1, np.zeros(len(sources), np.int64))
        ascent = Ascent(*(arrays.move(array, self.device) for array in found))
        line = arrays.move(np.zeros(1, np.int64), self.device)
        sweep_together(sweep, ascent, self.output(order, result)._replace(lines=line))
        return result, self.has_cut_off(sweep, ascent)

    def output(self, order, result) -> Output:
        """Where distances go: to the flat array ``result``, or to none of its columns if it is empty."""
        ceiling, none = self.dtype.type(self.ceiling), self.dtype.type(unreached(self.dtype))
        return Output(order.columns[: len(result)], np.empty(0, np.int64), ceiling, none, result)

    def parts(self, sources):
        """Positions of the sources, batch by batch, and the width of a batch."""
        order, width = np.argsort(sources, kind="stable"), self.width_of(len(sources))
        return [order[first : first + width] for first in range(0, len(order), width)], width

    def solve(self, sources, result) -> bool:
        """Write the distances from (k,) vertices to the flat array ``result``, row after row.

        Returns whether a distance was too large for its type.
        """
        if not len(result):
            return False
        parts, width = self.parts(sources)
        if self.device == "cpu" and len(parts) >= workers():
            return self._alone(sources, parts, width, result)
        passed = self.together(sources, parts, width, result)
        return any(self.has_cut_off(sweep, ascent) for _, sweep, ascent in passed)

    def together(self, sources, parts, width, result):
        """Pass batch after batch with all workers; yield the positions of its sources, and its state."""
        order, here = self.by_level, self.device
        sweep, output = self.sweep(order, width), self.output(order, result)
        pool = ThreadPool(len(parts), 8 * len(self.hierarchy.ranks))
        for first in range(0, len(parts), AHEAD * pool.n_workers):
            some = parts[first : first + AHEAD * pool.n_workers]
            calls = [(order, sources[part], width) for part in some]
            searched = pool.starmap if here == "cpu" else pool.ahead
            for part, found in zip(some, searched(self.ascent, calls), strict=True):
                ascent = Ascent(*(arrays.move(array, here) for array in found))
                sweep_together(sweep, ascent, output._replace(lines=arrays.move(part, here)))
                yield part, sweep, ascent

    def _alone(self, sources, parts, width, result):
        """Pass the batches with each thread by itself; return whether a distance was too large."""
        order, numbers, stopped = self.depth_first, count(), []  # type: ignore[var-annotated]
        output, rows = self.output(order, result), order.descent.rows.n_vertices
        pool = ThreadPool(
            len(parts), rows * (width * self.dtype.itemsize + 4) + 8 * len(self.hierarchy.ranks)
        )

        def serve():
            sweep, cut_off = self.sweep(order, width), False
            while not stopped and (number := next(numbers)) < len(parts):
                ascent = self.ascent(order, sources[parts[number]], width)
                sweep_alone(sweep, ascent, output._replace(lines=parts[number]))
                cut_off |= self.has_cut_off(sweep, ascent)
            return cut_off

        return any(pool.starmap(serve, [()] * pool.n_workers, cancel=lambda: stopped.append(True)))

    def has_cut_off(self, sweep, ascent) -> bool:
        """Whether a path of the last batch may have passed the ceiling."""
        if self.always_fits:
            return False
        largest = max(largest_of(array, self.ceiling) for array in (sweep.distances, ascent.values))
        return largest + self.heaviest >= end_of(self.dtype)
