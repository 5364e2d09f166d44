"""``tl2``: a global clock, snapshots that are extended, and locks in ascending order at the end.

A transaction begins with the time of the clock, and a word whose version is older than that is valid at once
(*validation by timestamps*).  Where a version is younger, the transaction takes a later time and compares the
values of all words it has read so far (*validation by values*), and goes on if they are the same.  This is
the hierarchical validation of GPU-STM, which Manoochehri (2017) calls HSTM.

Writes are kept in the log.  At the end the written words are locked in ascending order, so that nobody waits
in a circle; then the clock is advanced, what was read is validated for the new time, the log is written back,
and the words are released with that time as their version.  A transaction that only reads needs none of this.
GPU-STM sorts the log at every access (encounter-time lock-sorting); here it is sorted once, at the end.  It
has a version for a stripe of words; here every word has one.

Guarantees.  *Serializable* in the order of the times.  Reads are validated after the locks are taken:
otherwise two transactions that read two words, and write one each, may both commit (write skew).  *Opaque*:
an attempt always has the words of one moment.  *Free of deadlock* and, as waiting is limited, of unbounded
waits. Some transaction always commits unless attempts time out; the list of the host ends such cases.

Dice, Shalev and Shavit, "Transactional Locking II" (DISC 2006); Xu et al., "Software transactional memory for
GPU architectures" (CGO 2014).
"""

import numpy as np

from edgewise.device import device, fence, fetch_add, load, store
from edgewise.transactions.accesses import Deferred, access, write_log
from edgewise.transactions.transaction import (
    CONFLICT,
    COUNT,
    DIRTY,
    NEW,
    NONE,
    RESERVED,
    SEEN,
    append,
    begin,
    begin_log,
    commit,
    entry_for,
    fail,
    is_active,
    position,
    set_state,
    state,
    write,
)
from edgewise.transactions.versions import LOCKED, lock, read_with_version, sort_log

#: The word of the memory's shared words that is the clock.
CLOCK = 0
#: Whether the locks are held, in the state of the slot.
HOLDS = RESERVED


class TL2(Deferred):
    """A transaction of this protocol.

    The mark of a word is twice the entry that was read, NONE if the word was not read, plus 1 if the word is
    written.
    """

    __slots__ = ()


@begin.of(TL2)
def take_snapshot(tx):
    """Empty the log and read the clock."""
    begin_log(tx)
    set_state(tx, HOLDS, 0)
    set_state(tx, SEEN, load(tx.memory.shared, CLOCK))
    fence()


@access.of(TL2)
def read_snapshot(tx, word):
    """Read a word as of the snapshot, or extend the snapshot."""
    at = entry_for(tx, word)
    if at != NEW:
        return at
    seen, value = read_with_version(tx, word)
    if seen == NONE or (seen >> np.int64(1) > state(tx, SEEN) and not extend(tx, word, seen)):
        fail(tx, CONFLICT)
        return np.int64(NONE)
    return append(tx, word, value, 2 * seen)


@device
def extend(tx, word, seen):
    """Make the snapshot one of now, if the words of the log, and one more, are valid now."""
    now = load(tx.memory.shared, CLOCK)
    fence()
    if load(tx.memory.entries, word) != seen or not is_valid(tx, now):
        return False
    set_state(tx, SEEN, now)
    return True


@device
def is_valid(tx, now):
    """Whether every word that was only read has, at a time, the value that was read."""
    for entry in range(state(tx, COUNT)):
        at = position(tx, entry)
        mark, word = tx.log.marks[at], tx.log.words[at]
        seen = mark >> np.int64(1)
        if seen == NONE:
            continue
        held = load(tx.memory.entries, word)
        if held == seen:
            continue
        if mark & np.int64(DIRTY) != 0:  # locked at the end by this transaction, or changed by another
            if held == (seen | np.int64(LOCKED)) and state(tx, HOLDS) != 0:
                continue
            return False
        held, value = read_with_version(tx, word)
        if held == NONE or held >> np.int64(1) > now or value != tx.log.values[at]:
            return False
        tx.log.marks[at] = 2 * held
    return True


@write.of(TL2)
def write_unread(tx, word, value):
    """Keep a new value in the log; the word need not be read."""
    word = np.int64(word)
    at = entry_for(tx, word)
    if at == NEW:
        append(tx, word, value, np.int64(2 * NONE + DIRTY))
    elif at >= 0:
        tx.log.values[at] = value
        tx.log.marks[at] |= np.int64(DIRTY)


@device
def lock_written(tx):
    """Lock the words to be written, in order; return how many entries come before a failure, NONE if none."""
    for entry in range(state(tx, COUNT)):
        at = position(tx, entry)
        mark = tx.log.marks[at]
        if mark & np.int64(DIRTY) != 0 and lock(tx, tx.log.words[at], mark >> np.int64(1)) == NONE:
            return np.int64(entry)
    return np.int64(NONE)


@device
def unlock(tx, n_entries):
    """Release the locks of the first entries of the log with the versions before."""
    for entry in range(n_entries):
        at = position(tx, entry)
        if tx.log.marks[at] & np.int64(DIRTY) != 0:
            word = tx.log.words[at]
            store(tx.memory.entries, word, load(tx.memory.entries, word) - np.int64(LOCKED))


@device
def n_writes(tx):
    """Number of words to be written."""
    count = np.int64(0)
    for entry in range(state(tx, COUNT)):
        count += tx.log.marks[position(tx, entry)] & np.int64(DIRTY)
    return count


@commit.of(TL2)
def write_back(tx):
    """Lock, take the next time, validate, write, and release with that time."""
    if not is_active(tx):
        return False
    if n_writes(tx) == 0:
        return True
    sort_log(tx)
    n_locked = lock_written(tx)
    if n_locked != NONE:
        unlock(tx, n_locked)
        return False
    set_state(tx, HOLDS, 1)
    now = fetch_add(tx.memory.shared, CLOCK, 1) + np.int64(1)
    fence()
    if now != state(tx, SEEN) + 1 and not is_valid(tx, now):
        unlock(tx, state(tx, COUNT))
        return False
    write_words(tx, now)
    return True


@device
def write_words(tx, now):
    """Write the new values of the log, and release the words with a time as their version."""
    write_log(tx)
    fence()
    for entry in range(state(tx, COUNT)):
        at = position(tx, entry)
        if tx.log.marks[at] & np.int64(DIRTY) != 0:
            store(tx.memory.entries, tx.log.words[at], 2 * now)
