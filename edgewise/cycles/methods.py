"""The ways to count cycles: what a method is, and the table of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from edgewise.cycles.counting.ranked import bytes_of_ranks
from edgewise.method import Driver, Method, Option


@dataclass(frozen=True)
class CycleMethod(Method):
    """One way to count cycles.

    Tasks are vertices (ranks) in an order.  The count is divided among the tasks as the method defines: a
    task is the cycles whose highest vertex it is, or the cycles through it.

    Attributes
    ----------
    run : callable
        ``run(ranked, order, length, **options)`` returns a *solver* for the device of ``ranked``, and
        allocates its scratch.  ``order`` is a (tasks,) int64 array of ranks there.
        ``solver.count(first, end)`` does the tasks ``order[first:end]``; on a GPU it may return before they
        are done.  ``solver.counts``, (n,) int64, are the cycles found so far, by rank; the sum over all
        solvers is the result (modulo 2**64 while a count is in progress).
    work : callable
        ``work(ranked, length)`` estimates the operations of each task: (n,) float64 array on that device.
        Tasks without work need not be done.
    lengths : tuple of int, or None
        Lengths it can do; ``None``: 3 and more.
    whole : callable or None
        ``whole(graph, most)`` prepares a count of all vertices at once on the device of the graph, and
        returns what is called for the :class:`~edgewise.cycles.counting.ranked.Whole`, or ``None`` where
        there are more than the ``most`` operations, or tasks are as fast.
    cost : float
        Operations, in the unit of :mod:`~edgewise.cycles.planning`, of a unit of its work.
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


METHODS = {
    "triangles": CycleMethod(
        Driver("edgewise.cycles.counting.triangles:start"),
        "rows of higher neighbours, intersected",
        "Chiba and Nishizeki 1985; Merrill et al. 2012",
        work=Driver("edgewise.cycles.counting.triangles:work"),
        whole=Driver("edgewise.cycles.counting.triangles:whole"),
        lengths=(3,),
        memory=partial(bytes_of_ranks, 12, 0),
    ),
    "squares": CycleMethod(
        Driver("edgewise.cycles.counting.squares:start"),
        "wedges below each vertex, by their endpoints",
        "Burkhardt and Harris 2023",
        work=Driver("edgewise.cycles.counting.squares:work"),
        whole=Driver("edgewise.cycles.counting.squares:whole"),
        lengths=(4,),
        memory=partial(bytes_of_ranks, 16, 0),
    ),
    "pentagons": CycleMethod(
        Driver("edgewise.cycles.counting.pentagons:start"),
        "wedges below each vertex whose endpoints are joined",
        "after Kowalik 2003",
        work=Driver("edgewise.cycles.counting.pentagons:work"),
        whole=Driver("edgewise.cycles.counting.pentagons:whole"),
        lengths=(5,),
        memory=partial(bytes_of_ranks, 44, 4),
    ),
    "walks": CycleMethod(
        Driver("edgewise.cycles.counting.hexagons:Hexagons"),
        "closed walks, less those that meet themselves",
        "Movarraei and Boxwala 2016",
        work=Driver("edgewise.cycles.counting.hexagons:work"),
        lengths=(6,),
    ),
    "enumerate": CycleMethod(
        Driver("edgewise.cycles.search.enumerate:start"),
        "every cycle, found at its highest vertex",
        "bounded search",
        work=Driver("edgewise.cycles.search.enumerate:work"),
        options={"cap": Option(below=2**63)},
        cost=0.4,
        enumerates=True,
    ),
    "dfs": CycleMethod(
        Driver("edgewise.cycles.search.dfs:Searches"),
        "all paths from every vertex, until they close",
        "CS406",
        work=Driver("edgewise.cycles.search.dfs:work"),
        options={"marked": Option(choices=(False, True))},
        cost=0.15,
        enumerates=True,
        baseline=True,
    ),
}
