"""Searches from both ends go on where fewer vertices wait."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.networkx.breadth_first import search_from_both
from edgewise.networkx.graph import Graph
from edgewise.networkx.unweighted import lists_by_vertex

pytestmark = pytest.mark.interpreter


@pytest.mark.parametrize(("ends", "reached"), [((0, 3), (4, 1)), ((3, 0), (42, 3))])
def test_the_end_with_fewer_vertices_goes_on(ends, reached):
    """A path of four vertices, whose last one is a hub, is found from its first one alone."""
    leaves = np.arange(4, 44)
    sources, targets = np.r_[[0, 1, 2], np.full(40, 3)], np.r_[[1, 2, 3], leaves]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=44)
    rows = graph.offsets, graph.neighbours
    forth, back = ((np.empty(44, np.int64), np.full(44, -1, np.int64)) for _ in range(2))
    meeting, last, back_last = search_from_both(rows, rows, np.array(ends), forth, back)
    assert meeting >= 0 and (last, back_last) == reached


def test_lists_of_vertices_hold_what_is_beside_them():
    """Also of the first vertex, and of one without any."""
    graph = Graph(ew.Graph.from_edges([0, 1], [1, 2], n_vertices=3))
    keys, values = np.array([2, 0, 0, 2, 2]), np.array([0, 1, 2, 1, 2])
    assert lists_by_vertex(graph, np.array([2, 0, 1]), keys, values) == {2: [0, 1, 2], 0: [1, 2], 1: []}
