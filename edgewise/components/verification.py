"""A naive oracle and a verifier for component labels."""

import numpy as np

from edgewise.device import arrays
from edgewise.errors import VerificationError


def oracle(vertices, sources, targets):
    """Label every vertex with the smallest vertex of its component, by the plainest search.

    Parameters
    ----------
    vertices : int
    sources, targets : sequences of int

    Returns
    -------
    list of int
    """
    neighbours = [[] for _ in range(vertices)]
    for source, target in zip(sources, targets, strict=True):
        neighbours[source].append(target)
        neighbours[target].append(source)
    labels = [None] * vertices
    for start in range(vertices):
        reached = [start] if labels[start] is None else []
        while reached:
            vertex = reached.pop()
            if labels[vertex] is None:
                labels[vertex] = start
                reached.extend(neighbours[vertex])
    return labels


def verify(graph, labels):
    """Raise :class:`~edgewise.errors.VerificationError` unless ``labels`` are the components of ``graph``.

    Three facts together leave only the right labels: every label is a member of its own class and the
    smallest one; no edge joins two classes, so that classes are unions of components; and there are as many
    classes as SciPy counts components.
    """
    labels = arrays.move(labels, "cpu").astype(np.int64)
    host = graph.to("cpu")
    _check_roots(labels)
    _check_edges(labels, host)
    _check_count(labels, host)


def _check_roots(labels):
    vertices = np.arange(len(labels))
    for wrong, what in (
        (labels > vertices, "is larger than the vertex"),
        (labels < 0, "is negative"),
    ):
        if wrong.any():
            raise VerificationError(f"the label of vertex {wrong.argmax()} {what}")
    wrong = labels[labels] != labels
    if wrong.any():
        raise VerificationError(f"the label of vertex {wrong.argmax()} is not a member of its own component")


def _check_edges(labels, graph):
    wrong = labels[graph.sources] != labels[graph.targets]
    if wrong.any():
        edge = wrong.argmax()
        ends = graph.sources[edge], graph.targets[edge]
        raise VerificationError(f"edge {edge} joins vertices {ends[0]} and {ends[1]} of different labels")


def _check_count(labels, graph):
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = graph.n_vertices
    if n == 0:
        return
    ones = np.ones(len(graph.sources), np.int8)
    ends = (graph.sources.astype(np.int64), graph.targets.astype(np.int64))
    expected, _ = connected_components(coo_array((ones, ends), shape=(n, n)).tocsr(), directed=False)
    found = int((labels == np.arange(n)).sum())
    if found != expected:
        raise VerificationError(f"the labels say {found} components, there are {expected}")
