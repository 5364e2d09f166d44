"""``visibility``: the share of the words that transactions read and write afterwards, measured in a dry run.

Holey and Zhai choose between two protocols by this property of a program.  A word that is written after it
was read must be acquired in any case, so that ``pessimistic`` (their PSTM), which acquires it at once, loses
nothing; words that are only read are better left to ``invisible`` (their ISTM), whose reads do not conflict
with each other.  They count reads; here a word counts once in a transaction, as it does for the protocols.

A dry run calls the bodies of some of the transactions.  Each reads the words as they are, keeps what it
writes in its log, and writes nothing.

Holey and Zhai, "Lightweight software transactions on GPUs" (ICPP 2014), as Manoochehri (2017, section 2.3.3)
describes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from edgewise.device import arrays, device, load
from edgewise.method import check_whole
from edgewise.transactions.memory import LOG_ENTRIES, Run, TransactionalMemory
from edgewise.transactions.statistics import total
from edgewise.transactions.transaction import (
    CLEAN,
    COUNT,
    DIRTY,
    NEW,
    OVERFLOW,
    RESERVED,
    SEEN,
    STATUS,
    Transaction,
    append,
    commit,
    entry_for,
    nothing,
    position,
    read,
    set_state,
    state,
    write,
)

#: Mark of a word that was read before it was written, beside DIRTY.
READ = 2
#: Totals in the state of a slot: words that were read, and those of them that were written afterwards.
READS, WRITTEN = SEEN, RESERVED
#: Transactions of a sample.
SAMPLE = 1000


class DryRun(Transaction):
    """A transaction of a dry run."""

    __slots__ = ()


@device
def note(tx, word):
    """Position in the log of a word, which is added with its value if it is new."""
    at = entry_for(tx, word)
    return append(tx, word, load(tx.memory.words, word), CLEAN) if at == NEW else at


@read.of(DryRun)
def read_noted(tx, word):
    """Read a word, and note it unless the transaction has written it."""
    at = note(tx, np.int64(word))
    if at < 0:
        return nothing(tx)
    if tx.log.marks[at] & np.int64(DIRTY) == 0:
        tx.log.marks[at] = READ
    return tx.log.values[at]


@write.of(DryRun)
def write_to_log(tx, word, value):
    """Keep a new value in the log."""
    at = note(tx, np.int64(word))
    if at >= 0:
        tx.log.values[at] = value
        tx.log.marks[at] |= np.int64(DIRTY)


@commit.of(DryRun)
def count(tx):
    """Count the words of a transaction that the log has held."""
    if state(tx, STATUS) == OVERFLOW:
        return False
    reads, written = state(tx, READS), state(tx, WRITTEN)
    for entry in range(state(tx, COUNT)):
        mark = tx.log.marks[position(tx, entry)]
        reads += np.int64(mark >= READ)
        written += np.int64(mark == READ + DIRTY)
    set_state(tx, READS, reads)
    set_state(tx, WRITTEN, written)
    return True


def visibility(
    memory: TransactionalMemory, body: Callable, count: int, *arguments: Any, sample: int = SAMPLE
) -> float:
    """Return which share of the words that transactions read they write afterwards, as the words are now.

    No word is changed.  What a body writes to other arrays is written, as by an attempt that fails.

    Parameters
    ----------
    memory : TransactionalMemory
        Of any protocol.
    body, count, *arguments
        As for :meth:`TransactionalMemory.run`.
    sample : int
        Number of transactions that are called, at regular distances.

    Returns
    -------
    float
        From 0 to 1; 0 as well if no word is read.

    Examples
    --------
    >>> import numpy as np
    >>> from edgewise.transactions import TransactionalMemory, read, visibility, write
    >>> def add(tx, number, sources):
    ...     write(tx, 0, read(tx, 0) + read(tx, sources[number]))
    >>> memory = TransactionalMemory(np.array([10, 20, 30]))
    >>> visibility(memory, add, 2, np.array([1, 2]))
    0.5
    """
    check_whole("count", count, 0)
    check_whole("sample", sample, 1)
    with arrays.guard(memory.device):
        run = Run(memory, body, int(count), arguments)
        numbers = np.arange(min(sample, count)) * max(count // sample, 1)
        while len(numbers := run.launch(DryRun, numbers, attempts=1)) and run.size < LOG_ENTRIES:
            run.grow()
        _, states, _, _ = run.totals()
        return total(states, WRITTEN) / max(total(states, READS), 1)
