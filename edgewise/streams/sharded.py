"""Shards that are read by the workers of an executor: a task for a few shards each, then a tree of merges.

Each task reads its shards and writes a part (:mod:`~edgewise.streams.parts`), strings are numbered by
dictionaries (:mod:`~edgewise.streams.strings`), and a few parts at a time are merged until two are left,
which the caller merges itself.  The largest memory of any process is that of its reducer: for components 4
bytes for each number up to the largest id, or for each distinct string.

Two tasks that have the same strings both number them, and exchange them afterwards.  On one machine that
takes longer than a single task with all cores.  So there are as few tasks over strings as the memory of a
worker allows, and at least one for each machine.  If there is only one task, nothing has to be exchanged.
"""

from __future__ import annotations

import os
from math import ceil
from time import perf_counter
from typing import Any

from edgewise.errors import warn
from edgewise.files.inputs import check_readable_again
from edgewise.files.streams import reading
from edgewise.files.text_table import Mismatch, by_attempts
from edgewise.index_type import index_type
from edgewise.ingest.arrow import ColumnNumbers
from edgewise.streams import strings
from edgewise.streams.file_stream import FileStream, StreamedPairs
from edgewise.streams.ids import Plan
from edgewise.streams.parts import (
    Part,
    merged_part,
    merged_plan,
    part_file,
    part_of_shards,
    renumbered_part,
)
from edgewise.streams.tasks import Task, TaskRun, remove_task_folder, task_folder
from edgewise.timer import timer
from edgewise.workers import device_team
from edgewise.workers.executors import executor_of

#: Tasks that read shards for each slot, by ids.
TASKS_PER_SLOT = {"dense": 4, "sparse": 4, "strings": 1}
#: Bytes that a task over strings needs at most for a row, if both strings are new.
ROW_OF_STRINGS = 256
#: Bytes that it needs for each byte of its shards.
BYTE_OF_STRINGS = 8
#: Bytes of a row of shards, where the number of rows is not known.
ROW_OF_SHARDS = 8
#: The share of the memory of a worker that such a task may need.
MEMORY_SHARE = 0.5
#: Rows that such a task reads, if shards are smaller than that.
TASK_ROWS = 1 << 28
#: Parts that one task merges, at least and at most: more of them move fewer bytes, but in fewer tasks.
MERGED_PARTS = 4, 8
#: Dictionaries of strings for each slot.
DICTIONARIES_PER_SLOT = 1
#: Dictionaries of strings, however many slots there are.
DICTIONARIES = 256


