"""Shortest paths walked on distances that are there, and a check of these distances.

An edge is *tight* if it ends a shortest path: ``distance[u] + weight == distance[v]``.  Walking back over
tight edges from any vertex leads to the source.  Where weights are zero it may lead round in circles, so a
walk never enters a vertex twice and turns back where it cannot go on.

Distances are right if no edge would shorten one (then none is too long) and if from the source every vertex
with a distance is reached over tight edges (then none is too short).  Distances of floats may have been
summed in another order, so equal means equal but for rounding: a share of the distance itself, so that short
distances are held to theirs whatever the longest one is.  Only where weights are negative, sums of large
numbers may be small, and the largest distance of the rows counts.
"""

import numpy as np

from edgewise.device import arrays, compiled, device, fetch_add
from edgewise.errors import VerificationError
from edgewise.paths.apsp import team

#: Relative error that rounding may leave, in units of the last place.
ROUNDINGS = 4096
#: Rows of distances that are checked at a time.
ROWS = 256


def tolerance_of(lines, none, weights):
    """How far a sum may be off: a number, and a share of its size; zeros for whole numbers."""
    kind = lines.dtype.type
    if lines.dtype.kind != "f":
        return kind(0), kind(0)
    share = kind(ROUNDINGS * np.finfo(lines.dtype).eps)
    if not len(weights) or weights.min() >= 0:
        return kind(0), share
    return share * np.abs(lines[lines != none]).max(initial=0), share


def walk_back(incoming, line, source, target, none):
    """Vertices of a shortest path from ``source`` to ``target``; empty if there is none.

    Parameters
    ----------
    incoming : CSR
        Rows of the edges that come in, on the host.
    line : (n,) array
        Distances from the source.
    source, target : int
    none : number
        What stands where no path leads.
    """
    if line[target] == none:
        return []
    slack, seen, path = tolerance_of(line, none, incoming.weights), {target}, [target]
    ways = [iter(_tight(incoming, line, target, none, slack))]
    while path[-1] != source:
        other = next((u for u in ways[-1] if u not in seen), None)
        if other is None:  # a blind alley of edges that weigh nothing
            path.pop()
            ways.pop()
            if not path:
                raise VerificationError("the distances do not fit the graph; has it changed since?")
            continue
        seen.add(other)
        path.append(other)
        ways.append(iter(_tight(incoming, line, other, none, slack)))
    return path[::-1]


def _tight(incoming, line, vertex, none, slack):
    """Vertices from which a shortest path comes in, the best fit first, then by number."""
    entries = slice(incoming.offsets[vertex], incoming.offsets[vertex + 1])
    others = incoming.neighbours[entries].astype(np.int64)
    weights = incoming.weights[entries] if len(incoming.weights) else np.ones(len(others), np.int64)
    reached = line[others] != none
    others, weights = others[reached], weights[reached]
    wide = np.float64 if line.dtype.kind == "f" else np.int64
    gaps = np.abs(line[others].astype(wide) + weights - line[vertex])
    order = np.lexsort((others, gaps))
    return others[order][gaps[order] <= slack[0] + slack[1] * abs(wide(line[vertex]))].tolist()


@device
def check_row(row, source, offsets, neighbours, weights, distances, none, slack, share, reached, queue, at):
    """A vertex whose distance from the source is wrong, or -1."""
    vertices = len(offsets) - 1
    line = row * vertices
    for vertex in range(vertices):
        reached[at + vertex] = 0
    reached[at + source], queue[at] = 1, source
    served, met = 0, 1
    if abs(distances[line + source]) > slack:
        return np.int64(source)
    while served < met:
        vertex = queue[at + served]
        served += 1
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = np.int64(neighbours[entry])
            weight = weights[entry] if len(weights) else distances.dtype.type(1)
            if distances[line + other] == none:
                return other
            gap = distances[line + vertex] + weight - distances[line + other]
            most = slack + share * abs(distances[line + other])
            if gap < -most:
                return other
            if reached[at + other] == 0 and gap <= most:
                reached[at + other], queue[at + met] = 1, other
                met += 1
    for vertex in range(vertices):
        if reached[at + vertex] == 0 and distances[line + vertex] != none:
            return np.int64(vertex)
    return np.int64(-1)


@compiled
def check_rows(
    me, counter, sources, offsets, neighbours, weights, distances, none, slack, share, reached, queue, wrong
):
    """One worker checks rows until all are."""
    at = me * (len(offsets) - 1)
    row = fetch_add(counter, 0, 1)
    while row < len(sources):
        wrong[row] = check_row(
            row, sources[row], offsets, neighbours, weights, distances, none, slack, share, reached, queue, at
        )
        row = fetch_add(counter, 0, 1)


def verify(result):
    """Raise :class:`~edgewise.errors.VerificationError` unless the distances are those of the graph."""
    rows, n = result._rows.outgoing.on_host(), result.graph.n_vertices
    none = result.unreached
    for first in range(0, len(result.sources), ROWS):
        block = np.ascontiguousarray(arrays.move(result.distances[first : first + ROWS], "cpu"))
        sources, wrong = result.sources[first : first + ROWS], np.empty(len(block), np.int64)
        workers = team.size_for(len(block), 9 * n)
        team.run(
            check_rows,
            workers,
            np.ascontiguousarray(sources),
            rows.offsets,
            rows.neighbours,
            rows.weights,
            block.reshape(-1),
            block.dtype.type(none),
            *tolerance_of(block, none, rows.weights),
            np.empty(workers * n, np.uint8),
            np.empty(workers * n, np.int64),
            wrong,
        )
        if (wrong >= 0).any():
            row = int((wrong >= 0).argmax())
            one, other = result.graph.ids_of(np.array([sources[row], wrong[row]])).tolist()
            raise VerificationError(f"the distance from {one!r} to {other!r} is wrong")
