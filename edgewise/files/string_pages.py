"""Columns of strings in Parquet, decoded by loops straight from the pages of a row group.

Arrow appends each string to an array that grows.  Here Arrow decompresses the pages, and loops copy their
strings one behind the other, which takes two thirds of the time.  They do so for what most writers write:
pages of version 1, compressed by Snappy or not at all, with plain values or codes of a dictionary, and no
nulls.  All else, damage included, is left to Arrow: :func:`column_of` raises :class:`Unlike`.

A plain page has the length of each string in four bytes before it.  Codes are in runs of one code or of codes
in a number of bits, which https://parquet.apache.org/docs/file-format/data-pages/encodings describes.
"""

from threading import local
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np

from edgewise.device import compiled, device
from edgewise.files.parquet_footer import (
    BY_DICTIONARY,
    DAMAGE,
    DICTIONARY_PAGE,
    ENCODINGS,
    METADATA,
    OF_LEVELS,
    SIZE,
    STRUCT,
    unsigned_at,
    value_at,
)
from edgewise.ingest.string_words import Strings, copy_bytes, word

#: Fields of the metadata of a chunk: type of values, compression, bytes in the file, and where its pages
#: and its dictionary are.
KIND, CODEC, STORED, AT, DICTIONARY_AT = 1, 4, 7, 9, 11
#: Field of a chunk that is in another file.
OTHER_FILE = 1
#: The type of strings, and the ways of compression.
BYTE_ARRAY, UNCOMPRESSED, SNAPPY = 6, 0, 1
#: Fields of the description of a page: its type, bytes, bytes in the file, and what is said of its values.
TYPE, BYTES, BYTES_STORED, OF_DATA, OF_DICTIONARY = 1, 2, 3, 5, 7
#: Fields of what is said of values: how many, and their encoding; the type of pages, and the encoding.
COUNT, ENCODING, DATA_PAGE, PLAIN = 1, 2, 0, 0
#: Bytes that are copied at once, of which a short string has fewer.
SHORT = np.uint64(32)
WORD, ONE = np.uint64(8), np.uint64(1)
#: Bytes of a length.
LENGTH = np.uint64(4)
#: Bytes of all strings, at most.
LARGEST = np.iinfo(np.int32).max
#: Share of memory that is taken beyond what is needed, for columns that are slightly longer.
SPARE = 16
#: Bits of a code, at most.
BITS = 31

_of_thread = local()


class Unlike(Exception):
    """A column is not stored as the loops here expect it."""


class Page(NamedTuple):
    """A page of a chunk: its ``type``, ``count`` of values, their ``encoding``, and the ``bytes``."""

    type: int
    count: int
    encoding: int
    bytes: Any


@device
def copy_short(page, at, text, place):
    """Copy :data:`SHORT` bytes of a page, more than are needed."""
    for offset in range(np.uint64(0), SHORT, WORD):
        value = word(page, at + offset, at + offset + WORD)
        for byte in range(8):
            number = offset + np.uint64(byte)
            text[np.uint64(place) + number] = np.uint8(value >> np.uint64(8 * byte) & np.uint64(0xFF))


@compiled
def copy_plain(page, row, stop, strings):
    """Copy strings with their lengths before them to rows up to ``stop``; return where the page was read to.

    Returns -1 if a string is not within the page.  ``strings`` have room for all bytes of the page, and
    :data:`SHORT` more.
    """
    at, end = np.uint64(0), np.uint64(len(page))
    place = np.int64(strings.starts[row])
    for item in range(np.uint64(row), np.uint64(stop)):
        if end - at < LENGTH:
            return np.int64(-1)
        length = np.uint64(0)
        for byte in range(4):
            length |= np.uint64(page[at + np.uint64(byte)]) << np.uint64(8 * byte)
        at += LENGTH
        if length > end - at:
            return np.int64(-1)
        if length <= SHORT and end - at >= SHORT:
            copy_short(page, at, strings.text, place)
        else:
            copy_bytes(page, np.int64(at), strings.text, place, np.int64(length))
        at += length
        place += np.int64(length)
        strings.starts[item + ONE] = place
    return np.int64(at)


