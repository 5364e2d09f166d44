"""What a method of counting cycles is, and the solver that it starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError
from edgewise.method import Method, check_graph

#: Upper limit of the work of a task, so that sums stay finite.
MAX_WORK = 1e290


class Solver:
    """The count of one device in progress; base of all solvers.

    Tasks are vertices (ranks) in an order.  The count is divided among the tasks as the method defines: a
    task is the cycles whose highest vertex it is, or the cycles through it.

    Attributes
    ----------
    counts : (n,) int64 array
        Cycles found so far, by rank, on the solver's device; the sum over all solvers is the result (modulo
        2**64 while a count is in progress).
    """

    counts: Any

    def count(self, first: int, end: int) -> None:
        """Do the tasks ``order[first:end]``; on a GPU it may return before they are done."""
        raise NotImplementedError


@dataclass(frozen=True)
class CycleMethod(Method):
    """One way to count cycles.

    Attributes
    ----------
    run : callable
        ``run(ranked, order, length, **options) -> Solver``; ``order`` is a (tasks,) int64 array of ranks on
        the device of ``ranked``; scratch is allocated here, once.
    work : callable
        ``work(ranked, length) -> (n,) float64 array`` on that device: operations of each task, estimated
        cheaply; tasks without work need not be done.
    lengths : tuple of int, or None
        Lengths it can do; ``None``: 3 and more.
    whole : callable or None
        ``whole(graph) -> (counts by vertex, n_self_loops, n_duplicates)`` counts on the host in one call,
        perhaps without ranking the graph; the counts are ``None`` where tasks are faster.
    cost : float
        Operations, in the unit of :mod:`~edgewise.cycles.planning.cost_model`, of a unit of its work.
    enumerates : bool
        Whether it finds every cycle on its own, so that a count beyond 64 bits would take centuries.
    """

    work: Callable[..., Any] = field(kw_only=True)
    lengths: tuple[int, ...] | None = field(default=None, kw_only=True)
    whole: Callable[..., Any] | None = field(default=None, kw_only=True)
    cost: float = field(default=1.0, kw_only=True)
    enumerates: bool = field(default=False, kw_only=True)

    def can(self, length: int) -> bool:
        """Whether it counts cycles of this length."""
        return length >= 3 if self.lengths is None else length in self.lengths


def check_undirected(graph: Any) -> None:
    """Refuse what is no graph, and directed graphs."""
    check_graph(graph)
    if graph.directed:
        raise GraphError(
            "the graph is directed, and cycles are counted in undirected graphs; "
            "use graph.undirected() to take its edges in both directions"
        )


def heaviest_first(work) -> np.ndarray:
    """Tasks with any work, most first: (tasks,) int64 array on the device of ``work``."""
    xp = arrays.namespace(work)
    order = xp.argsort(-work, kind="stable")[: int((work > 0).sum())]
    return arrays.move(order.astype(np.int64), arrays.device_of(work))
