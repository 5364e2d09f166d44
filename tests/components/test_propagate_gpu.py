"""Label propagation on a GPU: every width, and all three in one round, gives the labels of the CPU."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.components import lengths
from edgewise.components.propagate import ROWS, propagated
from edgewise.components.symmetric_csr import Rows, rows_of
from tests.components.test_gpu import LARGE
from tests.zoo import ZOO

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("width", ROWS)
@pytest.mark.parametrize("family", ["rmat", "uniform, sparse", "hubs", "star", "stencil"])
def test_large_graphs(family, width):
    graph = ew.generate.stencil3d(15, unknowns=3) if family == "stencil" else LARGE[family]()
    expected = ew.connected_components(graph, method="rem-sequential").labels
    there = graph.to("cuda")
    labels, rounds = propagated(graph.n_vertices, rows_of(there), width)
    assert np.array_equal(labels.get(), expected)
    assert rounds >= 2


@pytest.mark.parametrize("width", ROWS)
def test_int64_vertex_numbers(width):
    vertices, sources, targets = ZOO["dense"]
    graph = ew.Graph(vertices, edges=(sources, targets, None))
    expected = ew.connected_components(graph).labels
    found = ew.connected_components(graph.to("cuda"), method="propagate", rows=width)
    assert np.array_equal(found.on_host().labels, expected)


def test_bins_of_all_three_widths(monkeypatch):
    monkeypatch.setattr(lengths, "SHORT", 4)
    monkeypatch.setattr(lengths, "MIDDLE", 40)
    monkeypatch.setattr(lengths, "NEXT_TO_NOTHING", 0)
    graph = LARGE["hubs"]()
    rows = Rows(*rows_of(graph.to("cuda")))
    assert [width for width, _ in rows.by_length] == ["block", "warp", "thread"]
    assert sum(len(chosen) for _, chosen in rows.by_length) == int((graph.degrees() > 0).sum())
    labels, _ = propagated(graph.n_vertices, rows)
    assert np.array_equal(labels.get(), ew.connected_components(graph).labels)
