"""Four neighbouring array items at once, 16 bytes aligned: one instruction where the items have 4 bytes.

The Python bodies below are the semantics.
"""

import numpy as np

from edgewise.device import arrays
from edgewise.device.first_use import on_cuda
from edgewise.device.target import device, on_cpu
from edgewise.device.warps import popcount

#: Bytes of a quad of 4-byte items, and of its alignment.
QUAD_BYTES = 16


def are_aligned(*columns):
    """Whether :func:`load_quad` may read the quads of all arrays; a part of an array may begin anywhere."""
    return all(arrays.address(column) % QUAD_BYTES == 0 for column in columns)


@device
def read_four(array, index, aligned):
    """Read four items from ``index`` on, as a quad if the array is ``aligned``, not 0."""
    if aligned != 0:
        return load_quad(array, index)
    return array[index], array[index + 1], array[index + 2], array[index + 3]


@on_cpu
def load_quad(array, index):
    """Read four items from ``index`` on."""
    return array[index], array[index + 1], array[index + 2], array[index + 3]


def store_quad(array, index, quad):
    """Write four items from ``index`` on."""
    array[index], array[index + 1], array[index + 2], array[index + 3] = quad


@device
def union(one, other):
    """The bits of either of two quads of uint32."""
    first, second = np.uint32(one[0] | other[0]), np.uint32(one[1] | other[1])
    return first, second, np.uint32(one[2] | other[2]), np.uint32(one[3] | other[3])


@device
def without(one, other):
    """The bits of a quad of uint32 that are not in another one."""
    first, second = np.uint32(one[0] & ~other[0]), np.uint32(one[1] & ~other[1])
    return first, second, np.uint32(one[2] & ~other[2]), np.uint32(one[3] & ~other[3])


@device
def any_bit(quad):
    """Whether a bit of a quad of uint32 is set."""
    return (quad[0] | quad[1] | quad[2] | quad[3]) != 0


@device
def count_bits(quad):
    """Number of bits of a quad of uint32 that are set: int64."""
    return popcount(quad[0]) + popcount(quad[1]) + popcount(quad[2]) + popcount(quad[3])


def fetch_quad(shared, position, array, index):
    """Start to copy four items into shared memory; :func:`wait_for_quads` waits for the end."""
    for item in range(4):
        shared[int(position) + item] = array[int(index) + item]


def wait_for_quads():
    """Wait until all copies that the thread has started are complete."""


def _register_on_cuda():
    from edgewise.device.gpu_compiler import fetch_four, load_four, overload, store_four, wait_for_copies

    @overload(load_quad)
    def load_on_cuda(array, index):
        return lambda array, index: load_four(array, index)

    @overload(store_quad)
    def store_on_cuda(array, index, quad):
        return lambda array, index, quad: store_four(array, index, quad[0], quad[1], quad[2], quad[3])

    @overload(fetch_quad)
    def fetch_on_cuda(shared, position, array, index):
        return lambda shared, position, array, index: fetch_four(shared, position, array, index)

    @overload(wait_for_quads)
    def wait_on_cuda():
        return lambda: wait_for_copies()


on_cuda(_register_on_cuda)
