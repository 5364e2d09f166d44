"""Copies from any memory of the host to a GPU, nearly at the rate of the link.

A GPU copies from page-locked memory.  CuPy copies an array to page-locked memory of its size first, by one
thread, and the driver copies by one thread too.  Here threads copy pieces to small page-locked buffers of
their own, which remain in the caches, and from which the GPU copies each piece at once.

The threads are Python's: a piece takes few steps under its lock, and is large enough that these do not count.
"""

from collections import deque
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from edgewise.device import arrays, streams, threads

#: Bytes of a piece.
PIECE = 1 << 22
#: Buffers of a thread: one is filled, and one is copied.
BUFFERS = 2
#: Bytes of the largest item.
ITEM = 8
#: Threads at most; more wait for Python's lock.
MAX_THREADS = 12


class Uploads:
    """Copies arrays of the host to a GPU, each time at most about ``nbytes``."""

    def __init__(self, device, nbytes):
        self.device, self.size = device, max(ITEM, min(PIECE, -(-nbytes // ITEM) * ITEM))
        count = max(1, min(threads.count(), MAX_THREADS, -(-nbytes // self.size)))
        self.executor = ThreadPoolExecutor(count)
        self.rooms = [deque(streams.Room(self.size, device) for _ in range(BUFFERS)) for _ in range(count)]

    def start(self, targets, sources, stream):
        """Start to copy arrays to arrays of the same type, or of integers to integers, in a stream.

        When all futures that are returned are done, the sources may be overwritten.  The targets are written
        when the stream has come to the copies.
        """
        parts = []
        for target, source in zip(targets, sources):
            step, address = self.size // target.itemsize, arrays.address(target)
            for first in range(0, len(source), step):
                part = source[first : first + step]
                parts.append((address + first * target.itemsize, part, target.dtype))
        taken = iter(parts)  # by the threads in turn
        if len(self.rooms) == 1:
            self._send(self.rooms[0], taken, stream)
            return []
        return [self.executor.submit(self._send, rooms, taken, stream) for rooms in self.rooms[: len(parts)]]

    def copy(self, targets, sources, stream):
        """The same as :meth:`start`, until the sources may be overwritten."""
        for future in self.start(targets, sources, stream):
            future.result()

    def _send(self, rooms, parts, stream):
        with arrays.on(self.device):
            for address, part, kind in parts:
                room, nbytes = rooms[0], len(part) * kind.itemsize
                room.wait()
                np.copyto(room.memory[:nbytes].view(kind), part, casting="unsafe")
                room.send(address, nbytes, stream)
                rooms.rotate()


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
