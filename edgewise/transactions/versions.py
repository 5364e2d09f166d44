"""Words with versions: tracking entries that count the changes of a word and have a lock in the lowest bit.

A value and its version belong together where the entry is the same, and not locked, before and after the
value is read.  Entries have 64 bits, so versions never come back.
"""

import numpy as np

from edgewise.device import cas, device, fence, load
from edgewise.device.spin import relax
from edgewise.transactions.transaction import COUNT, NONE, nothing, position, state

#: Entry of a word that has never changed, and the bit of the lock.
FREE, LOCKED = 0, 1


@device
def read_with_version(tx, word):
    """Entry and value of a word that belong together; the entry is NONE if it stays locked for long."""
    entries, polls = tx.memory.entries, 0
    while polls <= tx.memory.patience:
        seen = load(entries, word)
        if seen & np.int64(LOCKED) == 0:
            fence()
            value = load(tx.memory.words, word)
            fence()
            if load(entries, word) == seen:
                return seen, value
        polls += 1
        relax()
    return np.int64(NONE), nothing(tx)


@device
def lock(tx, word, expected):
    """Lock a word of an expected entry, any if it is NONE; return that entry, NONE if it was not possible."""
    entries, polls = tx.memory.entries, 0
    seen = expected if expected != NONE else load(entries, word)
    while polls <= tx.memory.patience:
        if seen & np.int64(LOCKED) == 0:
            held = cas(entries, word, seen, seen | np.int64(LOCKED))
            if held == seen:
                fence()
                return seen
            if expected != NONE and held != (expected | np.int64(LOCKED)):
                return np.int64(NONE)
        polls += 1
        relax()
        seen = expected if expected != NONE else load(entries, word)
    return np.int64(NONE)


@device
def sort_log(tx):
    """Sort the log by the numbers of the words, in which order words are locked."""
    log = tx.log
    for entry in range(1, state(tx, COUNT)):
        at = position(tx, entry)
        word, value, mark = log.words[at], log.values[at], log.marks[at]
        place = entry
        while place > 0 and log.words[position(tx, place - 1)] > word:
            before, after = position(tx, place - 1), position(tx, place)
            log.words[after], log.values[after] = log.words[before], log.values[before]
            log.marks[after] = log.marks[before]
            place -= 1
        at = position(tx, place)
        log.words[at], log.values[at], log.marks[at] = word, value, mark
