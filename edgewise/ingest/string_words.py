"""Strings in memory, taken eight bytes at a time: hashing, comparing, copying and sorting.

The hash multiplies 32-bit halves into 64-bit products, as the 32-bit form of wyhash does [1]_, so that no
step overflows and the interpreter and the compilers compute the same value.  Only speed depends on the hash:
strings with equal hashes are always compared by their bytes.

The last word of a string of more than eight bytes overlaps the one before, so that no byte is read by itself.
This takes a tenth off look-ups of strings of 17 bytes, and a fifth where their lengths differ.

Indices are unsigned: a read then needs no test for an index that counts from the end, and the compiler turns
eight reads of a byte into one read of a word.  The functions are few and long, since each costs a tenth of a
second to compile.

The order of strings is byte by byte, which for UTF-8 is the order of code points.  They are sorted by their
first words, those that are equal so far by the next words, and so on.  Ids differ early, so that few are
looked at twice.

.. [1] Wang Yi, "wyhash", https://github.com/wangyi-fudan/wyhash
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device, each

#: Bytes in a word, and the shift by one byte.
WORD = BYTE = np.uint64(8)
#: Mask of the lower half of a word.
_LOW = np.uint64(0xFFFFFFFF)
#: Bits of half a word.
_HALF = np.uint64(32)
#: Mask of the lowest byte of a word.
_BYTES = np.uint64(0xFF)
#: Number that changes the bits of the lower half of a hash before the halves are multiplied.
_SECRET = np.uint64(0x53C5CA59)
#: Number that changes the bits of the upper half of a hash before the halves are multiplied.
_OTHER_SECRET = np.uint64(0x74743C1B)
_0, _1 = np.uint64(0), np.uint64(1)


class Strings(NamedTuple):
    """Strings one behind the other: ``text``, (bytes,) uint8, and where each begins and the last one ends.

    ``starts`` is an (n + 1,) int32 or int64 array.
    """

    starts: Any
    text: Any


def strings_of(column) -> Strings:
    """The memory of an Arrow array of strings or bytes, as arrays that cannot be written to."""
    import pyarrow as pa
    from pyarrow import types

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kinds = types.is_string, types.is_binary, types.is_large_string, types.is_large_binary
    if not any(test(column.type) for test in kinds):
        column = column.cast(pa.large_binary())
    _, offsets, text = column.buffers()
    wide = str(column.type).startswith("large")
    starts = np.frombuffer(offsets, np.int64 if wide else np.int32) if offsets else np.zeros(1, np.int32)
    text = np.frombuffer(text or bytes(1), np.uint8)
    starts.flags.writeable = text.flags.writeable = False  # as of constant memory: one type for the loops
    return Strings(starts[column.offset : column.offset + len(column) + 1], text)


@device
def word(data, at, end):
    """Eight bytes from ``at`` on, or those before ``end`` if they are fewer, as one number."""
    value = _0
    if end - at >= WORD:
        for byte in range(8):
            value |= np.uint64(data[at + np.uint64(byte)]) << np.uint64(8 * byte)
        return value
    while at < end:
        value = value << BYTE | np.uint64(data[at])
        at += _1
    return value


@device
def hash_bytes(data, start, stop):
    """Hash of ``data[start:stop]`` in 64 bits, the lower 32 of them the better ones."""
    at, end = np.uint64(start), np.uint64(stop)
    length = end - at
    state = (length ^ _SECRET) * _OTHER_SECRET
    while end - at > WORD:
        state ^= word(data, at, end)
        state = (state & _LOW ^ _SECRET) * (state >> _HALF ^ _OTHER_SECRET)
        at += WORD
    if length > WORD:
        at = end - WORD
    state ^= word(data, at, end)
    state = (state & _LOW ^ _SECRET) * (state >> _HALF ^ _OTHER_SECRET)
    state ^= state >> _HALF
    state = (state & _LOW ^ _OTHER_SECRET) * _SECRET
    return state ^ state >> _HALF


@device
def same_bytes(data, start, other, other_start, length):
    """Whether ``length`` bytes of ``data`` from ``start`` are those of ``other`` from ``other_start``."""
    at, there, end = np.uint64(start), np.uint64(other_start), np.uint64(start + length)
    other_end = there + np.uint64(length)
    while end - at > WORD:
        if word(data, at, end) != word(other, there, other_end):
            return False
        at += WORD
        there += WORD
    if np.uint64(length) > WORD:
        at, there = end - WORD, other_end - WORD
    return word(data, at, end) == word(other, there, other_end)


@device
def copy_bytes(data, start, other, other_start, length):
    """Copy ``length`` bytes of ``data`` from ``start`` to ``other`` from ``other_start``.

    Returns the OR of the bytes, eight side by side.
    """
    at, there, end, seen = np.uint64(start), np.uint64(other_start), np.uint64(start + length), _0
    other_end = there + np.uint64(length)
    if np.uint64(length) >= WORD:
        while at < end:
            at, there = min(at, end - WORD), min(there, other_end - WORD)
            value = word(data, at, end)
            seen |= value
            for byte in range(8):
                other[there + np.uint64(byte)] = np.uint8(value >> np.uint64(8 * byte) & _BYTES)
            at += WORD
            there += WORD
    while at < end:
        other[there] = data[at]
        seen |= np.uint64(data[at])
        at += _1
        there += _1
    return seen


@device
def precedes(strings, one, other):
    """Whether a string is less than another."""
    text, starts = strings.text, strings.starts
    at, end = np.uint64(starts[one]), np.uint64(starts[one + 1])
    there, other_end = np.uint64(starts[other]), np.uint64(starts[other + 1])
    while (
        end - at >= WORD and other_end - there >= WORD and word(text, at, end) == word(text, there, other_end)
    ):
        at += WORD
        there += WORD
    while at < end and there < other_end:
        if text[at] != text[there]:
            return text[at] < text[there]
        at += _1
        there += _1
    return there < other_end


@each
def take_word(item, rows, strings, depth, words, left):
    """Write eight bytes of a string as one number, the first one highest, and the number of bytes left."""
    at, end = strings.starts[rows[item]] + depth, strings.starts[rows[item] + 1]
    left[item] = end - at
    value = np.uint64(0)
    for _ in range(8):
        value <<= BYTE
        if at < end:
            value |= np.uint64(strings.text[np.uint64(at)])
        at += 1
    words[item] = value


def ascending_order(strings):
    """The rows of strings in ascending order, equal ones as they come: an (n,) int64 array.

    >>> import pyarrow as pa
    >>> ascending_order(strings_of(pa.array(["b", "", "ab", "a"]))).tolist()
    [1, 3, 2, 0]
    """
    count = len(strings.starts) - 1
    order, positions, groups = np.arange(count), np.arange(count), np.zeros(count, np.int64)
    depth = 0
    while len(positions):
        rows = order[positions]
        words, left = np.empty(len(rows), np.uint64), np.empty(len(rows), np.int64)
        take_word(len(rows), rows, strings, depth, words, left)
        by_word = np.lexsort((words, groups)) if depth else np.argsort(words)
        order[positions] = rows = rows[by_word]
        words, groups, left = words[by_word], groups[by_word], left[by_word]
        first = np.ones(len(rows), bool)  # of those that are equal so far
        first[1:] = (words[1:] != words[:-1]) | (groups[1:] != groups[:-1])
        begins = np.flatnonzero(first)
        sizes = np.diff(begins, append=len(rows))
        goes_on = np.maximum.reduceat(left, begins) > 8
        _sort_by_length(order, positions, begins[(sizes > 1) & ~goes_on], sizes[(sizes > 1) & ~goes_on], left)
        groups = np.repeat(np.arange(len(begins)), sizes)
        tied = np.repeat((sizes > 1) & goes_on, sizes)
        positions, groups, depth = positions[tied], groups[tied], depth + 8
    return order


def _sort_by_length(order, positions, begins, sizes, left):
    """Sort runs of strings that differ in zero bytes at their ends, or not at all."""
    for begin, size in zip(begins.tolist(), sizes.tolist()):
        run = positions[begin : begin + size]
        order[run] = order[run][np.lexsort((order[run], left[begin : begin + size]))]
