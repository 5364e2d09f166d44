"""Triangles through every vertex and every entry, against products of the adjacency matrix."""

import os

import numpy as np
import pytest

import edgewise as ew
from edgewise.cycles.ranked import ranked_of
from edgewise.cycles.triangles import edge_triangles, triangle_counts
from edgewise.device import arrays
from edgewise.device.target import SIMULATED
from tests.zoo import ZOO

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
SHAPES = ["isolated", "repeated edges", "clique", "dense"] if SIMULATED else ZOO


def supports_of(vertices, sources, targets):
    """Triangles through each edge of the simple graph, as a matrix."""
    matrix = np.zeros((vertices, vertices), np.int64)
    matrix[sources, targets] = matrix[targets, sources] = 1
    np.fill_diagonal(matrix, 0)
    return matrix @ matrix * matrix


def on_host(array):
    return np.asarray(arrays.move(array, "cpu"))


@pytest.mark.parametrize("shape", SHAPES)
def test_triangles_are_those_of_the_matrix(shape):
    vertices, sources, targets = ZOO[shape]
    ranked = ranked_of(ew.Graph.from_edges(sources, targets, n_vertices=vertices).to(PLACE))
    supports = supports_of(vertices, sources, targets)
    counts, found = on_host(triangle_counts(ranked)), on_host(edge_triangles(ranked))
    assert counts.dtype == np.int64
    assert found.dtype == np.int32
    rank, offsets = on_host(ranked.rank), on_host(ranked.offsets)
    assert (counts[rank] == supports.sum(axis=1) // 2).all()
    vertex = np.argsort(rank)
    rows = vertex[np.repeat(np.arange(vertices), np.diff(offsets))]
    assert (found == supports[rows, vertex[on_host(ranked.neighbours)]]).all()
