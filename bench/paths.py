"""Searches on CPU threads against the GAP Benchmark Suite.

    GAPBS=folder python bench/paths.py bfs                    the six graphs of the CPU table, 2 threads
    GAPBS=folder python bench/paths.py bfs rmat20 --threads 1 2

Every graph is generated and searched from three vertices of its largest component (of the graph of small
components: of three components of 19).  Ours is the whole call, ids and result included; GAP's ``bfs`` or
``sssp`` (in the folder ``$GAPBS``) says its own time and runs in turn with ours.  A graph's time is the sum
over the sources of the least; ``ratio`` is ours over GAP's.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import record

import edgewise as ew
from edgewise.device import threads as thread_count
from edgewise.paths.bfs import bfs

GRAPHS = ("rmat20", "urand20", "rgg20", "delaunay20", "road1500", "comps2M")
#: Sources of each graph, members of a small component, rounds, and runs of each side in a round.
SOURCES, SMALL, ROUNDS, RUNS = 3, 19, 5, 5


class Kind(NamedTuple):
    """A kind of search: GAP's program, what it reads, and what we hold against it."""

    program: str
    suffix: str  # ".sg", or ".wsg" with weights
    methods: tuple[str, ...]
    search: Callable  # (graph, source, method) -> Distances
    options: tuple[str, ...] = ()  # of GAP's program
    prepare: Callable = lambda name, graph: graph  # called once: adds weights, keeps rows


def prepare_bfs(name, graph):
    graph.offsets  # noqa: B018  rows are there before anything is timed
    return graph


KINDS = {
    "bfs": Kind(
        "bfs",
        ".sg",
        ("auto", "top-down", "direction-optimising"),
        lambda graph, source, method: bfs(graph, source, method=method),
        prepare=prepare_bfs,
    ),
}


def run_all(kind, names, threads):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names or GRAPHS:
            graph = KINDS[kind].prepare(name, ew.generate.named(name))
            rows += run_graph(kind, name, graph, threads, Path(folder))
    for count in threads:
        ratios = [row["ratio"] for row in rows if row["method"] == "auto" and row["threads"] == count]
        if all(ratios):
            mean = np.exp(np.mean(np.log(ratios)))
            print(f"{count} threads: auto / gapbs, geometric mean {mean:.2f}, worst {max(ratios):.2f}")
    record.write(f"{kind}-cpu", rows)


def run_graph(kind, name, graph, threads, folder):
    file = folder / f"graph{KINDS[kind].suffix}"
    if os.environ.get("GAPBS"):
        ew.write(graph, file)
    sources = sources_of(graph)
    return [row for count in threads for row in run_threads(kind, name, graph, count, sources, file)]


def sources_of(graph):
    """Fixed vertices of the largest component, or of components of 19 where all are small."""
    result = ew.connected_components(graph)
    if result.largest > graph.n_vertices // 4:
        chosen = np.flatnonzero(result.labels == result.roots[result.sizes().argmax()])
    else:
        chosen = result.roots[result.sizes() == SMALL]
    return np.random.default_rng(1).choice(chosen, SOURCES, replace=False).tolist()


def run_threads(kind, name, graph, count, sources, file):
    thread_count.use(count)
    found = KINDS[kind]
    check(found, graph, sources)
    times = {peer: {source: [] for source in sources} for peer in ("gapbs", *found.methods)}
    for _ in range(ROUNDS):
        for source in sources:
            times["gapbs"][source] += gapbs(found, file, source, count) if os.environ.get("GAPBS") else []
            for method in found.methods:
                search = partial(found.search, graph, source, method)
                times[method][source] += [seconds(search) for _ in range(RUNS)]
    peer = summed(times["gapbs"])
    rows = [
        {
            "graph": name,
            "threads": count,
            "method": method,
            "chosen": found.search(graph, sources[0], method).method,
            "ms": summed(times[method]),
            "gapbs_ms": peer,
            "ratio": summed(times[method]) / peer if peer else None,
        }
        for method in found.methods
    ]
    print(name, f"{count} threads: gapbs {peer:.3f}", " ".join(map(cell, rows)), flush=True)
    return rows


def check(kind, graph, sources):
    for source in sources:
        first = kind.search(graph, source, kind.methods[0]).verify()
        for method in kind.methods[1:]:
            assert np.array_equal(kind.search(graph, source, method).distances, first.distances), method


def summed(times):
    """Milliseconds: the least of each source, summed."""
    return 1e3 * sum(min(spent, default=0.0) for spent in times.values())


def cell(row):
    ratio = f" ({row['ratio']:.3f})" if row["ratio"] else ""
    return f"{row['method']} {row['ms']:.3f}{ratio}"


def seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def gapbs(kind, file, source, threads):
    """Seconds of some trials of GAP's program on a serialised graph."""
    program = Path(os.environ["GAPBS"]) / kind.program
    command = [program, "-f", file, "-r", str(source), "-n", str(RUNS), *kind.options]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    return [float(t) for t in re.findall(r"Trial Time:\s+([\d.]+)", said)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--threads", type=int, nargs="*", default=[2])
    options = parser.parse_args()
    run_all(options.kind, options.graphs, options.threads)


if __name__ == "__main__":
    sys.exit(main())
