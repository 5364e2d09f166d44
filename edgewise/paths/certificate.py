"""Proofs of distances: a tree of tight edges, found by a search over them alone.

The distances may come from anywhere.  Where they are wrong, the tree is made as far as it goes, and the
checker (:mod:`edgewise.certificates.distances`) says what is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.certificates.distances import arcs, bounds, plus
from edgewise.certificates.record import certify, in_chunks, refuse
from edgewise.device import arrays
from edgewise.result import edge_arrays

if TYPE_CHECKING:
    from edgewise.certificates import Certificate, GraphArrays
    from edgewise.graph import Graph


def prove(
    graph: Graph,
    distances: Any,
    sources: Any,
    *,
    weighted: bool,
    cutoff: float | None = None,
    partial: bool = False,
) -> Certificate:
    """Return the certificate of distances.

    Parameters
    ----------
    graph : Graph
    distances : (n_vertices,) array
        Of type int32, int64, float32 or float64; where no path leads, the largest integer or infinity.
    sources : (k,) integer array
        Vertex numbers.
    weighted : bool
        Whether the weights of the edges count; each edge counts one otherwise.
    cutoff : number, optional
        Distance beyond which vertices count as not reached.
    partial : bool
        Whether vertices may count as not reached that are no nearer than the furthest one.

    Raises
    ------
    VerificationError
        A weight is no number of the type of the distances, or a source is no vertex.
    """
    edges, distances = edge_arrays(graph), arrays.move(distances, "cpu")
    sources = np.asarray(sources, np.int64)
    answer = {"distances": distances, "sources": sources}
    cutoff = cutoff.item() if isinstance(cutoff, np.generic) else cutoff
    proof = tight_tree(edges, distances, sources, weighted)
    facts: dict[str, Any] = {"weighted": weighted, "cutoff": cutoff, "partial": partial}
    return certify("distances", edges, answer, proof, **facts)


def tight_tree(graph: GraphArrays, distances: Any, sources: Any, weighted: bool) -> dict[str, np.ndarray]:
    """``edges`` and ``places`` of a tree of tight edges from the sources at distance 0, by vertex."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    n, none = graph.n_vertices, bounds(distances.dtype)[0]
    kind = np.int32 if max(n, len(graph.sources)) < 2**31 else np.int64

    def tight_in(some):
        found = []
        for number, (source, start), (target, held), weights in arcs(graph, weighted, distances, some):
            tight = (start != none) & (held != none) & (source != target) & (plus(start, weights) == held)
            found.append(np.stack([source[tight], target[tight], number[tight]]).astype(kind))
        return np.concatenate(found, axis=1)

    found = in_chunks(tight_in, len(graph.sources))
    source, target, number = np.concatenate([np.empty((3, 0), kind), *found], axis=1)
    sources = np.unique(sources)
    if len(sources) and not 0 <= sources[0] <= sources[-1] < n:
        refuse(f"the sources {sources[0]} to {sources[-1]} are no vertices of the graph, which has {n}")
    starts = sources[distances[sources] == 0]
    order = np.argsort(source, kind="stable")
    columns = np.concatenate([target[order], starts.astype(kind)])
    offsets = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=n)), [len(columns)]])
    links = csr_array((np.ones(len(columns), np.int8), columns, offsets), shape=(n + 1, n + 1))
    met, before = breadth_first_order(links, n)
    edges, places = np.full(n, -1, kind), np.zeros(n, kind)
    places[met[1:]] = np.arange(len(met) - 1)
    ends = before[target] == source
    edges[target[ends]] = number[ends]
    return {"edges": edges, "places": places}
