"""Bytes of strings taken eight at a time: hashing, comparing and copying inside kernels.

The hash multiplies 32-bit halves into 64-bit products, as the 32-bit form of wyhash does [1]_, so that no
step overflows and the interpreter finds the value that the compilers find.  Only speed depends on it: equal
hashes are always told apart by the bytes.

Places are unsigned, which spares each read the question whether the place counts from the end, and lets the
compiler turn eight reads of a byte into one of a word.

.. [1] Wang Yi, "wyhash", https://github.com/wangyi-fudan/wyhash
"""

import numpy as np

from edgewise.device import device

#: Bytes in a word, and the shift by one byte.
WORD = BYTE = np.uint64(8)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_SECRET, _OTHER_SECRET = np.uint64(0x53C5CA59), np.uint64(0x74743C1B)
_0, _1, _2, _3, _4, _5, _6, _7 = (np.uint64(place) for place in range(8))
_BYTE_1, _BYTE_2, _BYTE_3, _BYTE_4, _BYTE_5, _BYTE_6, _BYTE_7 = (np.uint64(8 * k) for k in range(1, 8))


@device
def word(data, at):
    """Eight bytes from ``at`` on, as one number."""
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


@device
def short_word(data, at, length):
    """Fewer than eight bytes as one number."""
    value = _0
    end = at + length
    while at < end:
        value = value << BYTE | np.uint64(data[at])
        at += _1
    return value


@device
def mix(state, value):
    """Stir ``value`` into the state: the product of the two halves of their exclusive or."""
    state ^= value
    return ((state & _LOW) ^ _SECRET) * ((state >> _HALF) ^ _OTHER_SECRET)


@device
def hash_bytes(data, start, stop):
    """Hash of ``data[start:stop]`` in 64 bits, the lower 32 of them the better ones."""
    at, end = np.uint64(start), np.uint64(stop)
    length = end - at
    state = mix(length, length << _HALF)
    if length < WORD:
        state = mix(state, short_word(data, at, length))
    else:
        last = end - WORD
        while at < last:
            state = mix(state, word(data, at))
            at += WORD
        state = mix(state, word(data, last))
    state = mix(state, length)
    return state ^ state >> _HALF


@device
def same_bytes(data, start, other, other_start, length):
    """Whether ``length`` bytes of ``data`` from ``start`` are those of ``other`` from ``other_start``."""
    at, there, size = np.uint64(start), np.uint64(other_start), np.uint64(length)
    if size < WORD:
        return short_word(data, at, size) == short_word(other, there, size)
    last = size - WORD
    done = _0
    while done < last:
        if word(data, at + done) != word(other, there + done):
            return False
        done += WORD
    return word(data, at + last) == word(other, there + last)


@device
def copy_bytes(data, start, other, other_start, length):
    """Copy ``length`` bytes of ``data`` from ``start`` to ``other`` from ``other_start``."""
    at, there, size = np.uint64(start), np.uint64(other_start), np.uint64(length)
    if size < WORD:
        for byte in range(length):
            other[there + np.uint64(byte)] = data[at + np.uint64(byte)]
        return
    last = size - WORD
    done = _0
    while done < last:
        _put_word(other, there + done, word(data, at + done))
        done += WORD
    _put_word(other, there + last, word(data, at + last))


@device
def _put_word(data, at, value):
    for byte in range(8):
        data[at + np.uint64(byte)] = np.uint8(value >> np.uint64(8 * byte) & np.uint64(255))
