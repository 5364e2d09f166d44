"""Numbering strings in order of first appearance, on all cores, in little memory.

The distinct strings lie one behind the other in an *arena*, in the order of their numbers; that is an Arrow
string array already.  A table of 64-bit slots (open addressing, linear probing) finds them: the upper half
of a slot is the lower half of the string's hash, the lower half says where the string is.

Strings come in batches, one or two columns of them, two being the sources and targets of pairs.  A string's
*position* counts along the rows, ``2 * row`` for a source and ``2 * row + 1`` for a target; its *place* in
the batch, all sources and then all targets, is ``(position >> pairs) + (position & pairs) * rows`` with
``pairs`` = 1, or 0 for a single column.  A slot's lower half is

* below ``known`` (the number of strings known before the batch): the number of the string in the arena,
* else ``known + position``: a new string, first met at that position of the batch, as far as is known.

A batch takes two loops.  :func:`look_up` finds each string, or claims an empty slot for it by
compare-and-swap; further copies of a new string lower the position in its slot by an atomic minimum.  Which
thread comes first decides in which slot a string sits and nothing else: the smallest position wins in any
case.  :func:`settle` gives the new strings, in order of their positions, the next numbers and a place in the
arena; all their copies then find the numbers in the slots.  So the numbers are the same for every number of
threads and every size of batch.

Bytes are compared always; strings that merely share a hash stay apart.

A table of millions of strings is far larger than the caches, and each string costs three misses (slot,
offset, bytes).  :func:`look_up` therefore takes a group of strings together through each step, so that the
misses of a group overlap; this halves its time.
"""

from functools import partial

import numpy as np

from edgewise.device import cas, device, each, fetch_min, load
from edgewise.ingest.hashing import copy_bytes, hash_bytes, same_bytes

#: Strings that go through the steps of a look-up together.
GROUP = 64
#: Groups that a core takes at a time, at the least.
LEAST_GROUPS = 16
#: How far into a string a look-up reads ahead: of short ones, the second cache line too.
FAR = np.uint32(16)

ENTRY = np.uint64(0xFFFFFFFF)
TAG = np.uint64(0xFFFFFFFF00000000)
HALF = np.uint64(32)
ONE = np.uint64(1)
EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
#: Marks, in what look_up finds, a slot in place of a number.
NEW = np.uint64(1 << 32)


@device
def walk(slots, slot, tag):
    """First slot, from ``slot`` on, that is empty or has the tag, and what it holds."""
    mask = np.uint64(len(slots) - 1)
    held = load(slots, slot)
    while held != EMPTY and (held ^ tag) & TAG != 0:
        slot = (slot + ONE) & mask
        held = load(slots, slot)
    return slot, held


@partial(each, least_chunk=LEAST_GROUPS)
def look_up(group, rows, pairs, starts, text, known, slots, offsets, arena, found, news):
    """Find the strings of a group of positions, or enter them.

    ``found`` becomes the number, or ``NEW | slot``.  ``news`` becomes, where a new string appears first, one
    more than its length, and 0 elsewhere; until then it takes what is read ahead, lest that be left out.
    """
    start, stop = np.uint64(group * GROUP), np.uint64(min(group * GROUP + GROUP, len(starts) - 1))
    height, by_pairs = np.uint64(rows), np.uint64(pairs)
    mask = np.uint64(len(slots) - 1)
    for position in range(start, stop):
        row = (position >> by_pairs) + (position & by_pairs) * height
        code = hash_bytes(text, starts[row], starts[row + ONE])
        found[position] = code << HALF | code & mask & ENTRY
    for position in range(start, stop):
        news[position] = slots[found[position] & ENTRY] & ONE
    for position in range(start, stop):
        tag = found[position] & TAG
        slot, held = walk(slots, found[position] & ENTRY, tag)
        found[position] = tag | slot
        news[position] = min(held & ENTRY, known)
    for position in range(start, stop):
        news[position] = offsets[news[position]]
    for position in range(start, stop):
        news[position] = arena[news[position]] | arena[news[position] + FAR]
    for position in range(start, stop):
        news[position] = 0
        found[position] = find_or_enter(
            position, height, by_pairs, starts, text, known, slots, offsets, arena, found, news
        )


@device
def find_or_enter(position, rows, pairs, starts, text, known, slots, offsets, arena, found, news):
    """Number of a known string, or ``NEW`` and the slot of a new one."""
    mask = np.uint64(len(slots) - 1)
    row = (position >> pairs) + (position & pairs) * rows
    start, length = starts[row], starts[row + ONE] - starts[row]
    slot, tag = found[position] & ENTRY, found[position] & TAG
    mine = tag | known + position
    while True:
        slot, held = walk(slots, slot, tag)
        if held == EMPTY:
            news[position] = length + 1  # before others can see the slot, and clear this again
            if cas(slots, slot, EMPTY, mine) == EMPTY:
                return NEW | slot
            continue
        entry = held & ENTRY
        if entry < known:
            there = offsets[entry]
            if offsets[entry + ONE] - there == length and same_bytes(text, start, arena, there, length):
                return entry
        else:
            first = entry - known
            other = (first >> pairs) + (first & pairs) * rows
            there = starts[other]
            if starts[other + ONE] - there == length and same_bytes(text, start, text, there, length):
                news[position] = length + 1
                news[max(fetch_min(slots, slot, mine), mine) - (tag | known)] = 0
                return NEW | slot
        slot = (slot + ONE) & mask


@each
def settle(new, positions, rows, pairs, starts, text, known, slots, offsets, arena, found):
    """Number the new string that appeared first at ``positions[new]``, and copy it to the arena."""
    position = positions[new]
    slot = found[position] & ENTRY
    number = known + np.uint64(new)
    slots[slot] = slots[slot] & TAG | number
    start = offsets[number]
    row = (position >> pairs) + (position & pairs) * rows
    copy_bytes(text, starts[row], arena, start, offsets[number + ONE] - start)


@each
def enter_again(old_slot, old_slots, slots):
    """Bring an entry over to a larger table; its tag holds enough of the hash."""
    held = old_slots[old_slot]
    if held != EMPTY:
        mask = np.uint64(len(slots) - 1)
        slot = held >> HALF & mask
        while cas(slots, slot, EMPTY, held) != EMPTY:
            slot = (slot + ONE) & mask
