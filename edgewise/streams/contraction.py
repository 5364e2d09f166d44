"""Components of more vertices than memory holds: ranges of ids, of which a task has one in memory.

An edge belongs to the range of its larger end.  A task joins the edges inside its range in memory.  Of the
edges from a component of these to lower ranges it keeps the least end, and replaces each other one by an edge
from that end to the least one, which belongs to a lower range.  The components of the graph stay the same, as
in every contraction, and the larger end of each edge falls from range to range.  One task after the other
uses up all edges in one sweep from the highest range to the lowest; several at a time take the highest ranges
that have edges, and take a range again to which edges have come meanwhile.

Then each component of a range is the least of its graph, or has a link to a lower range.  Sizes are added up
along the links from the highest range to the lowest, and labels come back from the lowest to the highest,
with which each task writes the table of its range.  This last part has one task at a time, which reads and
writes a few numbers for each vertex and none for the edges.

Sibeyn [1]_ sweeps ranges of vertices in the same way, one after the other.  The least end takes the place of
the random one of randomized contraction [2]_, so that the labels are those of one process, and there are no
names to be undone.  The tasks need memory for the vertices of a range and for blocks of rows; the number of
vertices matters to the disk only.

.. [1] J. F. Sibeyn, "External connected components", SWAT 2004, LNCS 3111.
.. [2] H. Bögeholz, M. Brand and R.-A. Todor, "In-database connected component analysis", ICDE 2020.
"""

from __future__ import annotations

from functools import partial
from itertools import count
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from edgewise.components.rem import AHEAD, union
from edgewise.components.trees import compress, make_singletons
from edgewise.device import device, each, fetch_add, fetch_min
from edgewise.device.prefetch import prefetch
from edgewise.errors import OptionError, argument
from edgewise.files.npz import check_memory_of_arrays
from edgewise.files.read_ahead import in_order, read_ahead
from edgewise.files.streams import reading
from edgewise.files.text_table import Mismatch
from edgewise.index_type import as_labels, index_type
from edgewise.ingest.arrow import ColumnNumbers, arrow_array
from edgewise.ingest.id_types import describe, restored
from edgewise.memory import bytes_of
from edgewise.streams.file_stream import StreamedPairs
from edgewise.streams.partitioned_strings import (
    MARKS_OF_ROW,
    MOST_PARTITIONS,
    TABLE_ROWS,
    PartitionedStrings,
    Shape,
    number_strings,
    numbered_pairs,
    positions_of,
    strings_divided,
    threads_within,
)
from edgewise.streams.parts import Part
from edgewise.streams.ranges import RangeWriter, columns_for
from edgewise.streams.sharded import ROW_OF_SHARDS, TASKS_PER_SLOT
from edgewise.streams.stored import StoredStream, write_shard
from edgewise.streams.tasks import Task, TaskFolder
from edgewise.timer import timer

#: Layout of the files of tasks, which changes where the next version cannot read them.
LAYOUT = 4
#: Vertices that are taken at a time.
BLOCK = 1 << 20
#: Vertices that a thread counts at a time.
STRETCH = 1 << 12
#: Bytes of memory for each id of a range, if ids are of 4 or 8 bytes.
BYTES_OF_ID = {4: 20, 8: 24}
#: Largest number of ranges.
MOST_RANGES = 1 << 14
#: Ids of which a range has a multiple.
ROUND = 64
#: Bytes of memory that Python, libraries and blocks of rows take; of a small memory, half.
MEMORY_BESIDE = 3 << 28
#: Bytes of distinct strings for each byte of the files, at most, as these may be compressed.
EXPANSION = 2


