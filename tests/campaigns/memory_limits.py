"""Calls and commands with a limit of memory, in processes that the system limits: none dies, none is wrong.

``python tests/campaigns/memory_limits.py --cases 100 --seed 1``; ``--only 17`` repeats the case of a number.
``python bench/memory.py limits`` records the cases.

A case is a graph, a call and a limit.  Of two cases one is a call, with a limit from a third to twice of what
:meth:`Graph.estimate` says.  Its process makes the call for another graph first, so that all kernels are
loaded, and then limits its addresses (``RLIMIT_AS``) to those that it has, the limit, and :data:`SLACK`.  The
call must give the answer of one without a limit, or be refused: with OutOfMemoryError, before anything is
derived of the graph, and only if the estimate is above the limit.

The other one is a command that reads a file, with a limit from half to one and a half times of what
``edgewise plan`` says, by ``--memory``, or by ``ulimit -v`` alone.  The system limits its addresses in either
case, to the limit and :data:`ADDRESSES`.  It must write the table that it writes without a limit, or end with
status 2 before it has read the file, and write nothing.

What a call or a command holds at the peak must be within the limit.  The last line is one of JSON.
"""

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
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
#: Bytes beside the limit: addresses without memory behind them, and what allocators keep.
SLACK = 96 << 20
#: Addresses of a command without memory behind them: those of the libraries, and for each core the stacks,
#: buffers and reserves of several threads.
ADDRESSES = 500_000_000 + 100_000_000 * (os.cpu_count() or 1)
#: Bytes by which a process differs from one moment to the next.
NOISE = 8 << 20
#: Share of the limit by which the peak may be above it.
TOLERANCE = 0.05
#: What a command keeps free beside what is estimated.
MARGIN = 1.05
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
#: Problems whose graphs have weights.
WEIGHTED = {"thresholds", "forest", "sssp"}
#: Edges of a graph, and vertices for each.
EDGES, SHARES = (300_000, 3_000_000), (0.1, 0.25, 0.5, 1.0)
#: Edges of a file.
ROWS = (100_000, 1_500_000)
#: Commands: words before the file and behind it.
COMMANDS = {
    "components": (["components"], []),
    "forest": (["forest"], []),
    "strong": (["strong"], []),
    "cores": (["cores"], []),
    "cycles": (["cycles"], ["--length", "3"]),
    "partition": (["partition"], ["4"]),
    "bfs": (["paths"], ["--bfs", "--source", "1"]),
    "sssp": (["paths"], ["--source", "1"]),
}
#: Files that the commands read: the endings, with ids that are numbers or strings.
FILES = ("parquet", "parquet of strings", "csv", "csv of strings", "txt", "mtx", "npz", "gr")
#: Ends of a run that are right.
RIGHT = {"equal", "refused"}


