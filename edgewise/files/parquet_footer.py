"""The footers of Parquet files: limits of integers, sizes and codes of columns, and one for several files.

Arrow reads footers too, but damage in the description of a column ends the process: where Python asks for a
column of a row group (``metadata.row_group(0).column(0)``), the C++ of Arrow raises an error that its Python
interface does not catch (measured with pyarrow 26).  Therefore nothing in this package asks for it.  Here
damage means that nothing is known.

The footer is a structure of Thrift's compact protocol, followed by its length and ``PAR1``.  The protocol
numbers the fields of a structure and writes the type of each, so that unknown fields can be read too:
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.  The numbers of the fields
are those of https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift.
"""

from contextlib import suppress
from typing import Any, NamedTuple

MAGIC = b"PAR1"
#: Bytes of the length of the footer.
LENGTH = 4
#: Bytes of a footer that is read, in less than a second.
FOOTER_BYTES = 1 << 21
#: Types of the compact protocol.
TRUE, FALSE, BYTE, INTEGERS, DOUBLE, BINARY, LISTS, STRUCT = 1, 2, 3, (4, 5, 6), 7, 8, (9, 10), 12
#: Types of what is written here.
I16, I32, I64, LIST = 4, 5, 6, 9
#: Fields of the file.
ALL_ROWS, ROW_GROUPS = 3, 4
#: Fields of a row group.
COLUMNS, ROWS, ORDINAL = 1, 3, 7
#: Field of a chunk of a column that has its metadata.
METADATA = 3
#: Fields of the metadata of a chunk.
KIND, ENCODINGS, PATH, CODEC, VALUES, SIZE, PACKED_SIZE, STATISTICS, PAGES = 1, 2, 3, 4, 5, 6, 7, 12, 13
#: Fields of the metadata of a chunk with the place of the first page of values, and that of the dictionary.
FIRST_PAGE, FIRST_CODES = 9, 11
#: The type of strings and bytes, and a compression.
BYTE_ARRAY, SNAPPY = 6, 1
#: Fields of the description of some pages of a chunk: their type and encoding; the type of dictionaries.
PAGE_TYPE, PAGE_ENCODING, DICTIONARY_PAGE = 1, 2, 2
#: Encodings of values by codes of a dictionary, and those of the levels that tell nulls.
BY_DICTIONARY, OF_LEVELS = {2, 8}, {3, 4}
#: A type of pages, and encodings: runs, and differences.
DATA_PAGE, OF_RUNS, BY_DIFFERENCES = 0, 3, 5
#: Fields of statistics with the least and the largest value.
ENDS = (6, 5)
#: Older fields with the least and the largest value, which are for signed integers alone.
OLD_ENDS = (2, 1)
#: Fields of a row group that are places in the file: its own, of a chunk, and of the metadata of a chunk.
PLACES: set[tuple] = {(5,), *((COLUMNS, field) for field in (2, 4, 6))}
PLACES |= {(COLUMNS, METADATA, field) for field in (9, 10, 11, 14)}
#: Bits of the longest number.
BITS = 64
#: What a damaged footer raises.
DAMAGE = (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError)


def integer_range(path, signed):
    """Least and largest integer in some columns, as the footer of the file states them.

    ``signed`` tells for each column, by its name, whether its type is signed.  Returns ``()`` if there is no
    row, and ``None`` where the footer does not say.
    """
    try:
        groups = [group for group in _row_groups(path) if group[ROWS]]
        chunks = [chunk[METADATA] for group in groups for chunk in group[COLUMNS]]
        chunks = [(chunk[PATH][0].decode(), chunk[STATISTICS]) for chunk in chunks if len(chunk[PATH]) == 1]
        limits = [limit for name, facts in chunks if name in signed for limit in _limits(facts, signed[name])]
    except DAMAGE:
        return None
    complete = len(limits) == 2 * len(signed) * len(groups)
    return (min(limits), max(limits)) if limits and complete else () if not groups else None


def column_sizes(path):
    """Bytes of each column in the first row group with rows, before compression, and the rows of that group.

    A column of several values in a row, such as a list, has the bytes of all.  Returns ``({}, 0)`` where the
    footer does not say.
    """
    sizes: dict[str, int] = {}
    try:
        empty: dict = {COLUMNS: (), ROWS: 0}
        group = next((group for group in _row_groups(path) if group[ROWS]), empty)
        for chunk in group[COLUMNS]:
            name, size = chunk[METADATA][PATH][0].decode(), chunk[METADATA][SIZE]
            sizes[name] = sizes.get(name, 0) + max(0, size)
        return sizes, max(0, group[ROWS])
    except DAMAGE:
        return {}, 0


