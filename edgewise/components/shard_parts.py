"""Tasks over the shards of a table: what one task finds in some files, written as a smaller table.

The components of some edges are those of a few pairs, which join each vertex to the root of its tree.  Such a
*part*, of fewer pairs than there are vertices, stands for all rows that were read (Hellås 2018 merges devices
by the same rule).  It is a table of pairs, so parts are merged by reading them as the shards were read, which
makes the same labels whatever is merged with what, and in which order.

A vertex that has no other edge than one to itself is a pair with itself.  Strings are written apart
(:mod:`~edgewise.components.shard_strings`), and the pairs of such a part are numbers in the part.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from edgewise.components.file_stream import FileStream, Plan
from edgewise.components.id_mapping import DenseIds, SparseIds, StringIds
from edgewise.components.part_files import ENDS, part_file, table_writer
from edgewise.components.shard_strings import write_strings
from edgewise.components.tasks import TaskFolder
from edgewise.device import arrays, threads
from edgewise.primitives.thread_pool import ThreadPool
from edgewise.workers import device_team

#: Rows of a block of a part.
BLOCK = 1 << 18
#: How a part is read.
READING = {"source": "source", "target": "target", "where": None, "null": "error"}


def components_part(folder: TaskFolder, name: str, **given: Any) -> dict:
    """Task: the components of some shards, as a part; see :class:`Part` for what is given."""
    return Part(**given).write(folder, name)


def merged_part(folder: TaskFolder, name: str, *, parts: list[str], how: dict) -> dict:
    """Task: one part of several."""
    return Part(merged_files(folder, parts), merged_plan(folder, parts, how)).write(folder, name, parts)


def merged_files(folder, parts):
    """The files of parts, as a :class:`Part` takes them."""
    paths = [str(folder.file(part_file(part))) for part in parts]
    return {"paths": paths, "first": paths[0]}


def merged_plan(folder, parts, how):
    """How parts are read: as vertex numbers, unless one of them was found to have other integers."""
    facts = [folder.facts_of(part) for part in parts]
    plan = Plan(*how["plan"])
    kinds = {one["ids"] for one in facts}
    room = max(one["numbers"] for one in facts)
    plan = plan._replace(ids="sparse" if "sparse" in kinds else "dense", room=min(room, plan.limit))
    return how | {"plan": plan, "columns": READING, "n_vertices": None, "attempt": 0}


class PartOfStream:
    """What a stream of tables becomes in a task: it reads some of the files and writes a part.

    Parameters
    ----------
    files : dict
        The ``paths`` of the files, in order, and the ``first`` of all files, whose columns all have.
    how : dict
        ``columns``, as for a stream; ``plan``; ``attempt``, for text; ``n_vertices``; ``device``;
        ``all_occur``, whether all numbers are vertices; and for strings ``pieces`` and ``is_first``, as
        :func:`~edgewise.components.shard_strings.write_strings` takes them.
    """

    def __init__(self, files: dict, how: dict):
        own, first = files["paths"], files["first"]
        paths = own if own[0] == first else [first, *own]
        team = device_team(arrays.resolve(how["device"]))
        super().__init__(paths, dict(how["columns"]), how["n_vertices"], team)  # type: ignore[call-arg]
        self.begin, self.how = (len(paths) - len(own), 0), how
        self.plan: Plan = Plan(*how["plan"])
        self.numbered = how["all_occur"]
        self.target: Any = None

    def write(self: Any, folder: TaskFolder, name: str, parts: Any = ()) -> dict:
        """Read the files and write the part; return its facts, with those of the ``parts`` it is made of."""
        self.target, self.facts = (folder, name), [folder.facts_of(part) for part in parts]
        with self.copies:
            return self._run(self.how["attempt"], None, None)

    def _warn_if_empty(self, pairs):
        """Nothing: the rows of other tasks may have been kept."""

    def _finish(self: Any, pairs: Any) -> Any:
        if self.target is None:
            return super()._finish(pairs)  # type: ignore[misc]
        folder, name = self.target
        kind = {DenseIds: "dense", SparseIds: "sparse", StringIds: "strings"}[type(pairs.ids)]
        read = [(self.edges, pairs.rows, pairs.kept_any)]
        read = [(one["edges"], one["rows"], one["kept_any"]) for one in self.facts] or read
        edges, rows, kept = zip(*read)
        facts = {"ids": kind, "edges": sum(edges), "rows": sum(rows), "kept_any": any(kept)}
        facts["devices"] = list(self.team.names)
        with ThreadPoolExecutor(1) as pool:
            strings = pool.submit(self._write_strings, pairs, folder, name, threads.count())
            facts["numbers"] = self._write_part(pairs, folder, name)
            strings.result()
        return facts

    def _write_strings(self, pairs, folder, name, n_threads):
        """Write the strings of the part, if its ids are strings, while its table is written."""
        if not isinstance(pairs.ids, StringIds):
            return
        threads.use(n_threads)
        write_strings(folder, name, pairs.ids.numbers.ids(), self.how["pieces"], self.how["is_first"])

    def _write_part(self, pairs: Any, folder: TaskFolder, name: str) -> int:
        """Write the part; return the number of vertex numbers."""
        raise NotImplementedError


class Part(PartOfStream, FileStream):
    """The components of some files."""

    def _write_part(self, pairs, folder, name):
        labels = self.workers.labels(last=True)
        kind, ids = id_column(pairs.ids, len(labels))
        with table_writer(folder, name, dict.fromkeys(ENDS, kind)) as write:
            for block in joined_pairs(labels, occurring(pairs.ids, len(labels))):
                write(*(column if ids is None else ids[column] for column in block))
        return len(labels)


def id_column(ids, count):
    """Type of the ids in a part, and the ids of the ``count`` numbers; ``None`` if these are the numbers."""
    if isinstance(ids, SparseIds):
        return ids.dtype, ids.numbers.ids()
    return np.dtype(np.uint32 if count <= 1 << 32 else np.int64), None


def occurring(ids, count):
    """Marks of the numbers that are vertices though they may have no edge to another: (count,) uint8."""
    if isinstance(ids, StringIds):
        return np.zeros(count, np.uint8)
    if isinstance(ids, SparseIds) or ids.all_occur:
        return np.ones(count, np.uint8)
    marks = np.zeros(count, np.uint8)
    known = min(count, len(ids.has_self_loop))
    marks[:known] = ids.has_self_loop[:known]
    return marks


def joined_pairs(labels, marks):
    """Yield blocks of pairs that join the vertices of each component, and marked ones with themselves.

    ``marks`` are overwritten.
    """
    pool = ThreadPool(-(-len(labels) // BLOCK))
    together = pool.n_workers * BLOCK
    for start in range(0, len(labels), together):
        firsts = range(start, min(start + together, len(labels)), BLOCK)
        yield from pool.starmap(_joined_block, [(labels, marks, first) for first in firsts])
    yield from single_pairs(marks)


def _joined_block(labels, marks, first):
    """The vertices of a block that are not roots, and their roots."""
    block = labels[first : first + BLOCK]
    vertices = np.arange(first, first + len(block), dtype=labels.dtype)
    others = np.flatnonzero(block != vertices)
    vertices, roots = vertices[others], block[others]
    marks[vertices], marks[roots] = 0, 0
    return vertices, roots


def single_pairs(marks):
    """Yield blocks of pairs of each marked vertex with itself."""
    for first in range(0, len(marks), BLOCK):
        vertices = np.flatnonzero(marks[first : first + BLOCK]) + first
        if len(vertices):
            yield vertices, vertices
