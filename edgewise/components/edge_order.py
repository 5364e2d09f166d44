"""The order of an edge list and of the ids in it, by a few hundred edges.

In a list that is *ordered*, most edges share an endpoint with the next one, whose parent is then in a
register or a cache.  A list is *in sequence* if most edges have a source, or most of them a target, close to
that of the next one: an ordered list is, and so is one of edges that are written cell by cell.  Ids are
*close* where the numbers of neighbours are, and *far apart* otherwise.
"""

from typing import NamedTuple

import numpy as np

from edgewise.device import arrays, device, each, fetch_add

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


class Order(NamedTuple):
    """Whether a list is ordered, and whether it is in sequence."""

    ordered: bool
    in_sequence: bool


@device
def count_step(step, nearby, counts, kind):
    """Count a step of 0 from an endpoint to that of the next edge, and one to a vertex nearby."""
    if step == 0:
        fetch_add(counts, kind, 1)
    if abs(step) <= nearby:
        fetch_add(counts, kind + 2, 1)


@each
def count_steps(probe, nearby, sources, targets, counts):
    """Count the steps from the source and from the target of an edge to those of the next one."""
    edge = probe * (len(sources) - 1) // PROBES
    count_step(np.int64(sources[edge + 1]) - np.int64(sources[edge]), nearby, counts, 0)
    count_step(np.int64(targets[edge + 1]) - np.int64(targets[edge]), nearby, counts, 1)


def order_of(vertices, sources, targets):
    """The :class:`Order` of a list, by a few edges."""
    if len(sources) < 2:
        return Order(True, True)
    where, nearby = arrays.device_of(sources), int(vertices * CLOSE)
    if where == "cpu":  # without a loop that would have to be compiled
        probes = np.arange(PROBES, dtype=np.int64) * (len(sources) - 1) // PROBES
        pairs = (np.array([ends[probes], ends[probes + 1]], np.int64) for ends in (sources, targets))
        steps = [abs(after - before) for before, after in pairs]
        counts = [int(np.count_nonzero(step <= limit)) for limit in (0, nearby) for step in steps]
    else:
        counts = arrays.zeros(4, np.int64, where)
        count_steps(PROBES, nearby, sources, targets, counts)
        counts = arrays.move(counts, "cpu").tolist()
    return Order(2 * max(counts[:2]) > PROBES, 2 * max(counts[2:]) > PROBES)


def is_ordered(sources, targets):
    """Whether most edges of a list share an endpoint with the next one, by a few edges."""
    return order_of(0, sources, targets).ordered
