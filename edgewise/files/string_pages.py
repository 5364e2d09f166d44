"""Columns of strings in Parquet: the pages of a chunk, decoded by one compiled call for each megabyte.

Most of the time of decoding ids is spent on decompressing them (:mod:`~edgewise.files.snappy`).  What comes
before and after it, the headers of pages and the bytes behind each other, is done in the same call, since
threads that decode at the same time would wait for each other if Python described the pages.

A chunk is a sequence of pages, each with a header of Thrift's compact protocol.  The first may have a
dictionary; pages after it have codes, until the dictionary became too long, and then the strings, each after
its length.  Only what most programs write is decoded: chunks compressed by Snappy, flat, without nulls, in
pages of the first version.  Whatever is unlike that, and damage, is left to Arrow, which decodes it, or says
what is wrong.

https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift has the numbers of the
fields, https://github.com/apache/parquet-format/blob/master/Encodings.md the encodings.
"""

from threading import local
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled, device
from edgewise.files.parquet_footer import Chunk
from edgewise.files.snappy import BEYOND, decompress, put_word, varint_at, word_at

#: Bytes of a dictionary, of a page, and of compressed pages in memory, at most.
DICTIONARY_BYTES, PAGE_BYTES, WINDOW_BYTES = 1 << 21, 1 << 21, 1 << 21
#: Where a page and compressed pages begin in memory, behind the dictionary.
PAGE_AT = DICTIONARY_BYTES + BEYOND
WINDOW_AT = PAGE_AT + PAGE_BYTES + BEYOND
#: Bytes that are read from the file at a time.
READ_BYTES = 1 << 20
#: Strings of a dictionary, and bytes of a column, at most.
MOST_CODES, MOST_BYTES = 1 << 19, 1 << 28
#: Types of pages, and encodings: strings, levels, and codes of a dictionary by the older and the newer name.
DATA_PAGE, DICTIONARY_PAGE, PLAIN, RUNS, OLD_CODES, CODES = 0, 2, 0, 3, 2, 8
#: Fields of a header: type, sizes, and descriptions of pages, which begin with a count, an encoding, and that
#: of levels.
FIELDS = (1, 2, 3)
DESCRIPTIONS = (5, 7)
#: Structures inside of each other in a header, at most.
DEPTH = 4
#: Where things are in the state: of the compressed pages, of the column, of the dictionary, of a header.
AT, END, ROWS, PLACE, CODED, LONGEST, NEEDED, TYPE, SIZE, PACKED, VALUES, ENCODING, LEVELS, STACK = range(14)
#: What a call ends with: all whole pages are decoded, there is too little room for text, or Arrow is needed.
MORE, LONGER, UNFIT = 0, 1, 2

_0, _1, _2, _3, _4, _8, _16, _32 = (np.uint64(number) for number in (0, 1, 2, 3, 4, 8, 16, 32))
LENGTH = np.uint64(0xFFFFFFFF)


class Decoding(NamedTuple):
    """What is decoded of a chunk.

    Attributes
    ----------
    room : (bytes,) uint8 array
        The dictionary, a page, and compressed pages.
    places : (codes,) int32 array
        Where the strings of the dictionary are in ``room``, behind their lengths.
    starts : (rows + 1,) int32 array
    text : (bytes,) uint8 array
    state : int64 array
        See :data:`AT`.
    """

    room: Any
    places: Any
    starts: Any
    text: Any
    state: Any


@device
def read_header(room, at, end, state):
    """Read the header of a page into the state; return where it ends, or 0 if it goes on or is unlike."""
    for field in range(TYPE, STACK + DEPTH):
        state[field] = 0 if field >= STACK else -1
    depth = 0
    while at < end:
        byte = np.int64(room[at])
        at += _1
        kind, step = byte & 15, byte >> 4
        if byte == 0:
            if depth == 0:
                return at
            depth -= 1
            continue
        state[STACK + depth] += step
        field = state[STACK + depth]
        if step == 0 or kind == 0 or (kind == 12 and depth == DEPTH - 1):
            return _0
        if kind == 12:  # a structure
            depth += 1
            state[STACK + depth] = 0
        elif kind == 3:
            at += _1
        elif kind == 7:
            at += _8
        elif 4 <= kind <= 6 or kind == 8:
            number, at = varint_at(room, at)
            if kind == 8:  # bytes
                if at > end or number > end - at:
                    return _0
                at += number
            elif depth == 0 and field in FIELDS:
                state[TYPE + field - 1] = np.int64(number >> _1) ^ -np.int64(number & _1)
            elif depth == 1 and state[STACK] in DESCRIPTIONS and field <= 3:
                state[VALUES + field - 1] = np.int64(number >> _1) ^ -np.int64(number & _1)
        elif kind > 2:  # neither of the truth values
            return _0
    return _0


