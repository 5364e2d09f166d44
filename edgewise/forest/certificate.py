"""The proof of a spanning forest: the tree in which its edges, one after the other, merge vertices by size.

That tree is the one by which :mod:`~edgewise.forest.merges` finds the last edge of a path.
"""

import numpy as np

from edgewise.certificates import check
from edgewise.certificates.record import Certificate, certify, claimed
from edgewise.device import arrays
from edgewise.device.threads import few_steps
from edgewise.errors import GraphError, VerificationError
from edgewise.forest.merges import NEVER, union_tree
from edgewise.forest.order import order_of, words_of
from edgewise.index_type import index_type
from edgewise.result import edge_arrays

#: The link of a vertex that was hooked below no other one.
NO_LINK = -1


def edges_between(graph, sources, targets, *, maximum: bool = False):
    """Positions of edges between pairs of vertices, of repeated edges the best: (k,) int64 array.

    Raises
    ------
    VerificationError
        The graph has no edge between two of the vertices.
    """
    whole = edge_arrays(graph)

    def keys_of(ones, others):
        low, high = np.minimum(ones, others), np.maximum(ones, others)
        return low.astype(np.uint64) * np.uint64(whole.n_vertices) + high.astype(np.uint64)

    words = words_of(order_of(np.ascontiguousarray(whole.weights), maximum)._replace(packed=0))
    keys, wanted = keys_of(whole.sources, whole.targets), keys_of(sources, targets)
    order = np.lexsort((words, keys))
    places = np.searchsorted(keys, wanted, sorter=order)
    edges = order[np.minimum(places, len(order) - 1)] if len(order) else np.zeros(len(wanted), np.int64)
    is_missing = keys[edges] != wanted if len(order) else np.ones(len(wanted), bool)
    if is_missing.any():
        row = int(is_missing.argmax())
        ends = graph.ids_of(np.array([sources[row], targets[row]])).tolist()
        raise VerificationError(f"the graph has no edge between {ends[0]!r} and {ends[1]!r}")
    return edges


def prove(graph, edges, *, maximum: bool = False, by_position: bool = True) -> Certificate:
    """Return the proof of a spanning forest, which is none if it is wrong.

    Parameters
    ----------
    graph : Graph
        With weights.
    edges : (k,) integer array
        Positions in the edge list of the graph.
    maximum : bool
        Whether it is the forest of largest weight.
    by_position : bool
        Whether the first edges of equal weight are preferred, as by edgewise; otherwise any may be.
    """
    whole = edge_arrays(graph)
    if whole.weights is None:
        raise GraphError("the graph has no weights, by which forests are compared; name their column")
    n, edges = (
        whole.n_vertices,
        np.sort(claimed("edges", arrays.move(edges, "cpu"), None, len(whole.sources))),
    )
    words = words_of(order_of(np.ascontiguousarray(whole.weights[edges]), maximum)._replace(packed=0))
    ranked = edges[np.argsort(words, kind="stable")]
    with few_steps(n + 8 * len(edges)):
        parents, merges = union_tree(n, whole.sources[ranked], whole.targets[ranked])
    links = np.full(n, NO_LINK, np.int32 if len(whole.sources) < 2**31 else np.int64)
    is_hooked = merges != NEVER
    links[is_hooked] = ranked[merges[is_hooked]]
    proof = {"parents": parents.astype(index_type(n)), "links": links}
    facts = {"maximum": maximum, "by_position": by_position}
    return certify("forest", whole, {"edges": edges}, proof, **facts)


def verify(graph, forest):
    """Raise :class:`~edgewise.errors.VerificationError` unless it is the forest of ``graph``."""
    host = graph.to("cpu")
    edges = arrays.move(forest.edges, "cpu")
    check(edge_arrays(host), prove(host, edges, maximum=forest.maximum))
    labels = arrays.move(forest.labels, "cpu").astype(np.int64)
    _check_labels(labels, host.sources[edges], host.targets[edges])


def _check_labels(labels, sources, targets):
    """Check the labels of the trees by the ends of the edges of a forest."""
    n = len(labels)
    if (labels > np.arange(n)).any() or (labels[labels] != labels).any():
        raise VerificationError("a label is not the smallest vertex of a tree")
    if (labels[sources] != labels[targets]).any():
        raise VerificationError("an edge of the forest joins vertices of different labels")
    if (labels == np.arange(n)).sum() != n - len(sources):
        raise VerificationError("the labels tell another number of trees than the edges")
