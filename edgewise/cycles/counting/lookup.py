"""Looking something up on a device: a vertex in an ascending row, or on a path."""

import numpy as np

from edgewise.device import device


@device
def first_from(vertex, first, end, neighbours):
    """Entry of the first vertex that is not below ``vertex``, among the ascending ones up to ``end``."""
    while first < end:
        middle = (first + end) // 2
        if np.int64(neighbours[middle]) < vertex:
            first = middle + 1
        else:
            end = middle
    return first


@device
def is_on_path(vertex, path, base, step, length):
    """Whether ``vertex`` is one of the first ``length`` of a path: from ``base`` on, ``step`` apart."""
    while length > 0 and path[base + (length - 1) * step] != vertex:
        length -= 1
    return length > 0
