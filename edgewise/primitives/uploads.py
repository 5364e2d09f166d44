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
#: Threads at most; more copy no faster than a link.
MAX_THREADS = 16


def upload(array, device):
    """Copy of an array of the host on a GPU; both can be used at once."""
    try:
        copy = arrays.empty(len(array), array.dtype, device)
    except MemoryError:
        raise arrays.out_of_memory(array.nbytes, device) from None
    size = max(1, min(PIECE // array.itemsize, len(array)))
    starts = iter(range(0, len(array), size))  # which the threads take in turns
    stream, pool = streams.current(device), ThreadPool(min(MAX_THREADS, -(-len(array) // size)))

    def send(rooms):
        with arrays.on(device):
            for start in starts:
                room, copied = rooms.popleft()
                copied.synchronize()
                part = array[start : start + size]
                room = room[: len(part)]
                np.copyto(room, part)
                streams.copy(copy[start : start + size], room, stream)
                rooms.append((room, stream.record()))

    memory = streams.pinned(pool.n_workers * BUFFERS * size, array.dtype, device)
    buffers = [(memory[first : first + size], streams.Event()) for first in range(0, len(memory), size)]
    pool.starmap(send, [(deque(buffers[first :: pool.n_workers]),) for first in range(pool.n_workers)])
    stream.synchronize()  # the buffers are free again
    return copy
