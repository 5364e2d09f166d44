"""Forest reduction: the forest of many edges, by the forests of some of them.

An edge that is not in the forest of some edges is the last one of a cycle of them, so it is in no forest of
more edges either (the cycle property).  Hence the forest of ``A + B`` is that of ``forest(A) + B``, as long
as all edges are compared in one order: a forest, of fewer edges than the graph has vertices, stands for all
the edges that were read before, on one device or on several.

Edges keep their positions in the whole edge list, which may be 2**32 and larger.  Lists of edges are in
the order of the positions, so the numbers of a list's own entries break ties as the positions would.

:class:`Reducer` collects edges until they are many, and then reduces them together with the forest so far.
Most of the edges that come later need not be collected.  The *filter* has the trees of the lightest edges of
the forest, up to each of a few keys: an edge of this key or a larger one that leads from a tree to itself
comes after all edges of a path between its ends.  With random weights and ``m`` edges read before, about
``1.5 n / m`` of the following edges are left (Karger, Klein and Tarjan sample edges for the same purpose).

D. R. Karger, P. N. Klein and R. E. Tarjan, "A randomized linear-time algorithm to find minimum spanning
trees" (JACM 1995); Osipov, Sanders and Singler, "The Filter-Kruskal Minimum Spanning Tree Algorithm" (2009).
"""

from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from edgewise.components.rem import AHEAD, union
from edgewise.components.trees import compress, make_singletons
from edgewise.device import arrays, compiled, device, each
from edgewise.device.prefetch import prefetch
from edgewise.forest.filter import SAMPLE, Entries
from edgewise.forest.order import LARGEST, key_of, order_of, words_of
from edgewise.forest.trees import kept_entries
from edgewise.index_type import index_type
from edgewise.method import kind_of
from edgewise.primitives import take
from edgewise.primitives.marks import marked, new_marks
from edgewise.primitives.thread_pool import ThreadPool

#: Edges for each vertex that are collected before they are reduced, by the kind of device.
COLLECTED = {"cpu": 4, "cuda": 16}
#: Edges that are collected even of few vertices.
COLLECTED_EDGES = 1 << 22
#: Share of the free memory of a device that may be taken.
USABLE = 0.9
#: Shares of the forest's edges up to which each level of the filter goes.
LEVELS = (0.8, 0.95, 0.99, 1.0)


class Edges(NamedTuple):
    """Edges in the order of their positions, on one device.

    Attributes
    ----------
    sources, targets : (k,) index arrays
    weights : (k,) array
    positions : (k,) int64 array
        Ascending.
    """

    sources: Any
    targets: Any
    weights: Any
    positions: Any

    def taken(self, chosen):
        """The edges at some indices, which ascend, or in a slice."""
        return Edges(*(column[chosen] for column in self))

    def moved(self, where):
        """The edges on another device."""
        return Edges(*(arrays.move(column, where) for column in self))


class Goal(NamedTuple):
    """The forest of ``n_vertices`` that is wanted, the heaviest one if ``maximum``, by the driver ``run``."""

    n_vertices: int
    maximum: bool
    run: Any


class Filter(NamedTuple):
    """Trees of the lightest edges of a forest.

    Attributes
    ----------
    keys : tuple of int
        One for each level, ascending: it has the edges of the forest up to this key.  Levels that are not
        there have the largest key.
    labels : (levels * n,) index array
        The smallest vertex of each vertex's tree, level by level.
    n_vertices : int
    """

    keys: Any
    labels: Any
    n_vertices: int


@device
def level_of(key, keys):
    """The last level whose key is not larger; -1 if there is none."""
    level = np.int64(-1)
    for one in keys:
        level += np.int64((one <= key) & (one != LARGEST))
    return level


@device
def is_wanted(one, other, key, known):
    """Whether an edge of two vertices is no self-loop, and does not come after a path between its ends."""
    if one == other or max(one, other) >= known.n_vertices:
        return one != other
    level = level_of(key, known.keys)
    first = max(level, np.int64(0)) * known.n_vertices
    return (level < 0) | (known.labels[first + one] != known.labels[first + other])


@each
def mark_wanted(edge, sources, targets, order, known, marks):
    """Mark an edge unless the filter leaves it out."""
    one, other = np.int64(sources[edge]), np.int64(targets[edge])
    marks[edge] = is_wanted(one, other, key_of(order, edge), known)


