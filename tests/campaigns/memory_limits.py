"""Calls and commands with a limit of memory, in processes that the system limits: none dies, none is wrong.

``python tests/campaigns/memory_limits.py --cases 100 --seed 1``; ``--only 17`` repeats the case of a number.

A case is a graph, a call and a limit, from a third to twice of what :meth:`Graph.estimate` says.  Its process
makes the call for another graph first, so that all kernels are loaded, and then limits its addresses
(``RLIMIT_AS``) to those that it has, the limit, and :data:`SLACK`.  The call must give the answer of one
without a limit, or be refused: with OutOfMemoryError, before anything is derived of the graph, and only if
the estimate is above the limit.  What it holds at the peak must be within the limit.

One case in four is a command, ``edgewise components``, with a limit drawn about what ``edgewise plan`` says.
It must write the table that it writes without a limit, or end with status 2 and write nothing.

The last line is one of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Bytes beside the limit: addresses without memory behind them, and what allocators keep.
SLACK = 96 << 20
#: Bytes by which a process differs from one moment to the next.
NOISE = 8 << 20
#: Share of the limit by which the peak may be above it.
TOLERANCE = 0.05
#: Seconds of a case, at most.
WATCHDOG = 300
#: Problems and their options.
PROBLEMS = {
    "components": {},
    "thresholds": {"thresholds": [0.3, 0.6]},
    "forest": {},
    "strong": {},
    "cores": {},
    "cycles": {"length": 3},
    "partition": {"parts": 4},
    "bfs": {"source": 0},
    "sssp": {"source": 0},
}
#: Edges of a graph, and vertices for each.
EDGES, SHARES = (1_000_000, 6_000_000), (0.1, 0.25, 0.5, 1.0)


def main(arguments=None):
    """Run cases; return how many had which outcome."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.case is not None:
        print(json.dumps(call_within(json.loads(given.case))))
        return {}
    counts, errors = Counter(), []
    for number in range(given.cases) if given.only is None else [given.only]:
        draw = random.Random(f"{given.seed} {number}")
        case = drawn(draw)
        outcome = command_within(draw) if number % 4 == 3 else in_process(case)
        name = outcome["outcome"]
        counts[name] += 1
        if name not in ("equal", "refused") or given.only is not None:
            print(f"case {number}: {case} {outcome}", flush=True)
        if "error" in outcome:
            errors.append(outcome["error"])
    print(
        json.dumps({**counts, "least_error": min(errors, default=0), "largest_error": max(errors, default=0)})
    )
    return dict(counts)


def drawn(draw):
    """A case."""
    edges = draw.randint(*EDGES)
    return {
        "problem": draw.choice(list(PROBLEMS)),
        "vertices": int(edges * draw.choice(SHARES)),
        "edges": edges,
        "weights": draw.choice(["int32", "int64", "float64"]),
        "rows": draw.random() < 0.3,
        "limit": draw.uniform(0.33, 2.0),
        "seed": draw.randrange(1 << 30),
    }


def in_process(case):
    """The outcome of a case."""
    words = [sys.executable, __file__, "--case", json.dumps(case)]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    environment = {**os.environ, "PYTHONPATH": path}
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=WATCHDOG, env=environment)
    except subprocess.TimeoutExpired:
        return {"outcome": "too slow"}
    if done.returncode:
        return {"outcome": "killed", "status": done.returncode, "why": done.stderr[-300:]}
    return json.loads(done.stdout.splitlines()[-1])


def call_within(case):
    """The outcome of a case, in this process."""
    import ctypes
    import gc
    import resource

    import edgewise as ew

    function = {
        "components": ew.connected_components,
        "thresholds": ew.connected_components,
        "forest": ew.minimum_spanning_forest,
        "strong": ew.strongly_connected_components,
        "cores": ew.core_numbers,
        "cycles": ew.cycle_counts,
        "partition": ew.partition,
        "bfs": ew.bfs,
        "sssp": ew.shortest_paths,
    }[case["problem"]]
    options, graph = PROBLEMS[case["problem"]], graph_of(case)
    expected = digest(function(copy_of(graph), **options))  # which loads all kernels
    graph = copy_of(graph)
    problem = "components" if case["problem"] == "thresholds" else case["problem"]
    needed = graph.estimate(problem, **options).bytes
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    limit, held = int(case["limit"] * needed), status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    had_rows = graph.has_rows, graph.has_edges
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (status("VmSize") + limit + SLACK, hard))
    try:
        found = function(graph, **options, memory=held + limit)
    except ew.errors.OutOfMemoryError:
        early = (graph.has_rows, graph.has_edges) == had_rows
        return {"outcome": "refused" if early and needed > limit - NOISE else "refused wrongly"}
    peak = status("VmHWM") - held
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    if peak > limit * (1 + TOLERANCE) + NOISE:
        return {"outcome": "above the limit", "peak": peak, "limit": limit, "needed": needed}
    error = round(100 * ((held + needed) / (held + peak) - 1), 1)
    return {"outcome": "equal" if digest(found) == expected else "wrong", "error": error}


