"""Trees of the forest while it grows: a parent for each vertex, and the first edge that leaves each tree.

A tree is known by its root.  Every edge that leaves a tree *offers* its word (:mod:`~edgewise.forest.order`)
to the roots at both of its ends, and the smallest offer is that of the first edge.  Where words hold no
positions, the edges of the smallest word offer their positions as well.

When all trees take their first edges at once, only two of them can choose each other, by the same edge.  So
every root is hooked below the root at the other end of its first edge by a plain write, but for the smaller
one of such a pair.  The edge that was taken is kept at the vertex that is no root any more, so that no list
of edges needs a counter.  A parent may have a larger number than its child; the labels of the finished trees
are their smallest vertices.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, device, each, fetch_min
from edgewise.device.prefetch import prefetch
from edgewise.forest.order import LARGEST
from edgewise.primitives.counting_sort import is_few, zeros
from edgewise.primitives.marks import marked, new_marks

#: Where no edge is kept.
NO_EDGE = -1


class Trees(NamedTuple):
    """What all edges see.

    Attributes
    ----------
    parent : (n,) index array
    hooked_by : (n,) int64 array
        The entry of the edge that has hooked a vertex below another one.
    offers : (n,) int64 array
        The smallest word of the edges that leave a tree, at its root.
    positions : (n,) int64 array
        The smallest position among the edges of that word; empty if words hold positions.
    numbers : (n,) index array
        The trees of all vertices, with one bit more, where ``parent`` and the others are those of the trees
        (:mod:`~edgewise.forest.renumbering`); else empty.
    """

    parent: Any
    hooked_by: Any
    offers: Any
    positions: Any
    numbers: Any


@device
def root_of(parent, vertex):
    """The root above ``vertex``."""
    above = np.int64(parent[vertex])
    grandparent = np.int64(parent[above])
    while above != grandparent:
        above = grandparent
        grandparent = np.int64(parent[above])
    return above


@device
def roots_of(parent, ends):
    """The roots above two vertices; both paths are read at the same time."""
    one, other = np.int64(parent[ends[0]]), np.int64(parent[ends[1]])
    above = np.int64(parent[one]), np.int64(parent[other])
    while (one != above[0]) | (other != above[1]):
        one, other = above
        above = np.int64(parent[one]), np.int64(parent[other])
    return one, other


@device
def prefetch_offers(trees, ends):
    """Start to read what was offered to two trees."""
    one, other = ends
    prefetch(trees.offers, one)
    prefetch(trees.offers, other)


@device
def offer(trees, ends, word, giant):
    """Offer a word to the roots of both ends, but to ``giant``, after a plain comparison that most fail."""
    one, other = ends
    at_one, at_other = trees.offers[one], trees.offers[other]
    if word < at_one and one != giant:
        fetch_min(trees.offers, one, word)
    if word < at_other and other != giant:
        fetch_min(trees.offers, other, word)


@device
def offer_position(trees, root, word, entry):
    """Offer the position of an edge whose word is the smallest one."""
    if trees.offers[root] == word and entry < trees.positions[root]:
        fetch_min(trees.positions, root, entry)


@device
def are_first(trees, ends, word, entry):
    """Whether an edge is the first one of the trees at its ends; what was offered to both is read at once."""
    one, other = ends
    at_one, at_other = trees.offers[one], trees.offers[other]
    if len(trees.positions) == 0:
        return at_one == word, at_other == word
    of_one = (at_one == word) & (trees.positions[one] == entry)
    return of_one, (at_other == word) & (trees.positions[other] == entry)


@device
def clear_offers(trees, root):
    """Forget what was offered to a root, which only its first edge does; no other edge takes the value."""
    trees.offers[root] = LARGEST  # race: no other edge takes the value, before or after it
    if len(trees.positions):
        trees.positions[root] = LARGEST  # race: as above


@each
def forget_offers(root, trees):
    """Forget what was offered to a root."""
    clear_offers(trees, root)


def without_offers(trees):
    """The trees, of which all offers are forgotten; CuPy would compile a kernel that fills."""
    if arrays.device_of(trees.offers) == "cpu":
        trees.offers.fill(LARGEST)
        trees.positions.fill(LARGEST)
    else:
        forget_offers(len(trees.offers), trees)
    return trees


@device
def take(trees, ends, entry, firsts):
    """Hook the roots whose first edge this is, as ``firsts`` says; of two roots the larger one."""
    one, other = ends
    of_one, of_other = firsts
    if of_one:
        clear_offers(trees, one)
    if of_other:
        clear_offers(trees, other)
    if of_one and (not of_other or other < one):
        trees.parent[one] = other
        trees.hooked_by[one] = entry
    elif of_other:
        trees.parent[other] = one
        trees.hooked_by[other] = entry


@device
def halve(parent, vertex):
    """The root above ``vertex``, whose path is halved; for one worker only."""
    root = parent[parent[vertex]]
    parent[vertex] = root  # in any case: most paths are short, and a branch would be predicted wrongly
    above = parent[root]
    while above != root:
        grandparent = parent[above]
        parent[root] = grandparent
        root, above = grandparent, parent[grandparent]
    return root


@each
def mark_kept(vertex, hooked_by, marks):
    """Mark the entry of the edge that is kept at a vertex, if one is."""
    if hooked_by[vertex] != NO_EDGE:
        marks[hooked_by[vertex]] = True


def kept_entries(hooked_by, n_entries):
    """The entries of the edges that were kept, of ``n_entries``, ascending: (k,) int64 array.

    They are marked in an array.  On the CPU they are sorted instead where that array is larger than what
    sorting moves.
    """
    where = arrays.device_of(hooked_by)
    if where == "cpu" and n_entries > 2 * hooked_by.nbytes:
        entries = hooked_by[hooked_by != NO_EDGE]
        entries.sort()
        return entries
    if where == "cpu":
        marks = zeros(n_entries, np.bool_)
    else:
        marks = new_marks(n_entries, where)
        marks.fill(False)
    if is_few(len(hooked_by), where):
        marks[hooked_by[hooked_by != NO_EDGE]] = True
    else:
        mark_kept(len(hooked_by), hooked_by, marks)
    return marked(marks)


@each
def make_roots(vertex, parent, hooked_by):
    """Make every vertex a tree of its own."""
    parent[vertex] = vertex
    hooked_by[vertex] = NO_EDGE


@each.prefetch(lambda vertex, parent, least: (np.int64(parent[vertex]), least[parent[vertex]]))
def lower_least(vertex, seen, parent, least):
    """Lower the smallest vertex of a tree, at its root, to this one."""
    root, held = seen
    if vertex < held:
        fetch_min(least, root, vertex)


@each.prefetch(lambda vertex, parent, least: least[parent[vertex]])
def label_by_least(vertex, label, parent, least):
    """Replace the root of a vertex by the smallest vertex of its tree."""
    # race: threads past the end fetch what belongs to the last vertex, and use none of it
    parent[vertex] = label
