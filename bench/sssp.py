"""Shortest paths along weights on the CPU, beside GAP's delta-stepping.

    GAPBS=folder python bench/sssp.py                       the six graphs, 1 and 2 threads
    GAPBS=folder python bench/sssp.py road1500 --threads 2

Every graph is generated and weighted (1 to 10, 1 to 255, and 1 to 10,000 on the road graph), and every
method's distances are checked against Dijkstra's.  Ours and GAP's ``sssp`` (in the folder ``$GAPBS``) run in
turn from the same source; GAP gets the best ``delta`` of a small set for each graph and weights, ours choose
their own.  Times are of a whole call, least of all rounds.  The source lies in the giant component, except in
``comps2M``, where its component has 19 vertices.
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
from edgewise.device import threads as thread_count
from edgewise.paths.sssp import METHODS, shortest_paths

GRAPHS = ("rmat20", "urand20", "rgg20", "delaunay20", "road1500", "comps2M")
LARGEST = dict.fromkeys(GRAPHS, (10, 255)) | {"road1500": (10, 255, 10_000)}
#: Widths that GAP may choose from, by the largest weight.
DELTAS = {10: (1, 2, 4), 255: (4, 8, 16, 32, 64), 10_000: (512, 2048, 8192)}
#: Methods that are timed; the others are for GPUs, or look at every vertex in every round.
TIMED = ("auto", "bellman-ford", "dijkstra")
ROUNDS, SMALL = 8, 19


def main(names, threads, methods):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names or GRAPHS:
            plain = ew.generate.named(name)
            source = source_in(plain)
            for largest in LARGEST[name]:
                graph = ew.generate.with_weights(plain, 1, largest)
                rows += weighted(name, largest, graph, source, threads, methods, Path(folder) / "graph.wsg")
    for count in threads:
        ratios = [row["ratio"] for row in rows if row["ratio"] and row["threads"] == count and row["auto"]]
        if ratios:
            mean = np.exp(np.mean(np.log(ratios)))
            giant = [
                r["ratio"] for r in rows if r["auto"] and r["threads"] == count and r["graph"] != "comps2M"
            ]
            without = np.exp(np.mean(np.log(giant))) if giant else np.nan
            print(f"{count} threads: ours / gapbs, geometric mean {mean:.2f}, worst {max(ratios):.2f}")
            print(f"{count} threads: without comps2M {without:.2f}")
    record.write("sssp-cpu", rows)


def source_in(graph):
    """A vertex of the giant component, or of one with SMALL vertices where there is no giant."""
    labels = ew.connected_components(graph).labels
    sizes = np.bincount(labels)
    wanted = sizes.argmax() if sizes.max() > graph.n_vertices // 4 else np.abs(sizes - SMALL).argmin()
    members = np.flatnonzero(labels == wanted)
    return int(members[len(members) // 2])


def weighted(name, largest, graph, source, threads, methods, file):
    """Rows of the table for one graph with weights."""
    expected = shortest_paths(graph, source, method="dijkstra").distances
    for method in methods:
        assert np.array_equal(shortest_paths(graph, source, method=method).distances, expected), method
    rows = []
    if os.environ.get("GAPBS"):
        ew.write(graph, file)
    for count in threads:
        thread_count.use(count)
        delta = best_delta(file, source, count, DELTAS[largest]) if os.environ.get("GAPBS") else None
        times = {method: [] for method in methods} | {"gapbs": []}
        for _ in range(ROUNDS):
            times["gapbs"] += gapbs(file, source, count, delta) if delta else []
            for method in methods:
                times[method] += [
                    seconds(partial(shortest_paths, graph, source, method=method)) for _ in range(3)
                ]
        facts = {"graph": name, "weights": largest, "threads": count, "gapbs_delta": delta}
        for method, spent in times.items():
            if spent:
                ms = record.spread([1e3 * t for t in spent])
                ratio = min(spent) / min(times["gapbs"]) if times["gapbs"] and method != "gapbs" else None
                rows.append({**facts, "method": method, "auto": method == "auto", "ms": ms, "ratio": ratio})
        print(
            f"{name} 1-{largest}, {count} threads:",
            " ".join(map(cell, rows[-len(methods) - bool(delta) :])),
            flush=True,
        )
    return rows


def cell(row):
    ratio = (
        f" ({row['ratio']:.2f})"
        if row["ratio"]
        else f" (delta {row['gapbs_delta']})"
        if row["method"] == "gapbs"
        else ""
    )
    return f"{row['method']} {row['ms']['least']:.4g}{ratio}"


def seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def best_delta(file, source, threads, deltas):
    return min(deltas, key=lambda delta: min(gapbs(file, source, threads, delta)))


def gapbs(file, source, threads, delta, runs=3):
    """Seconds of some runs of GAP's delta-stepping on a serialised graph."""
    command = [Path(os.environ["GAPBS"]) / "sssp", "-f", file, "-n", runs, "-r", source, "-d", delta]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    said = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, check=True
    ).stdout
    return [float(t) for t in re.findall(r"Trial Time:\s+([\d.]+)", said)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--methods", nargs="*", default=TIMED, choices=["auto", *METHODS])
    options = parser.parse_args()
    sys.exit(main(options.graphs, options.threads, options.methods))
