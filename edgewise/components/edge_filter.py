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

Few lanes of a warp have an edge that passes, and they would wait for each other while it is joined.  Edges
therefore wait in a queue of the warp until there is one for each lane.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.components.hang_rem import hang_below, unite_unequal
from edgewise.components.rem import union
from edgewise.components.sampling import LABEL, VOTERS, vote
from edgewise.components.trees import compress, singletons
from edgewise.device import arrays, device, each, each_row, fetch_add, parallel_region
from edgewise.device.warps import (
    WARP_WIDTH,
    ballot,
    block_barrier,
    block_size,
    popcount,
    warp_barrier,
    warp_size,
)

#: Edges that are side by side in a sample: 128 bytes of either endpoint.
BLOCK = 32
#: Bits of a word (uint32), words of the filter, and vertices from which it has a bit for several of them.
WORD_BITS, FILTER_WORDS = 32, 1 << 13
MANY = WORD_BITS * FILTER_WORDS
#: Threads of a block and its blocks on a multiprocessor.
THREADS, BLOCKS = 512, 4
#: Places for each thread in the queue of its warp, and words of one: the halves of the number of an edge.
PLACES, HALVES = 2, 2
HALF = 32


class Sample(NamedTuple):
    """Blocks of edges at equal distances: block ``b`` begins at edge ``b * step + shift``."""

    step: int
    shift: int


@device
def edge_of(index, sample):
    """Edge at an index of a sample."""
    return index // BLOCK * sample.step + sample.shift + index % BLOCK


@device
def ends_of(index, sample, parent, sources, targets):
    """Endpoints of an edge of a sample."""
    edge = edge_of(index, sample)
    return sources[edge], targets[edge]


@device
def parents_of(index, sample, parent, sources, targets):
    """Parents of the endpoints of an edge of a sample."""
    edge = edge_of(index, sample)
    return parent[sources[edge]], parent[targets[edge]]


@each.prefetch(ends_of)
def hang_sample(index, ends, sample, parent, sources, targets):
    """Write the smaller endpoint over the parent of the larger; all vertices were roots."""
    hang_below(ends[0], ends[1], parent)


@each.prefetch(parents_of)
def unite_sample(index, parents, sample, parent, sources, targets):
    """Join the endpoints of an edge of a sample."""
    if parents[0] != parents[1]:
        edge = edge_of(index, sample)
        union(parent, sources[edge], targets[edge])


#: The sample: what is done with how many edges for each vertex.
PLAN = ((hang_sample, 0.5), (unite_sample, 0.5), (unite_sample, 1), (unite_sample, 1))


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
def join_queued(place, shared, outside, parent, sources, targets):
    """Join the endpoints of the edge at a place of a queue unless both are in the giant."""
    edge = np.int64(shared[place + 1]) << HALF | np.int64(shared[place])
    one, other = sources[edge], targets[edge]
    if is_outside(one, outside) | is_outside(other, outside) != 0:
        union(parent, one, other)


@parallel_region.by(
    threads=THREADS,
    max_blocks_per_sm=BLOCKS,
    shared_words=FILTER_WORDS + HALVES * PLACES * THREADS,
    shared_type=np.uint32,
)
def join_outside(worker, giant, parent, sources, targets):
    """Join all edges but those inside the giant; a worker reads four at a time."""
    lanes, step, size, shared, outside = warp_size(), worker.count, block_size(), worker.shared, giant.outside
    lane, thread, edges = worker.id % lanes, worker.id % size, len(sources)
    filtered = 2 * giant.n_set[0] < MANY
    for word in range(thread, FILTER_WORDS, size):
        shared[word] = giant.folded[word]
    block_barrier()
    queue, held = FILTER_WORDS + HALVES * PLACES * (thread - lane), 0
    for base in range(worker.id - lane, edges, 4 * step):
        first, last = base + lane, edges - 1
        one, two = min(first, last), min(first + step, last)
        three, four = min(first + 2 * step, last), min(first + 3 * step, last)
        ones = sources[one], sources[two], sources[three], sources[four]
        others = targets[one], targets[two], targets[three], targets[four]
        if filtered:
            marks = mark_by_filter(ones, others, shared)
        else:
            marks = mark_by_bits(ones, others, outside)
        for number in range(4):
            edge = first + number * step
            passes = edge < edges and (marks >> number) & 1 != 0
            marked = ballot(passes)
            if marked != 0:
                if passes:
                    place = queue + HALVES * (held + popcount(marked & ((np.int64(1) << lane) - 1)))
                    shared[place], shared[place + 1] = edge & ((1 << HALF) - 1), edge >> HALF
                held += popcount(marked)
                warp_barrier()
                if held >= lanes:
                    held -= lanes
                    join_queued(queue + HALVES * (held + lane), shared, outside, parent, sources, targets)
                    warp_barrier()
    if lane < held:
        join_queued(queue + HALVES * lane, shared, outside, parent, sources, targets)


def edge_filter(vertices, sources, targets):
    """Join a sample of the edges, then those that are not inside the giant component."""
    parent, shift = singletons(vertices, sources), 0
    for join, per_vertex in PLAN:
        n_blocks = min(int(per_vertex * vertices), len(sources)) // BLOCK
        if n_blocks:
            step = len(sources) // n_blocks
            join(n_blocks * BLOCK, Sample(step, min(shift, step - BLOCK)), parent, sources, targets)
            compress(vertices, parent)
            shift += BLOCK
    if vertices < MANY:
        unite_unequal(len(sources), parent, sources, targets)
    else:
        join_outside(find_giant(vertices, parent), parent, sources, targets)
    compress(vertices, parent)
    return parent


def find_giant(vertices, parent):
    """The vertices outside the giant component, and the filter."""
    device = arrays.device_of(parent)
    winner, n_set = arrays.zeros(1, np.int64, device), arrays.zeros(1, np.int64, device)
    words = vertices // WORD_BITS + 1, FILTER_WORDS
    giant = Giant(*(arrays.empty(count, np.uint32, device) for count in words), n_set)
    vote(VOTERS, parent, vertices, winner)
    mark_outside(words[0], parent, winner, giant.outside, width=WARP_WIDTH)
    fold(FILTER_WORDS, giant)
    return giant
