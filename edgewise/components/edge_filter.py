"""Dense edge lists on a GPU: join a sample of the edges, then filter out those inside the giant component.

*Afforest* (Sutton et al. 2018, see :mod:`~edgewise.components.sampling`) without rows.  Blocks of edges from
the whole list are joined until a giant component stands out.  Of every other edge only one thing matters:
whether both endpoints are in the giant.  A label read at random costs a sector of 32 bytes of the second
cache for four that are wanted, and an H200 reads 150 G sectors a second, so that the labels of the endpoints
of 67 million edges take 0.9 ms.  One bit for each vertex takes an eighth of the memory of a sector's worth of
labels, but those of four million vertices still do not fit into the first cache.

The vertices *outside* are few, if the sample is large enough.  Their bits, folded until they fit into the
shared memory of a block, are a filter like that of Bloom (1970), with one hash function: an edge passes if a
bit is set for either endpoint, that is, if a vertex outside has the same bit.  Edges that pass are looked up
in the unfolded bits, and joined unless both endpoints are inside.  The folding keeps the lower and the upper
digits of a vertex number.  If more than half of the filter would be set, since many vertices are isolated,
say, the unfolded bits are read at once.

Few lanes of a warp have an edge that passes, and they would wait for each other while it is joined.  The ends
of edges therefore wait in a queue of the warp until there is an edge for each lane.  A thread reads four
neighbouring edges at once.

The sample is hung and then hooked twice, where the least of all parents wins
(:mod:`~edgewise.components.edge_samples`).  To join it by Rem's algorithm, whose threads contend for few
roots, takes longer.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.components.edge_samples import hang, hook_least, join_samples, unite, unite_unequal
from edgewise.components.rem import union
from edgewise.components.trees import compress
from edgewise.device import arrays, device, each, each_row, fetch_add, parallel_region
from edgewise.device.warps import (
    ballot,
    block_barrier,
    block_size,
    popcount,
    warp_barrier,
    warp_size,
)
from edgewise.primitives.quads import are_aligned, read_four
from edgewise.primitives.vote import LABEL, VOTERS, vote

#: Bits of a word (uint32).
WORD_BITS = 32
#: Words of the filter.
FILTER_WORDS = 1 << 13
#: Bits of the filter; where there are more vertices, it has a bit for several of them.
MANY = WORD_BITS * FILTER_WORDS
#: Threads of a block.
THREADS = 512
#: Blocks on a multiprocessor, at most.
BLOCKS = 4
#: Places for each thread in the queue of its warp.
PLACES = 3
#: Words of a place, one for each end of an edge.
ENDS = 2
#: Largest number of vertices whose numbers fit into a word.
LARGEST = 1 << WORD_BITS


#: The sample: what is done with how many edges for each vertex.
PLAN = ((hang, 0.5), (hook_least, 1), (hook_least, 1), (unite, 0.5))


class Giant(NamedTuple):
    """The vertices outside the giant component, in words of uint32.

    ``outside``, (n // WORD_BITS + 1,), has a bit for each.  ``folded``, (FILTER_WORDS,), is the filter: word
    ``w`` stands for all whose number is ``w`` modulo FILTER_WORDS.  ``n_set``, (1,) int64, bits of it are
    set.
    """

    outside: Any
    folded: Any
    n_set: Any


@each_row
def mark_outside(word, lane, lanes, parent, winner, outside):
    """Set the bits of a word's vertices that are not in the giant."""
    bits, giant = np.int64(0), winner[0] & LABEL
    for first in range(0, WORD_BITS, lanes):
        vertex, is_outside = word * WORD_BITS + first + lane, False
        if vertex < len(parent):
            is_outside = np.int64(parent[vertex]) != giant
        bits |= ballot(is_outside) << first
    if lane == 0:
        outside[word] = bits


@each
def fold(word, giant):
    """Set the bits of a word of the filter that are set in any word that it stands for."""
    bits, n_set = np.int64(0), np.int64(0)
    for other in range(word, len(giant.outside), FILTER_WORDS):
        bits |= np.int64(giant.outside[other])
    giant.folded[word] = bits
    while bits > 0:
        bits &= bits - 1
        n_set += 1
    if n_set > 0:
        fetch_add(giant.n_set, 0, n_set)


@device
def may_be_outside(vertex, words):
    """The bit of a vertex in the filter."""
    number = np.int64(vertex)
    return np.int64(words[(number // WORD_BITS) % FILTER_WORDS]) >> number % WORD_BITS & 1


@device
def is_outside(vertex, words):
    """The bit of a vertex."""
    number = np.int64(vertex)
    return np.int64(words[number // WORD_BITS]) >> number % WORD_BITS & 1


@device
def mark_by_filter(ones, others, words):
    """A bit for each of four edges: whether an endpoint may be outside the giant."""
    marks = may_be_outside(ones[0], words) | may_be_outside(others[0], words)
    marks |= (may_be_outside(ones[1], words) | may_be_outside(others[1], words)) << 1
    marks |= (may_be_outside(ones[2], words) | may_be_outside(others[2], words)) << 2
    return marks | (may_be_outside(ones[3], words) | may_be_outside(others[3], words)) << 3


@device
def mark_by_bits(ones, others, words):
    """A bit for each of four edges: whether an endpoint is outside the giant."""
    marks = is_outside(ones[0], words) | is_outside(others[0], words)
    marks |= (is_outside(ones[1], words) | is_outside(others[1], words)) << 1
    marks |= (is_outside(ones[2], words) | is_outside(others[2], words)) << 2
    return marks | (is_outside(ones[3], words) | is_outside(others[3], words)) << 3


@device
def put(mark, one, other, place, lane, shared):
    """Write the ends of a marked edge into the queue from a place on; how many edges the warp has written."""
    marked = ballot(mark != 0)
    if mark != 0:
        mine = place + ENDS * popcount(marked & ((np.int64(1) << lane) - 1))
        shared[mine], shared[mine + 1] = one, other
    return popcount(marked)


@device
def join_queued(place, shared, outside, parent):
    """Join the ends of the edge at a place of a queue unless both are in the giant."""
    one, other = shared[place], shared[place + 1]
    if is_outside(one, outside) | is_outside(other, outside) != 0:
        union(parent, one, other)


@parallel_region.by(
    threads=THREADS,
    max_blocks_per_sm=BLOCKS,
    shared_words=FILTER_WORDS + ENDS * PLACES * THREADS,
    shared_type=np.uint32,
)
def join_outside(worker, giant, parent, sources, targets, aligned):
    """Join all edges but those inside the giant; a worker reads four at a time."""
    lanes, size, shared, outside = warp_size(), block_size(), worker.shared, giant.outside
    lane, thread, quads = worker.id % lanes, worker.id % size, len(sources) // 4
    filtered = 2 * giant.n_set[0] < MANY
    for word in range(thread, FILTER_WORDS, size):
        shared[word] = giant.folded[word]
    block_barrier()
    queue, held = FILTER_WORDS + ENDS * PLACES * (thread - lane), np.int64(0)
    for base in range(worker.id - lane, quads, worker.count):
        first = 4 * min(base + lane, quads - 1)
        ones, others = read_four(sources, first, aligned), read_four(targets, first, aligned)
        if filtered:
            marks = mark_by_filter(ones, others, shared)
        else:
            marks = mark_by_bits(ones, others, outside)
        if base + lane >= quads:
            marks = np.int64(0)
        held += put(marks & 1, ones[0], others[0], queue + ENDS * held, lane, shared)
        held += put(marks & 2, ones[1], others[1], queue + ENDS * held, lane, shared)
        warp_barrier()
        while held >= lanes:
            held -= lanes
            join_queued(queue + ENDS * (held + lane), shared, outside, parent)
        warp_barrier()
        held += put(marks & 4, ones[2], others[2], queue + ENDS * held, lane, shared)
        held += put(marks & 8, ones[3], others[3], queue + ENDS * held, lane, shared)
        warp_barrier()
        while held >= lanes:
            held -= lanes
            join_queued(queue + ENDS * (held + lane), shared, outside, parent)
        warp_barrier()
    if lane < held:
        join_queued(queue + ENDS * lane, shared, outside, parent)
    for edge in range(4 * quads + worker.id, len(sources), worker.count):
        union(parent, sources[edge], targets[edge])


def edge_filter(vertices, sources, targets):
    """Join a sample of the edges, then those that are not inside the giant component."""
    parent = join_samples(PLAN, vertices, sources, targets)
    if MANY <= vertices <= LARGEST:
        giant, aligned = find_giant(vertices, parent), int(are_aligned(sources, targets))
        join_outside(giant, parent, sources, targets, aligned)
    else:
        unite_unequal(len(sources), parent, sources, targets)
    compress(vertices, parent)
    return parent


def find_giant(vertices, parent):
    """The vertices outside the giant component, and the filter."""
    device = arrays.device_of(parent)
    winner, n_set = arrays.zeros(1, np.int64, device), arrays.zeros(1, np.int64, device)
    words = vertices // WORD_BITS + 1, FILTER_WORDS
    giant = Giant._make([*(arrays.empty(count, np.uint32, device) for count in words), n_set])
    vote(VOTERS, parent, vertices, winner)
    mark_outside(words[0], parent, winner, giant.outside, width="warp")
    fold(FILTER_WORDS, giant)
    return giant
