"""Edge lists on a GPU: most edges are joined before an atomic operation is needed.

*Hang, then Rem* (:func:`hang_rem`).  Every edge writes its smaller end over the parent of its larger one, by
plain writes to vertices that are roots.  The last write wins, and each one is an edge, so that a compression
leaves trees of connected vertices.  Where neighbours have close numbers these are nearly the components, and
Rem's algorithm finds most edges joined already.  Unlike a round of plain hooks, nothing is read first.

*Sample, then skip the giant* (:func:`edge_sample`), Afforest (:mod:`~edgewise.components.sampling`) without
rows.  Blocks of edges from the whole list are hung and joined until a giant component stands out.  Of every
other edge only one thing matters: whether both ends are in the giant.  An entry of a label takes 32 bytes
from the second cache, for four that are wanted, and 130 million of those take 0.9 ms on an H200.  Hence the
vertices outside the giant are set in a *sieve* of bits, folded until it fits into the shared memory of a
block: bit ``v mod SIEVE_BITS`` is set if any such vertex is outside.  Edges with a set bit are looked up in
the unfolded bits, and joined unless both ends are inside.  If the vote says that too many vertices are
outside, as isolated ones are, the sieve would let everything pass, and the bits are read at once.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.components.rem import union
from edgewise.components.sampling import COMPARED, LABEL, LABEL_BITS, VOTERS, vote
from edgewise.components.trees import compress, singletons
from edgewise.device import arrays, device, each, parallel_region
from edgewise.device.warps import block_barrier, block_size

#: Edges that are side by side in a sample: 128 bytes of either end.
BLOCK = 32
#: Bits of a word, words of the sieve, and its bits.
WORD_BITS, SIEVE_WORDS = 64, 4096
SIEVE_BITS = WORD_BITS * SIEVE_WORDS
#: Threads of a block, and its blocks on a multiprocessor: all threads, and half of the shared memory.
THREADS, BLOCKS = 512, 4


@each.prefetch(lambda edge, parent, sources, targets: (sources[edge], targets[edge]))
def hang(edge, ends, parent, sources, targets):
    """Write the smaller end of an edge over the parent of the larger; all vertices were roots."""
    one, other = ends
    if other < one:
        parent[one] = other
    elif one < other:
        parent[other] = one


@each.prefetch(lambda edge, parent, sources, targets: (parent[sources[edge]], parent[targets[edge]]))
def unite_unequal(edge, parents, parent, sources, targets):
    """Join the ends of an edge unless they have the same parent."""
    one, other = parents
    if one != other:
        union(parent, sources[edge], targets[edge])


def hang_rem(vertices, sources, targets):
    """Hang every edge, compress, then Rem: for sparse edge lists whose ids are local."""
    parent = singletons(vertices, sources)
    hang(len(sources), parent, sources, targets)
    compress(vertices, parent)
    unite_unequal(len(sources), parent, sources, targets)
    compress(vertices, parent)
    return parent


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
    """Ends of an edge of a sample."""
    edge = edge_of(index, sample)
    return sources[edge], targets[edge]


@each.prefetch(ends_of)
def hang_sample(index, ends, sample, parent, sources, targets):
    """Hang an edge of a sample, as :func:`hang` does."""
    one, other = ends
    if other < one:
        parent[one] = other
    elif one < other:
        parent[other] = one


@each.prefetch(ends_of)
def unite_sample(index, ends, sample, parent, sources, targets):
    """Join the ends of an edge of a sample."""
    union(parent, ends[0], ends[1])


@each
def mark_giant(word, parent, winner, inside):
    """Set the bits of the vertices of a word that are in the giant."""
    giant, bits, first = winner[0] & LABEL, np.int64(0), word * WORD_BITS
    for bit in range(min(WORD_BITS, len(parent) - first)):
        bits |= np.int64(np.int64(parent[first + bit]) == giant) << bit
    inside[word] = bits


@each
def fold_outside(word, inside, sieve):
    """Set the bits of a word of the sieve for which any vertex is outside the giant."""
    bits = np.int64(0)
    for other in range(word, len(inside), len(sieve)):
        bits |= ~inside[other]
    sieve[word] = bits


@device
def bit_of(number, words):
    """A bit of an array of words."""
    return words[number // WORD_BITS] >> number % WORD_BITS & 1


class Giant(NamedTuple):
    """A bit for each vertex ``inside``, the ``sieve`` (SIEVE_WORDS,), the ``winner`` of a vote; all int64."""

    inside: Any
    sieve: Any
    winner: Any


@device
def join_unless_inside(edge, giant, parent, sources, targets):
    """Join the ends of an edge unless both are in the giant."""
    one, other = sources[edge], targets[edge]
    if bit_of(np.int64(one), giant.inside) & bit_of(np.int64(other), giant.inside) == 0:
        union(parent, one, other)


@device
def passes(edge, words, sources, targets):
    """Whether an end of an edge may be outside the giant, by the sieve."""
    one, other = np.int64(sources[edge]) % SIEVE_BITS, np.int64(targets[edge]) % SIEVE_BITS
    return bit_of(one, words) | bit_of(other, words)


@parallel_region.by(threads=THREADS, max_blocks_per_sm=BLOCKS, shared_words=SIEVE_WORDS)
def join_outside_giant(worker, giant, parent, sources, targets):
    """Join all edges but those inside the giant; a worker reads four at a time."""
    edges, step, words, last = len(sources), worker.count, worker.shared, len(sources) - 1
    n_other = COMPARED - (giant.winner[0] >> LABEL_BITS)
    sieved = 2 * n_other * len(parent) < COMPARED * SIEVE_BITS
    for word in range(worker.id % block_size(), SIEVE_WORDS, block_size()):
        words[word] = giant.sieve[word] if sieved else np.int64(-1)
    block_barrier()
    for first in range(worker.id, edges, 4 * step):
        second, third = min(first + step, last), min(first + 2 * step, last)
        fourth = min(first + 3 * step, last)
        one, two = passes(first, words, sources, targets), passes(second, words, sources, targets)
        three, four = passes(third, words, sources, targets), passes(fourth, words, sources, targets)
        if one:
            join_unless_inside(first, giant, parent, sources, targets)
        if two:
            join_unless_inside(second, giant, parent, sources, targets)
        if three:
            join_unless_inside(third, giant, parent, sources, targets)
        if four:
            join_unless_inside(fourth, giant, parent, sources, targets)


def edge_sample(vertices, sources, targets):
    """Join a sample of the edges, then those that are not inside the giant component."""
    device, parent, shift = arrays.device_of(sources), singletons(vertices, sources), 0
    for act, per_vertex in ((hang_sample, 1), (unite_sample, 1), (unite_sample, 1)):
        n_blocks = min(per_vertex * vertices, len(sources)) // BLOCK
        if n_blocks:
            step = len(sources) // n_blocks
            sample = Sample(step, min(shift, step - BLOCK))
            act(n_blocks * BLOCK, sample, parent, sources, targets)
            compress(vertices, parent)
            shift += BLOCK
    winner = arrays.zeros(1, np.int64, device)
    inside = arrays.empty(-(-vertices // WORD_BITS), np.int64, device)
    giant = Giant(inside, arrays.empty(SIEVE_WORDS, np.int64, device), winner)
    vote(VOTERS if vertices else 0, parent, vertices, winner)
    mark_giant(len(inside), parent, winner, inside)
    fold_outside(SIEVE_WORDS, inside, giant.sieve)
    if len(sources):
        join_outside_giant(giant, parent, sources, targets)
    compress(vertices, parent)
    return parent
