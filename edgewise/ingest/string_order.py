"""The order of strings: byte by byte, which for UTF-8 is the order of code points.

Strings are sorted by eight bytes at a time, taken as numbers: all by the first eight, those that are equal so
far by the next eight, and so on.  Ids differ early, so that few are looked at twice.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device, each
from edgewise.ingest.hashing import WORD, word

ONE, BYTE = np.uint64(1), np.uint64(8)


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
        at += ONE
        there += ONE
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