def main(arguments=None):
    """Run cases; return how many had which outcome."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.case is not None:
        print(json.dumps(call_within(json.loads(given.case))))
        return {}
    numbers = range(given.cases) if given.only is None else [given.only]
    counts, errors = Counter(), []
    for outcome in outcomes_of(given.seed, numbers, given.processes):
        counts[outcome["outcome"]] += 1
        if outcome["outcome"] not in RIGHT or given.only is not None:
            print(outcome, flush=True)
        errors += [outcome["error"]] if "error" in outcome else []
    ends = {"least_error": min(errors, default=0), "largest_error": max(errors, default=0)}
    print(json.dumps({**counts, **ends}))
    return dict(counts)


def outcomes_of(seed, numbers, processes=1):
    """Yield the outcome of each case; so many run at a time."""
    with ThreadPoolExecutor(processes) as pool:
        yield from pool.map(partial(outcome_of, seed), numbers)


def outcome_of(seed, number):
    """The outcome of the case of a number."""
    draw = random.Random(f"{seed} {number}")
    found = command_within(draw) if number % 2 else in_process(drawn(draw))
    return {"case": number, **found}


def drawn(draw):
    """A case of a call."""
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
    """The outcome of a call."""
    words = [sys.executable, __file__, "--case", json.dumps(case)]
    known = {"what": "call", "problem": case["problem"], "case of": case}
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=WATCHDOG, env=environment())
    except subprocess.TimeoutExpired:
        return known | {"outcome": "too slow"}
    if done.returncode:
        return known | {"outcome": "killed", "status": done.returncode, "why": done.stderr[-300:]}
    return known | json.loads(done.stdout.splitlines()[-1])


def environment():
    """Variables of a process that finds this package."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return {**os.environ, "PYTHONPATH": path, "EDGEWISE_QUIET": "1"}


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
    weighted = case["problem"] in WEIGHTED
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
    problem, kind = draw.choice(list(COMMANDS)), draw.choice(FILES)
    edges, share, seed = draw.randint(*ROWS), draw.choice(SHARES), draw.randrange(1 << 30)
    by_option, factor = draw.random() < 0.5, draw.uniform(0.5, 1.5)
    known = {"what": "command", "problem": problem, "file": kind, "edges": edges, "by option": by_option}
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/graph.{kind.partition(' ')[0]}"
        fresh(write_graph, file, edges, share, seed, "strings" in kind)
        before, behind = COMMANDS[problem]
        behind = ["r1" if word == "1" and "strings" in kind else word for word in behind]
        words = [*before, file, *behind, "--device", "cpu", "-q"]
        planned = run_of("plan", *words[: len(words) - 3], "--json")
        if planned.code:
            return known | {"outcome": "no plan", "why": planned.error}
        plan = json.loads(planned.output)
        needs = [way["bytes"] for way in plan["ways"].values()] if "ways" in plan else [plan["bytes"]]
        limit = int(factor * max(needs))
        # a name of a folder allows for ids on disk, which only components do
        end = "/" if problem == "components" else ".parquet"
        expected = run_of(*words, "-o", f"{folder}/expected{end}")
        most = ["--memory", str(limit)] if by_option else []
        found = run_of(*words, *most, "-o", f"{folder}/found{end}", addresses=limit + ADDRESSES)
        known |= {"limit": limit, "needs": needs, "peak": found.peak}
        if found.code == 2:
            return known | _refused(found, os.path.exists(f"{folder}/found{end}"), by_option, needs, limit)
        if found.code or expected.code:
            return known | {"outcome": "killed", "status": found.code, "why": found.error + expected.error}
        if (
            by_option and found.peak > limit * (1 + TOLERANCE) + NOISE
        ):  # perhaps it compiled what others do not use
            known["peak"] = run_of(*words, *most, "-o", f"{folder}/later{end}").peak
            if known["peak"] > limit * (1 + TOLERANCE) + NOISE:
                return known | {"outcome": "above the limit"}
        if "ways" not in plan:  # beside a run that compiles nothing
            peak = run_of(*words, "-o", f"{folder}/again{end}").peak
            known["error"] = round(100 * (needs[0] / peak - 1), 1)
        same = fresh(are_same, f"{folder}/found{end}", f"{folder}/expected{end}")
        return known | {"outcome": "equal" if same else "wrong"}


def _refused(found, left, by_option, needs, limit):
    """Whether a command was refused as it must be."""
    if left or (by_option and min(needs) <= limit / MARGIN):
        return {"outcome": "refused wrongly", "why": found.error}
    if "() of " in found.error or " needs " not in found.error:
        return {"outcome": "refused after reading", "why": found.error}
    return {"outcome": "refused"}


def write_graph(file, edges, share, seed, strings):
    """Write a graph with weights."""
    import numpy as np
    import pyarrow as pa

    import edgewise as ew

    draw, n = np.random.default_rng(seed), max(2, int(edges * share))
    ends, weights = draw.integers(0, n, (2, edges), dtype=np.uint32), draw.integers(1, 1000, edges)
    ends[:, 0] = 1  # the source of searches
    if file.endswith(("parquet", "csv")):
        if strings:
            ends = [np.char.add("r", one.astype(str)) for one in ends]
        ew.write(pa.table({"left": ends[0], "right": ends[1], "weight": weights}), file)
    else:
        ew.write(ew.Graph.from_edges(*ends, n_vertices=n, weights=weights), file)


def fresh(function, *given):
    """Call a function in a new process, since the peak of a child counts what its parent holds."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *given).result()


class Run(NamedTuple):
    """Status, output and largest resident set of a command."""

    code: int
    output: str
    error: str
    peak: int


def run_of(*words, addresses=None):
    """Run a command, with a limit of its addresses."""
    words = [sys.executable, "-m", "edgewise", *words]
    if addresses is not None:
        words = ["sh", "-c", f'ulimit -v {addresses // 1024}; exec "$@"', "sh", *words]
    with tempfile.TemporaryFile("w+") as error:
        child = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=error,
            text=True,
            env=environment(),
            cwd=tempfile.gettempdir(),
        )
        output = child.stdout.read()
        _, code, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(code)
        child.stdout.close()
        error.seek(0)
        return Run(child.returncode, output, error.read()[-300:], 1024 * usage.ru_maxrss)


def are_same(one, other):
    """Whether two files, or folders of shards, have the same rows."""
    return table(one) == table(other)


def table(folder):
    """The rows of a file or of shards."""
    import pyarrow as pa
    from pyarrow import parquet

    files = sorted(Path(folder).glob("*.parquet")) if folder.endswith("/") else [folder]
    shards = [parquet.read_table(file) for file in files]
    return pa.concat_tables(shards).combine_chunks()


if __name__ == "__main__":
    outcomes = main()
    sys.exit(bool(set(outcomes) - RIGHT))
