"""Row groups of integers in Parquet, encoded by their differences in one compiled call for each column.

The encoding is DELTA_BINARY_PACKED: the differences of neighbours, in blocks of 128, each as the distance
from the least difference of the block, in as many bits as the largest of 32 such distances needs.  Arrow
takes several times as long for it.  A column of a row group is one page here, and the least and the largest
value are found while it is encoded.

Everything in a page is a sequence of bits, the lowest of each byte first, bytes of headers included.  So one
word collects the bits, and is written when it is full.

https://github.com/apache/parquet-format/blob/master/Encodings.md has the encoding, and
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift the numbers of the fields
of headers.
"""

import numpy as np

from edgewise.device import compiled, device
from edgewise.files.parquet_footer import (
    BY_DIFFERENCES,
    DATA_PAGE,
    I32,
    OF_RUNS,
    STRUCT,
    Page,
    signed,
    structure,
    unsigned,
)
from edgewise.ingest.arrow import numpy_array

#: Values of a block, and of a part of it whose distances have as many bits as each other.
BLOCK, PART = 128, 32
_0, _1, _6, _7, _8, _63, _64 = (np.uint64(number) for number in (0, 1, 6, 7, 8, 63, 64))
LOW_BITS, HIGHEST = np.uint64(127), np.int64(2**63 - 1)
PARTS = np.uint64(BLOCK // PART)
#: How the header of a page says that levels, which tell nulls, are runs.
LEVELS = {3: (I32, signed(OF_RUNS)), 4: (I32, signed(OF_RUNS))}


@device
def put(words, bits, value, width):
    """Append some bits of a value, whose others are zero.

    ``bits`` are their number so far, and those that the last word has.
    """
    count, waiting = bits
    used = count & _63
    waiting |= value << used
    words[count >> _6] = waiting
    count += width
    if used + width >= _64:
        waiting = value >> _1 >> (_63 - used)
    return count, waiting


@device
def put_number(words, bits, number):
    """Append a number in groups of seven bits."""
    while number > LOW_BITS:
        bits = put(words, bits, number & LOW_BITS | np.uint64(128), _8)
        number >>= _7
    return put(words, bits, number, _8)


@device
def put_signed(words, bits, number):
    """Append a number with its sign in the lowest bit."""
    return put_number(words, bits, np.uint64(number << 1) ^ np.uint64(number >> 63))


@device
def bits_of(number):
    """How many bits a number has."""
    width = _0
    for step in (32, 16, 8, 4, 2, 1):
        larger = np.uint64(number >> np.uint64(step) > _0) * np.uint64(step)
        width += larger
        number >>= larger
    return width + number


@compiled
def pack(values, differences, distances, words, ends):
    """Encode values, at least one; write the least and the largest to ``ends``; return the number of bits.

    ``differences`` and ``distances``, which is unsigned, are room for a block in the type of the values.
    """
    count = np.uint64(len(values))
    least_value = largest_value = values[0]
    bits = _0, _0
    bits = put_number(words, bits, np.uint64(BLOCK))
    bits = put_number(words, bits, PARTS)
    bits = put_number(words, bits, count)
    bits = put_signed(words, bits, np.int64(values[0]))
    first = _1
    while first < count:
        here = min(np.uint64(BLOCK), count - first)
        least = HIGHEST
        for place in range(here):
            value = values[first + place]
            least_value, largest_value = min(least_value, value), max(largest_value, value)
            differences[place] = value - values[first + place - _1]
        for place in range(here):
            least = min(least, np.int64(differences[place]))
        for place in range(here, np.uint64(BLOCK)):
            differences[place] = least
        for place in range(np.uint64(BLOCK)):
            distances[place] = differences[place] - least
        bits = put_signed(words, bits, least)
        widths = _0
        for part in range(PARTS):
            largest = _0
            for place in range(part * np.uint64(PART), (part + _1) * np.uint64(PART)):
                largest |= np.uint64(distances[place])
            widths |= bits_of(largest) << (part * _8)
        bits = put(words, bits, widths, np.uint64(32))
        for part in range((here + np.uint64(PART - 1)) // np.uint64(PART)):
            width = widths >> (part * _8) & np.uint64(255)
            for place in range(part * np.uint64(PART), (part + _1) * np.uint64(PART)):
                bits = put(words, bits, np.uint64(distances[place]), width)
        first += np.uint64(BLOCK)
    words[bits[0] >> _6] = bits[1]
    ends[0], ends[1] = least_value, largest_value
    return bits[0]


def are_fit(table):
    """Whether a table has only columns of signed integers, in one piece and without nulls."""
    kinds = {"int32", "int64"}
    return all(
        str(column.type) in kinds and column.num_chunks == 1 and not column.null_count
        for column in table.columns
    )


def pages_of(table, rooms):
    """The only :class:`Page` of each column of a table that :func:`are_fit`, with one row at least.

    They are in memory that is taken from the list ``rooms``, if there is some, and returned beside them.
    """
    columns = [numpy_array(column.chunk(0)) for column in table.columns]
    needed = [8 + -(-len(column) // BLOCK) * (2 + BLOCK * column.itemsize // 8) for column in columns]
    try:
        room = rooms.pop()
    except IndexError:
        room = np.empty(sum(needed), np.uint64)
    pages, first = [], 0
    for field, column, words in zip(table.schema, columns, needed, strict=True):
        pages.append(_page(field, column, room[first : first + words]))
        first += words
    return pages, room


def _page(field, values, words):
    size, rows, ends = values.itemsize, len(values), np.empty(2, values.dtype)
    room = np.empty(BLOCK, values.dtype), np.empty(BLOCK, f"u{size}")
    content = memoryview(words).cast("B")[: pack(values, *room, words, ends) // 8]
    levels = b""
    if field.nullable:  # a run of ones: no value is null
        run = unsigned(rows << 1) + b"\1"
        levels = len(run).to_bytes(4, "little") + run
    length = I32, signed(len(levels) + len(content))
    facts = structure({1: (I32, signed(rows)), 2: (I32, signed(BY_DIFFERENCES)), **LEVELS})
    header = structure({1: (I32, signed(DATA_PAGE)), 2: length, 3: length, 5: (STRUCT, facts)})
    return Page(field.name, size, rows, tuple(end.tobytes() for end in ends), [header + levels, content])
