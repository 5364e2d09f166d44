"""Trees get consecutive numbers after the first round, where what is kept for a vertex exceeds the cache.

Rounds read the roots of trees and what was offered to them in no order.  The first round leaves about a third
of the vertices of a sparse graph as roots, but a GPU reads 32 bytes of memory for each of them, wherever they
are among the others.  With numbers of their own, what the later rounds read is three times smaller, and most
of it stays in the cache of the GPU.

The numbers ascend with the roots.  A root's number is written into the array of parents, with one bit more
that says so; then every vertex walks up to its root as in any compression of paths, and holds the number of
its tree.
"""

import numpy as np

from edgewise.components.trees import make_singletons
from edgewise.device import arrays, device, each
from edgewise.forest.trees import NO_EDGE, Trees, without_offers
from edgewise.primitives.marks import marked, new_marks

#: A bit that a number of a tree has, and a vertex has not.
NUMBERED = 1 << 31
#: Vertices from which on trees are renumbered: those whose parents and words exceed the cache of an H200.
FROM = {"cpu": NUMBERED, "cuda": 1 << 22}


def is_renumbered(n_vertices, where) -> bool:
    """Whether the trees of so many vertices on a device are renumbered."""
    return FROM[where.partition(":")[0]] <= n_vertices < NUMBERED


@device
def number_of(numbers, vertex):
    """The number of a vertex's tree."""
    return np.int64(numbers[vertex]) & np.int64(NUMBERED - 1)


@device
def tree_of(trees, vertex):
    """The tree of a vertex, where all paths are of one step."""
    if len(trees.numbers):
        return number_of(trees.numbers, vertex)
    return np.int64(trees.parent[vertex])


@each.prefetch(lambda vertex, parent, marks: parent[vertex])
def mark_root(vertex, above, parent, marks):
    """Mark a vertex that is a root."""
    marks[vertex] = np.int64(above) == vertex


@each
def number_root(number, roots, parent):
    """Replace the parent of a root, which is itself, by its number."""
    parent[roots[number]] = number | np.int64(NUMBERED)


@each.prefetch(lambda vertex, numbers: (numbers[vertex], numbers[number_of(numbers, vertex)]))
def spread_number(vertex, seen, numbers):
    """Replace the parent of a vertex by the number of its tree, which its root has; every step is stored."""
    above, beyond = np.int64(seen[0]), np.int64(seen[1])
    if above & np.int64(NUMBERED) == 0:
        numbers[vertex] = beyond  # race: who walks by way of an earlier value comes to the same number
        while beyond & np.int64(NUMBERED) == 0:
            beyond = np.int64(numbers[beyond])
            numbers[vertex] = beyond  # race: who walks by way of an earlier value comes to the same number


@each.prefetch(lambda vertex, numbers, parent: parent[number_of(numbers, vertex)])
def root_of_number(vertex, root, numbers, parent):
    """Replace the number of a vertex's tree by that of the tree into which it was merged."""
    # race: threads past the end fetch what belongs to the last vertex, and use none of it
    numbers[vertex] = root


@each
def return_to_root(number, roots, trees, of_vertices):
    """Keep the edge that a tree has taken at the root that it had, which is a vertex of the tree."""
    of_vertices.hooked_by[roots[number]] = trees.hooked_by[number]
    of_vertices.offers[number] = roots[number]


def renumber(trees):
    """The trees of all vertices as vertices of their own, without offers, and their roots.

    The parents of ``trees`` become the numbers of the trees, and their offers are used again.
    """
    where, n_vertices = arrays.device_of(trees.parent), len(trees.parent)
    marks = new_marks(n_vertices, where)
    mark_root(n_vertices, trees.parent, marks)
    roots = marked(marks)
    number_root(len(roots), roots, trees.parent)
    spread_number(n_vertices, trees.parent)
    parent = arrays.empty(len(roots), trees.parent.dtype, where)
    make_singletons(len(roots), parent)
    hooked_by = arrays.full(len(roots), NO_EDGE, np.int64, where)
    found = Trees(parent, hooked_by, trees.offers[: len(roots)], trees.positions, trees.parent)
    return without_offers(found), roots


def merge_numbered(trees, roots, of_vertices):
    """Return the edges of renumbered trees, whose paths are of one step, to the trees of all vertices.

    The parents of the vertices become the numbers of the roots, whose offers are vertices of their trees.
    """
    return_to_root(len(roots), roots, trees, of_vertices)
    root_of_number(len(trees.numbers), trees.numbers, trees.parent)
