"""The rows a method reads, and what ``auto`` wants to know of them; both kept with the graph."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from edgewise.components.lengths import by_length
from edgewise.device import arrays

#: A GPU gives a row longer than this to a block instead of a thread.
LONG_ROW = 1024
#: Entries looked at to judge how local the ids are, and how near a neighbour counts as near.
SAMPLED, NEAR = 4096, 1 / 64


class _Rows(NamedTuple):
    offsets: Any
    neighbours: Any
    hubs: Any
    longest: int


class Rows(_Rows):
    """Symmetric CSR rows.

    ``hubs`` are the vertices whose row is longer than ``longest`` entries; none on the CPU, where a core
    takes long rows in its stride.
    """

    @cached_property
    def by_length(self):
        """Rows for a thread, a warp and a block each, told apart once: see :mod:`~.lengths`."""
        return by_length(self.offsets, self.neighbours)


def rows_of(graph):
    """Symmetric rows of ``graph``, made once and kept."""
    rows = graph.kept.get("rows")
    if rows is None:
        with arrays.guard(graph.device):
            rows = graph.kept["rows"] = _rows(graph)
    return rows


def _rows(graph):
    if graph.directed:
        from edgewise.ingest.csr import rows_from_edges

        offsets, neighbours, _ = rows_from_edges(graph.n_vertices, graph.sources, graph.targets, True)
    else:
        offsets, neighbours = graph.offsets, graph.neighbours
    if arrays.device_of(offsets) == "cpu":
        return Rows(offsets, neighbours, np.empty(0, neighbours.dtype), 2**62)
    xp = arrays.namespace(offsets)
    hubs = xp.flatnonzero(offsets[1:] - offsets[:-1] > LONG_ROW).astype(neighbours.dtype)
    return Rows(offsets, neighbours, hubs, LONG_ROW)


def is_local(graph):
    """Whether most neighbours have close numbers, judged once by a sample of the edges or rows."""
    if "local" not in graph.kept:
        with arrays.on(graph.device):
            ends = _sampled_edges(graph) if graph.has_edges else _sampled_entries(rows_of(graph))
            distance = abs(ends[0].astype(np.int64) - ends[1].astype(np.int64))
            near = (distance <= graph.n_vertices * NEAR).mean() if len(distance) else 1.0
        graph.kept["local"] = bool(near > 0.5)
    return graph.kept["local"]


def _sampled_edges(graph):
    chosen = _sample(len(graph.sources), graph.sources)
    return graph.sources[chosen], graph.targets[chosen]


def _sampled_entries(rows):
    chosen = _sample(len(rows.neighbours), rows.neighbours)
    return arrays.namespace(chosen).searchsorted(rows.offsets, chosen, side="right") - 1, rows.neighbours[
        chosen
    ]


def _sample(count, like):
    """Numbers of an even sample of ``count`` things, in the place of ``like``."""
    taken = min(SAMPLED, count)
    return arrays.namespace(like).arange(taken, dtype=np.int64) * count // max(taken, 1)
