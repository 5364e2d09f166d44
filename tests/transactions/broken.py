"""Three protocols that are broken on purpose, written as a user would write one."""

import numpy as np

from edgewise.device import cas, fence, fetch_add, load, store
from edgewise.transactions import Protocol, invisible, pessimistic, tl2
from edgewise.transactions.tl2 import lock_written, unlock, write_words
from edgewise.transactions.transaction import (
    ACTIVE,
    CLEAN,
    CONFLICT,
    COUNT,
    DIRTY,
    NEW,
    STATUS,
    Transaction,
    append,
    begin,
    begin_log,
    commit,
    entry_for,
    fail,
    nothing,
    position,
    read,
    state,
    write,
)
from edgewise.transactions.versions import sort_log

FREE = pessimistic.FREE


class Unvalidated(tl2.TL2):
    """TL2 that does not look at what it has read once the locks are taken: write skew."""

    __slots__ = ()


begin.of(Unvalidated)(tl2.take_snapshot)
read.of(Unvalidated)(tl2.read_snapshot)
write.of(Unvalidated)(tl2.write_later)


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


class EarlyRelease(Transaction):
    """A word is owned while it is read, and again while it is written, but not between: lost updates."""

    __slots__ = ()


@begin.of(EarlyRelease)
def begin_early(tx):
    begin_log(tx)


@read.of(EarlyRelease)
def read_early(tx, word):
    word = np.int64(word)
    at = entry_for(tx, word)
    if at >= 0:
        return tx.log.values[at]
    if at == NEW:
        if cas(tx.memory.entries, word, np.int64(FREE), tx.number) == FREE:
            value = load(tx.memory.words, word)
            store(tx.memory.entries, word, np.int64(FREE))
            append(tx, word, value, CLEAN)
            return value
        fail(tx, CONFLICT)
    return nothing(tx)


@write.of(EarlyRelease)
def write_early(tx, word, value):
    word = np.int64(word)
    at = entry_for(tx, word)
    if at == NEW:
        append(tx, word, value, DIRTY)
    elif at >= 0:
        tx.log.values[at] = value
        tx.log.marks[at] = DIRTY


@commit.of(EarlyRelease)
def commit_early(tx):
    if state(tx, STATUS) != ACTIVE:
        return False
    for entry in range(state(tx, COUNT)):
        at = position(tx, entry)
        if tx.log.marks[at] == DIRTY:
            store(tx.memory.words, tx.log.words[at], tx.log.values[at])
    return True


class DirtyRead(invisible.Invisible):
    """Invisible reads that take the word of a transaction that has not committed: dirty reads."""

    __slots__ = ()


begin.of(DirtyRead)(invisible.begin_attempt)
write.of(DirtyRead)(invisible.write_in_place)


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
