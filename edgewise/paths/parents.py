"""Parents: for every vertex the smallest neighbour from which a shortest path comes in.

Distances are unique where shortest paths are not, so parents are read off the distances afterwards: the edge
from ``u`` to ``v`` is *tight* if ``distance[u] + weight == distance[v]``.  This makes them the same for every
method, device and number of threads.

Edges of weight zero can be tight in both directions and close a cycle.  Where there are any, a search by
levels over the tight edges says how many of them lie between the sources and a vertex, and a parent must lie
one level nearer.
"""

import numpy as np

from edgewise.device import arrays, device, each
from edgewise.paths.distances import unreached


@device
def is_tight(distances, source, target, weights, entry):
    """Whether the edge ends a shortest path; ``distances[source]`` is finite."""
    step = weights[entry] if len(weights) else 1
    return distances[source] + distances.dtype.type(step) == distances[target]


@each
def _find_parent(vertex, distances, offsets, neighbours, weights, levels, none, nobody, parents):
    parents[vertex] = nobody
    if distances[vertex] == none or (len(levels) and levels[vertex] == 0):
        return
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        other = np.int64(neighbours[entry])
        if other >= parents[vertex] and parents[vertex] != nobody:
            continue
        if distances[other] == none or not is_tight(distances, other, vertex, weights, entry):
            continue
        if len(levels) == 0 or levels[other] + 1 == levels[vertex]:
            parents[vertex] = other


@each
def _next_level(vertex, distances, offsets, neighbours, weights, levels, level, none, changed):
    """Put a vertex into the level behind ``level`` if a tight edge comes from there."""
    if levels[vertex] >= 0 or distances[vertex] == none:
        return
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        other = np.int64(neighbours[entry])
        if levels[other] == level and is_tight(distances, other, vertex, weights, entry):
            levels[vertex] = level + 1
            changed[0] = 1
            return


def parents_of(incoming, distances, sources, zero_weights):
    """Smallest vertex from which a shortest path comes in, for every vertex.

    Parameters
    ----------
    incoming : edgewise.paths.rows.Rows
        Rows of the edges that come in.
    distances : (n,) array
    sources : (k,) int64 array on the host
    zero_weights : bool
        Whether an edge may have the weight zero, or less.

    Returns
    -------
    (n,) int64 array
        -1 for the sources and where no path leads.
    """
    place = arrays.place_of(distances)
    with arrays.guard(place):
        n, none = len(distances), distances.dtype.type(unreached(distances.dtype))
        parents = arrays.empty(n, np.int64, place)
        levels = arrays.empty(0, np.int32, place)
        if zero_weights:
            levels = _levels(incoming, distances, sources, none, place)
        arguments = (distances, incoming.offsets, incoming.neighbours, incoming.weights)
        _find_parent(n, *arguments, levels, none, -1, parents)
        if not zero_weights:
            parents[arrays.move(np.asarray(sources), place)] = -1
    return parents


def _levels(incoming, distances, sources, none, place):
    """Tight edges between the sources and each vertex, at the least."""
    levels = arrays.full(len(distances), -1, np.int32, place)
    levels[arrays.move(np.asarray(sources), place)] = 0
    level, changed = 0, arrays.full(1, 1, np.int32, place)
    arguments = (distances, incoming.offsets, incoming.neighbours, incoming.weights)
    while int(changed[0]):
        changed.fill(0)
        _next_level(len(distances), *arguments, levels, level, none, changed)
        level += 1
    return levels
