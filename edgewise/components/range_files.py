"""Files of numbers by ranges: what the tasks of :mod:`~edgewise.components.contraction` exchange.

A file has blocks, and a block has the rows of all ranges, one range after the other, column by column.
Beside the file is where each range begins in each block, so that the rows of a range are read without the
others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from edgewise.components.shard_strings import write_array
from edgewise.components.tasks import TaskFolder


class RangeWriter:
    """Context that writes rows of ``columns`` numbers by the range of the first; see :func:`columns_for`."""

    def __init__(self, folder: TaskFolder, name: str, ranges: Any, columns: int):
        self.folder, self.name, self.ranges = folder, name, ranges
        self.kinds: list[str] = [""] * columns
        self.starts: list[np.ndarray] = []

    def __enter__(self) -> RangeWriter:
        self.written = self.folder.written(f"{self.name}.rows")
        self.file = open(self.written.__enter__(), "wb")
        return self

    def add(self, *columns: np.ndarray) -> None:
        """Write a block."""
        count = len(self.ranges.numbers)
        ranges = (columns[0] // columns[0].dtype.type(self.ranges.width)).astype(np.uint16)
        order = np.argsort(ranges, kind="stable")
        if not len(order):
            return
        self.starts.append(np.concatenate([[0], np.cumsum(np.bincount(ranges, minlength=count))]))
        self.kinds = [str(column.dtype) for column in columns]
        for column in columns:
            self.file.write(column[order].data)

    def __exit__(self, *error: Any) -> Any:
        self.file.close()
        handled = self.written.__exit__(*error)
        if error[0] is None:
            starts = np.array(self.starts, np.int64).reshape(-1, 1 + len(self.ranges.numbers))
            write_array(self.folder, f"{self.name}.starts.npy", starts)
            counts = np.diff(starts, axis=1).sum(axis=0)
            self.facts = {"kinds": self.kinds, "counts": counts.tolist()}
        return handled


def columns_for(folder: TaskFolder, names: list[str], number: int) -> Iterator[tuple]:
    """Yield the columns of the rows of a range, block by block, from the files of some tasks."""
    for name in names:
        facts = folder.facts_of(name)
        if not facts["counts"][number]:
            continue
        kinds = [np.dtype(kind) for kind in facts["kinds"]]
        starts = np.load(folder.file(f"{name}.starts.npy"), mmap_mode="r")
        place = 0
        with open(folder.file(f"{name}.rows"), "rb") as file:
            for begin, end, rows in zip(starts[:, number], starts[:, number + 1], starts[:, -1]):
                columns = []
                for kind in kinds:
                    if end > begin:
                        file.seek(place + int(begin) * kind.itemsize)
                        columns.append(np.fromfile(file, kind, int(end - begin)))
                    place += int(rows) * kind.itemsize
                if end > begin:
                    yield tuple(columns)
