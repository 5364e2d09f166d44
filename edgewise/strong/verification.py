"""A naive oracle and a verifier for the labels of strongly connected components."""

import numpy as np

from edgewise.device import arrays
from edgewise.errors import VerificationError


def oracle(vertices, sources, targets):
    """Label every vertex with the smallest vertex that it reaches and that reaches it: a list."""
    following: list[set[int]] = [set() for _ in range(vertices)]
    for source, target in zip(sources, targets, strict=True):
        following[source].add(target)
    reached = [_reached(vertex, following) for vertex in range(vertices)]
    return [min(w for w in reached[v] if v in reached[w]) for v in range(vertices)]


def _reached(start, following):
    found, stack = {start}, [start]
    while stack:
        fresh = following[stack.pop()] - found
        found |= fresh
        stack.extend(fresh)
    return found


def verify(graph, labels):
    """Raise :class:`~edgewise.errors.VerificationError` unless ``labels`` are the strong components.

    Every label is the smallest member of its own class.  Inside each class its label reaches every member,
    and every member reaches it, so classes are parts of components.  There are as many classes as SciPy
    counts components.
    """
    labels = arrays.move(labels, "cpu").astype(np.int64)
    host = graph.to("cpu")
    n = len(labels)
    if n == 0:
        return
    for is_wrong, problem in (
        (lambda: (labels > np.arange(n)) | (labels < 0), "is larger than the vertex, or negative"),
        (lambda: labels[labels] != labels, "is not a member of its own component"),
    ):
        if (wrong := is_wrong()).any():
            raise VerificationError(f"the label of vertex {wrong.argmax()} {problem}")
    sources, targets = host.sources.astype(np.int64), host.targets.astype(np.int64)
    inside = labels[sources] == labels[targets]
    ends = sources[inside], targets[inside]
    for (tails, heads), problem in (
        (ends, "is not reached from"),
        (ends[::-1], "does not reach"),
    ):
        missed = _missed(labels, tails, heads)
        if missed.any():
            vertex = missed.argmax()
            raise VerificationError(
                f"vertex {vertex} {problem} its label {labels[vertex]} inside its component"
            )
    _check_count(labels, sources, targets)


def _missed(labels, sources, targets):
    """Which vertices are not reached from any label; one vertex more leads to all labels."""
    from scipy.sparse.csgraph import breadth_first_order

    n = len(labels)
    roots = np.flatnonzero(labels == np.arange(n))
    ends = np.append(sources, np.full(len(roots), n)), np.append(targets, roots)
    found = breadth_first_order(_matrix(n + 1, *ends), n, return_predecessors=False)
    missed = np.ones(n + 1, bool)
    missed[found] = False
    return missed[:n]


def _matrix(n, sources, targets):
    from scipy.sparse import coo_array

    return coo_array((np.ones(len(sources), np.int8), (sources, targets)), shape=(n, n)).tocsr()


def _check_count(labels, sources, targets):
    from scipy.sparse.csgraph import connected_components

    n = len(labels)
    expected, _ = connected_components(_matrix(n, sources, targets), connection="strong")
    count = int((labels == np.arange(n)).sum())
    if count != expected:
        raise VerificationError(f"the labels say {count} strong components, there are {expected}")
