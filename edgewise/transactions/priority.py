"""``priority``: the protocol of the thesis, repaired: words are marked first, and locked at the end.

A tracking entry is free, *marked* by a transaction that has accessed the word, or *locked* by one that
commits.  An older transaction takes the mark of a younger one, which fails when it tries to turn its marks
into locks.  A locked word is not taken.  Values are read after marking and kept in the log.  The thesis
builds it on PR-STM (Shen et al., Euro-Par 2015), and treats reads as writes, as PSTM does.

The printed algorithm (Manoochehri, "Efficient Transactional-Memory-based Implementation of Morph Algorithms
on GPU", 2017, Algorithms 3.3 and 3.4) does not work as it stands; this one differs in five places:

* The comparisons of Algorithm 3.3 are the other way round there, and no free word could ever be marked.
* A word is looked up in the log before it is marked.  Otherwise a mark that was taken, used and given back by
  another transaction could be set once more, with a value that is out of date: a lost update.
* Marks are withdrawn by compare-and-swap of exactly one's own mark, so the mark of the thief stays.
* Values are read behind a fence.
* A mark is set by one atomic minimum: locks are smaller than marks, marks of older transactions smaller than
  those of younger ones, and a free word is larger than all of them.

Guarantees.  *Serializable*: all words are locked at one moment, and each is locked only if its mark has never
been taken, so no value has changed since it was read.  *Not opaque*: an attempt whose mark was taken goes on
with values of different moments until it ends; the number of its accesses is limited.  *Livelock* is
possible, against the claim of the thesis: an old transaction fails at the lock of a young one, which then
fails because the old one has taken another of its marks.  The list of the host ends it.
"""

import numpy as np

from edgewise.device import cas, device, fence, fetch_min, store
from edgewise.transactions.accesses import Deferred, access, acquire, own, release_all, write_log
from edgewise.transactions.transaction import (
    COUNT,
    NONE,
    commit,
    is_active,
    is_within_budget,
    position,
    state,
)

#: Tracking entry of a free word.
FREE = 2**32 - 1
#: Bit of the tracking entry of a marked word, beside the number of the transaction that has marked it.
MARKED = 2**31


class Priority(Deferred):
    """A transaction of this protocol."""

    __slots__ = ()


@acquire.of(Priority)
def mark(tx, word):
    """Mark a word that is free, or marked by a younger transaction."""
    mine = np.int64(MARKED) + np.int64(tx.number)
    if fetch_min(tx.memory.entries, word, mine) < mine:
        return False
    fence()
    return True


@access.of(Priority)
def own_within_budget(tx, word):
    """Mark a word, if the attempt has not gone on for too long."""
    return own(tx, word) if is_within_budget(tx) else np.int64(NONE)


@device
def lock_all(tx):
    """Turn all marks into locks; whether they were all left."""
    locked = np.int64(tx.number)
    mine = np.int64(MARKED) + locked
    for entry in range(state(tx, COUNT)):
        if cas(tx.memory.entries, tx.log.words[position(tx, entry)], mine, locked) != mine:
            return False
    fence()
    return True


@device
def roll_back(tx):
    """Withdraw marks and locks that are the transaction's own."""
    locked = np.int64(tx.number)
    mine = np.int64(MARKED) + locked
    for entry in range(state(tx, COUNT)):
        word = tx.log.words[position(tx, entry)]
        if cas(tx.memory.entries, word, mine, np.int64(FREE)) == locked:
            store(tx.memory.entries, word, np.int64(FREE))


@commit.of(Priority)
def write_back(tx):
    """Lock all words, write the log back and free the words; or withdraw what is left of the marks."""
    if not is_active(tx) or not lock_all(tx):
        roll_back(tx)
        return False
    write_log(tx)
    release_all(tx, FREE)
    return True
