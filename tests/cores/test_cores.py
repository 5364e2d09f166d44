"""Core numbers of small graphs are the oracle's, and of larger ones NetworkX's."""

import os
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise.command import run
from edgewise.cores.simple_rows import simple_rows
from edgewise.device.target import SIMULATED
from edgewise.errors import GraphError, OptionError, VerificationError
from tests.conftest import engine
from tests.oracles import core_numbers as oracle
from tests.zoo import ZOO

page = import_module("edgewise.cores.peel")
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
SHAPES = ["empty", "isolated", "self-loops", "repeated edges", "dense"] if SIMULATED else list(ZOO)


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("shape", SHAPES)
def test_core_numbers_are_the_oracles(shape):
    vertices, sources, targets = ZOO[shape]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices).to(PLACE)
    result = ew.core_numbers(graph, method="peel").on_host()
    assert result.cores.dtype == np.int32
    assert result.cores.tolist() == oracle(vertices, sources.tolist(), targets.tolist())
    assert result.largest == max(result.cores.tolist(), default=0)
    assert result.sizes().tolist() == np.bincount(result.cores, minlength=1).tolist()
    result.verify()


def nested(n, m, seed):
    """A graph with cores of many sizes, some of them far apart."""
    draw = np.random.default_rng(seed)
    ends = (n * draw.random((2, m)) ** 3).astype(np.int64)
    clique = np.array([(u, v) for u in range(60) for v in range(u)]).T + n
    ends = np.concatenate([ends, clique, [[0], [n]]], axis=1)
    return n + 60, *ends


def networkx_cores(vertices, sources, targets):
    import networkx as nx

    peer = nx.Graph()
    peer.add_nodes_from(range(vertices))
    peer.add_edges_from((u, v) for u, v in zip(sources.tolist(), targets.tolist()) if u != v)
    found = nx.core_number(peer)
    return [found[vertex] for vertex in range(vertices)]


@pytest.mark.parametrize("n, m", [(300, 20_000), (2_000, 8_000), (9_000, 10_000)])
def test_larger_graphs_by_one_worker_and_by_all(n, m):
    made = nested(n, m, seed=n)
    answer = networkx_cores(*made)
    graph = ew.Graph.from_edges(made[1], made[2], n_vertices=made[0])
    assert ew.core_numbers(graph).verify().cores.tolist() == answer
    peeling = page.new_peeling(simple_rows(graph))
    page.run(peeling)  # by all workers, even if there are few
    assert peeling.degrees.tolist() == answer
    assert sorted(peeling.queue.tolist()) == list(range(made[0]))


@pytest.mark.interpreter
def test_small_buffers_in_the_interpreter(monkeypatch):
    if engine() != "interpreter":
        pytest.skip("compiled kernels keep the limits they were compiled with")
    monkeypatch.setattr(page, "BUFFER", 2)
    for made in (*ZOO.values(), nested(60, 700, seed=1)):
        graph = ew.Graph.from_edges(made[1], made[2], n_vertices=made[0])
        assert ew.core_numbers(graph).cores.tolist() == oracle(made[0], made[1].tolist(), made[2].tolist())


@given(
    st.integers(1, 30).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=120)
        )
    )
)
def test_made_up_graphs(made):
    vertices, pairs = made
    sources, targets = np.array(pairs, np.int64).reshape(-1, 2).T
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices)
    answer = oracle(vertices, sources.tolist(), targets.tolist())
    result = ew.core_numbers(graph).verify()
    assert result.cores.tolist() == answer
    core = result.subgraph(2)
    assert len(core) == sum(number >= 2 for number in answer)
    assert not len(core) or core.simplified().degrees().min() >= 2


@pytest.mark.interpreter
def test_rows_in_any_order():
    graph = ew.Graph.from_csr([0, 3, 5, 7], [2, 1, 2, 2, 0, 1, 0], directed=True).undirected()
    assert ew.core_numbers(graph).cores.tolist() == [2, 2, 2]
    unordered = ew.Graph.from_csr([0, 2, 4, 6], [2, 1, 2, 0, 1, 0])
    assert ew.core_numbers(unordered).verify().cores.tolist() == [2, 2, 2]


