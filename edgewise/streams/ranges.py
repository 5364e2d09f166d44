"""Files of numbers by ranges: what the tasks of :mod:`~edgewise.streams.contraction` exchange.

A file has blocks, and a block has the rows of all ranges, one range after the other, column by column.
Beside the file is where each range begins in each block, so that the rows of a range are read without the
others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import numpy as np

from edgewise.device import threads
from edgewise.streams.tasks import TaskFolder

#: Rows of a block.
BLOCK = 1 << 20
#: Threads that sort blocks, and blocks that wait for them, since each is in memory three times.
SORTERS = 4


class RangeWriter:
    """Context that writes rows of ``columns`` numbers by the range of the first; see :func:`columns_for`."""

    def __init__(self, folder: TaskFolder, name: str, ranges: Any, columns: int):
        self.folder, self.name, self.ranges = folder, name, ranges
        self.kinds: list[str] = [""] * columns
        self.starts: list[np.ndarray] = []
        self.waiting: list[tuple] = []
        self.rows = 0
        #: Blocks that threads sort by ranges.
        self.blocks: deque = deque()

    def __enter__(self) -> RangeWriter:
        self.opened = self.folder.opened(f"{self.name}.rows")
        self.file = self.opened.__enter__()
        self.pool = ThreadPoolExecutor(min(threads.count(), SORTERS))
        return self

    def add(self, *columns: np.ndarray) -> None:
        """Write rows, once they are enough for a block."""
        self.waiting.append(columns)
        self.rows += len(columns[0])
        if self.rows >= BLOCK:
            self._write()

    def _write(self, waiting=SORTERS):
        """Have the rows that wait sorted as a block, and write blocks until so many are ``waiting``."""
        if self.rows:
            self.blocks.append(self.pool.submit(self._sorted, self.waiting))
            self.waiting, self.rows = [], 0
        while len(self.blocks) > waiting:
            starts, columns = self.blocks.popleft().result()
            self.starts.append(starts)
            self.kinds = [str(column.dtype) for column in columns]
            for column in columns:
                self.file.write(column.data)

    def _sorted(self, parts):
        """Where each range begins in a block of rows, and the columns of these by ranges."""
        columns = [np.concatenate(one) for one in zip(*parts, strict=True)]
        if len(self.ranges.numbers) == 1:
            return np.array([0, len(columns[0])]), columns
        ranges = (columns[0] // columns[0].dtype.type(self.ranges.width)).astype(np.uint16)
        order = np.argsort(ranges, kind="stable")
        starts = np.cumsum([0, *np.bincount(ranges, minlength=len(self.ranges.numbers))])
        return starts, [column[order] for column in columns]

    def __exit__(self, *error: Any) -> Any:
        with self.pool:
            if error[0] is None:
                self._write(waiting=0)
        handled = self.opened.__exit__(*error)
        if error[0] is None:
            starts = np.array(self.starts, np.int64).reshape(-1, 1 + len(self.ranges.numbers))
            self.folder.write_array(f"{self.name}.starts.npy", starts)
            counts = np.diff(starts, axis=1).sum(axis=0)
            self.facts = {"kinds": self.kinds, "counts": counts.tolist()}
        return handled


def columns_for(folder: TaskFolder, names: list[str], number: int) -> Iterator[tuple]:
    """Yield the columns of the rows of a range, about a block at a time, from the files of some tasks."""
    waiting: list[tuple] = []
    rows = 0
    for columns in chain.from_iterable(_slices(folder, name, number) for name in names):
        waiting.append(columns)
        rows += len(columns[0])
        if rows >= BLOCK:
            yield tuple(np.concatenate(parts) for parts in zip(*waiting, strict=True))
            waiting, rows = [], 0
    if rows:
        yield tuple(np.concatenate(parts) for parts in zip(*waiting, strict=True))


def _slices(folder, name, number):
    """Yield the columns of the rows of a range in each block of a file that has some."""
    kinds = [np.dtype(kind) for kind in folder.facts_of(name)["kinds"]]
    starts = folder.mapped(f"{name}.starts.npy")
    place = 0
    with open(folder.file(f"{name}.rows"), "rb") as file:
        for begin, end, rows in zip(*starts[:, [number, number + 1, -1]].T.tolist()):
            columns = []
            for kind in kinds:
                if end > begin:
                    file.seek(place + begin * kind.itemsize)
                    columns.append(np.fromfile(file, kind, end - begin))
                place += rows * kind.itemsize
            if columns:
                yield tuple(columns)
