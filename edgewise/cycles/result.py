"""Results of counting and estimating cycles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.cycles.search.sampling import estimate_from, sample
from edgewise.cycles.verification import verify
from edgewise.device import arrays
from edgewise.errors import OptionError, VerificationError
from edgewise.result import Result, check_column, counted

if TYPE_CHECKING:
    from pathlib import Path

    from edgewise.ingest.frames import Frame, Kind

#: Relative difference of two estimates from the same draws, summed in another order.
ROUNDING = 1e-6


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

    def _verify(self, graph: Any) -> None:
        verify(self if graph is self.graph else replace(self, graph=graph))

    def _plot(self, path: str | Path) -> None:
        from edgewise import plots

        through = arrays.move(self.counts, "cpu")
        none, base = int((through == 0).sum()), 2 if self.max_count < 2**plots.MAX_SPANS else 10
        title = f"{self.total:,} cycles of length {self.length}; {none:,} vertices are on none"
        labels = plots.Labels(title, f"cycles of length {self.length} through a vertex", "vertices")
        plots.spans(through[through > 0], path, labels, base)


@dataclass(frozen=True, eq=False, repr=False)
class CycleEstimate(Result):
    """An estimate of the number of cycles of one length in a graph.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`.
    length : int
        Vertices, and edges, of a cycle.
    total : float
        The estimate.
    low, high : float
        Interval that contains the number in a share ``confidence`` of all such estimates, at least.
    confidence : float
    samples : int
        Walks that were drawn.
    hits : int
        Walks among them that could be closed; where they are few, ``total`` is unreliable.
    seed : int
    """

    length: int
    total: float
    low: float
    high: float
    confidence: float
    samples: int
    hits: int
    seed: int

    def to_frame(self, *, kind: Kind | None = None) -> Frame:
        """Return a table of one row.

        Parameters
        ----------
        kind : {'arrow', 'pandas', 'polars'}, optional
            Library of the table, as for :meth:`edgewise.result.Result.to_frame`.

        Returns
        -------
        pyarrow.Table, pandas.DataFrame or polars.DataFrame
            Columns ``length``, ``total``, ``low``, ``high``, ``confidence``, ``samples``, ``hits``, ``seed``.
        """
        return super().to_frame(kind=kind)

    def to_dict(self, column: str | None = None) -> dict[str, Any]:
        """Return the numbers of the estimate by name: :attr:`facts`, or one of them."""
        check_column(column, list(self.facts))
        return self.facts if column is None else {column: self.facts[column]}

    def _answer(self):
        bounds = f"{self.low:,.0f} to {self.high:,.0f} with a confidence of {self.confidence:g}"
        return f"about {self.total:,.0f} cycles of length {self.length} ({bounds})"

    def _arrow(self, rows=None):
        import pyarrow as pa

        return pa.table({name: [value] for name, value in self.facts.items()})

    @property
    def facts(self) -> dict[str, Any]:
        """The numbers of the estimate by name."""
        names = ("length", "total", "low", "high", "confidence", "samples", "hits", "seed")
        return {name: getattr(self, name) for name in names}

    def _verify(self, graph: Any) -> None:
        """Draw the same walks again."""
        with arrays.guard(graph.device):
            shares, scale = sample(ranked_of(graph), self.length, self.samples, self.seed)
        for name, value in estimate_from(shares, scale, self.confidence)._asdict().items():
            if not np.isclose(getattr(self, name), value, rtol=ROUNDING):
                raise VerificationError(f"{name} is {getattr(self, name)}, but {value} by the same draws")

    def _plot(self, path: str | Path) -> None:
        raise OptionError("an estimate is a number for the whole graph; there is no distribution to draw")
