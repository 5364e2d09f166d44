"""Connected components against their peers.

    python bench/components.py gpu                      the five graphs of the GPU table
    python bench/components.py edges                    edge lists alone on a GPU, in two orders
    GAPBS=folder python bench/components.py cpu         the six graphs of the CPU table, 1 and 2 threads

Every graph is generated, every method checked against the first one's labels.  GPU times are taken with
device events, warm, median of nine, the graph resident in both forms; transfers, building and compiling are
columns of their own.  CPU times are of the algorithm alone, the graph in the form that each peer wants;
GAP's ``cc`` (in the folder ``$GAPBS``) runs in turn with ours.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import record

import edgewise as ew
from edgewise import primitives
from edgewise.components import METHODS
from edgewise.components.selection import select_method
from edgewise.components.symmetric_csr import symmetric_csr
from edgewise.device import threads as thread_count
from edgewise.ingest.csr import rows_from_edges

#: Streaming floor in ms: 4 bytes an entry of the rows and 28 a vertex, at 4.3 TB/s.
FLOORS = {"rmat22": 0.15, "uniform22": 0.15, "road4096": 0.16, "road4096-shuffled": 0.16, "rgg21": 0.04}
#: Peers on one H200: the milliseconds of each by graph.
PEERS = {peer["name"]: peer["ms"] for peer in record.peers("gpu-components")}
#: Edge lists alone on a GPU, each as it is made and in random order, and the methods for them.
LISTS = {
    **{name: partial(ew.generate.named, name) for name in ("rmat22", "uniform22", "rgg21", "road4096")},
    "rmat20, 16 edges": partial(ew.generate.rmat, 20, edge_factor=16, simple=True),
    "rmat20, 64 edges": partial(ew.generate.rmat, 20, edge_factor=64, simple=True),
    "rmat24, 8 edges": partial(ew.generate.rmat, 24, edge_factor=8, simple=True),
    "scale-free, 2^22": partial(ew.generate.scale_free, 1 << 22),
}
FOR_LISTS = ("rem", "hang-rem", "edge-filter", "edge-reach")
CPU_GRAPHS = ("rmat20", "urand20", "rgg20", "delaunay20", "road1500", "comps2M")
RUNS = 9
#: Label propagation has a benchmark of its own, which has the time.
TIMED = [method for method in METHODS if method != "propagate"]
#: Methods that copy a graph of a GPU to the host.
ON_CORES = ("rem-sequential", "rem-ranges", "rem-edge-sample", "ecl-pairs")
#: Rounds of three runs each on the CPU, ours and GAP's in turn; many, since machines are shared.
ROUNDS = 10


def gpu(names):
    import cupy

    rows = [row for name in names or FLOORS for row in gpu_graph(name, cupy)]
    best = {row["graph"]: row["ms"]["median"] for row in rows if row["auto"]}
    over = float(np.exp(np.mean([np.log(PEERS["ECL-CC"][name] / best[name]) for name in best])))
    for name, ms in best.items():
        peer = min(times[name] for times in PEERS.values())
        print(f"{name:18s} auto {ms:.3f} ms, best peer {peer} ms, {ms / FLOORS[name]:.1f} x floor")
    print(f"geometric mean over ECL-CC: {over:.2f}")
    if not all(row["right"] for row in rows):
        sys.exit("some labels are WRONG")
    record.write("components-gpu", rows, over_ecl_cc=over)


def gpu_graph(name, cupy):
    graph, made = wall(lambda: ew.generate.named(name, device="cuda"), cupy)
    graph, built = wall(lambda: graph.prepare("components"), cupy)
    edges = (graph.n_vertices, graph.sources, graph.targets, True)
    build = record.spread(event_times(lambda: rows_from_edges(*edges), cupy, 3))["median"]
    _, judged = wall(lambda: (symmetric_csr(graph), select_method(graph)), cupy)
    facts = {
        "graph": name,
        "floor_ms": FLOORS[name],
        "generate_s": made,
        "rows_s": built,
        "judge_s": judged,
        "coo_to_csr_g_per_s": len(graph.neighbours) / build / 1e6,
    }
    print(f"{name}: {graph}, COO to CSR {facts['coo_to_csr_g_per_s']:.1f} G entries/s", flush=True)
    expected = run("rem", graph)
    return [gpu_method(method, graph, expected, facts, cupy) for method in TIMED if method not in ON_CORES]


def edge_lists(names):
    """Kernels of the methods for edge lists, and the public call on a fresh and on a warm list."""
    import cupy

    rows = [row for name in names or LISTS for row in edge_list(name, LISTS[name](device="cuda"), cupy)]
    if not all(row["right"] for row in rows):
        sys.exit("some labels are WRONG")
    record.write("components-gpu-edges", rows)


def edge_list(name, made, cupy):
    """A row for the list as it is made, and one in random order."""
    ends, n = (made.sources, made.targets), made.n_vertices
    cupy.random.seed(1)
    turn = cupy.random.permutation(made.n_edges)
    return [list_in_order(name, "as made", n, ends, cupy), list_in_order(name, "random", n, ends, cupy, turn)]


def list_in_order(name, order, n, ends, cupy, turn=slice(None)):
    """A row for a list with its edges in an order."""
    ends = tuple(cupy.ascontiguousarray(end[turn]) for end in ends)
    graphs = [ew.Graph.from_edges(*ends, n_vertices=n) for _ in range(RUNS + 1)]  # the first one warms up
    calls = [[1e3 * wall(partial(labels_of, graph), cupy)[1] for graph in graphs] for _ in ("fresh", "warm")]
    fresh, warm = (record.spread(times[1:]) for times in calls)
    expected, graph = METHODS["rem"].run(n, *ends), graphs[0]
    row = {
        "graph": name,
        "order": order,
        "vertices": n,
        "edges": graph.n_edges,
        "method": select_method(graph),
        "right": all(not primitives.count(run(method, graph) != expected) for method in FOR_LISTS),
        "ms": {m: record.spread(event_times(partial(run, m, graph), cupy)) for m in FOR_LISTS},
        "call_ms": {"fresh": fresh, "warm": warm},
    }
    cells = (f"{what} {spread['median']:.3f}" for what, spread in (row["ms"] | row["call_ms"]).items())
    print(f"{name}, {order}: {row['method']};", *cells, "" if row["right"] else "WRONG", flush=True)
    return row


def labels_of(graph):
    return ew.connected_components(graph).labels


def gpu_method(method, graph, expected, facts, cupy):
    labels, first = wall(lambda: run(method, graph), cupy)
    ms = record.spread(event_times(lambda: run(method, graph), cupy))
    calls = [wall(lambda: ew.connected_components(graph, method=method), cupy)[1] for _ in range(RUNS)]
    row = {
        **facts,
        "method": method,
        "auto": method == select_method(graph),
        "right": not primitives.count(labels != expected),
        "ms": ms,
        "call_ms": 1e3 * record.spread(calls)["median"],
        "x_floor": ms["median"] / facts["floor_ms"],
        "first_s": first,
    }
    print(
        f"  {'*' if row['auto'] else ' '} {method:16s} {ms['median']:8.3f} ms ({ms['least']:.3f} to "
        f"{ms['largest']:.3f})  {row['x_floor']:5.1f} x floor  call {row['call_ms']:.3f} ms  "
        f"{'right' if row['right'] else 'WRONG'}",
        flush=True,
    )
    return row


def run(method, graph):
    found = METHODS[method]
    return found.run(graph.n_vertices, *found.form_of(graph))


def wall(action, cupy):
    cupy.cuda.runtime.deviceSynchronize()
    start = time.perf_counter()
    result = action()
    cupy.cuda.runtime.deviceSynchronize()
    return result, time.perf_counter() - start


def event_times(action, cupy, runs=RUNS):
    """Milliseconds by device events, after two warm runs."""
    action(), action()
    times = []
    for _ in range(runs):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        cupy.cuda.runtime.deviceSynchronize()
        begin.record()
        action()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return times


def cpu(names, threads, peers):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names or CPU_GRAPHS:
            graph = ew.generate.named(name).prepare("components")  # before anything is timed
            rows += cpu_graph(name, graph, threads, peers, Path(folder))
    for count in threads:
        ratios = [row["ratio"] for row in rows if row["auto"] and row["threads"] == count and row["ratio"]]
        if ratios:
            mean = np.exp(np.mean(np.log(ratios)))
            print(f"{count} threads: auto / gapbs, geometric mean {mean:.2f}, worst {max(ratios):.2f}")
    record.write("components-cpu", rows)


def cpu_graph(name, graph, threads, peers, folder):
    file = folder / "graph.sg"
    if os.environ.get("GAPBS"):
        ew.write(graph, file)
    return [row for count in threads for row in cpu_threads(name, graph, count, peers, file)]


def cpu_threads(name, graph, count, peers, file):
    thread_count.use(count)
    chosen = select_method(graph)
    times = {"gapbs": [], **{method: [] for method in TIMED}}
    expected = run("rem-sequential", graph)
    for method in TIMED:
        assert np.array_equal(run(method, graph), expected), (name, method)
    for _ in range(ROUNDS):
        times["gapbs"] += gapbs(file, count) if os.environ.get("GAPBS") else []
        for method in TIMED:
            times[method] += [seconds(partial(run, method, graph)) for _ in range(3)]
    for peer in (PYTHON_PEERS if count == 1 else THREADED_PEERS) if peers else ():
        times[peer] = peer_times(peer, graph, count)
    rows = [
        {
            "graph": name,
            "threads": count,
            "method": method,
            "auto": method == chosen,
            **figures(spent, times["gapbs"]),
        }
        for method, spent in times.items()
        if spent
    ]
    print(name, f"{count} threads:", " ".join(map(cell, rows)), flush=True)
    return rows


def figures(spent, base):
    ms = record.spread([1e3 * t for t in spent])
    return {"ms": ms, "ratio": ms["least"] / 1e3 / min(base) if base else None}


def cell(row):
    star = "*" if row["auto"] else ""
    ratio = f" ({row['ratio']:.2f})" if row["ratio"] else ""
    return f"{star}{row['method']} {row['ms']['least']:.1f}{ratio}"


def seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def gapbs(file, threads):
    """Seconds of three runs of GAP's Afforest on a serialised graph."""
    command = [Path(os.environ["GAPBS"]) / "cc", "-f", file, "-n", "3"]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    return [float(t) for t in re.findall(r"Trial Time:\s+([\d.]+)", said)]


