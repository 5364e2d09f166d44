"""Two states of edgewise against each other in one run: public calls, their kernels, and first use.

    python bench/two_states.py OLD NEW [--device cpu|cuda] [--threads 2,16] [--rounds 3] [--first-use]

OLD and NEW are folders that hold the package ``edgewise``.  Processes of the two states take turns, so that a
machine whose speed drifts slows both.  Every process warms each call up and then repeats it; a row holds the
median of the kernel's seconds (``result.seconds``), of the whole public call, and the ratios new / old.
``--first-use`` compares the CPU seconds of first calls with an empty kernel cache instead.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import record

CPU_GRAPHS = ("rmat20", "urand20", "rgg20", "delaunay20", "road1500", "comps2M")
GPU_GRAPHS = ("rmat22", "uniform22", "rgg21", "road4096-dense")
#: Counts of cycles that take minutes.
SLOW = {("cycles4", "rmat20"), ("cycles5", "rmat20"), ("cycles4", "rmat22"), ("cycles5", "rmat22")}

CHILD = """
import json, statistics, sys, time
from pathlib import Path
import numpy as np
import edgewise as ew

device, names, folder, repeats, slow, wanted_calls = json.loads(sys.argv[1])
slow, rows = {tuple(pair) for pair in slow}, {}


def graph_of(name):
    file = Path(folder) / f"{name}.npz"
    if not file.exists():
        graph = ew.generate.named(name)
        np.savez(file, offsets=graph.offsets, neighbours=graph.neighbours)
    held = np.load(file)
    return ew.Graph.from_csr(held["offsets"], held["neighbours"], directed=True)


def calls(name):
    directed = graph_of(name)
    offsets, neighbours = directed.offsets, directed.neighbours
    graph = ew.Graph(len(offsets) - 1, rows=(offsets, neighbours, None))
    ends = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    mixed = np.minimum(ends, neighbours) * 2654435761 + np.maximum(ends, neighbours) * 40503
    weights = (mixed % 255 + 1).astype(np.int32)
    weighted = ew.Graph(len(offsets) - 1, rows=(offsets, neighbours, weights))
    graph, weighted = graph.to(device), weighted.to(device)
    source = int(np.diff(offsets).argmax())
    yield "components", lambda: ew.connected_components(graph), lambda r: r.count
    yield "bfs", lambda: ew.bfs(graph, source), lambda r: r.distances
    yield "sssp", lambda: ew.shortest_paths(weighted, source), lambda r: r.distances
    for length in (3, 4, 5):
        yield f"cycles{length}", lambda length=length: ew.cycle_counts(graph, length), lambda r: r.counts


def floyd():
    rng = np.random.default_rng(1)
    n, m = (8192, 65536) if device == "cuda" else (1024, 8192)
    graph = ew.Graph.from_edges(rng.integers(0, n, m), rng.integers(0, n, m), n_vertices=n,
                                weights=rng.integers(1, 100, m).astype(np.int32)).to(device)
    solve = ew.all_pairs_shortest_paths
    yield "floyd-warshall", lambda: solve(graph, method="floyd-warshall"), lambda r: r.distances
    if device == "cpu":
        small = ew.Graph.from_edges(rng.integers(0, n, 3 * n), rng.integers(0, n, 3 * n), n_vertices=n,
                                    weights=rng.integers(1, 11, 3 * n).astype(np.int32))
        yield "all-pairs", lambda: solve(small), lambda r: r.distances


def timed(key, call, wanted):
    wanted(call())
    kernel, whole, begin = [], [], time.perf_counter()
    while len(whole) < 2 or (len(whole) < repeats and time.perf_counter() - begin < 2):
        start = time.perf_counter()
        result = call()
        wanted(result)
        whole.append(time.perf_counter() - start)
        kernel.append(result.seconds)
    rows[key] = statistics.median(kernel), statistics.median(whole), min(kernel)


for name in names:
    for problem, call, wanted in calls(name):
        if (problem, name) not in slow and problem in (wanted_calls or [problem]):
            timed(f"{problem} {name}", call, wanted)
for problem, call, wanted in floyd() if not wanted_calls else ():
    timed(problem, call, wanted)
