"""Breadth-first search and shortest paths on one GPU.

    python bench/paths_gpu.py [GRAPH ...]

The four graphs of the GPU table, weights 1 to 100 (roads 1 to 10,000), from the vertex of highest degree.
Times are taken with device events, warm, median of nine, the rows resident; making the graph, its rows and
the first call (compiling) are columns of their own.  Contraction hierarchies, which are prepared once for
each graph, have a page of their own (``hierarchy.py``).  Distances are right if every vertex that is reached
has the least of its neighbours' distances plus the weight of the edge, and a vertex that is not reached has
no neighbour that is.
"""

import sys

import cupy
import cupyx
import numpy as np
import record
from components import event_times, wall

import edgewise as ew
from edgewise.generators.derived import with_weights
from edgewise.paths.bfs import METHODS as BFS
from edgewise.paths.bfs import NO_CUTOFF
from edgewise.paths.csr import adjacency_of, unreached
from edgewise.paths.sssp import METHODS as SSSP
from edgewise.paths.sssp.weights import limit_in, rows_in

GRAPHS = ("rmat22", "uniform22", "rgg21", "road4096-dense")
#: What is to be reached, in ms.
BARS = {
    "bfs": {"rmat22": 2.0, "uniform22": 1.5, "rgg21": 5, "road4096-dense": 25},
    "sssp": {"rmat22": 8, "uniform22": 8, "rgg21": 12, "road4096-dense": 60},
}
#: Least time in ms: bytes that must move over 4.3 TB/s (4, or 8 with weights, an entry of a vertex that is
#: reached, 28 a vertex).
BANDWIDTH = 4.3e9
#: The teaching methods make a pass over all vertices a round: not thousands of them.
SLOW = {("harish", "road4096-dense")}


def measure(name):
    graph, made = wall(lambda: with_weights(ew.generate.named(name, device="cuda"), 1, heaviest(name)), cupy)
    _, built = wall(lambda: graph.offsets, cupy)
    source = int(cupy.diff(graph.offsets).argmax())
    facts = {
        "graph": name,
        "vertices": graph.n_vertices,
        "entries": len(graph.neighbours),
        "source": source,
        "generate_s": made,
        "rows_s": built,
    }
    print(f"{name}: {graph}", flush=True)
    sources, rows = np.array([source]), []
    for problem, methods, view in (
        ("bfs", BFS, adjacency_of(graph)),
        ("sssp", SSSP, rows_in(graph, "int32")),
    ):
        limit = NO_CUTOFF if problem == "bfs" else limit_in(None, np.int32)
        for method, found in methods.items():
            if "cuda" in found.devices and found.directed and (method, name) not in SLOW:
                rows.append(timed(problem, method, found.run, view, sources, limit, facts))
    return rows


def best_peer(problem, graph):
    """Milliseconds of the fastest peer of a search."""
    mine = [peer["ms"] for peer in record.peers("gpu-searches") if peer["problem"] == problem]
    return min(ms[graph] for ms in mine if graph in ms)


def timed(problem, method, run, view, sources, limit, facts):
    def act():
        distances = run(view, sources, limit)
        return distances[0] if isinstance(distances, tuple) else distances

    distances, first = wall(act, cupy)
    ms, name = record.spread(event_times(act, cupy)), facts["graph"]
    reached = distances != unreached(np.int32)
    bytes_moved = float((cupy.diff(view.offsets) * reached).sum()) * (4 if problem == "bfs" else 8)
    floor = (bytes_moved + 28 * len(distances)) / BANDWIDTH
    row = {
        **facts,
        "problem": problem,
        "method": method,
        "right": right(view, distances, sources[0]),
        "reached": int(reached.sum()),
        "furthest": int(distances[reached].max()),
        "ms": ms,
        "first_s": first,
        "floor_ms": floor,
        "bar_ms": BARS[problem][name],
        "best_peer_ms": best_peer(problem, name),
    }
    print(
        f"  {problem:5s} {method:14s} {ms['median']:9.3f} ms ({ms['least']:.3f} to {ms['largest']:.3f})  bar "
        f"{row['bar_ms']}, best peer {row['best_peer_ms']}, {ms['median'] / floor:.0f} x floor "
        f"{floor:.2f}  {'right' if row['right'] else 'WRONG'}",
        flush=True,
    )
    return row


def right(view, distances, source, at_once=1 << 20):
    """Whether every distance is the least that the neighbours offer; the rows go both ways."""
    none, n = int(unreached(np.int32)), len(distances)
    least = cupy.full(n, none, np.int64)
    for first in range(0, n, at_once):
        begin, end = (int(view.offsets[v]) for v in (first, min(first + at_once, n)))
        if begin == end:
            continue
        row = cupy.searchsorted(view.offsets, cupy.arange(begin, end), side="right") - 1
        offered = distances[view.neighbours[begin:end]].astype(np.int64)
        step = view.weights[begin:end] if len(view.weights) else 1
        cupyx.scatter_min(least, row, cupy.where(offered == none, none, offered + step))
    least[source] = 0
    return bool((least == distances).all())


def heaviest(name):
    return 10_000 if name.startswith("road") else 100


def main():
    rows = [row for name in sys.argv[1:] or GRAPHS for row in measure(name)]
    print(record.write("paths-gpu", rows))
    if not all(row["right"] for row in rows):
        sys.exit("WRONG distances")


if __name__ == "__main__":
    main()
