"""The ways from tables of pairs to a table of clusters, what each needs, and the first one that fits.

In memory all pairs are there at once; a stream keeps a parent for each id; and by ranges, ids and pairs are
on disk (:mod:`~edgewise.streams.contraction`).  What they need follows from the footers of Parquet files, or
the sizes of text files, and from a sample: the rows that come first.  The bytes for a row and for an id are
measured (``bench/memory.py jobs``).
"""

from __future__ import annotations

import sys
from contextlib import closing
from functools import partial
from math import exp, expm1
from typing import Any, NamedTuple

from edgewise import memory, tuning
from edgewise.device import threads
from edgewise.errors import OutOfMemoryError
from edgewise.files.formats import magic
from edgewise.files.json_lines import is_json_lines
from edgewise.files.layout import later_fields, look
from edgewise.files.pair_tables import table_of
from edgewise.files.text_table import by_attempts
from edgewise.ingest.arrow import value_type
from edgewise.ingest.default_columns import default_weight
from edgewise.ingest.numerals import is_integer
from edgewise.ingest.pair_columns import PairBatches, PairColumns, numbers_in
from edgewise.streams.file_stream import FileStream, StreamedPairs
from edgewise.streams.partitioned_strings import MARKS_OF_ROW, TABLE_TASKS
from edgewise.streams.union import Union
from edgewise.streams.way_names import IN_MEMORY, ON_DISK, STREAMED
from edgewise.workers import device_team

#: Bytes of Python, the packages and the kernels; of the libraries for tables; and of kernels for strings.
BASE, OF_TABLES, OF_STRINGS = 180_000_000, 15_000_000, 40_000_000
#: Bytes that allocators keep while text is parsed, for each byte of it, and at most.
OF_TEXT, MOST_OF_TEXT = 3, 60_000_000
#: What a way may need more than is estimated.
MARGIN = 1.05
#: The same where few rows are read, for which nothing is compiled or loaded.
WITHOUT_KERNELS, FEW = 110_000_000, 1 << 13
#: Bytes for each pair in memory, beside those of strings; and for each id.
OF_PAIR, OF_STRING_PAIR, OF_ID, OF_STRING = 21, 8, 6, 22
#: Bytes for each id of a stream: of numbers up to the largest one, of other integers, and of strings.
OF_NUMBER, OF_INTEGER, OF_STREAMED_STRING = 12, 60, 35
#: Bytes that an id of a stream takes besides, if there are several thresholds.
OF_LEVEL = 10
#: Bytes of a forest: for each edge in memory; and of a stream, for each number of a vertex.
OF_EDGE, OF_STREAMED_TREE = 45, 460
#: Bytes of a score, which is read and then copied.
WEIGHT = 8
#: Bytes of a row group that is decoded, for each row, and for each byte of an id that is a string.
DECODED, DECODED_TEXT = 24, 2.5
#: Rows that are decoded at a time, at most, and how many times as many wait to be numbered.
GROUP, WAITING = 1 << 20, 2
#: Bytes that a range on disk has at least, and those for each pair and id there.
LEAST_RANGE, PAIR_ON_DISK, ID_ON_DISK = 64_000_000, 8, 9
#: Bytes on disk of where a string is, and of its length, beside its text with an offset of Arrow.
OF_POSITION, OF_LENGTH = 4, -2
#: Rows of which the ids are looked at.
SAMPLE = 1 << 17
#: Digits of integers that may fit no type.
DIGITS = 19
#: Bisections of the number of distinct ids.
BISECTIONS = 60


