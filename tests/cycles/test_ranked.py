"""The ranked simple graph: both ways to make it agree, and it is what a plain set of edges says."""

import os
import tracemalloc

import numpy as np
import pytest

import edgewise as ew
from edgewise.cycles import needs
from edgewise.cycles.counting.ranked import bytes_of_ranks
from edgewise.cycles.counting.ranking import by_counting, by_keys, ranked_of, sorted_rows
from edgewise.device import arrays
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.ingest.csr import rows_from_edges
from edgewise.needs import size_of
from tests.zoo import ZOO

PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")


def on_host(value):
    """An array of any device on the host, and any other value as it is."""
    return arrays.move(value, "cpu") if hasattr(value, "dtype") else value


def check(ranked, n, sources, targets):
    """Compare with sets of edges."""
    edges = [(min(u, v), max(u, v)) for u, v in zip(sources.tolist(), targets.tolist())]
    simple = {(u, v) for u, v in edges if u != v}
    degree = np.zeros(n, int)
    for edge in simple:
        degree[list(edge)] += 1
    order = sorted(range(n), key=lambda v: (degree[v], v))
    assert ranked.rank[order].tolist() == list(range(n))
    rank = ranked.rank.tolist()
    rows = [sorted({rank[w] for e in simple if v in e for w in e if w != v}) for v in order]
    assert ranked.offsets.tolist() == np.cumsum([0, *map(len, rows)]).tolist()
    assert ranked.neighbours.tolist() == [u for row in rows for u in row]
    lower = [sum(u < v for u in row) for v, row in enumerate(rows)]
    assert (ranked.split - ranked.offsets[:-1]).tolist() == lower
    assert ranked.n_self_loops == sum(u == v for u, v in edges)
    assert ranked.n_duplicates == len(edges) - ranked.n_self_loops - len(simple)
    assert ranked.neighbours.dtype == ranked.rank.dtype == np.uint32
    assert ranked.offsets.dtype == ranked.split.dtype == np.int64


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("shape", ZOO)
def test_zoo(shape):
    n, sources, targets = ZOO[shape]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n).to(PLACE)
    ranked = ranked_of(graph)
    assert ranked.device == graph.device and ranked.n_vertices == n
    assert ranked_of(graph) is ranked
    check(ranked._replace(**{k: on_host(getattr(ranked, k)) for k in ranked._fields[:4]}), *ZOO[shape])


def rows_of(n, sources, targets):
    """Rows that have each edge in both directions, on the host."""
    return rows_from_edges(n, sources.astype(np.uint32), targets.astype(np.uint32), True)[:2]


def check_same(one, other):
    """Compare all that both ways to rank know."""
    for here, there in zip(map(on_host, one[:6]), map(on_host, other)):
        assert np.array_equal(here, there)
        assert getattr(here, "dtype", None) == getattr(there, "dtype", None)


@pytest.mark.parametrize("edges", [0, 10, 3_000, 40_000])
def test_counting_and_sorting_agree(edges):
    draw = np.random.default_rng(edges)
    hubs = draw.integers(0, 4, edges)  # long rows, and repeated edges
    for sources in (draw.integers(0, 2_000, edges), hubs):
        ends = sources.astype(np.uint32), draw.integers(0, 2_000, edges).astype(np.uint32)
        check_same(by_keys(*rows_of(2_000, *ends)), by_counting(2_000, *ends))


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("shape", ZOO)
def test_rows_are_ranked_as_edges_are(shape):
    n, sources, targets = ZOO[shape]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n)
    for one in (graph.simplified(), graph):
        expected = by_counting(n, one.sources, one.targets)
        for backwards in (False, True):  # rows that descend are sorted
            offsets, neighbours = rows_of(n, one.sources, one.targets)
            if backwards:
                order = np.lexsort((-neighbours.astype(np.int64), np.repeat(np.arange(n), np.diff(offsets))))
                neighbours = neighbours[order]
            found = by_keys(*(arrays.move(part, PLACE) for part in (offsets, neighbours)))
            check_same(found, expected)
            assert found.max_degree == np.diff(expected.offsets).max(initial=0)
            assert np.array_equal(on_host(found.rows), expected.row_of_entries())


