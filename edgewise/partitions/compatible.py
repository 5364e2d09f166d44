"""``part_graph`` with the arguments and values of pymetis, for programs that use METIS through it."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgewise.errors import GraphError, OptionError, argument
from edgewise.graph import Graph

#: Arguments of pymetis, and what they mean here.
KNOWN = ("vweights", "eweights", "tpwgts", "recursive", "contiguous", "options", "symmetrize")


def part_graph(
    nparts: int,
    adjacency: Any = None,
    xadj: Any = None,
    adjncy: Any = None,
    *,
    imbalance: float = 0.03,
    preset: str = "default",
    **others: Any,
) -> tuple[Any, list[int]]:
    """Partition a graph with the arguments of ``pymetis.part_graph``.

    Parameters
    ----------
    nparts : int
    adjacency : sequence of sequences of int, optional
        The neighbours of each vertex, or an object with ``adj_starts`` and ``adjacent``.
    xadj, adjncy : integer array-like, optional
        Instead of ``adjacency``: the rows, as offsets and neighbours.
    imbalance : float
        As in :func:`edgewise.partition`.
    preset : str
        As in :func:`edgewise.partition`.
    **others
        * ``vweights`` : (n,) integers. Weights of the vertices.
        * ``eweights`` : (entries,) integers. Weights of the entries.
        * ``tpwgts`` : (nparts,) numbers. Shares of the parts.
        * ``symmetrize`` : bool. Whether edges that are in one row only are added to the other.
        * ``options`` : object. Its ``seed`` is used, if it has one of 0 or more.
        * ``recursive`` : bool. Accepted and not used.

    Returns
    -------
    n_cuts : int
    membership : list of int

    Raises
    ------
    GraphError
        The rows are not symmetric, with the first edge that is in one row only.
    OptionError
        Neither or both forms of the graph are given, an unknown argument, or ``contiguous=True``, which is
        not supported.

    Examples
    --------
    >>> import edgewise as ew
    >>> cut, membership = ew.part_graph(2, adjacency=[[1], [0, 2], [1, 3], [2]])
    >>> cut, sorted(membership)
    (1, [0, 0, 1, 1])
    """
    from edgewise.partitions import partition

    if unknown := set(others) - set(KNOWN):
        raise OptionError(f"part_graph() has no argument {min(unknown)!r}; it has {', '.join(KNOWN)}")
    if others.get("contiguous"):
        raise OptionError(
            f"{argument('contiguous', True)} is not supported; look at the components of the parts"
        )
    if (adjacency is None) == (xadj is None or adjncy is None):
        raise OptionError("give either adjacency, or xadj and adjncy")
    if adjacency is not None:
        xadj, adjncy = _rows(adjacency)
    weights = others.get("eweights")
    if others.get("symmetrize"):
        offsets, neighbours = np.asarray(xadj, np.int64), np.asarray(adjncy)
        rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        graph = Graph.from_edges(
            rows, neighbours, weights=weights, n_vertices=len(offsets) - 1, self_loops="drop", repeated="max"
        )
    else:
        graph = Graph.from_csr(xadj, adjncy, weights=None if weights is None else np.asarray(weights))
    seed = getattr(others.get("options"), "seed", 0)
    found = partition(
        graph,
        nparts,
        imbalance=imbalance,
        preset=preset,
        seed=max(0, int(seed)),
        vertex_weights=others.get("vweights"),
        target_weights=others.get("tpwgts"),
    )
    return found.edge_cut, found.parts.tolist()


def _rows(adjacency):
    """Offsets and neighbours of an adjacency list."""
    if hasattr(adjacency, "adj_starts"):
        return adjacency.adj_starts, adjacency.adjacent
    rows = [np.asarray(row, np.int64) for row in adjacency]
    if any(row.ndim != 1 for row in rows):
        raise GraphError("adjacency is one sequence of neighbours for each vertex")
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return offsets, np.concatenate([np.empty(0, np.int64), *rows])