def graph_of(case):
    """The graph of a case."""
    import numpy as np

    import edgewise as ew

    draw, n = np.random.default_rng(case["seed"]), case["vertices"]
    ends = draw.integers(0, n, (2, case["edges"]), dtype=np.uint32)
    weighted = case["problem"] in ("thresholds", "forest", "sssp")
    weights = (1000 * draw.random(case["edges"])).astype(case["weights"]) if weighted else None
    directed = case["problem"] == "strong"
    graph = ew.Graph.from_edges(*ends, n_vertices=n, weights=weights, directed=directed)
    if case["rows"]:
        return ew.Graph(n, rows=(graph.offsets, graph.neighbours, graph.csr_weights), directed=directed)
    return graph


def copy_of(graph):
    """The same graph, with nothing derived."""
    import edgewise as ew

    return ew.Graph(graph.n_vertices, edges=graph._edges, rows=graph._rows, directed=graph.directed)


def digest(result):
    """A checksum of the answer."""
    names = ("labels", "cores", "counts", "parts", "distances")
    array = next(getattr(result, name) for name in names if getattr(result, name, None) is not None)
    return zlib.crc32(array.tobytes())


def status(name):
    """Bytes of a line of the status of this process."""
    return 1024 * int(re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())[1])


def command_within(draw):
    """The outcome of a command with a limit."""
    rows, ids = draw.randint(100_000, 3_000_000), draw.choice(["numbers", "strings"])
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/pairs.parquet"
        seed, share = draw.randrange(1 << 30), draw.choice(SHARES)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            # in another process, since the peak of a child counts what its parent holds
            pool.submit(write_pairs, file, rows, ids, seed, share).result()
        plan = json.loads(command("plan", file, "--json")[1])
        most = max(way["bytes"] for way in plan["ways"].values())
        limit = int(draw.uniform(0.4, 1.3) * most)
        words = ["components", file, "--device", "cpu", "-q"]
        command(*words, "-o", f"{folder}/expected/")
        code, _, peak = command(*words, "--memory", str(limit), "-o", f"{folder}/found/")
        if code == 2:
            fits = min(way["bytes"] for way in plan["ways"].values()) <= limit
            left = os.path.exists(f"{folder}/found")
            return {"outcome": "refused wrongly" if fits or left else "refused"}
        if code:
            return {"outcome": "killed", "status": code}
        if peak > limit * (1 + TOLERANCE) + NOISE:
            return {"outcome": "above the limit", "peak": peak, "limit": limit, "plan": plan}
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            same = pool.submit(are_same, f"{folder}/found", f"{folder}/expected").result()
        return {"outcome": "equal" if same else "wrong"}


def write_pairs(file, rows, ids, seed, share):
    """Write a table of pairs."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    ends = np.random.default_rng(seed).integers(0, max(2, int(rows * share)), (2, rows))
    if ids == "strings":
        ends = [np.char.add("record-", one.astype(str)) for one in ends]
    parquet.write_table(pa.table(dict(zip(("left", "right"), ends))), file, row_group_size=1 << 18)


def command(*words):
    """Status, output and largest resident set of a command."""
    child = subprocess.Popen(
        [sys.executable, "-m", "edgewise", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    output = child.stdout.read()
    _, code, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(code)
    child.stdout.close()
    return child.returncode, output, 1024 * usage.ru_maxrss


def are_same(one, other):
    """Whether two folders of shards have the same rows."""
    return table(one) == table(other)


def table(folder):
    """The rows of shards."""
    import pyarrow as pa
    from pyarrow import parquet

    shards = [parquet.read_table(file) for file in sorted(Path(folder).glob("*.parquet"))]
    return pa.concat_tables(shards).combine_chunks()


if __name__ == "__main__":
    outcomes = main()
    sys.exit(bool(set(outcomes) - {"equal", "refused"}))
