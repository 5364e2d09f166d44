"""NetworkX's functions by NetworkX and by this backend, in one run.

    python bench/networkx_backend.py --warm                          compile first
    python bench/networkx_backend.py --edges 1000000                 a random graph with integer weights
    python bench/networkx_backend.py --edges 1000000 --calls triangles clustering

Both have the same NetworkX graph.  The backend is timed with the converted graph in NetworkX's cache, but
without answers of earlier calls, and the conversion by itself: structure, and weights.  Medians of ``--runs``
calls; of NetworkX one call where it takes longer than ``--limit`` seconds.
"""

import argparse
import random
import time
from collections import deque
from itertools import pairwise

import networkx as nx
import record

from edgewise.networkx.graph import Graph
from edgewise.networkx.interface import BackendInterface

SOURCE = 0
#: Arguments after the graph of each function.
CALLS = {
    "number_connected_components": (),
    "connected_components": (),
    "is_connected": (),
    "node_connected_component": (SOURCE,),
    "number_of_isolates": (),
    "has_path": (SOURCE, 1),
    "bidirectional_shortest_path": (SOURCE, 1),
    "single_source_shortest_path_length": (SOURCE,),
    "single_source_shortest_path": (SOURCE,),
    "predecessor": (SOURCE,),
    "bfs_edges": (SOURCE,),
    "bfs_layers": (SOURCE,),
    "descendants": (SOURCE,),
    "single_source_dijkstra_path_length": (SOURCE,),
    "single_source_dijkstra_path": (SOURCE,),
    "dijkstra_predecessor_and_distance": (SOURCE,),
    "bidirectional_dijkstra": (SOURCE, 1),
    "single_source_bellman_ford_path_length": (SOURCE,),
    "minimum_spanning_edges": (),
    "minimum_spanning_tree": (),
    "triangles": (),
    "clustering": (),
    "transitivity": (),
    "square_clustering": (),
    "generalized_degree": (),
}


def graph_of(edges, seed=1):
    """A random graph with ten entries for each node and weights from 1 to 100."""
    draw, graph = random.Random(seed), nx.gnm_random_graph(edges // 5, edges, seed=seed)
    for _, _, data in graph.edges(data=True):
        data["weight"] = draw.randint(1, 100)
    return graph


def exhausted(result):
    """The same after an iterator has been read to its end."""
    if hasattr(result, "__next__"):
        deque(result, maxlen=0)
    return result


def seconds(call, runs, limit):
    """Times of calls; of one that takes longer than the limit only this one."""
    times = []
    while len(times) < runs and (not times or times[0] < limit):
        start = time.perf_counter()
        exhausted(call())
        times.append(time.perf_counter() - start)
    return times


def measured(name, graph, converted, options):
    """One row of the table."""
    ours, theirs = getattr(BackendInterface, name), getattr(nx, name)

    def call():
        kept = {key: value for key, value in converted._cache.items() if key[0] in ("weights", "checked")}
        converted._cache = kept  # no answers of earlier calls
        return ours(converted, *CALLS[name])

    exhausted(call())  # reads the weights, and compiles
    found = seconds(call, options.runs, options.limit)
    reference = seconds(lambda: theirs(graph, *CALLS[name], backend="networkx"), options.runs, options.limit)
    return {"call": name, "networkx": record.spread(reference), "edgewise": record.spread(found)}


def conversions(graph, runs):
    """Times of converting the structure, and of reading the weights."""
    structure = [time.perf_counter()]
    for _ in range(runs):
        Graph.converted(graph)
        structure.append(time.perf_counter())
    weights, converted = [], None
    for _ in range(runs):
        converted = Graph.converted(graph)
        start = time.perf_counter()
        converted.weights("weight")
        weights.append(time.perf_counter() - start)
    structure = [after - before for before, after in pairwise(structure)]
    return converted, {"structure": record.spread(structure), "weights": record.spread(weights)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--calls", nargs="*", default=list(CALLS), choices=list(CALLS))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=float, default=2.0, help="seconds")
    parser.add_argument("--warm", action="store_true", help="compile, and write nothing")
    options = parser.parse_args()
    graph = graph_of(20_000 if options.warm else options.edges)
    converted, times = conversions(graph, 1 if options.warm else options.runs)
    rows = []
    for name in options.calls:
        row = measured(name, graph, converted, options)
        rows.append(row)
        theirs, ours = row["networkx"]["median"], row["edgewise"]["median"]
        print(f"{name:42s} {theirs:9.4f} s {ours:9.4f} s {theirs / ours:8.1f}", flush=True)
    medians = {name: one["median"] for name, one in times.items()}
    print({name: round(value, 3) for name, value in medians.items()})
    if not options.warm:
        facts = {"nodes": len(graph), "edges": graph.number_of_edges(), "conversion": times}
        print(record.write("networkx-backend", rows, networkx=nx.__version__, **facts))


if __name__ == "__main__":
    main()
