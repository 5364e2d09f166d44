"""A warm call enters few pages of the package: files with functions that Python calls, without kernels."""

import sys
from pathlib import Path

import numpy as np
import pytest

import edgewise as ew

HOME = Path(ew.__file__).parent
#: A page of compiled functions only, one of which Python calls; Numba reports that to a profiler.
COMPILED = "device/helpers.py"
N = 20_000
ENDS = np.random.default_rng(1).integers(0, N, (2, 5 * N))
ENDS = ENDS[:, ENDS[0] != ENDS[1]]
PLAIN, WEIGHTED = (
    ew.Graph.from_edges(*ENDS, weights=weights, n_vertices=N) for weights in (None, np.arange(ENDS.shape[1]))
)
#: Public calls, and the number of pages that each may enter on CPU cores.
CALLS = {
    "components": (lambda: ew.connected_components(PLAIN), 12),
    "components by rem": (lambda: ew.connected_components(PLAIN, method="rem"), 12),
    "bfs": (lambda: ew.bfs(PLAIN, 0), 14),
    "shortest paths": (lambda: ew.shortest_paths(WEIGHTED, 0), 16),
    "forest": (lambda: ew.minimum_spanning_forest(WEIGHTED, method="kruskal"), 17),
    "partition": (lambda: ew.partition(PLAIN, 8), 30),
}


def pages_entered(call):
    """Pages of the package with a function that a call enters."""
    entered = set()

    def enter(frame, event, argument):
        if event == "call":
            entered.add(frame.f_code.co_filename)

    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    pages = {Path(page).relative_to(HOME).as_posix() for page in entered if Path(page).is_relative_to(HOME)}
    return pages - {COMPILED}


@pytest.mark.parametrize("name", CALLS)
def test_a_warm_call_enters_few_pages(name):
    call, most = CALLS[name]
    call()
    entered = pages_entered(call)
    assert "front.py" in entered and "device/arrays.py" in entered
    assert len(entered) <= most, sorted(entered)


@pytest.mark.parametrize(
    "call",
    [
        ew.connected_components,
        ew.core_numbers,
        lambda graph: ew.bfs(graph, 0),
        lambda graph: ew.cycle_counts(graph, 3),
        lambda graph: ew.partition(graph, 8),
    ],
)
def test_a_fresh_call_on_rows_neither_lists_nor_counts_the_edges(call, monkeypatch):
    def refuse(*_):
        raise AssertionError("a number for every entry takes longer than most calls")

    rows = PLAIN.simplified()
    graph = ew.Graph(N, rows=(rows.offsets, rows.neighbours, None))
    monkeypatch.setattr("edgewise.ingest.edges.row_numbers", refuse)
    call(graph)
