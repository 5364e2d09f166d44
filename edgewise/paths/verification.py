"""Verification of distances, with weights or without."""

import numpy as np

from edgewise.device import arrays
from edgewise.errors import VerificationError
from edgewise.paths.sssp.weights import passable


def verify(graph, result):
    """Raise :class:`~edgewise.errors.VerificationError` unless ``result`` has the distances in ``graph``.

    Distances are right if no edge leads to a shorter path to its target, and if *tight* edges, which lead to
    exactly the distance of their target, connect the sources with every vertex that is reached.  Sums are
    computed in the type of the distances, as in the methods.
    """
    host = graph.to("cpu")
    if result.weighted:
        host = passable(host)
    distances = arrays.move(result.distances, "cpu")
    offsets, targets = host.offsets, host.neighbours
    degrees = np.diff(offsets)
    reached = distances != result.unreached
    _check_bounds(distances, reached, result)
    follows = np.repeat(reached, degrees)
    sources = np.repeat(np.arange(len(degrees)), degrees)[follows]
    targets = targets[follows].astype(np.int64)
    offered, possible = _offers(distances[sources], _weights(host, result, distances.dtype, follows))
    edges = sources, targets, offered
    _check_offers(distances, reached, edges, possible, result)
    _check_tight(distances, reached, edges, possible, result)


def _weights(host, result, dtype, follows):
    if not result.weighted:
        return dtype.type(1)
    weights = host.csr_weights
    if weights is None:
        raise VerificationError("the distances count weights, which the graph does not have")
    return weights[follows].astype(dtype)


def _offers(nearer, weights):
    """Distances of paths that end with each edge, and which of them the type can hold."""
    with np.errstate(over="ignore"):
        offered = nearer + weights
    if offered.dtype.kind == "f":
        return offered, np.ones(len(offered), bool)
    wrapped = np.where(weights >= 0, offered < nearer, offered > nearer)
    return offered, ~wrapped & (offered != np.iinfo(offered.dtype).max)


def _check_bounds(distances, reached, result):
    for source in result.sources:
        if not reached[source] or (distances[source] != 0 and not (distances < 0).any()):
            raise VerificationError(f"the source {source} has the distance {distances[source]}, not 0")
    if np.isnan(distances).any():
        raise VerificationError(f"the distance of vertex {np.isnan(distances).argmax()} is no number")
    if result.cutoff is not None:
        wrong = reached & (distances > result.cutoff)
        if wrong.any():
            vertex = wrong.argmax()
            raise VerificationError(
                f"the distance {distances[vertex]} of vertex {vertex} is beyond the cutoff {result.cutoff}"
            )


def _check_offers(distances, reached, edges, possible, result):
    """Check that no edge leads to a shorter path, other than to vertices beyond the cutoff or the targets."""
    sources, targets, offered = edges
    wrong = possible & (offered < distances[targets])
    if result.cutoff is not None:
        wrong &= reached[targets] | (offered <= result.cutoff)
    if result.partial:
        wrong &= reached[targets] | (offered < distances[reached].max(initial=0))
    if wrong.any():
        edge = wrong.argmax()
        source, target = sources[edge], targets[edge]
        held = distances[target] if reached[target] else "none"
        raise VerificationError(
            f"the edge from vertex {source} to {target} offers the distance {offered[edge]}, "
            f"but the vertex has {held}"
        )


def _check_tight(distances, reached, edges, possible, result):
    """Check that tight edges lead from the sources to all vertices that are reached."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    sources, targets, offered = edges
    tight = possible & (offered == distances[targets])
    n = len(distances)
    starts = np.asarray(result.sources)
    rows = np.concatenate([sources[tight], np.full(len(starts), n)])
    columns = np.concatenate([targets[tight], starts])
    links = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n + 1, n + 1))
    followed = np.zeros(n + 1, bool)
    followed[breadth_first_order(links, n, return_predecessors=False)] = True
    wrong = reached & ~followed[:n]
    if wrong.any():
        vertex = wrong.argmax()
        raise VerificationError(f"no path has the distance {distances[vertex]} that vertex {vertex} has")
