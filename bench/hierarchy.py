"""Searches by a contraction hierarchy beside searches by levels, on one GPU.

    python bench/hierarchy.py [--roads FILE] [--runs 9]

Paths, one path, grids and streets with a vertex at every bend (OpenStreetMap's of Luxembourg, alone and
sixteen copies), weights 1 to 255, from two sources.  The elimination is timed by itself, with what it
allocates; calls are whole public calls, on a new graph over the same arrays, which eliminates first, and on a
warm one.  Medians; the answers of both methods must be the same.
"""

import argparse
import time
from pathlib import Path

import cupy
import record

import edgewise as ew
from edgewise.paths.csr import adjacency_of
from edgewise.paths.sssp.contraction_hierarchy import hierarchy_of
from edgewise.paths.sssp.weights import rows_in

ROADS = Path(__file__).parents[2] / "shared" / "data" / "luxembourg_osm" / "luxembourg_osm.mtx.gz"
NAME = "contraction-hierarchy"
#: By problem: the call, the method that searches by levels, and the rows that it reads.
SEARCHES = {
    "bfs": (ew.bfs, "cooperative", adjacency_of),
    "sssp": (ew.shortest_paths, "near-far", rows_in),
}


def graphs(roads):
    """Name and maker of each graph, on the GPU."""
    for k in (16, 19, 22):
        yield f"paths, 2^{k}", lambda k=k: ew.generate.paths(2**k, device="cuda")
    yield "paths, 2^22, random ids", lambda: ew.generate.paths(2**22, shuffle=True, device="cuda")
    yield "one path, 2^16", lambda: ew.generate.paths(2**16, mean_length=2.0**32, branches=0, device="cuda")
    if roads.exists():
        yield "Luxembourg", lambda: without_ids(ew.read(roads)).to("cuda")
        yield (
            "Luxembourg, 16 copies",
            lambda: ew.generate.replicate(without_ids(ew.read(roads)), 16).to("cuda"),
        )
    for k in (16, 20, 22, 24):
        yield f"grid, 2^{k}", lambda k=k: ew.generate.grid(2 ** (k // 2), dropped=0.25, device="cuda")


def without_ids(graph):
    return ew.Graph(graph.n_vertices, edges=(graph.sources, graph.targets, None))


def times(action, runs):
    """Milliseconds of an action, with all that the GPU does for it; also its last value."""
    spent = []
    for _ in range(runs):
        cupy.cuda.runtime.deviceSynchronize()
        start = time.perf_counter()
        value = action()
        cupy.cuda.runtime.deviceSynchronize()
        spent.append(1e3 * (time.perf_counter() - start))
    return record.spread(spent), value


def measure(name, held, problem, runs):
    """A row of one graph, of which rows and weights are held, and one problem."""
    call, levels, rows_of = SEARCHES[problem]
    n = len(held[0]) - 1

    def new():
        return ew.Graph(n, rows=(*held[:2], held[2] if problem == "sssp" else None))

    warm, found = new(), {}
    built, hierarchy = times(lambda: hierarchy_of(rows_of(warm)), runs)
    row = {"graph": name, "vertices": n, "entries": len(held[1]), "problem": problem}
    row |= {
        "auto": call(new().prepare("searches"), 0).method,
        "rounds": hierarchy.n_rounds,
        "core": hierarchy.core_size,
    }
    row |= {"elimination_ms": built, "calls": {}}
    for method in (levels, NAME):

        def searched(graph, source, method=method):
            return call(graph, source, method=method).distances

        searched(new(), 0)
        spent = {"fresh": times(lambda search=searched: search(new(), n // 2), runs)[0], "warm": []}
        for source in (n // 2, n // 3):
            of_source, distances = times(lambda search=searched, at=source: search(warm, at), runs)
            spent["warm"].append(of_source)
            found.setdefault(source, []).append(distances)
        row["calls"][method] = spent
    if not all(bool((one == other).all()) for one, other in found.values()):
        raise SystemExit(f"{name}, {problem}: the methods give different answers")
    print(line(row), flush=True)
    return row


def line(row):
    """A line about a row."""
    words = [f"{row['graph']:24s} {row['problem']:5s} auto {row['auto']}, {row['rounds']} rounds"]
    words.append(f"core {row['core']}, elimination {row['elimination_ms']['median']:.3f} ms")
    for method, spent in row["calls"].items():
        warm = " ".join(f"{one['median']:.3f}" for one in spent["warm"])
        words.append(f"{method} fresh {spent['fresh']['median']:.3f} warm {warm}")
    return ", ".join(words)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--roads", type=Path, default=ROADS)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    rows = []
    for name, make in graphs(options.roads):
        graph = ew.generate.with_weights(make(), 1, 255)
        held = graph.offsets, graph.neighbours, graph.csr_weights
        rows += [measure(name, held, problem, options.runs) for problem in SEARCHES]
    print(record.write("hierarchy-gpu", rows))


if __name__ == "__main__":
    main()
