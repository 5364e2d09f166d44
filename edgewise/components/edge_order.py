"""The order of an edge list and of the ids in it, by a few hundred edges.

In a list that is *ordered*, most edges share an endpoint with the next one, whose parent is then in a
register or a cache.  Ids are *close* where the numbers of neighbours are, and *far apart* otherwise.
"""

import numpy as np

from edgewise.device import arrays, each, fetch_add

#: Vertices whose parents no longer fit into the second cache of a core, and edges or rows that are looked at
#: to judge whether neighbours are close: within this share of the vertices.
MANY, PROBES, CLOSE = 1 << 18, 256, 1 / 64


def are_far_apart(vertices, ones, others):
    """Whether most of some pairs of vertices have numbers that are not close."""
    distance = abs(ones.astype(np.int64) - others.astype(np.int64))
    return 2 * np.count_nonzero(distance > vertices * CLOSE) > len(ones)


def neighbours_are_close(vertices, sources, targets):
    """Whether the endpoints of most edges have close numbers, by a few edges of the host."""
    if not len(sources):
        return True
    probes = np.arange(PROBES, dtype=np.int64) * len(sources) // PROBES
    return not are_far_apart(vertices, sources[probes], targets[probes])


@each
def count_shared(probe, sources, targets, counts):
    """Count an edge that has the same source as the next one, or the same target."""
    edge = probe * (len(sources) - 1) // PROBES
    if sources[edge] == sources[edge + 1]:
        fetch_add(counts, 0, 1)
    if targets[edge] == targets[edge + 1]:
        fetch_add(counts, 1, 1)


def is_ordered(sources, targets):
    """Whether most edges of a list share an endpoint with the next one, by a few edges."""
    if len(sources) < 2:
        return True
    where = arrays.device_of(sources)
    if where == "cpu":  # without a loop that would have to be compiled
        probes = np.arange(PROBES, dtype=np.int64) * (len(sources) - 1) // PROBES
        shared = [np.count_nonzero(ends[probes] == ends[probes + 1]) for ends in (sources, targets)]
    else:
        counts = arrays.zeros(2, np.int64, where)
        count_shared(PROBES, sources, targets, counts)
        shared = arrays.move(counts, "cpu").tolist()
    return 2 * max(shared) > PROBES
