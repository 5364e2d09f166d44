"""All pairs on the CPU: a sparse graph and matrices of dense ones, held against SciPy and networkit.

    python bench/apsp.py                   n = 4000 of mean degree 6, weights 1-10; dense n = 1024 to 4096
    python bench/apsp.py --dense 1024      other sizes of matrices

Ours and the peers run in turn, so that a busy neighbour troubles all alike; the least time of each counts.
All distances are compared.  graph-tool cannot be installed by pip: its time is networkit's on one thread,
times what was measured for both on one machine (1574 ms to 2019 ms for this graph), halved for two threads.
"""

import argparse
import sys
import time

import numpy as np
import record
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import dijkstra, floyd_warshall, johnson

import edgewise as ew
from edgewise.device import threads
from edgewise.paths.apsp import all_pairs_shortest_paths

#: graph-tool's time for the sparse graph, in units of networkit's, one thread each.
GRAPH_TOOL = 1574 / 2019
RUNS = 5


def sparse_graph(vertices, degree, seed=0):
    """Random ends, weights 1 to 10, loops and repeated edges left out."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, vertices, (2, vertices * degree // 2))
    weights = rng.integers(1, 11, ends.shape[1], dtype=np.int32)
    graph = ew.Graph.from_edges(*ends, weights=weights, n_vertices=vertices)
    return graph.simplified(repeated="min")


def matrix_of(graph):
    """SciPy's matrix of a graph, both directions of each edge."""
    rows = np.repeat(np.arange(graph.n_vertices), np.diff(graph.offsets))
    ends = rows, graph.neighbours.astype(np.int64)
    return csr_array(coo_array((graph.csr_weights.astype(float), ends), shape=(graph.n_vertices,) * 2))


def of_networkit(graph, count):
    """A call that runs networkit's APSP, or ``None`` where it is not installed."""
    try:
        import networkit
    except ImportError:
        return None
    theirs = networkit.Graph(graph.n_vertices, weighted=True)
    for source, target, weight in zip(graph.sources, graph.targets, graph.weights):
        theirs.addEdge(int(source), int(target), float(weight))

    def run():
        networkit.setNumberOfThreads(count)
        return np.array(networkit.distance.APSP(theirs).run().getDistances())

    def timed():
        networkit.setNumberOfThreads(count)
        search = networkit.distance.APSP(theirs)
        start = time.perf_counter()
        search.run()
        return time.perf_counter() - start

    return timed, run


def clocked(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def in_turn(ways, runs):
    """Spread of the seconds of each way, all run in turn."""
    times = {name: [] for name in ways}
    for _ in range(runs):
        for name, way in ways.items():
            times[name].append(way())
    return {name: record.spread(seconds) for name, seconds in times.items()}


def finite(result):
    return np.where(result.distances == result.unreached, np.inf, result.distances.astype(float))


def sparse(vertices, degree, runs):
    """Searches from all vertices of a sparse graph."""
    graph, count = sparse_graph(vertices, degree), threads.count()
    theirs = matrix_of(graph)
    expected = dijkstra(theirs)
    ways = {}
    for method in ("sssp", "johnson", "floyd-warshall"):
        result = all_pairs_shortest_paths(graph, method=method)
        check(finite(result), expected, method)
        ways[method] = lambda method=method: clocked(lambda: all_pairs_shortest_paths(graph, method=method))
    ways["scipy dijkstra"] = lambda: clocked(lambda: dijkstra(theirs))
    ways["scipy johnson"] = lambda: clocked(lambda: johnson(theirs))
    networkit = of_networkit(graph, count)
    if networkit:
        found = networkit[1]()
        check(np.where(found > 1e300, np.inf, found), expected, "networkit")
        ways[f"networkit, {count} threads"] = networkit[0]
        ways["networkit, 1 thread"] = of_networkit(graph, 1)[0]
    times = in_turn(ways, runs)
    if networkit:
        least = times["networkit, 1 thread"]["least"] * GRAPH_TOOL / count
        times[f"graph-tool, {count} threads (inferred)"] = record.spread([least])
    return rows_for(f"random, degree {degree}", graph, times)


def dense(vertices, runs):
    """Matrices of complete graphs with random weights."""
    rng = np.random.default_rng(1)
    matrix = rng.integers(1, 1000, (vertices, vertices)).astype(np.int32)
    np.fill_diagonal(matrix, 0)
    targets = np.tile(np.arange(vertices), vertices)
    offsets = np.arange(vertices + 1) * vertices
    graph = ew.Graph.from_csr(offsets, targets, weights=matrix.ravel(), directed=True)
    theirs = matrix.astype(float)
    expected = {}

    def scipy():
        start = time.perf_counter()
        expected["distances"] = floyd_warshall(theirs)
        return time.perf_counter() - start

    first = scipy()  # minutes for large ones, so that once must do
    result = all_pairs_shortest_paths(graph, method="floyd-warshall")
    check(finite(result), expected["distances"], "floyd-warshall")
    ways = {
        "floyd-warshall": lambda: clocked(lambda: all_pairs_shortest_paths(graph, method="floyd-warshall"))
    }
    if vertices <= 1024:
        ways["scipy floyd_warshall"] = scipy
        one = all_pairs_shortest_paths(graph, method="floyd-warshall-simple")
        check(finite(one), expected["distances"], "floyd-warshall-simple")
        simple = {"method": "floyd-warshall-simple"}
        ways["floyd-warshall-simple"] = lambda: clocked(lambda: all_pairs_shortest_paths(graph, **simple))
    times = in_turn(ways, runs)
    times.setdefault("scipy floyd_warshall", record.spread([first]))
    return rows_for("dense", graph, times, vertices**3)


def check(found, expected, name):
    if not (found == expected).all():
        sys.exit(f"{name}: some distances are WRONG")


def rows_for(kind, graph, times, updates=None):
    """Rows of the table: what each way took, and what the best peer took in units of ours."""
    peers = {name: t["least"] for name, t in times.items() if name.split(",")[0].split()[0] in PEERS}
    best = min(peers.values())
    print(f"{kind}, {graph}")
    for name, seconds in times.items():
        ours = name not in peers
        row = {"graph": kind, "vertices": graph.n_vertices, "way": name, "s": seconds}
        row |= {"speedup": best / seconds["least"]} if ours else {}
        row |= {"g_updates_s": updates / seconds["least"] / 1e9} if ours and updates else {}
        shown = f"  {name:36s} {seconds['least']:9.3f} s least, {seconds['median']:9.3f} s median"
        shown += f"   {row['speedup']:6.1f}x the best peer" if ours else ""
        print(shown + (f"   {row['g_updates_s']:5.1f} G/s" if "g_updates_s" in row else ""), flush=True)
        yield row


PEERS = {"scipy", "networkit", "graph-tool"}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vertices", type=int, default=4000)
    parser.add_argument("--degree", type=int, default=6)
    parser.add_argument("--dense", type=int, nargs="*", default=[1024, 2048, 4096])
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    rows = list(sparse(options.vertices, options.degree, options.runs))
    for vertices in options.dense:
        rows += dense(vertices, options.runs)
    record.write("apsp-cpu", rows, threads=threads.count())


if __name__ == "__main__":
    sys.exit(main())
