"""Bytes of strings taken eight at a time: hashing, comparing and copying inside kernels.

The hash multiplies 32-bit halves into 64-bit products, as the 32-bit form of wyhash does [1]_, so that no
step overflows and the interpreter and the compilers compute the same value.  Only speed depends on the hash:
strings with equal hashes are always compared by their bytes.

The last word of a string of more than eight bytes overlaps the one before, so that no byte is read by itself.
This takes a tenth off look-ups of strings of 17 bytes, and a fifth where their lengths differ.

Indices are unsigned: a read then needs no test for an index that counts from the end, and the compiler turns
eight reads of a byte into one read of a word.  The functions are few and long, since each costs a tenth of a
second to compile.

.. [1] Wang Yi, "wyhash", https://github.com/wangyi-fudan/wyhash
"""

import numpy as np

from edgewise.device import device

#: Bytes in a word, and the shift by one byte.
WORD = BYTE = np.uint64(8)
_LOW, _HALF, _BYTES = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(0xFF)
_SECRET, _OTHER_SECRET = np.uint64(0x53C5CA59), np.uint64(0x74743C1B)
_0, _1, _2, _3, _4, _5, _6, _7 = (np.uint64(byte) for byte in range(8))
_BYTE_1, _BYTE_2, _BYTE_3, _BYTE_4, _BYTE_5, _BYTE_6, _BYTE_7 = (np.uint64(8 * k) for k in range(1, 8))


@device
def word(data, at, end):
    """Eight bytes from ``at`` on, or those before ``end`` if they are fewer, as one number."""
    if end - at >= WORD:
        return (
            np.uint64(data[at])
            | np.uint64(data[at + _1]) << _BYTE_1
            | np.uint64(data[at + _2]) << _BYTE_2
            | np.uint64(data[at + _3]) << _BYTE_3
            | np.uint64(data[at + _4]) << _BYTE_4
            | np.uint64(data[at + _5]) << _BYTE_5
            | np.uint64(data[at + _6]) << _BYTE_6
            | np.uint64(data[at + _7]) << _BYTE_7
        )
    value = _0
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
