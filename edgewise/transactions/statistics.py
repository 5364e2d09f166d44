"""What a run of transactions has done: commits, aborts, wounds and time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.device import arrays
from edgewise.transactions.transaction import OVERFLOWS, STATES, WOUNDS


@dataclass(frozen=True)
class Statistics:
    """Figures of one run.

    Attributes
    ----------
    protocol : str
    transactions : int
    seconds : float
        From the first launch to the end of the last one, with allocations and, at the first use of a body,
        compilation.
    """

    protocol: str
    transactions: int
    seconds: float
    _tried: Any = field(repr=False)
    _states: Any = field(repr=False)
    launches: int = 1
    n_given_up: int = 0

    @cached_property
    def tried(self):
        """Attempts of each transaction: (transactions,) int32 array on the host."""
        return arrays.move(self._tried, "cpu")

    @property
    def commits(self) -> int:
        """Transactions that have committed."""
        return self.transactions - self.n_given_up

    @property
    def aborts(self) -> int:
        """Attempts that have failed."""
        return int(self.tried.sum(dtype=np.int64)) - self.commits

    @property
    def abort_rate(self) -> float:
        """Share of attempts that have failed: aborts / (aborts + commits); 0 where there was no attempt."""
        return self.aborts / max(self.aborts + self.commits, 1)

    @property
    def first_attempt_aborts(self) -> int:
        """Transactions whose first attempt has failed."""
        return int(np.count_nonzero(self.tried > 1))

    @property
    def wounds(self) -> int:
        """How often an older transaction has wounded a younger one."""
        return total(self._states, WOUNDS)

    @property
    def overflows(self) -> int:
        """How often a transaction has outgrown its log."""
        return total(self._states, OVERFLOWS)

    def attempts_histogram(self):
        """Number of transactions by their attempts, from 0 on: int64 array."""
        return np.bincount(self.tried)


def total(states, which):
    """Sum of a total of all slots; ``states`` are arrays, and whether each is one of the CPU."""
    counted = 0
    for array, padded in states:
        host = arrays.move(array, "cpu")
        counted += int(host[which::16].sum() if padded else host.reshape(STATES, -1)[which].sum())
    return counted


@dataclass(frozen=True)
class Rounds:
    """The transactions of an algorithm of several rounds.

    Attributes
    ----------
    rounds : tuple of Statistics
    """

    rounds: tuple[Statistics, ...]

    @property
    def commits(self) -> int:
        """Transactions that have committed."""
        return sum(one.commits for one in self.rounds)

    @property
    def aborts(self) -> int:
        """Attempts that have failed."""
        return sum(one.aborts for one in self.rounds)

    @property
    def abort_rate(self) -> float:
        """Share of attempts that have failed."""
        return self.aborts / max(self.aborts + self.commits, 1)

    @property
    def seconds(self) -> float:
        """Of all runs together."""
        return sum(one.seconds for one in self.rounds)
