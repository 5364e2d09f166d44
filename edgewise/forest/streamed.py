"""The forest of a stream: what collects its edges, and the result, which has no other edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from edgewise.components.checkpoint import check_labels
from edgewise.device import arrays
from edgewise.errors import GraphError
from edgewise.forest import METHODS, choose
from edgewise.forest.reduction import Edges, Goal, Reducer, capacity_for
from edgewise.forest.result import SpanningForest
from edgewise.index_type import index_type
from edgewise.primitives import count
from edgewise.result import cached_array

#: Types of weights, and those that hold them exactly.
HELD_BY = {"int32": ("int64", "float64"), "float32": ("float64",)}
#: Largest number of edges that are filtered together.
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


class StreamReducer:
    """The forest of a stream on one device: vertices and the type of weights are known by its batches only.

    ``count`` vertices are known so far.
    """

    def __init__(self, where, maximum):
        self.device, self.maximum, self.count = where, bool(maximum), 0
        self.method = choose(where)
        self.reducer: Any = None
        self.sized_for = 0

    @property
    def weight_type(self):
        """Type of the weights so far; ``None`` before the first."""
        return None if self.reducer is None else self.reducer.weight_type

    def grow_to(self, count):
        """Ensure at least ``count`` vertices."""
        self.count = max(self.count, count)

    def check(self, weights, name_of):
        """Weights as those before; ``name_of(position)`` names an edge in messages.

        GraphError if they do not fit the type of those before, or one is NaN.
        """
        before = self.weight_type
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

    def add(self, columns, weights, first, largest):
        """Add checked edges at the positions from ``first`` on; no vertex is larger than ``largest``."""
        self.grow_to(largest + 1)
        with arrays.guard(self.device):
            self._prepared(weights)
            size, kind = min(SEGMENT_EDGES, self.reducer.capacity), index_type(self.count)
            for start in range(0, max(len(weights), 1), size):
                part = slice(start, start + size)
                ends = (arrays.move(column[part], self.device).astype(kind, copy=False) for column in columns)
                here = arrays.contiguous(arrays.move(weights[part], self.device))
                self.reducer.add(*map(arrays.contiguous, ends), here, first + start)

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

    def state(self):
        """Arrays by name, on the host, from which :meth:`continue_from` continues."""
        forest, labels = self.found()
        return {name: arrays.move(column, "cpu") for name, column in forest._asdict().items()} | {
            "labels": arrays.move(labels, "cpu")
        }

    def continue_from(self, forest, labels):
        """Continue from a forest, on the host, and its labels."""
        check_forest(forest, labels)
        self.grow_to(len(labels))
        if not len(forest.positions):
            return
        with arrays.guard(self.device):
            self._prepared(forest.weights)
            self.reducer.forest, self.reducer.labels = forest.moved(self.device), None


def check_forest(forest, labels):
    """Raise ValueError unless these are edges and labels of a forest, as far as is seen at once."""
    check_labels(labels)
    counts, n = {len(column) for column in forest}, len(labels)
    kinds = [column.dtype.kind for column in forest]
    if len(counts) != 1 or not set(kinds[:2]) <= set("iu") or kinds[2] not in "if" or kinds[3] != "i":
        raise ValueError("the columns of the edges do not go together")
    ends = np.concatenate(forest[:2])
    if len(ends) and not 0 <= int(ends.min()) <= int(ends.max()) < n:
        raise ValueError("an edge has an end that is no vertex")
    positions = forest.positions
    if len(positions) and (int(positions[0]) < 0 or bool((positions[1:] <= positions[:-1]).any())):
        raise ValueError("the positions of the edges do not ascend")


def edges_of(state):
    """The :class:`~edgewise.forest.reduction.Edges` among the arrays of a saved state."""
    return Edges(*(state[name] for name in Edges._fields))


def streamed_forest(graph, how, seconds, found, devices):
    """The result of a stream: ``found`` are edges and labels, ``how`` the method and ``maximum``."""
    forest, labels = found
    method, maximum = how
    graph.had_weights = True
    ends = forest.sources, forest.targets, forest.weights
    given = graph, f"{method}, streamed", seconds, forest.positions, labels, maximum, False
    return StreamedForest(*given, *ends, devices=devices)
