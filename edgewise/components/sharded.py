"""Components of shards by the workers of an executor: a task for a few shards each, then a tree of merges.

Each task reads its shards and writes a part (:mod:`~edgewise.components.shard_parts`), strings are numbered
by dictionaries (:mod:`~edgewise.components.shard_strings`), and a few parts at a time are merged until two
are left, which the caller merges itself.  The largest memory of any process is that of its parents: 4 bytes
for each number up to the largest id, or for each distinct string.

Two tasks that have the same strings both number them, and exchange them afterwards.  On one machine that
takes longer than a single task with all cores.  So there are as few tasks over strings as the memory of a
worker allows, and at least one for each machine.  If there is only one task, nothing has to be exchanged.
"""

from __future__ import annotations

import os
from math import ceil
from time import perf_counter
from typing import Any

from edgewise.components import shard_strings as strings
from edgewise.components.file_stream import FileStream, Plan
from edgewise.components.part_files import part_file
from edgewise.components.shard_parts import Part, components_part, merged_files, merged_part, merged_plan
from edgewise.components.tasks import Task, TaskRun, remove_task_folder, task_folder
from edgewise.errors import OptionError, argument, warn
from edgewise.files.inputs import check_readable_again
from edgewise.files.streams import reading
from edgewise.files.text_table import ATTEMPTS, Mismatch
from edgewise.index_type import index_type
from edgewise.timer import timer
from edgewise.workers import device_team
from edgewise.workers.executors import executor_of

#: Tasks that read shards for each slot, by ids.
TASKS_PER_SLOT = {"dense": 4, "sparse": 4, "strings": 1}
#: Bytes that a task over strings needs at most for a row, if both strings are new, and for each byte of its
#: shards; and the fewest bytes of a row, where the number of rows is not known.
ROW_OF_STRINGS, BYTE_OF_STRINGS, LEAST_ROW = 256, 8, 8
#: The largest share of the memory of a worker that such a task may need.
MOST_MEMORY = 0.5
#: The most rows of such a task, if shards are smaller than that.
MOST_ROWS = 1 << 28
#: How many parts one task merges, at least and at most: more of them move fewer bytes, but in fewer tasks.
MERGED_PARTS = 4, 8
#: Dictionaries of strings for each slot, and at most.
DICTIONARIES_PER_SLOT, MOST_DICTIONARIES = 1, 256


