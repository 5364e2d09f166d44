"""Parents: for every vertex the smallest neighbour from which a shortest path comes in.

Distances are unique where shortest paths are not, so parents are read off the distances afterwards: the
edge from ``u`` to ``v`` is *tight* if ``distance[u] + weight == distance[v]``.  This makes them the same
for every method, device and number of threads.

A parent that is nearer to the source than its child cannot close a cycle, so the smallest of these is
taken. A vertex may have none: its tight edges come from vertices at the same distance, since they weigh
nothing, or so little that the sum of floats does not show it.  Such vertices are settled level by level:
those with a tight edge from a settled vertex first, then those with one from these, and so on.  Negative
weights bring tight edges from further away, and all vertices are settled by levels, from the sources on.
"""

import numpy as np

from edgewise.device import arrays, device, each
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.result import unreached

#: Level of a vertex that has no parent yet.
OPEN = -1


@device
def is_tight(distances, source, target, weights, entry):
    """Whether the edge ends a shortest path; ``distances[source]`` is finite."""
    if len(weights):
        return wrapping_add(distances[source], weights[entry]) == distances[target]
    return distances[source] + 1 == distances[target]


@device
def is_among(vertex, ascending):
    """Whether a vertex is one of an ascending array."""
    first, end = 0, len(ascending)
    while first < end:
        middle = (first + end) // 2
        if ascending[middle] < vertex:
            first = middle + 1
        else:
            end = middle
    return first < len(ascending) and ascending[first] == vertex


@each
def _nearer_parent(vertex, distances, offsets, neighbours, weights, sources, none, levels, parents, lacking):
    """Find the smallest parent that is nearer to the sources."""
    parents[vertex], levels[vertex] = -1, 0
    if distances[vertex] == none:
        return
    least = np.int64(-1)
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        other = np.int64(neighbours[entry])
        candidate = distances[other] < distances[vertex] and (least < 0 or other < least)
        if candidate and is_tight(distances, other, vertex, weights, entry):
            least = other
    parents[vertex] = least
    if least < 0 and not is_among(vertex, sources):
        levels[vertex] = OPEN
        lacking[0] = 1


@each
def _parent_at_level(vertex, distances, offsets, neighbours, weights, none, levels, level, parents, settled):
    """Settle an open vertex behind the smallest tight neighbour of the level before."""
    if levels[vertex] != OPEN or distances[vertex] == none:
        return
    least = np.int64(-1)
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        other = np.int64(neighbours[entry])
        candidate = levels[other] == level and distances[other] != none and (least < 0 or other < least)
        if candidate and is_tight(distances, other, vertex, weights, entry):
            least = other
    if least >= 0:
        parents[vertex], levels[vertex] = least, level + 1
        settled[0] = 1


def parents_of(incoming, distances, sources, negative):
    """Smallest vertex from which a shortest path comes in, for every vertex.

    Parameters
    ----------
    incoming : edgewise.paths.csr.CSR
        Rows of the edges that come in.
    distances : (n,) array
    sources : (k,) int64 array on the host
        Ascending.
    negative : bool
        Whether an edge may weigh less than nothing.

    Returns
    -------
    (n,) int64 array
        -1 for the sources and where no path leads.
    """
    device = arrays.device_of(distances)
    with arrays.guard(device):
        n, none = len(distances), distances.dtype.type(unreached(distances.dtype))
        parents, levels = arrays.full(n, -1, np.int64, device), arrays.full(n, OPEN, np.int32, device)
        starts, changed = arrays.move(np.asarray(sources), device), arrays.full(1, 1, np.int32, device)
        rows = (distances, incoming.offsets, incoming.neighbours, incoming.weights)
        if negative:
            levels[starts] = 0
        else:
            changed.fill(0)
            _nearer_parent(n, *rows, starts, none, levels, parents, changed)
        level = 0
        while int(changed[0]):
            changed.fill(0)
            _parent_at_level(n, *rows, none, levels, level, parents, changed)
            level += 1
    return parents
