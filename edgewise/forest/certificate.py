"""The proof of a spanning forest: the tree in which its edges, one after the other, merge vertices by size.

That tree is the one by which :mod:`~edgewise.forest.verification` finds the last edge of a path.
"""

import numpy as np

from edgewise.certificates.record import Certificate, certify
from edgewise.device import arrays
from edgewise.device.threads import few_steps
from edgewise.errors import GraphError
from edgewise.forest.order import order_of, words_of
from edgewise.forest.verification import NEVER, union_tree
from edgewise.index_type import index_type
from edgewise.result import edge_arrays

#: The link of a vertex that was hooked below no other one.
NO_LINK = -1


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
    n, edges = whole.n_vertices, np.sort(arrays.move(edges, "cpu"))
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
