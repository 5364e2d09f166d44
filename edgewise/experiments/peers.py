"""Other libraries that solve the same problems, for those that are installed.

Each function takes a graph on the host and a source, makes the graph of the other library, and returns two
functions: ``solve()``, which is timed, and ``read(found)``, which turns what was found into an array that can
be compared: labels, distances, or the total weight of a forest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np

__all__ = ["PEERS", "Peer", "installed"]

#: Most edges for libraries whose graphs are Python objects.
PYTHON_OBJECTS = 1 << 20
#: Most edges for libraries whose graphs are built edge by edge.
EDGE_BY_EDGE = 1 << 23
#: What SciPy's searches call a vertex without a path.
INFINITY = np.inf


@dataclass(frozen=True)
class Peer:
    """A library: its name, its module, the most edges it is given, and what it solves, by call."""

    name: str
    module: str
    calls: dict[str, Callable]
    max_edges: float = float("inf")


def installed(call, n_edges):
    """The libraries that are here, have such a call, and take so many edges."""
    return [
        peer for peer in PEERS if call in peer.calls and n_edges <= peer.max_edges and find_spec(peer.module)
    ]


def smallest_labels(labels):
    """Each vertex's label as the smallest vertex with the same one."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return first[inverse]


def labels_of_sets(sets, n_vertices):
    labels = np.empty(n_vertices, np.int64)
    for number, members in enumerate(sets):
        labels[list(members)] = number
    return smallest_labels(labels)


def _unweighted(weights, count):
    return np.ones(count) if weights is None else weights.astype(float)


# -- SciPy ---------------------------------------------------------------------------------------------------


def scipy_matrix(graph, weighted):
    from scipy.sparse import csr_array

    weights = _unweighted(graph.csr_weights if weighted else None, len(graph.neighbours))
    shape = graph.n_vertices, graph.n_vertices
    return csr_array((weights, graph.neighbours.astype(np.int32), graph.offsets.astype(np.int32)), shape)


def _scipy_components(graph, _):
    from scipy.sparse.csgraph import connected_components

    matrix = scipy_matrix(graph, False)
    return lambda: connected_components(matrix, directed=False), lambda found: smallest_labels(found[1])


def _scipy_distances(graph, source, *, weighted):
    from scipy.sparse.csgraph import dijkstra

    matrix = scipy_matrix(graph, weighted)
    return lambda: dijkstra(matrix, indices=source, unweighted=not weighted), np.asarray


def _scipy_forest(graph, _):
    from scipy.sparse.csgraph import minimum_spanning_tree

    matrix = scipy_matrix(graph, True)
    return lambda: minimum_spanning_tree(matrix), lambda tree: np.atleast_1d(tree.data.sum())


# -- NetworkX and rustworkx ----------------------------------------------------------------------------------


def _dense(distances, n_vertices, source):
    """Distances from a dictionary of them, which need not have the source."""
    found = np.full(n_vertices, INFINITY)
    found[list(distances.keys())] = list(distances.values())
    found[source] = 0
    return found


def _components_of(graph, library, made):
    find = library.weakly_connected_components if graph.directed else library.connected_components
    return lambda: list(find(made)), lambda sets: labels_of_sets(sets, graph.n_vertices)


def networkx_graph(graph, weighted):
    import networkx as nx

    made = (nx.DiGraph if graph.directed else nx.Graph)()
    made.add_nodes_from(range(graph.n_vertices))
    weights = _unweighted(graph.weights if weighted else None, graph.n_edges)
    made.add_weighted_edges_from(zip(graph.sources.tolist(), graph.targets.tolist(), weights.tolist()))
    return nx, made


def _networkx_components(graph, _):
    return _components_of(graph, *networkx_graph(graph, False))


def _networkx_distances(graph, source, *, weighted):
    nx, made = networkx_graph(graph, weighted)
    find = nx.single_source_dijkstra_path_length if weighted else nx.single_source_shortest_path_length
    return lambda: dict(find(made, source)), lambda found: _dense(found, graph.n_vertices, source)


def _networkx_forest(graph, _):
    nx, made = networkx_graph(graph, True)
    return (
        lambda: list(nx.minimum_spanning_edges(made, data=True)),
        lambda edges: np.array([sum(data["weight"] for *_, data in edges)]),
    )


