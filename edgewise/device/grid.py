"""The CUDA side of ``@each`` and ``@each_row``: how threads of a grid share out indices and rows.

Imported only when a CUDA kernel is wanted.  ``cuda`` must be a global of this module, because the
simulator swaps it there.
"""

from numba import cuda

WARP = 32


def thread_an_index(body):
    """Every thread takes the indices ``grid(1), grid(1) + gridsize(1), ...``."""

    def loop(count, arguments):
        for index in range(cuda.grid(1), count, cuda.gridsize(1)):
            body(index, *arguments)

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
