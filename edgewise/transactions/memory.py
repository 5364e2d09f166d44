"""The host's side of transactions: the words, what a protocol keeps beside them, and the repeated launches.

Every launch is bounded, and so is the number of launches.  A launch in which less than one in eight of its
transactions commits is followed by one of an eighth of the slots, in the end of a single one, where nothing
conflicts.  Transactions that outgrow their logs are run again with logs twice as large, up to
:data:`LOG_ENTRIES` entries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, cast

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.device import arrays
from edgewise.errors import OptionError, argument, one_of
from edgewise.method import check_whole
from edgewise.transactions import runner
from edgewise.transactions.protocols import PROTOCOLS, Protocol
from edgewise.transactions.statistics import Statistics
from edgewise.transactions.transaction import CONFLICT, OUT_OF_RANGE, OVERFLOW, RETRY, Memory

#: Types of words.
TYPES = ("int32", "int64", "uint32", "uint64")
#: Transactions of one run: their numbers have 31 bits, and one number is no transaction.
TRANSACTIONS = 2**31 - 2
#: Entries of the largest log.
LOG_ENTRIES = 2**16
#: Bytes of all logs together, at most.
LOG_BYTES = 2**32
#: A launch that commits less than one in so many of its transactions is followed by one of fewer slots.
LEAST_PROGRESS = 8
#: The slots of a launch are then fewer by this factor.
FEWER_SLOTS = 8
#: Why a transaction has not committed, where no other attempt helps.
REASONS = {
    OVERFLOW: "accesses more than {log} words, the most that a log may hold; split it",
    OUT_OF_RANGE: "accesses a word that is not among the {words} of the memory; check its numbers",
    RETRY: "has called retry() in every attempt, also when it ran alone; nothing it waits for happens",
    CONFLICT: "has failed alone, without a conflict, which is a fault of its protocol; report it",
}


class TransactionError(OptionError):
    """Transactions of a run can never commit; all others have committed.

    Attributes
    ----------
    numbers : (k,) int64 array
        Numbers of these transactions, ascending, on the host.
    statistics : Statistics
        Of the run.
    """

    numbers: Any = None
    statistics: Any = None


@dataclass
class TransactionalMemory:
    """Words that transactions read and write.

    Parameters
    ----------
    words : (n,) int32, int64, uint32 or uint64 array
        Contiguous, of NumPy, or of CuPy for a GPU; transactions change it.
    protocol : str or Protocol
        A name in :data:`edgewise.transactions.PROTOCOLS`, or a protocol of your own.
    log : int
        Number of different words that a transaction is expected to access at most; larger ones are run again.
    attempts : int
        How often a transaction is tried in a launch before the host runs it again.
    slots : int, optional
        Transactions that run at the same time; by default one for each core, on a GPU 512 for each
        multiprocessor.
    patience : int, optional
        How often an attempt looks at a word of an older transaction before it fails; by default 32, and 0 on
        GPUs.

    Raises
    ------
    OptionError
        Words of another type or shape, an unknown protocol, or a number that is too small.
    OutOfMemoryError
        The device is too small for a tracking entry of 8 bytes for each word.

    Examples
    --------
    >>> import numpy as np
    >>> from edgewise.transactions import TransactionalMemory, read, write
    >>> def transfer(tx, number, sources, targets, amount):
    ...     balance = read(tx, sources[number])
    ...     if balance >= amount:
    ...         write(tx, sources[number], balance - amount)
    ...         write(tx, targets[number], read(tx, targets[number]) + amount)
    >>> accounts = np.array([10, 20, 30])
    >>> memory = TransactionalMemory(accounts)
    >>> statistics = memory.run(transfer, 3, np.array([0, 1, 0]), np.array([1, 2, 2]), 8)
    >>> statistics.commits, int(accounts.sum())
    (3, 60)
    """

    words: Any
    protocol: str | Protocol = "wound-wait"
    log: int = 8
    attempts: int = 64
    slots: int | None = None
    patience: int | None = None
    _protocol: Protocol = field(init=False, repr=False)
    _entries: Any = field(init=False, repr=False)
    _shared: Any = field(init=False, repr=False)
    #: Rounds of reservations so far.
    n_rounds: int = field(init=False, repr=False, default=0)

    def __post_init__(self):
        self._protocol = named(self.protocol)
        check_words(self.words)
        if self.patience is None:
            self.patience = runner.PATIENCE if self.device == "cpu" else runner.PATIENCE_ON_GPU
        for name, least in (("log", 1), ("attempts", 1), ("slots", 1), ("patience", 0)):
            if name != "slots" or self.slots is not None:
                check_whole(name, getattr(self, name), least)
        if self.log > LOG_ENTRIES:
            raise OptionError(f"{argument('log', self.log)} is too large; give {LOG_ENTRIES} or less")
        with arrays.guard(self.device):
            self._entries = arrays.full(len(self.words), self._protocol.free, np.int64, self.device)
            self._shared = arrays.empty(0, np.int64, self.device)

    @property
    def device(self) -> str:
        """Device of the words."""
        return arrays.device_of(self.words)

    def run(self, body: Callable, count: int, *arguments: Any) -> Statistics:
        """Run ``body(tx, number, *arguments)`` as a transaction for every number from 0 to ``count - 1``.

        Parameters
        ----------
        body : function
            A plain function in the subset of Python that Numba compiles.  It may also write to arrays that
            are no words, at places that belong to its number; what the attempt that commits has written
            stays.
        count : int
            Number of transactions, at most 2**31 - 2.
        *arguments
            Arrays on the device of the words, numbers, and named tuples of these.

        Returns
        -------
        Statistics

        Raises
        ------
        TransactionError
            A transaction can never commit; all others have.
        OptionError
            Too many transactions.
        """
        check_whole("count", count, 0)
        if count > TRANSACTIONS:
            raise OptionError(f"{count:,} transactions are too many; run {TRANSACTIONS:,} at a time")
        with arrays.guard(self.device):
            arrays.synchronize(self.device)
            start = perf_counter()
            run = Run(self, body, int(count), arguments)
            self._protocol.drive(run)
            arrays.synchronize(self.device)
            statistics = Statistics(self._protocol.name, count, perf_counter() - start, *run.totals())
        if len(run.given_up):
            self._raise(run, statistics)
        return statistics

    def shared(self, count):
        """The memory as kernels see it in a run of ``count`` transactions; a clock goes on between runs."""
        size = self._protocol.shared(count)
        if len(self._shared) != size:
            self._shared = arrays.zeros(size, np.int64, self.device)
        return Memory(self.words, self._entries, self._shared, cast("int", self.patience))

    def _loop_of(self, body, kind, lanes):
        """The parallel loop over slots of a launch."""
        return runner.loop_of(body, kind, lanes)

    def _raise(self, run, statistics):
        numbers = np.sort(np.concatenate(list(run.given_up.values())))
        reason, of_reason = next(iter(run.given_up.items()))
        why = REASONS.get(reason, REASONS[CONFLICT]).format(log=LOG_ENTRIES, words=f"{len(self.words):,}")
        others = f" (and {len(numbers) - 1:,} others)" if len(numbers) > 1 else ""
        error = TransactionError(f"transaction {int(of_reason[0])}{others} {why}")
        error.numbers, error.statistics = numbers, statistics
        raise error


class Run:
    """The launches of a run: logs, the schedule and the transactions that have not committed yet."""

    def __init__(self, memory, body, count, arguments):
        self.memory, self.body, self.arguments, self.count = memory, body, arguments, count
        protocol, where = memory._protocol, memory.device
        self.lanes = 1 if where == "cpu" else protocol.lanes
        self.slots = min(runner.n_slots(where, count, memory.slots, self.lanes), protocol.most_slots)
        self.size, self.shared = memory.log * protocol.entries_per_word, memory.shared(count)
        self.logs = [runner.log_of(memory.words, self.slots, self.size)]
        self.tried = arrays.zeros(count, np.int32, where)
        self.ended = arrays.zeros(count, np.int8, where)
        self.failed = arrays.empty(count, np.int64, where)
        self.given_up: dict[int, Any] = {}
        self.launches = 0

    def launch(self, kind, numbers, attempts=None, counted=True):
        """Run transactions, all if ``numbers`` is ``None``; return the numbers of those that failed."""
        where, log = self.memory.device, self.logs[-1]
        pending = self.count if numbers is None else len(numbers)
        listed = arrays.empty(0, np.int64, where) if numbers is None else arrays.move(numbers, where)
        n_failed = arrays.zeros(1, np.int64, where)
        schedule = runner.Schedule(
            listed,
            pending,
            self.slots,
            attempts or self.memory.attempts,
            self.tried if counted else self.uncounted,
            self.ended,
            self.failed,
            n_failed,
        )
        loop = self.memory._loop_of(self.body, kind, self.lanes)
        loop(self.slots * self.lanes, self.shared, log, schedule, *self.arguments)
        self.launches += 1
        return np.sort(arrays.move(self.failed[: int(n_failed[0])], "cpu"))

    @cached_property
    def uncounted(self):
        """In place of ``tried`` for launches that are no attempts."""
        return arrays.zeros(self.count, np.int32, self.memory.device)

    def repeat(self):
        """Launch until every transaction has committed or can never commit."""
        numbers = None if self.count else np.empty(0, np.int64)
        while numbers is None or len(numbers):
            pending = self.count if numbers is None else len(numbers)
            failed = self.launch(self.memory._protocol.kind, numbers)
            numbers = self.after_failures(failed, pending) if len(failed) else failed

    def after_failures(self, failed, pending):
        """Choose the slots and the log of the next launch; return the transactions that it runs."""
        reasons = self.reasons(failed)
        grows = bool((reasons == OVERFLOW).any()) and self.size < LOG_ENTRIES
        if self.slots == 1 and len(failed) == pending:
            hopeless = reasons != OVERFLOW if grows else reasons >= 0
            self.give_up(failed[hopeless], reasons[hopeless])
            failed = failed[~hopeless]
        elif (pending - len(failed)) * LEAST_PROGRESS < pending:
            self.slots = max(1, min(self.slots // FEWER_SLOTS, len(failed)))
        if grows:
            self.grow()
        return failed

    def after_round(self, failed, stuck):
        """Grow the logs where they are too small; without the oldest transaction if none could commit."""
        if not len(failed):
            return failed
        reasons = self.reasons(failed)
        if bool((reasons == OVERFLOW).any()) and self.size < LOG_ENTRIES:
            self.grow()
        elif stuck:
            self.give_up(failed[:1], reasons[:1])
            failed = failed[1:]
        return failed

    def grow(self):
        """Make the logs twice as large, and the slots fewer if the logs would take too much memory."""
        self.size = min(2 * self.size, LOG_ENTRIES)
        entry = 16 + self.memory.words.dtype.itemsize
        self.slots = max(1, min(self.slots, LOG_BYTES // (entry * self.size)))
        self.logs.append(runner.log_of(self.memory.words, self.slots, self.size))

    def give_up(self, numbers, reasons):
        """Note transactions that can never commit, by their reasons."""
        for reason in np.unique(reasons).tolist():
            earlier = self.given_up.get(reason, np.empty(0, np.int64))
            self.given_up[reason] = np.concatenate([earlier, numbers[reasons == reason]])

    def reasons(self, numbers):
        """Why the last attempts of transactions have failed: an array of statuses on the host."""
        return arrays.move(self.ended[arrays.move(numbers, self.memory.device)], "cpu")

    def totals(self):
        """What :class:`Statistics` are computed from."""
        states = [(log.states, self.memory.device == "cpu") for log in self.logs]
        return self.tried, states, self.launches, sum(map(len, self.given_up.values()))


def named(protocol):
    """The protocol of a name; itself if it is one."""
    if isinstance(protocol, Protocol):
        return protocol
    if protocol not in PROTOCOLS:
        closest = [one.name for one in PROTOCOLS.values() if str(protocol).upper() in one.published]
        hint = f"{' or '.join(closest)} is closest to it" if closest else one_of(protocol, PROTOCOLS)
        raise OptionError(f"{argument('protocol', protocol)} is unknown; {hint}")
    return PROTOCOLS[protocol]


def check_words(words):
    """Raise :class:`~edgewise.errors.OptionError` unless words are an array of integers that can be used."""
    if not hasattr(words, "dtype") or getattr(words, "ndim", 0) != 1 or str(words.dtype) not in TYPES:
        shape = f"{getattr(words, 'dtype', type(words).__name__)} of shape {getattr(words, 'shape', '()')}"
        raise OptionError(f"words are a one-dimensional array of {', '.join(TYPES)}, not {shape}; convert it")
    if not words.flags.c_contiguous or not len(words):
        raise OptionError("words are a contiguous array of one word at least; copy it")
