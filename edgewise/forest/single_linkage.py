"""Single-linkage clustering, whose hierarchy is the spanning forest of least weight."""

from __future__ import annotations

import numpy as np

from edgewise.errors import OptionError
from edgewise.forest.linkage import hierarchy_of
from edgewise.forest.result import SpanningForest
from edgewise.front import named


@named
def single_linkage(forest: SpanningForest) -> np.ndarray:
    """Return the hierarchy of single-linkage clustering in the form of SciPy.

    Parameters
    ----------
    forest : SpanningForest
        Of least weight, where weights are distances.

    Returns
    -------
    (n_vertices - 1, 4) float64 array
        As of :func:`scipy.cluster.hierarchy.linkage`, which ``fcluster`` and ``dendrogram`` take: the two
        clusters that a row joins, the weight of the edge, and the number of vertices.  Vertices are clusters
        ``0`` to ``n_vertices - 1``, row ``i`` makes cluster ``n_vertices + i``.  Trees that no edge joins are
        joined by rows of infinite weight at the end.

    Raises
    ------
    OptionError
        No forest.
    GraphError
        The graph has no vertex, or the forest is one of largest weight, whose weights fall; take distances,
        such as one minus the score.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges([0, 1, 0], [1, 2, 2], weights=[3.0, 5.0, 4.0], n_vertices=3)
    >>> ew.single_linkage(ew.minimum_spanning_forest(graph)).tolist()
    [[0.0, 1.0, 3.0, 2.0], [2.0, 3.0, 4.0, 3.0]]
    """
    if not isinstance(forest, SpanningForest):
        kind = type(forest).__name__
        raise OptionError(f"a spanning forest is needed, not {kind}; see edgewise.minimum_spanning_forest")
    return hierarchy_of(forest)