class Pairs(NamedTuple):
    """What is known of tables of pairs before they are read.

    Attributes
    ----------
    rows : int
        Those that are kept.
    ids : str
        ``"strings"``, or integers that are ``"dense"`` or ``"sparse"``.
    distinct : int
        Ids that occur.
    end : int
        Dense ids are below it.
    length : float
        Mean bytes of a string.
    exact : bool
        Whether nothing but the number of distinct ids is from a sample.
    text_bytes : int
        Those of the files, if these are text.
    weights : bool
        Whether there is a column that is read as weights where none is named.
    """

    rows: int
    ids: str
    distinct: int
    end: int
    length: float
    exact: bool
    text_bytes: int = 0
    weights: bool = True

    @property
    def has_kernels(self) -> bool:
        """Whether there are so many strings that they are numbered by kernels."""
        return self.ids == "strings" and 2 * self.rows >= tuning.CPU.ingest_strings

    @property
    def program_bytes(self) -> int:
        """Bytes of the program while the pairs are read, with what allocators keep."""
        kept = min(MOST_OF_TEXT, OF_TEXT * self.text_bytes) // (1 if self.ids == "strings" else 2)
        return BASE + OF_TABLES + OF_STRINGS * self.has_kernels + kept


class Way(NamedTuple):
    """A way, the bytes of memory at its peak, the program included, and those on disk."""

    name: str
    bytes: int
    disk_bytes: int


class Survey(FileStream):
    """A stream of which nothing is read but a sample: whether ids are dense does not depend on memory."""

    def _max_vertices(self):
        return sys.maxsize


def pairs_of(path: Any, columns: dict, n_vertices: int | None = None) -> Pairs:
    """What is known of tables, with the options of :func:`edgewise.stream_components`."""
    stream = Survey(path, columns, Union(), n_vertices, device_team("cpu"))
    plan, sampled, kept, ids, weights = by_attempts(partial(_sample, stream))
    memory.release_unused()
    size = sum(size for _, size, _ in stream.shards.stamps)
    rows, text_bytes = plan.rows, 0
    if rows is None:
        rows, text_bytes = _rows_of(stream.shards.source_of(0), size, ids.length)
    rows = max(kept, int(rows * kept / max(sampled, 1)))
    distinct = distinct_among(ids.distinct, 2 * ids.drawn, 2 * rows, ids.elsewhere)
    dense = plan.ids == "dense"
    end = (plan.room or min(plan.limit, max(ids.largest + 1, distinct))) if dense else 0
    distinct = min(distinct, end) if dense else distinct
    exact = plan.rows is not None and kept == sampled
    return Pairs(rows, plan.ids, distinct, end, ids.length, exact, text_bytes, weights)


class Elsewhere(NamedTuple):
    """Of the ids of later rows: how many differ, and how many of them are among those of the first rows."""

    distinct: int
    known: int


NOT_LOOKED_AT = Elsewhere(0, 0)


class Columns(NamedTuple):
    """Of the ids of some rows: how many differ, the largest number, mean bytes, and those elsewhere."""

    drawn: int
    distinct: int
    largest: int
    length: float
    elsewhere: Elsewhere = NOT_LOOKED_AT


