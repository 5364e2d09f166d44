"""Contraction hierarchies of road networks: prepared once, then searched many times.

Vertices are *contracted* one after another, the least important ones first: a vertex is taken out of the
graph, and where the only shortest path between two of its neighbours leads through it, they are joined by a
*shortcut* of the same length.  The *rank* of a vertex is its place in this order.  For any two vertices there
is a shortest path that first ascends by rank and then descends, along edges and shortcuts.  So

* a search between two vertices ascends from both of them and meets (:mod:`edgewise.paths.hierarchy.queries`);
* a search from one vertex to all ascends from it, and then passes once over the vertices from the highest
  rank to the lowest, each of which takes the least distance that its row of higher neighbours offers
  (:mod:`edgewise.paths.hierarchy.sweeps`).  Many sources share a sweep, and a sweep that is restricted to the
  ranks above some targets gives a table of distances.

Vertices are sorted by *level*: that of a vertex is one more than the highest one among the neighbours that
were contracted before it.  No two vertices of a level are adjacent, so a sweep over a level is parallel.

R. Geisberger, P. Sanders, D. Schultes and D. Delling, "Contraction hierarchies: faster and simpler
hierarchical routing in road networks" (WEA 2008); D. Delling, A. Goldberg, A. Nowatzyk and R. Werneck,
"PHAST: hardware-accelerated shortest path trees" (IPDPS 2011).
"""

from typing import Any, NamedTuple

from edgewise.paths.csr import CSR


class Upward(NamedTuple):
    """Entries to higher ranks, in rows by rank.

    ``rows`` is a :class:`~edgewise.paths.csr.CSR` whose vertices are ranks, each row in ascending order and
    without repeated entries; the weights have the type of the distances.  ``middles`` (entries,) index array:
    the rank of the vertex that a shortcut leads through, which is lower than both ends, or the largest value
    of its type for an edge of the graph.
    """

    rows: CSR
    middles: Any


class Hierarchy(NamedTuple):
    """A contraction hierarchy, on one device.

    ``ranks`` (n,) index array: the rank of each vertex; ``vertices`` (n,) index array: the vertex of each
    rank; ``outgoing``: edges and shortcuts from each rank to higher ones; ``incoming``: those that come to
    each rank from higher ones, the same object for an undirected graph; ``levels`` (levels + 1,) int64: the
    first rank of each level, then n.
    """

    ranks: Any
    vertices: Any
    outgoing: Upward
    incoming: Upward
    levels: Any


def kept(graph: Any) -> Hierarchy | None:
    """The hierarchy that ``graph.prepare("routes")`` has made, on the host; None before that."""
    return graph.cached("routes", lambda: None) if "routes" in graph.prepared else None
