"""Transactions whose histories and results can be checked: what a protocol is tested and measured with.

    for name in WORKLOADS:
        run_checked(name, "wound-wait", count=100_000)

Every workload runs on words with versions (:mod:`~edgewise.transactions.check`) and has an invariant of its
own.  Few words are a *hot* workload, in which most transactions conflict, many words a *cold* one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from edgewise.device import arrays
from edgewise.errors import OptionError, VerificationError, argument, one_of
from edgewise.transactions.check import (
    History,
    check_history,
    forget,
    new_history,
    read_recorded,
    values_of,
    with_versions,
    write_recorded,
)
from edgewise.transactions.memory import TransactionalMemory

#: Money of an account at the beginning.
BALANCE = 100
#: One transaction in so many of the bank is an audit, which only reads.
AUDITS = 3
#: Words of a bucket of the hash table.
PROBES = 6
#: Keys of a sorted list, whose first word is its head.
KEYS = 7
#: Kinds of operations on tables and lists.
INSERT, DELETE, FIND = 0, 1, 2


def increment(tx, number, history, picks, seen):
    """Add one to each of some words, which may be the same."""
    forget(tx, history)
    for access in range(history.accesses):
        word = picks[number * history.accesses + access]
        write_recorded(tx, history, access, word, read_recorded(tx, history, access, word) + 1)


def transfer(tx, number, history, picks, seen):
    """Move one unit from an account to each of the others, or read them all."""
    forget(tx, history)
    k = history.accesses
    total = np.int64(0)
    for access in range(k):
        total += read_recorded(tx, history, access, picks[number * k + access])
    seen[number] = total
    giver = picks[number * k]
    if number % AUDITS != 0 and total > 0:
        balance = read_recorded(tx, history, 0, giver)
        if balance >= k - 1:
            for access in range(1, k):
                taker = picks[number * k + access]
                value = read_recorded(tx, history, access, taker)
                write_recorded(tx, history, access, taker, value + 1)
            write_recorded(tx, history, 0, giver, balance - (k - 1))


def skew(tx, number, history, picks, seen):
    """Of a pair whose sum is at least 1, take one away if the sum allows it; add one otherwise."""
    forget(tx, history)
    one = picks[2 * number] // 2 * 2
    pick = picks[2 * number + 1] % 2
    values = (read_recorded(tx, history, 0, one), read_recorded(tx, history, 1, one + 1))
    seen[number] = values[0] + values[1]
    value = values[0] if pick == 0 else values[1]
    if values[0] + values[1] >= 2 and value > 0:
        write_recorded(tx, history, pick, one + pick, value - 1)
    elif values[0] + values[1] < 2:
        write_recorded(tx, history, pick, one + pick, value + 1)


def use_table(tx, number, history, picks, seen):
    """Insert, delete or find a key in a hash table of buckets; a transaction reads a whole bucket."""
    forget(tx, history)
    key, kind = picks[2 * number] + 1, picks[2 * number + 1] % 3
    n_buckets = seen[len(seen) - 1]
    first = key % n_buckets * PROBES
    found, free = np.int64(-1), np.int64(-1)
    for probe in range(PROBES):
        value = read_recorded(tx, history, probe, first + probe)
        if value == key and found < 0:
            found = np.int64(probe)
        if value == 0 and free < 0:
            free = np.int64(probe)
    seen[number] = 0
    if kind == INSERT and found < 0 and free >= 0:
        write_recorded(tx, history, free, first + free, key)
        seen[number] = 1
    if kind == DELETE and found >= 0:
        write_recorded(tx, history, found, first + found, 0)
        seen[number] = -1


def use_list(tx, number, history, picks, seen):
    """Insert, delete or find a key in one of many sorted lists; a word is the next key, 0 at the end."""
    forget(tx, history)
    lists = seen[len(seen) - 1]
    head = picks[2 * number] % lists * (KEYS + 1)
    key, kind = picks[2 * number + 1] % KEYS + 1, picks[2 * number + 1] // KEYS % 3
    at, access = np.int64(0), np.int64(0)
    following = read_recorded(tx, history, access, head)
    while following != 0 and following < key and access < KEYS:
        at, access = following, access + 1
        following = read_recorded(tx, history, access, head + at)
    seen[number] = 0
    if kind == INSERT and following != key:
        write_recorded(tx, history, access + 1, head + key, following)
        write_recorded(tx, history, access, head + at, key)
        seen[number] = 1
    if kind == DELETE and following == key:
        after = read_recorded(tx, history, access + 1, head + key)
        write_recorded(tx, history, access, head + at, after)
        write_recorded(tx, history, access + 1, head + key, 0)
        seen[number] = -1


def _is_sum_of_increments(before, after, seen, accesses):
    return int(after.sum() - before.sum()) == accesses * len(seen)


def _is_money_kept(before, after, seen, accesses):
    kept = after.sum() == before.sum()
    return kept and (len(before) > accesses or bool((seen == before.sum()).all()))


def _are_pairs_positive(before, after, seen, accesses):
    return bool((seen >= 1).all()) and bool((after[::2] + after[1::2] >= 1).all())


def _is_table(before, after, seen, accesses):
    buckets = np.sort(after.reshape(-1, PROBES), axis=1)
    unique = (buckets[:, 1:] != buckets[:, :-1]) | (buckets[:, 1:] == 0)
    changes = np.count_nonzero(after) - np.count_nonzero(before)
    return bool(unique.all()) and int(seen[:-1].sum()) == changes


def _are_lists(before, after, seen, accesses):
    rows = after.reshape(-1, KEYS + 1)
    at, length = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    for _ in range(KEYS + 1):
        following = rows[np.arange(len(rows)), at]
        if ((following <= at) & (following != 0)).any():
            return False
        length += following != 0
        at = np.where(following != 0, following, at)
    changes = np.count_nonzero(before.reshape(-1, KEYS + 1)[:, 0])
    return changes > 0 or int(seen[:-1].sum()) == int(length.sum())


@dataclass(frozen=True)
class Workload:
    """A kind of transactions, and what is true of their results.

    Attributes
    ----------
    body : callable
        ``body(tx, number, history, picks, seen)``, with (count * k,) random numbers and, for each
        transaction, a number that it has seen.
    accesses : int
        Most words of a transaction.
    value : int
        Of every word at the beginning.
    holds : callable
        ``holds(before, after, seen, accesses)``: whether the values before and after, and what was seen, are
        possible.
    unit : int
        The number of words is a multiple of it.
    picks : int
        Random numbers of a transaction.
    distinct : bool
        Whether the words of a transaction are different ones.
    """

    body: Callable[..., None]
    accesses: int
    value: int
    holds: Callable[..., bool]
    unit: int = 1
    picks: int = 2
    distinct: bool = False

    def arguments(self, n_words, count, rng):
        """Random numbers for ``count`` transactions, and zeros for what they see."""
        if self.unit > 2:
            picks = rng.integers(0, n_words * 2, (count, 2))
        elif self.distinct:
            steps = rng.integers(1, max(n_words // self.picks, 2), (count, self.picks)).cumsum(axis=1)
            picks = (steps + rng.integers(0, n_words, (count, 1))) % n_words
        else:
            picks = rng.integers(0, n_words, (count, self.picks))
        seen = np.zeros(count + 1 if self.unit > 2 else count, np.int64)
        if self.unit > 2:
            seen[-1] = n_words // self.unit
        return picks.astype(np.int64).ravel(), seen


WORKLOADS = {
    "increments": Workload(increment, 2, 0, _is_sum_of_increments),
    "bank of 2": Workload(transfer, 2, BALANCE, _is_money_kept, distinct=True),
    "bank of 4": Workload(transfer, 4, BALANCE, _is_money_kept, picks=4, distinct=True),
    "write skew": Workload(skew, 2, 1, _are_pairs_positive, unit=2),
    "hash table": Workload(use_table, PROBES, 0, _is_table, unit=PROBES),
    "sorted list": Workload(use_list, KEYS + 1, 0, _are_lists, unit=KEYS + 1),
}


def run_checked(workload: str, protocol: Any, *, n_words: int = 64, count: int = 1000, **options: Any) -> Any:
    """Run a workload and check its history and its results.

    Parameters
    ----------
    workload : str
        A name in ``WORKLOADS``.
    protocol : str or Protocol
        As for :class:`~edgewise.transactions.TransactionalMemory`, a protocol of your own as well.
    n_words : int
        Words at least; few words are a hot workload.
    count : int
        Transactions.
    **options
        ``device``, ``seed``, and options of :class:`~edgewise.transactions.TransactionalMemory`.

    Returns
    -------
    Statistics

    Raises
    ------
    OptionError
        An unknown workload or protocol.
    VerificationError
        The history is not serializable, or the invariant of the workload does not hold.

    Examples
    --------
    >>> from edgewise.transactions.workloads import run_checked
    >>> run_checked("write skew", "tl2", n_words=4, count=100).commits
    100
    """
    statistics, check = run_recorded(workload, protocol, n_words=n_words, count=count, **options)
    check()
    return statistics


def run_recorded(
    workload, protocol, *, n_words, count, device="cpu", seed=1, memory=TransactionalMemory, **options
):
    """As :func:`run_checked`, but return the statistics and a function that makes the check."""
    if workload not in WORKLOADS:
        raise OptionError(f"{argument('workload', workload)} is unknown; {one_of(workload, WORKLOADS)}")
    kind = WORKLOADS[workload]
    n_words = -(-max(n_words, kind.accesses) // kind.unit) * kind.unit
    picks, seen = kind.arguments(n_words, count, np.random.default_rng(seed))
    initial = with_versions(np.full(n_words, kind.value))
    words, picks, seen = (arrays.move(array, device) for array in (initial.copy(), picks, seen))
    history = new_history(count, kind.accesses, device)
    statistics = memory(words, protocol=protocol, **options).run(kind.body, count, history, picks, seen)
    final, seen = (np.asarray(arrays.move(array, "cpu")) for array in (words, seen))
    columns = [np.asarray(arrays.move(column, "cpu")) for column in history[:3]]
    history = History._make([*columns, kind.accesses])

    def check():
        check_history(history, initial, final)
        if not kind.holds(values_of(initial), values_of(final), seen, kind.accesses):
            raise VerificationError(f"{workload}: the words that are left are not those of any serial order")

    return statistics, check
