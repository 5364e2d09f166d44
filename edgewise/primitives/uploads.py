"""Copies of arrays of the host on a GPU, nearly at the rate of the link.

A GPU copies from page-locked memory.  CuPy first copies an array to page-locked memory of its size, by one
thread, and the driver has one thread as well.  Here several threads copy pieces to small page-locked buffers
of their own, which remain in the caches, and from which the GPU copies each piece at once.

The threads are Python's: a piece takes few steps under its lock, and is so large that these do not count.
For few bytes to start them takes longer: 8 MiB then took 1.2 ms instead of 0.8, 32 MiB 2.6 instead of 2.9,
and 128 MiB 5.9 instead of 20.5 (H200 and 16 cores, 1204eb08, 2026-12-01).
"""

from collections import deque

import numpy as np

from edgewise import tuning
from edgewise.device import arrays, streams
from edgewise.primitives.thread_pool import ThreadPool

#: Bytes of a piece: 4 MiB were sent at 51 GB/s, 1 MiB at 18, 16 MiB at 41.
PIECE = 1 << 22
#: Buffers of a thread: one is filled, and one is copied.
BUFFERS = 2
#: Threads at most; more wait for Python's lock (49 GB/s, 51 with 12, 27 with 4).
MAX_THREADS = 8


def upload(columns, device):
    """Copies of arrays of the host on a GPU; ``None`` stays ``None``.  All can be used at once."""
    given = [column for column in columns if column is not None]
    if sum(column.nbytes for column in given) < tuning.GPU.primitives_sent:
        return tuple(None if column is None else arrays.move(column, device) for column in columns)
    with arrays.guard(device):
        copies = [arrays.empty(len(column), column.dtype, device) for column in given]
        parts, stream, pool = _parts(copies, given), streams.current(device), ThreadPool(MAX_THREADS)
        try:
            buffers = [
                deque(streams.StagingBuffer(PIECE, device) for _ in range(BUFFERS))
                for _ in range(pool.n_workers)
            ]
            pool.starmap(_send, [(own, parts, device, stream) for own in buffers])
        finally:
            stream.synchronize()  # the buffers are free again
    moved = iter(copies)
    return tuple(None if column is None else next(moved) for column in columns)


def bytes_of_buffers(count, n_threads):
    """Bytes of the page-locked buffers for columns of so many bytes."""
    return min(n_threads, MAX_THREADS) * BUFFERS * PIECE if count >= tuning.GPU.primitives_sent else 0


def _parts(copies, columns):
    """An iterator, for all threads, over the pieces of the columns and where they are copied to."""
    parts = []
    for copy, column in zip(copies, columns):
        step = PIECE // column.itemsize
        for first in range(0, len(column), step):
            parts.append((arrays.address(copy) + first * column.itemsize, column[first : first + step]))
    return iter(parts)


def _send(buffers, parts, device, stream):
    """Send the pieces that one thread takes."""
    with arrays.on(device):
        for address, part in parts:
            buffer = buffers[0]
            buffer.wait()
            np.copyto(buffer.memory[: part.nbytes].view(part.dtype), part)
            buffer.send(address, part.nbytes, stream)
            buffers.rotate()