@device
def length_at(page, at):
    """A number in groups of seven bits, the lowest first, and where it ends; -1 if it does not."""
    number = shift = np.int64(0)
    while at < len(page) and shift < BITS:
        byte = np.int64(page[np.uint64(at)])
        number |= (byte & 127) << shift
        at += 1
        shift += 7
        if byte < 128:
            return number, at
    return np.int64(-1), at


@compiled
def read_codes(page, width, starts, codes):
    """Read codes, of so many bits, behind the first byte of a page; return the bytes of all their strings.

    ``starts`` are where the strings of the dictionary begin.  Returns -1 if there are not enough codes, or
    one is that of no string.
    """
    at, n_bytes, mask = np.int64(1), (width + 7) >> 3, (np.int64(1) << width) - 1
    done = total = np.int64(0)
    while done < len(codes):
        number, at = length_at(page, at)
        is_packed = number & 1
        size = (number >> 1) * width if is_packed else n_bytes
        if number < 2 or size > len(page) - at:
            return np.int64(-1)
        count = min((number >> 1) * (8 if is_packed else 1), len(codes) - done)
        bits = held = np.int64(0)
        begin, at = at, at + size
        for item in range(count):
            while held < width and (is_packed or item == 0):
                bits |= np.int64(page[np.uint64(begin)]) << held
                begin += 1
                held += 8
            code = np.uint64(bits & mask)
            if code + ONE >= np.uint64(len(starts)):
                return np.int64(-1)
            codes[np.uint64(done + item)] = code
            total += np.int64(starts[code + ONE]) - np.int64(starts[code])
            if is_packed:
                bits >>= width
                held -= width
        done += count
    return total


@compiled
def copy_coded(codes, values, row, strings):
    """Copy the strings of codes to the rows from ``row`` on."""
    place = np.int64(strings.starts[row])
    for item in range(np.uint64(len(codes))):
        code = np.uint64(codes[item])
        start = np.int64(values.starts[code])
        length = np.int64(values.starts[code + ONE]) - start
        copy_bytes(values.text, start, strings.text, place, length)
        place += length
        strings.starts[np.uint64(row) + item + ONE] = place
    return 0


def is_expected(chunk, field) -> bool:
    """Whether a chunk of a ``field``, as the footer describes it, may be what :func:`column_of` decodes."""
    import pyarrow as pa

    try:
        meta, known = chunk[METADATA], {PLAIN, *BY_DICTIONARY, *OF_LEVELS}
        is_known = meta[CODEC] in (UNCOMPRESSED, SNAPPY) and {*meta[ENCODINGS]} <= known
        are_strings = meta[KIND] == BYTE_ARRAY and field.type in (pa.string(), pa.binary())
    except DAMAGE:
        return False
    return is_known and are_strings and OTHER_FILE not in chunk


def column_of(file, chunk, field, rows) -> Any:
    """The strings of a chunk of so many rows, as an Arrow array of the type of a ``field``.

    ``file`` is open, and ``chunk`` is as its footer describes it.  Raises :class:`Unlike` if it has anything
    unexpected.
    """
    import pyarrow as pa

    meta = chunk[METADATA]
    try:
        column = Column(rows, meta[SIZE])
        for page in _pages(file, meta):
            column.add(page, field.nullable)
        return column.finish(field.type)
    except (*DAMAGE, OSError, pa.ArrowException) as error:
        raise Unlike from error


