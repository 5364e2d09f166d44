"""Three protocols that are broken on purpose, written as a user would write one."""

import numpy as np

from edgewise.device import cas, fence, fetch_add, load, store
from edgewise.transactions import Protocol, invisible, pessimistic, tl2
from edgewise.transactions.accesses import Deferred, access, write_log
from edgewise.transactions.tl2 import lock_written, unlock, write_words
from edgewise.transactions.transaction import (
    ACTIVE,
    CLEAN,
    CONFLICT,
    COUNT,
    NEW,
    NONE,
    STATUS,
    append,
    commit,
    entry_for,
    fail,
    nothing,
    position,
    read,
    state,
)
from edgewise.transactions.versions import sort_log

FREE = pessimistic.FREE


class Unvalidated(tl2.TL2):
    """TL2 that does not look at what it has read once the locks are taken: write skew."""

    __slots__ = ()


@commit.of(Unvalidated)
def write_unvalidated(tx):
    if state(tx, STATUS) != ACTIVE:
        return False
    sort_log(tx)
    n_locked = lock_written(tx)
    if n_locked != -1:
        unlock(tx, n_locked)
        return False
    now = fetch_add(tx.memory.shared, 0, 1) + np.int64(1)
    write_words(tx, now)
    return True


class EarlyRelease(Deferred):
    """A word is owned while it is read, but not from then until it is written: lost updates."""

    __slots__ = ()


@access.of(EarlyRelease)
def read_early(tx, word):
    at = entry_for(tx, word)
    if at != NEW:
        return at
    if cas(tx.memory.entries, word, np.int64(FREE), tx.number) != FREE:
        fail(tx, CONFLICT)
        return np.int64(NONE)
    value = load(tx.memory.words, word)
    store(tx.memory.entries, word, np.int64(FREE))
    return append(tx, word, value, CLEAN)


@commit.of(EarlyRelease)
def commit_early(tx):
    if state(tx, STATUS) != ACTIVE:
        return False
    write_log(tx)
    return True


class DirtyRead(invisible.Invisible):
    """Invisible reads that take the word of a transaction that has not committed: dirty reads."""

    __slots__ = ()


@read.of(DirtyRead)
def read_dirty(tx, word):
    word = np.int64(word)
    at = entry_for(tx, word)
    if at >= 0:
        return load(tx.memory.words, word)
    if at == NEW:
        append(tx, word, load(tx.memory.words, word), load(tx.memory.entries, word) & np.int64(-2))
        return load(tx.memory.words, word)
    return nothing(tx)


@commit.of(DirtyRead)
def commit_dirty(tx):
    succeeded = state(tx, STATUS) == ACTIVE
    for entry in range(state(tx, COUNT)):
        at = position(tx, entry)
        if tx.log.marks[at] < 0:
            if not succeeded:
                store(tx.memory.words, tx.log.words[at], tx.log.values[at])
            fence()
            store(tx.memory.entries, tx.log.words[at], ~tx.log.marks[at] + np.int64(2))
    return succeeded


#: Each with a workload that finds it.
BROKEN = {
    "unvalidated": (Protocol("unvalidated", "", "", Unvalidated, 0), "write skew"),
    "early release": (Protocol("early release", "", "", EarlyRelease, FREE), "increments"),
    "dirty read": (Protocol("dirty read", "", "", DirtyRead, 0), "bank of 4"),
}
