"""Harish and Narayanan (2007), as in Fusi's slides: BFS, SSSP and all pairs, on the CPU and on a GPU.

Figures 4, 5 and 7 of the paper: random graphs of degree 6 to 7, scale-free graphs in which one vertex in a
thousand has a degree of up to 1000, and graphs of 100,000 vertices with growing degree, all with weights from
1 to 10.  The paper's method (``harish``) is compared with the method that ``auto`` selects, and with
Dijkstra's on one core.

Figure 6, all pairs.  The paper's methods are ``floyd-warshall-simple``, of which it has found a form with a
thread for every row (``floyd-warshall-rows``) to be slower, and one search after another (``harish`` from
every vertex in turn); they are compared with the batched search ``sssp`` and with the method
that ``auto`` selects.  Searches one after another are timed from some of the vertices and scaled up to all.
"""

from functools import partial
from time import perf_counter

import numpy as np

from edgewise import generators
from edgewise.device import arrays
from edgewise.experiments.published import HARISH_ON_GPU, HARISH_PAIRS
from edgewise.experiments.report import Figure, Table, curves, headings
from edgewise.paths.apsp import METHODS
from edgewise.paths.apsp.search import Search, rows_of_a_block
from edgewise.paths.bfs import bfs
from edgewise.paths.sssp import shortest_paths

#: Vertices by size; the paper has up to 10 million.
VERTICES = {
    "paper": (100_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000),
    "small": (10_000, 30_000, 100_000),
    "tiny": (100, 1000),
}
#: Number of vertices and degrees by size.
DEGREES = {
    "paper": (100_000, (6, 12, 25, 50, 100, 200, 400)),
    "small": (5000, (6, 12, 25, 50)),
    "tiny": (100, (6, 12)),
}
#: Least weight of an edge.
LIGHTEST = 1
#: Largest weight of an edge.
HEAVIEST = 10
#: Mean degree of random graphs, in edges per vertex.
MEAN_DEGREE = 6.5
#: Degree of the hubs of scale-free graphs, in edges, at most.
HUB_DEGREE = 1000
#: A run that is expected to take longer, judged by the one before it, is skipped.
MAX_MS = 10_000
#: Work of a millisecond, entries or pairs or triples, which the first run of a method is judged by.
WORK_PER_MS = 10**6

#: Each search: its function and the methods compared.
SEARCHES = {"BFS": (bfs, ("harish", "auto")), "SSSP": (shortest_paths, ("harish", "dijkstra", "auto"))}
#: Methods that run on the CPU only.
ON_CPU = ("dijkstra",)

COLUMNS = headings(
    "vertices | degree: mean degree | search | method | taken | device: on | furthest | ms | runs | "
    "rate: M edges/s | speedup: over harish on the CPU, x | published: published, x"
)

#: Vertices by size; the paper has up to 100,000, of degree 6.
PAIRS_VERTICES = {
    "paper": (1000, 2000, 4000, 8000, 16_000, 32_000, 100_000),
    "small": (250, 500, 1000),
    "tiny": (24, 48),
}
PAIRS_DEGREE = 6
#: Sources from which searches one after another are timed.
SAMPLE = 16
#: Methods for all pairs at once, and how their work grows with the vertices.
BATCHED = {"floyd-warshall-simple": 3, "floyd-warshall-rows": 3, "sssp": 2, "auto": 2}
#: Searches one after another, and the kinds of device for each: the paper had them on a GPU and a CPU core.
IN_TURN = {"dijkstra in turn": ("dijkstra", ("cpu",)), "harish in turn": ("harish", ("cpu", "cuda"))}
PAIRS_COLUMNS = {key: COLUMNS[key] for key in COLUMNS if key not in ("degree", "search", "furthest")}
PAIRS_COLUMNS |= {"sources": "sources timed", "rate": "M pairs/s", "speedup": "over Dijkstra in turn, x"}


def graph_names():
    """Names of the graphs of all sizes."""
    kinds = {"random": VERTICES, "scale-free": VERTICES, "pairs": PAIRS_VERTICES}
    names = [f"{kind}-{n}" for kind, sizes in kinds.items() for counts in sizes.values() for n in counts]
    return (*names, *(f"degree-{degree}" for degree in DEGREES["paper"][1]))


