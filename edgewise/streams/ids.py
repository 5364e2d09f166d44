"""From the ids of a stream to the vertex numbers that a reducer joins, and back to ids at the end.

The three classes have the same methods: ``join(left, right, row_of, weights)`` joins the pairs of two Arrow
columns, where ``row_of(position)`` is the row in the file, and ``weights`` are
:class:`~edgewise.streams.forest.Weights` or ``None``; ``finish()`` returns the labels of the vertices and
their ids (``None`` if these are the vertex numbers); ``marks(count)`` are those of the vertices that may be
without an edge to another; ``state()`` returns arrays by name for a checkpoint, and
``restore(state)`` continues from them.  If ``joins_beside``, several threads may call
``join_beside(left, right, weights)`` at once, which returns what is left to be collected of the pairs, in
their turn, or ``None`` if it could not join them.

Labels are index arrays, or words of nested components (:mod:`~edgewise.components.nested`), in which a level
is beside the vertex; that remains where vertices are renumbered.

Where ids are vertex numbers, there is a parent for every number up to the largest id.  An id occurs if it has
another vertex as its label, if it is the label of another vertex, or if it has a self-loop; self-loops are
marked while the edges are read.  At the end counts of bits number the ids that occur in ascending order, and
labels are renumbered in place: blocks of labels move towards the beginning, and never overwrite labels that
are still to be read.
"""

from typing import NamedTuple

import numpy as np

from edgewise.components.nested import VERTEX, reordered
from edgewise.device import each
from edgewise.errors import GraphError, argument
from edgewise.index_type import index_type
from edgewise.ingest.arrow import ColumnNumbers, integers
from edgewise.ingest.integers import IntegerNumbers, Marks, marks_below
from edgewise.streams.graph import MarkedIds

#: Distinct ids that are restored at a time.
BLOCK = 1 << 18
#: Labels that are renumbered at a time.
LABELS_BLOCK = 1 << 20


class NotDenseError(Exception):
    """An id is negative or too large for a vertex number."""


class Plan(NamedTuple):
    """Mapping of the ids of a stream to vertex numbers.

    Attributes
    ----------
    rows : int or None
        Rows of all files, if that is known.
    ids : str
        ``"strings"``, ``"sparse"`` or ``"dense"`` integers.
    dtype : str
        Type of integers.
    limit, room : int
        Dense integers are smaller than ``limit``, as far as is known smaller than ``room``.
    """

    rows: int | None
    ids: str
    dtype: str = "int64"
    limit: int = 0
    room: int = 0

    def mapping(self, reducer, kinds, n_vertices, all_occur):
        """The mapping of ids of some Arrow types to the vertex numbers of a reducer."""
        if self.ids == "strings":
            return StringIds(reducer, kinds, self.rows or 0)
        if self.ids == "sparse":
            return SparseIds(reducer, self.dtype)
        reducer.reserve(self.room)
        return DenseIds(reducer, self.dtype, n_vertices, self.limit, all_occur)


