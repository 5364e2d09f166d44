"""Certificates: how long a check takes beside reading the edges, and the call, its proof and ``verify``.

    python bench/certificates.py [--edges 20000000] [--problems components strong cores forest]

Edges are written to a Parquet file of two columns of int32, which pyarrow reads by all threads.  All that is
timed of a problem runs in turn, after one run that compiles: by the clock (``ms``), and once by the time of
all processors (``processors``).
"""

import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import compared, in_turn, main, median_of, ms_of, part

import edgewise as ew
from edgewise.certificates import check
from edgewise.result import edge_arrays

CALLS = {
    "components": ew.connected_components,
    "strong": ew.strongly_connected_components,
    "cores": ew.core_numbers,
    "forest": ew.minimum_spanning_forest,
}


def graphs(n_edges):
    """Name, number of vertices, and ends of edges."""
    rng = np.random.default_rng(1)
    for name, degree in (("random", 20), ("random", 4)):
        n = max(2 * n_edges // degree, 1)
        yield f"{name}, {degree} neighbours", n, rng.integers(0, n, (2, n_edges))
    n = max(n_edges // 4, 100)
    sources = rng.integers(0, n, n_edges)
    yield "close ids, 8 neighbours", n, (sources, np.clip(sources + rng.integers(-50, 50, n_edges), 0, n - 1))


def rows_of(given):
    """A row for each graph and problem."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "edges.parquet")
        for name, n, ends in graphs(given.edges):
            ends = [np.asarray(one, np.int32) for one in ends]
            pq.write_table(pa.table(ends, names=["source", "target"]), path)
            weights = np.random.default_rng(2).integers(1, 1000, given.edges)
            for problem in given.problems or CALLS:
                made = partial(ew.Graph.from_edges, *ends, n_vertices=n, directed=problem == "strong")
                made = partial(made, weights=weights) if problem == "forest" else made
                row = {"graph": name, "vertices": n, "problem": problem}
                yield row | figures(path, CALLS[problem], made, given.rounds)


def figures(path, call, make, rounds):
    """Times of all that is done with the results of a call, and the size of their certificate."""
    result = call(make())
    certificate, edges = result.certificate(), edge_arrays(result.graph)
    ways = {
        "read": (lambda: pq.read_table(path), None),
        "check": (lambda: check(edges, certificate), None),
        "call": (lambda: call(make()), None),
        "proof": (result.certificate, None),
        "verify": (result.verify, None),
    }
    clocks = {"ms": (time.perf_counter, rounds), "processors": (time.process_time, 1)}
    found = {name: in_turn(ways, turns, clock=clock) for name, (clock, turns) in clocks.items()}
    found = {name: {way: ms_of(times) for way, times in spent.items()} for name, spent in found.items()}
    return found | {"bytes_per_vertex": certificate.nbytes / result.graph.n_vertices}


def summary(rows):
    """Ratios of checking to reading."""
    for problem in CALLS:
        of = [row for row in rows if row["problem"] == problem]
        pairs = [(row["graph"], median_of(row["ms"], "check"), median_of(row["ms"], "read")) for row in of]
        yield from compared(f"checking {problem} over reading", pairs, limit=2.0)


PART = part(
    "certificates-cpu",
    rows_of,
    key=("graph", "problem"),
    summary=summary,
    edges=20_000_000,
    problems=str,
    rounds=5,
)

if __name__ == "__main__":
    main(__doc__, PART)
