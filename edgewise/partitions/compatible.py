"""Functions with the arguments and values of pymetis and nxmetis, for programs that use METIS so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgewise.errors import GraphError, OptionError, argument, check_names
from edgewise.graph import Graph

#: Arguments of nxmetis, beside those that are named.
KNOWN_OF_NXMETIS = ("node_size", "tpwgts", "ubvec", "options", "recursive")
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
        * ``contiguous`` : bool. Whether the vertices of each part are to be connected inside of it.
        * ``recursive`` : bool. Accepted and not used.

    Returns
    -------
    n_cuts : int
    membership : list of int

    Raises
    ------
    GraphError
        The rows are not symmetric, with the first edge that is in one row only; or the graph is not connected
        and ``contiguous=True``.
    OptionError
        Neither or both forms of the graph are given, or an unknown argument.

    Examples
    --------
    >>> import edgewise as ew
    >>> cut, membership = ew.part_graph(2, adjacency=[[1], [0, 2], [1, 3], [2]])
    >>> cut, sorted(membership)
    (1, [0, 0, 1, 1])
    """
    from edgewise.partitions import partition

    check_names(
        "part_graph", others, ("nparts", "adjacency", "xadj", "adjncy", "imbalance", "preset", *KNOWN)
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
        contiguous=bool(others.get("contiguous")),
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


def partition_networkx(
    graph: Any,
    nparts: int,
    *,
    node_weight: str | None = "weight",
    edge_weight: str | None = "weight",
    preset: str = "default",
    **others: Any,
) -> tuple[int, list[list[Any]]]:
    """Partition a NetworkX graph with the arguments of ``nxmetis.partition``.

    Parameters
    ----------
    graph : networkx.Graph
        Undirected.  NetworkX itself is not imported: any object with its ``nodes``, ``edges`` and
        ``is_directed`` will do.
    nparts : int
    node_weight, edge_weight : str, optional
        Attributes that are integers of 1 or more; nodes and edges without them weigh 1.
    preset : str
        As in :func:`edgewise.partition`.
    **others
        * ``tpwgts`` : (nparts,) numbers. Shares of the parts.
        * ``ubvec`` : a number or a sequence of one. The largest weight of a part over its share; by default
          1.03.
        * ``options`` : object. Its ``seed`` and ``contig`` are used, if it has them.
        * ``node_size`` and ``recursive`` are accepted and not used.

    Returns
    -------
    objval : int
        Sum of the weights of the edges between parts.
    parts : list of list
        The nodes of each part.

    Raises
    ------
    GraphError
        The graph is directed, or a weight is no integer of 1 or more.
    OptionError
        This is no graph of NetworkX, or an unknown argument.

    Examples
    --------
    >>> from edgewise.partitions import partition_networkx
    >>> import networkx as nx  # doctest: +SKIP
    >>> partition_networkx(nx.path_graph(4), 2)  # doctest: +SKIP
    (1, [[0, 1], [2, 3]])
    """
    from edgewise.partitions import partition

    known = ("node_weight", "edge_weight", "preset", *KNOWN_OF_NXMETIS)
    check_names("partition_networkx", others, known)
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise OptionError(
            f"a NetworkX graph is needed, not {type(graph).__name__}; see ew.partition for others"
        )
    if graph.is_directed():
        raise GraphError("a partition needs an undirected graph; use its to_undirected()")
    nodes = list(graph.nodes(data=node_weight, default=1) if node_weight else ((v, 1) for v in graph.nodes))
    edges = graph.edges(data=edge_weight, default=1) if edge_weight else ((u, v, 1) for u, v in graph.edges())
    place = {node: at for at, (node, _) in enumerate(nodes)}
    columns = [(place[one], place[other], weight) for one, other, weight in edges]
    sources, targets = (np.array([edge[end] for edge in columns], np.int64) for end in (0, 1))
    found = partition(
        Graph.from_edges(
            sources, targets, weights=_integers([edge[2] for edge in columns], "edge"), n_vertices=len(nodes)
        ),
        nparts,
        imbalance=_imbalance_of(others.get("ubvec")),
        preset=preset,
        seed=max(0, int(getattr(others.get("options"), "seed", 0))),
        vertex_weights=_integers([weight for _, weight in nodes], "node"),
        target_weights=others.get("tpwgts"),
        contiguous=getattr(others.get("options"), "contig", 0) in (1, True),
    )
    parts: list[list[Any]] = [[] for _ in range(nparts)]
    for (node, _), part in zip(nodes, found.parts.tolist()):
        parts[part].append(node)
    return found.edge_cut, parts


def _integers(values, of):
    """Weights as an array of integers, or an error."""
    weights = np.array(values) if values else np.empty(0, np.int64)
    if weights.dtype.kind not in "iu" or weights.ndim != 1:
        wrong = next((value for value in values if not isinstance(value, (int, np.integer))), values[:1])
        raise GraphError(
            f"the weight of {'an edge' if of == 'edge' else 'a node'} is {wrong!r}; use integers"
        )
    return weights


def _imbalance_of(ubvec):
    """The imbalance that METIS' ``ubvec`` allows."""
    if ubvec is None:
        return 0.03
    values = np.atleast_1d(np.asarray(ubvec))
    if values.shape != (1,) or values.dtype.kind not in "iuf" or not 1 <= values[0] < np.inf:
        raise OptionError(f"{argument('ubvec', ubvec)} must be one number of 1 or more, such as 1.03")
    return round(float(values[0]) - 1, 12)