@compiled
def filter_edges(columns, order, known, has_self_loop, end, kept):
    """Copy the edges that the filter does not leave out; return their number, -1 if an end is no vertex.

    Vertices are those below ``end``, and those with a self-loop are marked.  Weights are copied as their
    bits, and positions are those in the columns.
    """
    sources, targets = columns
    end, count = np.uint64(end), np.int64(0)
    last = len(sources) - 1
    for edge in range(len(sources)):
        if known.n_vertices:  # start to read the labels of a later edge
            later = min(edge + AHEAD, last)
            first = max(level_of(key_of(order, later), known.keys), np.int64(0)) * known.n_vertices
            prefetch(known.labels, first + np.int64(sources[later]))
            prefetch(known.labels, first + np.int64(targets[later]))
        source, target = np.uint64(sources[edge]), np.uint64(targets[edge])
        if source >= end or target >= end:
            return np.int64(-1)
        one, other = np.int64(source), np.int64(target)
        if one == other:
            has_self_loop[one] = 1
        kept.sources[count], kept.targets[count] = one, other
        kept.weights[count], kept.positions[count] = order.bits[edge], edge
        count += np.int64(is_wanted(one, other, key_of(order, edge), known))
    return count


@partial(each, ascending=True)
def unite_up_to(edge, parent, sources, targets, order, key):
    """Join the ends of an edge whose key is not larger than ``key``."""
    if key_of(order, edge) <= key:
        union(parent, sources[edge], targets[edge])


def keys_only(weights, maximum):
    """The order of entries by their keys, whatever their positions."""
    return order_of(weights[:0], maximum)._replace(bits=bits_of(weights), packed=0)


def bits_of(weights):
    """Weights as integers of the same bits."""
    return weights.view(np.int64 if weights.itemsize == 8 else np.int32)