print(json.dumps(rows))
"""

FIRST_USE = {
    "components": "ew.connected_components(g)",
    "bfs": "ew.bfs(g, 0)",
    "sssp": "ew.shortest_paths(w, 0)",
    "all-pairs": "ew.all_pairs_shortest_paths(w)",
    "cycles 3": "ew.cycle_counts(g, 3)",
    "cycles 4": "ew.cycle_counts(g, 4)",
    "cycles 5": "ew.cycle_counts(g, 5)",
}
FIRST_USE_CHILD = """
import sys
import numpy as np
import edgewise as ew
rng = np.random.default_rng(1)
a, b = rng.integers(0, 20000, (2, 80000)).astype(np.uint32)
g = ew.Graph.from_edges(a, b, n_vertices=20000).to(sys.argv[1])
lengths = np.arange(8000, dtype=np.int32) % 100 + 1
w = ew.Graph.from_edges(a[:8000] % 1000, b[:8000] % 1000, n_vertices=1000, weights=lengths).to(sys.argv[1])
"""


def child(state, script, cache, threads, *arguments):
    """Run a script on one state; return its output and the CPU seconds it took."""
    env = {
        **os.environ,
        "EDGEWISE_CACHE_DIR": cache,
        "EDGEWISE_QUIET": "1",
        "NUMBA_NUM_THREADS": str(threads),
    }
    env["PYTHONPATH"] = os.pathsep.join([str(state), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", script, *arguments], env=env, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stderr[-4000:])
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(states, options, folder):
    """Rows of all calls on both states, for one number of threads."""
    times = [{}, {}]
    arguments = json.dumps(
        [options.device, options.graphs, folder, options.repeats, sorted(SLOW), options.calls]
    )
    for turn in range(options.rounds):
        order = (0, 1) if turn % 2 == 0 else (1, 0)
        for side in order:
            cache = os.path.join(options.cache or folder, f"cache{side}")
            output, _ = child(states[side], CHILD, cache, options.threads_now, arguments)
            for key, figures in json.loads(output).items():
                times[side].setdefault(key, []).append(figures)
    for key in times[1]:
        old, new = ([min(column) for column in zip(*times[side][key])] for side in (0, 1))
        yield {
            "call": key,
            "threads": options.threads_now,
            "kernel_ms": [1e3 * old[0], 1e3 * new[0]],
            "call_ms": [1e3 * old[1], 1e3 * new[1]],
            "ratio_kernel": new[0] / old[0],
            "ratio_call": new[1] / old[1],
            "ratio_least": new[2] / old[2],
        }


def first_use(states, options, folder):
    """CPU seconds of first calls, each in a process of its own with an empty cache."""
    for problem, call in FIRST_USE.items():
        spent = [[], []]
        for _ in range(options.rounds):
            for side in (0, 1):
                with tempfile.TemporaryDirectory(dir=folder) as cache:
                    script = FIRST_USE_CHILD + call
                    spent[side].append(
                        child(states[side], script, cache, options.threads_now, options.device)[1]
                    )
        old, new = min(spent[0]), min(spent[1])
        yield {"call": problem, "cpu_s": [old, new], "ratio": new / old}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("states", nargs=2, type=Path)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--threads", default="2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--graphs", default="")
    parser.add_argument("--calls", nargs="*", default=[], help="only these, such as bfs or cycles3")
    parser.add_argument("--cache", help="folder that keeps the kernels of both states")
    parser.add_argument("--first-use", action="store_true")
    options = parser.parse_args()
    states = [state.resolve() for state in options.states]
    every = CPU_GRAPHS if options.device == "cpu" else GPU_GRAPHS
    options.graphs = options.graphs.split(",") if options.graphs else every
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for threads in map(int, options.threads.split(",")):
            options.threads_now = threads
            for row in (first_use if options.first_use else compare)(states, options, folder):
                rows.append(row)
                print(*(f"{one:.3f}" if isinstance(one, float) else one for one in flat(row)), flush=True)
    ratios = [row.get("ratio_kernel") or row["ratio"] for row in rows]
    print(
        f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}, largest {max(ratios):.3f}"
    )
    kind = "first-use" if options.first_use else "calls"
    record.write(f"two-states-{kind}-{options.device}", rows, states="old, new")


def flat(row):
    for one in row.values():
        yield from one if isinstance(one, list) else [one]


if __name__ == "__main__":
    main()
