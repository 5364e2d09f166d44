"""Manoochehri (2017), chapter 4: the partitioner with transactions, of which the thesis has a design only.

Its cut, its time and its abort rates stand beside those of the default preset, and its time beside the cost
that the thesis derives in the TMM model (*threaded many-core memory*).  With the work ``T1``, the span, the
number of memory transfers ``mu``, ``p`` processors and a latency of ``L`` that ``tau`` transfers share, a
step takes ``max(T1 / p, span, mu * L / (tau * p))``.  For a graph of ``n`` vertices of at most ``D``
neighbours and ``m`` edges that is

* ``max(m / p, m / n, D, log2(n), m * L / (tau * p))`` for a pass of coarsening, and
* ``max(m / p, n, m * L / (tau * p))`` for an iteration of the refinement,

and the thesis bounds the number of both by ``D``.
"""

import math
from functools import partial

import numpy as np

from edgewise.device import threads
from edgewise.experiments.graphs import SIZES
from edgewise.experiments.report import Table, headings
from edgewise.generators import grid, rgg, rmat
from edgewise.partitions import partition

#: Graphs by name, and their vertices at the size of papers.
GRAPHS = {"parts-grid": 2**20, "parts-rgg": 2**20, "parts-rmat": 2**20}
#: Numbers of parts.
PARTS = (2, 8, 64)
PRESET = "manoochehri-2017"
#: Seconds of a step and of a memory transfer, and transfers at a time, of a core, and processors of a GPU.
STEP, LATENCY, AT_ONCE, PROCESSORS = 1e-9, {"cpu": 90e-9, "cuda": 600e-9}, {"cpu": 10, "cuda": 16}, 132 * 128


def generated(name, watch):
    """A graph of a name, on the first device."""
    divisor, fewest = SIZES[watch.size]
    n, where = max(GRAPHS[name] // divisor, fewest), {"device": watch.device}
    if name == "parts-grid":
        return grid(math.isqrt(n), **where)
    if name == "parts-rgg":
        return rgg(n, mean_degree=min(12, n // 8), seed=1, **where)
    return rmat(round(math.log2(n)), edge_factor=min(16, n // 16), simple=True, seed=1, **where)


def divided(graph, k, preset, last):
    """Partition a graph for :meth:`~edgewise.experiments.measure.Stopwatch.time`; the result is kept."""
    found = partition(graph, k, preset=preset, seed=1)
    last[preset] = found
    return np.array([found.is_balanced]), found.seconds


def measured(watch, name, k):
    """A row: both presets on one graph."""
    graph = watch.graph(name, lambda: generated(name, watch))
    last: dict = {}
    times: dict[str, float] = {}
    for preset in ("default", PRESET):
        run = partial(divided, graph, k, preset, last)
        times[preset] = watch.time(f"{name}, balance", f"partition({k}, preset={preset})", run)["ms"]
    found, work = last[PRESET], last[PRESET].transactions
    bound, model = costs(graph, work.levels, watch.device)
    return {
        "graph": name,
        "vertices": graph.n_vertices,
        "edges": graph.n_edges,
        "parts": k,
        "default_cut": last["default"].edge_cut,
        "cut": found.edge_cut,
        "ratio": found.edge_cut / max(last["default"].edge_cut, 1),
        "default": times["default"],
        "ms": times[PRESET],
        "in_transactions": 1e3 * (work.matching.seconds + work.moves.seconds),
        "matching_aborts": work.matching.abort_rate,
        "move_aborts": work.moves.abort_rate,
        "weight_aborts": work.weights.abort_rate,
        "levels": len(work.levels),
        "iterations": sum(level.iterations for level in work.levels),
        "model": model,
        "bound": bound,
    }


def costs(graph, levels, device):
    """Milliseconds in the TMM model: with as many passes as the thesis allows, and with those there were."""
    kind = device.partition(":")[0]
    largest = int(graph.degrees().max()) if graph.n_vertices else 0
    of = partial(passes, largest=largest, kind=kind)
    coarsening, refining = of(graph.n_vertices, 2 * graph.n_edges)
    total = 0.0
    for level in levels:
        first, second = of(level.vertices, level.entries)
        total += level.rounds * first + level.iterations * second
    return 1e3 * largest * (coarsening + refining), 1e3 * total


def passes(n, entries, *, largest, kind):
    """Seconds of a pass of coarsening, and of an iteration of the refinement."""
    processors = threads.count() if kind == "cpu" else PROCESSORS
    n, work = max(n, 1), STEP * entries / processors
    memory = entries * LATENCY[kind] / (AT_ONCE[kind] * processors)
    span = STEP * max(entries / n, largest, math.log2(n))
    return max(work, span, memory), max(work, STEP * n, memory)


def partitions(watch):
    """Cut, time and abort rates beside the default, for meshes and a graph with hubs."""
    rows = [measured(watch, name, k) for name in watch.wanted(*GRAPHS) for k in PARTS]
    return Table(
        "partitions",
        "The partitioner with transactions, and the default",
        "Manoochehri 2017, chapter 4",
        headings(
            "graph | vertices | edges | parts | cut | default_cut: cut, default | ratio: cut/default, x | "
            "ms | default: ms, default | in_transactions: of it in transactions, ms | "
            "matching_aborts: abort rate of matching | move_aborts: of moves | weight_aborts: of weights | "
            "levels | iterations | model: TMM, passes as measured, ms | bound: TMM, passes as bounded, ms"
        ),
        rows,
        ["none: the thesis has a design and its cost in the TMM model"],
    )
