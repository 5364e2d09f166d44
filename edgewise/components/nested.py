"""Nested components as one forest: which smaller vertex each vertex joins, and at which level.

The components of a level are unions of those of the next higher one, and each is called by its smallest
vertex.  A vertex that is the smallest of its component at the highest level may meet a smaller one at some
level, and is never the smallest again.  So there is one level for each vertex, and one vertex that is the
smallest of its component there: its *root*.  The label of a vertex at a level is where the way along the
roots ends that have joined others at this level or before:

    label = vertex
    while joined_at[label] >= level:
        label = roots[label]

That takes five bytes for each vertex, however many levels there are, and all labels of a vertex are on one
way, which has a step for each label that differs from the one before.  The sizes of components come from the
same forest: each vertex adds what it has to its root, once.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.components.sizes import STRETCH, STRETCH_OF_CORE
from edgewise.components.trees import put_below_root
from edgewise.device import arrays, device, each, each_row, fetch_add, fetch_max
from edgewise.device.warps import inclusive_scan
from edgewise.errors import VerificationError
from edgewise.primitives import filled

#: Vertices, in equal distances, that show which component grows most.
SAMPLE = 1 << 12
#: Blocks of a multiprocessor.
BLOCKS = 8

_each_stretch = each_row.by(max_blocks_per_sm=BLOCKS, least_chunk=1)


class Nested(NamedTuple):
    """Nested components.

    Attributes
    ----------
    joined_at : (n,) uint8 array
        Highest level at which a vertex is not the smallest of its component; 0 if there is none.
    roots : (n,) index array
        The smallest vertex of its component at that level; 0 if there is none.
    """

    joined_at: Any
    roots: Any


class Growth(NamedTuple):
    """What the components of a level are added up from.

    Attributes
    ----------
    nested : Nested
    sizes : (n,) index array
        Members at the smallest vertices.
    found : (2,) int64 array
        Size of the largest component, and number of vertices that have joined others.
    """

    nested: Nested
    sizes: Any
    found: Any


@partial(each, ascending=True)
def note_joined(vertex, level, parent, nested):
    """Note that a vertex is no root any more, if this level is the first of those."""
    above = parent[vertex]
    if (nested.joined_at[vertex] == 0) & (np.int64(above) != vertex):  # one branch, seldom taken
        nested.roots[vertex] = put_below_root(vertex, above, parent[above], parent)
        nested.joined_at[vertex] = level


@device
def label_below(label, level, nested):
    """The label at a level of a vertex that has this label at the next higher one: it joins at most once.

    Both are read, since a branch would be predicted wrongly.
    """
    root = nested.roots[label]
    return root if nested.joined_at[label] >= level else label


@each
def write_labels(item, vertices, n_levels, nested, labels):
    """Write the labels of a vertex at all levels, those of the lowest level first."""
    label = vertices[item]
    for level in range(n_levels, 0, -1):
        label = label_below(label, level, nested)
        labels[(level - 1) * len(vertices) + item] = label


@each
def write_names(item, vertices, ids, n_levels, nested, names):
    """Write the ids, which are integers, of the labels of a vertex at all levels."""
    label = vertices[item]
    for level in range(n_levels, 0, -1):
        label = label_below(label, level, nested)
        names[(level - 1) * len(vertices) + item] = ids[label]


@each
def write_level(vertex, level, nested, labels):
    """Write the label of a vertex at one level."""
    label = labels.dtype.type(vertex)
    while nested.joined_at[label] >= level:
        label = nested.roots[label]
    labels[vertex] = label


@_each_stretch
def add_joined(stretch, lane, lanes, length, level, giant, growth):
    """Add the sizes of the components of a stretch that join others at a level to those of these.

    What joins the component that grows most is added up first.
    """
    nested, sizes, found = growth
    first, own, to_giant, largest = stretch * length, np.int64(0), np.int64(0), np.int64(0)
    for vertex in range(first + lane, min(first + length, len(sizes)), lanes):
        if nested.joined_at[vertex] == level:
            own += 1
            size, root = np.int64(sizes[vertex]), np.int64(nested.roots[vertex])
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


def new_nested(n, dtype, where) -> Nested:
    """Vertices on a device that have joined no others."""
    return Nested(arrays.zeros(n, np.uint8, where), arrays.zeros(n, dtype, where))


def labels_at(nested, level):
    """The label of each vertex at one level: (n,) index array on the device of the forest."""
    n, where = len(nested.roots), arrays.device_of(nested.roots)
    labels = arrays.empty(n, nested.roots.dtype, where)
    write_level(n, level, nested, labels)
    return labels


def labels_of(nested, n_levels, vertices, ids=None):
    """Labels of some vertices at all levels, or the ids of these, which are integers: (levels, vertices)."""
    found = np.empty(n_levels * len(vertices), nested.roots.dtype if ids is None else ids.dtype)
    if ids is None:
        write_labels(len(vertices), vertices, n_levels, nested, found)
    else:
        write_names(len(vertices), vertices, ids, n_levels, nested, found)
    return found.reshape(n_levels, len(vertices))


def check_nested(nested, n_levels):
    """Raise VerificationError unless what vertices of host arrays join are roots: ways end, and skip none."""
    joined = np.flatnonzero(nested.joined_at)
    levels, roots = nested.joined_at[joined], nested.roots[joined]
    wrong = (roots >= joined) | (levels > n_levels)
    if not wrong.any():
        wrong = nested.joined_at[roots] >= levels
    if wrong.any():
        vertex = joined[wrong.argmax()]
        root = nested.roots[vertex]
        raise VerificationError(f"vertex {vertex} joins vertex {root}, which is no root there")


def counts_and_largest(nested, n_levels):
    """Number of components and size of the largest one at each level: (levels,) int64 arrays on the host."""
    n, where = len(nested.roots), arrays.device_of(nested.roots)
    dtype, length = nested.roots.dtype, STRETCH_OF_CORE if where == "cpu" else STRETCH
    sizes = filled(n, 1, dtype) if where == "cpu" else arrays.full(n, 1, dtype, where)
    growth = Growth(nested, sizes, arrays.move(np.array([min(n, 1), 0]), where))
    giants, rows = _growing_most(nested, n_levels), []
    for level in range(n_levels, 0, -1):
        add_joined(-(-n // length), length, level, giants[level], growth, width="warp")
        rows.append(arrays.move(growth.found, "cpu").tolist())
    largest, joined = np.array(rows[::-1], np.int64).T
    return n - joined, largest


def _growing_most(nested, n_levels):
    """The component of each level that most vertices of a sample join there; -1 where none does."""
    n = len(nested.roots)
    step = max(1, n // SAMPLE)
    joined_at, roots = (arrays.move(arrays.contiguous(one[::step]), "cpu") for one in nested)
    found = [-1] * (n_levels + 1)
    for level in range(1, n_levels + 1):
        own, counts = np.unique(roots[joined_at == level], return_counts=True)
        if len(own):
            found[level] = int(own[counts.argmax()])
    return found
