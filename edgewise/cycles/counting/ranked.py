"""The simple graph in order of degree: what every count of cycles reads.

Self-loops and repeated edges are no part of a simple cycle; they are left out and counted.  Vertices are
renumbered by *rank*, their position in ascending order of (degree, vertex number).  A vertex has at most
``sqrt(2 m)`` neighbours of higher rank (Chiba and Nishizeki 1985), so what is found at the highest vertex of
a cycle, or by way of higher neighbours only, is found cheaply however long the longest row is.

On CPU cores it is a counting sort, by blocks of edges that keep cursors of their own, because an atomic
cursor would wait for memory again and again: count the entries of each row, rank the rows by that, and drop
every edge into its two rows.  Then drop each row, in ascending order, into the rows of its entries: so these
come out sorted.  Repeated edges now stand side by side.  There are none as a rule; if there are, the rows are
made again of the edges that are left, since degrees and ranks have changed.  A GPU sorts entries packed into
64 bits, which is faster there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, compiled, device, threads
from edgewise.device.prefetch import prefetch
from edgewise.errors import OptionError
from edgewise.index_type import MAX_UINT32, index_type
from edgewise.primitives import exclusive_scan, histogram
from edgewise.primitives.thread_pool import ThreadPool

#: Blocks an average degree of two: cursors of all blocks shall not take more memory than the rows.
MAX_BLOCKS_PER_SM = 4
#: How many edges ahead a cursor is asked for, and the place that it points at.
FAR, NEAR = 16, 8


class Ranked(NamedTuple):
    """A simple undirected graph whose vertices are ranks, in one place.

    Attributes
    ----------
    offsets : (n + 1,) int64 array
    neighbours : (2 m,) index array
        Ranks; every row ascending, so the lower neighbours come first.
    split : (n,) int64 array
        Entry of each row with its first higher neighbour, or the row's end.
    rank : (n,) index array
        Rank of each vertex of the graph: a count by rank ``c`` is ``c[rank]`` by vertex.
    loops, repeats : int
        Edges of the graph that were left out: self-loops, and those whose ends an earlier edge joins.
    """

    offsets: Any
    neighbours: Any
    split: Any
    rank: Any
    loops: int
    repeats: int

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.split)

    @property
    def device(self) -> str:
        """Where the arrays lie."""
        return arrays.device_of(self.offsets)


def ranked_of(graph) -> Ranked:
    """The simple graph behind ``graph``, ranked, where it lies; made once and kept with it."""
    if "ranked" not in graph.kept:
        with arrays.guard(graph.device):
            by = by_counting if graph.device == "cpu" else by_sorting
            graph.kept["ranked"] = by(graph.n_vertices, graph.sources, graph.targets)
    return graph.kept["ranked"]


@compiled
def _tally(first, end, values, own, cursors):
    """Count values; ``own`` is where the counts of this block begin."""
    for at in range(first, end):
        cursors[own + np.int64(values[at])] += 1


@compiled
def _spread(first, end, blocks, n, cursors, totals):
    """Turn the counts of the blocks into devices within each row, and sum them up."""
    for row in range(first, end):
        position = np.int64(0)
        for block in range(blocks):
            count = np.int64(cursors[block * n + row])
            cursors[block * n + row] = position
            position += count
        totals[row] = position


@compiled
def _rank(counts, starts, rank, offsets):
    """Sort the vertices by their counts; ``starts`` are zeros, two more than the largest count."""
    for vertex in range(len(counts)):
        starts[counts[vertex] + 1] += 1
    for count in range(1, len(starts)):
        starts[count] += starts[count - 1]
    for vertex in range(len(counts)):
        position = starts[counts[vertex]]
        starts[counts[vertex]] = position + 1
        rank[vertex] = position
        offsets[position + 1] = counts[vertex]
    for row in range(len(counts)):
        offsets[row + 1] += offsets[row]


@device
def _drop(value, row, cursors, entries):
    """Enter a value at a row's cursor; where."""
    position = np.int64(cursors[row])
    entries[position] = value
    cursors[row] = position + 1
    return position


@compiled
def _enter_edges(first, end, sources, targets, rank, own, cursors, entries):
    """Drop both ends of edges into the rows of the other, in any order."""
    for edge in range(first, end):
        if edge + FAR < end:
            prefetch(cursors, own + np.int64(targets[edge + FAR]))
            prefetch(rank, np.int64(targets[edge + FAR]))
            prefetch(entries, np.int64(cursors[own + np.int64(targets[edge + NEAR])]))
        source, target = np.int64(sources[edge]), np.int64(targets[edge])
        _drop(rank[target], own + source, cursors, entries)
        _drop(rank[source], own + target, cursors, entries)


@compiled
def _enter_rows(first, end, offsets, entries, own, cursors, neighbours, split):
    """Drop rows, one after the other, into the rows of their entries; return how many repeat one before.

    When its turn comes, all lower neighbours of a row have been dropped into it, by this block or in places
    before this block's.
    """
    again, last = 0, offsets[end]
    for row in range(first, end):
        split[row] = cursors[own + row]
        for entry in range(offsets[row], offsets[row + 1]):
            if entry + FAR < last:
                prefetch(cursors, own + np.int64(entries[entry + FAR]))
                prefetch(neighbours, np.int64(cursors[own + np.int64(entries[entry + NEAR])]))
            other = np.int64(entries[entry])
            position = _drop(row, own + other, cursors, neighbours)
            if position > 0 and neighbours[position - 1] == row and position > offsets[other]:
                again += 1
    return again


