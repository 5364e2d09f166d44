"""The table of protocols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from edgewise.device import launch
from edgewise.transactions import (
    block,
    block_nonblocking,
    invisible,
    pessimistic,
    priority,
    reservations,
    tl2,
    versions,
    wound_wait,
)


def repeat(run):
    """Launch transactions until all have committed."""
    run.repeat()


@dataclass(frozen=True)
class Protocol:
    """One way to run transactions at the same time.

    Attributes
    ----------
    name, summary, source : str
    kind : type
        The class of its transactions, of the fields of
        :class:`~edgewise.transactions.transaction.Transaction`, for which ``begin``, ``read``, ``write`` and
        ``commit`` are implemented.
    free : int
        Tracking entry of a word that no transaction uses.
    published : tuple of str
        Names of published protocols that it is, or is closest to.
    opaque : bool
        Whether attempts that fail have read words of one moment, too.
    progress : str
        What keeps transactions from failing for ever.
    shared : callable
        ``shared(count)`` is the number of words that all transactions of a run share.
    lanes : int
        Threads of a GPU for each transaction, of which the first one works.
    entries_per_word : int
        Entries of a log for each word that a transaction accesses.
    most_slots : int
        Transactions that run at the same time, at most.
    drive : callable
        ``drive(run)`` makes the launches of a :class:`~edgewise.transactions.memory.Run`.
    """

    name: str
    summary: str
    source: str
    kind: Any
    free: int
    published: tuple[str, ...] = ()
    opaque: bool = True
    progress: str = "retries end in a launch of one slot"
    shared: Callable[[int], int] = lambda count: 1
    lanes: int = 1
    entries_per_word: int = 1
    most_slots: int = 2**31
    drive: Callable[[Any], None] = repeat


PROTOCOLS = {
    one.name: one
    for one in (
        Protocol(
            "wound-wait",
            "words have owners; an older transaction wounds a younger owner and reserves its word",
            "Rosenkrantz, Stearns and Lewis 1978",
            wound_wait.WoundWait,
            wound_wait.FREE,
            progress="the oldest transaction never fails",
            shared=lambda count: count,
        ),
        Protocol(
            "priority",
            "words are marked, older marks displace younger ones, and locked at the end",
            "Manoochehri 2017, chapter 3, repaired",
            priority.Priority,
            priority.FREE,
            ("PR-STM",),
            opaque=False,
        ),
        Protocol(
            "pessimistic",
            "one compare-and-swap for each word, writes in place",
            "Holey and Zhai 2014",
            pessimistic.Pessimistic,
            pessimistic.FREE,
            ("PSTM", "LSTM"),
        ),
        Protocol(
            "invisible",
            "reads leave no trace and are checked at the end, writes in place",
            "Holey and Zhai 2014",
            invisible.Invisible,
            versions.FREE,
            ("ISTM", "LSTM"),
            opaque=False,
        ),
        Protocol(
            "tl2",
            "a global clock, validation by times and then by values, sorted locks",
            "Dice, Shalev and Shavit 2006; Xu et al. 2014",
            tl2.TL2,
            versions.FREE,
            ("HSTM", "GPU-STM"),
        ),
        Protocol(
            "block",
            "one transaction for each thread block; all of its words are locked at the end",
            "Cederman, Tsigas and Chaudhry 2010",
            block.Block,
            versions.FREE,
            opaque=False,
            lanes=launch.BLOCK,
        ),
        Protocol(
            "block-nonblocking",
            "as `block`, but words are stolen from a transaction that holds them, which redoes its writes",
            "Cederman, Tsigas and Chaudhry 2010; Harris and Fraser 2003",
            block_nonblocking.BlockNonBlocking,
            versions.FREE,
            opaque=False,
            shared=lambda count: count,
            lanes=launch.BLOCK,
            entries_per_word=block_nonblocking.ENTRIES,
            most_slots=block_nonblocking.SLOTS,
        ),
        Protocol(
            "reservations",
            "rounds of reserving all words and then writing them; deterministic",
            "Blelloch et al. 2012; Nasre, Burtscher and Pingali 2013",
            reservations.Apply,
            reservations.FREE,
            progress="the oldest transaction of a round commits",
            drive=reservations.drive,
        ),
    )
}
