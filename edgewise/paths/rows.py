"""The rows a search reads, kept with the graph: what leaves each vertex, and what comes in."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from edgewise.device import arrays


@dataclass(frozen=True, eq=False)
class Rows:
    """Compressed sparse rows.

    Attributes
    ----------
    offsets : (n + 1,) int64 array
    neighbours : (entries,) index array
        Self-loops and repeated entries occur.
    weights : (entries,) array
        Empty where edges count as one.
    incoming : Rows or None
        Rows of the edges that come in; the rows themselves if every edge goes both ways, and ``None`` where
        they are not there.
    """

    offsets: Any
    neighbours: Any
    weights: Any
    incoming: "Rows | None" = None

    @property
    def n_vertices(self):
        """Number of rows."""
        return len(self.offsets) - 1

    def on_host(self):
        """Return the rows on the host; with those that come in only where these are the same."""
        rows = Rows(*(arrays.move(a, "cpu") for a in (self.offsets, self.neighbours, self.weights)))
        if self.incoming is self:
            object.__setattr__(rows, "incoming", rows)
        return rows


def rows_of(graph, weights=None, name="unit"):
    """The rows of ``graph``, made once for each ``name`` and kept.

    Parameters
    ----------
    graph : Graph
    weights : (entries,) array, optional
        Weights of the entries, in the type of the distances.
    name : str
        Under which they are kept: one for each set of weights.

    Returns
    -------
    Rows
        With ``incoming`` if the graph is undirected, or if :func:`incoming_of` was asked before.
    """
    kept = graph.kept.get(("paths", name))
    if kept is None:
        with arrays.guard(graph.device):
            offsets, neighbours = graph.offsets, graph.neighbours
            if weights is None:
                weights = arrays.empty(0, np.int32, graph.device)
            kept = Rows(offsets, neighbours, weights)
        if not graph.directed:
            object.__setattr__(kept, "incoming", kept)
        graph.kept["paths", name] = kept
    return kept


def incoming_of(graph, rows):
    """The rows of the edges that come in; built once for a directed graph and kept with ``rows``."""
    if rows.incoming is None:
        with arrays.guard(graph.device):
            object.__setattr__(rows, "incoming", _reversed(rows))
    return rows.incoming


def _reversed(rows):
    from edgewise.ingest.csr import rows_from_edges
    from edgewise.ingest.edges import row_numbers

    weighted = len(rows.weights) > 0
    sources = row_numbers(rows.offsets, rows.neighbours.dtype)
    offsets, neighbours, entries = rows_from_edges(
        rows.n_vertices, rows.neighbours, sources, False, with_edges=weighted
    )
    return Rows(offsets, neighbours, rows.weights[entries] if weighted else rows.weights, rows)
