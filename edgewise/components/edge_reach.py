"""Skewed edge lists on a GPU: spread from a hub along the edges, and join only those that it has not reached.

In a skewed graph nearly every edge has an end that is a few steps from a *hub*, a vertex of high degree.  One
bit for each vertex tells whether it has been *reached* from there.  A single pass over the edges, in any
order, does one of three things with an edge:

* Both ends have been reached: nothing.  These are nearly all edges.
* One end has been reached: the other one is now.  This is an atomic operation whose result nobody waits for.
* Neither has been reached: the ends are joined by Rem's algorithm.

Of every tree with a vertex that has been reached the root is marked as reached afterwards, and all these
trees are one component: that of the hub.  (*Multistep*, by Slota, Rajamanickam & Madduri, IPDPS 2014, also
takes the component of a hub first, by a breadth-first search, and the others by another method.)

The pass does not depend on the diameter of the graph: where the bits spread slowly, more edges are joined.
Vertices of high degree are reached first, so that few edges of a skewed graph are joined (R-MAT: 0.3 %).

A bit takes a thirty-second of the memory of a label, so that about half of the bits of four million vertices
fit into the L1 cache of a multiprocessor.  The edges are therefore read past it.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.components.rem import rem, union
from edgewise.components.trees import new_parents
from edgewise.device import arrays, device, each, fetch_add, fetch_max, fetch_or, load
from edgewise.device.warps import ballot, shuffle, warp_barrier, warp_size
from edgewise.primitives.vote import LABEL, LABEL_BITS

#: Bits of a word (uint32).
WORD_BITS = 32
#: The same as a power of two.
WORD_SHIFT = 5
#: Edges that vote for the hub.
VOTERS = 1 << 13
#: Power of two of the counters into which their targets fall.
COUNTER_BITS = 15
#: Multiplier by which neighbouring vertices get distant counters (Knuth, TAOCP 6.4).
MULTIPLIER = 0x61C88647
#: Bits of a product.
HASH_BITS = 32
#: Edges of a warp.
TILE = 128
#: Edges of a lane.
COLUMNS = 4


class Counters(NamedTuple):
    """Places among the counters."""

    winner: int
    least: int  # n_vertices less the least root that has been reached
    targets: int  # the first of 1 << COUNTER_BITS counters


#: Place of each counter.
AT = Counters(0, 1, 2)
#: Word of the first vertices, behind the counters.
FIRST_WORD = 2 * (AT.targets + (1 << COUNTER_BITS))


class Reached(NamedTuple):
    """The vertices that have been reached from a hub: two arrays over the same memory, at first zero.

    From FIRST_WORD on ``words``, uint32, has a bit for each vertex.  Before that there are the ``counters``,
    int64.  The winner is the count of its target above LABEL_BITS, and the target, the hub, below.
    """

    words: Any
    counters: Any


@device
def vote_for_hub(voter, reached, targets):
    """Count the target of one of VOTERS edges; a target with the highest count wins.

    Vertices share counters, so another one than the most frequent may win; it then takes longer to reach the
    others.
    """
    target = np.int64(targets[voter * len(targets) // VOTERS])
    product = (target & (1 << HASH_BITS) - 1) * MULTIPLIER & (1 << HASH_BITS) - 1
    count = fetch_add(reached.counters, AT.targets + (product >> HASH_BITS - COUNTER_BITS), 1) + 1
    if count > load(reached.counters, AT.winner) >> LABEL_BITS:
        fetch_max(reached.counters, AT.winner, count << LABEL_BITS | target)


@each.prefetch(lambda index, reached, parent, targets: index)
def prepare(index, vertex, reached, parent, targets):
    """Make every vertex a tree of its own, and let some edges vote for the hub."""
    if vertex < len(parent):
        parent[vertex] = vertex
    if index < VOTERS:
        vote_for_hub(index, reached, targets)


@device
def has_bit(vertex, words):
    """The bit of a vertex."""
    number = np.int64(vertex)
    return np.int64(words[FIRST_WORD + (number >> WORD_SHIFT)]) >> (number & (WORD_BITS - 1)) & 1


@device
def has_bit_now(vertex, words):
    """The bit of a vertex as the other multiprocessors see it."""
    number = np.int64(vertex)
    return np.int64(load(words, FIRST_WORD + (number >> WORD_SHIFT))) >> (number & (WORD_BITS - 1)) & 1


@device
def set_bit(vertex, words):
    """Set the bit of a vertex."""
    number = np.int64(vertex)
    fetch_or(words, FIRST_WORD + (number >> WORD_SHIFT), 1 << (number & (WORD_BITS - 1)))


@device
def ends_of(edge, sources, targets):
    """Ends of an edge, which are read past the L1 cache."""
    return load(sources, edge), load(targets, edge)


@device
def bits_of(ends, words):
    """The bits of the ends of an edge."""
    return has_bit(ends[0], words), has_bit(ends[1], words)


@device
def take_edge(ends, bits, lane, words, parent):
    """Reach the other end of an edge if one end has been reached, and join the ends if neither has been.

    Lanes with neighbouring edges of an ordered list have the same source, which the first of them marks.  The
    bits were read earlier, so if neither is set they are read again.  All lanes of a warp must call this.
    """
    source, target = ends
    has_source, has_target = bits
    marking = ballot(has_source != has_target)
    if marking != 0:
        other = target if has_source != 0 else source
        before = shuffle(other, max(lane - 1, 0))
        if has_source != has_target and ((marking << 1) >> lane & 1 == 0 or before != other):
            set_bit(other, words)
    if has_source | has_target == 0:
        has_source, has_target = has_bit_now(source, words), has_bit_now(target, words)
        if has_source != has_target:
            set_bit(target if has_source != 0 else source, words)
        elif has_source == 0:
            union(parent, source, target)
    warp_barrier()


@each
def spread_or_join(index, reached, parent, sources, targets):
    """Reach the other ends of four edges, or join their ends.

    The lanes of a warp read neighbouring edges.  All lanes must have edges, so the last warp takes the last
    ones of the list, some of which another warp takes as well.
    """
    lanes, words = warp_size(), reached.words
    lane = index % lanes
    if index == 0:
        set_bit(reached.counters[AT.winner] & LABEL, words)
    edge = min(index // lanes * (COLUMNS * lanes), len(sources) - COLUMNS * lanes) + lane
    ends_0, ends_1 = ends_of(edge, sources, targets), ends_of(edge + lanes, sources, targets)
    ends_2, ends_3 = ends_of(edge + 2 * lanes, sources, targets), ends_of(edge + 3 * lanes, sources, targets)
    bits_0, bits_1 = bits_of(ends_0, words), bits_of(ends_1, words)
    bits_2, bits_3 = bits_of(ends_2, words), bits_of(ends_3, words)
    take_edge(ends_0, bits_0, lane, words, parent)
    take_edge(ends_1, bits_1, lane, words, parent)
    take_edge(ends_2, bits_2, lane, words, parent)
    take_edge(ends_3, bits_3, lane, words, parent)


@device
def root_of(vertex, above, parent):
    """Root of the tree of a vertex with a parent."""
    root = np.int64(vertex)
    while above != root:
        root, above = np.int64(above), parent[above]
    return root


@device
def see_word(vertex, reached, parent):
    """The word of a vertex, and its parent."""
    return np.int64(reached.words[FIRST_WORD + (vertex >> WORD_SHIFT)]), parent[vertex]


@each.prefetch(see_word)
def reach_root(vertex, seen, reached, parent):
    """If a vertex has been reached, its root has been; note the least of these roots.

    Few vertices compare their root with the least one: those that mark it, and the first of a word.  A least
    root whose own bit was set earlier is the first of its word.
    """
    word, above = seen
    bit = vertex & (WORD_BITS - 1)
    if word >> bit & 1 != 0:
        root = root_of(vertex, above, parent)
        marks = root != vertex and has_bit(root, reached.words) == 0
        if marks:
            set_bit(root, reached.words)
        if (marks or word & (1 << bit) - 1 == 0) and len(parent) - root > reached.counters[AT.least]:
            fetch_max(reached.counters, AT.least, len(parent) - root)


@each.prefetch(lambda vertex, reached, parent: (parent[vertex], has_bit(parent[vertex], reached.words)))
def label(vertex, seen, reached, parent):
    """The label of a vertex: the least of all roots that have been reached, or its own root."""
    above, bit = seen
    root = root_of(vertex, above, parent)
    if root != above:
        bit = has_bit(root, reached.words)
    # race: who walks by way of an old parent or of the new one comes to roots with the same label
    parent[vertex] = len(parent) - reached.counters[AT.least] if bit != 0 else root


def edge_reach(vertices, sources, targets):
    """Spread from a hub along all edges, and join the edges that have no end there yet."""
    edges = len(sources)
    if edges < TILE:
        return rem(vertices, sources, targets)
    n_words = FIRST_WORD + vertices // WORD_BITS + 1
    counters = arrays.zeros(n_words // 2 + 1, np.int64, arrays.device_of(sources))
    reached, parent = Reached(counters.view(np.uint32), counters), new_parents(vertices, sources)
    prepare(max(vertices, VOTERS), reached, parent, targets)
    spread_or_join(-(-edges // TILE) * (TILE // COLUMNS), reached, parent, sources, targets)
    reach_root(vertices, reached, parent)
    label(vertices, reached, parent)
    return parent