def _sample(stream, attempt):
    """The plan for the ids, and what the first rows show.

    That is how many there are, how many are kept, the facts of their ids, and whether they have weights.
    ``attempt`` is one of those to read text (:func:`~edgewise.files.text_table.by_attempts`).
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    schema = stream.shards.schema(attempt)
    plan = stream.plan_for(StreamedPairs(schema, stream))
    weights = default_weight(schema.names, numbers_in(schema), stream.shards.id_columns) is not None
    chosen = _first_chosen(stream, attempt, (0, 0))
    if chosen is None:
        return plan, 0, 0, Columns(0, 0, -1, 0.0), weights
    columns = _ids_of(chosen)
    ids = _distinct(columns)
    later = _later_ids(stream, attempt, plan, ids.type)
    numbers = pa.types.is_integer(ids.type)
    largest = max(pc.max(one).as_py() or 0 for one in (ids, later)) if numbers and len(ids) else -1
    length = sum(one.nbytes for one in columns) / max(2 * len(columns[0]), 1)
    known = pc.sum(pc.is_in(later, value_set=ids)).as_py() or 0
    found = Columns(len(columns[0]), len(ids), largest, length, Elsewhere(len(later), known))
    return plan, chosen.rows, chosen.batch.num_rows, found, weights


def _first_chosen(stream, attempt, after):
    """What is chosen of the first batch after some rows, as of :meth:`PairFiles.chosen`; None without one."""
    source, target = stream.shards.id_columns
    wanted = PairColumns(source, target, None, stream.columns["where"], stream.columns["null"])
    pairs = PairBatches(stream.shards.schema(attempt), wanted)
    # the caller reads, and nothing ahead of need
    reading = stream.shards.chosen(pairs, 0, attempt=attempt, after=after)
    with threads.limited(1), closing(reading) as found:
        return next(found, (0, 0, None))[2]


def _later_ids(stream, attempt, plan, kind):
    """Different ids of later rows, in the type of those before; none where it takes long to get there."""
    import pyarrow as pa

    part = len(stream.shards.paths) // 2
    source = stream.shards.source_of(part)
    if plan.rows is not None:
        chosen = _first_chosen(stream, attempt, (part, table_of(source).rows // 2))
        return pa.array([], kind) if chosen is None else _distinct(_ids_of(chosen)).cast(kind, safe=False)
    if magic(source) or is_json_lines(source) or stream.columns["where"] is not None:
        return pa.array([], kind)
    sample, names = look(source), stream.shards.id_columns
    places = [place for place, name in enumerate(sample.rows[0]) if name in names]
    later = later_fields(source, sample, places)
    if pa.types.is_integer(kind):
        return pa.array({int(one) for one in later if is_integer(one) and len(one) < DIGITS}, kind)
    return pa.array(later, pa.string()).cast(kind)


def _ids_of(chosen):
    """The two columns of the ids of some rows."""
    return [one.slice(0, SAMPLE).cast(value_type(one.type)) for one in chosen.ids]


def _distinct(columns):
    """The different ids of columns."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if columns[0].type != columns[1].type:  # text and bytes, offsets or numbers of two widths
        are_numbers = all(pa.types.is_integer(one.type) for one in columns)
        kind = pa.uint64() if are_numbers else pa.large_binary()
        columns = [one.cast(kind, safe=False) for one in columns]
    return pc.unique(pa.chunked_array(columns))


def _rows_of(source, size, length):
    """About the rows of files of so many bytes, of which ``source`` is the first, and the bytes of text."""
    if magic(source):
        return int(size / max(2 * length, 1)), 0
    files = size / source.size
    return int(source.number_of_lines() * files), int(source.text_bytes() * files)


def distinct_among(found: int, drawn: int, total: int, elsewhere: Elsewhere = NOT_LOOKED_AT) -> int:
    """Different ids among all, if ``found`` of ``drawn`` ones differ and each is as likely everywhere.

    If fewer ids ``elsewhere`` are known than by this, as in sorted files, there are more ids: those of which
    the first ``found`` are the share that is known elsewhere.  There are at most as many for each row as
    among the first ones.

    Examples
    --------
    >>> distinct_among(1000, 1000, 5000), distinct_among(10, 1000, 5000)
    (5000, 10)
    >>> distinct_among(10, 1000, 5000, Elsewhere(10, 0)), distinct_among(10, 1000, 5000, Elsewhere(10, 5))
    (50, 20)
    """
    captured = found * elsewhere.distinct / max(elsewhere.known, 1)
    return round(max(_distinct_of_alike(found, drawn, total), min(captured, total * found / max(drawn, 1))))


def _distinct_of_alike(found, drawn, total):
    """Different ids among all if each is as likely everywhere."""
    if found >= drawn or total <= drawn:
        return total if found >= drawn else found
    low, high = float(found), 1e15
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if -middle * expm1(-drawn / middle) < found else (low, middle)
    return min(total, max(found, round(high * (1 - exp(-total / high)))))