class ShardedStream(FileStream):
    """The work of :func:`edgewise.stream_components` and :func:`edgewise.stream_forest` with ``client=``.

    Parameters
    ----------
    path, columns, problem, n_vertices
        As of :class:`FileStream`.
    client : object
        What :func:`~edgewise.workers.executors.executor_of` takes.
    device : str
        The device of each worker.
    checkpoint : path-like, optional
        Folder in which tasks exchange files, and from which an interrupted run continues.
    """

    #: The task that reads shards.
    first_task: Any = staticmethod(part_of_shards)

    def __init__(self, path, columns, problem, n_vertices=None, *, client, device="cpu", checkpoint=None):
        check_readable_again(path, "client")
        super().__init__(path, columns, problem, n_vertices, device_team("cpu"))
        self.executor, self.device = executor_of(client, device), device
        self.given_columns, self.given_folder = dict(columns), checkpoint
        self.paths = [os.path.abspath(one) for one in self.shards.paths]

    def remove_checkpoint(self) -> None:
        """Remove the folder, once the result is stored."""
        if self.given_folder is not None:
            remove_task_folder(self.given_folder)

    def run(self, progress: Any = None) -> Any:
        """Have all files read; return the result."""
        start = perf_counter()
        with task_folder(self.given_folder, self._inputs()) as folder:
            self.task_run = TaskRun(self.executor, folder, self.given_folder is not None)
            found = by_attempts(lambda attempt: self._run_tasks(folder, attempt, progress))
            return self._result(found, perf_counter() - start)

    def device_names(self) -> tuple[str, ...]:
        """The devices of the workers that have read the files, by the names that they have there."""
        return tuple(sorted(self.devices_used))

    def _graph(self, n_vertices, ids):
        graph = super()._graph(n_vertices, ids)
        graph.workers = self.executor.slots
        return graph

    def _run_tasks(self, folder, attempt, progress):
        with reading(self.shards.paths[0], passing=Mismatch):
            pairs = StreamedPairs(self.shards.schema(attempt), self)
        self.ids_type = pairs.type_to_restore()
        plan = self.plan_for(pairs)
        how, facts = self._read_shards(folder, pairs, plan, attempt, progress)
        names, orders = list(facts), None
        if plan.ids == "strings":
            with timer("number strings"):
                names, orders, count = self._number_strings(names, how["pieces"], attempt)
            plan = Plan(None, "dense", "int64", count, count)
            how |= {"plan": plan, "all_occur": False}
        with timer("merge"):
            names = self._merge(names, how, attempt)
            return self._last(folder, names, how, orders, plan, pairs)

    def _read_shards(self, folder, pairs, plan, attempt, progress, more=()):
        """Have the shards read; return how that was done, and the facts of the tasks."""
        layout = self._layout(folder, plan)
        how = {"columns": self.given_columns, "problem": self.problem, "n_vertices": self.n_vertices}
        how |= {"device": self.device, "plan": plan, "attempt": attempt, "all_occur": self.numbered}
        how |= {"pieces": layout["pieces"]} | dict(more)
        tasks = []
        for number, (start, stop) in enumerate(layout["groups"]):
            paths = self.paths[start:stop]
            given = {
                "files": {"paths": paths, "first": self.paths[0]},
                "how": how | {"is_first": number == 0},
            }
            about = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} further files"
            tasks.append(Task(f"{attempt}-part-{number:05}", self.first_task, given, about))
        with timer("read shards"):
            found = self.task_run.run(tasks, listener(progress, plan.rows))
        facts = {task.name: found[task.name] for task in tasks}
        self.devices_used = {device for one in facts.values() for device in one["devices"]}
        self.edges, rows = (sum(one[name] for one in facts.values()) for name in ("edges", "rows"))
        if rows and not any(one["kept_any"] for one in facts.values()):
            warn(f"the condition {pairs.condition.text!r} keeps none of {rows:,} rows")
        return how, facts

    def _layout(self, folder, plan):
        """Groups of shards, each for a task, and the number of dictionaries: as they were begun."""
        layout = folder.facts("layout")
        if layout is None:
            slots, sizes = self.executor.slots, [size for _, size, _ in self.shards.stamps]
            wanted = max(self._wanted_tasks(plan, sum(sizes)), -(-(plan.rows or 0) // TASK_ROWS))
            groups = groups_of(sizes, wanted)
            pieces = min(DICTIONARIES, DICTIONARIES_PER_SLOT * slots) if len(groups) > 1 else 0
            layout = {"groups": groups, "pieces": pieces, "slots": slots}
            folder.keep("layout", layout)
        return layout

    def _wanted_tasks(self, plan, size):
        """Tasks among which shards of ``size`` bytes are divided."""
        wanted = TASKS_PER_SLOT[plan.ids] * self.executor.slots
        return min(wanted, self._tasks_of_strings(plan.rows, size)) if plan.ids == "strings" else wanted

    def _tasks_of_strings(self, rows, size):
        """The fewest tasks over strings for which each has the memory, at least one for each machine.

        ``rows`` may be ``None``, and ``size`` is the bytes of all shards.
        """
        need = ROW_OF_STRINGS * (rows or size // ROW_OF_SHARDS) + BYTE_OF_STRINGS * size
        return max(self.executor.machines, ceil(need / max(1, MEMORY_SHARE * self.executor.memory)))

    def _number_strings(self, parts, pieces, attempt):
        """Number the strings of all parts; return names of the parts renumbered, and of their new strings."""
        if pieces == 0:
            return parts, [strings.order_of(parts[0])], self.task_run.folder.facts_of(parts[0])["numbers"]
        words = "the numbering of strings"
        tables = [f"{attempt}-dictionary-{piece:05}" for piece in range(pieces)]
        tasks = [
            Task(name, strings.dictionary, {"parts": parts, "piece": piece}, words)
            for piece, name in enumerate(tables)
        ]
        facts = self.task_run.run(tasks)
        bases = [0]
        for position in range(len(parts)):
            bases.append(bases[-1] + sum(facts[name]["new"][position] for name in tables))
        orders = [strings.order_of(part) for part in parts]
        tasks = []
        for position, (name, part) in enumerate(zip(orders[1:], parts[1:]), 1):
            given = {"part": part, "position": position, "dictionaries": tables}
            tasks.append(Task(name, strings.order, given, words))
        numbers, ordered = [f"{name}-numbers" for name in tables], tuple(orders[1:])
        for piece, (name, table) in enumerate(zip(numbers, tables)):
            before = [sum(facts[other]["new"][at] for other in tables[:piece]) for at in range(len(parts))]
            given = {"dictionary": table, "orders": orders, "bases": bases, "before": before}
            tasks.append(Task(name, strings.numbered, given, words, after=ordered))
        kept = parts[: index_type(bases[-1]) is index_type(bases[1])]  # the first one's numbers are right
        names = kept + [f"{part}-renumbered" for part in parts[len(kept) :]]
        pairs = [list(pair) for pair in zip(tables, numbers)]
        for position, (name, part) in list(enumerate(zip(names, parts)))[len(kept) :]:
            given = {"part": part, "position": position, "tables": pairs, "count": bases[-1]}
            spent = part_file(part), *strings.piece_files(part, pieces)
            tasks.append(Task(name, renumbered_part, given, words, (*ordered, *numbers), spent))
        self.task_run.run(tasks)
        self.task_run.folder.discard(file for part in kept for file in strings.piece_files(part, pieces))
        return names, orders, bases[-1]

    def _merge(self, names, how, attempt):
        """Merge parts, level by level, until two are left."""
        tasks, level = [], 0
        while len(names) > 2:
            merged = []
            together = parts_together(len(names), self.executor.slots)
            for number in range(0, len(names), together):
                parts = names[number : number + together]
                if len(parts) == 1:
                    merged += parts
                    continue
                name = f"{attempt}-merge-{level}-{number:05}"
                spent = tuple(map(part_file, parts))
                given = {"parts": parts, "how": how}
                about = "the merge of parts"
                tasks.append(Task(name, merged_part, given, about, tuple(parts), spent))
                merged.append(name)
            names, level = merged, level + 1
        known = {task.name for task in tasks}
        tasks = [task._replace(after=tuple(one for one in task.after if one in known)) for task in tasks]
        self.task_run.run(tasks)
        return names

    def _last(self, folder, names, how, orders, plan, pairs):
        """Merge the last parts here; return what the stream finds."""
        last = Part.of_parts(folder, names, self._last_how(folder, names, how, orders, plan))
        found, self.reducer = last.found(), last.reducer
        if orders is not None:
            kind = ColumnNumbers(*pairs.kinds).kind
            found = found._replace(ids=strings.all_strings(folder, orders, kind))
        return found

    def _last_how(self, folder, names, how, orders, plan):
        """The ``how`` by which the last parts are read."""
        how = merged_plan(folder, names, how) | {"device": "cpu", "all_occur": self.numbered}
        if orders is not None:
            how |= {"all_occur": True, "plan": plan, "n_vertices": plan.room}
        elif self.numbered:
            how["n_vertices"] = self.n_vertices
        return how


def parts_together(parts, slots):
    """Parts that a task of a level merges, so that slots have work and at least two parts are left."""
    least, most = MERGED_PARTS
    return min(most, max(least, -(-parts // slots)), -(-parts // 2))


def groups_of(sizes, wanted):
    """Divide shards of some sizes, in order, into at most ``wanted`` groups of about the same size."""
    groups: list[list[int]] = []
    start, before, total = 0, 0, sum(sizes)
    for position, size in enumerate(sizes):
        before += size
        if before * wanted >= total * (len(groups) + 1) or position == len(sizes) - 1:
            groups.append([start, position + 1])
            start = position + 1
    return groups


def listener(progress, n_rows):
    """A function that reports the rows of the tasks that are done to ``progress``."""
    if progress is None:
        return None
    rows = 0

    def report(facts):
        nonlocal rows
        rows += facts["rows"]
        progress(rows, n_rows)

    return report
