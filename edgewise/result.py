"""What every public function returns: a record that knows its graph's ids and can check itself."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.device import arrays
from edgewise.graph import check_same_graph

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    import pyarrow


@dataclass(frozen=True, eq=False)
class Result:
    """Base of all results.

    A problem's result is a frozen dataclass that adds its arrays, and implements ``_columns`` (columns of the
    table beside the ids), ``_verify`` and ``_plot``.

    Attributes
    ----------
    graph : Graph
        The graph of the call.
    method : str
        Name of the method that ran.
    seconds : float
        Time of the method alone.
    devices : tuple of str
        Names of the workers that took part: ``"cpu:0"``, ``"cuda:0"``, ``"cuda:1"`` ...
    """

    graph: Any = field(repr=False)
    method: str
    seconds: float
    devices: tuple[str, ...] = field(default=(), kw_only=True)

    def to_frame(self) -> pyarrow.Table:
        """Return a table with one row per vertex, in vertex order.

        Returns
        -------
        pyarrow.Table
            Column ``id`` (as it came in), and the columns that the class describes.
        """
        import pyarrow as pa

        from edgewise.ingest.arrow import arrow_array

        columns = {name: arrow_array(arrays.move(one, "cpu")) for name, one in self._columns().items()}
        ids = self.graph.ids
        ids = arrow_array(np.arange(self.graph.n_vertices, dtype=np.int64) if ids is None else ids)
        return pa.table({"id": ids, **columns})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table of :meth:`to_frame` for any library that takes Arrow streams."""
        return self.to_frame().__arrow_c_stream__(requested_schema)

    def write(self, path: str | Path) -> None:
        """Write the table of :meth:`to_frame` to a Parquet, CSV or Arrow file, whole or not at all.

        Parameters
        ----------
        path : path-like

        Raises
        ------
        FileError
            The suffix is unknown, or the file cannot be written.
        """
        from edgewise.files import formats

        formats.write(self, path, None)

    def verify(self, graph: Any = None) -> Self:
        """Check the result against the graph, without solving again, and return it.

        Parameters
        ----------
        graph : Graph, optional
            By default the one that the result came from.

        Raises
        ------
        GraphError
            The graph has another number of vertices.
        VerificationError
            The result is wrong; the message names a vertex or an edge.
        """
        graph = self.graph if graph is None else graph
        check_same_graph(graph, self.graph.n_vertices, "the result")
        self._verify(graph)
        return self

    def plot(self, path: str | Path) -> None:
        """Draw the distribution of the values into a picture file (needs matplotlib).

        Parameters
        ----------
        path : path-like
            Its suffix says the kind of picture: ``.png``, ``.svg``, ``.pdf``.
        """
        self._plot(path)

    def on_host(self) -> Self:
        """Return the result with its arrays, and its graph, on the host."""
        moved = {
            one.name: arrays.move(getattr(self, one.name), "cpu")
            for one in fields(self)
            if getattr(getattr(self, one.name), "ndim", 0)
        }
        return replace(self, graph=self.graph.to("cpu"), **moved)

    def _columns(self) -> dict[str, Any]:
        """Columns of the table beside the ids, by name: (n_vertices,) arrays on any device."""
        raise NotImplementedError

    def _verify(self, graph: Any) -> None:
        """Raise VerificationError unless the result holds for ``graph``."""
        raise NotImplementedError

    def _plot(self, path: Any) -> None:
        """Draw the result into a file."""
        raise NotImplementedError
