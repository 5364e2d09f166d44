"""Label propagation on a GPU: every width, and all three in one round, gives the labels of the CPU."""

from importlib import import_module

import numpy as np
import pytest

import edgewise as ew
from edgewise.components import ROWS
from edgewise.components.propagate import propagate_and_count
from edgewise.components.symmetric_csr import SymmetricCSR, symmetric_csr
from tests.components.test_gpu import LARGE
from tests.zoo import ZOO

rows_page = import_module("edgewise.components.symmetric_csr")
pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("width", ROWS)
@pytest.mark.parametrize("family", ["rmat", "uniform, sparse", "hubs", "star", "stencil"])
def test_large_graphs(family, width):
    graph = ew.generate.stencil3d(15, unknowns=3) if family == "stencil" else LARGE[family]()
    expected = ew.connected_components(graph, method="rem-sequential").labels
    there = graph.to("cuda")
    labels, rounds = propagate_and_count(graph.n_vertices, symmetric_csr(there), width)
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
    monkeypatch.setattr(rows_page, "MAX_THREAD_ROW", 4)
    monkeypatch.setattr(rows_page, "MAX_WARP_ROW", 40)
    monkeypatch.setattr(rows_page, "NEARLY_EMPTY", 0)
    graph = LARGE["hubs"]()
    rows = SymmetricCSR(*symmetric_csr(graph.to("cuda")))
    assert [width for width, _ in rows.by_length] == ["block", "warp", "thread"]
    assert sum(len(chosen) for _, chosen in rows.by_length) == int((graph.degrees() > 0).sum())
    labels, _ = propagate_and_count(graph.n_vertices, rows)
    assert np.array_equal(labels.get(), ew.connected_components(graph).labels)
