"""``reservations``: rounds in which transactions first reserve all of their words, and the first ones commit.

A round runs the oldest transactions that have not committed, in two launches.  In the first one, every body
runs without effect, and reserves each word that it accesses by an atomic minimum of its number.  In the
second one the bodies run again; one that meets a word reserved by an older transaction fails, and the others
commit. No two of these share a word.  Reservations of later rounds replace those of earlier ones, so nothing
is reset.

A round grows to twice as many transactions when three in four have committed, and halves when fewer than one
in four have; both depend on the transactions alone.

Guarantees.  *Serializable* and *opaque*.  *Deterministic*: the same words in the end for every device and
number of threads.  *Free of deadlock and starvation*: the oldest transaction of a round commits, and nobody
waits.  Words that all transactions write are the worst case: one commit a round.

Blelloch, Fineman, Gibbons and Shun, "Internally deterministic parallel algorithms can be fast" (PPoPP 2012);
Nasre, Burtscher and Pingali, "Morph algorithms on GPUs" (PPoPP 2013), for the marks of neighbourhoods.
"""

import numpy as np

from edgewise.device import device, fetch_min, load
from edgewise.transactions.accesses import Deferred, acquire, write_log
from edgewise.transactions.transaction import commit, is_active

#: Bits of a reservation below the number of its round.
ROUND_BITS = 32
#: Number of the first round; the numbers decrease from round to round.
FIRST_ROUND = 2**30
#: Entry of a word that no transaction has reserved.
FREE = 2**62
#: Transactions of the first round.
FIRST_WINDOW = 2**12
#: The word of the memory's shared words that has the reservations of the round, without a number.
ROUND = 0


class Reserve(Deferred):
    """A transaction that reserves its words."""

    __slots__ = ()


class Apply(Deferred):
    """A transaction that commits if all its words are reserved for it."""

    __slots__ = ()


@device
def reservation(tx):
    """What this transaction leaves at a word."""
    return load(tx.memory.shared, ROUND) + np.int64(tx.number)


@acquire.of(Reserve)
def reserve(tx, word):
    """Reserve a word, unless an older transaction does; either way the body goes on to the next one."""
    fetch_min(tx.memory.entries, word, reservation(tx))
    return True


@acquire.of(Apply)
def is_reserved(tx, word):
    """Whether no older transaction has reserved a word."""
    return load(tx.memory.entries, word) == reservation(tx)


@commit.of(Reserve)
def end_without_effect(tx):
    """The words stay as they are."""
    return True


@commit.of(Apply)
def write_back(tx):
    """Write the new values, if all words were reserved."""
    if not is_active(tx):
        return False
    write_log(tx)
    return True


def drive(run):
    """Launch rounds until every transaction has committed or can never commit."""
    failed, first, window = np.empty(0, np.int64), 0, FIRST_WINDOW
    while len(failed) or first < run.count:
        fresh = min(max(window - len(failed), 0), run.count - first)
        numbers = np.concatenate([failed[:window], np.arange(first, first + fresh)])
        later, first = failed[window:], first + fresh
        run.shared.shared[ROUND] = (FIRST_ROUND - run.memory.n_rounds) << ROUND_BITS
        run.launch(Reserve, numbers, attempts=1, counted=False)
        failed = run.launch(run.memory._protocol.kind, numbers, attempts=1)
        run.memory.n_rounds += 1
        failed = run.after_round(failed, len(failed) == len(numbers))
        commits = len(numbers) - len(failed)
        if 4 * commits > 3 * len(numbers):
            window *= 2
        elif 4 * commits < len(numbers):
            window = max(1, window // 2)
        failed = np.concatenate([failed, later])
