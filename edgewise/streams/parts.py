"""Parts: what a task finds in some shards of a table, written as a smaller table.

The components of some edges are those of a few pairs, which join each vertex to the root of its tree.  Such a
*part*, of fewer pairs than there are vertices, stands for all rows that were read (Hellås 2018 merges devices
by the same rule), and so do the edges of a spanning forest.  It is a table of pairs, so parts are merged by
reading them as the shards were read, which gives the same result whatever is merged with what, and in which
order.

A vertex that has no other edge than one to itself is a pair with itself.  Strings are written apart
(:mod:`~edgewise.streams.strings`), and the pairs of such a part are numbers in the part.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from edgewise.device import arrays, threads
from edgewise.index_type import index_type
from edgewise.ingest.arrow import arrow_array, numpy_array
from edgewise.primitives.counting_sort import gather
from edgewise.streams.file_stream import FileStream
from edgewise.streams.ids import Plan, SparseIds, StringIds
from edgewise.streams.strings import numbers_of, write_strings
from edgewise.streams.tasks import TaskFolder
from edgewise.workers import device_team

#: Columns of the ids in a part.
ENDS = ("source", "target")
#: Vertices without another edge that are written at a time.
BLOCK = 1 << 18
#: How a part is read.
READING = {"source": "source", "target": "target", "where": None, "null": "error"}


def part_of_shards(folder: TaskFolder, name: str, **given: Any) -> dict:
    """Task: what some shards hold, as a part; see :class:`Part` for what is given."""
    return Part(**given).write(folder, name)


def merged_part(folder: TaskFolder, name: str, *, parts: list[str], how: dict) -> dict:
    """Task: one part of several."""
    return Part.of_parts(folder, parts, merged_plan(folder, parts, how)).write(folder, name)


def renumbered_part(
    folder: TaskFolder, name: str, *, part: str, position: int, tables: list[list[str]], count: int
) -> dict:
    """Task: rewrite a part with the numbers of its strings; ``tables`` are dictionaries and their numbers."""
    import pyarrow as pa

    facts = folder.facts_of(part)
    numbers = np.empty(facts["numbers"], index_type(count))
    for own, found in numbers_of(folder, part, position, tables):
        numbers[own] = found
    with pa.memory_map(str(folder.file(part_file(part)))) as file:
        stored = pa.ipc.open_file(file)
        kinds = {field.name: field.type.to_pandas_dtype() for field in stored.schema}
        with table_writer(folder, name, kinds | dict.fromkeys(ENDS, numbers.dtype)) as write:
            for number in range(stored.num_record_batches):
                batch = stored.get_batch(number)
                columns = dict(zip(batch.schema.names, map(numpy_array, batch.columns)))
                columns |= {end: gather(numbers, columns[end]) for end in ENDS}
                write(*columns.values())
    largest = int(numbers.max()) + 1 if len(numbers) else 0
    return facts | {"ids": "dense", "numbers": largest}


def part_file(part: str) -> str:
    """Name of the file with the table of a part."""
    return f"{part}.pairs.arrow"


@contextmanager
def table_writer(folder, name, kinds):
    """Context with a function that appends columns of the types ``kinds`` to the table of a task."""
    import pyarrow as pa

    types = [pa.from_numpy_dtype(np.dtype(kind)) for kind in kinds.values()]
    schema = pa.schema(list(zip(kinds, types)))
    with folder.written(part_file(name)) as path, pa.ipc.new_file(str(path), schema) as writer:

        def write(*columns):
            if not len(columns[0]):
                return
            given = zip(columns, kinds.values())
            values = [arrow_array(column.astype(kind, copy=False)) for column, kind in given]
            writer.write_batch(pa.record_batch(values, schema=schema))

        yield write


def merged_plan(folder, parts, how):
    """The ``how`` by which parts are read: as vertex numbers, unless one has other integers."""
    facts = [folder.facts_of(part) for part in parts]
    plan = Plan(*how["plan"])
    kinds = {one["ids"] for one in facts}
    room = max(one["numbers"] for one in facts)
    plan = plan._replace(ids="sparse" if "sparse" in kinds else "dense", room=min(room, plan.limit))
    how = how | {"plan": plan, "problem": how["problem"].in_parts()}
    return how | {"columns": READING, "n_vertices": None, "attempt": 0}


class Part(FileStream):
    """A stream in a task: it reads some of the files and writes a part.

    Parameters
    ----------
    files : dict
        The ``paths`` of the files, in order, and the ``first`` of all files, whose columns all have.
    how : dict
        ``columns``, ``problem`` and ``n_vertices``, as for a stream; ``plan``; ``attempt``, for text;
        ``device``; ``all_occur``, whether all numbers are vertices; and for strings ``pieces`` and
        ``is_first``, as :func:`~edgewise.streams.strings.write_strings` takes them.
    """

    def __init__(self, files: dict, how: dict):
        own, first = files["paths"], files["first"]
        paths = own if own[0] == first else [first, *own]
        team = device_team(arrays.resolve(how["device"]))
        super().__init__(paths, dict(how["columns"]), how["problem"], how["n_vertices"], team)
        self.begin, self.how = (len(paths) - len(own), 0), how
        self.plan = Plan(*how["plan"])
        self.numbered = how["all_occur"]
        self.target: Any = None
        #: Facts of the parts that are read, and positions of their rows among those of all files.
        self.facts: list[dict] = []
        self.positions: Any = None

    @classmethod
    def of_parts(cls, folder: TaskFolder, parts: list[str], how: dict) -> Part:
        """The part that other parts are merged to."""
        paths = [str(folder.file(part_file(part))) for part in parts]
        merged = cls({"paths": paths, "first": paths[0]}, how)
        merged.facts = [folder.facts_of(part) for part in parts]
        if merged.problem.weight is not None:
            merged.positions = _positions(paths, merged.facts)
        return merged

    def write(self, folder: TaskFolder, name: str) -> dict:
        """Read the files and write the part; return its facts, with those of the parts it is made of."""
        self.target = folder, name
        return self.found()

    def found(self) -> Any:
        """Read the files; return what is found in them, or the facts of the part that was written."""
        with self.copies:
            return self._run(self.how["attempt"], None, None)

    def _warn_if_empty(self, pairs):
        """Nothing: the rows of other tasks may have been kept."""

    def _forest(self):
        forest = super()._forest()
        if forest is None or self.positions is None:
            return forest
        return forest._replace(positions=self.positions[forest.positions])

    def _finish(self, pairs):
        return super()._finish(pairs) if self.target is None else self._write(pairs, *self.target)

    def _facts(self, pairs):
        """Counts of what was read, and the devices."""
        read = self.facts or [{"edges": self.edges, "rows": pairs.rows, "kept_any": pairs.kept_any}]
        sums = {name: sum(one[name] for one in read) for name in ("edges", "rows")}
        return sums | {"kept_any": any(one["kept_any"] for one in read), "devices": list(self.team.names)}

    def _write(self, pairs, folder, name):
        facts = {"ids": pairs.ids.kind} | self._facts(pairs)
        with ThreadPoolExecutor(1) as pool:  # strings are written while the table is
            strings = pool.submit(self._write_strings, pairs, folder, name, threads.count())
            facts["numbers"] = self._write_table(pairs, folder, name)
            strings.result()
        return facts

    def _write_strings(self, pairs, folder, name, n_threads):
        if isinstance(pairs.ids, StringIds):
            threads.use(n_threads)
            ids = pairs.ids.numbers.ids()
            write_strings(folder, name, ids, self.how["pieces"], self.how["is_first"])

    def _write_table(self, pairs, folder, name):
        """Write the table; return the number of vertex numbers."""
        forest, labels = self._forest(), self.reducer.labels(last=True)
        kind: Any = np.uint32 if len(labels) <= 1 << 32 else np.int64
        marks, ids = pairs.ids.marks(len(labels)), None
        if isinstance(pairs.ids, SparseIds):
            kind, ids = pairs.ids.dtype, pairs.ids.numbers.ids()
        others = self.problem.columns(pairs, forest)
        with table_writer(folder, name, dict.fromkeys(ENDS, kind) | others) as write:
            for block in self.problem.blocks(labels, forest, marks):
                write(*(column if ids is None else ids[column] for column in block[:2]), *block[2:])
            for start in range(0, len(marks), BLOCK):
                single = np.flatnonzero(marks[start : start + BLOCK]) + start
                one = single if ids is None else ids[single]
                write(one, one, *[np.zeros(len(one), np.int64)] * len(others))
        return len(labels)


def _positions(paths, facts):
    """Position, among all rows that were read, of each row of some parts, one behind the other."""
    import pyarrow as pa

    found, before = [], 0
    for path, one in zip(paths, facts):
        with pa.memory_map(path) as file:
            positions = pa.ipc.open_file(file).read_all().column("position")
            found.append(numpy_array(positions) + before)
        before += one["edges"]
    return np.concatenate(found)
