"""``wound-wait``: words have owners, the older transaction wounds the younger, and reserves its word.

A transaction owns a word from its first access to its end, so no two transactions hold a word at a time
(strict two-phase locking).  Conflicts are settled by age, which is the number of the transaction:

* The younger one polls a word of an older one for a while, and then fails.
* The older one *wounds* the younger owner, which fails at its next access, and leaves a *reservation* in the
  word, so that nobody younger takes it meanwhile.  Ownership is never taken away.

The tracking entry of a word holds its owner in the lower 31 bits and the waiting transaction above; one
compare-and-swap acquires a free word.  Writes are kept in the log until the end.

Guarantees.  *Serializable*: conflicting transactions are in the order in which they owned a common word, and
the moment at which a transaction owned all of its words orders them.  *Opaque*: every value that an attempt
reads is current until the attempt ends, also if it fails.  *Free of deadlock*: an unbounded wait is for a
younger owner, which is wounded, and either fails at its next access or finishes without waiting.  *Free of
starvation*: the oldest transaction that has not committed is never wounded and never fails; each word it
meets becomes its own after its owner's end.  An owner is a thread that runs, so the grid may be of any size.

Rosenkrantz, Stearns and Lewis, "System level concurrency control for distributed database systems" (1978),
for wounds and ages; the reservation is what keeps a word from being taken again and again by younger ones.
Without it there are fair schedules in which no transaction ever commits.
"""

import numpy as np

from edgewise.device import cas, device, fence, fetch_add, load
from edgewise.device.spin import relax
from edgewise.transactions.accesses import Deferred, acquire, write_log
from edgewise.transactions.transaction import (
    COUNT,
    RESERVED,
    SEEN,
    WOUNDS,
    begin,
    begin_log,
    commit,
    count_one,
    is_active,
    position,
    set_state,
    state,
)

#: Number that is neither an owner nor a waiting transaction.
NOBODY = 2**31 - 1
#: Bits of an owner, and of a waiting transaction, in a tracking entry.
BITS = 32
#: The tracking entry of a free word.
FREE = NOBODY << BITS | NOBODY


class WoundWait(Deferred):
    """A transaction of this protocol; ``memory.shared`` counts the wounds of each transaction."""

    __slots__ = ()


@begin.of(WoundWait)
def begin_attempt(tx):
    """Forget wounds of earlier attempts."""
    begin_log(tx)
    set_state(tx, SEEN, load(tx.memory.shared, tx.number))
    set_state(tx, RESERVED, -1)


@device
def is_wounded(tx):
    """Whether an older transaction waits for a word of this one."""
    return load(tx.memory.shared, tx.number) != state(tx, SEEN)


@device
def wound(tx, owner):
    """Tell a younger owner to fail."""
    fetch_add(tx.memory.shared, owner, 1)
    count_one(tx, WOUNDS)


@acquire.of(WoundWait)
def take(tx, word):
    """Own a free word, wait for a younger owner, or give up."""
    if is_wounded(tx):
        return False
    entries, me, held, polls = tx.memory.entries, np.int64(tx.number), np.int64(FREE), 0
    nobody, bits = np.int64(NOBODY), np.int64(BITS)
    while True:
        owner, waiting = held & nobody, held >> bits
        if owner == nobody and waiting >= me:
            left = nobody if waiting == me else waiting
            seen = cas(entries, word, held, left << bits | me)
            if seen == held:
                if state(tx, RESERVED) == word:
                    set_state(tx, RESERVED, -1)
                fence()
                return True
            held = seen
        elif owner == nobody or owner < me or waiting < me:
            if polls >= tx.memory.patience or is_wounded(tx):
                return False
            polls += 1
            relax()
            held = load(entries, word)
        elif waiting != me:
            seen = cas(entries, word, held, me << bits | owner)
            if seen == held:
                set_state(tx, RESERVED, word)
                wound(tx, owner)
                held = me << bits | owner
            else:
                held = seen
        else:
            relax()
            if is_wounded(tx):
                return False
            seen = load(entries, word)
            if seen >> bits == me and seen & nobody != nobody and seen & nobody != owner:
                wound(tx, seen & nobody)
            held = seen


@device
def release(tx):
    """Give all words back; what older transactions have reserved stays reserved."""
    fence()
    for entry in range(state(tx, COUNT)):
        word = tx.log.words[position(tx, entry)]
        fetch_add(tx.memory.entries, word, np.int64(NOBODY) - np.int64(tx.number))


@device
def cancel_reservation(tx):
    """Withdraw the one reservation that a failed attempt may have left."""
    word, me = state(tx, RESERVED), np.int64(tx.number)
    if word >= 0:
        held = load(tx.memory.entries, word)
        while held >> np.int64(BITS) == me:
            free = np.int64(NOBODY) << np.int64(BITS) | (held & np.int64(NOBODY))
            seen = cas(tx.memory.entries, word, held, free)
            if seen == held:
                return
            held = seen


@commit.of(WoundWait)
def write_back(tx):
    """Write the log back unless the attempt has failed, and give all words back."""
    succeeded = is_active(tx)
    if succeeded:
        write_log(tx)
    else:
        cancel_reservation(tx)
    release(tx)
    return succeeded
