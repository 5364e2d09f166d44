"""Measures of a partition: cut, communication volume, balance, boundary and connectivity."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.components import connected_components
from edgewise.device import arrays
from edgewise.errors import GraphError, VerificationError
from edgewise.front import named
from edgewise.graph import Graph
from edgewise.ingest.edges import row_numbers
from edgewise.method import check_graph
from edgewise.partitions.input import checked_parts, vertex_weights_of
from edgewise.partitions.levels import imbalance_of
from edgewise.weights import with_weight


class Measures(NamedTuple):
    """Measures of a partition into ``k`` parts.

    Attributes
    ----------
    edge_cut : int or float
        Sum of the weights of the edges between parts.
    communication_volume : int
        Sum over the vertices of the number of other parts that they have neighbours in.
    imbalance : float
        Largest weight of a part over that of an even share, less 1.  The share is rounded up, except where
        there is less than 1 for each part.
    balance : float
        Largest weight of a part over that of an even share, as METIS reports it.
    weights : (k,) int64 array
        Weight of each part.
    cuts : (k,) array
        Weight of the edges between each part and the others.
    volumes : (k,) int64 array
        Share of each part in the communication volume.
    boundary : int
        Vertices with a neighbour in another part.
    adjacent : (k,) int64 array
        Number of other parts that each part has an edge to.
    components : (k,) int64 array
        Connected components of each part; 1 for a contiguous part, 0 for an empty one.
    """

    edge_cut: Any
    communication_volume: int
    imbalance: float
    balance: float
    weights: Any
    cuts: Any
    volumes: Any
    boundary: int
    adjacent: Any
    components: Any

    @property
    def empty_parts(self) -> int:
        """Number of parts without a vertex."""
        return int((self.components == 0).sum())

    def report(self) -> dict[str, Any]:
        """Return the measures as plain numbers, by name."""
        k = len(self.weights)
        return {
            "parts": k,
            "edge_cut": self.edge_cut,
            "communication_volume": self.communication_volume,
            "imbalance": self.imbalance,
            "balance": self.balance,
            "heaviest_part": int(self.weights.argmax()) if k else None,
            "max_part_weight": int(self.weights.max(initial=0)),
            "min_part_weight": int(self.weights.min()) if k else 0,
            "empty_parts": self.empty_parts,
            "boundary_vertices": self.boundary,
            "max_part_cut": self.cuts.max(initial=0).item(),
            "max_part_volume": int(self.volumes.max(initial=0)),
            "max_adjacent_parts": int(self.adjacent.max(initial=0)),
            "min_adjacent_parts": int(self.adjacent.min()) if k else 0,
            "mean_adjacent_parts": float(self.adjacent.mean()) if k else 0.0,
            "contiguous_parts": int((self.components == 1).sum()),
            "max_components": int(self.components.max(initial=0)),
        }


@named
def evaluate_partition(
    graph: Graph, parts: Any, *, weight: Any = None, k: int | None = None, vertex_weights: Any = None
) -> Measures:
    """Measure a partition of an undirected graph, whoever has made it.

    Parameters
    ----------
    graph : Graph
        Undirected.
    parts : (n_vertices,) integer array-like
        The part of each vertex, from 0 on.
    weight : str, bool or (n_edges,) array-like, optional
        The weights of the edges, as for :func:`edgewise.partition`.
    k : int, optional
        Number of parts; by default up to the largest one that occurs.
    vertex_weights : (n_vertices,) integer array-like, optional
        By default those of the graph, or 1 for each vertex.

    Returns
    -------
    Measures

    Raises
    ------
    GraphError
        The graph is directed, the parts are not one integer from 0 to ``k - 1`` for each vertex, or a weight
        of a vertex is negative or no integer.

    Examples
    --------
    >>> import edgewise as ew
    >>> measures = ew.evaluate_partition(ew.generate.grid(2, 4), [0, 0, 1, 1] * 2)
    >>> measures.edge_cut, measures.communication_volume, measures.weights.tolist()
    (2, 4, [4, 4])
    """
    check_graph(graph)
    graph = with_weight(graph, weight)
    if graph.directed:
        raise GraphError("a partition of a directed graph is not measured; use Graph.undirected()")
    host = graph.to("cpu")
    parts = checked_parts(host, parts, k)
    k = int(parts.max(initial=-1)) + 1 if k is None else k
    weights = vertex_weights_of(host, vertex_weights)
    of_edges, ends = host.csr_weights, (row_numbers(host.offsets, host.neighbours.dtype), host.neighbours)
    here, there = (parts[one] for one in ends)
    is_cut = here != there
    is_real = of_edges is not None and of_edges.dtype.kind == "f"
    cuts = np.zeros(k, np.float64 if is_real else np.int64)
    np.add.at(cuts, here[is_cut], 1 if of_edges is None else of_edges[is_cut].astype(cuts.dtype))
    beside = np.unique(ends[0][is_cut].astype(np.int64) * k + there[is_cut])
    vertices, others = np.divmod(beside, max(k, 1))  # each with a part beside it
    loads = np.bincount(parts, weights=weights, minlength=k).astype(np.int64)
    total, most = int(loads.sum()), int(loads.max(initial=0))
    return Measures(
        (cuts.sum() / 2).item() if is_real else int(cuts.sum()) // 2,
        len(beside),
        imbalance_of(loads),
        most * k / total if total else 1.0,
        loads,
        cuts,
        np.bincount(parts[vertices], minlength=k),
        int(np.count_nonzero(np.diff(vertices, prepend=-1))),
        np.bincount(np.unique(parts[vertices] * k + others) // max(k, 1), minlength=k),
        _components([one[~is_cut] for one in ends], parts, k),
    )


def _components(ends, parts, k):
    """Number of connected components of each part, from the ends of the edges inside of the parts."""
    once = ends[0] < ends[1]
    inside = Graph(len(parts), edges=(ends[0][once], ends[1][once], None))
    roots = connected_components(inside).labels == np.arange(len(parts))
    return np.bincount(parts[roots], minlength=k)


def verify(graph, partition):
    """Raise VerificationError unless a partition has its cut, its weights, and no empty part."""
    parts = arrays.move(partition.parts, "cpu").astype(np.int64)
    wrong = np.flatnonzero((parts < 0) | (parts >= partition.k))
    if len(wrong):
        raise VerificationError(f"vertex {wrong[0]} is in part {parts[wrong[0]]} of {partition.k}")
    host = graph.to("cpu")
    is_cut = parts[host.sources] != parts[host.targets]
    cut = is_cut.sum() if host.weights is None else host.weights[is_cut].sum()
    if not np.isclose(cut, partition.edge_cut, rtol=1e-9):
        raise VerificationError(f"the edges between parts weigh {cut}, not {partition.edge_cut}")
    given = host.vertex_weights if partition._vertex_weights is None else partition._vertex_weights
    weights = np.bincount(parts, None if given is None else np.asarray(given).reshape(-1), partition.k)
    if (weights != partition.weights).any():
        one = int(np.flatnonzero(weights != partition.weights)[0])
        raise VerificationError(f"part {one} weighs {int(weights[one])}, not {partition.weights[one]}")
    empty = np.flatnonzero(np.bincount(parts, minlength=partition.k) == 0)
    if len(empty) and len(parts) >= partition.k:
        raise VerificationError(f"part {empty[0]} is empty")
