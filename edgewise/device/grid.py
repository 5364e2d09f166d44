"""The CUDA side of ``@each`` and ``@each_row``: how the threads of a grid divide indices and rows.

Imported only when a CUDA kernel is needed.  ``cuda`` must be a global of this module, because the explorer
replaces it there.
"""

import numpy as np

from edgewise.device.launch import ITEMS_PER_THREAD, WARP
from edgewise.device.target import SIMULATED

if not SIMULATED:
    from edgewise.device.gpu_compiler import cuda

assert ITEMS_PER_THREAD == 4, "thread_some_indices is unrolled for four"


def thread_an_index(body):
    """Every thread takes the index that is its number; a grid has a thread for each."""

    def loop(count, arguments):
        index = cuda.grid(1)
        if index < count:
            body(index, *arguments)

    return loop


def thread_some_indices(body, fetch):
    """Every thread takes four indices a block apart, and starts all their reads before the first body."""

    def loop(count, arguments):
        width = cuda.blockDim.x
        first = cuda.blockIdx.x * width * 4 + cuda.threadIdx.x
        second, third, fourth, last = first + width, first + 2 * width, first + 3 * width, count - 1
        one = fetch(min(first, last), *arguments)
        two = fetch(min(second, last), *arguments)
        three = fetch(min(third, last), *arguments)
        four = fetch(min(fourth, last), *arguments)
        if first < count:
            body(first, one, *arguments)
        if second < count:
            body(second, two, *arguments)
        if third < count:
            body(third, three, *arguments)
        if fourth < count:
            body(fourth, four, *arguments)

    return loop


def warp_a_row(body):
    """Every warp takes a row; a lane is a thread's number in its warp."""

    def loop(rows, arguments):
        thread = cuda.grid(1)
        for row in range(thread // WARP, rows, cuda.gridsize(1) // WARP):
            body(row, thread % WARP, WARP, *arguments)

    return loop


def block_a_row(body):
    """Every block takes a row; a lane is a thread's number in its block."""

    def loop(rows, arguments):
        for row in range(cuda.blockIdx.x, rows, cuda.gridDim.x):
            body(row, cuda.threadIdx.x, cuda.blockDim.x, *arguments)

    return loop


def whole_grid(body, worker):
    """Every thread runs the body once, as a ``worker`` of its record; the barrier is the first argument."""

    def loop(count, arguments):
        body(worker(cuda.grid(1), cuda.gridsize(1), arguments[0]), *arguments[1:])

    return loop


def whole_grid_with_shared_memory(body, worker, words, kind):
    """As :func:`whole_grid`, with ``words`` words of a type in each block's shared memory."""
    kind = np.dtype(kind).type

    def loop(count, arguments):
        shared = cuda.shared.array(words, kind)
        body(worker(cuda.grid(1), cuda.gridsize(1), arguments[0], shared), *arguments[1:])

    return loop