class Chunk(NamedTuple):
    """What is in a chunk of a column, and where it is in the file.

    ``by_codes`` tells whether all values are codes of a dictionary, whose own page may have any encoding.
    ``begin`` is the place of the first page; ``packed`` and ``size`` are the bytes of all pages, also before
    compression.
    """

    by_codes: bool
    is_snappy: bool
    begin: int
    packed: int
    size: int


def string_chunks(path):
    """Yield for each row group the :class:`Chunk` of each flat column of strings or bytes, by its name.

    Nothing more is yielded where the footer does not say.
    """
    with suppress(*DAMAGE):
        for group in _row_groups(path):
            chunks = [chunk[METADATA] for chunk in group[COLUMNS]]
            text = [one for one in chunks if len(one[PATH]) == 1 and one[KIND] == BYTE_ARRAY]
            yield {one[PATH][0].decode(): _chunk(one) for one in text}


def _chunk(facts):
    begin = min(facts[FIRST_PAGE], facts.get(FIRST_CODES) or facts[FIRST_PAGE])
    return Chunk(_has_codes(facts), facts[CODEC] == SNAPPY, begin, facts[PACKED_SIZE], facts[SIZE])


def _has_codes(chunk):
    """Whether the values of a chunk are all codes of a dictionary."""
    if PAGES not in chunk:
        used = {*chunk[ENCODINGS]} - OF_LEVELS
    else:
        used = {page[PAGE_ENCODING] for page in chunk[PAGES] if page[PAGE_TYPE] != DICTIONARY_PAGE}
    return bool(used) and used <= BY_DICTIONARY


def footer_of(content):
    """The footer of a whole file in memory, and where it begins."""
    end = len(content) - len(MAGIC) - LENGTH
    begin = end - int.from_bytes(content[end : end + LENGTH], "little")
    return bytes(content[begin:end]), begin


