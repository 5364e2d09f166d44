"""A naive oracle and a verifier for component labels."""

import numpy as np

from edgewise.device import arrays
from edgewise.errors import VerificationError


def oracle(vertices, sources, targets):
    """Label every vertex with the smallest vertex of its component, by depth-first search: a list."""
    neighbours: list[list[int]] = [[] for _ in range(vertices)]
    for source, target in zip(sources, targets, strict=True):
        neighbours[source].append(target)
        neighbours[target].append(source)
    labels: list[int | None] = [None] * vertices
    for start in range(vertices):
        stack = [start] if labels[start] is None else []
        while stack:
            vertex = stack.pop()
            if labels[vertex] is None:
                labels[vertex] = start
                stack.extend(neighbours[vertex])
    return labels


def verify(graph, labels):
    """Raise :class:`~edgewise.errors.VerificationError` unless ``labels`` are the components of ``graph``.

    Three conditions together hold for the right labels only: every label is the smallest member of its own
    class; no edge joins two classes, so that classes are unions of components; and there are as many classes
    as SciPy counts components.
    """
    labels = arrays.move(labels, "cpu").astype(np.int64)
    host = graph.to("cpu")
    for is_wrong, problem in (
        (lambda: labels > np.arange(len(labels)), "is larger than the vertex"),
        (lambda: labels < 0, "is negative"),
        (lambda: labels[labels] != labels, "is not a member of its own component"),
    ):
        wrong = is_wrong()
        if wrong.any():
            raise VerificationError(f"the label of vertex {wrong.argmax()} {problem}")
    wrong = labels[host.sources] != labels[host.targets]
    if wrong.any():
        edge = wrong.argmax()
        source, target = host.sources[edge], host.targets[edge]
        raise VerificationError(f"edge {edge} joins vertices {source} and {target} of different labels")
    _check_count(labels, host)


def _check_count(labels, graph):
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = graph.n_vertices
    if n == 0:
        return
    ones = np.ones(len(graph.sources), np.int8)
    endpoints = (graph.sources.astype(np.int64), graph.targets.astype(np.int64))
    expected, _ = connected_components(coo_array((ones, endpoints), shape=(n, n)).tocsr(), directed=False)
    count = int((labels == np.arange(n)).sum())
    if count != expected:
        raise VerificationError(f"the labels say {count} components, there are {expected}")
