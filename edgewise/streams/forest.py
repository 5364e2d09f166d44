"""The reducer of streams of forests: it collects edges and reduces them to their forest.

The forest stands for all edges that were read (:mod:`~edgewise.forest.reduction`).  :class:`KeepForest` is
what a stream of tables is told to keep, in the place of :class:`~edgewise.streams.union.Union`.  Parts that
tasks write of it are the edges of a forest, in the order of the rows, so that ties are decided as by one
process.  They have their positions beside them: in the rows of the task, and after a merge in those of all
tasks that it is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError, argument
from edgewise.forest import METHODS, choose, refuse_scores
from edgewise.forest.reduction import (
    Edges,
    Goal,
    Reducer,
    bits_of,
    capacity_for,
    filter_edges,
    filter_of,
    keys_only,
)
from edgewise.forest.result import SpanningForest
from edgewise.index_type import index_type
from edgewise.ingest.default_columns import choose_columns, default_weight
from edgewise.ingest.pair_columns import check_distinct, numbers_in
from edgewise.primitives import count
from edgewise.result import cached_array

#: Types of weights, and those that hold them exactly.
HELD_BY = {"int32": ("int64", "float64"), "float32": ("float64",)}
#: Edges that are filtered together.
SEGMENT_EDGES = 1 << 23


@dataclass(frozen=True, eq=False, repr=False)
class StreamedForest(SpanningForest):
    """A spanning forest of edges that were not kept, except for its own.

    ``edges`` are positions among all edges of the stream, in the order in which they came.  To verify, pass a
    graph that has them in this order.
    """

    _sources: Any = None
    _targets: Any = None
    _weights: Any = None

    @cached_array
    def sources(self):
        """First end of each edge: (n_edges,) vertex numbers."""
        return self._sources

    @cached_array
    def targets(self):
        """Second end of each edge: (n_edges,) vertex numbers."""
        return self._targets

    @cached_array
    def weights(self):
        """Weight of each edge: (n_edges,) array."""
        return self._weights


class Weights(NamedTuple):
    """Checked weights of edges at the positions from ``first`` on, or levels, of which 0 joins nothing."""

    values: Any
    first: int
    are_levels: bool = False

    def part(self, rows):
        """Those in a slice with a start."""
        return self._replace(values=self.values[rows], first=self.first + rows.start)


class ForestReducer:
    """The forest of a stream on one device: vertices and the type of weights are known by its batches only.

    ``count`` vertices are known so far.
    """

    def __init__(self, where, maximum):
        self.device, self.maximum, self.count = where, bool(maximum), 0
        self.method = choose(where)
        self.reducer: Any = None
        self.sized_for = 0

    def grow_to(self, count):
        """Ensure at least ``count`` vertices."""
        self.count = max(self.count, count)

    def check(self, weights, name_of):
        """Weights as those before; ``name_of(position)`` names an edge in messages.

        GraphError if they do not fit the type of those before, or one is NaN.
        """
        before = None if self.reducer is None else self.reducer.weight_type
        if before not in (None, weights.dtype):
            if before.name not in HELD_BY.get(weights.dtype.name, ()):
                problem = f"weights are {weights.dtype}, and those so far are {before}"
                raise GraphError(f"{problem}; convert all of them to one type")
            weights = weights.astype(before)
        if weights.dtype.kind == "f" and len(weights):
            bad = arrays.namespace(weights).isnan(weights)
            if count(bad):
                edge = name_of(int(bad.argmax()))
                raise GraphError(f"{edge} weighs NaN, which has no order; fill or drop such edges first")
        return weights

    def join(self, columns, largest, weights=None):
        """Collect edges with :class:`Weights`; without, vertices up to the ``largest`` are only counted."""
        self.grow_to(largest + 1)
        if weights is None or not len(weights.values):
            return
        with arrays.guard(self.device):
            self._prepared(weights.values)
            size, kind = min(SEGMENT_EDGES, self.reducer.capacity), index_type(self.count)
            for start in range(0, len(weights.values), size):
                part = slice(start, start + size)
                ends = (arrays.move(column[part], self.device).astype(kind, copy=False) for column in columns)
                here = arrays.contiguous(arrays.move(weights.values[part], self.device))
                self.reducer.add(*map(arrays.contiguous, ends), here, weights.first + start)

    def _prepared(self, weights):
        """The reducer, which is made, or told how many vertices there are now."""
        n = self.count
        if self.reducer is None or n > 2 * self.sized_for:
            capacity = capacity_for(n, weights, self.device)
            self.sized_for = n
            if self.reducer is None:
                self.reducer = Reducer(self._goal(), self.device, capacity)
            self.reducer.capacity = capacity
        self.reducer.goal = self._goal()
        return self.reducer

    def _goal(self):
        return Goal(self.count, self.maximum, METHODS[self.method].run)

    def found(self):
        """The :class:`~edgewise.forest.reduction.Edges` of the forest so far, and labels."""
        if self.reducer is None:
            with arrays.on(self.device):
                weights = arrays.empty(0, np.float64, self.device)
                reducer, self.reducer = self._prepared(weights), None
                ends = (arrays.empty(0, np.uint32, self.device) for _ in range(2))
                reducer.add(*ends, weights, 0)
                reducer.finish()
                return reducer.forest, reducer.labels
        self.reducer.goal = self._goal()
        self.reducer.finish()
        return self.reducer.forest, self.reducer.labels

    def forest(self):
        """The edges of the forest, on the host."""
        return self.found()[0].moved("cpu")

    def labels(self, last=False):
        """Labels on the host, a copy."""
        return np.array(arrays.move(self.found()[1], "cpu"))

    def reserve(self, count):
        """Nothing is reserved; arrays have the length of what has been read."""

    def prepare_beside(self, count):
        """Know all vertices for :meth:`join_beside`; return whether that can be used."""
        if self.device == "cpu":
            self.grow_to(count)
        return self.device == "cpu"

    def join_beside(self, columns, has_self_loop, weights):
        """The edges of a batch that may be in the forest, for :meth:`collect`, while other threads do so too.

        They are found by the filter of an earlier forest.  Positions are those in the batch.  Returns None if
        the batch has to be joined in its turn, where errors are told.
        """
        reducer = self.reducer
        known = None if reducer is None else reducer.filter
        if reducer is not None and reducer.weight_type not in (None, weights.dtype):
            return None
        if weights.dtype.kind == "f" and np.isnan(weights).any():
            return None
        m, kind, end = len(weights), index_type(self.count), min(self.count, len(has_self_loop))
        known = known or filter_of([], np.empty(0, kind), 0)
        kept = Edges(np.empty(m, kind), np.empty(m, kind), np.empty_like(weights), np.empty(m, np.int64))
        order, bits = keys_only(weights, self.maximum), kept._replace(weights=bits_of(kept.weights))
        count = filter_edges(columns, order, known, has_self_loop, end, bits)
        if count < 0:
            return None
        found = kept.taken(slice(count))
        return found if 2 * count > m else Edges(*(column.copy() for column in found))

    def collect(self, edges, first, alone):
        """Collect edges of :meth:`join_beside`, in order; their batch begins at the position ``first``.

        They are reduced in the context ``alone()``, in which no other thread joins.
        """
        reducer = self._prepared(edges.weights)
        if reducer.is_full(len(edges.sources)):
            with alone():
                reducer.reduce()
                reducer.known(edges.sources.dtype)
        reducer.collect(edges._replace(positions=edges.positions + first))

    def complete(self):
        """Batches are joined when they are given."""

    def close(self):
        """There are no threads to stop."""

    def state(self):
        """Arrays by name, on the host, from which :meth:`restore` continues."""
        return self.forest()._asdict() | {"labels": self.labels()}

    def restore(self, state):
        """Start from the state of an earlier run, which is checked."""
        self.continue_from(edges_of(state), len(state["labels"]))

    def continue_from(self, forest, count):
        """Continue from a forest, on the host, of ``count`` vertices."""
        self.grow_to(count)
        if not len(forest.positions):
            return
        with arrays.guard(self.device):
            self._prepared(forest.weights)
            self.reducer.forest, self.reducer.labels = forest.moved(self.device), None


def check_forest(state, n_edges):
    """Raise ValueError unless a state has edges of a forest, of so many edges, as far as is seen at once."""
    forest, n = edges_of(state), len(state["labels"])
    counts = {len(column) for column in forest}
    kinds = [column.dtype.kind for column in forest]
    if len(counts) != 1 or set(kinds[:2]) not in ({"i"}, {"u"}) or kinds[2] not in "if" or kinds[3] != "i":
        raise ValueError("the columns of the edges do not go together")
    ends = np.concatenate(forest[:2])
    if len(ends) and not 0 <= int(ends.min()) <= int(ends.max()) < n:
        raise ValueError("an edge has an end that is no vertex")
    positions = forest.positions
    if len(positions) and (int(positions[0]) < 0 or bool((positions[1:] <= positions[:-1]).any())):
        raise ValueError("the positions of the edges do not ascend")
    if len(positions) and int(positions[-1]) >= n_edges:
        raise ValueError("an edge that was not read")


def edges_of(state):
    """The :class:`~edgewise.forest.reduction.Edges` among the arrays of a saved state."""
    return Edges(*(state[name] for name in Edges._fields))


def streamed_forest(graph, reducer, seconds, found, devices):
    """The result of a stream: ``found`` are edges and labels."""
    forest, labels = found
    graph.had_weights = True
    ends = forest.sources, forest.targets, forest.weights
    method = f"{reducer.method}, streamed"
    given = graph, method, seconds, forest.positions, labels, reducer.maximum, False
    return StreamedForest(*given, *ends, devices=devices)


class KeepForest:
    """Problem of a stream of a forest: a spanning forest of the edges with the weights in a column.

    The column is chosen, and ``maximum`` is as for :func:`edgewise.stream_forest`.
    """

    #: As of :class:`~edgewise.streams.union.Union`.
    bytes_per_number = {"host": 80, "device": 100}
    numbers_at_least = 1 << 22
    needs_ranges, leaves_edges = False, True

    def __init__(self, weight, maximum):
        self.weight, self.maximum = weight, bool(maximum)

    @property
    def facts(self):
        """Choices that a checkpoint depends on, beside the inputs."""
        return {"weight": self.weight, "maximum": self.maximum}

    def chosen(self, files):
        """The problem with the column of weights of some files."""
        if self.weight is False:
            raise GraphError(f"a spanning forest needs weights; leave out {argument('weight', False)}")
        schema, (source, target) = files.first_schema(), files.id_columns
        numbers = numbers_in(schema)
        weight = choose_columns(schema.names, numbers, source, target, self.weight).weight
        if self.weight is None:
            weight = default_weight(schema.names, numbers, (source, target))
            if weight is None:
                raise GraphError(f"the tables have no third column of numbers; give {argument('weight')}")
            refuse_scores(weight, self.maximum)
        check_distinct(source, target, weight)
        return KeepForest(weight, self.maximum)

    def in_parts(self):
        """The problem for the tables that tasks have written."""
        return KeepForest("weight", self.maximum)

    def reducer(self, team):
        """A new reducer on the device of a team."""
        return ForestReducer(team[0].device, self.maximum)

    def weights_of(self, batch, pairs):
        """The checked weights of a batch of ``pairs``."""
        stream, values = pairs.stream, self.values_of(batch, pairs)
        values = stream.reducer.check(values, lambda row: f"the edge in row {pairs.row_in_file(row):,}")
        return Weights(values, stream.edges)

    def values_of(self, batch, pairs):
        """The weights of a batch of ``pairs``, in one type for all batches."""
        import pyarrow as pa

        column = batch.column(self.weight)
        try:
            return column.cast(pa.from_numpy_dtype(pairs.weight_type)).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            problem = f"column {self.weight!r} holds {column.type}, with a number that "
            remedy = f"{np.dtype(pairs.weight_type)} cannot hold; convert all weights to float64"
            raise GraphError(f"{problem}{remedy}") from None

    def check(self, state, n_edges):
        """Raise ValueError unless this can be the state of a stream of so many edges; labels are checked."""
        check_forest(state, n_edges)

    def forest_of(self, state):
        """The forest in the state of a stream."""
        return edges_of(state)

    def result(self, graph, found, seconds, reducer, devices):
        """The result of a stream."""
        graph.weight_name = self.weight
        return streamed_forest(graph, reducer, seconds, (found.forest, found.labels), devices)

    # what a task writes of it

    def columns(self, pairs, forest):
        """Columns of a part beside the ends of its pairs, and their types."""
        kind = forest.weights.dtype if len(forest.weights) else pairs.weight_type
        return {"weight": kind, "position": np.int64}

    def blocks(self, labels, forest, marks):
        """Yield the forest as a block of rows; unmark the ends of its edges."""
        for ends in forest[:2]:
            marks[ends] = 0
        yield forest
