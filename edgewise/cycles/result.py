"""Results of counting cycles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.cycles.verification import verify
from edgewise.device import arrays
from edgewise.result import Result, counted

if TYPE_CHECKING:
    from pathlib import Path

    from edgewise.certificates import Certificate


def exact_sum(counts) -> int:
    """Sum of an int64 array, where a sum in int64 might wrap around."""
    counts = arrays.on_host_if_small(counts)
    # by an operator, CuPy imports SciPy at first
    upper = int(arrays.namespace(counts).right_shift(counts, 32).sum()) << 32
    lower = (int(counts.sum()) - upper) % 2**64  # right also if that sum has wrapped around
    return upper + lower


@dataclass(frozen=True, eq=False, repr=False)
class Cycles(Result):
    """Simple cycles of one length through every vertex of a graph.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`; ``seconds`` are those of counting alone, after the graph has
        been ranked and the tasks ordered.
    length : int
        Vertices, and edges, of a cycle.
    counts : (n_vertices,) int64 array
        Cycles through each vertex, in vertex order, on the device of the graph; twice as many with
        ``count_directions``.
    n_self_loops, n_duplicates : int
        Edges that were ignored: self-loops, and those whose endpoints an earlier edge joins.
    count_directions : bool
        Whether a cycle counts once in each direction.
    schedule : str
        How tasks were dealt.
    """

    length: int
    counts: np.ndarray
    n_self_loops: int = 0
    n_duplicates: int = 0
    count_directions: bool = False
    schedule: str = "auto"

    @cached_property
    def total(self) -> int:
        """The sum of all counts over the length, exact: the number of cycles, or of their two directions."""
        with arrays.guard(arrays.device_of(self.counts)):
            return exact_sum(self.counts) // self.length

    @cached_property
    def max_count(self) -> int:
        """Largest count of a vertex; 0 for the empty graph."""
        return int(arrays.on_host_if_small(self.counts).max()) if len(self.counts) else 0

    def _answer(self):
        directions = " in both directions" if self.count_directions else ""
        cycles = f"{counted(self.total, 'cycle')} of length {self.length}{directions}"
        return f"{cycles}, at most {self.max_count:,} through a vertex"

    def _columns(self) -> dict[str, Any]:
        return {"cycles": self.counts}

    def _certificate(self) -> Certificate:
        from edgewise.cycles.certificate import prove

        return prove(self.graph, self.counts, self.length, count_directions=self.count_directions)

    def _verify(self, graph: Any) -> None:
        verify(self if graph is self.graph else replace(self, graph=graph))

    def _plot(self, path: str | Path) -> None:
        from edgewise import plots

        through = arrays.move(self.counts, "cpu")
        none, base = int((through == 0).sum()), 2 if self.max_count < 2**plots.MAX_SPANS else 10
        title = f"{self.total:,} cycles of length {self.length}; {none:,} vertices are on none"
        labels = plots.Labels(title, f"cycles of length {self.length} through a vertex", "vertices")
        plots.spans(through[through > 0], path, labels, base)
