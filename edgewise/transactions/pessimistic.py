"""``pessimistic``: one compare-and-swap for each word, writes in place, and whoever comes second fails.

The first access of a word of either kind acquires it, and there is no other bookkeeping, which makes this the
protocol of least work where transactions write what they read.  The log keeps the values before, and a failed
attempt writes them back.

Guarantees.  *Serializable* and *opaque*: words are owned from the first access to the end (strict two-phase
locking).  *Free of deadlock*: no transaction waits.  *Livelock* is possible in theory, since two attempts may
fail at each other again and again; waiting after a failure makes it unlikely, and the list of the host ends
it.

Holey and Zhai, "Lightweight software transactions on GPUs" (ICPP 2014): pessimistic transactional support,
PSTM; :func:`~edgewise.transactions.visibility` measures where it suits.
"""

import numpy as np

from edgewise.device import cas, fence, load, store
from edgewise.transactions.accesses import acquire, own, release_all
from edgewise.transactions.transaction import (
    COUNT,
    DIRTY,
    Transaction,
    commit,
    is_active,
    nothing,
    position,
    read,
    state,
    write,
)

#: Tracking entry of a word that no transaction owns.
FREE = -1


class Pessimistic(Transaction):
    """A transaction of this protocol; its log keeps the values before, of words that it has written."""

    __slots__ = ()


@acquire.of(Pessimistic)
def take(tx, word):
    """Own a word that nobody owns."""
    if cas(tx.memory.entries, word, np.int64(FREE), np.int64(tx.number)) != np.int64(FREE):
        return False
    fence()
    return True


@read.of(Pessimistic)
def read_in_place(tx, word):
    """Own a word and read it."""
    at = own(tx, np.int64(word))
    return load(tx.memory.words, np.int64(word)) if at >= 0 else nothing(tx)


@write.of(Pessimistic)
def write_in_place(tx, word, value):
    """Own a word and write it; the value before is in the log."""
    at = own(tx, np.int64(word))
    if at >= 0:
        store(tx.memory.words, np.int64(word), value)
        tx.log.marks[at] = DIRTY


@commit.of(Pessimistic)
def release(tx):
    """Give all words back, those of a failed attempt with the values before."""
    succeeded = is_active(tx)
    if not succeeded:
        for entry in range(state(tx, COUNT)):
            at = position(tx, entry)
            if tx.log.marks[at] == DIRTY:
                store(tx.memory.words, tx.log.words[at], tx.log.values[at])
    release_all(tx, FREE)
    return succeeded
