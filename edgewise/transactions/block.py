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
from edgewise.transactions.accesses import Deferred, access, write_log
from edgewise.transactions.transaction import (
    CONFLICT,
    COUNT,
    DIRTY,
    NEW,
    NONE,
    append,
    commit,
    entry_for,
    fail,
    is_active,
    is_within_budget,
    position,
    state,
)
from edgewise.transactions.versions import lock, read_with_version, sort_log


class Block(Deferred):
    """A transaction of this protocol; its marks are twice the entry that was read, plus 1 if it writes."""

    __slots__ = ()


@access.of(Block)
def note(tx, word):
    """Read a word that nobody has locked and note its version."""
    at = entry_for(tx, word) if is_within_budget(tx) else np.int64(NONE)
    if at != NEW:
        return at
    seen, value = read_with_version(tx, word)
    if seen == NONE:
        fail(tx, CONFLICT)
        return np.int64(NONE)
    return append(tx, word, value, 2 * seen)


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
    if not is_active(tx):
        return False
    sort_log(tx)
    n_locked = lock_all(tx)
    succeeded = n_locked == state(tx, COUNT)
    if succeeded:
        write_log(tx)
    fence()
    for entry in range(n_locked):
        at = position(tx, entry)
        seen, dirty = tx.log.marks[at] >> np.int64(1), tx.log.marks[at] & np.int64(DIRTY)
        store(tx.memory.entries, tx.log.words[at], seen + 2 * dirty if succeeded else seen)
    return succeeded