class DenseIds:
    """Integers that are vertex numbers.

    Ids from ``limit`` on raise :class:`NotDenseError`, or GraphError if the caller gave ``n_vertices``;
    ``all_occur`` if vertices without an edge are in the result.
    """

    kind, joins_beside = "dense", False

    def __init__(self, reducer, dtype, n_vertices, limit, all_occur=False):
        self.reducer, self.dtype = reducer, np.dtype(dtype)
        self.n_vertices, self.limit, self.all_occur = n_vertices, limit, all_occur
        self.has_self_loop = np.zeros(0, np.uint8)

    def prepare_beside(self, room):
        """Prepare :meth:`join_beside` of ids below ``room``, if the reducer can do so."""
        self.joins_beside = room > 0 and self.reducer.prepare_beside(room)
        if self.joins_beside:
            self.has_self_loop = _resize(self.has_self_loop, max(room, len(self.has_self_loop)))

    def join_beside(self, left, right, weights=None):
        columns = tuple(integers(column, self.dtype) for column in (left, right))
        return self.reducer.join_beside(columns, self.has_self_loop, weights)

    def join(self, left, right, row_of, weights=None):
        columns = [integers(column, self.dtype) for column in (left, right)]
        largest = [largest_of(column) for column in columns]
        if any(end_of_numbers(column, self.limit) <= most for column, most in zip(columns, largest)):
            if self.n_vertices is not None:
                self._refuse(columns, row_of)
            raise NotDenseError
        if not self.all_occur:
            alone = columns[0] == columns[1]
            if weights is not None and weights.are_levels:
                alone |= weights.values == 0
            if alone.any():
                self._mark(np.concatenate([column[alone] for column in columns]))
        self.reducer.join(columns, max(largest), weights)

    def _refuse(self, columns, row_of):
        for column in columns:
            beyond = unsigned(column) >= end_of_numbers(column, self.n_vertices)
            if beyond.any():
                position = int(beyond.argmax())
                raise GraphError(
                    f"id {int(column[position])} in row {row_of(position):,} is no vertex number, as these "
                    f"run from 0 to {self.n_vertices - 1}; correct {argument('n_vertices')} or leave it out"
                )

    def _mark(self, vertices):
        needed = int(vertices.max()) + 1
        if needed > len(self.has_self_loop):
            self.has_self_loop = _resize(self.has_self_loop, max(needed, 2 * len(self.has_self_loop)))
        self.has_self_loop[vertices] = 1

    def finish(self):
        if self.all_occur:
            self.reducer.join((np.zeros(0, np.uint32),) * 2, self.n_vertices - 1)
            return self.reducer.labels(last=True), None
        labels, marks = self.reducer.labels(last=True), self.has_self_loop
        del self.has_self_loop
        return compact_ids(labels, _resize(marks, len(labels)), self.dtype)

    def marks(self, count):
        return np.ones(count, np.uint8) if self.all_occur else _resize(self.has_self_loop, count)

    def state(self):
        return {"marks": np.packbits(self.has_self_loop, bitorder="little")}

    def restore(self, state):
        if self.n_vertices is not None and len(state["labels"]) > self.n_vertices:
            raise ValueError("more labels than vertices")
        self.has_self_loop = np.unpackbits(state["marks"], bitorder="little")


class SparseIds:
    """Integers that are numbered in order of appearance."""

    kind, joins_beside = "sparse", False

    def __init__(self, reducer, dtype):
        self.reducer, self.dtype = reducer, np.dtype(dtype)
        self.numbers = IntegerNumbers(self.dtype)

    def join(self, left, right, row_of, weights=None):
        left, right = (integers(column, self.dtype) for column in (left, right))
        self.join_integers(left, right, weights)

    def join_integers(self, left, right, weights=None):
        """Join the pairs of two arrays."""
        for start in range(0, len(left), BLOCK):
            part = slice(start, start + BLOCK)
            own = None if weights is None else weights.part(part)
            self.reducer.join(self.numbers.add(left[part], right[part]), self.numbers.count - 1, own)

    def finish(self):
        """Return the labels of the ids in ascending order, and the ids."""
        labels, ids = self.reducer.labels(last=True), self.numbers.ids()
        del self.numbers
        order = np.argsort(ids)
        ids = ids[order]
        are_numbers = len(ids) == 0 or (int(ids[0]) == 0 and int(ids[-1]) == len(ids) - 1)
        return in_order(labels, order), None if are_numbers else ids

    def marks(self, count):
        return np.ones(count, np.uint8)

    def state(self):
        return {"ids": self.numbers.ids()}

    def restore(self, state):
        """Continue from a checkpoint; its labels are joined as pairs, as numbers may differ."""
        ids, labels = state["ids"], state["labels"]
        if ids.shape != labels.shape or ids.dtype != self.dtype:
            raise ValueError("not one id for each label")
        self.join_integers(ids, ids[labels])