def ways_of(pairs: Pairs, weighted: bool = False) -> list[Way]:
    """The ways for some pairs, from the fastest one on; ``weighted`` if their scores count, not on disk."""
    strings = pairs.ids == "strings"
    text = pairs.length if strings else 0.0
    of_row = (OF_STRING_PAIR if strings else OF_PAIR) + WEIGHT * weighted
    of_id = text + (OF_STRING if strings else OF_ID)
    read, joined = (_decoded(pairs, groups, text) for groups in (WAITING, 1))
    whole = read + pairs.rows * of_row + pairs.distinct * of_id
    level = OF_LEVEL * weighted
    kept = {
        "dense": (OF_NUMBER + level) * pairs.end,
        "sparse": (OF_INTEGER + level) * pairs.distinct,
        "strings": (OF_STREAMED_STRING + text + level) * pairs.distinct,
    }
    base = pairs.program_bytes
    least = WITHOUT_KERNELS if pairs.rows < FEW else base
    decoded = joined if pairs.ids == "dense" else read  # numbers wait for no others
    ways = [Way(IN_MEMORY, int(least + whole), 0), Way(STREAMED, int(base + decoded + kept[pairs.ids]), 0)]
    if pairs.ids != "sparse" and not weighted:
        disk = PAIR_ON_DISK * pairs.rows + ID_ON_DISK * max(pairs.end, pairs.distinct)
        marks = MARKS_OF_ROW * pairs.rows if strings else 0.0
        disk = _disk_of_strings(pairs, text, disk) if strings else disk
        ways.append(Way(ON_DISK, int(base + decoded + LEAST_RANGE + marks), disk))
    return ways


def _disk_of_strings(pairs, text, numbers):
    """Bytes on disk of strings, and of ``numbers``, which take the place of where the strings are.

    They are most before the first task that numbers strings has ended, while its strings are still there, or
    when all are numbered.
    """
    places = 2 * pairs.rows * OF_POSITION
    read = 2 * pairs.rows * (text + OF_LENGTH)
    made = places + pairs.distinct * (text + OF_POSITION)  # first places, and distinct strings with theirs
    return int(max(places + read + made / TABLE_TASKS, places + read / TABLE_TASKS + made, numbers + made))


def _decoded(pairs, waiting, text):
    """Bytes of row groups that are decoded, and of those that wait, with so much text for each id."""
    return min(pairs.rows, (threads.count() + waiting) * GROUP) * (DECODED + DECODED_TEXT * text)


def ways_of_forest(pairs: Pairs) -> list[Way]:
    """The ways to a spanning forest, of which none is on disk."""
    text = pairs.length if pairs.ids == "strings" else 0.0
    whole = pairs.rows * OF_EDGE + pairs.distinct * (OF_STRING + text)
    filtered = threads.count()  # groups of which the edges are copied that may be in the forest
    decoded = _decoded(pairs, WAITING + filtered, text + WEIGHT / 2)
    kept = pairs.distinct * (OF_STREAMED_TREE + text)
    base = pairs.program_bytes
    return [Way(IN_MEMORY, int(base + whole), 0), Way(STREAMED, int(base + decoded + kept), 0)]


def first_that_fits(ways: list[Way], allowed: tuple[str, ...], most: memory.MemoryLimit) -> Way:
    """The first of the ``allowed`` ways that fits a limit, or OutOfMemoryError with the need of each."""
    free = most.bytes - most.held + memory.held()
    fitting = [way for way in ways if MARGIN * way.bytes <= free]
    for name in allowed:
        for way in fitting:
            if way.name == name:
                return way
    least = min(way.bytes for way in ways if way.name in allowed)
    need = ", ".join(f"{memory.in_words(way.bytes)} {way.name}" for way in ways)
    remedy = ", or ".join(
        [most.more(least - memory.held() + most.held), *(REMEDIES[way.name] for way in fitting)]
    )
    raise OutOfMemoryError(f"the job needs {need}, and {most.in_words()}; {remedy}")


def check_on_disk(path: Any, columns: dict, n_vertices: int | None, most: memory.MemoryLimit) -> None:
    """Raise OutOfMemoryError if the way on disk does not fit a limit; see :func:`pairs_of`."""
    found = [way for way in ways_of(pairs_of(path, columns, n_vertices)) if way.name == ON_DISK]
    if found:
        first_that_fits(found, (ON_DISK,), most)


#: What leads to a way that options exclude.
REMEDIES = {
    IN_MEMORY: "leave out --stream, --checkpoint and --vertices",
    STREAMED: "leave out what needs all pairs in memory",
    ON_DISK: "name a new folder with -o FOLDER/",
}
