"""The simple graph in order of degree, which every count of cycles reads.

Self-loops and repeated edges are left out and counted.  Vertices are renumbered by *rank*, their position in
ascending order of (degree, vertex number).  A vertex has at most ``sqrt(2 m)`` neighbours of higher rank
(Chiba and Nishizeki 1985).  Whatever is found at the highest vertex of a cycle, or by way of higher
neighbours only, is therefore found cheaply, however long the longest row is.

On the CPU this is a counting sort by blocks, each with cursors of its own, because an atomic cursor would
wait for memory at every edge.  Rows that are sorted are copied in the order of their ranks; of an edge list,
both endpoints of every edge are appended to the row of the other.  Appending each of these rows, in ascending
order, to the rows of its entries sorts them.  If an edge list repeats edges, which are now side by side, the
rows are built again from the distinct ones, since degrees and ranks have changed.  No pass over all vertices
or edges is serial.  A GPU sorts entries packed into 64 bits.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, compiled, device, each, threads
from edgewise.device.prefetch import prefetch
from edgewise.errors import GraphError
from edgewise.index_type import index_type
from edgewise.method import check_graph
from edgewise.primitives.counting_sort import bounds_of, counting_order, gather, offsets_in_order

#: Upper limit of the blocks of edges, each with n cursors, as a multiple of m / n: it limits their memory.
MAX_BLOCKS_BY_DENSITY = 4
#: How many edges ahead a cursor is prefetched, and the entry to which it points.
FAR, NEAR = 16, 8
#: Degree from which on vertices are sorted by themselves, since counters for each key should fit the caches.
LARGE = 1 << 11
#: Vertices of a stretch of rows, and pieces of rows for each thread that even out the work.
STRETCH, PIECES = 2048, 16


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


def even_pieces(offsets, count=None):
    """Bounds of ``count`` pieces of rows with about as many entries each; by default many for each thread."""
    count = PIECES * threads.count() if count is None else count
    pieces = np.searchsorted(offsets, bounds_of(int(offsets[-1]), count))
    pieces[0], pieces[-1] = 0, len(offsets) - 1
    return pieces


def by_vertex(counts, ranked: Ranked):
    """Counts by vertex of the graph, from those by rank, on their device."""
    return gather(counts, ranked.rank) if ranked.device == "cpu" else counts[ranked.rank]


def check_undirected(graph: Any) -> None:
    """Refuse what is no graph, and directed graphs."""
    check_graph(graph)
    if graph.directed:
        raise GraphError(
            "the graph is directed, and cycles are counted in undirected graphs; "
            "use graph.undirected() to take its edges in both directions"
        )


class Blocks(NamedTuple):
    """How elements are divided: block ``b`` has ``bounds[b]`` to ``bounds[b + 1] - 1``, (blocks + 1,) int64.

    ``cursors``, (blocks * n,) uint32 or int64, are a block's own from ``b * n`` on.
    """

    bounds: Any
    cursors: Any


@partial(each, least_chunk=1)
def _count_values(block, n, blocks, values):
    for index in range(blocks.bounds[block], blocks.bounds[block + 1]):
        blocks.cursors[block * n + np.int64(values[index])] += 1


@each
def _scan_blocks(row, n, blocks, starts, totals):
    """Turn the counts of all blocks into positions from the start of a row on, and sum them up."""
    position = starts[row]
    for block in range(len(blocks.bounds) - 1):
        count = np.int64(blocks.cursors[block * n + row])
        blocks.cursors[block * n + row] = position
        position += count
    totals[row] = position - starts[row]


@each
def _move_cursors(row, n, blocks, offsets, rank):
    """Add the start of the row of a vertex to the positions of all blocks."""
    for block in range(len(blocks.bounds) - 1):
        blocks.cursors[block * n + row] += offsets[rank[row]]


@device
def _append(value, row, cursors, entries):
    """Write a value at the cursor of a row; return its position."""
    position = np.int64(cursors[row])
    entries[position] = value
    cursors[row] = position + 1
    return position


class Edges(NamedTuple):
    """Endpoints of edges, (m,), and the rank of every vertex, (n,)."""

    sources: Any
    targets: Any
    rank: Any


@partial(each, least_chunk=1)
def _append_edges(block, n, blocks, edges, entries):
    """Append both endpoints of edges to the row of the other, in any order."""
    sources, targets, rank = edges
    cursors, base, end = blocks.cursors, block * n, blocks.bounds[block + 1]
    for edge in range(blocks.bounds[block], end):
        if edge + FAR < end:
            prefetch(cursors, base + np.int64(targets[edge + FAR]))
            prefetch(rank, np.int64(targets[edge + FAR]))
            prefetch(entries, np.int64(cursors[base + np.int64(targets[edge + NEAR])]))
        source, target = np.int64(sources[edge]), np.int64(targets[edge])
        _append(rank[target], base + source, cursors, entries)
        _append(rank[source], base + target, cursors, entries)


@partial(each, least_chunk=1)
def _append_rows(block, n, blocks, entries, ranked, n_repeated):
    """Append rows, in ascending order, to the rows of their entries; count those that repeat the one before.

    When a row is reached, all its lower neighbours are in it, appended by this block or by earlier ones at
    positions before this block's.
    """
    offsets, neighbours, split = ranked
    cursors, base, repeated = blocks.cursors, block * n, np.int64(0)
    last = offsets[blocks.bounds[block + 1]]
    for row in range(blocks.bounds[block], blocks.bounds[block + 1]):
        split[row] = cursors[base + row]
        for entry in range(offsets[row], offsets[row + 1]):
            if entry + FAR < last:
                prefetch(cursors, base + np.int64(entries[entry + FAR]))
                prefetch(neighbours, np.int64(cursors[base + np.int64(entries[entry + NEAR])]))
            other = np.int64(entries[entry])
            position = _append(row, base + other, cursors, neighbours)
            if position > 0 and neighbours[position - 1] == row and position > offsets[other]:
                repeated += 1
    n_repeated[block] = repeated


@compiled
def _list_distinct_edges(offsets, split, neighbours, vertices, sources, targets):
    """List every edge once, by vertex."""
    n_edges = 0
    for row in range(len(split)):
        for entry in range(split[row], offsets[row + 1]):
            if entry == split[row] or neighbours[entry] != neighbours[entry - 1]:
                sources[n_edges], targets[n_edges] = vertices[row], vertices[neighbours[entry]]
                n_edges += 1


def _order_by_degree(degrees):
    """Vertices in ascending order of (degree, number): (n,) int64."""
    vertices = counting_order(degrees, LARGE + 1)
    large = (
        vertices[np.searchsorted(degrees[vertices], LARGE) :]
        if degrees.max(initial=0) > LARGE
        else vertices[:0]
    )
    large[:] = large[np.argsort(degrees[large], kind="stable")]
    return vertices


def _sorted_rows(offsets, entries, n_blocks):
    """Rows of ranks, sorted, as a :class:`RankedCSR`, and the number of entries that repeat another."""
    n, kind = len(offsets) - 1, entries.dtype
    stretches = even_pieces(offsets, n_blocks)
    cursors = np.zeros(n_blocks * n, np.uint32 if len(entries) < 2**32 else np.int64)
    neighbours = np.zeros(
        len(entries), kind
    )  # no row of a later block equals an entry that is not yet written
    ranked = RankedCSR(offsets, neighbours, np.empty(n, np.int64))
    _count_values(n_blocks, n, Blocks(offsets[stretches], cursors), entries)
    blocks, n_repeated = Blocks(stretches, cursors), np.zeros(n_blocks, np.int64)
    _scan_blocks(n, n, blocks, offsets, ranked.split)
    _append_rows(n_blocks, n, blocks, entries, ranked, n_repeated)
    return ranked, int(n_repeated.sum())


def _blocks_for(n, m):
    return max(1, min(threads.count(), MAX_BLOCKS_BY_DENSITY * m // max(n, 1)))


def by_counting(n, sources, targets):
    """The ranked graph of an edge list on the host."""
    n_given, proper = len(sources), sources != targets
    if not proper.all():
        sources, targets = sources[proper], targets[proper]
    m, kind = len(sources), index_type(n)
    n_blocks, degrees = _blocks_for(n, m), np.empty(n, np.int64)
    cursors = np.zeros(n_blocks * n, np.uint32 if 2 * m < 2**32 else np.int64)
    blocks = Blocks(bounds_of(m, n_blocks), cursors)
    _count_values(n_blocks, n, blocks, sources)
    _count_values(n_blocks, n, blocks, targets)
    _scan_blocks(n, n, blocks, np.zeros(n, np.int64), degrees)
    vertices = _order_by_degree(degrees)
    offsets, rank = offsets_in_order(degrees, vertices, kind)
    entries: np.ndarray = np.empty(2 * m, kind)
    _move_cursors(n, n, blocks, offsets, rank)
    _append_edges(n_blocks, n, blocks, Edges(sources, targets, rank), entries)
    ranked, n_repeated = _sorted_rows(offsets, entries, n_blocks)
    n_duplicates = n_repeated // 2
    if n_duplicates == 0:
        return Ranked(ranked.offsets, ranked.neighbours, ranked.split, rank, n_given - m, 0)
    distinct = np.empty((2, m - n_duplicates), kind)
    _list_distinct_edges(offsets, ranked.split, ranked.neighbours, vertices, *distinct)
    return by_counting(n, *distinct)._replace(n_self_loops=n_given - m, n_duplicates=n_duplicates)


class Stretches(NamedTuple):
    """Of each stretch of rows, int64: self-loops, entries equal to the one before, and entries below it."""

    self_loops: Any
    repeated: Any
    descents: Any


@partial(each, least_chunk=1)
def _measure_stretch(stretch, offsets, neighbours, degrees, sums):
    """Count the distinct neighbours of the rows of a stretch."""
    self_loops, repeated, descents = np.int64(0), np.int64(0), np.int64(0)
    for vertex in range(stretch * STRETCH, min((stretch + 1) * STRETCH, len(degrees))):
        before, degree = np.int64(-1), np.int64(0)
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            neighbour = np.int64(neighbours[entry])
            proper, new = np.int64(neighbour != vertex), np.int64(neighbour != before)
            self_loops += 1 - proper
            repeated += proper & (1 - new)
            degree += proper & new
            descents += neighbour < before
            before = neighbour
        degrees[vertex] = degree
    sums.self_loops[stretch], sums.repeated[stretch] = self_loops, repeated
    sums.descents[stretch] = descents


class Copy(NamedTuple):
    """Rows in a new order: ``vertices`` in the order of their ``rank``, and offsets and entries by rank."""

    vertices: Any
    rank: Any
    offsets: Any
    entries: Any


@partial(each, least_chunk=1)
def _copy_rows(piece, bounds, offsets, neighbours, copy):
    """Copy the distinct neighbours of the rows of a piece, by rank."""
    for row in range(bounds[piece], bounds[piece + 1]):
        vertex, before, end = np.int64(copy.vertices[row]), np.int64(-1), copy.offsets[row]
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            neighbour = np.int64(neighbours[entry])
            if neighbour != vertex and neighbour != before:
                copy.entries[end] = copy.rank[neighbour]
                end += 1
            before = neighbour


def by_rows(offsets, neighbours) -> Ranked | None:
    """The ranked graph of symmetric rows on the host; ``None`` if one is not sorted."""
    n, kind = len(offsets) - 1, index_type(len(offsets) - 1)
    stretches, degrees = -(-n // STRETCH), np.empty(n, np.int64)
    sums = Stretches(*np.zeros((3, stretches), np.int64))
    _measure_stretch(stretches, offsets, neighbours, degrees, sums)
    if sums.descents.any():
        return None
    vertices = _order_by_degree(degrees)
    new_offsets, rank = offsets_in_order(degrees, vertices, kind)
    n_entries = int(new_offsets[-1])
    pieces = even_pieces(new_offsets)
    copy = Copy(vertices, rank, new_offsets, np.empty(n_entries, kind))
    _copy_rows(len(pieces) - 1, pieces, offsets, neighbours, copy)
    csr, _ = _sorted_rows(new_offsets, copy.entries, _blocks_for(n, n_entries // 2))
    n_ignored = int(sums.self_loops.sum()), int(sums.repeated.sum()) // 2
    return Ranked(new_offsets, csr.neighbours, csr.split, rank, *n_ignored)
