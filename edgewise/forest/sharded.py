"""Spanning forests of shards by the workers of an executor.

Parts of components (:mod:`~edgewise.components.shard_parts`) are pairs that join trees; those of forests are
the edges of a forest, which stands for all edges that were read (:mod:`~edgewise.forest.reduction`).  They
are in the order of the rows, so that ties are decided as by one process, and have their positions beside
them: in the rows of the task, and after a merge in those of all tasks that it is made of.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from edgewise.components.part_files import ENDS, part_file, table_writer
from edgewise.components.shard_parts import (
    PartOfStream,
    id_column,
    merged_files,
    merged_plan,
    occurring,
    single_pairs,
)
from edgewise.components.sharded import ShardedStream
from edgewise.components.tasks import TaskFolder
from edgewise.forest.file_stream import ForestFileStream
from edgewise.ingest.arrow import numpy_array


def forest_part(folder: TaskFolder, name: str, **given: Any) -> dict:
    """Task: the forest of some shards, as a part."""
    return ForestPart(**given).write(folder, name)


def merged_forest_part(folder: TaskFolder, name: str, *, parts: list[str], how: dict) -> dict:
    """Task: one part of several."""
    how = merged_plan(folder, parts, how) | {"weight": "weight"}
    part = ForestPart(merged_files(folder, parts), how)
    part.positions = positions_of(folder, parts)
    return part.write(folder, name, parts)


def positions_of(folder, parts):
    """Position, among all rows that were read, of each row of several parts, one behind the other."""
    import pyarrow as pa

    found, before = [], 0
    for part in parts:
        with pa.memory_map(str(folder.file(part_file(part)))) as file:
            positions = pa.ipc.open_file(file).read_all().column("position")
            found.append(numpy_array(positions) + before)
        before += folder.facts_of(part)["edges"]
    return np.concatenate(found)


class ForestPart(PartOfStream, ForestFileStream):
    """The forest of some files; ``positions`` are those of the rows, if these are other than 0, 1, ..."""

    positions: Any = None

    def __init__(self, files, how):
        super().__init__(files, how)
        self.weight, self.maximum = how["weight"], how["maximum"]

    def forest(self):
        """The edges of the forest, with the positions that they have among all rows."""
        forest = self.workers.found()[0].moved("cpu")
        return forest if self.positions is None else self._placed(forest)

    def _placed(self, forest):
        return forest._replace(positions=self.positions[forest.positions])

    def _write_part(self, pairs, folder, name):
        forest, count = self.forest(), self.workers.count
        kind, ids = id_column(pairs.ids, count)
        marks = occurring(pairs.ids, count)
        weights = forest.weights.dtype if len(forest.weights) else pairs.kind
        columns = dict.fromkeys(ENDS, kind) | {"weight": weights, "position": np.int64}
        with table_writer(folder, name, columns) as write:
            for ends in forest[:2]:
                marks[ends] = 0
            ends = forest[:2] if ids is None else [ids[column] for column in forest[:2]]
            write(*ends, forest.weights, forest.positions)
            for vertices, _ in single_pairs(marks):
                one = vertices if ids is None else ids[vertices]
                none = np.zeros(len(one), np.int64)
                write(one, one, none, none)
        return count


class ShardedForest(ShardedStream, ForestFileStream):
    """The work of :func:`edgewise.stream_forest` with ``client=``.

    As in :class:`ForestFileStream`, ``choose_weights`` comes before ``run``.
    """

    first_task, merge_task = staticmethod(forest_part), staticmethod(merged_forest_part)
    last_part = ForestPart

    def _inputs(self):
        return super()._inputs() | {"weight": self.weight, "maximum": self.maximum}

    def _how(self):
        return super()._how() | {"weight": self.weight, "maximum": self.maximum}

    def _found(self, folder, names, last):
        last.weight = "weight"
        found = super()._found(folder, names, last)
        last.positions = positions_of(folder, names)
        self.workers = last.workers
        return last._placed(found[0]), *found[1:]
