"""Clustering coefficients are NetworkX's, bit for bit."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise.cycles.clustering import clustering
from edgewise.device import arrays
from edgewise.device.target import SIMULATED
from edgewise.errors import GraphError, OptionError
from tests.zoo import ZOO

PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
SHAPES = ["empty", "repeated edges", "grid", "two cliques and a bridge"] if SIMULATED else [*ZOO]


def peer_of(vertices, sources, targets):
    import networkx as nx

    peer = nx.Graph()
    peer.add_nodes_from(range(vertices))
    peer.add_edges_from(zip(sources.tolist(), targets.tolist()))
    return nx, peer


def check(vertices, sources, targets):
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices).to(PLACE)
    found = clustering(graph)
    nx, peer = peer_of(vertices, sources, targets)
    host = found.on_host()
    assert host.triangles.tolist() == list(nx.triangles(peer).values())
    assert host.coefficients.tolist() == list(nx.clustering(peer).values())
    assert found.transitivity == nx.transitivity(peer)
    assert found.average == pytest.approx(nx.average_clustering(peer) if vertices else 0.0, rel=1e-14)
    assert np.asarray(arrays.move(found.squares, "cpu")).tolist() == list(nx.square_clustering(peer).values())
    peer.remove_edges_from(list(nx.selfloop_edges(peer)))
    edges = found.edge_triangles().to_pydict()
    ends = list(zip(edges["source"], edges["target"]))
    assert ends == sorted(tuple(sorted(edge)) for edge in peer.edges)
    assert edges["triangles"] == [len(set(peer[u]) & set(peer[v])) for u, v in ends]


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("shape", SHAPES)
def test_coefficients_are_networkx_s(shape):
    check(*ZOO[shape])


@st.composite
def edge_lists(draw):
    vertices = draw(st.integers(1, 20))
    ends = st.lists(st.integers(0, vertices - 1), min_size=0, max_size=70)
    sources = draw(ends)
    targets = draw(st.lists(st.integers(0, vertices - 1), min_size=len(sources), max_size=len(sources)))
    return vertices, np.array(sources, np.int64), np.array(targets, np.int64)


@given(edge_lists())
def test_made_up_graphs(made):
    check(*made)


@pytest.mark.interpreter
def test_ids_come_back_as_they_came_in(tmp_path):
    graph = ew.Graph.from_edges(["d", "a", "c", "a", "c"], ["a", "c", "d", "b", "c"])
    found = clustering(graph)
    assert found.to_frame().to_pydict() == {
        "id": ["d", "a", "c", "b"],
        "triangles": [1, 1, 1, 0],
        "coefficient": [1.0, 1 / 3, 1.0, 0.0],
    }
    assert found.edge_triangles().to_pydict() == {
        "source": ["d", "d", "a", "a"],
        "target": ["a", "c", "c", "b"],
        "triangles": [1, 1, 1, 0],
    }
    assert (found.n_self_loops, found.n_duplicates, found.degrees().tolist()) == (1, 0, [2, 3, 2, 1])
    found.write(tmp_path / "found.csv")
    assert (tmp_path / "found.csv").read_text().splitlines()[1].startswith("d,1,1")


@pytest.mark.interpreter
def test_directed_graphs_are_refused_or_taken_as_undirected():
    graph = ew.Graph.from_edges([0, 1, 2, 1], [1, 2, 0, 0], n_vertices=3, directed=True)
    with pytest.raises(GraphError, match="the graph is directed"):
        clustering(graph)
    with pytest.raises(OptionError, match="a Graph is needed, not list"):
        clustering([(0, 1)])
    found = clustering(graph.undirected())
    assert (found.triangles.tolist(), found.n_duplicates) == ([1, 1, 1], 1)
    assert found.squares.tolist() == [0.0, 0.0, 0.0]
