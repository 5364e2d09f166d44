"""Cut and time of partitions beside METIS (pymetis), KaMinPar and Mt-KaHyPar, in one run.

    python bench/partitions.py meshes --peers /path/to/another/python     # writes partitions-meshes-cpu.json
    python bench/partitions.py walshaw --data ../shared/data
    python bench/partitions.py large --device cuda                        # writes partitions-large-gpu.json
    python bench/partitions.py cores --threads 1 16
    python bench/partitions.py meshes grid-10 --parts 2 --seeds 1         # a small graph

The peers run in the interpreter that ``--peers`` names, or in the ``same``, one process for each graph, which
reads the rows from a temporary file (``partition_peers.py``).  All seconds are those of the partition alone,
from rows in memory.
"""

import json
import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from statistics import geometric_mean, median

import families
import numpy as np
from harness import ROOT, main, part
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


#: Makers of graphs by name.
GRAPHS = {
    "delaunay17": lambda **how: ew.generate.delaunay(2**17, seed=1),
    "delaunay19": lambda **how: ew.generate.delaunay(2**19, seed=1),
    "delaunay22": lambda **how: ew.generate.delaunay(2**22, seed=1),
    "rgg17": lambda **how: ew.generate.rgg(2**17, mean_degree=11.2, seed=1),
    "rgg20": lambda **how: ew.generate.rgg(2**20, mean_degree=14, seed=1, **how),
    "rgg22": lambda **how: ew.generate.rgg(2**22, mean_degree=14, seed=1, **how),
    "grid27": lambda **how: ew.generate.stencil3d(50, 50, 50),
    "stencil100": lambda **how: ew.generate.stencil3d(100, **how),
    "stencil200": lambda **how: ew.generate.stencil3d(200, **how),
    "grid2d": lambda **how: ew.generate.grid(300, 300),
    "grid2d1000": lambda **how: ew.generate.grid(1000, 1000),
    "grid2d2400": lambda **how: ew.generate.grid(2400, 2400),
    "rmat16": lambda **how: ew.generate.rmat(16, edge_factor=16, seed=1).simplified(),
    "rmat20": lambda **how: ew.generate.rmat(20, edge_factor=16, simple=True, seed=1, **how),
    "rmat22": lambda **how: ew.generate.rmat(22, edge_factor=16, simple=True, seed=1, **how),
    "ba100k": lambda **how: barabasi_albert(100_000, 8, 1),
}
#: Graphs and presets of each kind of run.
KINDS = {
    "meshes": (["delaunay17", "rgg17", "grid27", "grid2d"], ["default", "strong"]),
    "irregular": (["rmat16", "ba100k"], ["default"]),
    "time": (["grid27", "delaunay19", "grid2d1000", "rgg20"], ["fast"]),
    "large": (["stencil100", "rgg20", "rmat20"], ["fast", "default"]),
    "cores": (["stencil100", "rgg20", "rmat20", "grid2d2400"], ["fast", "default"]),
    "22": (["rmat22", "rgg22", "delaunay22", "stencil200"], ["fast", "default"]),
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


def maker(name, data):
    """The maker of a graph by its name; a function of keyword arguments."""
    if name in GRAPHS:
        return GRAPHS[name]
    if name.rpartition("-")[2].isdigit():
        return lambda **how: families.graph(name)
    path = next(iter(sorted(Path(data).glob(f"*/{name}.graph.gz"))), None)
    return (lambda **how: ew.read(path)) if path else None


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
    for preset in options.presets:
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
    """The rows of the peers that the other interpreter has, and their versions."""
    if not options.peers:
        return [], {}
    other = sys.executable if options.peers == "same" else options.peers
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONPATH" or other == sys.executable
    }
    host = graph.to("cpu")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, offsets=host.offsets, neighbours=host.neighbours)
        how = {"parts": options.parts, "seeds": options.seeds, "imbalance": options.imbalance}
        how |= {"threads": max(options.threads), "folder": folder, "peers": options.with_peers}
        script = str(Path(__file__).parent / "partition_peers.py")
        words = [other, script, str(path), json.dumps(how)]
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
    """Cut and time of each method over those of METIS, and cut over that of the archive."""
    found = ratios(rows)
    for graph, method in dict.fromkeys((row["graph"], row["method"]) for row in rows):
        cells = [value for (g, _, m), value in found.items() if (g, m) == (graph, method)]
        if cells:
            cut, seconds = map(geometric_mean, zip(*cells))
            yield f"{method} {graph}: cut / METIS {cut:.3f}, time / METIS {seconds:.2f}"
    for method in dict.fromkeys(row["method"] for row in rows):
        cuts = [
            row["cut"] / ARCHIVE[row["graph"]]
            for row in rows
            if row["graph"] in ARCHIVE and row["method"] == method
        ]
        if cuts:
            yield f"{method}: cut / archive {geometric_mean(cuts):.3f}"


def rows(given):
    """Cut and time of every preset, number of parts and seed, beside those of the peers."""
    given.facts |= {"threads": threads.count(), "imbalance": given.imbalance, "peers": {}}
    for name in given.graphs:
        make = maker(name, given.data)
        if make is None:
            continue
        graph = rows_of(kept(name, make, given.folder), given.device)
        size = {"graph": name, "vertices": graph.n_vertices, "edges": graph.n_edges, "device": given.device}
        yield from (size | row for row in ours(graph, given))
        theirs, versions = peers(graph, given)
        given.facts["peers"] |= versions
        yield from (size | row | {"threads": max(given.threads)} for row in theirs)


def declared(kind, graphs, presets, parts=(2, 8, 64), imbalance=0.03):
    """The part of a kind of run."""
    key = ("graph", "method", "k", "seed", "threads")
    options = {"graphs": graphs, "presets": presets, "parts": [*parts], "imbalance": imbalance}
    options |= {"seeds": [1, 2, 3], "device": "cpu", "threads": [threads.count()], "folder": ""}
    options |= {"peers": "", "with_peers": [*PEERS], "data": str(ROOT.parent / "shared" / "data")}
    return part(f"partitions-{kind}-{{place}}", rows, key=key, summary=summary, **options)


PARTS = {kind: declared(kind, *chosen) for kind, chosen in KINDS.items()}
PARTS["walshaw"] = declared("walshaw", [*ARCHIVE], ["default", "strong"], (2,), 0.05)

if __name__ == "__main__":
    main(__doc__, PARTS)