@pytest.mark.interpreter
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("n", [20, 3000])
def test_rows_become_simple_without_an_edge_list(n, backwards):
    graph = ew.Graph.from_edges(*np.random.default_rng(n).integers(0, n, (2, 4 * n)), n_vertices=n)
    wanted, rows = ew.core_numbers(graph).cores.tolist(), (graph.offsets, graph.neighbours)
    if backwards:
        order = np.lexsort((-np.arange(len(rows[1])), np.repeat(np.arange(n), np.diff(rows[0]))))
        rows = rows[0], rows[1][order]
    given = ew.Graph.from_csr(*rows)
    assert ew.core_numbers(given).cores.tolist() == wanted
    assert not given.has_edges
    assert [one.tolist() for one in simple_rows(given)] == [one.tolist() for one in simple_rows(graph)]


@pytest.mark.interpreter
def test_the_estimate_knows_what_rows_are_like():
    """Simple rows are read as they are, others are copied, and those that descend are sorted before."""
    n, of_peeling = 3, 12 * 3
    for neighbours, more in (
        ([1, 2, 0, 2, 0, 1], 0),
        ([1, 1, 0, 0, 2, 2], 8 * n + 4 * 6),
        ([2, 1, 2, 0, 1, 0], 8 * n + 4 * 6),
    ):
        rows = np.array([0, 2, 4, 6]), np.array(neighbours, np.uint32), None
        graph = ew.Graph(n, rows=rows, directed=False)
        found = graph.estimate("cores").bytes
        sorting = more + max(8 * 6, more + 8 * n) if neighbours[0] > neighbours[1] else 0
        assert found == max(more + of_peeling, sorting)
    edges = ew.Graph.from_edges([0, 1, 2], [1, 2, 0])
    assert edges.estimate("cores").steps[-1].bytes == 8 * n + 4 * 6 + of_peeling


@pytest.mark.interpreter
def test_wrong_results_are_found():
    graph = ew.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    result = ew.core_numbers(graph)
    for cores, complaint in (
        ([2, 2, 2, 2], "vertex 3 has core number 2, but 1 neighbours in that core"),
        ([1, 1, 1, 1], "vertex 0 is in a larger core than 1"),
        ([2, 2, 2, 0], "vertex 3 is in a larger core than 0"),
        ([2, 2, 2, -1], "vertex 3 has core number -1"),
    ):
        with pytest.raises(VerificationError, match=complaint):
            replace(result, cores=np.array(cores, result.cores.dtype)).verify()


@pytest.mark.interpreter
def test_what_has_no_cores_is_refused():
    graph = ew.Graph.from_edges([0], [1], directed=True)
    with pytest.raises(GraphError, match=r"core_numbers\(graph.undirected\(\)\)"):
        ew.core_numbers(graph)
    assert ew.core_numbers(graph.undirected()).cores.tolist() == [1, 1]
    with pytest.raises(OptionError, match="a Graph is needed"):
        ew.core_numbers([(0, 1)])
    with pytest.raises(OptionError, match="use one of auto, peel"):
        ew.core_numbers(graph, method="heap")
    result = ew.core_numbers(graph.undirected())
    for k in (-1, 1.5, True):
        with pytest.raises(OptionError, match=f"k={k} must be a whole number from 0 on"):
            result.subgraph(k)


@pytest.mark.interpreter
def test_the_result_is_a_table_a_file_and_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    graph = ew.Graph.from_edges(["a", "b", "c", "c"], ["b", "c", "a", "d"])
    result = ew.core_numbers(graph)
    result.write(tmp_path / "cores.csv")
    assert (tmp_path / "cores.csv").read_text().split() == ["id,core", "a,2", "b,2", "c,2", "d,1"]
    result.plot(tmp_path / "cores.svg")
    assert "core numbers up to 2" in (tmp_path / "cores.svg").read_text()


def test_the_command(tmp_path, capsys):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("l,r\na,b\nb,c\nc,a\nc,d\n")
    assert run(["cores", str(pairs), "--verify", "-o", str(tmp_path / "cores.csv")]) == 0
    assert (tmp_path / "cores.csv").read_text().split() == ["id,core", "a,2", "b,2", "c,2", "d,1"]
    assert "4 vertices, 4 edges: largest core number 2, of 3 vertices" in capsys.readouterr().out
    assert run(["cores", str(pairs), "--json"]) == 0
    assert '"largest": 2' in capsys.readouterr().out
    assert run(["cores", str(pairs), "--directed"]) == 2
    assert "directed" in capsys.readouterr().err


@pytest.mark.interpreter
def test_a_core_has_the_vertices_of_its_number():
    result = ew.core_numbers(ew.Graph.from_edges([0, 1, 2, 2, 5], [1, 2, 0, 3, 4]))
    assert [result.subgraph(k).n_vertices for k in range(4)] == [6, 6, 3, 0]
