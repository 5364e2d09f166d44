"""Two states of edgewise against each other in one run: public calls, their kernels, and first use.

    python bench/two_states.py OLD NEW [--device cpu|cuda] [--threads 2,16] [--rounds 3] [--first-use]

OLD and NEW are folders that hold the package ``edgewise``.  Two processes, one of each state, run a call, or
a burst of short calls, in turn, so that a machine whose speed drifts slows both.  A row holds the medians of
the kernel's seconds (``result.seconds``) and of the whole public call, the medians of the ratios new / old of
the pairs, and the ratios of the least times.  Each round has two new processes, since memory is laid out
anew for each process.
``--first-use`` compares the CPU seconds of first calls with an empty kernel cache instead.
"""

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import record

CPU_GRAPHS = ("rmat20", "urand20", "rgg20", "delaunay20", "road1500", "comps2M")
GPU_GRAPHS = ("rmat22", "uniform22", "rgg21", "road4096-dense")
#: Counts of cycles that take minutes.
SLOW = {("cycles4", "rmat20"), ("cycles5", "rmat20"), ("cycles4", "rmat22"), ("cycles5", "rmat22")}

#: Seconds after which idle threads of the other process no longer spin, and seconds for one call in a round.
PAUSE, MAX_SECONDS = 0.01, 10

CHILD = """
import json, os, statistics, sys, time
from pathlib import Path
import numpy as np
import edgewise as ew

device, names, folder, slow, wanted_calls = json.loads(sys.argv[1])
slow = {tuple(pair) for pair in slow}


def graph_of(name):
    file = Path(folder) / f"{name}.npz"
    if not file.exists():
        graph = ew.generate.named(name)
        part = file.with_suffix(f".{os.getpid()}.npz")  # the other process may write it as well
        np.savez(part, offsets=graph.offsets, neighbours=graph.neighbours)
        part.rename(file)
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


def serve(key, call, wanted):
    # warm the call up, then time a burst of calls for every line that arrives, until an empty one
    wanted(call())
    print(key, flush=True)
    while sys.stdin.readline().strip():
        kernel, whole, begin = [], [], time.perf_counter()
        while not whole or (len(whole) < 9 and time.perf_counter() - begin < 0.05):
            start = time.perf_counter()
            result = call()
            wanted(result)
            whole.append(time.perf_counter() - start)
            kernel.append(result.seconds)
        print(statistics.median(kernel), statistics.median(whole), flush=True)


for name in names:
    for problem, call, wanted in calls(name):
        if (problem, name) not in slow and problem in (wanted_calls or [problem]):
            serve(f"{problem} {name}", call, wanted)
for problem, call, wanted in floyd() if not wanted_calls else ():
    serve(problem, call, wanted)
print("", flush=True)
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


def environment(state, cache, threads):
    """Environment of a process that runs one state."""
    path = os.pathsep.join([str(state), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    own = {"EDGEWISE_CACHE_DIR": cache, "EDGEWISE_QUIET": "1", "NUMBA_NUM_THREADS": str(threads)}
    return {**os.environ, **own, "PYTHONPATH": path}


def cpu_seconds(state, script, cache, threads, *arguments):
    """CPU seconds of a process that runs a script on one state."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-P", "-c", script, *arguments]
    done = subprocess.run(command, env=environment(state, cache, threads), capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stderr[-4000:])
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def start(state, cache, threads, arguments):
    """Start a process that serves the calls of one state."""
    env = environment(state, cache, threads)
    command = [sys.executable, "-P", "-c", CHILD, arguments]
    return subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def read_line(process):
    """Return the next line of a process, which must not have ended."""
    line = process.stdout.readline()
    if not line:
        raise SystemExit("a process of one state has failed; its error is above")
    return line.strip()


def timed(process):
    """Seconds of the kernel and of the whole call, medians of a burst of short calls."""
    time.sleep(PAUSE)
    process.stdin.write("once\n")
    process.stdin.flush()
    return [float(word) for word in read_line(process).split()]


def measure(processes, options, times):
    """Time every call on both processes in turn; ``times`` has a list of pairs of figures for each call."""
    while True:
        old, new = map(read_line, processes)
        if old != new:
            raise SystemExit(f"the states offer different calls: {old}, {new}")
        if not new:
            return
        pairs, begin = times.setdefault(new, []), time.perf_counter()
        for turn in range(options.repeats):
            order = (0, 1) if turn % 2 == 0 else (1, 0)
            taken = {side: timed(processes[side]) for side in order}
            pairs.append((taken[0], taken[1]))
            if turn and time.perf_counter() - begin > MAX_SECONDS:
                break
        for process in processes:
            process.stdin.write("\n")
            process.stdin.flush()


def compare(states, options, folder):
    """Rows of all calls on both states, for one number of threads."""
    times = {}
    kept = options.folder or folder
    arguments = json.dumps([options.device, options.graphs, kept, sorted(SLOW), options.calls])
    caches = [os.path.join(options.cache or folder, f"cache{side}") for side in (0, 1)]
    for _ in range(options.rounds):
        processes = [start(*pair, options.threads_now, arguments) for pair in zip(states, caches)]
        try:
            measure(processes, options, times)
        finally:
            for process in processes:
                process.kill()
                process.communicate()
    for key, pairs in times.items():
        yield {"call": key, "threads": options.threads_now, "pairs": len(pairs), **figures(pairs)}


def figures(pairs):
    """Medians of both states, and the medians of the ratios of the pairs."""
    found = {}
    for position, name in enumerate(("kernel", "call")):
        old, new = ([pair[side][position] for pair in pairs] for side in (0, 1))
        found[f"{name}_ms"] = [1e3 * statistics.median(old), 1e3 * statistics.median(new)]
        ratios = [after / before for before, after in zip(old, new)]
        found[f"ratio_{name}"] = statistics.median(ratios)
        found[f"ratio_{name}_least"] = min(new) / min(old)
    return found


def first_use(states, options, folder):
    """CPU seconds of first calls, each in a process of its own with an empty cache."""
    for problem, call in FIRST_USE.items():
        spent = [[], []]
        for _ in range(options.rounds):
            for side in (0, 1):
                with tempfile.TemporaryDirectory(dir=folder) as cache:
                    script = FIRST_USE_CHILD + call
                    given = script, cache, options.threads_now, options.device
                    spent[side].append(cpu_seconds(states[side], *given))
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
    parser.add_argument("--folder", help="folder that keeps the graphs")
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
