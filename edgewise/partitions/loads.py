"""The weights of the parts: sums over the vertices, on the device where these are, and how even they are."""

from functools import partial

import numpy as np

from edgewise.device import arrays, each, fetch_add
from edgewise.primitives.counting_sort import n_blocks_of

#: Sums of each part that threads of a GPU add to, and the most sums in all.
COPIES, MOST_SUMS = 1024, 1 << 20


@partial(each, least_chunk=1)
def _add_block(block, items, k, part, sizes, sums):
    """Add up the weights of the parts of a block of vertices."""
    for vertex in range(block * items, min((block + 1) * items, len(part))):
        sums[block * k + np.int64(part[vertex])] += sizes[vertex]


@each
def _add_vertex(vertex, copies, k, part, sizes, sums):
    fetch_add(sums, vertex % copies * k + np.int64(part[vertex]), sizes[vertex])


def part_weights(sizes, part, k):
    """The weights of ``k`` parts, (k,) int64, on the device of the vertices' parts."""
    where, count = arrays.device_of(part), len(part)
    if where == "cpu":
        blocks = n_blocks_of(count)
        sums = np.zeros(blocks * k, np.int64)
        _add_block(blocks, -(-count // blocks), k, part, sizes, sums)
    else:
        blocks = max(1, min(COPIES, MOST_SUMS // k))
        sums = arrays.zeros(blocks * k, np.int64, where)
        _add_vertex(count, blocks, k, part, sizes, sums)
    return arrays.move(sums.reshape(blocks, k).sum(axis=0), where)


def loads_of(sizes, part, k):
    """The weights of ``k`` parts, (k,) int64 on the host."""
    return arrays.move(part_weights(sizes, part, k), "cpu")


def least_of(limits, total):
    """Weights that are as far below even shares as the limits of the parts are above them, (k,) int64.

    They are on the device of the limits, and negative if parts may weigh more than two shares.

    Examples
    --------
    >>> least_of(np.array([103, 103]), 200).tolist(), least_of(np.array([20, 40]), 20).tolist()
    ([97, 97], [-6, -13])
    """
    return (limits * (2 * total / sum(limits.tolist()) - 1)).astype(np.int64)


def imbalance_of(weights):
    """Largest weight of a part over that of an even share, less 1; 0 if there is no weight.

    The share is rounded up, as no partition of integers is more even, except where there is less than 1 for
    each part, so that parts are empty.

    Examples
    --------
    >>> imbalance_of(np.array([2, 3])), imbalance_of(np.array([1, 1, 0, 0, 0]))
    (0.0, 1.5)
    """
    total, k = int(weights.sum()), len(weights)
    if not total:
        return 0.0
    return int(weights.max()) / (-(-total // k) if total >= k else total / k) - 1
