"""What calls and jobs need in memory: the estimate beside what is measured.

    python bench/memory.py calls [--edges 8000000] [--only bfs]   Graph.estimate and calls for graphs
    python bench/memory.py jobs [--pairs 4000000]                 edgewise plan and edgewise components
    python bench/memory.py commands [--edges 400000]              edgewise plan and all subcommands, all files
    python bench/memory.py partitions [--entries 20000000]        bytes of a partition for each entry
    python bench/memory.py limits [--cases 500]                   calls and commands that the system limits

Each case is a fresh process.  A call is made once for a copy of the graph, so that kernels are loaded, then
the peak of resident memory is reset (Linux only), and the call is measured for another copy.  Its error is
that of all that the process holds at the peak: what was there before the call, and what the estimate adds.  A
job or a command runs twice, since the first run may compile.  The table is in order of the error, and a
histogram of the errors follows.  Graphs that are partitioned are held as rows only, and what these take
counts: ``rows`` are their bytes for each entry, and ``all`` those of the rows and of the call.  The cases
with limits are those of ``tests/campaigns/memory_limits.py``.
"""

import ctypes
import gc
import json
import re
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from harness import ROOT, main, part, process

import edgewise as ew

#: Problems with the public function, what the graph needs to have, and options: by name of the case.
CALLS = {
    "components": (ew.connected_components, {}, {}),
    "thresholds": (ew.connected_components, {"weights": "float64"}, {"thresholds": [0.2, 0.5, 0.9]}),
    "forest": (ew.minimum_spanning_forest, {"weights": "int32"}, {}),
    "forest, float64": (ew.minimum_spanning_forest, {"weights": "float64"}, {}),
    "strong": (ew.strongly_connected_components, {"directed": True}, {}),
    "cores": (ew.core_numbers, {}, {}),
    "bfs": (ew.bfs, {}, {"source": 0}),
    "bfs, directed": (ew.bfs, {"directed": True}, {"source": 0}),
    "sssp": (ew.shortest_paths, {"weights": "int32"}, {"source": 0}),
    "sssp, float64": (ew.shortest_paths, {"weights": "float64"}, {"source": 0}),
    "cycles, 3": (ew.cycle_counts, {}, {"length": 3}),
    "cycles, 4": (ew.cycle_counts, {}, {"length": 4}),
    "partition": (ew.partition, {}, {"parts": 8}),
    "apsp": (ew.all_pairs_shortest_paths, {}, {}),
}
#: Names of problems that differ from those of the cases.
PROBLEMS = {"thresholds": "components"}
#: Graphs by name: vertices for each edge, and the form that they are made of.
GRAPHS = {
    "dense": (1 / 8, "edges"),
    "sparse": (1, "edges"),
    "rows": (1 / 4, "rows"),
    "grid": (1 / 2, "edges"),
}
#: Edges for each vertex of the graph of all pairs.
PAIRS = 5
#: Graphs that are partitioned, of about so many entries, by name: points of a plane, with as many neighbours
#: each, a box of 27-point stencils, and R-MAT without repeated edges.
PARTITIONED = {
    "geometric, 14": lambda entries: ew.generate.rgg(entries // 14, mean_degree=14),
    "geometric, 32": lambda entries: ew.generate.rgg(entries // 32, mean_degree=32),
    "27-point grid": lambda entries: ew.generate.stencil3d(round((entries / 26) ** (1 / 3))),
    "R-MAT": lambda entries: ew.generate.rmat((entries // 32).bit_length() - 1, simple=True),
}
#: Pairs of a job: with as many ids, or a twelfth.
JOBS = ("numbers, sparse", "numbers, dense", "strings, sparse", "strings, dense")
#: Vertices for each edge of a file.
VERTICES = 0.25
#: Runs of a job, of which the last one is measured.
RUNS = 2
#: The error that is wanted, in percent, at most.
BAR = 15
#: Width of a bar of the histogram, in percent.
WIDTH = 5


def graph_of(kind, edges, *, weights=None, directed=False):
    """A graph of about so many edges."""
    share, form = GRAPHS[kind]
    n, draw = int(edges * share), np.random.default_rng(1)
    if kind == "grid":
        side = int(n**0.5)
        vertex = np.arange(side * side, dtype=np.uint32).reshape(side, side)
        ends = [
            np.concatenate(one)
            for one in (
                [vertex[:, :-1].ravel(), vertex[:-1].ravel()],
                [vertex[:, 1:].ravel(), vertex[1:].ravel()],
            )
        ]
        n = side * side
    else:
        ends = [draw.integers(0, n, edges, dtype=np.uint32) for _ in range(2)]
    if weights is not None:
        values = draw.random(len(ends[0])) if weights == "float64" else draw.integers(1, 1000, len(ends[0]))
        weights = values.astype(weights)
    graph = ew.Graph.from_edges(*ends, n_vertices=n, directed=directed, weights=weights)
    if form == "rows":
        return ew.Graph(n, rows=(graph.offsets, graph.neighbours, graph.csr_weights), directed=directed)
    return graph


def copy_of(graph):
    """The same graph, with nothing derived."""
    return ew.Graph(graph.n_vertices, edges=graph._edges, rows=graph._rows, directed=graph.directed)


def status(name):
    """Bytes of a line of the status of this process."""
    return 1024 * int(re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())[1])


def measured_call(problem, kind, edges):
    """What a call for a graph needs, and what the estimate says."""
    function, of_graph, options = CALLS[problem]
    if problem == "apsp":
        edges = PAIRS * int((2 * edges) ** 0.5)
        graph = ew.Graph.from_edges(*np.random.default_rng(1).integers(0, edges // PAIRS, (2, edges)))
    else:
        graph = graph_of(kind, edges, **of_graph)
    name = PROBLEMS.get(problem, problem.partition(",")[0])
    function(copy_of(graph), **options)
    graph = copy_of(graph)
    estimate = graph.estimate(name, **options)
    before, peak, _ = peak_of(function, graph, **options)
    facts = {"problem": problem, "graph": kind, "vertices": graph.n_vertices, "edges": edges}
    return facts | {"method": estimate.method} | row(before, peak - before, estimate.bytes)


def peak_of(function, *given, **options):
    """Bytes that the process holds before a call and at its peak, and what the call returns."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    returned = function(*given, **options)
    return before, status("VmHWM"), returned


def store_rows(kind, entries, folder):
    """Store the rows of a graph of about so many entries."""
    graph = PARTITIONED[kind](entries)
    np.save(f"{folder}/offsets.npy", graph.offsets)
    np.save(f"{folder}/neighbours.npy", graph.neighbours)


def measured_partition(kind, parts, folder):
    """Bytes for each entry of stored rows, and of a partition; a smaller graph has had its kernels loaded."""
    ew.partition(ew.generate.rmat(14), parts)
    rows = (*(np.load(f"{folder}/{name}.npy") for name in ("offsets", "neighbours")), None)
    graph = ew.Graph(len(rows[0]) - 1, rows=rows)
    seconds, cpu = time.perf_counter(), time.process_time()
    before, peak, found = peak_of(ew.partition, graph, parts)
    seconds, cpu = time.perf_counter() - seconds, time.process_time() - cpu
    entries = len(rows[1])
    held, taken = (rows[0].nbytes + rows[1].nbytes) / entries, (peak - before) / entries
    estimated = graph.estimate("partition", parts=parts).bytes / entries
    facts = {"graph": kind, "vertices": graph.n_vertices, "entries": entries, "parts": parts}
    sizes = {"rows": held, "call": taken, "all": held + taken, "estimated": estimated}
    return facts | sizes | {"seconds": seconds, "cpu": cpu, "cut": found.edge_cut}


def write_pairs(kind, pairs, file):
    """Write pairs of a kind."""
    import pyarrow as pa
    from pyarrow import parquet

    few, draw = pairs // 12 if "dense" in kind else pairs, np.random.default_rng(1)
    ends = draw.integers(0, few, (2, pairs))
    if "strings" in kind:
        names = pa.array(np.char.add("record-", np.char.zfill(np.arange(few).astype(str), 10)))
        ends = [names.take(pa.array(one)) for one in ends]
    parquet.write_table(pa.table(dict(zip(("left", "right"), ends))), file)


def measured_job(kind, way, pairs, folder):
    """What a job needs, and what the plan says.

    The peak of a child counts what its parent holds, so that this process holds little.
    """
    file = f"{folder}/pairs.parquet"
    fresh(write_pairs, kind, pairs, file)
    command = [sys.executable, "-m", "edgewise"]
    plan = json.loads(process([*command, "plan", file, "--json"])["output"])
    words = [*command, "components", file, *(["--stream"] if way == "streamed" else []), "--memory", "1TB"]
    for _ in range(RUNS):
        peak = int(process([*words, "-q", "-o", f"{folder}/clusters.parquet"])["mb"] * 2**20)
    needed = plan["ways"][way]["bytes"]
    return {"problem": way, "graph": kind, "vertices": plan["distinct"], "edges": pairs} | row(
        0, peak, needed
    )


def row(before, measured, estimated):
    """Bytes that a call and its estimate add to those before, and the error in percent of all."""
    error = 100 * ((before + estimated) / (before + measured) - 1)
    return {"before": before, "measured": measured, "estimated": estimated, "error": round(error, 1)}


def fresh(function, *given):
    """Call a function in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *given).result()


def calls(given):
    """Graph.estimate and calls for graphs."""
    for problem in given.only or CALLS:
        for kind in GRAPHS if problem != "apsp" else ["sparse"]:
            yield fresh(measured_call, problem, kind, given.edges)


def jobs(given):
    """The plan and the command, from file to file."""
    for kind in JOBS:
        for way in ("in memory", "streamed"):
            with tempfile.TemporaryDirectory() as folder:
                yield measured_job(kind, way, given.pairs, folder)


def partitions(given):
    """Partitions of graphs that are held as rows."""
    for kind in given.only or PARTITIONED:
        with tempfile.TemporaryDirectory() as folder:
            fresh(store_rows, kind, given.entries, folder)
            for parts in given.parts:
                yield fresh(measured_partition, kind, parts, folder)


def commands(given):
    """The plan and the peak of every subcommand that the campaign of limits has, on its kinds of files."""
    campaign = campaign_of_limits()
    for kind in given.only or campaign.FILES:
        with tempfile.TemporaryDirectory() as folder:
            file, strings = f"{folder}/graph.{kind.partition(' ')[0]}", "strings" in kind
            campaign.fresh(campaign.write_graph, file, given.edges, VERTICES, 1, strings)
            for problem, (before, behind) in campaign.COMMANDS.items():
                words = [*before, file, *("r1" if word == "1" and strings else word for word in behind)]
                plan = json.loads(campaign.run_of("plan", *words, "--device", "cpu", "--json").output)
                needed = plan["ways"]["in memory"]["bytes"] if "ways" in plan else plan["bytes"]
                words += ["--memory", "1TB", "--device", "cpu", "-q", "-o", f"{folder}/out.parquet"]
                peak = [campaign.run_of(*words).peak for _ in range(RUNS)][-1]
                yield {"problem": problem, "graph": kind, "edges": given.edges} | row(0, peak, needed)


def campaign_of_limits():
    """The campaign whose cases have limits."""
    sys.path.insert(0, str(ROOT / "tests" / "campaigns"))
    import memory_limits

    return memory_limits


def limits(given):
    """Calls and commands that the system limits."""
    memory_limits = campaign_of_limits()
    numbers = range(given.first, given.first + given.cases)
    for found in memory_limits.outcomes_of(given.seed, numbers, given.processes):
        case = found.pop("case of", {})
        kept = ("problem", "edges", "rows", "limit")
        kept += ("weights",) if case.get("problem") in memory_limits.WEIGHTED else ()
        row = found | {name: case[name] for name in kept if name in case}
        yield row | {"right": row["outcome"] in memory_limits.RIGHT}


def outcomes(rows):
    """How many cases had which outcome, and the histogram of the errors."""
    for what in ("call", "command"):
        some = [one for one in rows if one["what"] == what]
        yield f"{what}: {dict(Counter(one['outcome'] for one in some))}"
        yield from histogram([one for one in some if "error" in one] or [{"error": 0.0}])


def histogram(rows):
    """How many errors are in each range of percents."""
    counts = Counter(int(one["error"] // WIDTH) for one in rows)
    within = sum(abs(one["error"]) <= BAR for one in rows)
    yield f"{within} of {len(rows)} within {BAR} %"
    for number in range(min(counts), max(counts) + 1):
        yield f"{WIDTH * number:+4} to {WIDTH * (number + 1):+4} %  {'#' * counts[number]}"


KEY = ("problem", "graph", "edges")
PARTS = {
    "calls": part("memory-calls", calls, key=KEY, summary=histogram, edges=8_000_000, only=str),
    "partitions": part(
        "memory-partitions", partitions, key=("graph", "parts"), entries=20_000_000, parts=[8, 64], only=str
    ),
    "jobs": part("memory-jobs", jobs, key=KEY, summary=histogram, pairs=4_000_000),
    "commands": part("memory-commands", commands, key=KEY, summary=histogram, edges=400_000, only=str),
    "limits": part(
        "memory-limits", limits, key=("case",), summary=outcomes, first=0, cases=500, seed=1, processes=1
    ),
}

if __name__ == "__main__":
    main(__doc__, PARTS)
