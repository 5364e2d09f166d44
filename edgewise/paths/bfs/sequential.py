"""Breadth-first search on one core, for small graphs: it is over before other cores would have joined in.

Vertices wait in one queue in the order of their distances (Moore 1959).  Whether a neighbour is new is as
good as random, and a branch that is predicted wrongly takes longer than an entry.  So every neighbour is
written to the end of the queue, and the end moves on only behind a new one.

In a graph that is not small a search begins with a sparse set (:mod:`edgewise.paths.local_search`).

Most vertices of a dense graph are in the last levels, and their rows hold nothing new.  They are not read if
every vertex that has a row has been reached; where all edges lead both ways, no other vertex can be.

Moore, "The shortest path through a maze" (1959).
"""

import numpy as np

from edgewise.device import compiled
from edgewise.paths.csr import unreached
from edgewise.paths.local_search import search_nearby
from edgewise.primitives import filled

#: Entries per vertex from which on it pays to count the rows.
COUNTED_DEGREE = 4


@compiled
def search(offsets, neighbours, distances, none, cutoff, queue, sources, count_rows):
    """Enter the distances, which are ``none``, up to the cutoff; ``queue`` has an item more than vertices.

    With ``count_rows``, not 0, every edge leads both ways, and the search ends when no vertex is left.
    """
    head, tail, most = 0, 0, len(distances)
    if count_rows != 0:
        most = 0
        for row in range(len(distances)):
            most += offsets[row] != offsets[row + 1]
    for source in sources:
        distances[source], queue[tail] = 0, source
        tail += 1
        if count_rows != 0 and offsets[source] == offsets[source + 1]:
            most += 1
    while head < tail < most:
        vertex = np.int64(queue[head])
        head += 1
        distance = distances[vertex]
        if distance >= cutoff:
            break
        for entry in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + 1])):
            other = neighbours[entry]
            held = distances[np.int64(other)]
            is_new = held == none
            distances[np.int64(other)] = distance + 1 if is_new else held
            queue[tail] = other
            tail += is_new


def top_down_sequential(rows, sources, cutoff):
    """Search on one core."""
    if not rows.is_small:
        found, level = search_nearby(rows, sources, cutoff)
        if level is None:
            return found
    none, n_entries = unreached(np.int32), len(rows.neighbours)
    distances = filled(rows.n_vertices, none, np.int32)
    queue = np.empty(rows.n_vertices + 1, rows.neighbours.dtype)
    count_rows = int(rows.symmetric and n_entries >= COUNTED_DEGREE * rows.n_vertices)
    n_steps = rows.n_vertices + n_entries
    arguments = rows.offsets, rows.neighbours, distances, none, cutoff, queue, sources, count_rows
    search.with_steps(n_steps, *arguments)
    return distances