class StringIds:
    """Strings that are numbered in order of appearance; ``expected`` rows, or 0 if unknown."""

    kind, joins_beside = "strings", False

    def __init__(self, reducer, kinds, expected):
        self.reducer, self.numbers = reducer, ColumnNumbers(kinds[0], kinds[1], expected)

    def join(self, left, right, row_of, weights=None):
        columns = np.empty(len(left), np.uint32), np.empty(len(right), np.uint32)
        self.numbers.add(left, right, *columns)
        self.reducer.join(columns, self.numbers.strings.count - 1, weights)

    def finish(self):
        return self.reducer.labels(last=True), self.numbers.ids()

    def marks(self, count):
        return np.zeros(count, np.uint8)

    def state(self):
        return self.numbers.state()

    def restore(self, state):
        self.numbers.restore(state, len(state["labels"]))


def unsigned(column):
    """The column as unsigned numbers, among which negative ones are the largest."""
    return column.view(f"u{column.itemsize}")


def end_of_numbers(column, limit=None):
    """The end of the vertex numbers below ``limit`` among unsigned numbers: negative ones begin there."""
    negative = 1 << (8 * column.itemsize - (column.dtype.kind == "i"))
    return negative if limit is None else min(limit, negative)


def largest_of(column):
    """Largest of the numbers taken as unsigned; -1 for an empty column."""
    return int(unsigned(column).max()) if len(column) else -1


def _resize(marks, length):
    """Marks of ``length`` vertices; the system allocates no memory for pages without a mark."""
    if len(marks) >= length:
        return marks[:length]
    longer = np.zeros(length, np.uint8)
    longer[: len(marks)] = marks
    return longer


def in_order(labels, order):
    """The labels of vertices in another order, each the first vertex of its component in that one."""
    if labels.dtype == np.uint64:
        return reordered(labels, order)
    labels = labels[order]
    smallest = np.empty(len(order), labels.dtype)
    smallest[labels[::-1]] = np.arange(len(order) - 1, -1, -1, dtype=labels.dtype)  # the last write stays
    return smallest[labels]


@each
def mark_members(vertex, labels, marks):
    """Mark a vertex with a smaller label, and its root."""
    root = np.uint64(labels[vertex]) & VERTEX
    if root != np.uint64(vertex):
        marks[vertex] = 1
        if not marks[root]:  # avoids concurrent writes to large roots
            marks[root] = 1


@each
def renumber(vertex, first, base, labels, marks, renumbered):
    """Write the new label of a vertex that occurs to its position in the block."""
    number = np.uint64(first + vertex)
    if marks.words[number >> np.uint64(6)] >> (number & np.uint64(63)) & np.uint64(1):
        word = np.uint64(labels[number])
        new = np.uint64(marks_below(word & VERTEX, marks))
        renumbered[marks_below(number, marks) - base] = (word & ~VERTEX) | new


def compact_ids(labels, marks, dtype=np.int64):
    """Labels of the vertices that occur, and their ids, which are ``None`` if all vertices occur.

    Both arrays are overwritten: the compressed ``labels``, and ``marks``, (n,) uint8, 1 for vertices with a
    self-loop.  The result is in the memory of ``labels`` if at least half of that is in use.
    """
    mark_members(len(labels), labels, marks)
    words = np.zeros(-(-len(labels) // 64), "<u8")
    words.view(np.uint8)[: -(-len(labels) // 8)] = np.packbits(marks, bitorder="little")
    before = np.zeros(len(words) + 1, np.int64 if len(labels) > np.iinfo(np.uint32).max else np.uint32)
    np.cumsum(np.bitwise_count(words), dtype=before.dtype, out=before[1:])
    count = int(before[-1])
    if count == len(labels):
        return labels, None
    for first in range(0, len(labels), LABELS_BLOCK):
        last = min(first + LABELS_BLOCK, len(labels))
        base, end = int(before[first // 64]), int(before[-(-last // 64)])
        renumbered = np.empty(end - base, labels.dtype)
        renumber(last - first, first, base, labels, Marks(words, before), renumbered)
        labels[base:end] = renumbered
    kind = labels.dtype if labels.dtype == np.uint64 else index_type(count)
    ids = MarkedIds(words, before, dtype)
    mostly_used = 2 * count > len(labels) and labels.dtype == kind
    return labels[:count] if mostly_used else labels[:count].astype(kind), ids
