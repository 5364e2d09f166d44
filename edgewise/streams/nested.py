"""The reducer of streams of components at several thresholds: nested components that grow with the numbers.

:class:`JoinNested` is what a stream of tables is told to keep, in the place of
:class:`~edgewise.streams.union.Union`.  A batch has the levels of its rows, the thresholds that their scores
reach, for weights; the labels of vertices are words of :mod:`~edgewise.components.nested`.  As in streams of
one threshold, rows are joined while others are decoded, and nothing of them is kept.
"""

from threading import Lock

import numpy as np

from edgewise.components.nested import NONE, join, join_edge, settle
from edgewise.components.rem import fetch_later
from edgewise.components.threshold_limits import checked, limits_of
from edgewise.components.threshold_result import ThresholdComponents
from edgewise.components.thresholds import N_LEVELS, WORD
from edgewise.device import arrays, compiled
from edgewise.errors import GraphError, OutOfMemoryError
from edgewise.ingest.arrow import numpy_array
from edgewise.ingest.columns import weight_type
from edgewise.ingest.pair_columns import check_distinct
from edgewise.ingest.scores import weight_column
from edgewise.streams.forest import Weights
from edgewise.streams.union import FIRST_ROOM, USABLE

#: Rows whose levels are written together, so that they stay in the nearest cache.
BLOCK = np.uint64(1 << 10)
_0 = np.uint64(0)


@compiled
def write_levels(weights, thresholds, levels):
    """Write how many thresholds each weight reaches, by one thread.

    Every weight is compared with all of them, so that the compiler compares several weights at once.
    """
    count = np.uint64(len(weights))
    for first in range(_0, count, BLOCK):
        end = min(first + BLOCK, count)
        for row in range(first, end):
            levels[row] = 0
        for limit in thresholds:
            for row in range(first, end):
                levels[row] += np.uint8(limit <= weights[row])


@compiled
def join_levels_alone(nested, occurs, sources, targets, levels):
    """Join the ends of edges at their levels by one thread; return False at the first one without a word.

    Vertices of edges that join nothing are marked: those of self-loops, and of a level of 0.
    """
    end = np.uint64(len(nested))
    for edge in range(np.uint64(len(sources))):
        fetch_later(edge, nested, sources, targets)
        source, target = np.uint64(sources[edge]), np.uint64(targets[edge])
        if source >= end or target >= end:
            return False
        level = np.uint64(levels[edge])
        if source == target or level == NONE:
            occurs[source], occurs[target] = 1, 1
        else:
            join(nested, source, target, level)
    return True


class NestedReducer:
    """Nested components of the vertices ``0 .. count - 1`` on the host, in ``words``.

    ``by_level`` are the numbers of edges.  Memory for vertices beyond ``count`` is only reserved.
    """

    def __init__(self):
        self.count, self.words = 0, np.zeros(0, np.uint64)
        self.by_level, self.lock = np.zeros(N_LEVELS, np.int64), Lock()

    def reserve(self, count):
        """Make room for ``count`` vertices, so that growing up to there copies nothing."""
        if count <= len(self.words):
            return
        needed, free = WORD * count, arrays.free_memory("cpu")
        if needed > USABLE * free:
            problem = f"cpu has too little memory for vertices up to {count - 1:,}"
            raise OutOfMemoryError(f"{problem}: {needed:,} bytes needed, {free:,} free; number the ids")
        words = np.zeros(count, np.uint64)
        words[: self.count] = self.words[: self.count]
        self.words = words

    def grow_to(self, count):
        """Ensure at least ``count`` vertices."""
        if count > len(self.words):
            self.reserve(max(count, 2 * len(self.words), FIRST_ROOM))
        self.count = max(self.count, count)

    def prepare_beside(self, count):
        """Make words of ``count`` vertices for :meth:`join_beside`; return whether that can be used."""
        self.grow_to(count)
        return True

    def join_beside(self, columns, occurs, levels):
        """Join edges while other threads do so too, as :class:`~edgewise.streams.union.UnionReducer` does."""
        end = min(self.count, len(occurs))
        if not join_levels_alone(self.words[:end], occurs, *columns, levels):
            return None
        self._note(levels)
        return ()

    def join(self, columns, largest, weights=None):
        """Join edges with levels; without, vertices up to the ``largest`` are only counted."""
        self.grow_to(largest + 1)
        if weights is not None and len(weights.values):
            sources, targets = (np.ascontiguousarray(column) for column in columns)
            join_edge(len(sources), self.words[: self.count], sources, targets, weights.values)
            self._note(weights.values)

    def _note(self, levels):
        """Count edges by level."""
        counts = np.bincount(levels, minlength=N_LEVELS)
        with self.lock:
            self.by_level += counts

    def edges_reaching(self, count):
        """Number of edges that reach each of so many thresholds: (count,) int64 array."""
        return self.by_level[::-1].cumsum()[::-1][1 : count + 1].copy()

    def labels(self, last=False):
        """The words of the vertices, settled."""
        words = self.words[: self.count]
        settle(len(words), words)
        return words

    def complete(self):
        """Batches are joined when they are given."""

    def close(self):
        """There are no threads to stop."""

    def forest(self):
        """Nothing: the words stand for all edges."""


class JoinNested:
    """Problem of a stream of components at several ``thresholds`` of the scores in a column."""

    #: As of :class:`~edgewise.streams.union.Union`; at the end there are words, sizes, an order, levels,
    #: marks and ids.
    bytes_per_number = {"host": 26, "device": 8}
    numbers_at_least = 1 << 26
    #: Numbers are dense only if that is known beforehand, and a batch is joined as a whole.
    needs_ranges, leaves_edges = True, False
    facts: dict = {}

    def __init__(self, thresholds, score=None, weight=None):
        self.thresholds, self.score, self.weight = checked(thresholds), score, weight

    def chosen(self, files):
        """The problem with the column of the scores of some files."""
        schema = files.first_schema()
        weight = weight_column(True, self.score, schema.names)
        source, target = files.id_columns
        check_distinct(source, target, weight)
        weight_type(schema.field(weight))  # raises for what is no number
        return JoinNested(self.thresholds, self.score, weight)

    def reducer(self, team):
        """A new reducer."""
        return NestedReducer()

    def values_of(self, batch, pairs):
        """The levels of the rows of a batch."""
        import pyarrow as pa

        column = batch.column(self.weight)
        kind = np.dtype(weight_type(batch.schema.field(self.weight)))
        try:
            is_plain = column.type == pa.from_numpy_dtype(kind)
            weights = numpy_array(column if is_plain else column.cast(pa.from_numpy_dtype(kind)))
        except pa.ArrowInvalid:
            problem = f"column {self.weight!r} holds {column.type}, with a number that {kind} cannot hold"
            raise GraphError(f"{problem}; convert all weights to float64") from None
        levels = np.empty(len(weights), np.uint8)
        write_levels(weights, limits_of(self.thresholds, kind), levels)
        return levels

    def weights_of(self, batch, pairs):
        """The same of a batch that is joined in its turn."""
        return Weights(self.values_of(batch, pairs), pairs.stream.edges, are_levels=True)

    def result(self, graph, found, seconds, reducer, devices):
        """The result of a stream."""
        graph.had_weights, graph.weight_name = True, self.weight
        edges = reducer.edges_reaching(len(self.thresholds))
        edges.flags.writeable = False
        own = self.thresholds, edges, found.labels, None
        return ThresholdComponents(graph, "rem, streamed", seconds, *own, devices=devices)
