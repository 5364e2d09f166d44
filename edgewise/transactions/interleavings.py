"""Protocols and bodies under a deterministic scheduler, which checks the history of every interleaving.

    check_protocol(Protocol(...))                  # a protocol of your own, on the workloads of the library
    check_body(body, words, count, *arguments)     # a body of your own, on a protocol of the library

Python threads run a few transactions on two words or a few more, and the scheduler may switch between them at
every access of the words, the tracking entries and what else transactions share
(:mod:`edgewise.device.explorer`).  Small cases are enough for most faults: of those that are planted in
``tests/transactions/broken.py``, each shows with two words and four threads.

A pass says that no fault was found, and not that there is none.  The scheduler shows all threads the same
memory (*sequential consistency*), so a missing fence passes.  Compiled runs on many cores or a GPU
(:func:`~edgewise.transactions.workloads.run_checked`) are for what the scheduler cannot see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays
from edgewise.device.explorer import NoProgress, Scheduler, Shared, preemptible
from edgewise.errors import OptionError, VerificationError, argument
from edgewise.transactions import runner
from edgewise.transactions.check import UNUSED, VALUE_BITS, VALUES, History, check_history, with_versions
from edgewise.transactions.memory import TransactionalMemory, TransactionError, check_words, named
from edgewise.transactions.protocols import Protocol
from edgewise.transactions.transaction import begin, read, write
from edgewise.transactions.workloads import run_recorded

#: Seeds by default: more than those that find every planted fault, of which the hardest needs 46.
SEEDS = 60
#: Threads, each of which is a slot.
THREADS = 4
#: Transactions of a workload.
COUNT = 12
#: Workloads by default, which need two words.
HOT = ("increments", "bank of 2", "write skew")
#: Steps for each transaction, after which a run is said to make no progress.
STEPS = 2_000
#: Accesses of an attempt of a body of a user, after which it is said to make no progress.
ACCESSES = 10_000


class Checked(NamedTuple):
    """What has been checked without finding a fault.

    Attributes
    ----------
    histories : int
        Runs, each with a seed and a workload, whose histories are serializable.
    seeds : int
    commits, aborts : int
        Transactions that have committed, and attempts that have failed.
    steps : int
        Accesses at which the scheduler could preempt a thread.
    """

    histories: int
    seeds: int
    commits: int
    aborts: int
    steps: int


def check_protocol(
    protocol: str | Protocol, *, seeds: Iterable[int] = range(SEEDS), workloads: Iterable[str] = HOT
) -> Checked:
    """Check histories of a protocol under a deterministic scheduler, with all seeds and workloads.

    Parameters
    ----------
    protocol : str or Protocol
        A name in :data:`edgewise.transactions.PROTOCOLS`, or a protocol of your own.
    seeds : iterable of int
        Each determines the transactions and their interleaving.
    workloads : iterable of str
        Names in ``edgewise.transactions.workloads.WORKLOADS``.

    Returns
    -------
    Checked
        How much has been checked.  A fault that shows with one seed in k is missed with probability
        ``(1 - 1 / k) ** seeds``.

    Raises
    ------
    VerificationError
        A history is not serializable, an invariant does not hold, or the transactions do not come to an end.
        The message names the seed and the workload, with which alone it is raised again.
    OptionError
        No seed, or an unknown protocol or workload.

    Examples
    --------
    >>> from edgewise.transactions import check_protocol
    >>> check_protocol("tl2", seeds=range(3)).histories
    9
    """
    protocol = named(protocol)
    return _checked(seeds, workloads, lambda seed, workload: _run_workload(protocol, workload, seed))


def check_body(
    body: Callable,
    words: Any,
    count: int,
    *arguments: Any,
    protocol: str | Protocol = "wound-wait",
    holds: Callable[..., bool] | None = None,
    seeds: Iterable[int] = range(SEEDS),
    log: int = 8,
) -> Checked:
    """Check histories of transactions of your own under a deterministic scheduler, with all seeds.

    Parameters
    ----------
    body : function
        As for :meth:`TransactionalMemory.run`; its calls of ``read`` and ``write`` are recorded.
    words : (n,) int32, int64, uint32 or uint64 array
        On the CPU; their values have 32 bits, since each has a version in the other half of 64.  Every run
        begins with a copy.
    count : int
        Transactions; a dozen that meet at the same words show most faults.
    *arguments
        Of the body; every run begins with copies of arrays.
    protocol : str or Protocol
        As for :class:`TransactionalMemory`.
    holds : function, optional
        ``holds(words, *arguments)``, whether the words and arguments after a run are right.
    seeds : iterable of int
        Each determines an interleaving.
    log : int
        As for :class:`TransactionalMemory`.

    Returns
    -------
    Checked

    Raises
    ------
    VerificationError
        A history is not serializable, ``holds`` is false, or the transactions do not come to an end; the
        message names the seed.
    OptionError
        No seed, words on a GPU, or values of more than 32 bits.

    Examples
    --------
    >>> import numpy as np
    >>> from edgewise.transactions import check_body, read, write
    >>> def take(tx, number, taken):
    ...     left = read(tx, 0)
    ...     taken[number] = left > 0
    ...     if left > 0:
    ...         write(tx, 0, left - 1)
    >>> seats, taken = np.array([3]), np.zeros(5, bool)
    >>> check_body(take, seats, 5, taken, holds=lambda seats, taken: taken.sum() == 3, seeds=range(4)).commits
    20
    """
    check_words(words)
    if arrays.device_of(words) != "cpu":
        raise OptionError(
            "words are on a GPU, and the scheduler runs on the CPU; give a copy, as words.get()"
        )
    protocol, recorder = named(protocol), Recorder(words.dtype)
    recorder.check_range(words.tolist())
    run_slot = cache(lambda kind: preemptible(runner.slot_of(body, kind), recorder.in_place()))

    def run(seed, _):
        given = [_copy(one) for one in arguments]
        initial = with_versions(words)
        held, scheduler = initial.copy(), Scheduler(seed, STEPS * max(count, 1))
        memory = Interleaved(held, scheduler, lambda _, kind: run_slot(kind), protocol=protocol, log=log)
        recorder.accesses.clear()
        statistics = memory.run(body, count, *given)
        check_history(recorder.history(count), initial, held)
        recorder.check_range(recorder.too_large.values())
        if holds is not None and not holds(recorder.values(held), *given):
            raise VerificationError("holds() is false for the words and arguments that are left")
        return statistics, scheduler.steps

    return _checked(seeds, [None], run)


def _checked(seeds, workloads, run):
    """Make ``run(seed, workload)`` for all of them, and add up what has been checked."""
    seeds, workloads = list(seeds), list(workloads)
    if not seeds or not workloads:
        raise OptionError(f"{argument('seeds', seeds)} and workloads are one at least; give some")
    checked = []
    for seed, workload in product(seeds, workloads):
        try:
            statistics, steps = run(seed, workload)
        except OptionError as error:
            if not isinstance(error, TransactionError):
                raise
            raise _found(seed, workload, error) from error
        except Exception as error:
            raise _found(seed, workload, error) from error
        checked.append((statistics.commits, statistics.aborts, steps))
    return Checked(len(checked), len(seeds), *map(sum, zip(*checked)))


def _found(seed, workload, error):
    where = f"seed {seed}" if workload is None else f"seed {seed}, workload {workload!r}"
    is_own = isinstance(error, VerificationError | TransactionError)
    return VerificationError(f"{where}: {error}" if is_own else f"{where}: {type(error).__name__}: {error}")


def _run_workload(protocol, workload, seed):
    scheduler = Scheduler(seed, STEPS * COUNT)
    memory = partial(Interleaved, scheduler=scheduler, slot_of=_slot_of)
    given = {"n_words": 1, "count": COUNT, "seed": seed, "memory": memory}
    statistics, check = run_recorded(workload, protocol, **given, patience=seed // 2 % 2)
    check()
    return statistics, scheduler.steps


@cache
def _slot_of(body, kind):
    """The loop of a slot, which the scheduler may preempt."""
    return preemptible(runner.slot_of(body, kind))


class Interleaved(TransactionalMemory):
    """A memory whose transactions are run by threads of a scheduler.

    Parameters
    ----------
    words, **options
        As for :class:`TransactionalMemory`.
    scheduler : Scheduler
    slot_of : callable
        ``slot_of(body, kind)`` is the loop of a slot that threads run.
    """

    def __init__(self, words, scheduler, slot_of, **options):
        super().__init__(words, slots=THREADS, **{"patience": 0, **options})
        self.scheduler, self.slot_of = scheduler, slot_of

    def shared(self, count):
        """The memory, whose accesses are steps of the scheduler."""
        memory = super().shared(count)
        words, entries, shared = (Shared(array, self.scheduler) for array in memory[:3])
        return memory._replace(words=words, entries=entries, shared=shared)

    def _loop_of(self, body, kind, lanes):
        run_slot = self.slot_of(body, kind)

        def loop(n_threads, memory, log, schedule, *arguments):
            slots = range(min(n_threads // lanes, schedule.pending))
            given = memory, log, schedule, *arguments
            self.scheduler.run(*(partial(run_slot, np.int64(slot), *given) for slot in slots))

        return loop


class Recorder:
    """What transactions of any body read and write.

    Attributes
    ----------
    accesses : dict
        Word, value before and value after of each access, by the number of the transaction.
    too_large : dict
        A value of more than 32 bits that a transaction has written last.
    """

    def __init__(self, dtype):
        self.dtype, self.accesses, self.too_large = dtype, {}, {}
        is_signed = np.issubdtype(dtype, np.signedinteger)
        self.range = (-(2 ** (VALUE_BITS - 1)), 2 ** (VALUE_BITS - 1)) if is_signed else (0, 2**VALUE_BITS)

    def in_place(self):
        """Functions that record, in place of those that bodies call."""
        begin_attempt, read_word, write_word = (preemptible(one) for one in (begin, read, write))

        def begin_anew(tx):
            self.accesses[int(tx.number)] = []
            self.too_large.pop(int(tx.number), None)
            begin_attempt(tx)

        def note(tx, *access):
            noted = self.accesses[int(tx.number)]
            if len(noted) == ACCESSES:
                raise NoProgress(
                    f"transaction {int(tx.number)} has made {ACCESSES:,} accesses in one attempt"
                )
            noted.append(access)

        def read_recorded(tx, word):
            held = int(read_word(tx, word))
            note(tx, int(word), held, held)
            return self.values(held)

        def write_recorded(tx, word, value):
            held, value = int(read_word(tx, word)), int(value)
            new = ((held >> VALUE_BITS) + 1) << VALUE_BITS | (value & VALUES)
            note(tx, int(word), held, new)
            if not self.range[0] <= value < self.range[1]:
                self.too_large[int(tx.number)] = value
            write_word(tx, word, np.int64(new))

        return {begin: begin_anew, read: read_recorded, write: write_recorded}

    def values(self, words):
        """Values of words with versions, of the type of the words of the user."""
        low, high = self.range
        values = np.asarray(words) & VALUES
        return np.where(values >= high, values + 2 * low, values).astype(self.dtype)[()]

    def check_range(self, values):
        """Raise :class:`~edgewise.errors.OptionError` for a value that does not fit beside its version."""
        low, high = self.range
        for value in values:
            if not low <= value < high:
                raise OptionError(f"the value {value} has more than 32 bits; check the body on smaller ones")

    def history(self, count):
        """The accesses as a :class:`~edgewise.transactions.check.History`."""
        most = max(1, max(map(len, self.accesses.values()), default=1))
        table = np.full((count * most, 3), UNUSED, np.int64)
        for number, accesses in self.accesses.items():
            if accesses:
                table[number * most : number * most + len(accesses)] = accesses
        return History(table[:, 0], table[:, 1], table[:, 2], most)


def _copy(value):
    """A copy of an array, or of the arrays of a named tuple; any other value as it is."""
    if isinstance(value, tuple):
        copies = [_copy(one) for one in value]
        return type(value)._make(copies) if hasattr(value, "_make") else tuple(copies)
    return value.copy() if isinstance(value, np.ndarray) else value
