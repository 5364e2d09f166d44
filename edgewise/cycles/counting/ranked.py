"""The simple graph in order of degree, which every count of cycles reads.

Self-loops and repeated edges are left out and counted.  Vertices are renumbered by *rank*, their position in
ascending order of (degree, vertex number).  A vertex has at most ``sqrt(2 m)`` neighbours of higher rank
(Chiba and Nishizeki 1985).  Whatever is found at the highest vertex of a cycle, or by way of higher
neighbours only, is therefore found cheaply, however long the longest row is.

On the CPU this is a counting sort by blocks of edges, each with cursors of its own, because an atomic cursor
would wait for memory at every edge.  Appending each row, in ascending order, to the rows of its entries sorts
these.  If edges are repeated, now side by side, the rows are built again from the distinct ones, since
degrees and ranks have changed.  A GPU sorts entries packed into 64 bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, compiled, device
from edgewise.device.prefetch import prefetch
from edgewise.errors import GraphError, OptionError, argument
from edgewise.index_type import MAX_UINT32, index_type
from edgewise.method import check_graph
from edgewise.primitives.thread_pool import ThreadPool

#: Upper limit of the blocks of edges, each with n cursors, as a multiple of m / n: it limits their memory.
MAX_BLOCKS_BY_DENSITY = 4
#: How many edges ahead a cursor is prefetched, and the entry to which it points.
FAR, NEAR = 16, 8


class RankedCSR(NamedTuple):
    """The rows of a ranked graph, as kernels take them: ``offsets``, (n + 1,) int64.

    ``neighbours``, (2 m,) uint32 or int64, are ranks; every row is ascending, so that the lower neighbours
    come first.  ``split``, (n,) int64, is the entry of each row's first higher neighbour, or the row's end.
    """

    offsets: Any
    neighbours: Any
    split: Any


class Rows(NamedTuple):
    """Each vertex's lower or higher neighbours: ``neighbours[starts[v]:ends[v]]``, ascending.

    ``starts`` and ``ends`` are (n,) int64 arrays.
    """

    starts: Any
    ends: Any
    neighbours: Any


class Ranked(NamedTuple):
    """A simple undirected graph whose vertices are ranks, on one device: the arrays of :class:`RankedCSR`.

    ``rank``, (n,) uint32 or int64, is the rank of each vertex of the graph: counts by rank ``c`` are
    ``c[rank]`` by vertex.  Edges that were left out are self-loops and duplicates of an earlier edge.
    A GPU that ranks rows also knows the row of every entry, (2 m,) uint32, and the largest degree.
    """

    offsets: Any
    neighbours: Any
    split: Any
    rank: Any
    n_self_loops: int
    n_duplicates: int
    rows: Any = None
    max_degree: int | None = None

    @property
    def csr(self) -> RankedCSR:
        """The rows."""
        return RankedCSR(self.offsets, self.neighbours, self.split)

    @property
    def higher(self) -> Rows:
        """The higher neighbours of every vertex."""
        return Rows(self.split, self.offsets[1:], self.neighbours)

    def row_of_entries(self):
        """The row of every entry: (2 m,) index array on the device of the rows."""
        if self.rows is not None:
            return self.rows
        xp, kind = arrays.namespace(self.device), self.neighbours.dtype
        if self.device == "cpu":
            return np.repeat(np.arange(self.n_vertices, dtype=kind), np.diff(self.offsets))
        rows = xp.searchsorted(self.offsets[1:], xp.arange(len(self.neighbours)), side="right")
        return arrays.move(rows.astype(kind), self.device)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.split)

    @property
    def device(self) -> str:
        """The device of the arrays."""
        return arrays.device_of(self.offsets)


@device
def first_from(vertex, first, end, neighbours):
    """Entry of the first vertex that is not below ``vertex``, in the row from ``first`` to ``end``."""
    while first < end:
        middle = (first + end) // 2
        if np.int64(neighbours[middle]) < vertex:
            first = middle + 1
        else:
            end = middle
    return first


def check_undirected(graph: Any) -> None:
    """Refuse what is no graph, and directed graphs."""
    check_graph(graph)
    if graph.directed:
        raise GraphError(
            "the graph is directed, and cycles are counted in undirected graphs; "
            "use graph.undirected() to take its edges in both directions"
        )


def ranked_of(graph) -> Ranked:
    """The simple graph of ``graph``, ranked, on the same device; it is cached with the graph."""

    def rank():
        with arrays.guard(graph.device):
            if graph.device != "cpu" and graph.has_rows and not graph.directed:
                from edgewise.cycles.counting.ranked_rows import rank_rows

                ranked = rank_rows(graph.n_vertices, graph.offsets, graph.neighbours)
                if ranked is not None:
                    return ranked
            by = by_counting if graph.device == "cpu" else by_sorting
            return by(graph.n_vertices, graph.sources, graph.targets)

    return graph.cached("ranked", rank)


class Block(NamedTuple):
    """The share of one thread: elements ``first`` to ``end - 1``, and cursors from ``base`` on."""

    first: int
    end: int
    base: int


@compiled
def _count_values(values, cursors, block):
    for index in range(block.first, block.end):
        cursors[block.base + np.int64(values[index])] += 1


@compiled
def _scan_blocks(n_blocks, n, cursors, totals, block):
    """Turn the counts of all blocks into positions within each row, and sum them up."""
    for row in range(block.first, block.end):
        position = np.int64(0)
        for number in range(n_blocks):
            count = np.int64(cursors[number * n + row])
            cursors[number * n + row] = position
            position += count
        totals[row] = position


@compiled
def _rank_by_degree(degrees, starts, rank, offsets):
    """Sort the vertices by degree; ``starts`` are zeros, two more than the largest degree."""
    for vertex in range(len(degrees)):
        starts[degrees[vertex] + 1] += 1
    for degree in range(1, len(starts)):
        starts[degree] += starts[degree - 1]
    for vertex in range(len(degrees)):
        position = starts[degrees[vertex]]
        starts[degrees[vertex]] = position + 1
        rank[vertex] = position
        offsets[position + 1] = degrees[vertex]
    for row in range(len(degrees)):
        offsets[row + 1] += offsets[row]


@device
def _append(value, row, cursors, entries):
    """Write a value at the cursor of a row; return its position."""
    position = np.int64(cursors[row])
    entries[position] = value
    cursors[row] = position + 1
    return position


@compiled
def _append_edges(sources, targets, rank, cursors, entries, block):
    """Append both endpoints of edges to the row of the other, in any order."""
    base = block.base
    for edge in range(block.first, block.end):
        if edge + FAR < block.end:
            prefetch(cursors, base + np.int64(targets[edge + FAR]))
            prefetch(rank, np.int64(targets[edge + FAR]))
            prefetch(entries, np.int64(cursors[base + np.int64(targets[edge + NEAR])]))
        source, target = np.int64(sources[edge]), np.int64(targets[edge])
        _append(rank[target], base + source, cursors, entries)
        _append(rank[source], base + target, cursors, entries)


@compiled
def _append_rows(offsets, entries, cursors, neighbours, split, block):
    """Append rows, in ascending order, to the rows of their entries; return how many repeat the one before.

    When a row is reached, all its lower neighbours are in it, appended by this block or by earlier ones at
    positions before this block's.
    """
    n_repeated, last, base = 0, offsets[block.end], block.base
    for row in range(block.first, block.end):
        split[row] = cursors[base + row]
        for entry in range(offsets[row], offsets[row + 1]):
            if entry + FAR < last:
                prefetch(cursors, base + np.int64(entries[entry + FAR]))
                prefetch(neighbours, np.int64(cursors[base + np.int64(entries[entry + NEAR])]))
            other = np.int64(entries[entry])
            position = _append(row, base + other, cursors, neighbours)
            if position > 0 and neighbours[position - 1] == row and position > offsets[other]:
                n_repeated += 1
    return n_repeated


@compiled
def _list_distinct_edges(offsets, split, neighbours, vertices, sources, targets):
    """List every edge once, by vertex."""
    n_edges = 0
    for row in range(len(split)):
        for entry in range(split[row], offsets[row + 1]):
            if entry == split[row] or neighbours[entry] != neighbours[entry - 1]:
                sources[n_edges], targets[n_edges] = vertices[row], vertices[neighbours[entry]]
                n_edges += 1


def by_counting(n, sources, targets):
    """The ranked graph of an edge list on the host."""
    n_given, proper = len(sources), sources != targets
    if not proper.all():
        sources, targets = sources[proper], targets[proper]
    m, kind = len(sources), index_type(n)
    pool = ThreadPool(max(1, MAX_BLOCKS_BY_DENSITY * m // max(n, 1)))
    n_blocks = pool.n_workers
    cursors = np.zeros((n_blocks, n), np.uint32 if 2 * m < 2**32 else np.int64)
    flat, rank, (degrees, split) = cursors.reshape(-1), np.empty(n, kind), np.empty((2, n), np.int64)
    offsets, entries = np.zeros(n + 1, np.int64), np.empty(2 * m, kind)
    neighbours = np.zeros(2 * m, kind)  # no row of a later block equals an entry that is not yet written

    def run(function, bounds, *arguments):
        blocks = [Block(int(bounds[i]), int(bounds[i + 1]), i * n) for i in range(n_blocks)]
        return pool.starmap(function, [(*arguments, block) for block in blocks])

    rows, edges = _even(n, n_blocks), _even(m, n_blocks)
    run(_count_values, edges, sources, flat)
    run(_count_values, edges, targets, flat)
    run(_scan_blocks, rows, n_blocks, n, flat, degrees)
    _rank_by_degree(degrees, np.zeros(int(degrees.max(initial=0)) + 2, np.int64), rank, offsets)
    cursors += offsets[rank].astype(cursors.dtype)
    run(_append_edges, edges, sources, targets, rank, flat, entries)
    stretches = np.searchsorted(offsets, _even(2 * m, n_blocks))
    stretches[0], stretches[-1] = 0, n
    cursors.fill(0)
    run(_count_values, offsets[stretches], entries, flat)
    run(_scan_blocks, rows, n_blocks, n, flat, degrees)
    cursors += offsets[:-1].astype(cursors.dtype)
    n_duplicates = sum(run(_append_rows, stretches, offsets, entries, flat, neighbours, split)) // 2
    if n_duplicates == 0:
        return Ranked(offsets, neighbours, split, rank, n_given - m, 0)
    vertices, distinct = np.empty_like(rank), np.empty((2, m - n_duplicates), kind)
    vertices[rank] = np.arange(n, dtype=kind)
    _list_distinct_edges(offsets, split, neighbours, vertices, *distinct)
    return by_counting(n, *distinct)._replace(n_self_loops=n_given - m, n_duplicates=n_duplicates)


def _even(count, blocks):
    """Bounds of equal blocks: (blocks + 1,) int64 array."""
    return np.arange(blocks + 1) * count // blocks


def by_sorting(n, sources, targets):
    """The ranked graph of an edge list on a GPU."""
    if n > MAX_UINT32:
        raise OptionError(
            f"ranking on a GPU needs fewer than {MAX_UINT32 + 1:,} vertices; use {argument('device', 'cpu')}"
        )
    device, m, half = arrays.device_of(sources), len(sources), np.uint64(32)
    xp = arrays.namespace(device)
    edges = [one.astype(np.uint64) for one in (sources, targets)]
    proper = edges[0] != edges[1]
    low, high = xp.minimum(*edges)[proper], xp.maximum(*edges)[proper]
    joined = xp.unique(low << half | high)
    low, high = (joined >> half).astype(np.int64), joined.astype(np.uint32)
    degrees = xp.bincount(low, minlength=n) + xp.bincount(high.astype(np.int64), minlength=n)
    rank, vertices = xp.empty(n, np.uint64), xp.arange(n + 1).astype(np.uint64)
    rank[xp.argsort(degrees, kind="stable")] = vertices[:-1]
    low, high = rank[low], rank[high]
    keys = xp.sort(xp.concatenate([low << half | high, high << half | low]))
    offsets = xp.searchsorted(keys, vertices << half)
    split = xp.searchsorted(keys, (vertices << half | vertices)[:-1])
    n_self_loops, n_distinct = m - int(proper.sum()), len(joined)
    result = (offsets, keys.astype(np.uint32), split, rank.astype(np.uint32))
    return Ranked(*(arrays.move(one, device) for one in result), n_self_loops, m - n_self_loops - n_distinct)
