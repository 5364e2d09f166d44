"""Forests of dense graphs on several devices: light edges on one of them, heavy edges filtered by all.

Where a graph has many more edges than vertices, nearly all edges of its forest are among the lightest, about
three for each vertex.  Every worker sends its light edges to the first one, which finds their forest and
sends the labels of its trees back.  Then every worker looks up its other edges.  Few of them lead from one
tree to another, and these come after all light edges.  So their forest, as edges between labels, completes
the first one.  This is the filter step of :mod:`~edgewise.forest.filter`, in which most of the work is that
of looking up edges, and the workers do it at the same time.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, each, streams
from edgewise.forest.filter import NO_FILTER, SAMPLE, is_inside, mark_giant
from edgewise.forest.order import key_of, words_of
from edgewise.forest.reduction import Edges, concatenated, keys_only, solve
from edgewise.primitives import take
from edgewise.primitives.marks import marked, new_marks
from edgewise.primitives.vote import VOTERS, vote

#: Light edges for each vertex.
PER_VERTEX = 3
#: Edges that are selected at a time.
BLOCK_EDGES = 1 << 28


class Part(NamedTuple):
    """The edges of a worker, on its device: consecutive ones, from position ``first`` on."""

    sources: Any
    targets: Any
    weights: Any
    first: int


class Trees(NamedTuple):
    """The trees of the light edges.

    Attributes
    ----------
    labels : (n,) index array
        The smallest vertex of each vertex's tree.
    in_giant : (ceil(n / 8),) uint8 array
        Whether each vertex is in the giant tree, a bit each, as in :mod:`~edgewise.forest.filter`.
    """

    labels: Any
    in_giant: Any


@each.prefetch(lambda edge, sources, targets, order, key, marks: key_of(order, edge))
def mark_light(edge, own_key, sources, targets, order, key, marks):
    """Mark an edge whose key is not larger than ``key``, unless it is a self-loop."""
    marks[edge] = own_key <= key and sources[edge] != targets[edge]


@each.prefetch(
    lambda edge, sources, targets, order, key, trees, marks: (
        key_of(order, edge),
        np.int64(sources[edge]),
        np.int64(targets[edge]),
    )
)
def mark_between(edge, read, sources, targets, order, key, trees, marks):
    """Mark an edge whose key is larger than ``key``, and whose ends are in different trees."""
    own_key, one, other = read
    is_between = own_key > key and (is_inside(one, trees) & is_inside(other, trees)) == 0
    if is_between:
        is_between = trees.labels[one] != trees.labels[other]
    marks[edge] = is_between


def light_key(goal, weights):
    """The largest key of light edges, by a sample of the weights; ``None`` if most edges are light."""
    share = PER_VERTEX * goal.n_vertices / max(len(weights), 1)
    if len(weights) < SAMPLE or share > NO_FILTER:
        return None
    order = keys_only(weights, goal.maximum)
    sample = arrays.move(order.bits[:: len(weights) // SAMPLE].copy(), "cpu")
    keys = np.sort(words_of(order._replace(bits=sample)))
    return int(keys[int(share * len(keys))])


def _selected(part, maximum, mark, *given):
    """The :class:`~edgewise.forest.reduction.Edges` of a part that a loop marks."""
    where, pieces = arrays.device_of(part.sources), []
    for start in range(0, max(len(part.sources), 1), BLOCK_EDGES):
        sources, targets, weights = (column[start : start + BLOCK_EDGES] for column in part[:3])
        marks = new_marks(len(sources), where)
        mark(len(sources), sources, targets, keys_only(weights, maximum), *given, marks)
        chosen = marked(marks)
        ends = take(sources, chosen), take(targets, chosen)
        pieces.append(Edges(*ends, take(weights, chosen), chosen + (part.first + start)))
    return concatenated(pieces, part.sources.dtype)


def light_edges(part, maximum, key):
    """The light edges of a worker."""
    return _selected(part, maximum, mark_light, key)


def trees_of(labels):
    """The trees of labels, with bits of the giant one."""
    where, n = arrays.device_of(labels), len(labels)
    giant, in_giant = arrays.zeros(1, np.int64, where), arrays.empty(-(-n // 8), np.uint8, where)
    vote(VOTERS, labels, n, giant)
    mark_giant(len(in_giant), labels, giant, in_giant)
    return Trees(labels, in_giant)


def edges_between(part, maximum, key, labels):
    """The other edges of a worker that lead from one tree to another, by the labels on its device."""
    return _selected(part, maximum, mark_between, key, trees_of(labels))


def gathered(edges, where):
    """The edges of all workers, in their order, on one device."""
    moved = [Edges(*(streams.copy_to(column, where) for column in one)) for one in edges]
    return concatenated(moved, edges[0].sources.dtype)


def forest_of_light(goal, edges):
    """Positions of the forest's edges among all, and labels, by the light edges of all workers."""
    chosen, labels = solve(goal, *edges[:3])
    return edges.positions[chosen], labels


def completed(goal, positions, labels, edges):
    """The same with the edges between the trees of the light edges."""
    if not len(edges.sources):
        return positions, labels
    xp = arrays.namespace(labels)
    chosen, joined = solve(goal, labels[edges.sources], labels[edges.targets], edges.weights)
    positions = xp.concatenate([positions, edges.positions[chosen]])
    positions.sort()
    return positions, joined[labels]