def rustworkx_graph(graph, weighted):
    import rustworkx as rx

    made = (rx.PyDiGraph if graph.directed else rx.PyGraph)()
    made.add_nodes_from(range(graph.n_vertices))
    weights = _unweighted(graph.weights if weighted else None, graph.n_edges)
    made.add_edges_from(list(zip(graph.sources.tolist(), graph.targets.tolist(), weights.tolist())))
    return rx, made


def _rustworkx_components(graph, _):
    return _components_of(graph, *rustworkx_graph(graph, False))


def _rustworkx_distances(graph, source, *, weighted):
    rx, made = rustworkx_graph(graph, weighted)
    return (
        lambda: rx.dijkstra_shortest_path_lengths(made, source, float),
        lambda found: _dense(dict(found), graph.n_vertices, source),
    )


def _rustworkx_forest(graph, _):
    rx, made = rustworkx_graph(graph, True)
    return (
        lambda: rx.minimum_spanning_edges(made, weight_fn=float),
        lambda edges: np.array([sum(weight for *_, weight in edges)]),
    )


# -- igraph --------------------------------------------------------------------------------------------------


def igraph_graph(graph, weighted):
    import igraph

    ends = np.stack([graph.sources, graph.targets], axis=1)
    made = igraph.Graph(n=graph.n_vertices, edges=ends, directed=graph.directed)
    if weighted:
        made.es["weight"] = graph.weights.tolist()
    return made


def _igraph_components(graph, _):
    made = igraph_graph(graph, False)
    return lambda: made.connected_components(mode="weak").membership, smallest_labels


def _igraph_distances(graph, source, *, weighted):
    made, weights = igraph_graph(graph, weighted), "weight" if weighted else None
    return lambda: made.distances(source, weights=weights, mode="out")[0], np.asarray


def _igraph_forest(graph, _):
    made = igraph_graph(graph, True)
    return (
        lambda: made.spanning_tree(weights="weight", return_tree=False),
        lambda edges: np.atleast_1d(graph.weights[np.asarray(edges, np.int64)].sum()),
    )


# -- NetworKit -----------------------------------------------------------------------------------------------


def networkit_graph(graph, weighted):
    import networkit as nk

    ends = graph.sources.astype(np.int64), graph.targets.astype(np.int64)
    values = _unweighted(graph.weights if weighted else None, graph.n_edges)
    made = nk.GraphFromCoo((values, ends), n=graph.n_vertices, weighted=weighted, directed=graph.directed)
    return nk, made


def _run(algorithm):
    algorithm.run()
    return algorithm


def _networkit_components(graph, _):
    nk, made = networkit_graph(graph, False)
    find = nk.components.WeaklyConnectedComponents if graph.directed else nk.components.ConnectedComponents

    def read(found):
        if graph.directed:
            return labels_of_sets(found.getComponents(), graph.n_vertices)
        return smallest_labels(found.getPartition().getVector())

    return lambda: _run(find(made)), read


def _networkit_distances(graph, source, *, weighted):
    nk, made = networkit_graph(graph, weighted)
    search = nk.distance.Dijkstra if weighted else nk.distance.BFS

    def read(found):
        distances = np.array(found.getDistances())
        return np.where(distances >= np.finfo(float).max, INFINITY, distances)

    return lambda: _run(search(made, source, False)), read


def _calls(components, distances, forest=None, unweighted=True):
    """What a library solves, by call."""
    calls = {"components": components, "shortest paths": partial(distances, weighted=True)}
    if unweighted:
        calls["bfs"] = partial(distances, weighted=False)
    return calls if forest is None else calls | {"forest": forest}


PEERS = (
    Peer(
        "SciPy",
        "scipy",
        _calls(_scipy_components, _scipy_distances, _scipy_forest),
        max_edges=(1 << 30) - 1,  # its offsets are 32 bits wide
    ),
    Peer("igraph", "igraph", _calls(_igraph_components, _igraph_distances, _igraph_forest)),
    Peer("NetworKit", "networkit", _calls(_networkit_components, _networkit_distances)),
    Peer(
        "rustworkx",
        "rustworkx",
        _calls(_rustworkx_components, _rustworkx_distances, _rustworkx_forest, unweighted=False),
        max_edges=EDGE_BY_EDGE,
    ),
    Peer(
        "NetworkX",
        "networkx",
        _calls(_networkx_components, _networkx_distances, _networkx_forest),
        max_edges=PYTHON_OBJECTS,
    ),
)
