"""Graphs of NetworkX as arrays, and graphs of arrays as NetworkX's.

A NetworkX graph is a dict of dicts.  Its rows are read in the order of these dicts, which is the order in
which NetworkX's own algorithms meet nodes and edges, so searches over the arrays can find the same paths.
"""

from array import array
from collections.abc import Iterable
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np

from edgewise.errors import GraphError, argument
from edgewise.index_type import index_type
from edgewise.ingest.columns import EXACT, TYPED, kinds_of


class Rows(NamedTuple):
    """The nodes of a NetworkX graph, and its rows in the order of its dicts.

    ``nodes`` is a list, ``numbers`` a dict from nodes to their positions, or ``None`` where nodes are their
    positions; ``offsets`` (n + 1,) int64; ``neighbours`` (entries,) vertex numbers: of parallel edges one.
    """

    nodes: list
    numbers: dict | None
    offsets: np.ndarray
    neighbours: np.ndarray


class WeightError(GraphError):
    """Weights that arrays of integers or floats cannot hold exactly."""


def are_dicts(adjacency: dict) -> bool:
    """Whether all rows are dicts."""
    return all(issubclass(kind, dict) for kind in set(map(type, adjacency.values())))


def as_dicts(adjacency: Any, multigraph: bool) -> dict:
    """The rows of a NetworkX graph as dicts of dicts; those of a view of a graph are made dicts."""
    if isinstance(adjacency, dict) and are_dicts(adjacency):
        return adjacency
    inner = dict if multigraph else (lambda data: data)
    return {node: {other: inner(data) for other, data in row.items()} for node, row in adjacency.items()}


def rows_of(adjacency: dict) -> Rows:
    """The rows of a NetworkX graph, given its dict of dicts."""
    nodes = list(adjacency)
    numbers = None if are_positions(nodes) else dict(zip(nodes, range(len(nodes))))
    return Rows(nodes, numbers, *entries_of(adjacency, numbers))


def are_positions(nodes: list) -> bool:
    """Whether nodes are the integers from 0 on, in this order."""
    return set(map(type, nodes)) <= {int} and nodes == list(range(len(nodes)))