@compiled
def _keep_once(offsets, split, neighbours, vertices, sources, targets):
    """List every edge once, by vertex."""
    into = 0
    for row in range(len(split)):
        for entry in range(split[row], offsets[row + 1]):
            if entry == split[row] or neighbours[entry] != neighbours[entry - 1]:
                sources[into], targets[into] = vertices[row], vertices[neighbours[entry]]
                into += 1


def by_counting(n, sources, targets):
    """The ranked graph of an edge list on the host."""
    given = len(sources)
    proper = sources != targets
    if not proper.all():
        sources, targets = sources[proper], targets[proper]
    m, kind = len(sources), index_type(n)
    blocks = max(1, min(threads.count(), MAX_BLOCKS_PER_SM * m // max(n, 1)))
    cursors = np.zeros((blocks, n), np.uint32 if 2 * m < 2**32 else np.int64)
    flat, counts, rank, split = cursors.reshape(-1), *(np.empty(n, k) for k in (np.int64, kind, np.int64))
    offsets, entries = np.zeros(n + 1, np.int64), np.empty(2 * m, kind)
    neighbours = np.zeros(2 * m, kind)  # what a block before has not written yet is no row of a later block
    rows, edges = _even(n, blocks), _even(m, blocks)
    run = _Blocks(blocks, n)
    run(_tally, edges, sources, run.own, flat)
    run(_tally, edges, targets, run.own, flat)
    run(_spread, rows, blocks, n, flat, counts)
    _rank(counts, np.zeros(int(counts.max(initial=0)) + 2, np.int64), rank, offsets)
    cursors += offsets[rank].astype(cursors.dtype)
    run(_enter_edges, edges, sources, targets, rank, run.own, flat, entries)
    rows = np.searchsorted(offsets, _even(2 * m, blocks))
    rows[0], rows[-1] = 0, n
    cursors.fill(0)
    run(_tally, offsets[rows], entries, run.own, flat)
    run(_spread, _even(n, blocks), blocks, n, flat, counts)
    cursors += offsets[:-1].astype(cursors.dtype)
    repeats = sum(run(_enter_rows, rows, offsets, entries, run.own, flat, neighbours, split)) // 2
    if repeats == 0:
        return Ranked(offsets, neighbours, split, rank, given - m, 0)
    vertices, ends = np.empty_like(rank), np.empty((2, m - repeats), kind)
    vertices[rank] = np.arange(n, dtype=kind)
    _keep_once(offsets, split, neighbours, vertices, *ends)
    return by_counting(n, *ends)._replace(loops=given - m, repeats=repeats)


class _Blocks:
    """One worker per block; ``run.own`` is a placeholder for the position where a block's cursors begin."""

    own = object()

    def __init__(self, blocks, n):
        self.blocks, self.n, self.pool = blocks, n, ThreadPool(blocks)

    def __call__(self, phase, bounds, *arguments):
        """Call ``phase(first, end, *arguments)`` for every block; return the list of results."""
        calls = []
        for block in range(self.blocks):
            own = (block * self.n if argument is self.own else argument for argument in arguments)
            calls.append((bounds[block], bounds[block + 1], *own))
        return self.pool.starmap(phase, calls)


def _even(count, blocks):
    """Bounds of equal blocks: (blocks + 1,) int64 array."""
    return np.arange(blocks + 1) * count // blocks


def by_sorting(n, sources, targets):
    """The ranked graph of an edge list on a GPU."""
    if n > MAX_UINT32:
        raise OptionError(f"ranking on a GPU needs fewer than {MAX_UINT32 + 1:,} vertices; use device='cpu'")
    where, m = arrays.device_of(sources), len(sources)
    xp = arrays.namespace(where)
    ends = [end.astype(np.uint64) for end in (sources, targets)]
    proper = ends[0] != ends[1]
    low, high = xp.minimum(*ends)[proper], xp.maximum(*ends)[proper]
    joined = xp.unique(low << np.uint64(32) | high)
    low, high = (joined >> np.uint64(32)).astype(np.int64), (joined & np.uint64(2**32 - 1)).astype(np.int64)
    degree = histogram(low, n) + histogram(high, n)
    rank = xp.empty(n, np.int64)
    rank[xp.argsort(degree, kind="stable")] = xp.arange(n)
    ends = xp.concatenate([rank[low], rank[high]]), xp.concatenate([rank[high], rank[low]])
    keys = xp.sort(ends[0].astype(np.uint64) << np.uint64(32) | ends[1].astype(np.uint64))
    row, neighbour = (keys >> np.uint64(32)).astype(np.int64), (keys & np.uint64(2**32 - 1)).astype(np.int64)
    offsets = exclusive_scan(histogram(row, n))
    split = offsets[:-1] + histogram(row[neighbour < row], n)
    loops, kind = m - int(proper.sum()), index_type(n)
    moved = (offsets, neighbour.astype(kind), split, rank.astype(kind))
    offsets, neighbours, split, rank = (arrays.move(array, where) for array in moved)
    return Ranked(offsets, neighbours, split, rank, loops, m - loops - len(joined))
