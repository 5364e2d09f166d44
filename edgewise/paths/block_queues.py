"""How warps and teams share out rows, and put together what they found.

Counters lie :data:`APART` words apart, so that they do not share a cache line, and a queue is a stretch of
one array: queue ``which`` begins at ``which * capacity`` and is as long as counter ``which`` says.

A team that goes on for several turns by itself has two queues in its own fast memory, which it reads and
writes in turn, and behind them three counters: this turn's is written, the last one's read, the next one's
cleared.
"""

import numpy as np

from edgewise.device import device, fetch_add
from edgewise.device.warps import block_barrier, block_size, warp_aggregated_add

#: Words between two counters.
APART = 16
#: Entries of a row that one warp takes at a time; longer rows are cut into pieces.
PIECE = 1024
#: Vertices in a team's own queue; where its counters are, a sum, and the words that it needs for all.
LOCAL = 1024
COUNTERS = 2 * LOCAL
SUM = COUNTERS + 3
WORDS = SUM + 1


@device
def put(queue, counts, which, capacity, vertex):
    """Append a vertex to one of the queues: whether it fits; what does not is counted only."""
    position = warp_aggregated_add(counts, which * APART)
    if position < capacity:
        queue[which * capacity + position] = vertex
    return position < capacity


@device
def put_pieces(queue, counts, which, vertex, degree):
    """Append a long row to a list of pieces, which are a vertex and a number each."""
    pieces = (degree + PIECE - 1) // PIECE
    slot = fetch_add(counts, which * APART, pieces)
    for piece in range(pieces):
        queue[2 * (slot + piece)] = vertex
        queue[2 * (slot + piece) + 1] = piece


@device
def piece_at(queue, item, offsets):
    """Vertex of a piece, and the stretch of entries that it is."""
    vertex = np.int64(queue[2 * item])
    first = offsets[vertex] + np.int64(queue[2 * item + 1]) * PIECE
    return vertex, first, min(first + PIECE, offsets[vertex + 1])


@device
def begin_to_keep(words, mine):
    """Empty the team's own queues, before the team meets."""
    if mine == 0:
        words[COUNTERS] = words[COUNTERS + 1] = words[COUNTERS + 2] = 0


@device
def make_room(words, mine, turn):
    """Empty the team's own queue of the next turn; the number in it was read two turns ago by all."""
    if mine == 0:
        words[COUNTERS + (turn + 1) % 3] = 0


@device
def count_kept(words, turn):
    """Vertices in the team's own queue of this turn, after the team has met."""
    return min(words[COUNTERS + turn % 3], LOCAL)


@device
def keep(words, turn, vertex):
    """Append a vertex to the team's own queue of this turn: whether it fits."""
    slot = fetch_add(words, COUNTERS + turn % 3, 1)
    if slot < LOCAL:
        words[(turn % 2) * LOCAL + slot] = vertex
    return slot < LOCAL


@device
def kept(words, turn, item):
    """A vertex of the team's own queue of the turn before."""
    return words[((turn + 1) % 2) * LOCAL + item]


@device
def add_up(me, words, counts, which, found):
    """Add what the team's workers have found to a counter, by way of a word of the team's."""
    team = block_size()
    block_barrier()
    if me % team == 0:
        words[SUM] = 0
    block_barrier()
    if found > 0:
        fetch_add(words, SUM, found)
    block_barrier()
    if me % team == 0 and words[SUM] > 0:
        fetch_add(counts, which * APART, words[SUM])
