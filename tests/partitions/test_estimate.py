"""The kinds of graphs that estimates tell apart, and the phase that counts."""

from dataclasses import replace

import numpy as np
import pytest

import edgewise as ew
from edgewise import tuning
from edgewise.device.target import INTERPRETED
from edgewise.needs import Size
from edgewise.partitions.estimate import Kind, bytes_of, kind_of

pytestmark = [pytest.mark.interpreter]


def random_graph(n, edges, **options):
    """A graph of random edges, one of which is a self-loop."""
    ends = np.random.default_rng(1).integers(0, n, (2, edges), dtype=np.uint32)
    ends[1, 0] = ends[0, 0]
    return ew.Graph.from_edges(*ends, n_vertices=n, **options)


def skewed_graph(n, edges):
    """A graph whose first vertices have most of the edges."""
    ends = (n * np.random.default_rng(1).random((2, edges)) ** 4).astype(np.uint32)
    return ew.Graph.from_edges(*ends[:, ends[0] != ends[1]], n_vertices=n)


def shuffled(graph):
    """The same graph, whose vertices have other numbers."""
    numbers = np.random.default_rng(1).permutation(graph.n_vertices).astype(np.uint32)
    ends = numbers[graph.sources], numbers[graph.targets]
    return ew.Graph.from_edges(*ends, n_vertices=graph.n_vertices)


@pytest.mark.parametrize("form", ["edges", "rows"])
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: ew.generate.grid(60, 60), Kind(True, False, False)),
        (lambda: ew.generate.stencil3d(14), Kind(True, False, False)),
        (lambda: ew.generate.rgg(4000, mean_degree=14), Kind(True, False, False)),
        (lambda: shuffled(ew.generate.grid(60, 60)), Kind(False, False, False)),
        (lambda: random_graph(4000, 20_000), Kind(False, False, True)),
        (lambda: skewed_graph(2000, 8000), Kind(False, True, False)),
        pytest.param(
            lambda: ew.generate.rmat(14, simple=True),
            Kind(False, True, False),
            marks=pytest.mark.skipif(INTERPRETED, reason="takes half a minute in the interpreter"),
        ),
        (lambda: ew.Graph.from_edges([], [], n_vertices=9), Kind()),
    ],
)
def test_a_sample_tells_the_kind_of_a_graph(make, kind, form):
    graph = make()
    if form == "rows":
        graph = ew.Graph(graph.n_vertices, rows=(graph.offsets, graph.neighbours, None))
    else:
        graph = ew.Graph(graph.n_vertices, edges=(graph.sources, graph.targets, None))
    assert kind_of(graph) == kind._replace(has_long_rows=form == "edges" or graph.n_vertices == 9)


def test_short_facts_are_counted_where_rows_are_known(monkeypatch):
    """Of many vertices, 16 bytes of facts less, unless there is a long row, a weight, or no row yet."""
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, partitions_short=1000))
    hub = ew.Graph.from_edges(np.zeros(40_000, np.uint32), np.arange(1, 40_001, dtype=np.uint32))
    for graph, has_long_rows in ((ew.generate.grid(60, 60), False), (hub, True)):
        assert kind_of(graph).has_long_rows
        assert len(graph.offsets)
        assert kind_of(graph).has_long_rows == has_long_rows
    near = Kind(True, False, False, False)
    for weight, kind, less in ((0, near, 16), (4, near, 0), (0, near._replace(has_long_rows=True), 0)):
        size = Size(10**7, 4 * 10**8, 8 * 10**8, 4, weight, 2)
        most = bytes_of(size, near._replace(has_long_rows=True), 40)
        assert most - bytes_of(size, kind, 40) == less * 10**7


def test_nothing_is_known_of_an_outline():
    """A graph whose edges are one number in memory, as that of a file that has not been read."""
    column = np.broadcast_to(np.uint32(0), 5000)
    assert kind_of(ew.Graph(1000, edges=(column, column, None))) == Kind()


def test_what_is_known_of_a_graph_never_raises_the_estimate():
    for vertices, degree, threads in [(10**4, 8, 2), (10**6, 2, 16), (10**6, 30, 1), (10**8, 14, 16)]:
        size = Size(vertices, vertices * degree // 2, vertices * degree, 4, 0, threads)
        worst = bytes_of(size, Kind(), 8)
        for near in (False, True):
            for hubs in (False, True):
                for loops in (False, True):
                    assert bytes_of(size, Kind(near, hubs, loops), 8) <= worst


def test_every_thread_may_take_chunks_of_the_others():
    """Totals are 4 bytes for each vertex and thread, also of meshes, where most chunks are its own."""
    size = Size(10**7, 2 * 10**7, 4 * 10**7, 4, 0, 16)
    near = Kind(True, False, False)
    assert bytes_of(size, near, 8) >= 21 * 10**7 + 4 * 16 * 10**7


def test_tables_that_take_the_place_of_totals_count_unless_rows_are_short():
    size = Size(2 * 10**7, 2 * 10**7, 4 * 10**7, 4, 0, 16)
    assert bytes_of(size, Kind(has_hubs=True), 8) >= 21 * 2 * 10**7 + 2**30
    assert bytes_of(size, Kind(True), 8) < bytes_of(size, Kind(), 8)
