"""The history test: whether the transactions of a run could have run one after the other.

Every word carries a version in its upper 32 bits, which each write raises by one, beside its value in the
lower 32 bits.  Transactions note what they have read and written (:func:`read_recorded`,
:func:`write_recorded`). Afterwards, :func:`check_history` looks at all accesses of the transactions that have
committed:

* The writes of a word form a chain: each replaces what the one before has written, from the word at the
  beginning to the word at the end.  Two writes of one version are a lost update.
* What was only read is a word that a write of the chain has written; otherwise an attempt that failed has
  been seen.
* Who wrote what a transaction has read comes before it, and who replaced that comes after it.  This
  *precedence graph* must have no cycle; a topological order of it is a serial order of the transactions.
  A stale read and write skew are cycles.

The test is sound and complete for the recorded accesses: a history passes if and only if it is conflict
serializable.  It takes about 100 bytes for each access on the host, so long runs are checked in batches;
between two runs every transaction has ended, so the order of the batches is part of the serial order.

Bernstein, Hadzilacos and Goodman, "Concurrency Control and Recovery in Database Systems" (1987), chapter 2.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, compiled, device
from edgewise.errors import VerificationError
from edgewise.transactions.transaction import read, write

#: Bits of a value below its version, and of all words together in a key.
VALUE_BITS = 32
VALUES = 2**VALUE_BITS - 1
#: In place of a word: no access.
UNUSED = -1


class History(NamedTuple):
    """What transactions have read and written.

    Attributes
    ----------
    words : (count * accesses,) int64 array
        Numbers of words; UNUSED for accesses that a transaction has not made.
    before, after : (count * accesses,) int64 array
        The words as they were read, and as they were written; equal if a word was only read.
    accesses : int
        Most accesses of a transaction.
    """

    words: Any
    before: Any
    after: Any
    accesses: int


def new_history(count, accesses, device="cpu"):
    """A :class:`History` for ``count`` transactions, in which nothing is recorded."""
    words = arrays.full(count * accesses, UNUSED, np.int64, device)
    before, after = (arrays.empty(count * accesses, np.int64, device) for _ in range(2))
    return History(words, before, after, accesses)


def with_versions(values):
    """Words of version 0: an int64 array of values from 0 to 2**32 - 1."""
    return values.astype(np.int64) & VALUES


def values_of(words):
    """The values of words with versions: an int64 array."""
    return words & VALUES


@device
def forget(tx, history):
    """Erase what earlier attempts of the transaction have recorded; a body begins with this."""
    for access in range(history.accesses):
        history.words[tx.number * history.accesses + access] = UNUSED


@device
def read_recorded(tx, history, access, word):
    """Read a word and record it as one of the accesses of the transaction; return the value."""
    held = np.int64(read(tx, word))
    at = tx.number * history.accesses + access
    history.words[at] = word
    history.before[at] = held
    history.after[at] = held
    return held & np.int64(VALUES)


@device
def write_recorded(tx, history, access, word, value):
    """Write a word, which gets its next version, and record it as one of the accesses."""
    held = np.int64(read(tx, word))
    version = (held >> np.int64(VALUE_BITS)) + np.int64(1)
    new = version << np.int64(VALUE_BITS) | (np.int64(value) & np.int64(VALUES))
    at = tx.number * history.accesses + access
    history.words[at] = word
    history.before[at] = held
    history.after[at] = new
    write(tx, word, new)


class Accesses(NamedTuple):
    """Accesses of one kind, in the order of their words and versions, on the host.

    Attributes
    ----------
    transactions, words, before, after : (k,) int64 array
    """

    transactions: Any
    words: Any
    before: Any
    after: Any

    def keys(self):
        """Word and version as one number, by which accesses are ordered."""
        return (self.words << VALUE_BITS) + (self.before >> VALUE_BITS)

    def where(self, marked):
        """Some of the accesses, or all in another order."""
        return Accesses(*(column[marked] for column in self))


def check_history(history, initial, final):
    """Check that the transactions of a run are serializable.

    Parameters
    ----------
    history : History
        What they have recorded, on any device; all of them have committed.
    initial, final : (n,) int64 array
        The words before and after the run.

    Raises
    ------
    VerificationError
        The history is not that of any serial order; the message names the transactions and the word.

    Examples
    --------
    >>> import numpy as np
    >>> from edgewise.transactions.check import History, check_history
    >>> one, two = 1 << 32, 2 << 32
    >>> both = History(np.array([0, 0]), np.array([0, 0]), np.array([one, one]), 1)
    >>> check_history(both, np.array([0]), np.array([one]))
    Traceback (most recent call last):
        ...
    edgewise.errors.VerificationError: transactions 0 and 1 both replaced version 0 of word 0: a lost update
    """
    initial, final = (np.asarray(arrays.move(words, "cpu")) for words in (initial, final))
    columns = [np.asarray(arrays.move(column, "cpu")) for column in history[:3]]
    used = np.flatnonzero(columns[0] != UNUSED)
    all_accesses = Accesses(used // history.accesses, *(column[used] for column in columns))
    is_write = all_accesses.before != all_accesses.after
    writes, reads = all_accesses.where(is_write), all_accesses.where(~is_write)
    writes = writes.where(np.argsort(writes.keys(), kind="stable"))
    _check_chains(writes, initial, final)
    before, after = _edges(writes, reads, initial)
    count = len(history.words) // history.accesses
    unsorted = _not_in_order(count, before, after)
    if len(unsorted):
        cycle = _cycle(unsorted, before, after)
        text = " before ".join(map(str, cycle))
        raise VerificationError(f"no serial order of the transactions exists: {text}; see the history test")


def _check_chains(writes, initial, final):
    """Each word is written from its first to its last state, one version after the other."""
    keys = writes.keys()
    same_word = writes.words[1:] == writes.words[:-1]
    twice = np.flatnonzero(keys[1:] == keys[:-1])
    if len(twice):
        one, other = writes.transactions[twice[0] : twice[0] + 2].tolist()
        version = int(writes.before[twice[0]]) >> VALUE_BITS
        raise VerificationError(
            f"transactions {one} and {other} both replaced version {version} of word "
            f"{int(writes.words[twice[0]])}: a lost update"
        )
    is_first = np.concatenate([[True], ~same_word]) if len(keys) else np.zeros(0, bool)
    expected = np.concatenate([[0], writes.after[:-1]]) if len(keys) else np.zeros(0, np.int64)
    expected[is_first] = initial[writes.words[is_first]]
    _check_seen(writes, expected)
    last = initial.copy()
    is_last = np.concatenate([~same_word, [True]]) if len(keys) else np.zeros(0, bool)
    last[writes.words[is_last]] = writes.after[is_last]
    lost = np.flatnonzero(last != final)
    if len(lost):
        raise VerificationError(
            f"word {int(lost[0])} is not what the last transaction has written there: a lost update"
        )


def _check_seen(accesses, expected):
    """What was read is what the write before has written."""
    wrong = np.flatnonzero(accesses.before != expected)
    if len(wrong):
        one = wrong[0]
        raise VerificationError(
            f"transaction {int(accesses.transactions[one])} has read word {int(accesses.words[one])} as no "
            "transaction before the next write has left it: a dirty read or a lost update"
        )


def _edges(writes, reads, initial):
    """The precedence graph: two arrays of transactions, of which the first comes before the second."""
    follows = np.flatnonzero(writes.words[1:] == writes.words[:-1])
    pairs = [(writes.transactions[follows], writes.transactions[follows + 1])]
    if len(reads.words):
        keys = writes.keys()
        at = np.searchsorted(keys, reads.keys())  # the write that replaced what was read
        padded = writes if len(keys) else Accesses(*(np.full(1, UNUSED) for _ in range(4)))
        before = np.maximum(at - 1, 0)
        has_before = (at > 0) & (padded.words[before] == reads.words)
        after = np.minimum(at, len(padded.words) - 1)
        has_after = (at < len(keys)) & (padded.words[after] == reads.words)
        expected = np.where(has_before, padded.after[before], initial[reads.words])
        _check_seen(reads, expected)
        pairs.append((padded.transactions[before[has_before]], reads.transactions[has_before]))
        pairs.append((reads.transactions[has_after], padded.transactions[after[has_after]]))
    first, second = (np.concatenate(ends) for ends in zip(*pairs))
    differ = first != second
    return first[differ], second[differ]


@compiled
def _place(first, second, offsets, targets):
    """Fill the rows of a graph, whose ``offsets`` are their ends at first and their beginnings afterwards."""
    for edge in range(len(first)):
        offsets[first[edge]] -= 1
        targets[offsets[first[edge]]] = second[edge]


@compiled
def _sort(offsets, targets, waiting, order):
    """Topological order as far as there is one, by Kahn's algorithm; return its length."""
    begun, ended = 0, 0
    for vertex in range(len(waiting)):
        if waiting[vertex] == 0:
            order[ended] = vertex
            ended += 1
    while begun < ended:
        vertex = order[begun]
        begun += 1
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            waiting[targets[entry]] -= 1
            if waiting[targets[entry]] == 0:
                order[ended] = targets[entry]
                ended += 1
    return ended


def _not_in_order(count, first, second):
    """Transactions that are on a cycle of the precedence graph, or after one."""
    ends = np.cumsum(np.bincount(first, minlength=count + 1))
    targets, order = np.empty(len(first), np.int64), np.empty(count, np.int64)
    _place(first, second, ends, targets)
    waiting = np.bincount(second, minlength=count)
    n_sorted = _sort(ends, targets, waiting, order)
    return np.flatnonzero(waiting) if n_sorted < count else np.empty(0, np.int64)


def _cycle(unsorted, first, second):
    """Transactions of one cycle, of which each comes before the next; the first one is repeated."""
    remaining = set(unsorted.tolist())
    before = {b: a for a, b in zip(first.tolist(), second.tolist()) if a in remaining and b in remaining}
    path: dict[int, int] = {}
    vertex = int(unsorted[0])
    while vertex not in path:
        path[vertex] = len(path)
        vertex = before[vertex]
    cycle = list(path)[path[vertex] :]
    return [vertex, *reversed(cycle)]
