"""Shares of a range of items: each worker takes chunks of its own share, then steals chunks of the others.

A worker that takes neighbouring chunks reads and writes memory that no other one does at the same time.  If
all workers took chunks from one counter, the first write to a page of new memory would come from several of
them at once, and each would have to wait for the operating system; and what one core has in its cache would
be needed by another one in the next loop.
"""

import numpy as np

from edgewise.device.atomics import fetch_add, load
from edgewise.device.target import device
from edgewise.device.warps import block_size

#: Words from the counter of a share to the next one, which is in another cache line.
STRIDE = 8


@device
def own_share(worker, first, end):
    """First, end and step of a worker's share of a range: a part for a CPU thread, strides on a GPU."""
    if block_size() == 1:
        size = end - first
        return first + size * worker.id // worker.count, first + size * (worker.id + 1) // worker.count, 1
    return first + worker.id, end, worker.count


@device
def next_chunk(turn, counters, count, chunk, worker_id):
    """Take a chunk of the worker's share, or of the next share with items left.

    Parameters
    ----------
    turn : int
        Number of shares that the worker knows to be empty; 0 at first.
    counters : (shares * STRIDE,) int64 array
        How many items of each share are taken: zeros at first.
    count, chunk : int
        Items in all, and of a chunk.
    worker_id : int

    Returns
    -------
    turn, first, end : int
        No items are left if ``first`` is ``end``.
    """
    n_shares = len(counters) // STRIDE
    # The only division: one with a sign takes LLVM as long as a loop.
    size = (count + n_shares - 1) // n_shares
    while turn < n_shares:
        share = worker_id + turn
        while share >= n_shares:
            share -= n_shares
        first = share * size
        end = min(first + size, count)
        if load(counters, share * STRIDE) < end - first:
            first += fetch_add(counters, share * STRIDE, chunk)
            if first < end:
                return turn, first, min(first + chunk, end)
        turn += 1
    return turn, np.int64(0), np.int64(0)