@device
def skip_levels(room, at, end, count):
    """Return where the values begin, behind levels that must say that none of ``count`` is null; 0 if not."""
    length = word_at(room, at) & LENGTH
    at += _4
    if at > end or length > end - at:
        return _0
    end, found = at + length, _0
    while found < count and at < end:
        head, at = varint_at(room, at)
        run = head >> _1
        if head & _1:  # eight levels a byte
            for _ in range(min(run, (count - found + np.uint64(7)) >> _3)):
                left = min(count - found, _8)
                ones = (_1 << left) - _1
                if at >= end or np.uint64(room[at]) & ones != ones:
                    return _0
                at += _1
                found += left
        else:
            if at >= end or room[at] != 1:
                return _0
            at += _1
            found += min(run, count - found)
            if run == _0:
                return _0
    return end if found == count and at == end else _0


@device
def copy_string(decoding, source, place, length):
    """Copy a string, and up to 31 bytes more, which the next one overwrites."""
    done = _0
    while done < length:
        low, high = word_at(decoding.room, source + done), word_at(decoding.room, source + done + _8)
        put_word(decoding.text, place + done, low)
        put_word(decoding.text, place + done + _8, high)
        done += _16


@device
def take_dictionary(decoding, count, end):
    """Note where the strings of the dictionary are; return whether it is right."""
    at, state, longest = _0, decoding.state, _0
    for code in range(count):
        length = word_at(decoding.room, at) & LENGTH
        at += _4
        if at > end or length > end - at:
            return False
        decoding.places[code] = at
        at += length
        longest = max(longest, length)
    state[CODED], state[LONGEST] = count, longest
    return True


@device
def take_strings(decoding, at, end, count):
    """Append the strings of a page; return whether it is right."""
    row, place = np.uint64(decoding.state[ROWS]), np.uint64(decoding.state[PLACE])
    for _ in range(count):
        length = word_at(decoding.room, at) & LENGTH
        at += _4
        if at > end or length > end - at:
            return False
        copy_string(decoding, at, place, length)
        at += length
        place += length
        row += _1
        decoding.starts[row] = place
    decoding.state[ROWS], decoding.state[PLACE] = row, place
    return at == end


@device
def take_codes(decoding, at, end, count):
    """Append the strings of a page of codes; return whether it is right."""
    room, state = decoding.room, decoding.state
    row, place, n_codes = np.uint64(state[ROWS]), np.uint64(state[PLACE]), np.uint64(state[CODED])
    bits, at, left = np.uint64(room[at]), at + _1, count
    if bits > _32:
        return False
    ones = (_1 << bits) - _1
    while left > _0:
        if at >= end:
            return False
        head, at = varint_at(room, at)
        run, n_bytes = min(head >> _1, left), (bits + np.uint64(7)) >> _3
        if head & _1:  # packed codes, eight at a time
            run = min((head >> _1) << _3, left)
            n_bytes = (run * bits + np.uint64(7)) >> _3
        if run == _0 or head > LENGTH or at > end or n_bytes > end - at:
            return False
        mask = ones if head & _1 else (_1 << n_bytes * _8) - _1
        for item in range(run):
            bit = np.uint64(item) * bits if head & _1 else _0
            code = word_at(room, at + (bit >> _3)) >> (bit & np.uint64(7)) & mask
            if code >= n_codes:
                return False
            source = np.uint64(decoding.places[code])
            length = word_at(room, source - _4) & LENGTH
            copy_string(decoding, source, place, length)
            place += length
            row += _1
            decoding.starts[row] = place
        at += (bits * (head >> _1)) if head & _1 else n_bytes
        left -= run
    state[ROWS], state[PLACE] = row, place
    return at == end


@device
def take_page(decoding, at, is_optional):
    """Append a page, the header of which is in the state; return what a call ends with if this fails."""
    room, state = decoding.room, decoding.state
    is_dictionary, count = state[TYPE] == DICTIONARY_PAGE, np.uint64(state[VALUES])
    base = _0 if is_dictionary else np.uint64(PAGE_AT)
    packed, size = np.uint64(state[PACKED]), np.uint64(state[SIZE])
    by_codes = not is_dictionary and state[ENCODING] != PLAIN
    needed = np.uint64(state[PLACE]) + np.uint64(BEYOND)
    needed += count * np.uint64(state[LONGEST]) if by_codes else size
    if not is_dictionary and needed > np.uint64(len(decoding.text)):
        state[NEEDED] = needed
        return LONGER
    if not decompress(room, at, at + packed, base, size):
        return UNFIT
    begin, end = base, base + size
    if is_dictionary:
        return MORE if take_dictionary(decoding, count, end) else UNFIT
    if is_optional:
        begin = skip_levels(room, base, end, count)
        if begin == _0:
            return UNFIT
    if begin > end:
        return UNFIT
    right = take_codes(decoding, begin, end, count) if by_codes else take_strings(decoding, begin, end, count)
    return MORE if right else UNFIT


