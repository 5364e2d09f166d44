"""``invisible``: reads leave no trace and are checked at the end; words are locked when they are written.

A read notes the version of its word, so many transactions may read the same words at the same time.  A write
locks its word at once and writes in place; the log keeps the value before.  At the end all versions that were
read are compared again, and every lock is released with a new version, also by a failed attempt that has
written, since somebody may have read the entry before and the value between.

Guarantees.  *Serializable*: when the comparison begins, all written words are locked, and no word that was
read has changed since.  *Not opaque*: before it fails, an attempt may have read words of different moments;
the number of its accesses is limited.  *Free of deadlock*: waiting is limited.  *Livelock* is possible in
theory; the list of the host ends it.

Holey and Zhai, "Lightweight software transactions on GPUs" (ICPP 2014): invisible reads, ISTM;
:func:`~edgewise.transactions.visibility` measures where it suits.
"""

import numpy as np

from edgewise.device import device, fence, load, store
from edgewise.transactions.transaction import (
    CONFLICT,
    COUNT,
    NEW,
    NONE,
    Transaction,
    append,
    commit,
    entry_for,
    fail,
    is_active,
    is_within_budget,
    nothing,
    position,
    read,
    state,
    write,
)
from edgewise.transactions.versions import lock, read_with_version


class Invisible(Transaction):
    """A transaction of this protocol.

    The mark of a word that was read is its entry; that of a word that is locked is the bitwise complement.
    The value of a locked word is the one before.
    """

    __slots__ = ()


@read.of(Invisible)
def read_invisibly(tx, word):
    """Read a word and note its version."""
    word = np.int64(word)
    at = entry_for(tx, word) if is_within_budget(tx) else np.int64(NONE)
    if at >= 0:
        return load(tx.memory.words, word) if tx.log.marks[at] < 0 else tx.log.values[at]
    if at == NEW:
        seen, value = read_with_version(tx, word)
        if seen != NONE:
            append(tx, word, value, seen)
            return value
        fail(tx, CONFLICT)
    return nothing(tx)


@write.of(Invisible)
def write_in_place(tx, word, value):
    """Lock a word and write it; the value before is in the log."""
    word = np.int64(word)
    at = entry_for(tx, word) if is_within_budget(tx) else np.int64(NONE)
    if at == NONE:
        return
    if at == NEW or tx.log.marks[at] >= 0:
        expected = np.int64(NONE) if at == NEW else tx.log.marks[at]
        seen = lock(tx, word, expected)
        if seen == NONE:
            fail(tx, CONFLICT)
            return
        if at == NEW:
            at = append(tx, word, load(tx.memory.words, word), seen)
        tx.log.marks[at] = ~seen
    store(tx.memory.words, word, value)


@device
def is_valid(tx):
    """Whether no word that was only read has changed or is locked."""
    fence()
    for entry in range(state(tx, COUNT)):
        at = position(tx, entry)
        if tx.log.marks[at] >= 0 and load(tx.memory.entries, tx.log.words[at]) != tx.log.marks[at]:
            return False
    return True


@commit.of(Invisible)
def release(tx):
    """Check what was read and release the locks with new versions, after a failure with the values before."""
    succeeded = is_active(tx) and is_valid(tx)
    if not succeeded:
        for entry in range(state(tx, COUNT)):
            at = position(tx, entry)
            if tx.log.marks[at] < 0:
                store(tx.memory.words, tx.log.words[at], tx.log.values[at])
    fence()
    for entry in range(state(tx, COUNT)):
        at = position(tx, entry)
        if tx.log.marks[at] < 0:
            store(tx.memory.entries, tx.log.words[at], ~tx.log.marks[at] + np.int64(2))
    return succeeded
