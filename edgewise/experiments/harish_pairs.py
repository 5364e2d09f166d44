"""Harish and Narayanan (2007): all pairs, by Floyd and Warshall's method and by repeated search.

Figure 6 of the paper.  Its two methods are ``floyd-warshall-simple`` and one search after another (``harish``
from every vertex in turn); beside them stand the batched search ``sssp`` and what ``auto`` takes.  Searches
one after another are timed from some of the vertices and scaled up to all.
"""

from functools import partial
from time import perf_counter

import numpy as np

from edgewise.device import arrays
from edgewise.experiments.harish import affordable, devices_of, random_graph
from edgewise.experiments.published import HARISH_PAIRS
from edgewise.experiments.report import Figure, Table, curves
from edgewise.paths.apsp import METHODS
from edgewise.paths.apsp.search import Search, rows_of_a_block
from edgewise.paths.sssp import shortest_paths

#: Vertices by size; the paper tells of 100,000 of degree 6.
VERTICES = {
    "paper": (1000, 2000, 4000, 8000, 16_000, 32_000, 100_000),
    "small": (250, 500, 1000),
    "tiny": (24, 48),
}
MEAN_DEGREE = 6
#: Sources from which searches one after another are timed.
SAMPLE = 16
#: Methods for all pairs at once, and how their work grows with the vertices.
TOGETHER = {"floyd-warshall-simple": 3, "sssp": 2, "auto": 2}
#: Searches one after another: the paper's on a GPU, and one core's as it was on its CPU.
IN_TURN = {"dijkstra in turn": ("dijkstra", ("cpu",)), "harish in turn": ("harish", ("cpu", "cuda"))}


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
        {
            "vertices": "vertices",
            "method": "method",
            "taken": "taken",
            "device": "on",
            "ms": "ms",
            "runs": "runs",
            "sources": "sources timed",
            "rate": "M pairs/s",
            "speedup": "over Dijkstra in turn, x",
            "published": "published, x",
        },
        rows,
        [
            "100,000 vertices of degree 6: about 22 minutes on one core",
            "on the GPU Floyd and Warshall's method 3 times as fast on average, repeated search 17 times",
        ],
        [Figure("all-pairs", title, "vertices", "milliseconds", series, steep=True, wide=True)],
    )


def _rows(watch, name, n, before):
    made = watch.graph(name, lambda: random_graph(n, MEAN_DEGREE, device=watch.device))
    sequential = None
    for where in devices_of(watch):
        graph = made.to(where)
        for method, run, sources, work in _runs(graph, where):
            taken = {}
            if not affordable(before, (method, where), work):
                continue
            found = watch.time(f"{name}, {sources} sources", f"{method} on {where}", partial(run, taken))
            before[method, where] = work, found["ms"]
            scaled = {key: found[key] * n / sources for key in ("ms", "least", "largest")}
            if method == "dijkstra in turn":
                sequential = scaled["ms"]
            yield {
                "vertices": n,
                "method": method,
                "device": where,
                **taken,
                **found,
                **scaled,
                "sources": sources,
                "rate": n * n / scaled["ms"] / 1e3,
                "speedup": sequential and sequential / scaled["ms"],
                "published": HARISH_PAIRS.get(method) if where != "cpu" else None,
            }


def _runs(graph, device):
    """Each method that the place has: its name, a run that notes the method taken, sources and work."""
    n, kind = graph.n_vertices, device.partition(":")[0]
    few = np.linspace(0, n - 1, min(SAMPLE, n), dtype=np.int64)
    for name, (method, kinds) in IN_TURN.items():
        if kind in kinds:
            yield name, _in_turn(graph, few, method), len(few), n
    for method, power in TOGETHER.items():
        whole = method != "auto" and METHODS[method].full_matrix
        if not (whole and 12 * n * n > arrays.free_memory(device)):
            yield method, _together(graph, method), n, n**power


def _in_turn(graph, sources, method):
    def run(taken):
        results = [shortest_paths(graph, source, method=method) for source in sources]
        taken["taken"] = method
        sums = [_sum(result.distances) for result in results]
        return np.array(sums), sum(result.seconds for result in results)

    return run


def _together(graph, method):
    """All pairs, block after block into the same memory; of each row the sum is kept, for comparing."""

    def run(taken):
        search, n, device = Search(METHODS, graph, method, None), graph.n_vertices, graph.device
        taken["taken"] = search.name
        rows = min(rows_of_a_block(n, n, search.dtype), n)
        block, sums, spent = arrays.empty(rows * n, search.dtype, device), [], 0.0
        for first in range(0, n, rows):
            sources = np.arange(first, min(first + rows, n))
            arrays.synchronize(device)
            start = perf_counter()
            search.into(sources, block[: len(sources) * n])
            arrays.synchronize(device)
            spent += perf_counter() - start
            sums += [_sum(block[row * n : (row + 1) * n]) for row in range(len(sources))]
        return np.array(sums), spent

    return run


def _sum(distances):
    return int(distances.sum(dtype=np.int64))
