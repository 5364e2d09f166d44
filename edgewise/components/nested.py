"""Nested components as one forest: which smaller vertex each vertex joins, and at which level.

The components of a level are unions of those of the next higher one, and each is called by its smallest
vertex.  A vertex that is the smallest of its component at the highest level may meet a smaller one at some
level, and is never the smallest again.  So there is one level for each vertex, and one vertex that is the
smallest of its component there: its *root*.  Both are in one word of 64 bits, the level in the highest byte.
The label of a vertex at a level is where the way along the roots ends that have joined others at this level
or a higher one:

    label = vertex
    while level of label >= level:
        label = root of label

That takes eight bytes for each vertex, however many levels there are, and all labels of a vertex are on one
way, which has a step for each label that differs from the one before.  The sizes of components come from the
same forest: each vertex adds what it has to its root, once.

Edges come in any order, from any number of threads.  As in Rem's algorithm the larger end moves towards its
root, along vertices that have joined at the level of the edge or a higher one.  If the vertex that it is at
has joined at a lower level only, a compare-and-swap lets it join the other end at this level, and the edge
that it had joined by is added again between the two vertices above.  Every edge is thus in a word, or with a
thread that adds it, and a way shortened by the word of a vertex above it ends where it did.  The merge trees
of Smirnov and Morozov ("Triplet Merge Trees", 2017) are built alike, with a height for each vertex.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.components.rem import fetch_later
from edgewise.components.sizes import STRETCH, STRETCH_OF_CORE
from edgewise.device import arrays, cas, device, each, each_row, fetch_add, fetch_max
from edgewise.device.prefetch import prefetch
from edgewise.device.warps import inclusive_scan
from edgewise.errors import VerificationError
from edgewise.index_type import index_type
from edgewise.primitives import filled
from edgewise.primitives.counting_sort import grouped

#: Where the level of a word begins, and the bits of the vertex.
LEVEL, VERTEX = np.uint64(56), np.uint64((1 << 56) - 1)
NONE = np.uint64(0)
#: How many vertices ahead what a root has is fetched on the CPU.
AHEAD = 32
#: Vertices, in equal distances, that show which component grows most.
SAMPLE = 1 << 12
#: Blocks of a multiprocessor.
BLOCKS = 8

_each_stretch = each_row.by(max_blocks_per_sm=BLOCKS, least_chunk=1)


class Growth(NamedTuple):
    """What the components of a level are added up from.

    Attributes
    ----------
    nested : (n,) uint64 array
    levels : (n,) uint8 array
        Levels of the words.
    sizes : (n,) index array
        Members at the smallest vertices.
    found : (2,) int64 array
        Size of the largest component, and number of vertices that have joined others.
    """

    nested: Any
    levels: Any
    sizes: Any
    found: Any


@device
def join(nested, one, other, level):
    """Join two vertices at a level: words of zero are vertices that have joined no other."""
    one, other, level = np.uint64(one), np.uint64(other), np.uint64(level)
    while one != other:
        if one < other:
            one, other = other, one
        word = nested[one]
        at, above = word >> LEVEL, word & VERTEX
        if at >= level:
            if above > other:  # look further, and shorten the way
                higher = nested[above]
                if higher >> LEVEL >= at:
                    above = higher & VERTEX
                    cas(nested, one, word, (at << LEVEL) | above)
            one = above
        elif cas(nested, one, word, (level << LEVEL) | other) == word:
            if at == NONE:
                return
            one, level = above, at


@partial(each, ascending=True)
def join_edge(edge, nested, sources, targets, levels):
    """Join the ends of an edge at its level; 0 is that of an edge that does not count."""
    fetch_later(edge, nested, sources, targets)
    if levels[edge] > 0:
        join(nested, sources[edge], targets[edge], levels[edge])


@partial(each, ascending=True)
def settle(vertex, nested):
    """Point a vertex at its root, which is itself if it has joined no other."""
    word = nested[vertex]
    at = word >> LEVEL
    if at == NONE:
        nested[vertex] = vertex  # race: the level, which is all that others read of it, remains 0
    else:
        higher = nested[word & VERTEX]
        while higher >> LEVEL >= at:
            word = (at << LEVEL) | (higher & VERTEX)
            nested[vertex] = word  # race: the vertex that others may read instead is on the same way
            higher = nested[word & VERTEX]


@each
def join_renumbered(vertex, numbers, nested, renumbered):
    """Join a vertex and its root by other numbers."""
    word = nested[vertex]
    if word >> LEVEL > NONE:
        join(renumbered, numbers[vertex], numbers[word & VERTEX], word >> LEVEL)


@each
def write_levels_of_words(vertex, nested, levels):
    """Write the level of a word."""
    levels[vertex] = nested[vertex] >> LEVEL


@device
def roots_ahead(item, vertices, nested):
    """The first root on the way of a vertex far ahead, the second of a nearer one, the third of the next.

    When a root is asked for, the words before it on the way are in the cache.
    """
    last = len(vertices) - 1
    far, near = vertices[min(item + 3 * AHEAD, last)], vertices[min(item + 2 * AHEAD, last)]
    third = nested[nested[vertices[min(item + AHEAD, last)]] & VERTEX] & VERTEX
    return nested[far] & VERTEX, nested[nested[near] & VERTEX] & VERTEX, nested[third] & VERTEX


@each
def write_labels(item, vertices, n_levels, nested, labels):
    """Write the labels of a vertex at all levels, those of the lowest level first."""
    for root in roots_ahead(item, vertices, nested):
        prefetch(nested, root)
    label, level = np.uint64(vertices[item]), np.int64(n_levels)
    while level > 0:
        word = nested[label]
        joined_at = np.int64(word >> LEVEL)
        while level > joined_at:
            level -= 1
            labels[level * len(vertices) + item] = label
        label = word & VERTEX


@each
def write_names(item, vertices, ids, n_levels, nested, names):
    """Write the ids, which are integers, of the labels of a vertex at all levels."""
    for root in roots_ahead(item, vertices, nested):
        prefetch(nested, root)
        prefetch(ids, root)
    label, level = np.uint64(vertices[item]), np.int64(n_levels)
    while level > 0:
        word, name = nested[label], ids[label]
        joined_at = np.int64(word >> LEVEL)
        while level > joined_at:
            level -= 1
            names[level * len(vertices) + item] = name
        label = word & VERTEX


@each
def write_level(vertex, level, nested, labels):
    """Write the label of a vertex at one level."""
    label = np.uint64(vertex)
    word = nested[label]
    while word >> LEVEL >= np.uint64(level):
        label = word & VERTEX
        word = nested[label]
    labels[vertex] = label


@_each_stretch
def add_joined(stretch, lane, lanes, length, level, giant, growth):
    """Add the sizes of the components of a stretch that join others at a level to those of these.

    What joins the component that grows most is added up first.
    """
    nested, levels, sizes, found = growth
    first, own, to_giant, largest = stretch * length, np.int64(0), np.int64(0), np.int64(0)
    for vertex in range(first + lane, min(first + length, len(sizes)), lanes):
        soon = min(vertex + AHEAD * lanes, len(sizes) - 1)
        prefetch(sizes, np.int64(nested[soon] & VERTEX) if levels[soon] == level else soon)
        if levels[vertex] == level:
            own += 1
            size, root = np.int64(sizes[vertex]), np.int64(nested[vertex] & VERTEX)
            if root == giant:
                to_giant += size
            else:
                largest = max(largest, size + np.int64(fetch_add(sizes, root, size)))
    own, to_giant = inclusive_scan(own, lane), inclusive_scan(to_giant, lane)
    if lane == lanes - 1 and own > 0:
        fetch_add(found, 1, own)
        if to_giant > 0:
            largest = max(largest, to_giant + np.int64(fetch_add(sizes, giant, to_giant)))
    if largest > found[0]:
        fetch_max(found, 0, largest)


@partial(each, least_chunk=1)
def add_listed(stretch, length, joined, giant, growth):
    """Do the same for a stretch of the vertices that join others at a level, which are listed."""
    nested, _, sizes, found = growth
    first, last, to_giant, largest = stretch * length, len(joined) - 1, np.int64(0), np.int64(0)
    for item in range(first, min(first + length, len(joined))):
        far, near = joined[min(item + 2 * AHEAD, last)], joined[min(item + AHEAD, last)]
        prefetch(nested, far)
        prefetch(sizes, far)
        prefetch(sizes, np.int64(nested[near] & VERTEX))
        size, root = np.int64(sizes[joined[item]]), np.int64(nested[joined[item]] & VERTEX)
        if root == giant:
            to_giant += size
        else:
            largest = max(largest, size + np.int64(fetch_add(sizes, root, size)))
    if to_giant > 0:
        largest = max(largest, to_giant + np.int64(fetch_add(sizes, giant, to_giant)))
    if largest > found[0]:
        fetch_max(found, 0, largest)


def labels_at(nested, level):
    """The label of each vertex at one level: (n,) index array on the device of the forest."""
    n = len(nested)
    labels = arrays.empty(n, index_type(n), arrays.device_of(nested))
    write_level(n, level, nested, labels)
    return labels


def labels_of(nested, n_levels, vertices, ids=None):
    """Labels of some vertices at all levels, or the ids of these, which are integers: (levels, vertices)."""
    import pyarrow as pa

    kind = vertices.dtype if ids is None else ids.dtype
    # of Arrow's pool, which has it from the blocks before
    found = np.frombuffer(pa.allocate_buffer(n_levels * len(vertices) * kind.itemsize), kind)
    if ids is None:
        write_labels(len(vertices), vertices, n_levels, nested, found)
    else:
        write_names(len(vertices), vertices, ids, n_levels, nested, found)
    return found.reshape(n_levels, len(vertices))


def reordered(nested, order):
    """The same components, of the host, where ``order`` has the vertices in their new order."""
    numbers, renumbered = np.empty(len(order), np.int64), np.zeros(len(order), np.uint64)
    numbers[order] = np.arange(len(order))
    join_renumbered(len(order), numbers, nested, renumbered)
    settle(len(order), renumbered)
    return renumbered


def check_nested(nested, n_levels):
    """Raise VerificationError unless what vertices of the host join are roots: ways end, and skip none."""
    levels, roots = nested >> LEVEL, nested & VERTEX
    vertices = np.arange(len(nested), dtype=np.uint64)
    wrong = np.where(levels > 0, roots >= vertices, roots != vertices) | (levels > n_levels)
    if not wrong.any():
        wrong = (levels > 0) & (levels[roots.astype(np.int64)] >= levels)
    if wrong.any():
        vertex = int(wrong.argmax())
        raise VerificationError(f"vertex {vertex} joins vertex {roots[vertex]}, which is no root there")


def counts_and_largest(nested, n_levels):
    """Number of components and size of the largest one at each level: (levels,) int64 arrays on the host."""
    n, where = len(nested), arrays.device_of(nested)
    dtype, giants, rows = index_type(n), _growing_most(nested, n_levels), []
    sizes = filled(n, 1, dtype) if where == "cpu" else arrays.full(n, 1, dtype, where)
    levels = arrays.empty(n, np.uint8, where)
    write_levels_of_words(n, nested, levels)
    growth = Growth(nested, levels, sizes, arrays.move(np.array([min(n, 1), 0]), where))
    order, begins = grouped(levels, n_levels + 1, dtype) if where == "cpu" else (None, ())
    for level in range(n_levels, 0, -1):
        if order is None:
            add_joined(-(-n // STRETCH), STRETCH, level, giants[level], growth, width="warp")
        else:
            joined, length = order[begins[level] : begins[level + 1]], STRETCH_OF_CORE
            add_listed(-(-len(joined) // length), length, joined, giants[level], growth)
            growth.found[1] += len(joined)
        rows.append(arrays.move(growth.found, "cpu").tolist())
    largest, joined = np.array(rows[::-1], np.int64).T
    return n - joined, largest


def _growing_most(nested, n_levels):
    """The component of each level that most vertices of a sample join there; -1 where none does."""
    step = max(1, len(nested) // SAMPLE)
    words = arrays.move(arrays.contiguous(nested[::step]), "cpu")
    found = [-1] * (n_levels + 1)
    for level in range(1, n_levels + 1):
        own, counts = np.unique(words[words >> LEVEL == level] & VERTEX, return_counts=True)
        if len(own):
            found[level] = int(own[counts.argmax()])
    return found
