"""What a count of cycles returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.device import arrays
from edgewise.graph import Graph, check_same_graph

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow

CONVENTIONS = ("cycles", "closed-walks")


def exact_sum(counts) -> int:
    """Sum of an int64 array, where a sum in int64 might wrap around."""
    low, high = counts & np.int64(2**32 - 1), counts >> np.int64(32)
    return (int(high.sum()) << 32) + int(low.sum())


@dataclass(frozen=True, eq=False)
class Cycles:
    """Simple cycles of one length through every vertex of a graph.

    Attributes
    ----------
    graph : Graph
        The graph they belong to.
    length : int
        Vertices, and edges, of a cycle.
    method : str
        Name of the method that counted them.
    seconds : float
        Time of counting alone, the graph being ranked and its tasks in order.
    counts : (n_vertices,) int64 array
        Cycles through each vertex, in vertex order, where the graph lies; twice as many by the convention
        ``"closed-walks"``.
    loops, repeats : int
        Edges that were ignored: self-loops, and those whose ends an earlier edge joins.
    convention : {'cycles', 'closed-walks'}
        Whether a cycle counts once, or once in each direction.
    schedule : str
        How tasks were dealt.
    devices : tuple of str
        The devices that took part.
    """

    graph: Graph = field(repr=False)
    length: int
    method: str
    seconds: float
    counts: Any = field(repr=False)
    loops: int = 0
    repeats: int = 0
    convention: str = "cycles"
    schedule: str = "auto"
    devices: tuple[str, ...] = ()

    @cached_property
    def total(self) -> int:
        """The sum of all counts over the length, exact: the number of cycles, or of their two directions."""
        with arrays.guard(arrays.device_of(self.counts)):
            return exact_sum(self.counts) // self.length

    @cached_property
    def most(self) -> int:
        """Largest count of a vertex; 0 for the empty graph."""
        return int(self.counts.max()) if len(self.counts) else 0

    def on_host(self) -> Cycles:
        """Return the result with its counts, and its graph, on the host."""
        return replace(self, graph=self.graph.to("cpu"), counts=arrays.move(self.counts, "cpu"))

    def to_frame(self) -> pyarrow.Table:
        """Return a table with one row a vertex, in vertex order.

        Returns
        -------
        pyarrow.Table
            Columns ``id`` (as it came in) and ``cycles``.
        """
        import pyarrow as pa

        from edgewise.files.clusters import arrow_array

        counts = arrays.move(self.counts, "cpu")
        ids = self.graph.ids if self.graph.ids is not None else np.arange(len(counts), dtype=np.int64)
        return pa.table({"id": arrow_array(ids), "cycles": arrow_array(counts)})

    def write(self, path: str | Path) -> None:
        """Write the table of :meth:`to_frame` to a Parquet, CSV or Arrow file, whole or not at all."""
        from edgewise.files import write

        write(self, path)

    def verify(self, graph: Graph | None = None) -> Cycles:
        """Check the counts against the graph and return the result.

        Raises
        ------
        VerificationError
            A count is wrong; the message names a vertex.
        """
        from edgewise.cycles.check import verify

        graph = self.graph if graph is None else graph
        check_same_graph(graph, len(self.counts), "the result")
        verify(self if graph is self.graph else replace(self, graph=graph))
        return self

    def plot(self, path: str | Path) -> None:
        """Draw the distribution of the counts into a picture file (needs ``edgewise[plot]``)."""
        from edgewise import plots

        plots.counts(self, path)