@device
def is_known(state, rows, is_optional):
    """Whether a page may be decoded here, by its header."""
    if state[TYPE] == DICTIONARY_PAGE:
        kind = state[ENCODING] in (PLAIN, OLD_CODES) and state[CODED] == 0 and state[ROWS] == 0
        fits = state[SIZE] <= DICTIONARY_BYTES and state[VALUES] <= MOST_CODES
    else:
        kind = state[TYPE] == DATA_PAGE and state[ENCODING] in (PLAIN, OLD_CODES, CODES)
        fits = state[SIZE] <= PAGE_BYTES and state[VALUES] <= rows - state[ROWS]
        fits &= state[LEVELS] == RUNS or not is_optional
    known = state[SIZE] >= 0 and state[PACKED] >= 0 and state[VALUES] >= 0
    return known and kind and fits and state[PACKED] <= WINDOW_BYTES


@compiled
def decode_pages(decoding, is_optional):
    """Append the whole pages that are in memory; return what this ended with."""
    state, rows = decoding.state, len(decoding.starts) - 1
    while state[AT] < state[END]:
        end = np.uint64(state[END])
        at = read_header(decoding.room, np.uint64(state[AT]), end, state)
        if at == _0:
            return MORE  # which is not there if the header is unlike
        if not is_known(state, rows, is_optional):
            return UNFIT
        if np.uint64(state[PACKED]) > end - at:
            return MORE
        ended = take_page(decoding, at, is_optional)
        if ended != MORE:
            return ended
        state[AT] = at + np.uint64(state[PACKED])
    return MORE


def string_column(file, chunk: Chunk, rows: int, is_optional: bool, kind: Any) -> Any:
    """A column of strings in a file as an Arrow array of ``kind``; ``None`` if Arrow has to decode it."""
    import pyarrow as pa

    state = np.zeros(STACK + DEPTH, np.int64)
    state[AT] = state[END] = WINDOW_AT
    starts, text = _allocated(rows + 1, np.int32), _allocated(chunk.size + PAGE_BYTES, np.uint8)
    starts[0] = 0
    decoding = Decoding(_rooms.room, _rooms.places, starts, text, state)
    left, ended = chunk.packed, MORE
    if chunk.begin + chunk.packed > file.seek(0, 2):
        return None
    file.seek(chunk.begin)
    while ended == LONGER or state[END] - state[AT] or left:
        if ended == MORE and not (count := _read(file, decoding, left)):
            return None
        left -= count if ended == MORE else 0
        ended = decode_pages(decoding, is_optional)
        if ended == UNFIT or int(state[NEEDED]) > MOST_BYTES:
            return None
        if ended == LONGER:
            longer = _allocated(max(2 * len(decoding.text), int(state[NEEDED])), np.uint8)
            longer[: state[PLACE]] = decoding.text[: state[PLACE]]
            decoding = decoding._replace(text=longer)
    if state[ROWS] != rows:
        return None
    buffers = [None, pa.py_buffer(starts), pa.py_buffer(decoding.text[: max(state[PLACE], 1)])]
    return pa.Array.from_buffers(kind, rows, buffers)


class _Rooms(local):
    """What each thread uses again for the next chunk, since new memory takes as long as decoding."""

    def __init__(self):
        self.room = np.empty(WINDOW_AT + WINDOW_BYTES + BEYOND, np.uint8)
        self.places = np.empty(MOST_CODES, np.int32)


_rooms = _Rooms()


def _allocated(count, dtype):
    """An array in memory of Arrow's pool, which has it from the columns before."""
    import pyarrow as pa

    return np.frombuffer(pa.allocate_buffer(count * np.dtype(dtype).itemsize), dtype)


def _read(file, decoding, left):
    """Move what is left of the compressed pages to their begin, and read more; return how many bytes."""
    room, state = decoding.room, decoding.state
    kept = room[state[AT] : state[END]].copy()
    state[AT], state[END] = WINDOW_AT, WINDOW_AT + len(kept)
    room[WINDOW_AT : state[END]] = kept
    stop = min(int(state[END]) + min(left, READ_BYTES), WINDOW_AT + WINDOW_BYTES)
    count = file.readinto(room[state[END] : stop].data) if stop > state[END] else 0
    state[END] += count
    return count