def test_nothing_is_read_that_was_not_written():
    n, sources, targets = ZOO["dense"]
    ends = sources.astype(np.uint32), targets.astype(np.uint32)
    expected = by_keys(*rows_of(n, *ends))
    for _ in range(40):  # memory comes back with what was there before
        check_same(expected, by_counting(n, *ends))


@pytest.mark.interpreter
@pytest.mark.parametrize("shape", ZOO)
def test_rows_on_the_host(shape):
    """Sorted or not, with self-loops and repeated entries."""
    n, sources, targets = ZOO[shape]
    offsets, neighbours = rows_of(n, sources, targets)
    backwards = np.lexsort((-neighbours.astype(np.int64), np.repeat(np.arange(n), np.diff(offsets))))
    for rows in (neighbours, neighbours[backwards]):
        check(ranked_of(ew.Graph.from_csr(offsets, rows, directed=False)), n, sources, targets)


def backwards(graph):
    """The neighbours of a graph, each row in the other order."""
    rows = np.repeat(np.arange(graph.n_vertices), np.diff(graph.offsets))
    return graph.neighbours[np.lexsort((-np.arange(len(rows)), rows))]


@pytest.mark.interpreter
@pytest.mark.parametrize("descends", [False, True])
def test_rows_that_descend_are_sorted_without_an_edge_list(descends):
    n = 3000
    graph = ew.Graph.from_edges(*np.random.default_rng(1).integers(0, n, (2, 4 * n)), n_vertices=n)
    neighbours = backwards(graph) if descends else graph.neighbours
    given = ew.Graph(n, rows=(graph.offsets, neighbours, None), directed=False)
    rows, entries = 8 * n, 4 * len(neighbours)
    needed = max(rows + 3 * entries, 20 * n + entries) if descends else 12 * n
    assert given.estimate("cycles", length=3).bytes == needed
    found, wanted = sorted_rows(given), sorted_rows(graph)
    assert not given.has_edges
    assert [one.tolist() for one in found.rows] == [one.tolist() for one in wanted.rows]
    assert found[1:] == wanted[1:]


@pytest.mark.parametrize("form", ["edges", "rows", "rows backwards"])
@pytest.mark.parametrize(("n", "edges"), [(100_000, 200_000), (10_000, 200_000)])
def test_ranks_take_what_is_estimated(n, edges, form):
    """Edges that are repeated are there once more, not all that was found of the first ranks."""
    draw = np.random.default_rng(1)
    ends = draw.integers(0, n, (2, edges), dtype=np.uint32)
    ends[:, 0] = ends[:, 1]
    graph = ew.Graph.from_edges(*ends, n_vertices=n)
    if form != "edges":
        neighbours = graph.neighbours if form == "rows" else backwards(graph)
        graph = ew.Graph(n, rows=(graph.offsets, neighbours, None))
    ranked_of(ew.Graph(n, edges=graph._edges, rows=graph._rows))
    needed = bytes_of_ranks(0, 0, size_of(graph), **needs(graph, length=4).term.keywords)
    tracemalloc.start()
    ranked_of(graph)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.85 * needed < peak < 1.05 * needed + 100_000


@pytest.mark.skipif(INTERPRETED, reason="takes long in the interpreter")
@pytest.mark.parametrize(("length", "edges", "power"), [(4, 50_000, 1), (5, 200_000, 4)])
def test_counting_takes_at_most_what_is_estimated(length, edges, power):
    """Threads hold what they may need for the largest hub, and pentagons a number for each entry."""
    ends = (100_000 * np.random.default_rng(1).random((2, edges)) ** power).astype(np.uint32)
    ew.cycle_counts(ew.Graph.from_edges(*ends, n_vertices=100_000), length)
    graph = ew.Graph.from_edges(*ends, n_vertices=100_000)
    needed = graph.estimate("cycles", length=length).bytes
    tracemalloc.start()
    ew.cycle_counts(graph, length)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.75 * needed < peak < needed
