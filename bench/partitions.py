"""Cut and time of partitions beside METIS (pymetis), KaMinPar and Mt-KaHyPar, in one run.

    python bench/partitions.py --peers /path/to/another/python     # writes results/partitions-meshes-cpu.json
    python bench/partitions.py --kind walshaw --data ../shared/data
    python bench/partitions.py --kind large --device cuda          # writes results/partitions-large-gpu.json

The peers run in the interpreter that --peers names, one process for each graph, which reads the rows from a
temporary file (``partition_peers.py``).  All seconds are those of the partition alone, from rows in memory.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import record
from partition_peers import PEERS

import edgewise as ew
from edgewise.device import threads


def barabasi_albert(n, degree, seed):
    """Each vertex has edges to ``degree`` earlier ones, drawn by their numbers of edges."""
    draw = np.random.default_rng(seed)
    ends, filled, chosen = np.empty(2 * n * degree, np.int64), 0, np.arange(degree)
    for vertex in range(degree, n):
        ends[filled : filled + degree], ends[filled + degree : filled + 2 * degree] = chosen, vertex
        filled, found = filled + 2 * degree, set()
        while len(found) < degree:
            found.update(ends[draw.integers(0, filled, degree - len(found))].tolist())
        chosen = np.fromiter(found, np.int64)
    pairs = ends[:filled].reshape(-1, 2, degree)
    return ew.Graph.from_edges(pairs[:, 0].ravel(), pairs[:, 1].ravel(), n_vertices=n).simplified()


#: Graphs by kind of run and name.
KINDS = {
    "meshes": {
        "delaunay17": lambda **how: ew.generate.delaunay(2**17, seed=1),
        "rgg17": lambda **how: ew.generate.rgg(2**17, mean_degree=11.2, seed=1),
        "grid27": lambda **how: ew.generate.stencil3d(50, 50, 50),
        "grid2d": lambda **how: ew.generate.grid(300, 300),
    },
    "irregular": {
        "rmat16": lambda **how: ew.generate.rmat(16, edge_factor=16, seed=1).simplified(),
        "ba100k": lambda **how: barabasi_albert(100_000, 8, 1),
    },
    "time": {
        "grid27": lambda **how: ew.generate.stencil3d(50, 50, 50),
        "delaunay19": lambda **how: ew.generate.delaunay(2**19, seed=1),
        "grid2d1000": lambda **how: ew.generate.grid(1000, 1000),
        "rgg20": lambda **how: ew.generate.rgg(2**20, mean_degree=14, seed=1),
    },
    "large": {
        "stencil100": lambda **how: ew.generate.stencil3d(100, **how),
        "rgg20": lambda **how: ew.generate.rgg(2**20, mean_degree=14, seed=1, **how),
        "rmat20": lambda **how: ew.generate.rmat(20, edge_factor=16, simple=True, seed=1, **how),
    },
}
#: The graphs of Walshaw's archive that are measured, and its cuts into two parts at an imbalance of 5 %,
#: counted again from the archive's partitions, which are in github.com/LudwikJaniuk/expander-decomp at
#: 15df4cb (partitions/5/NAME.2.ptn); all of them have parts of at most 1.05 times half of the vertices.
ARCHIVE = {
    "3elt": 87,
    "4elt": 137,
    "add20": 536,
    "bcsstk29": 2818,
    "cs4": 353,
    "cti": 318,
    "fe_4elt2": 130,
    "fe_body": 262,
    "uk": 18,
    "vibrobox": 10310,
    "whitaker3": 126,
}
#: Presets of each kind of run.
PRESETS = {
    "meshes": ["default", "strong"],
    "irregular": ["default"],
    "time": ["fast"],
    "large": ["fast", "default"],
    "walshaw": ["default", "strong"],
}


def makers(options):
    """The graphs of a run, by name: functions of keyword arguments."""
    if options.kind != "walshaw":
        return KINDS[options.kind]
    folder = Path(options.data)
    paths = {name: next(iter(sorted(folder.glob(f"*/{name}.graph.gz"))), None) for name in ARCHIVE}
    return {name: lambda path=path, **how: ew.read(path) for name, path in paths.items() if path}


def rows_of(make, device):
    """The graph, made of rows only, on a device."""
    graph = make(device=device).to(device)
    return ew.Graph(graph.n_vertices, rows=(graph.offsets, graph.neighbours, None))


def ours(graph, options):
    """One row for each preset, number of parts and seed."""
    for preset in options.presets or PRESETS[options.kind]:
        ew.partition(graph, options.parts[0], preset=preset, imbalance=options.imbalance)  # compiles
        for k in options.parts:
            for seed in options.seeds:
                how = {"preset": preset, "seed": seed, "imbalance": options.imbalance}
                start = time.perf_counter()
                found = ew.partition(graph, k, **how)
                seconds = time.perf_counter() - start
                cells = {"method": preset, "k": k, "seed": seed, "cut": int(found.edge_cut)}
                yield cells | {"seconds": seconds, "imbalance": round(found.imbalance, 5)}


def peers(graph, options):
    """The rows of the peers that the other interpreter has, and those of their versions."""
    if options.peers is None:
        return [], {}
    host = graph.to("cpu")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, offsets=host.offsets, neighbours=host.neighbours.astype(np.int64))
        how = {"parts": options.parts, "seeds": options.seeds, "imbalance": options.imbalance}
        how |= {"threads": threads.count(), "folder": folder, "peers": options.with_peers}
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        script = str(Path(__file__).parent / "partition_peers.py")
        words = [options.peers, script, str(path), json.dumps(how)]
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
    print(done.stderr[-300:], file=sys.stderr, end="")
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    versions = {row["peer"]: row["version"] for row in found if "peer" in row}
    return [row for row in found if "peer" not in row], versions


def ratios(rows, against="METIS k-way"):
    """Mean cut and median time over those of a peer: a dictionary by graph, parts and method.

    The cut is a geometric mean over the seeds.
    """
    cells = {}
    for row in rows:
        cells.setdefault((row["graph"], row["k"], row["method"]), []).append((row["cut"], row["seconds"]))
    means = {
        key: np.array([np.exp(np.log([cut for cut, _ in runs]).mean()), median(time for _, time in runs)])
        for key, runs in cells.items()
        if min(cut for cut, _ in runs) > 0
    }
    return {
        (graph, k, method): mean / means[graph, k, against]
        for (graph, k, method), mean in means.items()
        if (graph, k, against) in means
    }


def summary(rows):
    """Cut and time of each method over those of METIS: geometric means over the parts."""
    found, lines = ratios(rows), []
    for method in dict.fromkeys(row["method"] for row in rows):
        for graph in dict.fromkeys(row["graph"] for row in rows):
            cells = [value for (g, _, m), value in found.items() if (g, m) == (graph, method)]
            if cells:
                cut, seconds = np.exp(np.log(cells).mean(axis=0))
                lines.append((method, graph, f"{cut:.3f}", f"{seconds:.2f}"))
    return record.table(("method", "graph", "cut / METIS", "time / METIS"), lines)


def archive_ratios(rows):
    """Cut over that of the archive, by method: geometric means over the graphs and seeds."""
    logs = {}
    for row in rows:
        logs.setdefault(row["method"], []).append(np.log(row["cut"] / ARCHIVE[row["graph"]]))
    return {method: float(np.exp(np.mean(values))) for method, values in logs.items()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", choices=[*KINDS, "walshaw"], default="meshes")
    parser.add_argument("--graphs", nargs="+")
    parser.add_argument("--parts", nargs="+", type=int, default=None, help="2, 8 and 64 (2 for walshaw)")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--presets", nargs="+")
    parser.add_argument("--imbalance", type=float, help="0.03 (0.05 for walshaw)")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--data", default="../shared/data", help="folder with the graphs of walshaw")
    parser.add_argument("--peers", help="Python interpreter with pymetis, kaminpar and mtkahypar")
    parser.add_argument("--with-peers", nargs="+", choices=PEERS, default=[*PEERS])
    parser.add_argument("--name", help="name of the results")
    options = parser.parse_args()
    is_archive = options.kind == "walshaw"
    options.parts = options.parts or ([2] if is_archive else [2, 8, 64])
    options.imbalance = options.imbalance or (0.05 if is_archive else 0.03)
    rows, versions = [], {}
    for name, make in makers(options).items():
        if options.graphs and name not in options.graphs:
            continue
        graph = rows_of(make, options.device)
        size = {"graph": name, "vertices": graph.n_vertices, "edges": graph.n_edges, "device": options.device}
        theirs, known = peers(graph, options)
        found = [*ours(graph, options), *theirs]
        versions |= known
        rows += [size | row for row in found]
        print(f"{name}: {len(found)} runs", flush=True)
    name = options.name or f"partitions-{options.kind}-{'cpu' if options.device == 'cpu' else 'gpu'}"
    print(record.write(name, rows, threads=threads.count(), imbalance=options.imbalance, peers=versions))
    print(archive_ratios(rows) if is_archive else summary(rows))


if __name__ == "__main__":
    main()
