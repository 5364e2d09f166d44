"""Manoochehri (2017), chapter 4: the partitioner with transactions, of which the thesis has a design only.

Its cut, its time and its abort rates stand beside those of the default preset, and its time beside the cost
that the thesis derives in the TMM model (:mod:`~edgewise.experiments.machine_model`).  For a graph of ``n``
vertices of at most ``D`` neighbours and ``m`` edges that is

* ``max(m / p, m / n, D, log2(n), m * L / (tau * p))`` for a pass of coarsening, and
* ``max(m / p, n, m * L / (tau * p))`` for an iteration of the refinement,

and the thesis bounds the number of both by ``D``.
"""

import math
from functools import partial

import numpy as np

from edgewise.experiments.graphs import SIZES
from edgewise.experiments.machine_model import machine_of, seconds
from edgewise.experiments.report import Table, headings
from edgewise.generators import grid, rgg, rmat
from edgewise.partitions import partition

#: Graphs by name, and their vertices at the size of papers.
GRAPHS = {"parts-grid": 2**20, "parts-rgg": 2**20, "parts-rmat": 2**20}
#: Numbers of parts.
PARTS = (2, 8, 64)
PRESET = "manoochehri-2017"


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
    bound, model = costs(graph, work.levels, machine_of(watch.device))
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
        "in_transactions": 1e3 * work.report()["seconds_in_transactions"],
        "matching_aborts": work.matching.abort_rate,
        "move_aborts": work.moves.abort_rate,
        "weight_aborts": work.weights.abort_rate,
        "levels": len(work.levels),
        "iterations": sum(level.iterations for level in work.levels),
        "model": model,
        "off": times[PRESET] / model if model else None,
        "bound": bound,
    }


def costs(graph, levels, machine):
    """Milliseconds in the TMM model: with as many passes as the thesis allows, and with those there were."""
    if machine is None:
        return None, None
    largest = int(graph.degrees().max()) if graph.n_vertices else 0
    coarsening, refining = passes(graph.n_vertices, 2 * graph.n_edges, largest, machine)
    total = 0.0
    for level in levels:
        first, second = passes(level.vertices, level.entries, largest, machine)
        total += level.rounds * first + level.iterations * second
    return 1e3 * largest * (coarsening + refining), 1e3 * total


def passes(n, entries, largest, machine):
    """Seconds of a pass of coarsening, and of an iteration of the refinement."""
    n, of_entries = max(n, 1), {"work": entries, "transfers": entries}
    span = max(entries / n, largest, math.log2(n))
    return seconds(machine, span=span, **of_entries), seconds(machine, span=n, **of_entries)


def partitions(watch):
    """Cut, time and abort rates beside the default, for meshes and a graph with hubs."""
    wanted = ((name, k) for name in watch.wanted(*GRAPHS) for k in PARTS)
    rows = [measured(watch, name, k) for name, k in wanted if watch.in_time(f"{name} in {k} parts")]
    return Table(
        "partitions",
        "The partitioner with transactions, and the default",
        "Manoochehri 2017, chapter 4",
        headings(
            "graph | vertices | edges | parts | cut | default_cut: cut, default | ratio: cut/default, x | "
            "ms | default: ms, default | in_transactions: of it in transactions, ms | "
            "matching_aborts: abort rate of matching | move_aborts: of moves | weight_aborts: of weights | "
            "levels | iterations | model: TMM, passes as measured, ms | "
            "off: measured/TMM, x | bound: TMM, passes as bounded, ms"
        ),
        rows,
        ["none: the thesis has a design and its cost in the TMM model"],
    )
