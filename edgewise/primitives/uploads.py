"""Copies from any memory of the host to a GPU, at the rate of the link.

A GPU copies from page-locked memory beside everything else.  CuPy copies an array to page-locked memory as a
whole first, by one thread.  Here threads copy pieces to small page-locked buffers of their own, which the GPU
copies at once, so that no piece waits for others, and buffers stay in the caches.
"""

from collections import deque

import numpy as np

from edgewise.device import arrays, streams
from edgewise.primitives.thread_pool import ThreadPool

#: Bytes of a piece.
PIECE = 1 << 22
#: Buffers of a thread: one is filled, and one is copied.
BUFFERS = 2
#: Bytes of the largest item.
ITEM = 8
#: Threads at most; more copy no faster than a link.
MAX_THREADS = 16


class Uploads:
    """Copies arrays of the host to a GPU, each time at most about ``nbytes``."""

    def __init__(self, device, nbytes):
        size = max(ITEM, min(PIECE, -(-nbytes // ITEM) * ITEM))
        self.device, self.size, self.pool = device, size, ThreadPool(min(MAX_THREADS, -(-nbytes // size)))
        count = BUFFERS * self.pool.n_workers
        memory = streams.pinned(count * size, np.uint8, device)
        buffers = [(memory[number * size : (number + 1) * size], streams.Event()) for number in range(count)]
        self.buffers = [deque(buffers[first :: self.pool.n_workers]) for first in range(self.pool.n_workers)]

    def copy(self, targets, sources, stream):
        """Copy arrays to arrays of integers or of the same type, in a stream of the GPU.

        The sources may be overwritten on return, the targets are written when the stream has come there.
        """
        parts = []
        for target, source in zip(targets, sources):
            step = self.size // target.itemsize
            parts += [(target, source, first, first + step) for first in range(0, len(source), step)]
        taken = iter(parts)  # by the threads in turn
        self.pool.starmap(self._send, [(buffers, taken, stream) for buffers in self.buffers])

    def _send(self, buffers, parts, stream):
        with arrays.on(self.device):
            for target, source, first, end in parts:
                memory, copied = buffers.popleft()
                copied.synchronize()
                target, source = target[first:end], source[first:end]
                staged = memory[: target.nbytes].view(target.dtype)
                np.copyto(staged, source, casting="unsafe")
                streams.copy(target, staged, stream)
                buffers.append((memory, stream.record()))


def upload(columns, device):
    """Copies of arrays of the host on a GPU; ``None`` stays ``None``.  All can be used at once."""
    given = [column for column in columns if column is not None]
    with arrays.guard(device):
        copies = [arrays.empty(len(column), column.dtype, device) for column in given]
        stream = streams.current(device)
        Uploads(device, sum(column.nbytes for column in given)).copy(copies, given, stream)
        stream.synchronize()  # the buffers are free again
    moved = iter(copies)
    return tuple(None if column is None else next(moved) for column in columns)
