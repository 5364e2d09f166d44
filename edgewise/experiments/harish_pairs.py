"""Harish and Narayanan (2007): all pairs, by Floyd and Warshall's method and by repeated search.

Figure 6 of the paper.  Its two methods are ``floyd-warshall-simple`` and one search after another (``harish``
from every vertex in turn); they are compared with the batched search ``sssp`` and with the method that
``auto`` selects.  Searches one after another are timed from some of the vertices and scaled up to all.
"""

from functools import partial
from time import perf_counter

import numpy as np

from edgewise.device import arrays
from edgewise.experiments.harish import COLUMNS as ONE_SOURCE
from edgewise.experiments.harish import affordable, devices_of, random_graph
from edgewise.experiments.published import HARISH_PAIRS
from edgewise.experiments.report import Figure, Table, curves
from edgewise.paths.apsp import METHODS
from edgewise.paths.apsp.search import Search, rows_of_a_block
from edgewise.paths.sssp import shortest_paths

#: Vertices by size; the paper has up to 100,000, of degree 6.
VERTICES = {
    "paper": (1000, 2000, 4000, 8000, 16_000, 32_000, 100_000),
    "small": (250, 500, 1000),
    "tiny": (24, 48),
}
MEAN_DEGREE = 6
#: Sources from which searches one after another are timed.
SAMPLE = 16
#: Methods for all pairs at once, and how their work grows with the vertices.
BATCHED = {"floyd-warshall-simple": 3, "sssp": 2, "auto": 2}
#: Searches one after another, and the kinds of device for each: the paper had them on a GPU and a CPU core.
IN_TURN = {"dijkstra in turn": ("dijkstra", ("cpu",)), "harish in turn": ("harish", ("cpu", "cuda"))}
COLUMNS = {key: heading for key, heading in ONE_SOURCE.items() if key not in ("degree", "search", "furthest")}
COLUMNS |= {"sources": "sources timed", "rate": "M pairs/s", "speedup": "over Dijkstra in turn, x"}


def all_pairs(watch):
    """Figure 6: all pairs over the number of vertices."""
    before = {}
    names = {f"pairs-{n}": n for n in VERTICES[watch.size]}
    rows = [row for name in watch.wanted(*names) for row in _rows(watch, name, names[name], before)]
    title = "All pairs of random graphs of degree 6, weights 1 to 10"
    series = curves(rows, "vertices", "ms", lambda row: f"{row['method']}, {row['device']}")
    return Table(
        "all-pairs",
        title,
        "Harish 2007, Fig. 6",
        COLUMNS,
        rows,
        [
            "100,000 vertices of degree 6: about 22 minutes on one core",
            "on the GPU Floyd and Warshall's method 3 times as fast on average, repeated search 17 times",
        ],
        [Figure("all-pairs", title, "vertices", "milliseconds", series, steep=True, wide=True)],
    )


def _rows(watch, name, n, before):
    original = watch.graph(name, lambda: random_graph(n, MEAN_DEGREE, device=watch.device))
    sequential = None
    for device in devices_of(watch):
        graph = original.to(device)
        for method, run, sources, work in _runs(graph, device):
            outcome = {}
            if not affordable(before, (method, device), work):
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


def _runs(graph, device):
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
