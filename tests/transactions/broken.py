"""Protocols that are broken on purpose: the history test must find every one of them."""

import numpy as np

from edgewise.device import cas, device, fence, load, store
from edgewise.device.spin import relax
from edgewise.transactions import Protocol, invisible, pessimistic, priority, tl2, versions, wound_wait
from edgewise.transactions.accesses import Deferred, access, release_all, write_log
from edgewise.transactions.transaction import (
    CLEAN,
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
    nothing,
    position,
    read,
    state,
)
from tests.transactions.variants import skip, variant


class EarlyRelease(Deferred):
    """A word is owned while it is read, but not from then until it is written: lost updates."""

    __slots__ = ()


@access.of(EarlyRelease)
def read_early(tx, word):
    at = entry_for(tx, word)
    if at != NEW:
        return at
    if cas(tx.memory.entries, word, np.int64(pessimistic.FREE), tx.number) != pessimistic.FREE:
        fail(tx, CONFLICT)
        return np.int64(NONE)
    value = load(tx.memory.words, word)
    store(tx.memory.entries, word, np.int64(pessimistic.FREE))
    return append(tx, word, value, CLEAN)


@commit.of(EarlyRelease)
def commit_early(tx):
    if not is_active(tx):
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
    release_locked(tx, is_active(tx), np.int64(2))
    return is_active(tx)


@device
def release_locked(tx, succeeded, step):
    """Undo what a failed attempt has written, and raise the versions of locked words by a step."""
    for entry in range(state(tx, COUNT)):
        at = position(tx, entry)
        if tx.log.marks[at] < 0:
            if not succeeded:
                store(tx.memory.words, tx.log.words[at], tx.log.values[at])
            fence()
            store(tx.memory.entries, tx.log.words[at], ~tx.log.marks[at] + step)


def is_always_valid(tx, now):
    return True


def is_always_valid_now(tx):
    return True


def lock_if_valid(tx):
    """Validation first, and the locks of tl2 afterwards."""
    return tl2.lock_written(tx) if tl2.is_valid(tx, load(tx.memory.shared, tl2.CLOCK)) else np.int64(0)


def release_and_write_words(tx, now):
    """Words of tl2 are released with their new versions before they are written."""
    for entry in range(state(tx, COUNT)):
        at = position(tx, entry)
        if tx.log.marks[at] & np.int64(DIRTY) != 0:
            store(tx.memory.entries, tx.log.words[at], 2 * now)
    write_log(tx)


def read_without_second_look(tx, word):
    """The version may be of another value."""
    entries, polls = tx.memory.entries, 0
    while polls <= tx.memory.patience:
        seen = load(entries, word)
        if seen & np.int64(versions.LOCKED) == 0:
            return seen, load(tx.memory.words, word)
        polls += 1
        relax()
    return np.int64(NONE), nothing(tx)


def release_old_version(tx):
    """A failed attempt of invisible leaves the version that was there before it wrote."""
    succeeded = is_active(tx) and invisible.is_valid(tx)
    release_locked(tx, succeeded, np.int64(2 if succeeded else 0))
    return succeeded


def lock_any(tx, word, expected):
    """The version may be another one than that which was read."""
    return versions.lock(tx, word, np.int64(NONE))


def lock_unchecked(tx):
    """The marks of priority become locks even if others have taken them."""
    for entry in range(state(tx, COUNT)):
        store(tx.memory.entries, tx.log.words[position(tx, entry)], np.int64(tx.number))
    return True


def release_and_write(tx, free):
    release_all(tx, free)
    write_log(tx)


def free_all_marks(tx):
    """Marks of priority are withdrawn even where they are those of others."""
    for entry in range(state(tx, COUNT)):
        store(tx.memory.entries, tx.log.words[position(tx, entry)], np.int64(priority.FREE))


def release_without_undo(tx):
    release_all(tx, pessimistic.FREE)
    return is_active(tx)


def release_and_undo(tx):
    release_all(tx, pessimistic.FREE)
    if not is_active(tx):
        for entry in range(state(tx, COUNT)):
            at = position(tx, entry)
            if tx.log.marks[at] == DIRTY:
                store(tx.memory.words, tx.log.words[at], tx.log.values[at])
    return is_active(tx)


def release_and_write_if_active(tx):
    wound_wait.release(tx)
    if is_active(tx):
        write_log(tx)


def take_from_younger(tx, word):
    """The word of a younger owner is taken, not reserved."""
    held, free = load(tx.memory.entries, word), np.int64(wound_wait.FREE)
    while held & np.int64(wound_wait.NOBODY) > tx.number:
        seen = cas(tx.memory.entries, word, held, free - np.int64(wound_wait.NOBODY) + np.int64(tx.number))
        if seen == held:
            return True
        held = seen
    return False


def release_owned(tx):
    for entry in range(state(tx, COUNT)):
        word, free = tx.log.words[position(tx, entry)], np.int64(wound_wait.FREE)
        cas(tx.memory.entries, word, free - np.int64(wound_wait.NOBODY) + np.int64(tx.number), free)


def take_unreserved(tx, word):
    return True


BROKEN = (
    variant("tl2", "not validated", is_valid=is_always_valid),
    variant("tl2", "validated before the locks", is_valid=is_always_valid, lock_written=lock_if_valid),
    variant("tl2", "released before written", write_words=release_and_write_words),
    variant("tl2", "no second look", read_with_version=read_without_second_look),
    variant("invisible", "not validated", is_valid=is_always_valid_now),
    variant("invisible", "old version", commit=release_old_version),
    variant("invisible", "any version", lock=lock_any),
    variant("block", "any version", lock=lock_any),
    variant("priority", "not checked", lock_all=lock_unchecked),
    variant("priority", "released before written", write_log=skip, release_all=release_and_write),
    variant("priority", "all freed", roll_back=free_all_marks),
    variant("pessimistic", "not undone", commit=release_without_undo),
    variant("pessimistic", "released before undone", commit=release_and_undo),
    variant("wound-wait", "released before written", write_log=skip, release=release_and_write_if_active),
    variant("wound-wait", "taken", acquire=take_from_younger, release=release_owned),
    variant("reservations", "not reserved", acquire=take_unreserved),
    Protocol("early release", "", "", EarlyRelease, pessimistic.FREE),
    Protocol("dirty read", "", "", DirtyRead, versions.FREE),
)
