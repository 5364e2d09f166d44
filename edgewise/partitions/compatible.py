"""Functions with the arguments and values of pymetis and nxmetis, for programs that use METIS so far."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.errors import GraphError, OptionError, argument, warn
from edgewise.front import named
from edgewise.graph import Graph
from edgewise.ingest.symmetry import first_unmatched_entry
from edgewise.method import check_whole
from edgewise.partitions.input import targets_of
from edgewise.partitions.metis_options import requested

#: Parts up to which pymetis makes them by recursive bisection unless it is told otherwise.
RECURSIVE = 8


class GraphPartition(NamedTuple):
    """What :func:`part_graph` returns, as in pymetis.

    Attributes
    ----------
    edge_cuts : int
        Sum of the weights of the edges between parts.
    vertex_part : list of int
        The part of each vertex.
    """

    edge_cuts: int
    vertex_part: list[int]


@named
def part_graph(
    nparts: int,
    adjacency: Any = None,
    xadj: Any = None,
    adjncy: Any = None,
    *,
    vweights: Any = None,
    vsize: Any = None,
    eweights: Any = None,
    tpwgts: Any = None,
    recursive: bool | None = None,
    contiguous: bool | None = None,
    options: Any = None,
    warn_on_copies: bool | None = None,
    symmetrize: bool | None = None,
    imbalance: float | None = None,
    preset: str = "default",
) -> GraphPartition:
    """Partition a graph with the arguments of ``pymetis.part_graph``.

    Parameters
    ----------
    nparts : int
    adjacency : sequence or mapping, optional
        The neighbours of each vertex, by its number; or an object with ``adj_starts`` and ``adjacent``, such
        as ``pymetis.CSRAdjacency``.
    xadj, adjncy : integer array-like, optional
        Instead of ``adjacency``: the rows, as offsets and neighbours.
    vweights : (n,) integers of 0 or more, optional
        Weights of the vertices.
    vsize : optional
        Refused: sizes count for the communication volume alone.
    eweights : (entries,) integers of 0 or more, optional
        Weights of the entries.
    tpwgts : (nparts,) numbers, optional
        Shares of the parts.
    recursive : bool, optional
        Whether the imbalance by default is that of recursive bisection; the parts are made in the same way.
    contiguous : bool, optional
        Whether the vertices of each part are to be connected inside of it.
    options : object or mapping, optional
        Options of METIS, such as ``pymetis.Options``.  Each is honoured or refused by name: ``seed``,
        ``ncuts``, ``niter``, ``ufactor`` (the imbalance) and ``contig`` are honoured; a table in the guide
        has all of them.
    warn_on_copies : bool, optional
        Whether there is a :class:`BytesWarning` if rows or weights are not arrays of 32-bit or 64-bit
        integers, and so are converted first.
    symmetrize : bool, optional
        By default an edge that is in one row only is an edge, but no edge may have two weights.  ``True``
        takes the larger weight then, and ``False`` refuses rows that differ.
    imbalance : float, optional
        As in :func:`edgewise.partition`.  By default as in METIS: 0.001 for recursive bisection, which is
        what pymetis takes for up to eight parts, and 0.03 otherwise.
    preset : str
        As in :func:`edgewise.partition`.

    Returns
    -------
    GraphPartition
        ``edge_cuts`` and ``vertex_part``, also as the two items of a tuple.

    Raises
    ------
    GraphError
        A neighbour that is no vertex; weights that are negative, or differ in the two rows of an edge; or a
        graph that is not connected, where parts are to be contiguous.
    OptionError
        Neither or both forms of the graph are given, an unknown argument, or an option of METIS that is not
        honoured.

    Examples
    --------
    >>> import edgewise as ew
    >>> cut, membership = ew.part_graph(2, adjacency=[[1], [0, 2], [1, 3], [2]])
    >>> cut, sorted(membership)
    (1, [0, 0, 1, 1])
    >>> ew.part_graph(2, {0: [1], 1: [0]}, options={"seed": 1, "ncuts": 3}).edge_cuts
    1
    """
    from edgewise.partitions import partition

    if (adjacency is None) == (xadj is None or adjncy is None):
        raise OptionError("give either adjacency, or xadj and adjncy")
    check_whole("nparts", nparts, 1)
    flags = {"recursive": recursive, "contiguous": contiguous, "symmetrize": symmetrize}
    _check_flags(flags | {"warn_on_copies": warn_on_copies})
    asked, shares = requested(options), shares_of(tpwgts, nparts)
    if vsize is not None:
        raise _only_for_volume("vsize")
    if adjacency is not None:
        xadj, adjncy = _rows(adjacency)
    if warn_on_copies:
        _warn_of_copies({"xadj": xadj, "adjncy": adjncy, "vweights": vweights, "eweights": eweights})
    recursive = nparts <= RECURSIVE if recursive is None else recursive
    others = asked.arguments(imbalance, recursive, contiguous)
    found = partition(
        _graph_of(xadj, adjncy, eweights, symmetrize),
        nparts,
        preset=preset,
        vertex_weights=_one_each(_whole("vweights", vweights), len(xadj) - 1),
        target_weights=shares,
        **others,
    )
    return GraphPartition(found.edge_cut, found.parts.tolist())


def _check_flags(flags):
    """Raise unless what is to be true or false is."""
    for name, value in flags.items():
        if value not in (None, True, False):
            raise OptionError(f"{argument(name, value)} must be True or False")


def _only_for_volume(name, *value):
    """The error for a weight that counts for the communication volume alone."""
    problem = f"{argument(name, *value)} counts for the communication volume alone (objtype VOL)"
    return OptionError(f"{problem}, and parts are made for a small cut; leave it out")


def shares_of(tpwgts, k):
    """Shares of ``k`` parts, (k,) float64, or ``None`` if there are none or an empty list, as in pymetis."""
    return None if tpwgts is None or np.size(tpwgts) == 0 else targets_of(tpwgts, k, "tpwgts")


def _whole(name, values):
    """Weights as an array of integers, one for each vertex or entry, or ``None``."""
    if values is None:
        return None
    try:
        weights = values if hasattr(values, "dtype") else np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        raise GraphError(f"{argument(name)} are not one integer each") from None
    if weights.ndim == 0:
        raise GraphError(f"{argument(name, values)} is one value; give one for each vertex or entry")
    if weights.dtype.kind not in "iu" and len(weights):
        problem = f"{argument(name)} are {weights.dtype}, and METIS has integers"
        raise GraphError(f"{problem}; round multiples of them, such as 1000 times each")
    return weights if len(weights) else weights.astype(np.int64)


def _one_each(weights, n):
    """Weights of the vertices; several for each, one behind the other as in METIS, are a matrix."""
    several = (
        weights is not None and weights.ndim == 1 and n > 0 and len(weights) > n and len(weights) % n == 0
    )
    return weights.reshape(n, -1) if several else weights


def _warn_of_copies(given):
    """Warn of what is not an array that is taken as it is."""
    for name, values in given.items():
        kind = getattr(values, "dtype", type(values).__name__)
        if values is not None and kind not in (np.int32, np.int64):
            warn(f"{name} is converted from {kind}; give an array of int32 or int64", BytesWarning)


def _rows(adjacency):
    """Offsets and neighbours of an adjacency list."""
    if hasattr(adjacency, "adj_starts"):
        return adjacency.adj_starts, adjacency.adjacent
    if isinstance(adjacency, Mapping):
        missing = next((vertex for vertex in range(len(adjacency)) if vertex not in adjacency), None)
        if missing is not None:
            raise GraphError(f"adjacency has {len(adjacency)} vertices, but no {missing}; number them from 0")
        adjacency = [adjacency[vertex] for vertex in range(len(adjacency))]
    try:
        rows = [np.asarray(row if hasattr(row, "__getitem__") else list(row)) for row in adjacency]
    except (TypeError, ValueError, OverflowError):
        rows = [np.empty((0, 0))]
    if any(row.ndim != 1 for row in rows):
        raise GraphError("adjacency is one sequence of neighbours for each vertex")
    wrong = next((vertex for vertex, row in enumerate(rows) if len(row) and row.dtype.kind not in "iu"), None)
    if wrong is not None:
        raise GraphError(f"the neighbours of vertex {wrong} are {rows[wrong].dtype}; use numbers of vertices")
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return offsets, np.concatenate([np.empty(0, np.int64), *(row.astype(np.int64) for row in rows)])


def _graph_of(xadj, adjncy, eweights, symmetrize):
    """The graph of rows of METIS, whose edges may be in one row only, or an error."""
    weights = _whole("eweights", eweights)
    arcs = Graph.from_csr(xadj, adjncy, weights=weights, directed=True)
    rows = arcs.offsets, arcs.neighbours, arcs.csr_weights
    entry = first_unmatched_entry(*rows)
    if entry is None:
        return Graph(arcs.n_vertices, rows=rows)
    if symmetrize is not None and not symmetrize:
        alike = "" if weights is None else " with the same weight"
        problem = f"vertex {entry[0]} lists {entry[1]}, but not the other way round{alike}"
        raise GraphError(f"{problem}; correct it, or leave out {argument('symmetrize', False)}")
    merge = partial(
        Graph.from_edges, arcs.sources, arcs.targets, n_vertices=arcs.n_vertices, self_loops="drop"
    )
    graph = merge(weights=arcs.weights, repeated="max")
    if weights is not None and not symmetrize:
        wrong = np.flatnonzero(graph.weights != merge(weights=arcs.weights, repeated="min").weights)
        if len(wrong):
            ends = f"{graph.sources[wrong[0]]} and {graph.targets[wrong[0]]}"
            problem = f"the edge between vertices {ends} has two weights"
            raise GraphError(
                f"{problem}; correct {argument('eweights')}, or give {argument('symmetrize', True)}"
            )
    return graph


@named
def partition_networkx(
    graph: Any,
    nparts: int,
    *,
    node_weight: str | None = "weight",
    edge_weight: str | None = "weight",
    node_size: str | None = None,
    tpwgts: Any = None,
    ubvec: Any = None,
    options: Any = None,
    recursive: bool | None = None,
    preset: str = "default",
) -> tuple[int, list[list[Any]]]:
    """Partition a NetworkX graph with the arguments of ``nxmetis.partition``.

    Parameters
    ----------
    graph : networkx.Graph
        Undirected.  NetworkX itself is not imported: any object with its ``nodes``, ``edges`` and
        ``is_directed`` will do.
    nparts : int
    node_weight, edge_weight : str, optional
        Attributes that are integers of 0 or more; nodes and edges without them weigh 1.
    node_size : str, optional
        Sizes count for the communication volume alone, so an attribute that nodes have is refused.
    tpwgts : (nparts,) numbers, optional
        Shares of the parts.
    ubvec : number or sequence of one, optional
        The largest weight of a part over its share; by default 1.03, or 1.001 with ``recursive``.
    options : object or mapping, optional
        Options of METIS, each honoured or refused as by :func:`part_graph`.
    recursive : bool, optional
        As in :func:`part_graph`.
    preset : str
        As in :func:`edgewise.partition`.

    Returns
    -------
    objval : int
        Sum of the weights of the edges between parts.
    parts : list of list
        The nodes of each part.

    Raises
    ------
    GraphError
        The graph is directed, or a weight is no integer of 0 or more.
    OptionError
        This is no graph of NetworkX, an unknown argument, or an option of METIS that is not honoured.

    Examples
    --------
    >>> from edgewise.partitions.compatible import partition_networkx
    >>> import networkx as nx  # doctest: +SKIP
    >>> partition_networkx(nx.path_graph(4), 2)  # doctest: +SKIP
    (1, [[0, 1], [2, 3]])
    """
    from edgewise.partitions import partition

    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise OptionError(
            f"a NetworkX graph is needed, not {type(graph).__name__}; see ew.partition for others"
        )
    if graph.is_directed():
        raise GraphError("a partition needs an undirected graph; use its to_undirected()")
    check_whole("nparts", nparts, 1)
    _check_flags({"recursive": recursive})
    asked, shares = requested(options), shares_of(tpwgts, nparts)
    sizes = () if node_size is None else graph.nodes(data=node_size, default=None)
    if any(size is not None for _, size in sizes):
        raise _only_for_volume("node_size", node_size)
    nodes = list(graph.nodes(data=node_weight, default=1) if node_weight else ((v, 1) for v in graph.nodes))
    edges = graph.edges(data=edge_weight, default=1) if edge_weight else ((u, v, 1) for u, v in graph.edges())
    place = {node: at for at, (node, _) in enumerate(nodes)}
    columns = [(place[one], place[other], weight) for one, other, weight in edges]
    sources, targets = (np.array([edge[end] for edge in columns], np.int64) for end in (0, 1))
    others = asked.arguments(_imbalance_of(ubvec), bool(recursive))
    found = partition(
        Graph.from_edges(
            sources, targets, weights=_integers([edge[2] for edge in columns], "edge"), n_vertices=len(nodes)
        ),
        nparts,
        preset=preset,
        vertex_weights=_integers([weight for _, weight in nodes], "node"),
        target_weights=shares,
        **others,
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
    """The imbalance that METIS' ``ubvec`` allows, if it is given."""
    if ubvec is None:
        return None
    values = np.atleast_1d(np.asarray(ubvec))
    if values.shape != (1,) or values.dtype.kind not in "iuf" or not 1 <= values[0] < np.inf:
        raise OptionError(f"{argument('ubvec', ubvec)} must be one number of 1 or more, such as 1.03")
    return round(float(values[0]) - 1, 12)
