"""How warps and blocks divide rows among themselves, and collect the vertices that they reach.

Queue ``which`` begins at ``which * capacity`` of one array, and counter ``which`` holds its length; other
counters are given by their places (:mod:`edgewise.primitives.rounds`).  In its shared memory a block has two
local queues that alternate, one read and one written in each step, and behind them four counters used in
turn: this step's is written, the last one's read, the next one's cleared.  (Three would do, but remainders by
three took a twenty-fifth of a search on a road network.)

An atomic addition of 64 bits in shared memory is a loop of compare-and-swap, in which the threads of a block
wait for each other.  Therefore a warp adds once.
"""

import numpy as np

from edgewise.device import device, fetch_add
from edgewise.device.warps import (
    ballot,
    block_barrier,
    block_size,
    inclusive_scan,
    shuffle,
    warp_aggregated_add,
    warp_size,
)
from edgewise.primitives.rounds import APART, clear_set

#: Entries of a row that one warp takes at a time.
PIECE = 512
#: Entries above which a warp does not share out a row among its lanes: rows that follow each other may all be
#: long.
WARP_ROW = 128
#: Vertices in a local queue.
LOCAL = 1024
#: First word of shared memory that counts the vertices of local queues.
COUNTERS = 2 * LOCAL
#: Number of these counters, a power of two; steps use them in turn.
IN_TURN = 4
#: Word of shared memory that has a sum.
SUM = COUNTERS + IN_TURN
#: Words of shared memory for the queues, their counters and the sum.
WORDS = SUM + 1


@device
def append(queue, counts, which, capacity, vertex):
    """Append a vertex to a queue and return whether there is room; without room it is only counted."""
    position = warp_aggregated_add(counts, which * APART)
    if position < capacity:
        queue[which * capacity + position] = vertex
    return position < capacity


@device
def append_pieces(queue, counts, counter, first, end, vertex, degree):
    """Append the pieces of a long row to a list of pieces: of each the vertex and the piece's number.

    The list is from place ``first`` to ``end - 1``; without room, pieces are only counted.
    """
    pieces = (degree + PIECE - 1) // PIECE
    slot = first + fetch_add(counts, counter, pieces)
    if slot + pieces <= end:
        for piece in range(pieces):
            queue[2 * (slot + piece)] = vertex
            queue[2 * (slot + piece) + 1] = piece


@device
def append_long_rows(worker, queue, counts, counter, vertex, degree):
    """Append the pieces of those rows of a warp that are long; return the degree of the others, else 0.

    Lists begin at the beginning of the queue, and :func:`room_for_pieces` tells how long they become.
    """
    lanes = warp_size()
    lane = worker.id % lanes
    if ballot(degree > WARP_ROW) == 0:
        return degree
    pieces = (degree + PIECE - 1) // PIECE if degree > WARP_ROW else np.int64(0)
    last, slot = inclusive_scan(pieces, lane), np.int64(0)
    if lane == lanes - 1:
        slot = np.int64(fetch_add(counts, counter, last))
    slot = shuffle(slot, lanes - 1) + last - pieces
    for piece in range(pieces):
        queue[2 * (slot + piece)] = vertex
        queue[2 * (slot + piece) + 1] = piece
    return degree if pieces == 0 else np.int64(0)


@device
def clear(counts, which, sets, place):
    """Set the counters that the next round uses to zero: that of a queue, and the set at a place."""
    counts[which * APART] = 0
    clear_set(sets, counts, place)


def room_for_pieces(n_entries):
    """Words that the pieces of all long rows take at most."""
    return 2 * (n_entries // PIECE + n_entries // WARP_ROW + 1)


@device
def piece_at(queue, item, offsets):
    """Vertex of a piece, and where the piece begins and ends among the entries."""
    vertex = np.int64(queue[2 * item])
    first = offsets[vertex] + np.int64(queue[2 * item + 1]) * PIECE
    return vertex, first, min(first + PIECE, offsets[vertex + 1])


@device
def clear_local(shared, thread):
    """Empty the local queues; a block barrier must follow."""
    if thread == 0:
        for counter in range(COUNTERS, COUNTERS + IN_TURN):
            shared[counter] = 0


@device
def local_counter(step):
    """Where the counter of a step is."""
    return COUNTERS + (step & (IN_TURN - 1))


@device
def local_queue(step):
    """Where the local queue that a step writes begins."""
    return (step & 1) * LOCAL


@device
def clear_next_local(shared, thread, step):
    """Empty the local queue of the next step, whose counter all threads have read three steps ago."""
    if thread == 0:
        shared[local_counter(step + 1)] = 0


@device
def local_size(shared, step):
    """Number of vertices in the local queue of this step, after a block barrier."""
    return min(shared[local_counter(step)], LOCAL)


@device
def append_local(shared, step, vertex):
    """Append a vertex to the local queue of this step and return whether there is room."""
    slot = warp_aggregated_add(shared, local_counter(step))
    if slot < LOCAL:
        shared[local_queue(step) + slot] = vertex
    return slot < LOCAL


@device
def local_at(shared, step, item):
    """A vertex of the local queue of the step before."""
    return shared[local_queue(step + 1) + item]


@device
def add_block_sum(worker, counts, counter, value):
    """Add the sum of the values of a block's threads to a counter, with one atomic operation per block."""
    is_first, lanes = worker.id % block_size() == 0, warp_size()
    of_warp = shuffle(inclusive_scan(np.int64(value), worker.id % lanes), lanes - 1)
    block_barrier()
    if is_first:
        worker.shared[SUM] = 0
    block_barrier()
    if worker.id % lanes == 0 and of_warp > 0:
        fetch_add(worker.shared, SUM, of_warp)
    block_barrier()
    if is_first and worker.shared[SUM] > 0:
        fetch_add(counts, counter, worker.shared[SUM])