def new_filter(goal, forest):
    """The filter by a forest of at least one edge."""
    where, n, count = arrays.device_of(forest.sources), goal.n_vertices, len(forest.sources)
    order = keys_only(forest.weights, goal.maximum)
    sample = arrays.move(order.bits[:: -(-count // SAMPLE)].copy(), "cpu")
    words = np.sort(words_of(order._replace(bits=sample)))
    keys = np.unique(words[[int(share * (len(words) - 1)) for share in LEVELS]])
    labels = arrays.empty(len(keys) * n, forest.sources.dtype, where)
    parent = arrays.empty(n, labels.dtype, where)
    make_singletons(n, parent)
    for level, key in enumerate(keys.tolist()):
        unite_up_to(count, parent, forest.sources, forest.targets, order, key)
        compress(n, parent)
        labels[level * n : (level + 1) * n] = parent
    return filter_of(keys.tolist(), labels, n)


def filter_of(keys, labels, n_vertices):
    """The filter with some levels, or none."""
    return Filter(tuple(keys + [LARGEST] * (len(LEVELS) - len(keys))), labels, n_vertices)


def solve(goal, sources, targets, weights):
    """Positions of the forest's edges in a list, ascending, and the smallest vertex of each vertex's tree."""
    no_rows = arrays.empty(0, np.int64, arrays.device_of(sources))
    entries = Entries(sources, targets, no_rows, 0, order_of(weights, goal.maximum))
    hooked_by, labels = goal.run(goal.n_vertices, entries)[:2]
    return kept_entries(hooked_by, len(sources)), labels


def concatenated(pieces, kind):
    """The edges of pieces that follow each other, with ends of type ``kind``; the list becomes empty.

    The pieces of a column may then be freed before the next column is made.
    """
    columns = [list(column) for column in zip(*pieces)]
    pieces.clear()
    edges = Edges._make(map(_joined, columns))
    sources, targets = (ends.astype(kind, copy=False) for ends in edges[:2])
    return edges._replace(sources=sources, targets=targets)


def _joined(column):
    """The arrays of a list as one; the list becomes empty, and all cores copy."""
    where, kinds, starts = arrays.device_of(*column), {one.dtype for one in column}, [0]
    if len(column) == 1:
        return column.pop()
    if where != "cpu" or len(kinds) > 1:
        whole = arrays.namespace(column[0]).concatenate(column)
    else:
        starts += np.cumsum([len(one) for one in column]).tolist()
        whole = np.empty(starts[-1], column[0].dtype)
        parts = [whole[start:stop] for start, stop in pairwise(starts)]
        ThreadPool(len(column)).starmap(np.copyto, list(zip(parts, column)))
    column.clear()
    return whole


def bytes_per_edge(n_vertices, weights):
    """Bytes of an edge on a device while edges are reduced: collected, a column twice, and listed."""
    end = np.dtype(index_type(n_vertices)).itemsize
    return (2 * end + weights.itemsize + 8) + 8 + 2 * end + 16


def bytes_needed(n_vertices, weights, capacity):
    """Bytes that a reducer needs on its device: for the edges collected, the forest, and the trees."""
    end = np.dtype(index_type(n_vertices)).itemsize
    trees = 56 + (len(LEVELS) + 3) * end
    return (capacity + n_vertices) * bytes_per_edge(n_vertices, weights) + n_vertices * trees


def whole_bytes_needed(n_vertices, weights, count, copied):
    """Bytes for the forest of ``count`` edges at once, which may have to be copied to the device first."""
    end = np.dtype(index_type(n_vertices)).itemsize
    edge = 2 * end + 16 + (2 * end + weights.itemsize if copied else 0)
    return bytes_needed(n_vertices, weights, 0) + count * edge


def capacity_for(n_vertices, weights, where, reserved=0):
    """The number of edges to collect on a device, which may have less memory than would be best.

    ``reserved`` bytes are for others.  OutOfMemoryError if there is not even memory for a few edges.
    """
    best = max(COLLECTED[kind_of(where)] * n_vertices, COLLECTED_EDGES)
    least = min(best, max(n_vertices // 2, 1 << 16))
    free = USABLE * arrays.free_memory(where) - reserved
    room = free - bytes_needed(n_vertices, weights, 0)
    capacity = min(best, int(room // bytes_per_edge(n_vertices, weights)))
    if capacity < least:
        raise arrays.out_of_memory(bytes_needed(n_vertices, weights, least) + reserved, where)
    return capacity


class Reducer:
    """The forest of edges that are added in the order of their positions, on one device.

    Up to ``capacity`` edges are collected before they are reduced.  Then ``forest`` are the :class:`Edges`
    of their forest, and ``labels`` the smallest vertex of each vertex's tree.
    """

    def __init__(self, goal, where, capacity):
        self.goal, self.device, self.capacity = goal, where, capacity
        self.collected, self.n_collected = [], 0
        self.forest, self.labels, self.filter = None, None, None
        self.reductions = 0

    @property
    def weight_type(self):
        """Type of the weights; ``None`` before the first edges."""
        pieces = [self.forest, *self.collected] if self.forest is not None else self.collected
        return pieces[0].weights.dtype if pieces else None

    def add(self, sources, targets, weights, first):
        """Add edges at the positions from ``first`` on; the arrays may be overwritten later."""
        where = self.device
        with arrays.guard(where):
            marks = new_marks(len(sources), where)
            order = keys_only(weights, self.goal.maximum)
            mark_wanted(len(sources), sources, targets, order, self.known(sources.dtype), marks)
            wanted = marked(marks)
            if self.is_full(len(wanted)):
                self.reduce()
            ends = take(sources, wanted), take(targets, wanted)
            self.collect(Edges(*ends, take(weights, wanted), wanted + first))

    def is_full(self, count):
        """Whether what has been collected is to be reduced before so many edges are."""
        return self.n_collected > 0 and self.n_collected + count > self.capacity

    def collect(self, edges):
        """Collect edges without asking the filter."""
        if len(edges.sources) or not self.collected:
            self.collected.append(edges)
            self.n_collected += len(edges.sources)

    def finish(self):
        """Reduce what has been collected, after one call of ``add`` at least."""
        with arrays.guard(self.device):
            if self.n_collected or self.labels is None or len(self.labels) != self.goal.n_vertices:
                self.reduce()
            arrays.synchronize(self.device)

    def known(self, kind):
        """The filter, which is made if there is none; ``kind`` is the type of ends."""
        if self.filter is None:
            if self.forest is not None and len(self.forest.sources):
                self.filter = new_filter(self.goal, self.forest)
            else:
                self.filter = filter_of([], arrays.empty(0, kind, self.device), 0)
        return self.filter

    def reduce(self):
        """Reduce the edges collected to their forest with the one so far."""
        pieces = ([] if self.forest is None else [self.forest]) + self.collected
        self.collected, self.forest, self.filter = [], None, None
        edges = concatenated(pieces, index_type(self.goal.n_vertices))
        self.collected, self.n_collected = [edges], len(edges.sources)
        chosen, self.labels = solve(self.goal, *edges[:3])
        self.forest = edges.taken(chosen)
        self.collected, self.n_collected = [], 0
        self.reductions += 1