class Ranges(NamedTuple):
    """Ranges of ``width`` ids each, which begin at 0; ids are below ``end`` and of the type ``dtype``."""

    width: int
    end: int
    dtype: str

    def bounds(self, number: int) -> tuple[int, int]:
        """First id of a range, and how many it has."""
        first = number * self.width
        return first, min(self.width, self.end - first)

    @property
    def numbers(self) -> range:
        """The numbers of all ranges."""
        return range(max(1, -(-self.end // self.width)))

    @property
    def none(self) -> int:
        """The number that stands for no id."""
        return int(np.iinfo(self.dtype).max)


@each
def mark(index, highs, lows, first, seen):
    """Mark the ends of an edge that are in the range."""
    high, low = np.int64(highs[index]) - first, np.int64(lows[index]) - first
    seen[high] = 1
    if low >= 0:
        seen[low] = 1


@device
def fetch_later(index, highs, lows, first, parent):
    """Start to read the parents of the ends of a later edge."""
    soon = min(index + AHEAD, len(highs) - 1)
    prefetch(parent, np.int64(highs[soon]) - first)
    prefetch(parent, max(np.int64(lows[soon]) - first, 0))


@partial(each, ascending=True)
def join(index, highs, lows, first, parent):
    """Join the ends of an edge if both are in the range."""
    fetch_later(index, highs, lows, first, parent)
    if lows[index] >= first:
        union(parent, np.uint32(highs[index] - first), np.uint32(lows[index] - first))


@each
def lower(index, highs, lows, first, parent, least):
    """Note the lower end of an edge from another range at the root of the other end."""
    low = lows[index]
    if np.int64(low) < first:
        fetch_min(least, parent[np.int64(highs[index]) - first], low)


@each
def replace_end(index, highs, lows, first, parent, least, ends):
    """Write the end that takes the place of the higher one of an edge; the other end if none does."""
    low = lows[index]
    ends[index] = low
    if np.int64(low) < first:
        ends[index] = least[parent[np.int64(highs[index]) - first]]


@each
def lower_link(index, vertices, links, parent, least):
    """Note the link of a vertex that was a root at the root that it has now."""
    fetch_min(least, parent[vertices[index]], links[index])


@each
def add_size(index, vertices, sizes, parent, total):
    """Add a size at the root of a vertex."""
    fetch_add(total, parent[vertices[index]], sizes[index])


@each
def add_own(stretch, seen, parent, total):
    """Count the vertices of a stretch that occur at their roots; neighbours of one root are added at once."""
    first: Any = np.int64(stretch * STRETCH)
    root, found = np.int64(parent[first]), np.int64(0)
    for vertex in range(first, min(first + STRETCH, len(parent))):
        if np.int64(parent[vertex]) != root:
            fetch_add(total, root, found)
            root, found = np.int64(parent[vertex]), np.int64(0)
        found += seen[vertex]
    fetch_add(total, root, found)


class RangePart(Part):
    """The pairs of some files, which a ``writer`` divides by ranges."""

    def __init__(self, files, how, writer):
        super().__init__(files, how)
        self.writer = writer
        self.numbered = True  # a self-loop marks its vertex in its range, and no marks are needed here

    def _reducer(self):
        return PairSink(self.writer)

    def _finish(self, pairs):
        return self._facts(pairs)

    def to_sparse(self, dense):
        raise OptionError(
            f"{argument('memory')} needs ids from 0 to {dense.limit - 1:,}; number them, or leave it out"
        )


def divided(folder: TaskFolder, name: str, *, files: dict, how: dict) -> dict:
    """Task: write the pairs of some files by ranges."""
    with RangeWriter(folder, name, Ranges(*how["ranges"]), 2) as writer:
        facts = RangePart(files, how, writer).found()
    return facts | writer.facts


def pairs_divided(folder: TaskFolder, name: str, *, parts: list[str], part: int, how: dict) -> dict:
    """Task: write the pairs of a part, whose strings have been numbered, by ranges."""
    ranges = Ranges(*how["ranges"])
    with RangeWriter(folder, name, ranges, 2) as writer:
        for pairs in numbered_pairs(folder, parts, part, how, lambda *pairs: pairs):
            writer.add(*pairs)
    return writer.facts


class PairSink:
    """The reducer that keeps all pairs, and writes them."""

    def __init__(self, writer):
        self.writer = writer

    def reserve(self, count):
        """There is nothing to reserve."""

    def prepare_beside(self, count):
        """One thread writes; return False."""
        return False

    def join(self, columns, largest, weights=None):
        """Write pairs with the larger id first."""
        left, right = (column.astype(self.writer.ranges.dtype, copy=False) for column in columns)
        self.writer.add(np.maximum(left, right), np.minimum(left, right))

    def close(self):
        """There are no threads to stop."""


class State(NamedTuple):
    """State of a range.

    Attributes
    ----------
    parent : (ids,) uint32 array
        The root of each id, counted from the first of the range.
    links : (ids,) array
        The least id of a lower range that a root has an edge to, or the number for none.
    seen : (ids,) uint8 array
        Whether the id occurs.

    The lowest range has no links, and all ids of strings occur: such an array is one number, and no file.
    """

    parent: Any
    links: Any
    seen: Any

    @classmethod
    def load(cls, folder, name, ranges, number, all_occur):
        """The state that a task has written; before any edge if ``name`` is ``None``."""
        _, size = ranges.bounds(number)

        def array(field, value, is_one):
            if is_one:
                return np.broadcast_to(value, size)
            return np.full(size, value) if name is None else np.load(folder.file(f"{name}.{field}.npy"))

        links = array("links", np.dtype(ranges.dtype).type(ranges.none), is_one=not number)
        seen = array("seen", np.uint8(all_occur), is_one=all_occur)
        if name is not None:
            return cls(np.load(folder.file(f"{name}.parent.npy")), links, seen)
        parent = np.empty(size, np.uint32)
        make_singletons(size, parent)
        return cls(parent, links, seen)

    def save(self, folder, name):
        """Write the arrays to files."""
        for file, array in zip(self.files(name), self):
            if array.strides[0]:
                folder.write_array(file, array)

    @classmethod
    def files(cls, name):
        """Names of the files of a task, if there is one."""
        return () if name is None else tuple(f"{name}.{field}.npy" for field in cls._fields)

    def linked(self, none):
        """Yield blocks of vertices that have a link, and the links."""
        for first in range(0, len(self.links), BLOCK):
            vertices = np.flatnonzero(self.links[first : first + BLOCK] != none) + first
            yield vertices, self.links[vertices]


def contracted(
    folder: TaskFolder, name: str, *, number: int, before: str | None, inputs: list[str], how: dict
) -> dict:
    """Task: contract the edges of a range into its state; those that are left go to lower ranges."""
    ranges = Ranges(*how["ranges"])
    state = State.load(folder, before, ranges, number, how["all_occur"])
    first, size = ranges.bounds(number)
    _join_all(state, folder, inputs, number, how)
    compress(size, state.parent)
    if not number:  # no edge goes to a lower range
        state.save(folder, name)
        return {"counts": [0] * len(ranges.numbers)}
    least = np.full(size, ranges.none, ranges.dtype)
    for vertices, links in state.linked(ranges.none):
        lower_link(len(vertices), vertices, links, state.parent, least)
    for highs, lows in read_ahead(columns_for(folder, inputs, number)):
        lower(len(highs), highs, lows, first, state.parent, least)
    with RangeWriter(folder, name, ranges, 2) as writer:
        for vertices, links in state.linked(ranges.none):
            _add_different(writer, links, least[state.parent[vertices]])
        for highs, lows in read_ahead(columns_for(folder, inputs, number)):
            ends = np.empty(len(lows), lows.dtype)
            replace_end(len(highs), highs, lows, first, state.parent, least, ends)
            _add_different(writer, lows, ends)
    state._replace(links=least).save(folder, name)
    return writer.facts


def _join_all(state, folder, inputs, number, how):
    """Join the edges inside a range; those of strings in one range are made here, and never written."""
    ranges = Ranges(*how["ranges"])
    first, _ = ranges.bounds(number)

    def take(highs, lows):
        if not how["all_occur"]:
            mark(len(highs), highs, lows, first, state.seen)
        join(len(highs), highs, lows, first, state.parent)

    if how["strings"] is None or len(ranges.numbers) > 1:
        for highs, lows in read_ahead(columns_for(folder, inputs, number)):
            take(highs, lows)
        return
    for part in range(len(inputs)):
        for _ in numbered_pairs(folder, inputs, part, how, take):
            pass


def _add_different(writer, highs, lows):
    """Write those pairs whose ends are different."""
    keep = highs != lows
    writer.add(highs[keep], lows[keep])


def weighed(
    folder: TaskFolder, name: str, *, number: int, state: str | None, higher: list[str], how: dict
) -> dict:
    """Task: the sizes of the components of a range, which go to those that these have links to."""
    ranges = Ranges(*how["ranges"])
    known = State.load(folder, state, ranges, number, how["all_occur"])
    first, size = ranges.bounds(number)
    total = np.zeros(size, np.int64)
    for ends, _, sizes in columns_for(folder, higher, number):
        vertices = ends.astype(np.int64) - first
        if not how["all_occur"]:
            known.seen[vertices] = 1
        add_size(len(vertices), vertices, sizes, known.parent, total)
    components = largest = occurring = last = 0
    with RangeWriter(folder, name, ranges, 3) as writer:
        for start in range(0, size, BLOCK):
            seen = np.ascontiguousarray(known.seen[start : start + BLOCK])
            add_own(-(-len(seen) // STRETCH), seen, known.parent[start : start + BLOCK], total)
            occurring += int(np.count_nonzero(seen))
            last = first + start + len(seen) - 1 - int(seen[::-1].argmax()) if seen.any() else last
        for start in range(0, size, BLOCK):
            roots = np.flatnonzero(total[start : start + BLOCK]) + start
            links = known.links[roots]
            ends = links == ranges.none
            components += int(np.count_nonzero(ends))
            largest = max(largest, int(total[roots[ends]].max(initial=0)))
            roots, links = roots[~ends], links[~ends]
            writer.add(links, (roots + first).astype(ranges.dtype), total[roots])
    facts = {"vertices": occurring, "last": last, "count": components, "largest": largest, "state": state}
    if state is None or _marks_more(higher, how):
        known.save(folder, name)
        facts["state"] = name
    return writer.facts | facts


def _marks_more(higher, how):
    """Whether higher ranges may have links to ids that no edge has."""
    return bool(higher) and not how["all_occur"]


def written(
    folder: TaskFolder, name: str, *, number: int, files: dict, base: int, how: dict, target: str
) -> dict:
    """Task: write the table of a range, whose first vertex has the number ``base``, and answer higher ones.

    ``files`` are names of tasks: the ``state``, those of ``lower`` ranges that have answered, and those of
    ``higher`` ranges that ask for labels.
    """
    ranges = Ranges(*how["ranges"])
    state = State.load(folder, files["state"], ranges, number, how["all_occur"])
    first, size = ranges.bounds(number)
    labels: Any = np.empty(size, index_type(how["vertices"]))
    for start in range(0, size, BLOCK):
        seen = state.seen[start : start + BLOCK]
        labels[start : start + BLOCK] = np.cumsum(seen, dtype=np.int64) - seen + base
        base += int(np.count_nonzero(seen))
    for roots, found in columns_for(folder, files["lower"], number):
        labels[roots.astype(np.int64) - first] = found
    with RangeWriter(folder, name, ranges, 2) as writer:
        for ends, roots, _ in columns_for(folder, files["higher"], number):
            writer.add(roots, labels[state.parent[ends.astype(np.int64) - first]])
    strings = None
    if how["strings"]:
        numbers, kind = how["strings"]
        strings = PartitionedStrings(folder, numbers, kind, first, size if how["vertices"] else 0)
    return writer.facts | write_shard(folder, _batches((state, labels), first, strings, how), target)


def _batches(found, first, strings, how):
    """The table of a range, of which the state and the labels were found, a block at a time."""
    import pyarrow as pa

    state, labels = found
    kind = as_labels(np.empty((0, how["vertices"]), labels.dtype)).dtype
    rows = BLOCK if strings is None else TABLE_ROWS

    def batch(start):
        vertices = np.flatnonzero(state.seen[start : start + rows]) + start
        if strings is None:
            ids = arrow_array((vertices + first).astype(how["ids"]))
        else:
            ids = strings.block(start // rows)
            ids = restored(ids, how["restore"], len(ids))
        own = arrow_array(labels[state.parent[vertices]].astype(kind))
        return pa.RecordBatch.from_arrays([ids, own], ["id", "component"])

    few = threads_within(how["memory"])
    return in_order(batch, range(0, max(len(labels), 1), rows), few, "edgewise-table")


class ContractedStream(StoredStream):
    """The work of :func:`edgewise.stream_components` with ``memory=``: bytes for the ids of a task."""

    method = "contraction, streamed"

    def __init__(self, memory, output, path, columns, n_vertices=None, **how):
        self.memory = bytes_of(memory)
        super().__init__(output, path, columns, n_vertices, **how)
        for one in self.shards.paths:
            check_memory_of_arrays(one, self.memory)
        for name, given in (("name", self.output.name), ("min_size", self.output.min_size > 1)):
            if given:
                raise OptionError(
                    f"{argument(name)} needs all ids in memory; leave out it or {argument('memory')}"
                )

    def _inputs(self):
        return super()._inputs() | {"memory": self.memory, "layout of files": LAYOUT}

    def _max_vertices(self):
        return np.iinfo(np.int64).max

    def _run_tasks(self, folder, attempt, progress):
        with reading(self.shards.paths[0], passing=Mismatch):
            pairs = StreamedPairs(self.shards.schema(attempt), self)
        plan, restore = self.plan_for(pairs), pairs.type_to_restore()
        how: dict[str, Any] = {"ids": plan.dtype, "strings": None, "restore": restore, "memory": self.memory}
        if plan.ids == "strings":
            facts, more = self._divide_strings(folder, pairs, plan, attempt, progress)
        elif plan.ids != "dense" or restore is not None:
            held = f", and the ids are {describe(restore)}" if restore is not None else ""
            needed = "strings, or numbers from 0 on, at most 8 for each row"
            raise OptionError(
                f"{argument('memory')} needs ids that are {needed}{held}; number them, or leave it out"
            )
        else:
            end = self.n_vertices if self.numbered else plan.room or (1 if plan.rows == 0 else plan.limit)
            self.first_task = divided
            more = {"ranges": tuple(self._ranges(end)), "all_occur": self.numbered}
            facts = self._read_shards(folder, pairs, plan, attempt, progress, more)[1]
        how |= more
        with timer("contract"):
            states = self._contract(folder, attempt, facts, how)
        if how["strings"] is not None:
            (tables, _), _ = how["strings"]
            folder.discard(f"{table}.firsts" for table in tables)
        return self._label(folder, attempt, states, how)

    def _divide_strings(self, folder, pairs, plan, attempt, progress):
        """Number the strings, and divide the pairs of numbers by ranges; return the facts, and how."""
        columns = ColumnNumbers(*pairs.kinds)
        shape = self._partitions(folder, plan, attempt)
        self.first_task = strings_divided
        how: dict[str, Any] = {"shape": tuple(shape), "memory": self.memory}
        parts = list(self._read_shards(folder, pairs, plan, attempt, progress, how)[1])
        self._check_memory(self.edges, MARKS_OF_ROW * self.edges)
        with timer("number strings"):
            numbers, kind, count = number_strings(self.task_run, parts, columns, shape, 2 * self.edges)
            ranges = self._ranges(max(count, 1))
            how = {"ranges": tuple(ranges), "all_occur": count > 0}
            how |= {"strings": (numbers, kind), "memory": self.memory}
            if len(ranges.numbers) == 1:  # its task joins the pairs as they are made
                return {part: {"counts": [1]} for part in parts}, how
            tasks = []
            for number, part in enumerate(parts):
                given = {"parts": parts, "part": number, "how": how}
                spent = positions_of(part), f"{part}.starts.npy"
                name = f"{part}-pairs"
                tasks.append(Task(name, pairs_divided, given, "the numbering of strings", spent=spent))
            return self.task_run.run(tasks), how

    def _partitions(self, folder, plan, attempt):
        """The :class:`Shape` of the partitions of strings; a run that continues takes the one of before."""
        known = folder.facts(f"{attempt}-partitions")
        if known is not None:
            return Shape(**known)
        size, memory = sum(size for _, size, _ in self.shards.stamps), self._memory_of_ids()
        rows = size // ROW_OF_SHARDS if plan.rows is None else plan.rows
        shape = Shape.of(2 * rows, EXPANSION * size, memory, self.executor.slots)
        self._check_memory(rows, shape.partitions * shape.memory / MOST_PARTITIONS)
        self._check_memory(rows, MARKS_OF_ROW * (plan.rows or 0))
        folder.keep(f"{attempt}-partitions", shape._asdict())
        return shape

    def _check_memory(self, rows, needed):
        """Raise OptionError if the strings of some rows need more memory."""
        if needed > self._memory_of_ids():
            problem = f"{argument('memory', self.memory)} is too little for the strings of {rows:,} rows"
            raise OptionError(f"{problem}; give at least {self._least_memory(needed):,}")

    def _memory_of_ids(self):
        """The memory for ids, besides that for Python, libraries and rows."""
        return self.memory - min(self.memory // 2, MEMORY_BESIDE)

    def _least_memory(self, needed):
        """The least memory of which so much is for ids."""
        return ceil(needed) + min(ceil(needed), MEMORY_BESIDE)

    def _wanted_tasks(self, plan, size):
        return TASKS_PER_SLOT["dense"] * self.executor.slots

    def _ranges(self, end):
        """The ranges of ids below an end, as many as memory needs."""
        dtype = np.dtype(index_type(end))
        width = max(self._memory_of_ids() // BYTES_OF_ID[dtype.itemsize] // ROUND, 1) * ROUND
        if end > width * MOST_RANGES:
            least = self._least_memory(-(-end // MOST_RANGES) * BYTES_OF_ID[dtype.itemsize])
            problem = f"{argument('memory', self.memory)} is too little for ids up to {end - 1:,}"
            raise OptionError(f"{problem}; give at least {least:,}")
        return Ranges(width, end, str(dtype))

    def _contract(self, folder, attempt, facts, how):
        """Contract the edges until none is left; return the task of the last state of each range.

        Every turn takes the highest ranges that have edges, as many as tasks run at a time.
        """
        states: dict[int, str] = {}
        waiting: dict[int, list[str]] = {}
        width = folder.facts_of("layout")["slots"]
        for turn in count():
            for number in Ranges(*how["ranges"]).numbers:
                waiting.setdefault(number, []).extend(_with_rows(facts, number))
            tasks = []
            for number in sorted((one for one, names in waiting.items() if names), reverse=True)[:width]:
                given = {"number": number, "before": states.get(number), "inputs": waiting[number]}
                name, spent = f"{attempt}-turn-{turn:05}-{number:05}", State.files(states.get(number))
                tasks.append(Task(name, contracted, given | {"how": how}, "contracting edges", spent=spent))
            if not tasks:
                return states
            facts = self.task_run.run(tasks)
            for task in tasks:
                states[task.given["number"]] = task.name
                waiting[task.given["number"]] = []
            read = {name for task in tasks for name in task.given["inputs"]}
            left = read.difference(*waiting.values())
            endings = "rows", "starts.npy", "positions"
            folder.discard(f"{name}.{ending}" for name in left for ending in endings)
        raise AssertionError("the larger ends of edges fall from range to range")

    def _label(self, folder, attempt, states, how):
        """Add up the sizes from the highest range on, and write the tables from the lowest one on."""
        sizes: dict[str, dict] = {}
        numbers = []
        with timer("add sizes"):
            for number in reversed(Ranges(*how["ranges"]).numbers):
                given = {"number": number, "state": states.get(number), "how": how}
                given["higher"] = _with_rows(sizes, number)
                if number and not (how["all_occur"] or given["state"] or given["higher"]):
                    continue  # no id of the range occurs
                spent = State.files(given["state"]) if _marks_more(given["higher"], how) else ()
                task = Task(f"{attempt}-sizes-{number:05}", weighed, given, "adding up sizes", spent=spent)
                sizes |= self.task_run.run([task])
                numbers.append(number)
        found = list(sizes.values())[::-1]
        vertices, last = sum(one["vertices"] for one in found), max(one["last"] for one in found)
        how |= {"vertices": vertices, "ids": how["ids"] if vertices <= last else "int64"}
        answers: dict[str, dict] = {}
        base = 0
        with self.writing(folder) as write:
            for number, one in zip(reversed(numbers), found):
                if one["vertices"] or not number:
                    files = {"state": one["state"], "lower": _with_rows(answers, number)}
                    files["higher"] = _with_rows(sizes, number)
                    given = {"number": number, "files": files, "base": base, "how": how}
                    answers |= write([(written, given)])
                base += one["vertices"]
        totals = {"count": sum(one["count"] for one in found)}
        return totals | {"vertices": vertices, "largest": max(one["largest"] for one in found)}


def _with_rows(facts, number):
    """Names of the tasks that have written rows of a range."""
    return [name for name, one in facts.items() if one["counts"][number]]
