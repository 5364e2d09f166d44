"""Strings of which memory does not hold all: they are numbered on disk, in partitions by their hash.

A single process numbers strings in the order in which they first appear.  A string appears at *positions*,
``2 * row`` as a source and ``2 * row + 1`` as a target, and equal strings have equal hashes.  So

1. the strings of all rows are written by partitions of their hashes, with their positions, but no source
   that is equal to that of the row before, as in pairs that are in the order of their sources;
2. a table of the strings of one partition, which fits the memory, finds where each of them appears first,
   and replaces all its strings by these positions;
3. the first positions of all strings are marked in a bitmap: the number of a string is that of the marks
   below its first position;
4. the rows are put together again from what has become of their strings in all partitions, as pairs of
   numbers, which are the ids of a graph like any other (:mod:`~edgewise.streams.contraction`); they are not
   written if one range has all numbers, since its task joins them as they are made;
5. the table of a range of numbers takes its strings from all partitions, in the order of their positions.

Strings are written twice and read twice: once as often as they appear, and once as often as they differ.
This is the partition phase of a hash join (Grace, Kitsuregawa et al. 1983) with a way back to the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import pairwise, repeat
from typing import Any, NamedTuple

import numpy as np

from edgewise import tuning
from edgewise.device import compiled, device, each, fetch_or, threads
from edgewise.device.target import INTERPRETED
from edgewise.errors import FileError, OutOfMemoryError, argument
from edgewise.files.read_ahead import in_order, read_ahead
from edgewise.index_type import index_type
from edgewise.ingest.arrow import ColumnNumbers
from edgewise.ingest.growing import Growing
from edgewise.ingest.integers import Marks, marks_below
from edgewise.ingest.string_rows import take
from edgewise.ingest.string_table import Batch, string_at
from edgewise.ingest.string_words import Strings, copy_bytes, hash_bytes, same_bytes
from edgewise.ingest.strings import StringNumbers
from edgewise.streams.file_stream import StreamedPairs
from edgewise.streams.graph import MarkedIds
from edgewise.streams.parts import Part
from edgewise.streams.tasks import Task, TaskFolder, TaskRun

HALF, LOW, ONE, TWO = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(1), np.uint64(2)
#: Odd number by which the upper half of a hash, whose first bits are often 0, is spread over 32 bits.
SPREAD = np.uint64(0x9E3779B1)
WORD, BIT = np.uint64(6), np.uint64(63)
#: Bytes of memory for each thread, which holds rows and blocks of strings.
BYTES_OF_THREAD = 3 << 26
#: Rows whose strings are divided at a time.
BATCH_ROWS = 1 << 18
#: Strings that a thread numbers at a time, and their bytes.
BLOCK = 1 << 18
BLOCK_BYTES = 1 << 24
#: Rows of a table of clusters that are made at a time: those of a row group.
TABLE_ROWS = 1 << 18
#: What is known of the strings of a partition in a block.
SLICE = "count", "size", "width", "position", "lengths_at", "text_at", "positions_at"
#: Files of the strings of a partition, in the order in which they appear first: where, lengths, and bytes.
FILES = "first", "lengths", "text"
#: Bytes that a table takes for a string, besides its text, which is there twice while the table grows.
BYTES_OF_STRING = 64
#: Bytes of marks for each row: two bits, and counts of 64.
MARKS_OF_ROW = 0.5
#: Tasks that number the partitions, for each slot: threads wait for each other where one ends, and the disk
#: holds the strings of its partitions until then.
TABLE_TASKS = 4
#: Largest number of these tasks, each of which reads a file of every part.
MOST_FILES = 128
#: Threads that write the strings of a batch.
WRITERS = 4
#: Largest number of partitions.
MOST_PARTITIONS = 1 << 10
#: Bytes of a table that are always allowed.
LEAST_TABLE = 1 << 24


def threads_within(memory: int) -> int:
    """So many threads as have room in some memory, at least one."""
    return max(1, min(threads.count(), memory // BYTES_OF_THREAD))


class Shape(NamedTuple):
    """How strings are divided.

    Attributes
    ----------
    partitions : int
        More than :data:`MOST_PARTITIONS` if the memory is too little.
    together : int
        Partitions whose tables are in memory at the same time.
    memory : int
        Bytes that a table may take.
    in_file : int
        Partitions whose strings are in one file, and numbered by one task.
    """

    partitions: int
    together: int
    memory: int
    in_file: int

    @classmethod
    def of(cls, count: int, size: int, memory: int, slots: int = 1) -> Shape:
        """The shape for ``count`` strings, of ``size`` bytes in all, of which each may be another one.

        >>> Shape.of(1000, 10_000, 10**9).partitions, Shape.of(1000, 10_000, 1).partitions
        (1, 84000)
        """
        needed = table_bytes(count, size)
        together = min(threads_within(memory), max(1, MOST_PARTITIONS * memory // max(needed, 1)))
        partitions = max(1, -(-needed * together // memory))
        of_task = -(-partitions // min(TABLE_TASKS * slots, MOST_FILES))
        return cls(partitions, together, memory // together, -(-of_task // together) * together)

    @property
    def files(self) -> list[int]:
        """Where the partitions of each file begin, and the last ones end."""
        return [*range(0, self.partitions, self.in_file), self.partitions]


class Divided(NamedTuple):
    """The strings of a batch by partitions, without sources that are equal to those before.

    Attributes
    ----------
    rows : int
        Of the batch.
    starts, text_starts : (partitions + 1,) int64 arrays
        Where the strings of each partition begin, and their bytes.
    lengths : (strings,) array of unsigned integers
    positions : (strings,) uint32 array
        Positions in the batch, ascending in each partition.
    text : (bytes,) uint8 array
    """

    rows: int
    starts: Any
    text_starts: Any
    lengths: Any
    positions: Any
    text: Any


@device
def is_repeated(position, batch):
    """Whether a string is a source that is equal to that of the row before."""
    if position & ONE or position == 0:
        return False
    text, start, length = string_at(position, batch)
    _, before, other_length = string_at(position - TWO, batch)
    return length == other_length and same_bytes(text, start, text, before, length)


@compiled
def count_strings(batch, partitions, found, counts, sizes):
    """Find the partition of each string, and how many each has and their bytes; return the largest length.

    Sources that are equal to those before are in none, which ``partitions`` stands for.
    """
    longest = np.int64(0)
    for position in range(np.uint64(2 * batch.rows)):
        if is_repeated(position, batch):
            found[position] = partitions
            continue
        text, start, length = string_at(position, batch)
        code = (hash_bytes(text, start, start + length) >> HALF) * SPREAD & LOW  # which tables do not use
        partition = code * partitions >> HALF
        found[position] = partition
        counts[partition] += 1
        sizes[partition] += length
        longest = max(longest, length)
    return longest


@compiled
def divide_strings(batch, found, places, text_places, divided):
    """Copy the strings of a batch, each to the next place of its partition."""
    for position in range(np.uint64(2 * batch.rows)):
        partition = found[position]
        if partition == len(places):
            continue
        place, at = places[partition], text_places[partition]
        text, start, length = string_at(position, batch)
        divided.lengths[place], divided.positions[place] = length, position
        copy_bytes(text, start, divided.text, at, length)
        places[partition], text_places[partition] = place + 1, at + length
    return 0


def divided(columns: list[Strings], partitions: int) -> Divided:
    """The strings of two columns of one length by partitions; several threads may call this at once.

    >>> from edgewise.ingest.string_words import strings_of
    >>> import pyarrow as pa
    >>> found = divided([strings_of(pa.array(["b", "ab"])), strings_of(pa.array(["ab", "b"]))], 1)
    >>> found.positions.tolist(), found.lengths.tolist(), bytes(found.text)
    ([0, 1, 2, 3], [1, 2, 2, 1], b'bababb')
    """
    rows = len(columns[0].starts) - 1
    batch = Batch(rows, ONE, columns[0], columns[1], np.uint64(0))
    found = np.empty(2 * rows, np.uint16)
    counts, sizes = np.zeros(partitions, np.int64), np.zeros(partitions, np.int64)
    longest = int(count_strings(batch, np.uint64(partitions), found, counts, sizes))
    starts, text_starts = (np.cumsum([0, *each_one]) for each_one in (counts, sizes))
    lengths, positions = np.empty(starts[-1], np.uint32), np.empty(starts[-1], np.uint32)
    made = Divided(rows, starts, text_starts, lengths, positions, np.empty(text_starts[-1], np.uint8))
    divide_strings(batch, found, starts[:-1].copy(), text_starts[:-1].copy(), made)
    return made._replace(lengths=lengths.astype(np.min_scalar_type(longest)))


class StringWriter:
    """Context that writes the strings of batches, block by block, by partitions.

    Files of some partitions each have the strings, which nobody needs once their first positions are known,
    and another one has the positions.  What begins where in a block is in an array beside them.
    """

    def __init__(self, folder: TaskFolder, name: str, shape: Shape):
        self.folder, self.name, self.shape = folder, name, shape
        self.partitions = shape.partitions
        self.starts: list[np.ndarray] = []

    def __enter__(self) -> StringWriter:
        bounds = list(pairwise(self.shape.files))
        names = [positions_of(self.name), *(strings_file(self.name, number) for number in range(len(bounds)))]
        with ExitStack() as files:
            self.positions, *strings = (files.enter_context(self.folder.opened(one)) for one in names)
            self.strings = list(zip(strings, bounds, strict=True))
            self.pool = files.enter_context(ThreadPoolExecutor(min(len(names), WRITERS, threads.count())))
            self.files = files.pop_all()
        return self

    def write(self, block: Divided) -> None:
        """Append a block, several files at a time: one thread alone is slower than those that decode."""
        writing = [self.pool.submit(self.positions.write, block.positions.data)]
        writing += [self.pool.submit(_append, file, block, *bounds) for file, bounds in self.strings]
        for one in writing:
            one.result()
        facts = [block.rows, block.lengths.itemsize]
        self.starts.append(np.concatenate([block.starts, block.text_starts, facts]))

    def __exit__(self, *error: Any) -> Any:
        handled = self.files.__exit__(*error)
        if error[0] is None:
            starts = np.array(self.starts, np.int64).reshape(-1, 2 * self.partitions + 4)
            self.folder.write_array(f"{self.name}.starts.npy", starts)
            counts = np.diff(starts[:, : self.partitions + 1], axis=1).sum(axis=0)
            self.facts = {"counts": counts.tolist()}
        return handled


def _append(file, block, first, end):
    """Append the strings of the partitions ``first .. end - 1`` of a block to a file."""
    for array, starts in (block.lengths, block.starts), (block.text, block.text_starts):
        file.write(array[starts[first] : starts[end]].data)


def positions_of(part: str) -> str:
    """Name of the file with the positions of the strings of a part."""
    return f"{part}.positions"


def strings_file(part: str, number: int) -> str:
    """Name of the file with the strings of some partitions of a part."""
    return f"{part}-{number:03}.strings"


class DividedPairs(StreamedPairs):
    """Pairs of strings, which the threads that decode divide by partitions."""

    batch_rows = BATCH_ROWS
    takes_coded = False

    def choose(self, batch):
        for chosen in super().choose(batch):
            columns = self.ids.numbers.plain(*chosen.ids)
            yield chosen._replace(batch=divided(columns, self.stream.writer.partitions), keep=None)

    def _take(self, block):
        self.stream.writer.write(block)
        self.stream.edges += block.rows


class StringsPart(Part):
    """The strings of some files, which a ``writer`` writes by partitions."""

    def __init__(self, files, how, writer):
        super().__init__(files, how)
        self.writer = writer

    def _pairs(self, schema):
        return DividedPairs(schema, self)

    def _finish(self, pairs):
        return self._facts(pairs)


def strings_divided(folder: TaskFolder, name: str, *, files: dict, how: dict) -> dict:
    """Task: write the strings of some files by partitions."""
    few = threads.limited(threads_within(how["memory"]))
    with few, StringWriter(folder, name, Shape(*how["shape"])) as writer:
        facts = StringsPart(files, how, writer).found()
    return facts | writer.facts


def number_strings(run: TaskRun, parts: list[str], columns: ColumnNumbers, shape: Shape, count: int) -> tuple:
    """Number the strings of all parts, which have ``count`` positions.

    Returns names of the tasks of all partitions and of their marks, the type of the strings, and how many
    differ.
    """
    attempt, words = parts[0].partition("-")[0], "the numbering of strings"
    how = {"shape": tuple(shape), "positions": count, "utf8": columns.utf8}
    tables = [f"{attempt}-strings-{number:05}" for number in range(shape.partitions)]
    numbered, tasks = list(enumerate(tables)), []
    for file, (start, end) in enumerate(pairwise(shape.files)):
        given = {"parts": parts, "file": file, "tables": numbered[start:end], "how": how}
        spent = tuple(strings_file(part, file) for part in parts)
        tasks.append(Task(f"{attempt}-first-{start:05}", first_positions, given, words, spent=spent))
    found = run.run(tasks)
    marks = f"{attempt}-marks"
    facts = run.run([Task(marks, positions_marked, {"tables": tables, "how": how}, words)])[marks]
    is_wide = sum(one["bytes"] for one in found.values()) > np.iinfo(np.int32).max
    return (tables, marks), columns.wide if is_wide else columns.kind, facts["count"]


def strings_of_partition(
    folder: TaskFolder, parts: list[str], file: int, shape: Shape, partition: int, kind: Any
) -> Iterator[tuple]:
    """Yield strings of a partition and their positions, about a block at a time, in the order of these."""
    before = 0
    for part in parts:
        slices, n_positions = _slices(folder, part, partition, shape.files[file : file + 2])
        names = [folder.file(name) for name in (strings_file(part, file), positions_of(part))]
        with open(names[0], "rb") as strings, open(names[1], "rb") as places:
            for some in _blocks(slices):
                counts, sizes, width = some["count"], some["size"], int(some["width"][0])
                lengths = np.empty(counts.sum(), f"u{width}")
                text: Any = np.zeros(sizes.sum() + 1, np.uint8)
                found = np.empty(len(lengths), np.uint32)
                _read_slices(repeat(strings), some["lengths_at"], counts, lengths)
                _read_slices(repeat(strings), some["text_at"], sizes, text)
                _read_slices(repeat(places), some["positions_at"], counts, found)
                positions = found.astype(kind) + np.repeat((some["position"] + before).astype(kind), counts)
                yield _strings(lengths, text), positions
        before += n_positions


def _slices(folder, part, partition, bounds):
    """Where the strings of a partition are in the files of a part, by blocks with some; and positions.

    ``bounds`` are those of the partitions whose strings are in the same file.
    """
    starts = folder.mapped(f"{part}.starts.npy")
    own, text = np.hsplit(starts[:, :-2], 2)
    ends_of_rows, widths = np.cumsum(starts[:, -2]), starts[:, -1]
    strings, sizes = (np.diff(one[:, bounds], axis=1)[:, 0] for one in (own, text))
    ends, before = np.cumsum(widths * strings + sizes), np.cumsum(own[:, -1]) - own[:, -1]
    found = np.empty(len(starts), [(name, np.int64) for name in SLICE])
    found["count"], found["size"] = (
        np.diff(one[:, partition : partition + 2], axis=1)[:, 0] for one in (own, text)
    )
    earlier, earlier_text = (one[:, partition] - one[:, bounds[0]] for one in (own, text))
    found["lengths_at"] = ends - sizes - widths * strings + widths * earlier
    found["text_at"] = ends - sizes + earlier_text
    found["positions_at"] = 4 * (before + own[:, partition])
    found["width"], found["position"] = widths, 2 * (ends_of_rows - starts[:, -2])
    return found[found["count"] > 0], 2 * int(starts[:, -2].sum())


def _blocks(slices):
    """Yield consecutive slices of equal widths that have about a block of strings together."""
    start = 0
    while start < len(slices):
        left = slices[start:]
        ends = (np.cumsum(left["count"]) >= BLOCK) | (np.cumsum(left["size"]) >= BLOCK_BYTES)
        ends[:-1] |= left["width"][1:] != left["width"][:-1]
        ends[-1] = True
        stop = start + int(ends.argmax()) + 1
        yield slices[start:stop]
        start = stop


def _read_slices(files, places, counts, array):
    """Read a slice of each of some files, from a place in bytes on, into an array, one behind the other."""
    content, at = memoryview(array).cast("B"), 0
    for file, place, count in zip(files, places.tolist(), counts.tolist()):
        end = at + count * array.itemsize
        file.seek(place)
        while at < end:  # the system reads less than 2 GiB at a time, and some file systems less still
            if not (size := file.readinto(content[at:end])):
                raise FileError(file.name, "is shorter than it was written")
            at += size


def _opened(paths):
    """Yield files, of which one is open at a time."""
    for path in paths:
        with open(path, "rb", buffering=0) as file:  # in half of the time
            yield file


def _strings(lengths, text, kind=None):
    """Strings one behind the other, in arrays of the types that tables of strings take."""
    kind = kind or (np.int32 if len(text) <= np.iinfo(np.int32).max else np.int64)
    starts: Any = np.zeros(len(lengths) + 1, kind)
    np.cumsum(lengths, dtype=kind, out=starts[1:])
    starts.flags.writeable = text.flags.writeable = False  # one type for the loops, as of constant memory
    return Strings(starts, text)


def first_positions(
    folder: TaskFolder, name: str, *, parts: list[str], file: int, tables: list, how: dict
) -> dict:
    """Task: find where each string of some partitions appears first, and write that for all their strings.

    Also written are the strings, in the order in which they appear first, and these positions.  ``tables``
    are the numbers of the partitions in a ``file`` of each part, and the names of the files of their tables;
    threads take one partition each.
    """
    shape = Shape(*how["shape"])
    with ThreadPoolExecutor(min(shape.together, threads.count())) as pool:
        found = list(pool.map(partial(_number_partition, folder, parts, file, how), tables))
    return {"counts": [count for count, _ in found], "bytes": sum(size for _, size in found)}


@compiled
def replace_by_first(numbers, known, first, positions):
    """Replace the positions of strings by those where they appear first; note these for new strings."""
    following = np.uint64(known)
    for item in range(np.uint64(len(numbers))):
        number = np.uint64(numbers[item])
        if number == following:
            first[number] = positions[item]
            following += ONE
        positions[item] = first[number]
    return 0


def _number_partition(folder, parts, file_number, how, table):
    """Write the first positions of the strings of one partition; return their number and bytes."""
    (partition, name), shape = table, Shape(*how["shape"])
    count = sum(folder.facts_of(part)["counts"][partition] for part in parts)
    numbers, first = StringNumbers(count), Growing(index_type(how["positions"]))
    source = folder, parts, file_number, shape
    if how["positions"] > tuning.CPU.ingest_strings:  # of all, for which the loops are loaded
        numbers.enter_known()
    with threads.limited(1), folder.opened(f"{name}.firsts") as file:
        for strings, positions in strings_of_partition(*source, partition, first.array.dtype):
            found, known = np.empty(len(positions), np.uint32), numbers.count
            numbers.add([strings], [found])
            first.extend(numbers.count - known)
            replace_by_first(found, known, first.array, positions)
            file.write(positions.data)
            _check_table(numbers, shape.memory)
    if how["utf8"]:
        numbers.check_utf8(0)
    lengths, text = np.diff(numbers.offsets.used_items()).astype(np.uint32), numbers.arena.used_items()
    for what, array in zip(FILES, (first.used_items(), lengths, text), strict=True):
        with folder.opened(f"{name}.{what}") as file:
            file.write(array.data)
    return numbers.count, len(text)


def _check_table(numbers, memory):
    """Raise OutOfMemoryError if a table has become larger than its partition was expected to be."""
    needed = table_bytes(numbers.count, numbers.arena.used)
    if needed > max(memory, LEAST_TABLE):
        given = argument("memory", memory)
        raise OutOfMemoryError(
            f"{given} is too little for these strings, which are longer than the files' sizes suggest: a "
            f"partition of them needs {needed:,} bytes; give at least {2 * needed:,}"
        )


def table_bytes(count: int, size: int) -> int:
    """Bytes that a table of ``count`` strings, of ``size`` bytes in all, takes at most."""
    return BYTES_OF_STRING * count + 2 * size


@each
def mark(index, positions, words):
    """Mark a position."""
    position = np.uint64(positions[index])
    fetch_or(words, position >> WORD, ONE << (position & BIT))


def positions_marked(folder: TaskFolder, name: str, *, tables: list[str], how: dict) -> dict:
    """Task: mark all positions at which a string appears first."""
    kind = index_type(how["positions"])
    words = np.zeros(-(-how["positions"] // 64) + 1, np.uint64)
    for positions in read_ahead(np.fromfile(folder.file(f"{table}.first"), kind) for table in tables):
        mark(len(positions), positions, words)
    before: Any = np.zeros(len(words) + 1, kind)
    np.cumsum(np.bitwise_count(words), dtype=before.dtype, out=before[1:])
    folder.write_array(f"{name}.words.npy", words)
    folder.write_array(f"{name}.before.npy", before)
    return {"count": int(before[-1])}


def _marks(folder, name):
    return Marks(*(np.load(folder.file(f"{name}.{what}.npy")) for what in Marks._fields))


@each
def place_numbers(index, positions, firsts, marks, ends):
    """Write the number of a string to its position."""
    ends[positions[index]] = marks_below(np.uint64(firsts[index]), marks)


@compiled
def repeat_sources(ends, none):
    """Write the number of a source to the rows behind it that have none."""
    for position in range(np.uint64(2), np.uint64(len(ends)), TWO):
        if ends[position] == none:
            ends[position] = ends[position - TWO]
    return 0


def numbered_pairs(folder: TaskFolder, parts: list[str], part: int, how: dict, take: Any) -> Iterator[Any]:
    """Yield ``take(highs, lows)`` of the pairs of numbers of a part, block by block.

    ``highs`` are the larger numbers, ``lows`` the smaller ones.  Several threads call ``take`` at once, for
    loops of one thread.
    """
    (tables, marks), kind = how["strings"][0], np.dtype(how["ranges"][-1])
    facts = folder.mapped(f"{parts[part]}.starts.npy")
    starts, rows = facts[:, : len(tables) + 1], facts[:, -2]
    counts = np.diff(starts, axis=1)
    earlier = [folder.facts_of(one)["counts"] for one in parts[:part]]
    begins = np.cumsum([np.sum([0 * counts.sum(axis=0), *earlier], axis=0), *counts], axis=0)
    blocks = np.cumsum([0, *starts[:, -1]])
    bits, firsts = _marks(folder, marks), [folder.file(f"{one}.firsts") for one in tables]
    path = folder.file(positions_of(parts[part]))

    def taken(block):
        count = starts[block, -1]
        found, positions = np.empty(count, bits.before.dtype), np.empty(count, np.uint32)
        _read_slices(_opened(firsts), begins[block] * found.itemsize, counts[block], found)
        _read_slices(_opened([path]), 4 * blocks[block : block + 1], starts[block, -1:], positions)
        ends = np.empty(2 * rows[block], kind)
        if count < len(ends):
            ends[::2] = none = np.iinfo(kind).max
        with threads.limited(1):
            place_numbers(count, positions, found, bits, ends)
            if count < len(ends):
                repeat_sources(ends, none)
            return take(np.maximum(ends[::2], ends[1::2]), np.minimum(ends[::2], ends[1::2]))

    beside = 1 if INTERPRETED else threads_within(how["memory"])  # whose operations are not atomic
    return in_order(taken, range(len(starts)), beside, "edgewise-pairs")


@each
def order_rows(index, positions, marks, start, rows):
    """Note in which row of some columns the string of a number is."""
    rows[marks_below(np.uint64(positions[index]), marks) - start] = index


class PartitionedStrings:
    """The distinct strings numbered ``first .. first + count - 1`` of all partitions, by blocks.

    ``numbers`` are the tasks of all partitions, and the one that has marked positions; ``kind`` is the type
    of the strings, which stay in their files.
    """

    def __init__(self, folder: TaskFolder, numbers: tuple, kind: Any, first: int, count: int):
        tables, marks = numbers
        self.marks, self.kind = _marks(folder, marks), kind
        self.starts = np.append(np.arange(first, first + max(count, 1), TABLE_ROWS), first + count)
        self.files = [[folder.file(f"{table}.{what}") for table in tables] for what in FILES]
        places, later = np.zeros(len(self.starts), self.marks.before.dtype), self.starts > 0
        places[later] = MarkedIds(*self.marks).take(self.starts[later] - 1) + 1  # behind the numbers before
        bounds = [self._bounds(places, *files) for files in zip(*self.files[:2])]
        #: Where the blocks begin and the last one ends in each partition: its strings, and their bytes.
        self.bounds, self.text_bounds = np.array(bounds).transpose(1, 0, 2)

    def _bounds(self, places, positions, lengths):
        """Where the blocks begin and the last one ends in a partition: its strings, and their bytes."""
        bounds = np.searchsorted(np.fromfile(positions, places.dtype), places)
        return bounds, np.cumsum(np.append(0, np.fromfile(lengths, np.uint32)), dtype=np.int64)[bounds]

    def block(self, number: int) -> Any:
        """The strings of a block, as an Arrow array; several threads may call this at once."""
        import pyarrow as pa

        bounds = [each_one[:, number : number + 2] for each_one in (self.bounds, self.text_bounds)]
        if not (count := np.diff(bounds[0]).sum()):
            return pa.array([], self.kind)
        positions, lengths, text = (
            self._read(files, part, dtype)
            for files, part, dtype in zip(
                self.files, (bounds[0], *bounds), (self.marks.before.dtype, np.uint32, np.uint8)
            )
        )
        strings = _strings(lengths, text, np.int64)
        buffers = [None, pa.py_buffer(strings.starts), pa.py_buffer(strings.text)]
        wide = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}.get(self.kind, self.kind)
        column = pa.Array.from_buffers(wide, count, buffers)
        rows = np.empty(count, np.int64)
        with threads.limited(1):
            order_rows(count, positions, self.marks, int(self.starts[number]), rows)
            return take(column, rows).cast(self.kind)

    @staticmethod
    def _read(files, bounds, dtype):
        """What all partitions have of a block in files of a kind."""
        counts = np.diff(bounds)[:, 0]
        array: Any = np.empty(counts.sum(), dtype)
        _read_slices(_opened(files), bounds[:, 0] * array.itemsize, counts, array)
        return array