def random_graph(n, degree=MEAN_DEGREE, *, device):
    """A random graph with weights."""
    graph = generators.uniform(n, round(n * degree / 2), seed=1, device=device)
    return generators.with_weights(graph, LIGHTEST, HEAVIEST, seed=1)


def scale_free_graph(n, *, device):
    """A random graph with a few hubs, with weights."""
    graph = generators.scale_free(n, hub_degree=min(HUB_DEGREE, n // 4), seed=1, device=device)
    return generators.with_weights(graph, LIGHTEST, HEAVIEST, seed=1)


def random(watch):
    """Figure 4: BFS and SSSP on random graphs over the number of vertices."""
    graphs = {f"random-{n}": (random_graph, n) for n in VERTICES[watch.size]}
    title = "BFS and SSSP on random graphs, weights 1 to 10"
    published = [
        "BFS 20 to 50 times as fast on the GPU as on the CPU, SSSP 70 times on average",
        "SSSP takes about as long as BFS: light edges rarely make a longer path the shorter one",
    ]
    return _table(watch, "random", title, "Harish 2007, Fig. 4", graphs, published)


def scale_free(watch):
    """Figure 5: the same on graphs with a few hubs."""
    graphs = {f"scale-free-{n}": (scale_free_graph, n) for n in VERTICES[watch.size]}
    title = "BFS and SSSP on scale-free graphs, weights 1 to 10"
    published = ["slower than random graphs: the other threads wait for one with a long row"]
    return _table(watch, "scale-free", title, "Harish 2007, Fig. 5", graphs, published)


def degree(watch):
    """Figure 7: BFS and SSSP on graphs of the same number of vertices and growing degree."""
    n, degrees = DEGREES[watch.size]
    graphs = {f"degree-{degree}": (random_graph, n, degree) for degree in degrees}
    title = "BFS and SSSP over the degree, weights 1 to 10"
    return _table(watch, "degree", title, "Harish 2007, Fig. 7", graphs, [], across="degree")


def devices_of(watch):
    """Devices to measure on: the CPU, and the first device if it is another one."""
    return dict.fromkeys(("cpu", watch.device))


def _table(watch, name, title, source, graphs, published, across="vertices"):
    before: dict[tuple, tuple] = {}
    rows = [row for key in watch.wanted(*graphs) for row in _rows(watch, key, *graphs[key], before=before)]
    series = curves(rows, across, "ms", lambda row: f"{row['search']} {row['method']}, {row['device']}")
    heading = "mean degree" if across == "degree" else across
    figure = Figure(name, title, heading, "milliseconds", series, steep=True, wide=True)
    return Table(name, title, source, COLUMNS, rows, published, [figure])


def _rows(watch, name, make, *shape, before):
    original = watch.graph(name, lambda: make(*shape, device=watch.device))
    source, entries = int(original.degrees().argmax()), len(original.neighbours)
    facts = {"vertices": original.n_vertices, "degree": entries / original.n_vertices}
    ms_of_harish = {}
    for device in devices_of(watch):
        graph = original.to(device)
        for search, (call, methods) in SEARCHES.items():
            for method in methods:
                key = (search, method, device)
                outcome: dict = {}
                if (device != "cpu" and method in ON_CPU) or not affordable(before, key, entries):
                    continue
                if not watch.in_time(f"{name}, {search} by {method} on {device}"):
                    continue
                run = _run(call, graph, source, method, outcome)
                times = watch.time(f"{name}, {search}", f"{method} on {device}", run)
                before[key] = entries, times["ms"]
                if (method, device) == ("harish", "cpu"):
                    ms_of_harish[search] = times["ms"]
                row = {"search": search, "method": method, "device": device, **facts, **outcome, **times}
                row["rate"] = entries / times["ms"] / 1e3
                row["speedup"] = ms_of_harish[search] / times["ms"] if search in ms_of_harish else None
                row["published"] = HARISH_ON_GPU[search] if device != "cpu" and method == "harish" else None
                yield row


def affordable(before, key, work):
    """Whether a run with this amount of work should end in time, judged by the one before it."""
    done, ms = before.get(key, (WORK_PER_MS, 1))
    return ms * work / done <= MAX_MS


def _run(call, graph, source, method, outcome):
    """A run to be timed, which records its method and the largest distance in ``outcome``."""

    def run():
        result = call(graph, source, method=method)
        if not outcome:
            outcome.update(taken=result.method, furthest=result.eccentricity.item())
        return result.distances, result.seconds

    return run


def all_pairs(watch):
    """Figure 6: all pairs over the number of vertices."""
    before: dict[tuple, tuple] = {}
    names = {f"pairs-{n}": n for n in PAIRS_VERTICES[watch.size]}
    rows = [row for name in watch.wanted(*names) for row in _pairs_rows(watch, name, names[name], before)]
    title = "All pairs of random graphs of degree 6, weights 1 to 10"
    series = curves(rows, "vertices", "ms", lambda row: f"{row['method']}, {row['device']}")
    published = [
        "100,000 vertices of degree 6: about 22 minutes on one core",
        "on the GPU Floyd and Warshall's method 3 times as fast on average, repeated search 17 times",
    ]
    figure = Figure("all-pairs", title, "vertices", "milliseconds", series, steep=True, wide=True)
    return Table("all-pairs", title, "Harish 2007, Fig. 6", PAIRS_COLUMNS, rows, published, [figure])


def _pairs_rows(watch, name, n, before):
    original = watch.graph(name, lambda: random_graph(n, PAIRS_DEGREE, device=watch.device))
    sequential = None
    for device in devices_of(watch):
        graph = original.to(device)
        for method, run, sources, work in _pairs_runs(graph, device):
            outcome: dict = {}
            if not affordable(before, (method, device), work):
                continue
            if not watch.in_time(f"{name}, {method} on {device}"):
                continue
            run = partial(run, outcome)
            times = watch.time(f"{name}, {sources} sources", f"{method} on {device}", run)
            before[method, device] = work, times["ms"]
            scaled = {key: times[key] * n / sources for key in ("ms", "least", "largest")}
            if method == "dijkstra in turn":
                sequential = scaled["ms"]
            row = {"vertices": n, "method": method, "device": device, **outcome, **times, **scaled}
            row |= {"sources": sources, "rate": n * n / scaled["ms"] / 1e3}
            row["speedup"] = sequential and sequential / scaled["ms"]
            row["published"] = HARISH_PAIRS.get(method) if device != "cpu" else None
            yield row


def _pairs_runs(graph, device):
    """Each method of the device: its name, a run that records the method, number of sources, and work."""
    n, kind = graph.n_vertices, device.partition(":")[0]
    sample = np.linspace(0, n - 1, min(SAMPLE, n), dtype=np.int64)
    for name, (method, kinds) in IN_TURN.items():
        if kind in kinds:
            yield name, _in_turn(graph, sample, method), len(sample), n
    for method, power in BATCHED.items():
        full = method != "auto" and METHODS[method].full_matrix
        if not (full and 12 * n * n > arrays.free_memory(device)):
            yield method, _batched(graph, method), n, n**power


def _in_turn(graph, sources, method):
    def run(outcome):
        results = [shortest_paths(graph, source, method=method) for source in sources]
        outcome["taken"] = method
        sums = [_sum(result.distances) for result in results]
        return np.array(sums), sum(result.seconds for result in results)

    return run


def _batched(graph, method):
    """All pairs, block after block into the same memory; the sums of the rows are compared."""

    def run(outcome):
        search, n, device = Search(METHODS, graph, method, None), graph.n_vertices, graph.device
        outcome["taken"] = search.name
        rows = min(rows_of_a_block(n, n, search.dtype), n)
        block, sums, seconds = arrays.empty(rows * n, search.dtype, device), [], 0.0
        for first in range(0, n, rows):
            sources = np.arange(first, min(first + rows, n))
            arrays.synchronize(device)
            start = perf_counter()
            search.into(sources, block[: len(sources) * n])
            arrays.synchronize(device)
            seconds += perf_counter() - start
            sums += [_sum(block[row * n : (row + 1) * n]) for row in range(len(sources))]
        return np.array(sums), seconds

    return run


def _sum(distances):
    return int(distances.sum(dtype=np.int64))
