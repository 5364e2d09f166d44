"""Graphs made of tables and matrices without a NetworkX graph in between."""

import networkx as nx
import numpy as np

import edgewise
from edgewise.errors import GraphError
from edgewise.networkx.graph import WEIGHT, Graph
from edgewise.networkx.registry import implements

NOTE = 'returns a graph of this backend; only with `backend="edgewise"`'


def _kind(create_using):
    """Whether the graph that is asked for is directed; parallel edges are left to NetworkX."""
    if create_using is None or create_using is nx.Graph:
        return False
    if create_using is nx.DiGraph:
        return True
    raise NotImplementedError("create_using is neither Graph nor DiGraph")


def _other_kind(get):
    kind = get("create_using")
    return None if kind in (None, nx.Graph, nx.DiGraph) else "create_using is neither Graph nor DiGraph"


def _not_a_table(get):
    if get("edge_key") is not None:
        return "edge_key is for multigraphs"
    if not (get("edge_attr") is None or isinstance(get("edge_attr"), str)) or get("edge_attr") == "":
        return "edge_attr is not one column"
    return _other_kind(get)


def _last_of_each(sources, targets, directed):
    """Positions of the last of all rows with the same ends, in the order of the first ones."""
    if not directed:
        sources, targets = np.minimum(sources, targets), np.maximum(sources, targets)
    keys = sources.astype(np.int64) << 32 | targets.astype(np.int64)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    last = np.zeros(len(first), np.int64)
    last[which] = np.arange(len(keys))
    return first[np.argsort(first)], last[np.argsort(first)]


def _made(n, ends, weights, directed, ids=None):
    """A graph of edges, of which a later one with the same ends replaces the weight of an earlier one."""
    first, last = _last_of_each(ends[0], ends[1], directed)
    columns = ends[0][first], ends[1][first], None if weights is None else weights[last]
    return edgewise.Graph(n, edges=columns, directed=directed, ids=ids)


def _by_first_appearance(graph):
    """Vertices in the order in which the edges name them, each with its source first."""
    ends = np.stack([graph.sources, graph.targets], 1).ravel()
    vertices, first = np.unique(ends, return_index=True)
    return vertices[np.argsort(first)]


@implements(note=NOTE, why_not=_not_a_table, nodes=0)
def from_pandas_edgelist(
    df, source="source", target="target", edge_attr=None, create_using=None, edge_key=None
):
    directed = _kind(create_using)
    if missing := {source, target, edge_attr} - {None, *df.columns}:
        raise NotImplementedError(f"the table has no column {missing.pop()!r}")
    weights = None if edge_attr is None else df[edge_attr].to_numpy()
    if weights is not None and weights.dtype.kind not in "if":
        raise NotImplementedError(f"the column {edge_attr!r} has the type {weights.dtype}")
    try:
        graph = edgewise.Graph.from_edges(df[source], df[target], weights=weights)
        if isinstance(graph.ids, np.ndarray):  # ascending, and wanted in the order of the rows
            ids = graph.ids[_by_first_appearance(graph)]
            graph = edgewise.Graph.from_edges(df[source], df[target], weights=weights, ids=ids)
    except GraphError as error:
        raise NotImplementedError(str(error)) from None
    made = _made(graph.n_vertices, (graph.sources, graph.targets), graph.weights, directed, graph.ids)
    return Graph(made, weight=edge_attr or WEIGHT)


@implements(note=NOTE, why_not=_other_kind, nodes=0)
def from_scipy_sparse_array(A, parallel_edges=False, create_using=None, edge_attribute="weight"):
    directed = _kind(create_using)
    if A.shape[0] != A.shape[1]:
        raise nx.NetworkXError(f"Adjacency matrix not square: nx,ny={A.shape}")
    if A.dtype.kind not in "if":
        raise NotImplementedError(f"the matrix has the type {A.dtype}")
    entries = A.tocoo()
    ends = [ends.astype(np.uint32) for ends in entries.coords]
    return Graph(_made(A.shape[0], ends, entries.data, directed), weight=edge_attribute)
