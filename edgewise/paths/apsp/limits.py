"""What fits: distances into their type, and a search for all pairs into memory.

Inside a method, "no path" is a ceiling so low that the sum of two of them does not wrap round: 2**30 - 1 for
int32.  A longer path would be cut off.  Where no weight is negative, the path to a vertex beyond the ceiling
passes a vertex whose distance is less than one weight below it, so nothing was cut off if

    largest finite distance + heaviest weight < ceiling

With negative weights the ceiling itself may be lowered, by less than n times the heaviest weight: all paths
must then be known to stay below half of it, and values above that half are no path.

A method that keeps the full matrix needs memory for it beside the distances, or beside one block of them for
a file, unless it is solved in the array of the result.  Over several GPUs it is spread by rows, and each GPU
hands over its rows in a copy.
"""

import numpy as np

from edgewise.device import arrays

#: Entries of a matrix that are reduced at a time.
ENTRIES = 1 << 24
#: The sides of a full matrix are padded to a multiple of this, or of a divisor.
SIDE = 128


def ceiling_of(dtype):
    """The value for "no path" inside a method: (largest value - 1) / 2 of an integer type, else infinity."""
    dtype = np.dtype(dtype)
    return np.inf if dtype.kind == "f" else int(np.iinfo(dtype).max) // 2


def limit_of(dtype, signed):
    """Distances are below this; half of the ceiling where weights may be negative."""
    ceiling = ceiling_of(dtype)
    return ceiling // 2 if signed and ceiling < np.inf else ceiling


def end_of(dtype, signed=False):
    """Sums that matter must stay below this: the limit, or the largest float."""
    dtype = np.dtype(dtype)
    return float(np.finfo(dtype).max) if dtype.kind == "f" else limit_of(dtype, signed)


def heaviest_of(adjacency):
    """Largest absolute weight, as a Python number; 1 where edges count as one."""
    return max(map(abs, adjacency.spread[:2])) if len(adjacency.weights) else 1


def largest_of(matrix, limit):
    """Largest entry of a flat array below the limit, as a Python number; 0 if there is none above that."""
    largest, where = 0, arrays.namespace(matrix).where
    for first in range(0, len(matrix), ENTRIES):
        block = matrix[first : first + ENTRIES]
        largest = max(largest, where(block < limit, block, 0).max().item())
    return largest


def always_fits(adjacency, dtype):
    """Whether no path of n edges can come near the end of the type."""
    return adjacency.n_vertices * heaviest_of(adjacency) < end_of(dtype, signed=True)


def memory_needed(full_matrix, n_vertices, height, itemsize, devices, in_place=False):
    """Bytes that a search needs on each device, by name.

    ``full_matrix``: the method keeps the full matrix.  ``height`` rows of distances are held at a time; those
    of several devices are put together on the host.  ``in_place``: all rows are wanted in their order, so
    that the matrix may be solved in the result.
    """
    several = len(devices) > 1
    needed = {"cpu" if several else devices[0]: height * n_vertices * itemsize}
    side = -(-n_vertices // SIDE) * SIDE
    if full_matrix and (several or side != n_vertices or not in_place):
        share = side * side * itemsize // len(devices) * (2 if several else 1)
        for device in devices:
            needed[device] = needed.get(device, 0) + share
    return needed


def first_too_small(needed):
    """The first device with too little memory, the bytes needed and those free; ``None`` if all fits."""
    for device, n_bytes in needed.items():
        free = arrays.free_memory(device)
        if n_bytes > free:
            return device, n_bytes, free
    return None
