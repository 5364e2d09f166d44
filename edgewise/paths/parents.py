"""Parents: for every vertex the smallest neighbour from which a shortest path comes in.

They are read off the distances, so they are the same for every method, device and number of threads: the edge
from ``u`` to ``v`` is *tight* if ``distance[u] + weight == distance[v]``.

A parent that is nearer to the source than its child cannot close a cycle, so the smallest of these is taken.
Without one, the tight edges come from vertices at the same distance (weights of zero, or lost in rounding);
such vertices are settled level by level: first those with a tight edge from a settled vertex, then those with
one from these.  With negative weights all vertices are settled by levels, from the sources on.
"""

from typing import Any, NamedTuple

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


class Tree(NamedTuple):
    """What is known of the parents."""

    distances: Any  # (n,) array
    none: Any  # the distance of vertices that are not reached
    parents: Any  # (n,) int64 array, -1 where there is none
    levels: Any  # (n,) int32 array, OPEN where the parent is not known yet
    changed: Any  # (1,) int32 array, not 0 if another pass has to follow


@each
def _nearer_parent(vertex, incoming, tree, sources):
    """Find the smallest parent that is nearer to the sources."""
    distances = tree.distances
    tree.parents[vertex], tree.levels[vertex] = -1, 0
    if distances[vertex] == tree.none:
        return
    least = np.int64(-1)
    for entry in range(incoming.offsets[vertex], incoming.offsets[vertex + 1]):
        other = np.int64(incoming.neighbours[entry])
        candidate = distances[other] < distances[vertex] and (least < 0 or other < least)
        if candidate and is_tight(distances, other, vertex, incoming.weights, entry):
            least = other
    tree.parents[vertex] = least
    if least < 0 and not is_among(vertex, sources):
        tree.levels[vertex] = OPEN
        tree.changed[0] = 1


@each
def _parent_at_level(vertex, incoming, tree, level):
    """Settle an open vertex behind the smallest tight neighbour of the level before."""
    distances, none = tree.distances, tree.none
    if tree.levels[vertex] != OPEN or distances[vertex] == none:
        return
    least = np.int64(-1)
    for entry in range(incoming.offsets[vertex], incoming.offsets[vertex + 1]):
        other = np.int64(incoming.neighbours[entry])
        candidate = tree.levels[other] == level and distances[other] != none and (least < 0 or other < least)
        if candidate and is_tight(distances, other, vertex, incoming.weights, entry):
            least = other
    if least >= 0:
        tree.parents[vertex], tree.levels[vertex] = least, level + 1
        tree.changed[0] = 1


def parents_of(incoming, distances, sources, negative):
    """Smallest vertex from which a shortest path comes in, (n,) int64; -1 for sources and unvisited vertices.

    ``sources`` ascend, on the host; ``negative`` says that a weight may be negative.
    """
    device = arrays.device_of(distances)
    with arrays.guard(device):
        n, none = len(distances), distances.dtype.type(unreached(distances.dtype))
        parents, levels = arrays.full(n, -1, np.int64, device), arrays.full(n, OPEN, np.int32, device)
        starts, changed = arrays.move(np.asarray(sources), device), arrays.full(1, 1, np.int32, device)
        tree = Tree(distances, none, parents, levels, changed)
        if negative:
            levels[starts] = 0
        else:
            changed.fill(0)
            _nearer_parent(n, incoming, tree, starts)
        level = 0
        while int(changed[0]):
            changed.fill(0)
            _parent_at_level(n, incoming, tree, level)
            level += 1
    return parents
