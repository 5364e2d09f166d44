"""What NetworkX is told about the edgewise backend at ``import networkx``.

NetworkX calls :func:`get_info` every time that it is imported, so this module imports nothing.  The tables
below are those of ``edgewise.networkx.registry``; ``python tests/networkx/test_registry.py`` writes them.
"""

import os

#: Page of ``edgewise.networkx`` of each function.
# <pages>
PAGES = {
    "all_pairs_bellman_ford_path": "bellman_ford",
    "all_pairs_bellman_ford_path_length": "bellman_ford",
    "all_pairs_dijkstra": "weighted",
    "all_pairs_dijkstra_path": "weighted",
    "all_pairs_dijkstra_path_length": "weighted",
    "all_pairs_shortest_path": "unweighted",
    "all_pairs_shortest_path_length": "unweighted",
    "all_shortest_paths": "generic",
    "ancestors": "unweighted",
    "average_clustering": "triangles",
    "average_shortest_path_length": "generic",
    "bellman_ford_path": "bellman_ford",
    "bellman_ford_path_length": "bellman_ford",
    "bellman_ford_predecessor_and_distance": "bellman_ford",
    "betweenness_centrality": "centrality",
    "bfs_edges": "unweighted",
    "bfs_layers": "unweighted",
    "bfs_predecessors": "unweighted",
    "bfs_successors": "unweighted",
    "bfs_tree": "unweighted",
    "bidirectional_dijkstra": "weighted",
    "bidirectional_shortest_path": "unweighted",
    "boruvka_mst_edges": "spanning",
    "center": "distances",
    "closeness_centrality": "centrality",
    "clustering": "triangles",
    "condensation": "strong",
    "connected_components": "components",
    "core_number": "cores",
    "descendants": "unweighted",
    "descendants_at_distance": "unweighted",
    "diameter": "distances",
    "dijkstra_path": "weighted",
    "dijkstra_path_length": "weighted",
    "dijkstra_predecessor_and_distance": "weighted",
    "eccentricity": "distances",
    "edge_betweenness_centrality": "centrality",
    "find_negative_cycle": "bellman_ford",
    "floyd_warshall": "dense",
    "floyd_warshall_numpy": "dense",
    "floyd_warshall_predecessor_and_distance": "dense",
    "from_pandas_edgelist": "converters",
    "from_scipy_sparse_array": "converters",
    "generalized_degree": "triangles",
    "generic_bfs_edges": "unweighted",
    "harmonic_centrality": "centrality",
    "has_path": "unweighted",
    "is_connected": "components",
    "is_strongly_connected": "strong",
    "is_weakly_connected": "components",
    "isolates": "components",
    "johnson": "bellman_ford",
    "k_core": "cores",
    "k_corona": "cores",
    "k_crust": "cores",
    "k_shell": "cores",
    "kruskal_mst_edges": "spanning",
    "maximum_spanning_edges": "spanning",
    "maximum_spanning_tree": "spanning",
    "minimum_spanning_edges": "spanning",
    "minimum_spanning_tree": "spanning",
    "multi_source_dijkstra": "weighted",
    "multi_source_dijkstra_path": "weighted",
    "multi_source_dijkstra_path_length": "weighted",
    "negative_edge_cycle": "bellman_ford",
    "node_connected_component": "components",
    "number_connected_components": "components",
    "number_of_isolates": "components",
    "number_strongly_connected_components": "strong",
    "number_weakly_connected_components": "components",
    "periphery": "distances",
    "predecessor": "unweighted",
    "prim_mst_edges": "spanning",
    "radius": "distances",
    "shortest_path": "generic",
    "shortest_path_length": "generic",
    "single_source_bellman_ford": "bellman_ford",
    "single_source_bellman_ford_path": "bellman_ford",
    "single_source_bellman_ford_path_length": "bellman_ford",
    "single_source_dijkstra": "weighted",
    "single_source_dijkstra_path": "weighted",
    "single_source_dijkstra_path_length": "weighted",
    "single_source_shortest_path": "unweighted",
    "single_source_shortest_path_length": "unweighted",
    "single_target_shortest_path": "unweighted",
    "single_target_shortest_path_length": "unweighted",
    "square_clustering": "triangles",
    "strongly_connected_components": "strong",
    "transitivity": "triangles",
    "triangles": "triangles",
    "weakly_connected_components": "components",
}
# </pages>

#: What differs from NetworkX.
# <notes>
NOTES = {
    "average_shortest_path_length": "sums of floats may be rounded in another order",
    "betweenness_centrality": "sums of floats may be rounded in another order",
    "boruvka_mst_edges": "the edges are those of Kruskal's algorithm, in its order",
    "closeness_centrality": "sums of integers beyond 2**53 are rounded",
    "condensation": "the nodes of a component are in another order",
    "edge_betweenness_centrality": "sums of floats may be rounded in another order",
    "floyd_warshall": "floats may be rounded in another order; distances are in the order of the nodes",
    "floyd_warshall_numpy": "sums of floats may be rounded in another order",
    "floyd_warshall_predecessor_and_distance": "distances are in the order of the nodes",
    "from_pandas_edgelist": 'returns a graph of this backend; only with `backend="edgewise"`',
    "from_scipy_sparse_array": 'returns a graph of this backend; only with `backend="edgewise"`',
    "generalized_degree": "the entries of a counter are in ascending order",
    "harmonic_centrality": "sums of floats may be rounded in another order",
    "kruskal_mst_edges": "the edges are those of Kruskal's algorithm, in its order",
    "maximum_spanning_edges": "the edges are those of Kruskal's algorithm, in its order",
    "maximum_spanning_tree": "the edges are those of Kruskal's algorithm, in its order",
    "minimum_spanning_edges": "the edges are those of Kruskal's algorithm, in its order",
    "minimum_spanning_tree": "the edges are those of Kruskal's algorithm, in its order",
    "prim_mst_edges": "the edges are those of Kruskal's algorithm, in its order",
    "shortest_path": "`shortest_path(G)` returns an iterator, as NetworkX does",
    "shortest_path_length": "`shortest_path_length(G)` returns an iterator, as NetworkX does",
    "square_clustering": "zeros are floats",
}
# </notes>

_ON = ("1", "true", "yes", "on")


def get_info():
    """The name of the backend, its functions and its configuration, as a dict."""
    if os.environ.get("EDGEWISE_NX_AUTOCONFIG", "").lower() in _ON:
        _configure()
    return {
        "backend_name": "edgewise",
        "project": "edgewise",
        "package": "edgewise",
        "short_summary": "Graph analytics on every core of a CPU and on NVIDIA GPUs",
        "default_config": {},
        "functions": {name: {"additional_docs": NOTES.get(name, "")} for name in PAGES},
    }


def _configure():
    """Set NetworkX to use the backend for algorithms, and not to warn that it keeps converted graphs."""
    os.environ.setdefault("NETWORKX_BACKEND_PRIORITY_ALGOS", "edgewise")
    os.environ.setdefault("NETWORKX_CACHE_CONVERTED_GRAPHS", "True")
    os.environ.setdefault("NETWORKX_FALLBACK_TO_NX", "True")
    os.environ.setdefault("NETWORKX_WARNINGS_TO_IGNORE", "cache")
