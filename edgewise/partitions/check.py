"""Measures of a partition: cut, communication volume, balance, boundary and connectivity."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.components import connected_components
from edgewise.device import arrays, fetch_add, parallel_region, regions, threads
from edgewise.device.shares import next_chunk
from edgewise.errors import GraphError, VerificationError
from edgewise.front import named
from edgewise.graph import Graph
from edgewise.method import check_graph
from edgewise.partitions.input import checked_parts, vertex_weights_of
from edgewise.partitions.levels import imbalance_of
from edgewise.primitives.rows import row_numbers
from edgewise.weights import with_weight

#: Rows that a worker takes at a time.
CHUNK = 256


class Sums(NamedTuple):
    """What is added up for each part.

    Attributes
    ----------
    cuts : (k,) int64 or float64 array
        Weight of the edges to other parts.
    volumes : (k,) int64 array
        For each vertex, the number of other parts that it has neighbours in.
    boundaries : (k,) int64 array
        Vertices with a neighbour in another part.
    """

    cuts: Any
    volumes: Any
    boundaries: Any


@parallel_region
def measure_rows(worker, rows, part, seen, sums, shares):
    """Add up the rows; a worker notes for each part, in its share of ``seen``, the last row beside it."""
    offsets, neighbours, weights = rows
    base = worker.id * len(sums.cuts)
    turn, first, last = next_chunk(0, shares, len(part), CHUNK, worker.id)
    while first < last:
        for row in range(first, last):
            here, others = part[row], 0
            for entry in range(offsets[row], offsets[row + 1]):
                there = part[neighbours[entry]]
                if there == here:
                    continue
                fetch_add(sums.cuts, here, weights[entry] if len(weights) else 1)
                if seen[base + there] != row:
                    seen[base + there] = row
                    others += 1
            if others > 0:
                fetch_add(sums.volumes, here, others)
                fetch_add(sums.boundaries, here, 1)
        turn, first, last = next_chunk(turn, shares, len(part), CHUNK, worker.id)


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
    rows = host.offsets, host.neighbours, host.csr_weights
    rows = (*rows[:2], np.empty(0, np.int64) if rows[2] is None else rows[2])
    sums = Sums(
        np.zeros(k, np.float64 if rows[2].dtype.kind == "f" else np.int64),
        *(np.zeros(k, np.int64) for _ in range(2)),
    )
    n_workers = max(1, min(regions.workers(), len(parts) // max(k, 1)))
    seen, shares = np.full(k * n_workers, -1, np.int64), threads.new_shares(n_workers)
    with threads.few_steps(len(parts) + len(rows[1]) // 2):
        measure_rows.with_workers(n_workers, rows, parts, seen, sums, shares)
    loads = np.bincount(parts, weights=weights, minlength=k).astype(np.int64)
    cut = (sums.cuts.sum() / 2).item() if rows[2].dtype.kind == "f" else int(sums.cuts.sum()) // 2
    total, most = int(loads.sum()), int(loads.max(initial=0))
    adjacent, components = _connectivity(rows, parts, k)
    return Measures(
        cut,
        int(sums.volumes.sum()),
        imbalance_of(loads),
        most * k / total if total else 1.0,
        loads,
        sums.cuts,
        sums.volumes,
        int(sums.boundaries.sum()),
        adjacent,
        components,
    )


def _connectivity(rows, parts, k):
    """Number of parts beside each part, and of connected components in it."""
    sources = row_numbers(rows[0], rows[1].dtype)
    here, there = parts[sources], parts[rows[1]]
    is_cut = here != there
    pairs = np.unique(here[is_cut] * k + there[is_cut])
    is_inside = ~is_cut & (sources < rows[1])
    inside = Graph(len(parts), edges=(sources[is_inside], rows[1][is_inside], None))
    labels = connected_components(inside).labels
    roots = labels == np.arange(len(parts))
    return np.bincount(pairs // max(k, 1), minlength=k), np.bincount(parts[roots], minlength=k)


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
