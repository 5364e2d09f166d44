"""An open-addressing hash table with linear probing, for device functions on the CPU and on GPUs.

A table is an array of 64-bit words, a power of two of them.  The bits of a word that ``key_bits`` selects are
the *key*; the other bits are a value beside it.  Larger values are in other arrays, at the index of the key's
slot.  No word that is entered may be equal to ``empty``, which marks a slot without a key.

    table = HashTable(words, EMPTY, WHOLE_WORD)
    slot, is_new = claim(table, home_slot(key, table), key)     # several threads
    slot, is_new = insert(table, home_slot(key, table), key)    # one thread
    slot, word = probe(table, home_slot(key, table), key)       # look-up: word == table.empty if absent

Keys are never removed, so a search for a key ends at its slot or at an empty one.  The caller provides enough
slots; a search in a full table would not end.  A record built inside a compiled function from constants costs
nothing: the compiler folds ``empty`` and ``key_bits`` into the loop.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import cas, device, load
from edgewise.device.first_use import on_cuda
from edgewise.device.target import overload_on_cpu

#: Empty word of unsigned tables whose keys may be 0, and key bits of words without a value.
EMPTY = WHOLE_WORD = np.uint64(0xFFFFFFFFFFFFFFFF)
#: Key bits of unsigned words with a value in their lower half.
UPPER_HALF = np.uint64(0xFFFFFFFF00000000)

#: Bits of half a key.
_HALF = np.uint64(32)
#: Mask of the lower half of a key.
_LOWER_HALF = np.uint64(0xFFFFFFFF)
#: Odd number whose products with the lower half of keys spread neighbouring keys over the table.
_SPREAD = np.uint64(0x9E3779B1)
#: Odd number whose products with the upper half of keys spread neighbouring keys over the table.
_OTHER_SPREAD = np.uint64(0x85EBCA77)
_ONE = np.uint64(1)


class HashTable(NamedTuple):
    """A power of two of int64 or uint64 ``words``, the word of an ``empty`` slot, and the ``key_bits``."""

    words: Any
    empty: Any
    key_bits: Any


@device
def home_slot(key, table):
    """Slot at which the search for a key begins; ``key`` is an integer that is not negative."""
    key = np.uint64(key)
    code = (key & _LOWER_HALF) * _SPREAD ^ (key >> _HALF) * _OTHER_SPREAD
    return (code ^ code >> _HALF) & np.uint64(len(table.words) - 1)


@device
def probe(table, slot, word):
    """Return the first slot from ``slot`` on that is empty or holds the key of ``word``, and its word."""
    mask = np.uint64(len(table.words) - 1)
    held = _read(table.words, slot)
    while held != table.empty and (held ^ word) & table.key_bits != 0:
        slot = (slot + _ONE) & mask
        held = _read(table.words, slot)
    return slot, held


@device
def insert(table, slot, word):
    """Enter ``word`` unless its key is there, by the only thread that writes: (slot, whether it was new)."""
    slot, held = probe(table, slot, word)
    is_new = held == table.empty
    if is_new:
        table.words[slot] = word
    return slot, is_new


@device
def claim(table, slot, word):
    """Enter ``word`` unless its key is there, while other threads do the same: (slot, whether it was new).

    Of several threads that enter one key, for exactly one it was new.
    """
    mask = np.uint64(len(table.words) - 1)
    held = _read(table.words, slot)
    while True:
        if held == table.empty:
            held = cas(table.words, slot, table.empty, word)
            if held == table.empty:
                return slot, True
        if (held ^ word) & table.key_bits == 0:
            return slot, False
        slot = (slot + _ONE) & mask
        held = _read(table.words, slot)


@device
def find_present(table, slot, word):
    """Slot of a whole-word key that is in the table; for the empty word, an empty slot."""
    mask = np.uint64(len(table.words) - 1)
    while table.words[slot] != word:
        slot = (slot + _ONE) & mask
    return slot


def _read(words, slot):
    """Read a word that other threads may write."""
    return load(words, slot)


@overload_on_cpu(_read)
def _read_on_cpu(words, slot):
    return lambda words, slot: load(words, slot)


def _register_on_cuda():
    """On a GPU a table may be in shared memory; a word that is out of date is empty, and cas then decides."""
    from edgewise.device.gpu_compiler import overload as overload_on_cuda

    @overload_on_cuda(_read)
    def read_on_cuda(words, slot):
        return lambda words, slot: words[slot]


on_cuda(_register_on_cuda)
