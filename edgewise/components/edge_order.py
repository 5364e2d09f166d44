"""What a few hundred edges show of a list: the order of the edges, that of the ids, and hubs.

A list is *in sequence* if most edges have a source, or most of them a target, close to that of the next one:
so is a list that is ordered by an endpoint, and one whose edges are written cell by cell.  Ids are *close*
where the numbers of most neighbours are.  A list is *skewed* if far more pairs of its edges have the same
target than chance would have it: few vertices have most edges, and many have one or none.
"""

from typing import NamedTuple

import numpy as np

from edgewise import tuning
from edgewise.device import arrays, each, fetch_add

#: Edges that are looked at to judge order and ids.
PROBES = 256
#: Edges whose targets are compared to judge skew.
SAMPLE = 4096
#: Edges that each of them is compared with.
OTHERS = 1024
#: Threads of a GPU that compare a target with the others.
PARTS = 64
#: Pairs with equal targets that are no chance.
NO_CHANCE = 4


class Counts(NamedTuple):
    """What is counted of a list: numbers, or their places in an array."""

    by_source: int  # steps to a source nearby
    by_target: int  # steps to a target nearby
    close: int  # edges with ends that are close
    equal: int  # pairs of edges with equal targets


#: Place of each count.
AT = Counts(0, 1, 2, 3)


class Order(NamedTuple):
    """Whether a list is in sequence, whether its ids are close, and whether it is skewed."""

    in_sequence: bool
    close: bool
    skewed: bool


def are_far_apart(vertices, ones, others):
    """Whether most of some pairs of vertices have numbers that are not close."""
    distance = abs(ones.astype(np.int64) - others.astype(np.int64))
    return 2 * np.count_nonzero(distance > vertices * tuning.CPU.components_close) > len(ones)


def neighbours_are_close(vertices, sources, targets):
    """Whether the endpoints of most edges have close numbers, by a few edges of the host."""
    if not len(sources):
        return True
    probes = np.arange(PROBES, dtype=np.int64) * len(sources) // PROBES
    return not are_far_apart(vertices, sources[probes], targets[probes])


def is_in_sequence(vertices, sources, targets):
    """Whether a list on the host, of two edges or more, is in sequence."""
    probes = np.arange(PROBES, dtype=np.int64) * (len(sources) - 1) // PROBES
    return not all(are_far_apart(vertices, ends[probes], ends[probes + 1]) for ends in (sources, targets))


@each
def count_order(index, nearby, sources, targets, counts):
    """Count what an edge and the next one have in common, and equal targets of the sample."""
    edges, equal = len(targets), 0
    if index < PROBES:
        edge = index * (edges - 1) // PROBES
        source, target = np.int64(sources[edge]), np.int64(targets[edge])
        if abs(np.int64(sources[edge + 1]) - source) <= nearby:
            fetch_add(counts, AT.by_source, 1)
        if abs(np.int64(targets[edge + 1]) - target) <= nearby:
            fetch_add(counts, AT.by_target, 1)
        if abs(source - target) <= nearby:
            fetch_add(counts, AT.close, 1)
    sampled = targets[index // PARTS * edges // SAMPLE]
    for other in range(index % PARTS, OTHERS, PARTS):
        if targets[(3 * other + 1) * edges // (3 * OTHERS)] == sampled:  # the sample has none of these edges
            equal += 1
    if equal > 0:
        fetch_add(counts, AT.equal, equal)


def order_of(vertices, sources, targets):
    """The :class:`Order` of a list of two edges or more by one kernel, for which the host waits once."""
    counts, limits = arrays.zeros(len(AT), np.int64, arrays.device_of(sources)), tuning.GPU
    count_order(SAMPLE * PARTS, int(vertices * limits.components_close), sources, targets, counts)
    found = Counts(*arrays.move(counts, "cpu").tolist())
    many = limits.components_skewed * SAMPLE * OTHERS
    skewed = found.equal >= NO_CHANCE and found.equal * vertices > many
    return Order(2 * max(found.by_source, found.by_target) > PROBES, 2 * found.close > PROBES, skewed)
