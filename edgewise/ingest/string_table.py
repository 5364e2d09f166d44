"""The loops over a batch of strings that number them, and the table in which they are found.

The distinct strings are stored one behind the other in an *arena*, in the order of their numbers; this is an
Arrow string array already.  A table of 64-bit slots (open addressing, linear probing) finds them: the upper
half of a slot, its *tag*, is the lower half of the string's hash; the lower half says where the string is.

Strings arrive in batches of one or two columns; two columns are the sources and targets of pairs.  The
*position* of a string counts along the rows, ``2 * row`` for a source and ``2 * row + 1`` for a target, or
``row`` in a single column.  The lower half of a slot is

* below ``known`` (the number of strings known before the batch): the number of the string in the arena,
* else ``known + position``: a new string, and the first position of the batch where it has been seen so far.

A batch takes four loops.  :func:`look_up` finds each string, or claims an empty slot for it by
compare-and-swap; further copies of a new string lower the position in its slot by an atomic minimum.  The
order of the threads decides in which slot a string is and nothing else, since the smallest position always
wins.  :func:`count_new` counts the new strings and their bytes in blocks of positions; the sums over the
blocks are where :func:`number_new` gives the new strings, in order of their positions, the next numbers,
copies them to the arena, and writes the numbers of the rows.  :func:`number_copies` then finds those of
further copies of new strings in the slots.  The numbers are therefore the same for every number of threads
and every size of batch.

A table of millions of strings is far larger than the caches, and each string costs three misses (slot,
offset, bytes).  :func:`look_up` therefore takes a group of strings together through each step, and prefetches
what the next step reads, so that the misses of a group overlap; this halves its time.  As long as all strings
have one length, as hashes and UUIDs do, no offset is read, which takes another third off.  :func:`number_new`
prefetches slots.  The probing is that of :mod:`~edgewise.primitives.hash_table`, but strings are entered
here, because equal tags are not equal strings.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import cas, device, each, fetch_min
from edgewise.device.prefetch import prefetch
from edgewise.ingest.string_words import Strings, copy_bytes, hash_bytes, same_bytes
from edgewise.primitives.hash_table import EMPTY, UPPER_HALF, HashTable, probe

#: Strings that go through the steps of a look-up together.
GROUP = 128
#: Groups that a core takes at a time, or more.
CHUNK = 8
#: How many positions ahead the slots of new strings are fetched.
AHEAD = np.uint64(16)
#: Positions of a block in which new strings are counted and then numbered.
BLOCK = 1 << 11
#: Distance into a string that a look-up prefetches: of short ones, the second cache line too.
FAR = np.uint64(16)

ENTRY = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ONE = np.uint64(1)
#: Stands for the number of a string that is not known.
MISSING = np.uint64(0xFFFFFFFF)
#: Marks a result of look_up that is a slot and not a number.
NEW = np.uint64(1 << 32)


class Batch(NamedTuple):
    """Strings to be numbered.

    Attributes
    ----------
    rows : int64, strings in a column
    pairs : uint64, 1 if there are two columns, the sources and targets of pairs, else 0
    left : Strings, a column
    right : Strings, the other column, or the same one
    known : uint64, number of strings known before
    """

    rows: Any
    pairs: Any
    left: Strings
    right: Strings
    known: Any


class Table(NamedTuple):
    """The strings known.

    ``slots`` is a (power of 2,) uint64 array.  ``offsets``, (known + 1 or more,) int32 or int64, are where in
    ``arena`` each begins and the last one ends.  ``arena`` is a uint8 array, at least ``FAR + 1`` bytes
    longer than needed.  ``width``, uint64, is the length of all strings, or 0 if their lengths differ.
    """

    slots: Any
    offsets: Any
    arena: Any
    width: Any


class Lookup(NamedTuple):
    """What is known about each position of a batch.

    ``results``, (strings,) uint64, is the number of the string, or ``NEW | slot``.  ``new_lengths``,
    (strings,) uint32, is one more than the length where a new string appears first, else 0; before that
    look_up keeps the entries of slots here, and after it each block has the positions of its new strings, to
    which number_new appends those of further copies.
    """

    results: Any
    new_lengths: Any


class Blocks(NamedTuple):
    """What is known about each block of positions.

    (blocks + 1,) int64 arrays: ``numbers`` and ``places`` are the number of new strings and of their bytes in
    each block, behind a zero, and then those of all blocks before; ``high`` is the OR of the bytes,
    ``longest`` the largest length, and ``copies`` the number of further copies of new strings.
    """

    numbers: Any
    places: Any
    high: Any
    longest: Any
    copies: Any


@device
def string_at(position, batch):
    """The text in which a string is, where it begins there, and its length."""
    row = position >> batch.pairs
    if position & batch.pairs:
        start = np.int64(batch.right.starts[row])
        return batch.right.text, start, np.int64(batch.right.starts[row + ONE]) - start
    start = np.int64(batch.left.starts[row])
    return batch.left.text, start, np.int64(batch.left.starts[row + ONE]) - start


@device
def prefetch_start(entry, batch, table):
    """Start to read where the string of an entry begins, or the string; something harmless of no string."""
    if entry >= batch.known:
        position = entry - batch.known
        prefetch(batch.right.starts if position & batch.pairs else batch.left.starts, position >> batch.pairs)
    elif table.width:
        prefetch_known(entry * table.width, table)
    else:
        prefetch(table.offsets, entry)


@device
def prefetch_text(entry, batch, table):
    """Start to read the string of an entry, now that it is known where it begins."""
    if entry >= batch.known:
        if entry != ENTRY:
            text, start, _ = string_at(entry - batch.known, batch)
            prefetch(text, start)
    elif table.width == 0:
        prefetch_known(table.offsets[entry], table)


@device
def prefetch_known(place, table):
    """Start to read a known string."""
    prefetch(table.arena, place)
    prefetch(table.arena, place + FAR)


@device
def known_string(entry, table):
    """Where in the arena a known string begins, and its length."""
    if table.width:
        return np.int64(entry * table.width), np.int64(table.width)
    start = np.int64(table.offsets[entry])
    return start, np.int64(table.offsets[entry + ONE]) - start


@partial(each, least_chunk=CHUNK)
def look_up(group, batch, table, lookup):
    """Find the strings of a group of positions, or enter them."""
    results, entries = lookup.results, lookup.new_lengths
    first = np.uint64(group * GROUP)
    end = np.uint64(min(group * GROUP + GROUP, batch.rows << batch.pairs))
    mask = np.uint64(len(table.slots) - 1)
    for position in range(first, end):
        text, start, length = string_at(position, batch)
        code = hash_bytes(text, start, start + length)
        results[position] = code << HALF | code & mask & ENTRY
        prefetch(table.slots, code & mask & ENTRY)
    for position in range(first, end):
        tag = results[position] & UPPER_HALF
        slot, content = probe(HashTable(table.slots, EMPTY, UPPER_HALF), results[position] & ENTRY, tag)
        results[position], entries[position] = tag | slot, content & ENTRY
        prefetch_start(content & ENTRY, batch, table)
    for position in range(first, end):
        prefetch_text(np.uint64(entries[position]), batch, table)
    for position in range(first, end):
        entries[position] = 0
        results[position] = find_or_enter(position, batch, table, lookup)


@device
def find_or_enter(position, batch, table, lookup):
    """Number of a known string, or ``NEW`` and the slot of a new one."""
    known, slots = batch.known, table.slots
    mask = np.uint64(len(slots) - 1)
    text, start, length = string_at(position, batch)
    slot, tag = lookup.results[position] & ENTRY, lookup.results[position] & UPPER_HALF
    own = tag | known + position
    while True:
        slot, content = probe(HashTable(slots, EMPTY, UPPER_HALF), slot, tag)
        if content == EMPTY:
            lookup.new_lengths[position] = length + 1  # before others can see the slot, and clear this again
            if cas(slots, slot, EMPTY, own) == EMPTY:
                return NEW | slot
            continue
        entry = content & ENTRY
        if entry < known:
            other_text, (other, other_length) = table.arena, known_string(entry, table)
        else:
            other_text, other, other_length = string_at(entry - known, batch)
        if other_length == length and same_bytes(text, start, other_text, other, length):
            if entry < known:
                return entry
            lookup.new_lengths[position] = length + 1
            lookup.new_lengths[max(fetch_min(slots, slot, own), own) - (tag | known)] = 0
            return NEW | slot
        slot = (slot + ONE) & mask


@partial(each, least_chunk=1)
def count_new(block, count, new_lengths, blocks):
    """Count the new strings of a block and their bytes, and find the length of the longest.

    Their positions take the place of the lengths: a list without a choice at each, which is foreseen badly.
    """
    first, end = np.uint64(block * BLOCK), np.uint64(min(block * BLOCK + BLOCK, count))
    numbers, places, longest = np.uint64(0), np.int64(0), np.int64(0)
    for position in range(first, end):
        length = np.int64(new_lengths[position])
        new_lengths[first + numbers] = position
        numbers += np.uint64(length > 0)
        places += max(length - 1, np.int64(0))
        longest = max(longest, length - 1)
    blocks.numbers[block + 1], blocks.places[block + 1] = np.int64(numbers), places
    blocks.longest[block] = longest


@partial(each, least_chunk=1)
def number_new(block, batch, table, lookup, blocks, sources, targets):
    """Number the new strings of a block, copy them to the arena, and write the numbers of the rows.

    Those of further copies of new strings are left out, and their positions noted.
    """
    results, positions = lookup.results, lookup.new_lengths
    number, place, high = batch.known + np.uint64(blocks.numbers[block]), blocks.places[block], np.uint64(0)
    first, end = np.uint64(block * BLOCK), np.uint64(min(block * BLOCK + BLOCK, batch.rows << batch.pairs))
    behind = first + np.uint64(blocks.numbers[block + 1] - blocks.numbers[block])
    together = batch.pairs == 0 and behind == end
    if together:
        start = np.int64(batch.left.starts[first])  # all are new, so their text is copied as one
        length = np.int64(batch.left.starts[end]) - start
        high |= copy_bytes(batch.left.text, start, table.arena, place, length)
    for item in range(first, behind):
        position, later = np.uint64(positions[item]), np.uint64(positions[min(item + AHEAD, behind - ONE)])
        if number != batch.known + position:  # else the slot has the number, as all strings so far are new
            prefetch(table.slots, results[later] & ENTRY)
            slot = results[position] & ENTRY
            table.slots[slot] = table.slots[slot] & UPPER_HALF | number
        text, start, length = string_at(position, batch)
        if not together:
            high |= copy_bytes(text, start, table.arena, place, length)
        place += length
        results[position] = number
        number += ONE
        table.offsets[number] = place
    copies = behind
    for at in range(first, end):
        if results[at] < NEW:
            write_number(at, results[at], batch, sources, targets)
        else:
            positions[copies] = at
            copies += ONE
    blocks.high[block], blocks.copies[block] = np.int64(high >> ONE), np.int64(copies - behind)


@device
def write_number(position, number, batch, sources, targets):
    """Write the number of the string at a position to its row."""
    if position & batch.pairs:
        targets[position >> ONE] = number
    else:
        sources[position >> batch.pairs] = number


@partial(each, least_chunk=1)
def number_copies(block, batch, slots, lookup, blocks, sources, targets):
    """Write the numbers of further copies of new strings in a block, which are in the slots now."""
    first = np.uint64(block * BLOCK + blocks.numbers[block + 1] - blocks.numbers[block])
    for item in range(first, first + np.uint64(blocks.copies[block])):
        position = np.uint64(lookup.new_lengths[item])
        slot = lookup.results[position] & ENTRY
        write_number(position, slots[slot] & ENTRY, batch, sources, targets)


@each
def rehash(old_slot, old_slots, slots):
    """Enter a slot's content into a larger table; its tag has enough bits of the hash."""
    content = old_slots[old_slot]
    if content != EMPTY:
        mask = np.uint64(len(slots) - 1)
        slot = content >> HALF & mask
        while cas(slots, slot, EMPTY, content) != EMPTY:
            slot = (slot + ONE) & mask


@each
def find(position, batch, table, numbers):
    """Write the number of a string of a single column, or :data:`MISSING`."""
    starts, slots = batch.left.starts, table.slots
    mask = np.uint64(len(slots) - 1)
    start, length = starts[position], starts[position + 1] - starts[position]
    code = hash_bytes(batch.left.text, start, starts[position + 1])
    tag, slot, number = code << HALF, code & mask & ENTRY, MISSING
    while True:
        slot, content = probe(HashTable(slots, EMPTY, UPPER_HALF), slot, tag)
        if content == EMPTY:
            break
        entry = content & ENTRY
        other = table.offsets[entry]
        if table.offsets[entry + ONE] - other == length and same_bytes(
            batch.left.text, start, table.arena, other, length
        ):
            number = entry
            break
        slot = (slot + ONE) & mask
    numbers[position] = number
