"""The simple graph in order of degree, which every count of cycles reads.

Self-loops and repeated edges are left out and counted.  Vertices are renumbered by *rank*, their position in
ascending order of (degree, vertex number).  A vertex has at most ``sqrt(2 m)`` neighbours of higher rank
(Chiba and Nishizeki 1985).  Whatever is found at the highest vertex of a cycle, or by way of higher
neighbours only, is therefore found cheaply, however long the longest row is.  The ranks are those of
:mod:`~edgewise.cycles.counting.ranking`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, device, each, threads
from edgewise.errors import GraphError
from edgewise.method import check_graph
from edgewise.primitives.counting_sort import bounds_of

#: Pieces of rows for each thread that even out the work.
PIECES = 16
#: Higher neighbours up to which rows are merged rather than marked, on the CPU.
MAX_MERGED = 3


class CSR(NamedTuple):
    """Rows ``neighbours[offsets[v]:offsets[v + 1]]``: (n + 1,) int64 ``offsets``, and an index array."""

    offsets: Any
    neighbours: Any


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


@each
def _take(vertex, counts, rank, taken):
    taken[vertex] = counts[rank[vertex]]


def bytes_of_ranks(scratch, noted, size, *, of_rows=False, descends=False) -> float:
    """Bytes at the peak of ranking an edge list with repeated edges, or rows, or of counting.

    Entries are there twice while rows are sorted, and edges once; a thread takes up to ``scratch`` for each
    vertex, and ``noted`` bytes are for each entry while cycles are counted.  Rows of which one ``descends``
    are copied in order before.
    """
    n, entries = size.vertices, size.entries
    cursors = 4 * min(size.threads * n, 2 * entries + n)
    ranking = (2 * size.width + (0 if of_rows else size.width + 0.5)) * entries + 28 * n + cursors
    counting = (size.width + noted) * entries + (44 + scratch * size.threads) * n
    return max(ranking, counting) + (8 * n + size.width * entries if descends else 0)


def by_vertex(counts, ranked: Ranked):
    """Counts by vertex of the graph, from those by rank, on their device."""
    taken = arrays.empty(ranked.n_vertices, np.int64, ranked.device)
    _take(ranked.n_vertices, counts, ranked.rank, taken)
    return taken


class Whole(NamedTuple):
    """What a count of all vertices at once finds: (n,) int64 counts by vertex, and edges that are ignored."""

    counts: Any
    n_self_loops: int
    n_duplicates: int


def check_undirected(graph: Any) -> None:
    """Refuse what is no graph, and directed graphs."""
    check_graph(graph)
    if graph.directed:
        raise GraphError(
            "the graph is directed, and cycles are counted in undirected graphs; "
            "use graph.undirected() to take its edges in both directions"
        )
