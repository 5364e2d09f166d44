"""The tasks of a count, in the order in which they are dealt, and what each should cost."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from edgewise.cycles.method import heaviest_first
from edgewise.device import arrays

#: Work of a task at most, so that sums stay finite.
MOST = 1e290


class Tasks:
    """The tasks of a method on a ranked graph.

    Parameters
    ----------
    ranked : Ranked
    work : (n,) float64 array
        Of each task, beside ``ranked``.
    by_work : bool
        The heaviest first, and none without work; else all, in the order of the vertices.

    Attributes
    ----------
    order : (tasks,) int64 array
        Ranks, beside ``ranked``.
    total : float
        Work of all.
    """

    def __init__(self, ranked, work, by_work):
        self.work = work = arrays.namespace(work).fmin(work, MOST)
        self.order = heaviest_first(work) if by_work else ranked.rank.astype(np.int64)
        self.total = float(work.sum()) if len(work) else 0.0

    def __len__(self):
        return len(self.order) if self.total else 0

    @cached_property
    def loads(self):
        """Work of each task in their order: (tasks,) float64 array on the host."""
        return arrays.move(self.work[self.order], "cpu")


def tasks_of(graph, ranked, name, method, length, by_work) -> Tasks:
    """The tasks of a method; those of the last count are kept with the graph."""
    key = (name, length, by_work)
    kept, found = graph.kept.get("tasks", (None, None))
    if kept != key:
        n, device = ranked.n_vertices, ranked.device
        work = arrays.zeros(n, np.float64, device)
        if length <= n:
            work = method.work(ranked, length) * method.cost
        found = Tasks(ranked, work, by_work)
        graph.kept["tasks"] = key, found
    return found