class Page(NamedTuple):
    """A column of integers of a row group as its only page, encoded by differences and without nulls.

    Attributes
    ----------
    name : str
    size : int
        Bytes of a value, 4 or 8.
    rows : int
    ends : tuple of bytes
        The least and the largest value.
    parts : list of bytes
        The page, with its header.
    """

    name: str
    size: int
    rows: int
    ends: tuple[bytes, ...]
    parts: list

    def description(self, place):
        """The description of the chunk, the page of which is at a place of the file."""
        least, largest = (BINARY, _bytes(self.ends[0])), (BINARY, _bytes(self.ends[1]))
        ends = structure({3: (I64, signed(0)), ENDS[1]: largest, ENDS[0]: least})
        encodings = _list(I32, [signed(BY_DIFFERENCES), signed(OF_RUNS)])
        size = I64, signed(sum(map(len, self.parts)))
        facts = {KIND: (I32, signed(self.size // 4)), ENCODINGS: (LIST, encodings)}
        facts |= {PATH: (LIST, _list(BINARY, [_bytes(self.name.encode())])), CODEC: (I32, signed(0))}
        facts |= {VALUES: (I64, signed(self.rows)), SIZE: size, PACKED_SIZE: size}
        facts |= {FIRST_PAGE: (I64, signed(place)), STATISTICS: (STRUCT, ends)}
        return structure({2: (I64, signed(0)), METADATA: (STRUCT, structure(facts))})


class JoinedFooter:
    """The footer of a file with row groups of other files, which have one each, in order.

    ``footer`` is that of a file with the same schema.
    """

    def __init__(self, footer):
        self.groups: list[bytes] = []
        self.rows = 0
        spans: dict = {}

        def note(path, begin, end, value):
            if len(path) == 1:
                spans[path[0]] = begin, end

        value_at(footer, 0, STRUCT, note=note)
        (begin, end), (first, last) = spans[ALL_ROWS], spans[ROW_GROUPS]
        #: What is before the number of rows, before the row groups and behind them.
        self.parts = footer[:begin], footer[end:first], footer[last:]

    def add_pages(self, pages, place):
        """Add a row group of pages, one of each column, the first at a place of the file."""
        chunks, begin = [], place
        for page in pages:
            chunks.append(page.description(place))
            place += sum(map(len, page.parts))
        size, rows = (I64, signed(place - begin)), (I64, signed(pages[0].rows))
        group = {COLUMNS: (LIST, _list(STRUCT, chunks)), 2: size, ROWS: rows, 5: (I64, signed(begin))}
        self.groups.append(structure(group | {6: size, ORDINAL: (I16, signed(len(self.groups)))}))
        self.rows += pages[0].rows

    def add(self, footer, distance):
        """Add the footer of a file, the pages of which have moved by a distance."""
        spans: dict = {}
        changes: list[tuple] = []

        def note(path, begin, end, value):
            if len(path) == 1:
                spans[path[0]] = begin, end, value
            elif path[:1] == (ROW_GROUPS,):
                if path[1:] == (ORDINAL,):
                    changes.append((begin, end, len(self.groups)))
                elif path[1:] in PLACES and value > 0:
                    changes.append((begin, end, value + distance))

        value_at(footer, 0, STRUCT, note=note)
        first, last, _ = spans[ROW_GROUPS]
        parts: list[bytes] = []
        done = first + 1
        for at, stop, value in changes:
            parts += footer[done:at], signed(value)
            done = stop
        self.groups.append(b"".join([*parts, footer[done:last]]))
        self.rows += spans[ALL_ROWS][2]

    def content(self) -> bytes:
        """The footer."""
        begin, middle, end = self.parts
        return b"".join([begin, signed(self.rows), middle, _list(STRUCT, self.groups), end])


def _limits(facts, signed):
    """Least and largest value of a chunk."""
    fields = ENDS if ENDS[0] in facts or not signed else OLD_ENDS
    if {len(facts[field]) for field in fields} - {4, 8}:
        raise ValueError
    return [int.from_bytes(facts[field], "little", signed=signed) for field in fields]


def _row_groups(path):
    """Yield the row groups of a file, one by one, since there may be many."""
    with open(path, "rb") as file:
        file.seek(-LENGTH - len(MAGIC), 2)
        length = int.from_bytes(file.read(LENGTH), "little")
        if length > FOOTER_BYTES:
            raise ValueError
        file.seek(-LENGTH - len(MAGIC) - length, 2)
        data = file.read(length)
    field = at = 0
    while data[at]:
        field, kind, at = _field(data, at, field)
        if field == ROW_GROUPS and kind in LISTS:
            break
        at = value_at(data, at, kind)[1]
    else:
        raise ValueError
    count, kind, at = _begin_of_items(data, at)
    for _ in range(count):
        group, at = value_at(data, at, kind)
        yield group


def value_at(data, at, kind, path=(), note=None):
    """A value of some type, and where the next one begins; structures are dicts by the numbers of fields.

    ``note``, if given, is called with the path, begin, end and value of every value inside; the path is the
    numbers of the fields on the way.
    """
    begin = at
    value: Any = None
    if kind in (TRUE, FALSE):
        value = kind == TRUE
    elif kind in INTEGERS:
        number, at = unsigned_at(data, at)
        value = number >> 1 ^ -(number & 1)
    elif kind == STRUCT:
        value, field = {}, 0
        while data[at]:
            field, inner, at = _field(data, at, field)
            value[field], at = value_at(data, at, inner, (*path, field), note)
        at += 1
    elif kind in LISTS:
        count, inner, at = _begin_of_items(data, at)
        value = []
        for _ in range(count):
            is_flag = inner in (TRUE, FALSE)
            item, at = (data[at], at + 1) if is_flag else value_at(data, at, inner, path, note)
            value.append(item)
    elif kind in (BYTE, DOUBLE, BINARY):
        length, at = unsigned_at(data, at) if kind == BINARY else ({BYTE: 1, DOUBLE: 8}[kind], at)
        if at + length > len(data):
            raise ValueError
        value, at = data[at : at + length], at + length
    else:
        raise ValueError
    if note is not None:
        note(path, begin, at, value)
    return value, at


def unsigned_at(data, at):
    """A number in groups of seven bits, the lowest first."""
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at
        if shift > BITS:
            raise ValueError


def _begin_of_items(data, at):
    """Number and type of the items of a list, and where they begin."""
    count, kind = data[at] >> 4, data[at] & 15
    at += 1
    if count == 15:
        count, at = unsigned_at(data, at)
    return count, kind, at


def _field(data, at, before):
    """Number and type of a field, and where its value begins; ``before`` is the number of the last field."""
    step, kind = data[at] >> 4, data[at] & 15
    number, at = (before + step, at + 1) if step else value_at(data, at + 1, INTEGERS[0])
    return number, kind, at


def structure(fields) -> bytes:
    """A structure of fields, in ascending order of their numbers: their types and contents."""
    parts, before = bytearray(), 0
    for number, (kind, content) in fields.items():
        parts.append(number - before << 4 | kind)
        parts += content
        before = number
    return bytes(parts) + b"\0"


def _list(kind, items):
    count = len(items)
    head = bytes([count << 4 | kind]) if count < 15 else bytes([0xF0 | kind]) + unsigned(count)
    return head + b"".join(items)


def _bytes(content):
    return unsigned(len(content)) + content


def signed(number) -> bytes:
    """A number with its sign in the lowest bit."""
    return unsigned(number << 1 ^ number >> 63)


def unsigned(number) -> bytes:
    """A number in groups of seven bits, the lowest first."""
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    parts.append(number)
    return bytes(parts)
