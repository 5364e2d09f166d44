"""What most protocols do alike: words that are acquired when they are first accessed, and deferred writes.

A protocol that acquires a word at its first access, for reading and writing alike, implements
:func:`acquire`, and :func:`own` does the rest.  A protocol that *defers* its writes keeps them in the log and
makes them when it commits, by :func:`write_log`.  Its class derives from :class:`Deferred`, which reads and
writes the entry that :func:`access` finds or adds.
"""

import numpy as np

from edgewise.device import by_class, device, fence, load, store
from edgewise.transactions.transaction import (
    CLEAN,
    CONFLICT,
    COUNT,
    DIRTY,
    NEW,
    NONE,
    Transaction,
    append,
    entry_for,
    fail,
    nothing,
    position,
    read,
    state,
    write,
)


@by_class
def acquire(tx, word):
    """Acquire a word that is not in the log yet; whether the transaction has it from now on."""


@device
def own(tx, word):
    """Position in the log of a word, which is acquired if it is new; NONE if the attempt has failed."""
    at = entry_for(tx, word)
    if at != NEW:
        return at
    if not acquire(tx, word):
        fail(tx, CONFLICT)
        return np.int64(NONE)
    return append(tx, word, load(tx.memory.words, word), CLEAN)


class Deferred(Transaction):
    """A transaction that writes when it commits; a mark's lowest bit says whether its word is written."""

    __slots__ = ()


@by_class
def access(tx, word):
    """Position in the log of a word, which is added if it is new; NONE if the attempt has failed."""


access.of(Deferred)(own)


@read.of(Deferred)
def read_from_log(tx, word):
    """Access a word and read it."""
    at = access(tx, np.int64(word))
    return tx.log.values[at] if at >= 0 else nothing(tx)


@write.of(Deferred)
def write_to_log(tx, word, value):
    """Access a word and keep its new value in the log."""
    at = access(tx, np.int64(word))
    if at >= 0:
        tx.log.values[at] = value
        tx.log.marks[at] |= np.int64(DIRTY)


@device
def release_all(tx, free):
    """Give all words of the log back: their tracking entries become those of free words."""
    fence()
    for entry in range(state(tx, COUNT)):
        store(tx.memory.entries, tx.log.words[position(tx, entry)], np.int64(free))


@device
def write_log(tx):
    """Write the new values of the log, to words that nobody else writes; the caller has a fence follow."""
    for entry in range(state(tx, COUNT)):
        at = position(tx, entry)
        if tx.log.marks[at] & np.int64(DIRTY) != 0:
            # race: a transaction that reads it now finds that out before it commits
            tx.memory.words[tx.log.words[at]] = tx.log.values[at]
