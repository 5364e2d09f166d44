"""The weights of the parts: sums over the vertices, on the device where these are."""

from functools import partial

import numpy as np

from edgewise.device import arrays, each, fetch_add
from edgewise.primitives.counting_sort import n_blocks_of


@partial(each, least_chunk=1)
def _add(span, items, stride, chosen, left, part, sizes, loads):
    """Add up the weights of the parts of some vertices, or of all if there are none, for each span."""
    count = len(chosen) if len(chosen) else len(part)
    for item in range(span * items, min((span + 1) * items, count)):
        vertex = np.int64(chosen[item]) if len(chosen) else np.int64(item)
        fetch_add(loads, span * stride + np.int64(part[vertex]), sizes[vertex])
        if len(chosen):
            fetch_add(loads, span * stride + left[item], -sizes[vertex])


def add_loads(loads, sizes, part, chosen, left):
    """Add the weights of vertices to the parts they are in.

    Parameters
    ----------
    loads : (k,) int64 array
        Is changed.
    sizes : (n,) int64 array
    part : (n,) index array
    chosen, left : int64 arrays
        Vertices, and the parts that they have left, whose loads become smaller; if empty, all vertices.
    """
    count = len(chosen) if len(chosen) else len(part)
    if arrays.device_of(part) != "cpu":
        _add(count, 1, 0, chosen, left, part, sizes, loads)
    elif count:
        blocks, k = n_blocks_of(count), len(loads)
        sums = np.zeros(blocks * k, np.int64)
        _add(blocks, -(-count // blocks), k, chosen, left, part, sizes, sums)
        loads[:] += sums.reshape(blocks, k).sum(axis=0)


def loads_of(sizes, part, k):
    """The weights of ``k`` parts, (k,) int64 on the host."""
    where = arrays.device_of(part)
    loads, none = arrays.zeros(k, np.int64, where), arrays.empty(0, np.int64, where)
    add_loads(loads, sizes, part, none, none)
    return arrays.move(loads, "cpu")
