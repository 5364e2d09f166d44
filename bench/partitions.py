"""Cut and time of partitions beside METIS (pymetis), KaMinPar and Mt-KaHyPar, in one run.

    python bench/partitions.py --peers /path/to/another/python     # writes results/partitions-meshes-cpu.json
    python bench/partitions.py --kind walshaw --data ../shared/data
    python bench/partitions.py --kind large --device cuda          # writes results/partitions-large-gpu.json
    python bench/partitions.py --kind cores --threads 1 16

The peers run in the interpreter that --peers names, one process for each graph, which reads the rows from a
temporary file (``partition_peers.py``).  All seconds are those of the partition alone, from rows in memory.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np
import record
from partition_peers import PEERS

import edgewise as ew
from edgewise.device import arrays, threads
from edgewise.timer import recording


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
    "cores": {
        "stencil100": lambda **how: ew.generate.stencil3d(100),
        "rgg20": lambda **how: ew.generate.rgg(2**20, mean_degree=14, seed=1),
        "rmat20": lambda **how: ew.generate.rmat(20, edge_factor=16, simple=True, seed=1),
        "grid2d2400": lambda **how: ew.generate.grid(2400, 2400),
    },
    "22": {
        "rmat22": lambda **how: ew.generate.rmat(22, edge_factor=16, simple=True, seed=1, **how),
        "rgg22": lambda **how: ew.generate.rgg(2**22, mean_degree=14, seed=1, **how),
        "delaunay22": lambda **how: ew.generate.delaunay(2**22, seed=1),
        "stencil200": lambda **how: ew.generate.stencil3d(200, **how),
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
    "cores": ["fast", "default"],
    "22": ["fast", "default"],
    "walshaw": ["default", "strong"],
}


def makers(options):
    """The graphs of a run, by name: functions of keyword arguments."""
    if options.kind != "walshaw":
        return KINDS[options.kind]
    folder = Path(options.data)
    paths = {name: next(iter(sorted(folder.glob(f"*/{name}.graph.gz"))), None) for name in ARCHIVE}
    return {name: lambda path=path, **how: ew.read(path) for name, path in paths.items() if path}


def kept(name, make, folder):
    """The maker of a graph, which keeps it in a folder, if there is one."""

    def read_or_make(device):
        path = Path(folder) / f"{name}.npz"
        if not path.exists():
            graph = make(device=device).to("cpu")
            np.savez(path, offsets=graph.offsets, neighbours=graph.neighbours)
        rows = np.load(path)
        return ew.Graph(len(rows["offsets"]) - 1, rows=(rows["offsets"], rows["neighbours"], None))

    return read_or_make if folder else make


def rows_of(make, device):
    """The graph, made of rows only, on a device."""
    graph = make(device=device).to(device)
    return ew.Graph(graph.n_vertices, rows=(graph.offsets, graph.neighbours, None))


def ours(graph, options):
    """One row for each number of threads, preset, number of parts and seed."""
    for preset in options.presets or PRESETS[options.kind]:
        for k in options.parts:  # some kernels are compiled for many parts only
            ew.partition(graph, k, preset=preset, imbalance=options.imbalance)
        for count, k, seed in product(options.threads, options.parts, options.seeds):
            how = {"preset": preset, "seed": seed, "imbalance": options.imbalance, "threads": count}
            with recording(settle=lambda: arrays.synchronize(graph.device)) as scope:
                found = ew.partition(graph, k, **how)
            cells = {"method": preset, "k": k, "seed": seed, "cut": int(found.edge_cut)}
            cells |= {"seconds": scope.seconds, "imbalance": round(found.imbalance, 5), "threads": count}
            phases = {name: inner.seconds for name, inner in scope.inside.items()}
            yield cells | {"phases": phases | {"rest": scope.seconds - sum(phases.values())}}


def peers(graph, options):
    """The rows of the peers that the other interpreter has, and those of their versions."""
    if options.peers is None:
        return [], {}
    host = graph.to("cpu")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, offsets=host.offsets, neighbours=host.neighbours)
        how = {"parts": options.parts, "seeds": options.seeds, "imbalance": options.imbalance}
        how |= {"threads": max(options.threads), "folder": folder, "peers": options.with_peers}
        is_other = options.peers != sys.executable
        environment = {
            name: value for name, value in os.environ.items() if name != "PYTHONPATH" or not is_other
        }
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


def phase_table(rows):
    """Seconds, and millions of edges of the graph a second, of each phase."""
    names, lines = list(dict.fromkeys(name for row in rows for name in row.get("phases", ()))), []
    for row in rows:
        seconds = row.get("phases", {})
        cells = [
            f"{seconds[one]:.3f} ({row['edges'] / 1e6 / seconds[one]:.0f})" if one in seconds else ""
            for one in names
        ]
        first = [row[one] for one in ("graph", "method", "k", "threads", "cut")]
        lines.append([*first, f"{row['seconds']:.3f}", *cells])
    return record.table(("graph", "method", "k", "threads", "cut", "seconds", *names), lines)


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
    parser.add_argument("--peers", help="Python interpreter with pymetis, kaminpar and mtkahypar, or same")
    parser.add_argument("--with-peers", nargs="+", choices=PEERS, default=[*PEERS])
    parser.add_argument("--threads", nargs="+", type=int, default=[threads.count()], help="of ours")
    parser.add_argument("--folder", help="where graphs are kept for other runs")
    parser.add_argument("--name", help="name of the results")
    options = parser.parse_args()
    is_archive = options.kind == "walshaw"
    options.peers = sys.executable if options.peers == "same" else options.peers
    options.parts = options.parts or ([2] if is_archive else [2, 8, 64])
    options.imbalance = options.imbalance or (0.05 if is_archive else 0.03)
    rows, facts = [], {"threads": threads.count(), "imbalance": options.imbalance, "peers": {}}
    result = options.name or f"partitions-{options.kind}-{'cpu' if options.device == 'cpu' else 'gpu'}"
    for name, make in makers(options).items():
        if options.graphs and name not in options.graphs:
            continue
        graph = rows_of(kept(name, make, options.folder), options.device)
        size = {"graph": name, "vertices": graph.n_vertices, "edges": graph.n_edges, "device": options.device}
        found = [size | row for row in ours(graph, options)]
        theirs, versions = peers(graph, options)
        facts["peers"] |= versions
        rows += [*found, *(size | row | {"threads": max(options.threads)} for row in theirs)]
        path = record.write(result, rows, **facts)
        print(phase_table(rows[-len(found) - len(theirs) :]), flush=True)
    print(path)
    print(archive_ratios(rows) if is_archive else summary(rows))


if __name__ == "__main__":
    main()
