"""What a way of counting cycles is, and how it is asked to count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from edgewise.cycles.counting.ranked import Ranked


class Solver(Protocol):
    """One worker's count under way.

    Tasks are vertices (ranks) in an order; a task is the share of the count that its vertex stands for: the
    cycles whose highest vertex it is, or the cycles through it, as the method likes.

    Attributes
    ----------
    counts : (n,) int64 array
        What was found so far, by rank, in the worker's place; sums over all workers are the result (modulo
        2**64 while a count is under way).
    """

    counts: Any

    def count(self, first: int, end: int) -> None:
        """Do the tasks ``order[first:end]``; on a GPU it may return before they are done."""

    def settle(self) -> None:
        """Add what belongs to no task; called once, on one of the workers."""


class Method(NamedTuple):
    """One way to count cycles: what it is, where it comes from, what it can do.

    Attributes
    ----------
    start : callable
        ``start(ranked, order, length, **options) -> Solver``; ``order`` is a (tasks,) int64 array of ranks in
        the place of ``ranked``; scratch is allocated here, once.
    work : callable
        ``work(ranked, length) -> (n,) float64 array`` in that place: operations of each task, estimated
        cheaply; tasks of no work need not be done.
    lengths : tuple of int, or None
        Lengths it can do; ``None``: 3 and more.
    whole : callable or None
        ``whole(graph) -> (counts by vertex, loops, repeats)`` counts on the host at once, perhaps without
        ranking the graph; the counts are ``None`` where it should rather be dealt out.
    shares_with : str or None
        Name of a method for GPUs whose tasks mean the same, so that both may count at once.
    cost : float
        Operations, in the unit of :mod:`~edgewise.cycles.planning.cost_model`, of a unit of its work.
    one_by_one : bool
        Whether it meets every cycle, so that a count that outgrew 64 bits would take centuries.
    """

    start: Callable[..., Solver]
    work: Callable[[Ranked, int], Any]
    summary: str
    source: str
    lengths: tuple[int, ...] | None
    devices: tuple[str, ...] = ("cpu", "cuda")
    options: tuple[str, ...] = ()
    whole: Callable[..., Any] | None = None
    shares_with: str | None = None
    cost: float = 1.0
    one_by_one: bool = False

    def can(self, length: int) -> bool:
        """Whether it counts cycles of this length."""
        return length >= 3 if self.lengths is None else length in self.lengths


def heaviest_first(work) -> np.ndarray:
    """Tasks with any work, most first: (tasks,) int64 array in the place of ``work``."""
    from edgewise.device import arrays

    xp = arrays.namespace(work)
    order = xp.argsort(-work, kind="stable")[: int((work > 0).sum())]
    return arrays.move(order.astype(np.int64), arrays.device_of(work))
