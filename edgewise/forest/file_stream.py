"""Spanning forests of tables that are read once, row by row, and never held in memory.

The rows, their ids, checkpoints and interruptions are those of the streams of components
(:mod:`edgewise.components.file_stream`).  What joins the pairs there collects them here, with their weights,
and reduces them to their forest (:mod:`~edgewise.forest.reduction`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from edgewise.components.file_stream import FileStream, StreamedPairs
from edgewise.components.id_mapping import SparseIds
from edgewise.components.streamed_graph import MarkedIds
from edgewise.device import arrays
from edgewise.errors import GraphError, argument
from edgewise.forest import refuse_scores
from edgewise.forest.streamed import StreamReducer, check_forest, edges_of, streamed_forest
from edgewise.ingest.columns import weight_type
from edgewise.ingest.default_columns import choose_columns, default_weight
from edgewise.ingest.pair_columns import PairBatches, PairColumns, check_distinct, numbers_in


class ForestFileStream(FileStream):
    """The work of :func:`edgewise.stream_forest`; :meth:`choose_weights` comes before :meth:`run`."""

    bytes_per_number = {"host": 80, "device": 100}
    small = 1 << 22

    def choose_weights(self, weight, maximum):
        """Choose the column of weights, and whether large ones come first."""
        if weight is False:
            raise GraphError(f"a spanning forest needs weights; leave out {argument('weight', False)}")
        schema = self.shards.first_schema()
        chosen = choose_columns(schema.names, numbers_in(schema), *self.shards.id_columns, weight)
        if weight is None:
            third = default_weight(schema.names, numbers_in(schema), self.shards.id_columns)
            chosen = chosen._replace(weight=third)
            if third is None:
                raise GraphError(f"the tables have no third column of numbers; give {argument('weight')}")
            refuse_scores(chosen.weight, maximum)
        check_distinct(*self.shards.id_columns, chosen.weight)
        self.weight, self.maximum = chosen.weight, bool(maximum)
        if self.checkpoint is not None:
            self.checkpoint.inputs |= {"weight": self.weight, "maximum": self.maximum}

    def _pairs(self, schema):
        return StreamedEdges(schema, self)

    def _workers(self):
        return ForestWorkers(self.team[0].device, self.maximum)

    def _finish(self, pairs):
        forest = self.workers.found()[0].moved("cpu")
        sparse = isinstance(pairs.ids, SparseIds)
        order = np.argsort(pairs.ids.numbers.ids()) if sparse else None
        labels, ids = pairs.ids.finish()
        if order is None and isinstance(ids, MarkedIds):
            order = ids.between(0, len(ids))
        if order is not None:
            renumbered = np.empty(self.workers.count, labels.dtype)
            renumbered[order] = np.arange(len(order), dtype=labels.dtype)
            ends = renumbered[forest.sources], renumbered[forest.targets]
            forest = forest._replace(sources=ends[0], targets=ends[1])
        return forest, labels, ids

    def _result(self, found, seconds):
        forest, labels, ids = found
        how, graph = (self.workers.method, self.maximum), self._graph(labels, ids)
        graph.weight_name = self.weight
        return streamed_forest(graph, how, seconds, (forest, labels), self.device_names())

    def _resume(self, pairs, facts, state):
        forest = edges_of(state)
        check_forest(forest, state["labels"])
        if len(forest.positions) and int(forest.positions[-1]) >= facts["edges"]:
            raise ValueError("an edge that was not read")
        super()._resume(pairs, facts, state)
        if isinstance(pairs.ids, SparseIds):
            ids = state["ids"]
            self._add_renumbered(pairs.ids, forest, [ids[forest.sources], ids[forest.targets]])

    def to_sparse(self, dense):
        expected, forest = self.workers.expected, self.workers.found()[0].moved("cpu")
        self.workers.expected = None
        sparse = super().to_sparse(dense)
        self._add_renumbered(sparse, forest, forest[:2])
        self.workers.expected = expected
        return sparse

    def _add_renumbered(self, sparse, forest, ends):
        """Continue with a forest whose ends are ids that are in the table already."""
        numbers = sparse.numbers.add(*(column.astype(sparse.dtype) for column in ends))
        sources, targets = (np.array(column) for column in numbers)
        self.workers.restore_forest(forest._replace(sources=sources, targets=targets), sparse.numbers.count)


class ForestWorkers(StreamReducer):
    """What collects the edges of tables, in the place of workers that join pairs.

    The ids are mapped to vertex numbers in several calls for a batch; :meth:`expect` announces its weights.
    """

    def __init__(self, where, maximum):
        super().__init__(where, maximum)
        self.expected: Any = None

    def expect(self, weights, first):
        """Announce the weights of the edges that come next, at the positions from ``first`` on."""
        self.expected = weights, first

    def join(self, columns, largest):
        """Collect edges, if their weights are expected; otherwise the vertices are only counted."""
        if self.expected is None:
            self.grow_to(largest + 1)
            return
        (weights, first), count = self.expected, len(columns[0])
        if count:
            self.add(columns, weights[:count], first, largest)
        self.grow_to(largest + 1)
        self.expected = weights[count:], first + count

    def reserve(self, count):
        """Nothing is reserved; arrays have the length of what has been read."""

    def close(self):
        """There are no threads to stop."""

    def labels(self, last=False):
        """Labels on the host."""
        return np.array(arrays.move(self.found()[1], "cpu"))

    def restore(self, state):
        """Start from the state of an earlier run."""
        self.restore_forest(edges_of(state), len(state["labels"]))

    def restore_forest(self, forest, count):
        """Continue from a forest of ``count`` vertices."""
        self.continue_from(forest, np.arange(count, dtype=np.uint32))


class StreamedEdges(StreamedPairs):
    """Edges with weights that are collected."""

    def __init__(self, schema, stream):
        columns = stream.shards.id_columns, stream.columns
        given = columns[1]["where"], columns[1]["null"]
        wanted = PairColumns._make([*columns[0], stream.weight, *given, False])
        PairBatches.__init__(self, schema, wanted)
        self.stream, self.ids = stream, None
        self.kind = weight_type(schema.field(stream.weight))

    def _take(self, batch):
        import pyarrow as pa

        column = batch.column(self.weight)
        try:
            weights = column.cast(pa.from_numpy_dtype(self.kind)).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            problem = f"column {self.weight!r} holds {column.type}, with a number that {np.dtype(self.kind)}"
            raise GraphError(f"{problem} cannot hold; convert all weights to float64") from None
        workers = self.stream.workers
        weights = workers.check(weights, lambda row: f"the edge in row {self.row_in_file(row):,}")
        workers.expect(weights, self.stream.edges)
        super()._take(batch)
        workers.expected = None
