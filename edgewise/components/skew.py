"""Skew of an edge list: far more pairs of its edges have the same target than chance would have it.

In such a graph few vertices have most edges, and many vertices have one or none.  This is estimated from a
sample, as a rule of ``auto`` on GPUs.
"""

import numpy as np

from edgewise.device import arrays, each, fetch_add

#: Edges whose targets are compared with those of so many others, a few by each thread, and how many times as
#: frequent as by chance equal ones must be.
SAMPLE, OTHERS, PARTS, SKEWED = 4096, 1024, 64, 8
#: Least number of equal pairs that are no chance.
FEW = 4


@each
def count_equal(index, targets, count):
    """Count which of a part of the other edges have the same target as an edge of the sample."""
    edges, equal = len(targets), 0
    target = targets[index // PARTS * edges // SAMPLE]
    for other in range(index % PARTS, OTHERS, PARTS):
        if targets[(3 * other + 1) * edges // (3 * OTHERS)] == target:  # the sample has none of these edges
            equal += 1
    if equal > 0:
        fetch_add(count, 0, equal)


def is_skewed(graph):
    """Whether few vertices are the targets of most edges of a list."""
    return graph.cached("is_skewed", lambda: _judge_skew(graph.n_vertices, graph.targets))


def _judge_skew(vertices, targets):
    if not len(targets):
        return False
    count = arrays.zeros(1, np.int64, arrays.device_of(targets))
    count_equal(SAMPLE * PARTS, targets, count)
    equal = int(count[0])
    return equal >= FEW and equal * vertices > SKEWED * SAMPLE * OTHERS
