"""Writing Parquet on several cores: row groups are encoded at the same time, and written in order.

Arrow encodes a file on one core.  Here each row group becomes a file of its own in memory, of which the pages
are copied into the file to be written.  The places of the pages, which the footer states, are moved by as
much as the pages are; nothing else of the footers changes.  The result is the same for every number of cores.

The footer is described in :mod:`edgewise.files.parquet_footer`.
"""

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from edgewise.device import threads
from edgewise.files.parquet_footer import (
    COLUMNS,
    INTEGERS,
    METADATA,
    ROW_GROUPS,
    STRUCT,
    unsigned_at,
    value_at,
)

#: Row groups that are encoded at the same time at most, since each is in memory twice.
MOST_AT_ONCE = 16
#: First and last bytes of a file, and bytes of the length of the footer.
MAGIC, LENGTH = b"PAR1", 4
#: Number of rows of a file, and number of a row group.
ALL_ROWS, ORDINAL = 3, 7
#: Fields that are places in the file: of a row group, of a chunk of a column, and of its metadata.
OF_GROUP, OF_CHUNK, OF_METADATA = (5,), (2, 4, 6), (9, 10, 11, 14)


def write_row_groups(tables, stream, options):
    """Write tables with one schema to a stream, each as a row group; there is at least one table.

    ``options`` are those of :func:`pyarrow.parquet.write_table`.
    """
    waiting: deque = deque()
    footers: list[tuple] = []
    position = len(MAGIC)
    workers = min(threads.count(), MOST_AT_ONCE)
    pool, encode = ThreadPoolExecutor(workers, "edgewise-encode"), partial(_encoded, options=options)
    stream.write(MAGIC)
    try:
        for table in tables:
            waiting.append(pool.submit(encode, table))
            if len(waiting) > workers:
                position = _append(waiting.popleft().result(), stream, position, footers)
        while waiting:
            position = _append(waiting.popleft().result(), stream, position, footers)
    finally:
        pool.shutdown(cancel_futures=True)
    footer = _joined(footers)
    stream.write(footer + len(footer).to_bytes(LENGTH, "little") + MAGIC)


def _encoded(table, options):
    """A file with one row group, in memory."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    file = pa.BufferOutputStream()
    parquet.write_table(table, file, row_group_size=max(table.num_rows, 1), **options)
    return file.getvalue()


def _append(file, stream, position, footers):
    """Write the pages of a file at a position, and note its footer and how far they moved; return the end."""
    content = memoryview(file)
    end = len(content) - len(MAGIC) - LENGTH
    begin = end - int.from_bytes(content[end : end + LENGTH], "little")
    footers.append((bytes(content[begin:end]), position - len(MAGIC)))
    stream.write(content[len(MAGIC) : begin])
    return position + begin - len(MAGIC)


def _joined(footers):
    """The footer of a file with the row groups of all files."""
    groups: list[bytes] = []
    rows = 0
    for footer, distance in footers:
        fields = {number: (kind, start) for number, kind, start, _ in _fields(footer, 0)}
        rows += value_at(footer, fields[ALL_ROWS][1], INTEGERS[0])[0]
        for start, _ in _items(footer, fields[ROW_GROUPS][1]):
            groups.append(_moved_group(footer, start, distance, len(groups)))
    first = footers[0][0]
    changed = {ALL_ROWS: _signed(rows), ROW_GROUPS: _list(groups)}
    return _struct(first, 0, lambda number, start, end: changed.get(number, first[start:end]))


def _moved_group(data, at, distance, ordinal):
    """A row group with its places moved by a distance."""

    def of_places(places, inner):
        def change(number, start, end):
            if number in places:
                place = value_at(data, start, INTEGERS[0])[0]
                return _signed(place + distance if place > 0 else place)
            return inner(number, start, end)

        return change

    def metadata(number, start, end):
        return data[start:end]

    def chunk(number, start, end):
        if number == METADATA:
            return _struct(data, start, of_places(OF_METADATA, metadata))
        return data[start:end]

    def group(number, start, end):
        if number == COLUMNS:
            chunks = [_struct(data, one, of_places(OF_CHUNK, chunk)) for one, _ in _items(data, start)]
            return _list(chunks)
        return _signed(ordinal) if number == ORDINAL else data[start:end]

    return _struct(data, at, of_places(OF_GROUP, group))


def _fields(data, at):
    """Yield number, type, begin and end of each field of a structure."""
    number = 0
    while data[at]:
        step, kind = data[at] >> 4, data[at] & 15
        number, at = (number + step, at + 1) if step else value_at(data, at + 1, INTEGERS[0])
        end = value_at(data, at, kind)[1]
        yield number, kind, at, end
        at = end


def _items(data, at):
    """Begin and end of each item of a list of structures."""
    count, at = data[at] >> 4, at + 1
    if count == 15:
        count, at = unsigned_at(data, at)
    for _ in range(count):
        begin, at = at, value_at(data, at, STRUCT)[1]
        yield begin, at


def _struct(data, at, change):
    """A structure whose fields are what ``change(number, begin, end)`` returns."""
    parts, before = [], 0
    for number, kind, start, end in _fields(data, at):
        step = number - before
        head = bytes([step << 4 | kind]) if 0 < step < 16 else bytes([kind]) + _signed(number)
        parts += [head, change(number, start, end)]
        before = number
    return b"".join(parts) + b"\0"


def _list(items):
    """A list of structures."""
    count = len(items)
    head = bytes([count << 4 | STRUCT]) if count < 15 else bytes([0xF0 | STRUCT]) + _unsigned(count)
    return head + b"".join(items)


def _signed(number):
    return _unsigned(number << 1 ^ number >> 63)


def _unsigned(number):
    """A number in groups of seven bits, the lowest first."""
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    parts.append(number)
    return bytes(parts)
