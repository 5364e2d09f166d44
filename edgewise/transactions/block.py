"""``block``: one transaction for each thread block, which locks all that it has accessed at the end.

Reads wait for a locked word, for a limited time, and note its version; writes are kept in the log.  At the
end every accessed word, read or written, is locked in ascending order if its version is the one that was
read. Only the first thread of a block has transactions, so the threads of a warp never wait for each other,
as GPUs before Volta required, but nearly all of the GPU is idle.

The publication compares values instead of versions, and locks in the order of accesses.  A value that has
been changed and changed back would pass there, and two transactions could lock each other out.

Guarantees.  *Serializable*: when all words are locked, none has changed since it was read.  *Not opaque*: the
number of accesses of an attempt is limited.  *Free of deadlock*: locks are in order, and waiting is limited.

Cederman, Tsigas and Chaudhry, "Towards a software transactional memory for graphics processors" (EGPGV 2010),
the blocking variant.
"""

import numpy as np

from edgewise.device import device, fence, store
from edgewise.transactions.transaction import (
    ACTIVE,
    CONFLICT,
    COUNT,
    DIRTY,
    NEW,
    NONE,
    STATUS,
    Transaction,
    append,
    begin,
    begin_log,
    commit,
    entry_for,
    fail,
    is_within_budget,
    nothing,
    position,
    read,
    state,
    write,
)
from edgewise.transactions.versions import lock, read_with_version, sort_log


class Block(Transaction):
    """A transaction of this protocol; its marks are twice the entry that was read, plus 1 if it writes."""

    __slots__ = ()


@begin.of(Block)
def begin_attempt(tx):
    """Empty the log."""
    begin_log(tx)


@device
def note(tx, word):
    """Position in the log of a word that has been read; NONE if the attempt has failed."""
    at = entry_for(tx, word) if is_within_budget(tx) else np.int64(NONE)
    if at != NEW:
        return at
    seen, value = read_with_version(tx, word)
    if seen == NONE:
        fail(tx, CONFLICT)
        return np.int64(NONE)
    return append(tx, word, value, 2 * seen)


@read.of(Block)
def read_unlocked(tx, word):
    """Read a word that nobody has locked."""
    at = note(tx, np.int64(word))
    return tx.log.values[at] if at >= 0 else nothing(tx)


@write.of(Block)
def write_later(tx, word, value):
    """Keep a new value in the log."""
    at = note(tx, np.int64(word))
    if at >= 0:
        tx.log.values[at] = value
        tx.log.marks[at] |= np.int64(DIRTY)


@device
def lock_all(tx):
    """Lock all words of the log in order; return how many have been locked."""
    count = state(tx, COUNT)
    for entry in range(count):
        at = position(tx, entry)
        if lock(tx, tx.log.words[at], tx.log.marks[at] >> np.int64(1)) == NONE:
            return entry
    return count


@commit.of(Block)
def write_back(tx):
    """Lock all words, write the new values and release the words, those written with a new version."""
    if state(tx, STATUS) != ACTIVE:
        return False
    sort_log(tx)
    n_locked = lock_all(tx)
    succeeded = n_locked == state(tx, COUNT)
    if succeeded:
        for entry in range(n_locked):
            at = position(tx, entry)
            if tx.log.marks[at] & np.int64(DIRTY) != 0:
                store(tx.memory.words, tx.log.words[at], tx.log.values[at])
    fence()
    for entry in range(n_locked):
        at = position(tx, entry)
        seen, dirty = tx.log.marks[at] >> np.int64(1), tx.log.marks[at] & np.int64(DIRTY)
        store(tx.memory.entries, tx.log.words[at], seen + 2 * dirty if succeeded else seen)
    return succeeded