class ShardedStream:
    """What a stream of tables becomes when tasks do its work; mixed into a :class:`FileStream`.

    Parameters
    ----------
    path, columns, n_vertices
        As of the stream.
    client : object
        What :func:`~edgewise.workers.executors.executor_of` takes.
    device : str
        The device of each worker.
    checkpoint : path-like, optional
        Folder in which tasks exchange files, and from which an interrupted run continues.
    """

    #: The task that reads shards, the one that merges, and the class that merges the last parts.
    first_task: Any = staticmethod(components_part)
    merge_task: Any = staticmethod(merged_part)
    last_part: Any = Part
    shards: Any  # of the stream

    def __init__(self, path, columns, n_vertices=None, *, client, device="cpu", checkpoint=None):
        check_readable_again(path, "client")
        super().__init__(path, columns, n_vertices, device_team("cpu"))  # type: ignore[call-arg]
        self.executor, self.device = executor_of(client, device), device
        self.given_columns, self.given_folder = dict(columns), checkpoint
        self.paths = [os.path.abspath(one) for one in self.shards.paths]

    def remove_checkpoint(self) -> None:
        """Remove the folder, once the result is stored."""
        if self.given_folder is not None:
            remove_task_folder(self.given_folder)

    def run(self: Any, progress: Any = None) -> Any:
        """Have all files read; return the result."""
        start = perf_counter()
        with task_folder(self.given_folder, self._inputs()) as folder:
            self.task_run = TaskRun(self.executor, folder, self.given_folder is not None)
            for attempt in ATTEMPTS:
                try:
                    found = self._run_tasks(folder, attempt, progress)
                    break
                except Mismatch:
                    continue
            return self._result(found, perf_counter() - start)

    def _how(self: Any) -> dict:
        """What all tasks that read shards are told."""
        return {"columns": self.given_columns, "n_vertices": self.n_vertices, "device": self.device}

    def device_names(self: Any) -> tuple[str, ...]:
        """The devices of the workers that have read the files, by the names that they have there."""
        return tuple(sorted(self.devices_used))

    def _graph(self: Any, labels, ids):
        graph = super()._graph(labels, ids)  # type: ignore[misc]
        graph.workers = self.executor.slots
        return graph

    def _run_tasks(self: Any, folder, attempt, progress):
        with reading(self.shards.paths[0], passing=Mismatch):
            pairs = self._pairs(self.shards.schema(attempt))
        self.ids_type = pairs.type_to_restore()
        plan = self.plan_for(pairs)
        layout = self._layout(folder, plan)
        how = self._how() | {"plan": plan, "attempt": attempt, "all_occur": self.numbered}
        how["pieces"] = layout["pieces"]
        tasks = self._first_tasks(layout["groups"], how, attempt)
        with timer("read shards"):
            facts = self.task_run.run(tasks, listener(progress, plan.rows))
        self._note(pairs, facts.values())
        names, orders = [task.name for task in tasks], None
        if plan.ids == "strings":
            with timer("number strings"):
                names, orders, count = self._number_strings(names, layout["pieces"], attempt)
            plan = Plan(None, "dense", "int64", count, count)
            how |= {"plan": plan, "all_occur": False}
        with timer("merge"):
            names = self._merge(names, how, attempt)
            return self._last(folder, names, how, orders, plan, pairs)

    def _layout(self: Any, folder, plan):
        """Groups of shards, each for a task, and the number of dictionaries: as they were begun."""
        layout = folder.facts("layout")
        if layout is None:
            slots, sizes = self.executor.slots, [size for _, size, _ in self.shards.stamps]
            wanted = TASKS_PER_SLOT[plan.ids] * slots
            if plan.ids == "strings":
                wanted = min(wanted, self._tasks_of_strings(plan.rows, sum(sizes)))
            wanted = max(wanted, -(-(plan.rows or 0) // MOST_ROWS))
            groups = groups_of(sizes, wanted)
            pieces = min(MOST_DICTIONARIES, DICTIONARIES_PER_SLOT * slots) if len(groups) > 1 else 0
            layout = {"groups": groups, "pieces": pieces, "slots": slots}
            folder.keep("layout", layout)
        return layout

    def _tasks_of_strings(self: Any, rows, size):
        """The fewest tasks over strings for which each has the memory, at least one for each machine.

        ``rows`` may be ``None``, and ``size`` is the bytes of all shards.
        """
        need = ROW_OF_STRINGS * (rows or size // LEAST_ROW) + BYTE_OF_STRINGS * size
        return max(self.executor.machines, ceil(need / max(1, MOST_MEMORY * self.executor.memory)))

    def _first_tasks(self: Any, groups, how, attempt):
        tasks = []
        for number, (start, stop) in enumerate(groups):
            paths = self.paths[start:stop]
            given = {
                "files": {"paths": paths, "first": self.paths[0]},
                "how": how | {"is_first": number == 0},
            }
            about = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} further files"
            tasks.append(Task(f"{attempt}-part-{number:05}", self.first_task, given, about))
        return tasks

    def _note(self: Any, pairs, facts):
        """Add up what the tasks have read, and by which devices."""
        self.devices_used = {device for one in facts for device in one["devices"]}
        self.edges, rows = sum(one["edges"] for one in facts), sum(one["rows"] for one in facts)
        if rows and not any(one["kept_any"] for one in facts):
            kept = f"the condition {pairs.condition.text!r} keeps none of {rows:,} rows"
            warn(kept)

    def _number_strings(self: Any, parts, pieces, attempt):
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
        renumbered = kept + [f"{part}-renumbered" for part in parts[len(kept) :]]
        pairs = [list(pair) for pair in zip(tables, numbers)]
        for position, (name, part) in list(enumerate(zip(renumbered, parts)))[len(kept) :]:
            given = {"part": part, "position": position, "tables": pairs, "count": bases[-1]}
            spent = part_file(part), *strings.piece_files(part, pieces)
            tasks.append(Task(name, strings.renumbered, given, words, (*ordered, *numbers), spent))
        self.task_run.run(tasks)
        self.task_run.folder.discard(file for part in kept for file in strings.piece_files(part, pieces))
        return renumbered, orders, bases[-1]

    def _merge(self: Any, names, how, attempt):
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
                tasks.append(Task(name, self.merge_task, given, about, tuple(parts), spent))
                merged.append(name)
            names, level = merged, level + 1
        known = {task.name for task in tasks}
        tasks = [task._replace(after=tuple(one for one in task.after if one in known)) for task in tasks]
        self.task_run.run(tasks)
        return names

    def _last(self: Any, folder, names, how, orders, plan, pairs):
        """Merge the last parts here; return what the stream finds."""
        how = self._last_how(folder, names, how, orders, plan)
        found = self._found(folder, names, self.last_part(merged_files(folder, names), how))
        if orders is not None:
            from edgewise.ingest.arrow import ColumnNumbers

            kind = ColumnNumbers(*pairs.kinds).kind
            found = (*found[:-1], strings.all_strings(folder, orders, kind))
        return found

    def _last_how(self: Any, folder, names, how, orders, plan):
        """How the last parts are read."""
        how = merged_plan(folder, names, how) | {"device": "cpu", "all_occur": self.numbered}
        if orders is not None:
            how |= {"all_occur": True, "plan": plan, "n_vertices": plan.room}
        elif self.numbered:
            how["n_vertices"] = self.n_vertices
        return how

    def _found(self, folder, names, last):
        return last._run(last.how["attempt"], None, None)


class ShardedComponents(ShardedStream, FileStream):
    """The work of :func:`edgewise.stream_components` with ``client=``."""


def parts_together(parts, slots):
    """How many parts a task of a level merges, so that slots have work and at least two parts are left."""
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


def check_options(given, every):
    """Refuse options that mean nothing for tasks; ``given`` are devices and merge."""
    devices, merge = given
    if devices is not None or merge != "auto":
        name = "devices" if devices is not None else "merge"
        raise OptionError(f"{argument(name)} is for one process; with {argument('client')} use its workers")
    if every != 60.0:
        problem = f"{argument('every')} is for one process; with {argument('client')} every task is saved"
        raise OptionError(f"{problem}, so leave it out")


def listener(progress, n_rows):
    """What tells ``progress`` of the rows of the tasks that are done."""
    if progress is None:
        return None
    rows = 0

    def report(facts):
        nonlocal rows
        rows += facts["rows"]
        progress(rows, n_rows)

    return report