def entries_of(adjacency: dict, numbers: dict | None) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and neighbours of a dict of dicts; see :class:`Rows`."""
    n = len(adjacency)
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.fromiter(map(len, adjacency.values()), np.int64, n), out=offsets[1:])
    kind = index_type(n)
    if kind == np.uint32:
        try:  # takes three quarters of the time of the line below
            return offsets, np.asarray(array("I", _neighbours(adjacency, numbers)), np.uint32)
        except TypeError:  # a neighbour that is a float, as 1.0, though the node is an integer
            pass
    return offsets, np.fromiter(_neighbours(adjacency, numbers), kind, int(offsets[-1]))


def _neighbours(adjacency: dict, numbers: dict | None) -> Iterable[Any]:
    """Positions of all neighbours, row by row."""
    neighbours = chain.from_iterable(adjacency.values())
    return neighbours if numbers is None else map(numbers.__getitem__, neighbours)


def weights_of(adjacency: dict, name: Any, *, multigraph: bool = False, mixed: bool = True) -> np.ndarray:
    """Weight of each entry of :func:`entries_of`, else 1: int64 or float64; of parallel edges the least.

    Raises
    ------
    WeightError
        A weight is no number, or too large to be exact.
    """
    edges = chain.from_iterable(map(dict.values, adjacency.values()))
    if not multigraph:
        return as_weights([data.get(name, 1) for data in edges], name, mixed=mixed)
    try:
        least = [min(data.get(name, 1) for data in keyed.values()) for keyed in edges]
    except TypeError:
        raise WeightError(f"weights {name!r} of parallel edges cannot be compared") from None
    return as_weights(least, name, mixed=mixed)


def as_weights(values: list, name: Any, *, mixed: bool = True) -> np.ndarray:
    """Numbers as an int64 or float64 array, once it is clear that no one is rounded.

    Unless ``mixed``, integers beside floats are refused, because sums in Python are of either type.
    """
    kinds = set(map(type, values))
    try:
        if all(issubclass(kind, (int, np.integer, np.bool_)) for kind in kinds):
            return np.fromiter(values, np.int64, len(values))
        if all(issubclass(kind, float) for kind in kinds):  # np.float64 is one of them
            return np.fromiter(values, np.float64, len(values))
        if all(issubclass(kind, (int, float, np.integer)) for kind in kinds):
            whole = (abs(int(value)) for value in values if not isinstance(value, float))
            if max(whole) <= EXACT:
                if mixed:
                    return np.fromiter(values, np.float64, len(values))
                raise WeightError(f"weights {name!r} are integers and floats, and so are their sums")
    except (OverflowError, TypeError):
        pass
    odd = [kind for kind in kinds if not issubclass(kind, (int, float, np.integer))]
    problem = f"of type {odd[0].__name__}" if odd else "too large to be exact"
    raise WeightError(f"weights {name!r} are {problem}; int64 and float64 are possible")


def from_networkx(graph_class, graph, weight):
    """Make a graph of a NetworkX graph: see :meth:`edgewise.Graph.from_networkx`."""
    for attribute in ("adj", "is_directed", "is_multigraph"):
        if not hasattr(graph, attribute):
            raise GraphError(f"a NetworkX graph is needed, not {type(graph).__name__}")
    multigraph, directed = graph.is_multigraph(), graph.is_directed()
    adjacency = as_dicts(getattr(graph, "_adj", graph.adj), multigraph)
    nodes, numbers, offsets, targets = rows_of(adjacency)
    sources = np.repeat(np.arange(len(nodes), dtype=targets.dtype), np.diff(offsets))
    data = chain.from_iterable(map(dict.values, adjacency.values()))
    if multigraph:
        keyed = list(data)
        copies = np.fromiter(map(len, keyed), np.int64, len(keyed))
        sources, targets = np.repeat(sources, copies), np.repeat(targets, copies)
        data = chain.from_iterable(one.values() for one in keyed)
    once = slice(None) if directed else sources <= targets
    values = None
    if weight is not None:
        kept = range(len(targets)) if isinstance(once, slice) else np.flatnonzero(once)
        listed = list(data)
        values = _weights_named(weight, [listed[entry] for entry in kept])
    edges = sources[once], targets[once], values
    ids = None if numbers is None else _ids_of(nodes)
    made = graph_class(len(nodes), edges=edges, directed=directed, ids=ids)
    made.weight_name = weight
    return made


def _weights_named(weight, data):
    """The attribute ``weight`` of all edges, which must have it."""
    missing = sum(weight not in one for one in data)
    if missing:
        given = argument("weight", weight)
        raise GraphError(f"{missing:,} of {len(data):,} edges lack {given}; set it for every edge first")
    return as_weights([one[weight] for one in data], weight)


def _ids_of(nodes):
    """Nodes as external ids: int64, or an Arrow array."""
    import pyarrow as pa

    from edgewise.ingest.columns import host_column

    kinds = set(map(type, nodes))
    if kinds == {int}:
        try:
            return np.array(nodes, np.int64)
        except OverflowError:
            pass
    elif kinds == {str}:
        return pa.array(nodes, pa.large_string())
    if kinds_of(nodes) & TYPED:
        return host_column(nodes, "nodes")
    found = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise GraphError(
        f"nodes of type {found} are no ids, which are strings or 64-bit integers; "
        "relabel them first (networkx.convert_node_labels_to_integers)"
    )


def to_networkx(graph, weight, multigraph):
    """Make a NetworkX graph of a graph: see :meth:`edgewise.Graph.to_networkx`."""
    try:
        import networkx as nx
    except ImportError:
        raise GraphError("NetworkX is not installed; run pip install networkx") from None
    kinds = (nx.Graph, nx.DiGraph), (nx.MultiGraph, nx.MultiDiGraph)
    host = graph.to("cpu")
    nodes = nodes_of(host)
    sources, targets = (_named(nodes, ends) for ends in (host.sources, host.targets))
    made = kinds[bool(multigraph)][graph.directed]()
    made.add_nodes_from(nodes)
    if host.weights is None:
        made.add_edges_from(zip(sources, targets))
    else:
        attributes = map(dict, map(zip, repeat((weight,)), zip(host.weights.tolist())))
        made.add_edges_from(zip(sources, targets, attributes))
    return made


def nodes_of(graph) -> Any:
    """The ids of all vertices as Python objects: a list, or a range where they are the vertex numbers."""
    if graph.ids is None:
        return range(graph.n_vertices)
    return graph.ids.tolist() if isinstance(graph.ids, np.ndarray) else graph.ids.to_pylist()


def _named(nodes, vertices):
    numbers = vertices.tolist()
    return numbers if isinstance(nodes, range) else map(nodes.__getitem__, numbers)
