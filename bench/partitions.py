"""Cut and time of partitions beside METIS (pymetis) and KaMinPar, in one run.

    python bench/partitions.py --peers /path/to/another/python          # writes results/partitions-cpu.json
    python bench/partitions.py --device cuda --large                    # writes results/partitions-gpu.json

The peers run in the interpreter that --peers names, one process for each graph, which reads the rows from a
temporary file.  Their seconds are those of the partition alone, from rows in memory.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import record

import edgewise as ew

#: Graphs by name, small and large.
SMALL = {
    "delaunay17": lambda **how: ew.generate.delaunay(2**17, seed=1),
    "rgg17": lambda **how: ew.generate.rgg(2**17, mean_degree=11.2, seed=1),
    "grid27": lambda **how: ew.generate.stencil3d(50, 50, 50),
    "grid2d": lambda **how: ew.generate.grid(300, 300),
    "rmat16": lambda **how: ew.generate.rmat(16, edge_factor=16, seed=1).simplified(),
}
LARGE = {
    "stencil100": lambda **how: ew.generate.stencil3d(100, **how),
    "rgg20": lambda **how: ew.generate.rgg(2**20, mean_degree=14, seed=1, **how),
    "rmat20": lambda **how: ew.generate.rmat(20, edge_factor=16, simple=True, seed=1, **how),
}
#: What a peer's process runs; it prints one row of JSON for each run.
PEER = """
import json, sys, time
import numpy as np
rows = np.load(sys.argv[1])
offsets, neighbours = rows["offsets"], rows["neighbours"]
parts, seeds, threads = json.loads(sys.argv[2])
try:
    import pymetis
    adjacency = pymetis.CSRAdjacency(offsets.astype(np.int32), neighbours.astype(np.int32))
    for k in parts:
        for seed in seeds:
            options = pymetis.Options(seed=seed, ufactor=30)
            start = time.perf_counter()
            cut, _ = pymetis.part_graph(k, adjacency=adjacency, recursive=False, options=options)
            seconds = time.perf_counter() - start
            print(json.dumps({"method": "METIS k-way", "k": k, "seed": seed, "cut": cut, "seconds": seconds}))
except ImportError:
    pass
try:
    import kaminpar
    with open(sys.argv[1] + ".graph", "w") as file:
        file.write(f"{len(offsets) - 1} {len(neighbours) // 2}\\n")
        for row in range(len(offsets) - 1):
            file.write(" ".join(map(str, (neighbours[offsets[row]:offsets[row + 1]] + 1).tolist())) + "\\n")
    graph = kaminpar.load_graph(sys.argv[1] + ".graph", kaminpar.GraphFileFormat.METIS)
    for k in parts:
        for seed in seeds:
            kaminpar.reseed(seed)
            start = time.perf_counter()
            solver = kaminpar.KaMinPar(threads, kaminpar.default_context())
            found = solver.compute_partition(graph, k, 0.03)
            seconds = time.perf_counter() - start
            cut = kaminpar.edge_cut(graph, found)
            print(json.dumps({"method": "KaMinPar", "k": k, "seed": seed, "cut": cut, "seconds": seconds}))
except ImportError:
    pass
"""


def rows_of(name, make, device):
    """The graph, made of rows only, on a device."""
    graph = make(device=device) if name in LARGE else make().to(device)
    return ew.Graph(graph.n_vertices, rows=(graph.offsets, graph.neighbours, None))


def ours(graph, options):
    """One row for each preset, number of parts and seed."""
    ew.partition(graph, 2)  # compiles
    for preset in options.presets:
        for k in options.parts:
            for seed in options.seeds:
                start = time.perf_counter()
                found = ew.partition(graph, k, preset=preset, seed=seed)
                seconds = time.perf_counter() - start
                yield {
                    "method": preset,
                    "k": k,
                    "seed": seed,
                    "cut": found.edge_cut,
                    "seconds": seconds,
                    "imbalance": round(found.imbalance, 5),
                }


def peers(graph, options, threads):
    """The rows of the peers that the other interpreter has."""
    if options.peers is None:
        return []
    host = graph.to("cpu")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, offsets=host.offsets, neighbours=host.neighbours.astype(np.int64))
        what = json.dumps([options.parts, options.seeds, threads])
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        words = [options.peers, "-c", PEER, str(path), what]
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
    print(done.stderr[-300:], file=sys.stderr, end="")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def summary(rows):
    """Cut of each method over that of METIS, and its time: geometric means over graphs, parts and seeds."""
    by = {}
    for row in rows:
        by.setdefault((row["graph"], row["k"], row["method"]), []).append((row["cut"], row["seconds"]))
    means = {key: np.exp(np.log(np.maximum(values, 1e-9)).mean(axis=0)) for key, values in by.items()}
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        for graph in dict.fromkeys(row["graph"] for row in rows):
            cells = [
                means[graph, k, method] / means[graph, k, "METIS k-way"]
                for (g, k, m) in means
                if g == graph and m == method and (graph, k, "METIS k-way") in means
            ]
            if cells:
                cut, seconds = np.exp(np.log(cells).mean(axis=0))
                lines.append((method, graph, f"{cut:.3f}", f"{seconds:.2f}"))
    return record.table(("method", "graph", "cut / METIS", "time / METIS"), lines)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graphs", nargs="+", choices=[*SMALL, *LARGE])
    parser.add_argument("--large", action="store_true", help="the large graphs instead of the small ones")
    parser.add_argument("--parts", nargs="+", type=int, default=[2, 8, 64])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--presets", nargs="+", default=["fast", "default", "strong"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--peers", help="Python interpreter with pymetis and kaminpar")
    parser.add_argument("--name", help="name of the results")
    options = parser.parse_args()
    graphs, rows = (LARGE if options.large else SMALL), []
    from edgewise.device import threads

    for name in options.graphs or graphs:
        graph = rows_of(name, (SMALL | LARGE)[name], options.device)
        size = {"graph": name, "vertices": graph.n_vertices, "edges": graph.n_edges, "device": options.device}
        found = [*ours(graph, options), *peers(graph, options, threads.count())]
        rows += [size | row for row in found]
        print(f"{name}: {len(found)} runs", flush=True)
    kind = "cpu" if options.device == "cpu" else "gpu"
    print(record.write(options.name or f"partitions-{kind}", rows, threads=threads.count()))
    print(summary(rows))


if __name__ == "__main__":
    main()
