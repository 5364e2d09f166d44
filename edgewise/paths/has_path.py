"""Whether there is a path between two vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgewise.device import arrays
from edgewise.errors import OptionError
from edgewise.front import named
from edgewise.graph import Graph
from edgewise.method import check_graph, on_device
from edgewise.paths.bfs import NO_CUTOFF, bfs
from edgewise.paths.csr import adjacency_of
from edgewise.paths.local_search import search_by_levels
from edgewise.paths.method import sources_in


@named
def has_path(graph: Graph, source: Any, target: Any, *, device: str | None = None) -> bool:
    """Return whether there is a path from one vertex to another.

    It takes microseconds if one of the two is near the other or has few vertices within reach, and a
    breadth-first search otherwise.  For many pairs of an undirected graph, compare the labels of
    :func:`connected_components`.

    Parameters
    ----------
    graph : Graph
        Edges of a directed graph are followed forwards.
    source, target : id
        Ids of the graph.
    device : str, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default that of the
        graph.

    Returns
    -------
    bool
        ``True`` also if the two are the same vertex.

    Raises
    ------
    GraphError
        An id is not in the graph.
    OptionError
        Several ids are given for one of the two.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "b", "d"], ["b", "c", "e"], directed=True)
    >>> ew.has_path(graph, "a", "c"), ew.has_path(graph, "c", "a"), ew.has_path(graph, "a", "e")
    (True, False, False)
    """
    check_graph(graph)
    ends = sources_in(graph, source), sources_in(graph, target)
    for name, vertices in zip(("source", "target"), ends):
        if len(vertices) > 1:
            raise OptionError(f"{name} has {len(vertices)} ids; has_path is about one, bfs finds several")
    graph = on_device(graph, device)
    if graph.device == "cpu":
        found = _near(graph, *ends)
        if found is not None:
            return found
    with arrays.guard(graph.device):
        reached = bfs(graph, source).distances[int(ends[1][0])]
    return int(reached) <= NO_CUTOFF


def _near(graph, source, target):
    """Whether there is a path, as far as small searches from the ends can tell; else ``None``."""
    rows = adjacency_of(graph).outgoing
    for start, goal in ((source, target), (target, source)) if not graph.directed else ((source, target),):
        found, _, complete = search_by_levels(rows, start.astype(np.int64), NO_CUTOFF)
        if complete or np.isin(goal, found.vertices).any():
            return bool(np.isin(goal, found.vertices).any())
    return None
