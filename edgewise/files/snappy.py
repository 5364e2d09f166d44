"""Snappy: the decompression of a block, in one compiled call with others.

A block is its size, followed by elements: *literals*, which are bytes to be copied from the block, and
*copies* of what has been decompressed before.  Ids that differ in all but a few bytes become elements of five
bytes on average, whose kinds and lengths nothing foretells, so that a branch for either is predicted wrongly
as often as not.  Here an element is described without branches, by masks, which no compiler turns into
branches, and sixteen bytes are copied for it, of which the next element overwrites those that are too many.
Only long elements, copies of what is less than sixteen bytes back, and the last bytes take branches.  A
literal and a copy begin at indices of one array, in which are both the block and what it becomes.

``bench/notes/streams.md`` compares it with Google's library.  The format is described at
https://github.com/google/snappy/blob/main/format_description.txt.
"""

import numpy as np

from edgewise.device import device

#: Bytes that are read beyond an element, and written beyond its copy.
BEYOND = 32
_0, _1, _2, _3, _4, _5, _7 = (np.uint64(number) for number in (0, 1, 2, 3, 4, 5, 7))
_8, _16, _60 = np.uint64(8), np.uint64(16), np.uint64(60)
BYTE, HIGH_BYTE, TWO_BYTES, SIX_BITS = (np.uint64(number) for number in (0xFF, 0xFF00, 0xFFFF, 63))
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
#: Bytes before the end from which on an element is taken byte by byte.
FAR = np.uint64(BEYOND)


@device
def word_at(room, at):
    """Eight bytes as one number, the first one lowest."""
    value = _0
    for byte in range(8):
        value |= np.uint64(room[at + np.uint64(byte)]) << np.uint64(8 * byte)
    return value


@device
def put_word(room, at, value):
    """Write a number as eight bytes, the lowest one first."""
    for byte in range(8):
        room[at + np.uint64(byte)] = np.uint8(value >> np.uint64(8 * byte) & BYTE)


@device
def varint_at(room, at):
    """A number in groups of seven bits, the lowest first, and where it ends: ten bytes further at most."""
    value = shift = _0
    for _ in range(10):
        byte = np.uint64(room[at])
        value |= (byte & np.uint64(127)) << min(shift, SIX_BITS)
        at += _1
        shift += _7
        if byte < np.uint64(128):
            break
    return value, at


@device
def decompress(room, at, end, base, size):
    """Decompress the block ``room[at:end]`` to ``room[base:base + size]``; return whether it is right.

    Its bytes and copies are read within these bounds, and :data:`BEYOND` more bytes follow both.
    """
    claimed, at = varint_at(room, at)
    place, stop = base, base + size
    if claimed != size or at > end:
        return False
    while at < end:
        element = word_at(room, at)
        kind, count = element & _3, element >> _2 & SIX_BITS
        literal, short = np.uint64(kind == _0) * ALL, np.uint64(kind == _1) * ALL
        length = (count & (_7 | ~short)) + _1 + (short & _3)
        back = element >> _8 & (TWO_BYTES ^ short & HIGH_BYTE) | short & (element >> _5 & _7) << _8
        is_other = (length > _16) | (kind == _3) | ((kind != _0) & ((back < _16) | (back > place - base)))
        if not (is_other | (end - at <= FAR) | (stop - place <= FAR)):
            source = (literal & at + _1) + (~literal & place) - (~literal & back)
            low, high = word_at(room, source), word_at(room, source + _8)
            put_word(room, place, low)
            put_word(room, place + _8, high)
            at += kind + _1 + (literal & count + _1)
            place += length
            continue
        at, source, length = described(room, at)
        if kind == _0:
            source, at = at, at + length
        elif source == _0 or source > place - base:
            return False
        else:
            source = place - source
        if at > end or length > stop - place:
            return False
        for byte in range(length):
            room[place + np.uint64(byte)] = room[source + np.uint64(byte)]
        place += length
    return place == stop


@device
def described(room, at):
    """Where an element's tag ends, how far back its copy begins (0 of a literal), and its length."""
    tag = np.uint64(room[at])
    kind, count, at = tag & _3, tag >> _2, at + _1
    n_bytes = kind if kind < _3 else _4  # of what follows the tag
    if kind == _0:
        n_bytes = count - _60 + _1 if count >= _60 else _0
    value = word_at(room, at) & (_1 << n_bytes * _8) - _1
    at += n_bytes
    if kind == _0:
        return at, _0, (value if count >= _60 else count) + _1
    if kind == _1:
        return at, (count >> _3) << _8 | value, (count & _7) + _4
    return at, value, count + _1
