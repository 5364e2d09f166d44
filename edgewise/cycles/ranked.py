"""The simple graph in order of degree: what every count of cycles reads.

Self-loops and repeated edges are no part of a simple cycle; they are left out and counted.  Vertices are
renumbered by *rank*, their position in ascending order of (degree, vertex number).  A vertex has at most
``sqrt(2 m)`` neighbours of higher rank (Chiba and Nishizeki 1985), so what is found at the highest vertex of
a cycle, or by way of higher neighbours only, is found cheaply however long the longest row is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays
from edgewise.graph import index_type
from edgewise.primitives import exclusive_scan, histogram


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
    def place(self) -> str:
        """Where the arrays lie."""
        return arrays.place_of(self.offsets)


def ranked_of(graph) -> Ranked:
    """The simple graph behind ``graph``, ranked, where it lies; made once and kept with it."""
    if "ranked" not in graph.kept:
        with arrays.guard(graph.place):
            graph.kept["ranked"] = _ranked(graph)
    return graph.kept["ranked"]


def _ranked(graph):
    xp, place, n = arrays.namespace(graph.place), graph.place, graph.n_vertices
    ends = [end.astype(np.uint64) for end in (graph.sources, graph.targets)]
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
    loops = graph.n_edges - int(proper.sum())
    kind = index_type(n)
    moved = (offsets, neighbour.astype(kind), split, rank.astype(kind))
    offsets, neighbours, split, rank = (arrays.move(array, place) for array in moved)
    return Ranked(offsets, neighbours, split, rank, loops, graph.n_edges - loops - len(joined))
