"""SciPy's own tests of ``scipy.sparse.csgraph`` with edgewise's functions in the place of SciPy's.

``python tests/scipy_suite.py`` runs the tests of the SciPy that is installed; further arguments are pytest's.
Shortest paths, components, spanning trees and breadth-first searches are edgewise's; what it lacks, as
depth-first searches (``NOT_OFFERED``), remains SciPy's.  Labels of components are renumbered from 0 on.
Tests in ``EXPECTED`` fail, with the reasons.  The last line tells how many tests called edgewise.
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csgraph, csr_array, csr_matrix, issparse, isspmatrix
from scipy.sparse.csgraph import reconstruct_path
from scipy.sparse.csgraph._validation import validate_graph

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import edgewise as ew
from edgewise.errors import GraphError

#: Tests of functions that edgewise has, by module.
MODULES = ("shortest_path", "spanning_tree", "connected_components", "traversal", "pydata_sparse")
#: Functions of these modules that edgewise does not have, which remain SciPy's.
NOT_OFFERED = ("depth_first_order", "depth_first_tree", "yen")
#: Reasons of failures, by the name of the test.
EXPECTED = {
    "test_predecessors": "of several predecessors it is the least vertex",
}
NONE = -9999
NO_PARAMETERS = SimpleNamespace(params={})
METHODS = {"FW": "floyd-warshall", "D": "sssp", "BF": "johnson", "J": "johnson", "auto": "auto"}
reached: set = set()
current = [""]


def graph_of(matrix, directed, unweighted=False):
    """A graph of the entries of a matrix; without directions each entry is an edge."""
    reached.add(current[0])
    entries = validate_graph(matrix, True, float, dense_output=False).tocoo()
    weights = np.ones_like(entries.data) if unweighted else entries.data
    ends = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
    sources, targets = (np.asarray(column, np.int64) for column in ends)
    made = {"weights": weights, "n_vertices": entries.shape[0], "directed": directed}
    return ew.Graph.from_edges(sources, targets, **made)


def searched(graph, indices, method, limit):
    """Distances and predecessors from each of the sources."""
    n = graph.n_vertices
    flat = np.arange(n) if indices is None else np.atleast_1d(indices).ravel()
    flat = np.where(flat < 0, flat + n, flat)
    try:
        pairs = ew.all_pairs_shortest_paths(graph, method=METHODS[method]) if n else None
    except GraphError as error:
        raise csgraph.NegativeCycleError(str(error)) from None
    distances = np.empty((len(flat), n))
    parents = np.empty((len(flat), n), np.int32)
    for row, source in enumerate(flat.tolist()):
        cutoff = None if np.isinf(limit) else limit
        found = ew.shortest_paths(graph, source, cutoff=cutoff)
        distances[row], parents[row] = found.distances, np.where(found.parents < 0, NONE, found.parents)
        if cutoff is None:
            assert np.allclose(pairs.distances[source], distances[row])
    shape = (n,) if indices is None else np.shape(indices)
    shape = (n, n) if indices is None else (*shape, n)
    return distances.reshape(shape), parents.reshape(shape)


def shortest_path(
    csgraph,
    method="auto",
    directed=True,
    return_predecessors=False,
    unweighted=False,
    overwrite=False,
    indices=None,
    limit=np.inf,
    min_only=False,
):
    if method not in METHODS:
        raise ValueError(f"unrecognized method '{method}'")
    if method == "FW" and indices is not None:
        raise ValueError("Cannot specify indices with method == 'FW'.")
    graph = graph_of(csgraph, directed, unweighted)
    n = graph.n_vertices
    if indices is not None and ((np.asarray(indices) >= n) | (np.asarray(indices) < -n)).any():
        raise ValueError("indices out of range 0...N")
    if not isinstance(limit, (int, float)) or limit < 0:
        raise (TypeError if not isinstance(limit, (int, float)) else ValueError)(
            "limit must be a number >= 0"
        )
    if min_only:
        return from_nearest(graph, indices, limit, return_predecessors)
    distances, parents = searched(graph, indices, method, limit)
    return (distances, parents) if return_predecessors else distances


def from_nearest(graph, indices, limit, return_predecessors):
    """Distances from the nearest source, predecessors, and that source."""
    starts = np.arange(graph.n_vertices) if indices is None else np.atleast_1d(indices).ravel()
    found = ew.shortest_paths(graph, starts, cutoff=None if np.isinf(limit) else limit)
    distances, parents = found.distances.astype(float), found.parents
    if not return_predecessors:
        return distances
    sources = np.full(graph.n_vertices, NONE, np.int32)
    for vertex in np.flatnonzero(found.reachable).tolist():
        path = found.path_to(vertex)
        sources[vertex] = path[0]
    return distances, np.where(parents < 0, NONE, parents).astype(np.int32), sources


def by(method):
    def call(csgraph, directed=True, indices=None, return_predecessors=False, unweighted=False, **options):
        options.pop("overwrite", None)
        given = {"indices": indices, "return_predecessors": return_predecessors, "unweighted": unweighted}
        return shortest_path(csgraph, method, directed, **given, **options)

    return call


def floyd_warshall(csgraph, directed=True, return_predecessors=False, unweighted=False, overwrite=False):
    return shortest_path(csgraph, "FW", directed, return_predecessors, unweighted)


def connected_components(csgraph, directed=True, connection="weak", return_labels=True):
    if connection not in ("weak", "strong"):
        raise ValueError("connection must be 'weak' or 'strong'")
    graph = graph_of(csgraph, directed)
    strong = directed and connection == "strong"
    found = (ew.strongly_connected_components if strong else ew.connected_components)(graph)
    _, labels = np.unique(found.labels, return_inverse=True)
    return (found.count, labels.astype(np.int32)) if return_labels else found.count


def minimum_spanning_tree(csgraph, overwrite=False):
    graph = graph_of(csgraph, False)
    found = ew.minimum_spanning_forest(graph).edges
    ends, n = (graph.sources[found].astype(np.int32), graph.targets[found].astype(np.int32)), graph.n_vertices
    kind = csr_matrix if isspmatrix(csgraph) or not issparse(csgraph) else csr_array
    return kind((graph.weights[found], ends), shape=(n, n))


def breadth_first_order(csgraph, i_start, directed=True, return_predecessors=True):
    found = ew.bfs(graph_of(csgraph, directed), i_start)
    parents = found.parents.astype(np.int32)
    # as SciPy has it: by distance, the children of one parent together
    at = {-1: -1}
    for distance in range(int(found.distances.max()) + 1):
        level = np.flatnonzero(found.distances == distance).tolist()
        for vertex in sorted(level, key=lambda vertex: (at[int(parents[vertex])], vertex)):
            at[vertex] = len(at) - 1
    order = np.array(list(at)[1:], np.int32)
    return (order, np.where(parents < 0, NONE, parents)) if return_predecessors else order


def breadth_first_tree(csgraph, i_start, directed=True):
    _, parents = breadth_first_order(csgraph, i_start, directed)
    return reconstruct_path(csgraph, parents, directed)


SHIM = {
    "shortest_path": shortest_path,
    "dijkstra": by("D"),
    "bellman_ford": by("BF"),
    "johnson": by("J"),
    "floyd_warshall": floyd_warshall,
    "connected_components": connected_components,
    "minimum_spanning_tree": minimum_spanning_tree,
    "breadth_first_order": breadth_first_order,
    "breadth_first_tree": breadth_first_tree,
}


class Plugin:
    """Puts the functions in place, and marks the tests that are expected to fail."""

    def pytest_collection_modifyitems(self, items):
        for item in items:
            for name, function in SHIM.items():
                if hasattr(item.module, name):
                    setattr(item.module, name, function)
            for name, value in getattr(item, "callspec", NO_PARAMETERS).params.items():
                if callable(value):
                    item.callspec.params[name] = SHIM.get(value.__name__, value)
            name = item.name.partition("[")[0]
            if name in EXPECTED:
                item.add_marker(pytest.mark.xfail(reason=EXPECTED[name]))

    def pytest_runtest_setup(self, item):
        current[0] = item.nodeid


def main(arguments):
    modules = [f"scipy.sparse.csgraph.tests.test_{name}" for name in MODULES]
    options = ["-q", "-p", "no:cacheprovider", *arguments, "--pyargs", *modules]
    status = pytest.main(options, plugins=[Plugin()])
    print(f"{len(reached)} tests called edgewise")
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