def peer_times(peer, graph, threads):
    """Seconds of a peer; igraph keeps whether a graph is connected, so only its first run counts."""
    action = PYTHON_PEERS[peer](graph, threads)
    return [seconds(action) for _ in range(1 if peer == "igraph" else 3)]


def scipy(graph, threads):
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(graph.neighbours), np.int8)
    rows = (ones, graph.neighbours.astype(np.int32), graph.offsets.astype(np.int32))
    matrix = csr_array(rows, shape=(graph.n_vertices, graph.n_vertices))
    return lambda: connected_components(matrix, directed=False)


def networkit(graph, threads):
    import networkit

    networkit.setNumberOfThreads(threads)
    ends = (graph.sources.astype(np.uint64), graph.targets.astype(np.uint64))
    made = networkit.GraphFromCoo((np.ones(len(ends[0])), ends), n=graph.n_vertices)
    return lambda: networkit.components.ParallelConnectedComponents(made, False).run()


def igraph(graph, threads):
    import igraph

    made = igraph.Graph(
        n=graph.n_vertices, edges=np.column_stack([graph.sources, graph.targets]).astype(np.int64)
    )
    return lambda: made.connected_components()


def rustworkx(graph, threads):
    import rustworkx

    made = rustworkx.PyGraph()
    made.add_nodes_from(range(graph.n_vertices))
    made.add_edges_from_no_data(list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)))
    return lambda: rustworkx.connected_components(made)


PYTHON_PEERS = {"scipy": scipy, "networkit": networkit, "igraph": igraph, "rustworkx": rustworkx}
THREADED_PEERS = ("networkit",)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("where", choices=["cpu", "gpu", "edges"])
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--peers", action="store_true", help="time Python peers too")
    options = parser.parse_args()
    if options.where == "gpu":
        gpu(options.graphs)
    elif options.where == "edges":
        edge_lists(options.graphs)
    else:
        cpu(options.graphs, options.threads, options.peers)


if __name__ == "__main__":
    sys.exit(main())