class Column:
    """The strings of so many rows, one behind the other; ``row`` of them are there so far.

    ``size`` is about how many bytes they have, with their lengths.
    """

    def __init__(self, rows, size):
        self.rows, self.row = rows, 0
        self.starts: Any = _room(4 * (rows + 1)).view(np.int32)
        self.text = _room(min(size, LARGEST))
        self.starts[0] = 0
        self.dictionary = Strings(np.zeros(1, np.int32), np.zeros(1, np.uint8))

    def add(self, page, has_levels):
        """Append the strings of a page, or keep them if it is a dictionary."""
        if page.type == DICTIONARY_PAGE:
            _expect(page.encoding in {PLAIN, *BY_DICTIONARY} and 0 <= page.count <= len(page.bytes))
            text = np.empty(len(page.bytes) + int(SHORT), np.uint8)
            self.dictionary = Strings(np.zeros(page.count + 1, np.int32), text)
            _expect(copy_plain(page.bytes, 0, page.count, self.dictionary) == len(page.bytes))
            return
        _expect(page.type == DATA_PAGE and 0 <= page.count <= self.rows - self.row)
        content = _without_levels(page) if has_levels else page.bytes
        if page.encoding == PLAIN:
            strings = self._with_room(len(content))
            _expect(copy_plain(content, self.row, self.row + page.count, strings) == len(content))
        else:
            _expect(page.encoding in BY_DICTIONARY)
            codes: Any = np.empty(page.count, np.uint32)
            width = int(content[0])
            _expect(width <= BITS)
            size = int(read_codes(content, width, self.dictionary.starts, codes))
            _expect(size >= 0)
            copy_coded(codes, self.dictionary, self.row, self._with_room(size))
        self.row += page.count

    def _with_room(self, n_bytes):
        """The strings, with room for so many bytes more, and for those that are copied with the last one."""
        used = int(self.starts[self.row])
        needed = used + n_bytes + int(SHORT)
        _expect(needed <= LARGEST)
        if needed > len(self.text):
            text = _room(min(max(needed, 2 * len(self.text)), LARGEST))
            text[:used], self.text = self.text[:used], text
        return Strings(self.starts, self.text)

    def finish(self, kind):
        """The strings as an Arrow array of a type."""
        import pyarrow as pa

        _expect(self.row == self.rows)
        buffers = map(pa.py_buffer, (self.starts, self.text[: self.starts[self.row]]))
        return pa.Array.from_buffers(kind, self.rows, [None, *buffers])


def _expect(is_so):
    if not is_so:
        raise Unlike


def _room(size):
    """An array of bytes, whose memory the thread takes again once nothing refers to it.

    The system has to clear new memory, and threads wait for each other while it does.
    """
    free = vars(_of_thread).setdefault("free", {})
    known = sorted(free.values(), key=len)
    memory = next((one for one in known if len(one) >= size), None)
    if known:  # what is too small makes way for what is large enough
        del free[id(known[-1] if memory is None else memory)]
    if memory is None:
        memory = np.empty(size + size // SPARE, np.uint8)
    array = np.frombuffer(memoryview(memory), np.uint8, size)  # the base of all views
    finalize(array, free.__setitem__, id(memory), memory)
    return array


def _pages(file, meta):
    """Yield the pages of a chunk, decompressed."""
    import pyarrow as pa

    content, at = memoryview(_room(meta[STORED])), 0
    file.seek(min(meta.get(DICTIONARY_AT) or meta[AT], meta[AT]))
    _expect(file.readinto(content) == len(content))
    decompress = pa.Codec("snappy").decompress
    while at < len(content):
        header, at = value_at(content, at, STRUCT)
        stored, at = content[at : at + header[BYTES_STORED]], at + header[BYTES_STORED]
        _expect(len(stored) == header[BYTES_STORED] and 0 <= header[BYTES] <= meta[SIZE])
        if meta[CODEC] == SNAPPY:
            _expect(unsigned_at(stored, 0)[0] == header[BYTES])  # Arrow does not compare them
            stored = decompress(stored, header[BYTES], asbytes=True)
        facts = header[OF_DICTIONARY if header[TYPE] == DICTIONARY_PAGE else OF_DATA]
        yield Page(header[TYPE], facts[COUNT], facts[ENCODING], np.frombuffer(stored, np.uint8))


def _without_levels(page):
    """The values of a page behind the levels, which tell that none of them is null."""
    length = int.from_bytes(page.bytes[: int(LENGTH)].tobytes(), "little")
    content = page.bytes[int(LENGTH) :]
    number, at = unsigned_at(content[: min(length, BITS)].tolist(), 0)
    _expect(number == page.count << 1 and at + 1 == length and content[at] == 1)
    return content[length:]
