"""Every way to search finds the oracle's distances on every small graph, and SciPy's on larger ones."""

import os
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise import tuning
from edgewise.device.target import SIMULATED
from edgewise.errors import GraphError, OptionError, VerificationError
from edgewise.paths import csr
from edgewise.paths.bfs import METHODS, bfs
from edgewise.paths.csr import adjacency_of
from edgewise.paths.local_search import search_nearby
from edgewise.paths.result import Distances, SparseDistances
from tests.conftest import engine
from tests.paths.names import LARGE, method_named, takes
from tests.paths.oracle import oracle
from tests.zoo import ZOO

level_synchronous = import_module("edgewise.paths.bfs.level_synchronous")
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
HERE = [name for name, method in METHODS.items() if PLACE.partition(":")[0] in method.devices]
NAMES = ["auto", *([LARGE] if PLACE == "cpu" else []), *HERE]
SHAPES = [shape for shape in ZOO if ZOO[shape][0]]
FEW_SHAPES = ["repeated edges", "grid", "sparse", "star from its last"] if SIMULATED else SHAPES
NONE = 2**31 - 1


@pytest.fixture
def no_graph_is_small(monkeypatch):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, paths_alone=0))


def names_for(directed):
    """Names of the methods that take the graph."""
    return [name for name in NAMES if takes(METHODS, name, directed)]


def searched(name, vertices, sources, targets, starts, directed=False, **options):
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices, directed=directed).to(PLACE)
    with method_named(name) as method:
        result = bfs(graph, starts, method=method, **options).on_host()
    assert result.distances.dtype == np.int32
    return result


def expected(vertices, sources, targets, starts, directed=False, cutoff=NONE):
    found = oracle(vertices, sources, targets, starts, directed=directed)
    return [NONE if distance is None or distance > cutoff else distance for distance in found]


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("shape", FEW_SHAPES)
@pytest.mark.parametrize(
    "name, directed", [(name, directed) for directed in (False, True) for name in names_for(directed)]
)
def test_distances_are_the_oracles(name, directed, shape):
    graph = ZOO[shape]
    for starts in ([0], [graph[0] - 1], [graph[0] // 2, 0]):
        starts = sorted(set(starts))
        result = searched(name, *graph, starts, directed)
        assert result.distances.tolist() == expected(*graph, starts, directed)
        result.verify()


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("name", NAMES)
def test_nothing_beyond_the_cutoff(name):
    for cutoff in (0, 1, 3):
        result = searched(name, *ZOO["grid"], [17], cutoff=cutoff)
        assert result.distances.tolist() == expected(*ZOO["grid"], [17], cutoff=cutoff)
        result.verify()


def _uniform(n, m):
    draw = np.random.default_rng(n)
    return n, draw.integers(0, n, m), draw.integers(0, n, m)


def _hubs(n, hubs):
    leaves = np.arange(hubs, n)
    return n, np.concatenate([leaves % hubs, leaves[:-1]]), np.concatenate([leaves, leaves[1:] // 2])


def _burst(leaves, tails):
    """A hub with leaves, a few of which go on: lists overflow, and the next step has little to do."""
    first, second = np.arange(1, leaves + 1), leaves + 1 + np.arange(tails)
    sources = np.concatenate([np.zeros(leaves, np.int64), first[:tails] * (leaves // tails) % leaves + 1])
    return leaves + tails + 1, sources, np.concatenate([first, second])


#: Graphs that bring a worker's lists, counters and directions to their limits.
LARGER = {
    "star": (20_000, np.full(19_999, 7), np.delete(np.arange(20_000), 7)),
    "path": (1_000, np.arange(999), np.arange(1, 1_000)),
    "dense": _uniform(1 << 14, 1 << 18),
    "sparse": _uniform(30_000, 31_000),
    "hubs": _hubs(12_000, 3),
    "burst": _burst(15_000, 100),
}


def scipy_distances(graph, starts, directed):
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    n = graph.n_vertices
    ones = np.ones(len(graph.neighbours))
    rows = csr_array((ones, graph.neighbours.astype(np.int64), graph.offsets), shape=(n, n))
    found = dijkstra(rows, directed, starts, unweighted=True, min_only=True)
    return np.where(np.isinf(found), NONE, found).astype(np.int64)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("shape", LARGER)
def test_larger_graphs_as_scipy_searches_them(shape, directed):
    vertices, sources, targets = LARGER[shape]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices, directed=directed).to(PLACE)
    for starts in ([0], [7], [vertices - 1, 0, 100], np.arange(0, vertices, 3)):
        answer = scipy_distances(graph, starts, directed)
        for name in names_for(directed):
            with method_named(name) as method:
                found = bfs(graph, starts, method=method).on_host()
            assert np.array_equal(found.distances, answer), (name, len(starts))


#: Costs that make every wide step of one kind, or each kind in its turn.
KINDS = {
    "push": {"BIT_COST": 1000, "TEST_COST": 1000},
    "bitmap push": {"BIT_COST": 0, "WRITE_COST": 0, "TEST_COST": 1000},
    "pull": {"TEST_COST": 0, "SURVEY_COST": 0},
    "mixed": {"BIT_COST": 6, "WRITE_COST": 0, "TEST_COST": 1, "SURVEY_COST": 0},
}


@pytest.mark.interpreter
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_step_in_the_interpreter(monkeypatch, kind):
    if engine() != "interpreter":
        pytest.skip("compiled kernels keep the limits they were compiled with")
    driver, steps = (import_module(f"edgewise.paths.bfs.{name}") for name in ("level_synchronous", "steps"))
    for cost, value in KINDS[kind].items():
        monkeypatch.setattr(driver, cost, value)
    for limits in (
        {"SINGLE_ENTRIES": -1},
        {"SINGLE_ENTRIES": -1, "DIVIDED_ENTRIES": 0},
        {"SINGLE_ENTRIES": 3, "QUEUE_PART": 10**6, "QUEUE_VERTICES": 1},
    ):
        limits = {"BLOCK": 64 if "DIVIDED_ENTRIES" in limits else 1 << 13, **limits}
        for limit, value in limits.items():
            for page in (driver, steps):
                if hasattr(page, limit):
                    monkeypatch.setattr(page, limit, value)
        for graph in (*(ZOO[shape] for shape in SHAPES), _uniform(150, 700), _hubs(200, 2)):
            for name in ("top-down", "direction-optimising"):
                found = searched(name, *graph, [0]).distances.tolist()
                assert found == expected(*graph, [0]), (name, limits)


@st.composite
def edge_lists(draw):
    vertices = draw(st.integers(1, 40))
    ends = st.lists(st.integers(0, vertices - 1), min_size=0, max_size=80)
    sources = draw(ends)
    targets = draw(st.lists(st.integers(0, vertices - 1), min_size=len(sources), max_size=len(sources)))
    starts = draw(st.sets(st.integers(0, vertices - 1), min_size=1, max_size=3))
    made = vertices, np.array(sources, np.int64), np.array(targets, np.int64)
    return *made, sorted(starts), draw(st.booleans())


@given(edge_lists())
def test_methods_agree_on_made_up_graphs(made):
    import networkx as nx

    vertices, sources, targets, starts, directed = made
    peer = nx.DiGraph() if directed else nx.Graph()
    peer.add_nodes_from(range(vertices))
    peer.add_edges_from(zip(sources.tolist(), targets.tolist()))
    lengths = nx.multi_source_dijkstra_path_length(peer, set(starts), weight=None)
    answer = [lengths.get(vertex, NONE) for vertex in range(vertices)]
    assert expected(*made) == answer
    for name in names_for(directed):
        result = searched(name, *made)
        assert result.distances.tolist() == answer
        result.verify()
        for vertex in (0, vertices - 1):
            path = result.path_to(vertex)
            assert len(path) == (0 if answer[vertex] == NONE else answer[vertex] + 1)


@pytest.mark.interpreter
def test_a_small_graph_is_searched_by_one_core(monkeypatch):
    vertices, sources, targets = LARGER["path"]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices)
    assert bfs(graph, 0).method == "top-down-sequential"
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, paths_alone=vertices + 2 * len(sources)))
    assert bfs(graph, 0).method == "top-down-sequential"


@pytest.mark.interpreter
@pytest.mark.parametrize("starts", [[0], [35], [3, 35, 39], [0, 1, 2]])
@pytest.mark.parametrize("directed", [False, True])
def test_a_dense_graph_is_searched_until_no_vertex_is_left(starts, directed):
    """The vertices from 30 on have no rows, but may be sources."""
    sources, targets = np.random.default_rng(len(starts)).integers(0, 30, (2, 150))
    graph = ew.Graph.from_edges(sources, targets, n_vertices=40, directed=directed)
    found = bfs(graph, starts, method="top-down-sequential").distances.tolist()
    assert found == expected(40, sources, targets, starts, directed=directed)


@pytest.mark.interpreter
@pytest.mark.usefixtures("no_graph_is_small")
def test_a_small_search_leaves_the_rest_alone():
    graph = ew.Graph.from_edges([5, 6, 900], [6, 7, 901], n_vertices=1000)
    result = bfs(graph, 6)
    assert result.method == "top-down-sequential"
    assert isinstance(result._distances, SparseDistances)
    assert (result.n_reached, result.eccentricity, result.sizes().tolist()) == (3, 1, [1, 2])
    assert result.to_frame().to_pydict() == {"id": [5, 6, 7], "distance": [1, 0, 1]}
    assert result.verify().distances.tolist() == expected(1000, [5, 6, 900], [6, 7, 901], [6])


@pytest.mark.interpreter
@pytest.mark.usefixtures("no_graph_is_small")
def test_a_search_enters_few_pages():
    vertices, sources, targets = LARGER["star"]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices)
    assert bfs(graph, 0).method == "direction-optimising"  # it has left the local search
    entered = set()

    def enter(frame, event, argument):
        page = Path(frame.f_code.co_filename)
        if event == "call":
            entered.add(page)

    sys.setprofile(enter)
    try:
        bfs(graph, 0)
    finally:
        sys.setprofile(None)
    home = Path(ew.__file__).parent / "paths"
    pages = {page.relative_to(home).as_posix() for page in entered if page.is_relative_to(home)}
    assert "bfs/level_synchronous.py" in pages
    assert len(pages) <= 8, sorted(pages)


@pytest.mark.interpreter
def test_the_result_is_a_table_a_file_and_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    graph = ew.Graph.from_edges(["a", "b", "d"], ["b", "c", "e"])
    for name in ("auto", "top-down"):
        result = bfs(graph, "a", method=name)
        assert result.devices == ("cpu:0",)
        result.write(tmp_path / "distances.csv")
        assert (tmp_path / "distances.csv").read_text().split() == ["id,distance", "a,0", "b,1", "c,2"]
        result.plot(tmp_path / "distances.svg")
        assert "3 of 5 vertices reached" in (tmp_path / "distances.svg").read_text()
        with pytest.raises(GraphError, match="pass the graph it came from"):
            result.verify(ew.Graph.from_edges([0], [1], n_vertices=2))


@pytest.mark.interpreter
@pytest.mark.usefixtures("no_graph_is_small")
def test_the_choice_does_not_depend_on_what_is_cached():
    vertices, sources, targets = _uniform(10_000, 20_000)
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices, directed=True)
    source = int(np.argmax(graph.degrees()))
    before = bfs(graph, source)
    before.parents  # noqa: B018  (builds the incoming rows)
    assert adjacency_of(graph).has_incoming
    assert bfs(graph, source).method == before.method == "top-down"


def test_a_search_that_outgrows_its_table_is_handed_on_at_a_whole_level():
    vertices, sources, targets = LARGER["sparse"]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices)
    answer = scipy_distances(graph, [0], False)
    rows = adjacency_of(graph)
    (found, distances), level = search_nearby(rows, np.array([0]), NONE - 1)
    assert level is not None
    assert np.array_equal(answer[found], distances)
    assert len(found) == (answer <= level).sum()
    again, _ = search_nearby(rows, np.array([0]), NONE - 1)
    assert np.array_equal(found, again.vertices)


def test_small_levels_get_fewer_workers():
    """In a grid, 60 steps see four times as many vertices as 30; a random graph grows exponentially."""
    worth = level_synchronous.workers_worth
    rows = csr.CSR(np.empty(2**20 + 1, np.int64), np.empty(6 * 2**20, np.uint32), None)
    steps = np.arange(61)
    square = SparseDistances(None, np.repeat(steps, np.maximum(4 * steps, 1)))
    random = SparseDistances(None, np.repeat(steps[:4], 16 ** steps[:4]))
    mesh = csr.Adjacency(rows)
    assert 8 < worth(mesh, 32, square, 60) < 16
    assert worth(mesh, 4, square, 60) == 4
    assert worth(mesh, 32, random, 3) == 32
    assert worth(mesh, 32, SparseDistances(None, np.zeros(1, np.int32)), 0) == 32
    thin = csr.Adjacency(rows._replace(neighbours=rows.neighbours[: 2**21]))
    assert worth(thin, 16, square, 60) == 16


@pytest.mark.parametrize("n_workers", [1, 2])
def test_fewer_workers_use_the_memory_of_more(monkeypatch, n_workers):
    vertices, sources, targets = LARGER["dense"]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices)
    answer = scipy_distances(graph, [0], False)
    for worth in (None, n_workers, None):
        with monkeypatch.context() as patch:
            if worth:
                patch.setattr(level_synchronous, "workers_worth", lambda *facts, worth=worth: worth)
            assert np.array_equal(bfs(graph, 0).distances, answer)


@pytest.mark.interpreter
@pytest.mark.usefixtures("no_graph_is_small")
def test_incoming_rows_are_made_for_those_who_look_back():
    graph = ew.Graph.from_edges([0, 1], [1, 2], n_vertices=3, directed=True)
    assert bfs(graph, 0).method == "top-down-sequential"
    assert not adjacency_of(graph).has_incoming
    assert bfs(graph, 2, method="direction-optimising").distances.tolist() == [NONE, NONE, 0]
    assert adjacency_of(graph).incoming.neighbours.tolist() == [0, 1]


@pytest.mark.interpreter
def test_what_cannot_be_searched_is_refused():
    graph = ew.Graph.from_edges(["a"], ["b"])
    with pytest.raises(GraphError, match="'c' is not in the graph"):
        bfs(graph, "c")
    with pytest.raises(OptionError, match="source is empty; give the id of a vertex, or several"):
        bfs(graph, [])
    with pytest.raises(OptionError, match="a Graph is needed, not dict"):
        bfs({"a": "b"}, "a")
    with pytest.raises(OptionError, match="method='dfs' is unknown; use one of auto, harish"):
        bfs(graph, "a", method="dfs")
    with pytest.raises(OptionError, match="auto has no option 'dense_from'"):
        bfs(graph, "a", dense_from=3)
    with pytest.raises(OptionError, match="method harish has no option 'dense_from'"):
        bfs(graph, "a", method="harish", dense_from=3)
    for size in (0, -3, 1.5, True):
        with pytest.raises(OptionError, match=f"dense_from={size} must be a whole number larger than 0"):
            bfs(graph, "a", method="cooperative", dense_from=size)
    with pytest.raises(OptionError, match="dense_from=4294967296 must be smaller than"):
        bfs(graph, "a", method="cooperative", dense_from=2**32)
    for table in ([["a"], ["b"]], np.array([["a", "b"]])):
        with pytest.raises(OptionError, match="source is a table of ids"):
            bfs(graph, table)
    assert bfs(graph, "a", cutoff=np.inf).distances.tolist() == [0, 1]
    for cutoff in (-1, 1.5, True, -np.inf, np.nan):
        with pytest.raises(OptionError, match="must be a whole number of edges"):
            bfs(graph, "a", cutoff=cutoff)
    with pytest.raises(GraphError):
        bfs(ew.Graph.from_edges([], [], n_vertices=0), 0)


def checked(distances, starts=(0,), weights=None, directed=True, **asked):
    """Verify ``distances`` in the graph 0 -> 1 -> 2 <- 0, 3 apart, and a loop at 2."""
    ends = [0, 1, 0, 2], [1, 2, 2, 2]
    graph = ew.Graph.from_edges(*ends, weights=weights, n_vertices=4, directed=directed)
    starts, weighted = np.array(starts), weights is not None
    return Distances(
        graph, "by hand", 0.0, starts, weighted, adjacency_of(graph), distances, **asked
    ).verify()


INT, FLOAT, INF = np.int32, np.float64, np.inf
MOST = np.iinfo(INT).max


@pytest.mark.interpreter
@pytest.mark.parametrize(
    "distances, asked",
    [
        (INT([0, 1, 1, MOST]), {}),
        (INT([0, MOST, MOST, MOST]), {"cutoff": 0}),
        (INT([0, 5, 6, MOST]), {"weights": [5, 1, 9, 3]}),
        (INT([0, 5, MOST, MOST]), {"weights": [5, 1, 9, 3], "partial": True}),
        (INT([0, 5, MOST, MOST]), {"weights": [5, 1, 9, 3], "cutoff": 5}),
        (INT([0, 0, 0, MOST]), {"weights": [0, 0, 9, 0]}),
        (INT([0, 5, 4, MOST]), {"weights": [5, -1, 9, 3]}),
        (FLOAT([0, 0.1, 0.1 + 0.2, INF]), {"weights": [0.1, 0.2, 0.4, 0.0]}),
        (INT([MOST, MOST, 0, 0]), {"starts": [2, 3]}),
        (INT([0, MOST - 1, MOST, MOST]), {"weights": [MOST - 1, 1, MOST, 1]}),
    ],
)
def test_verifier_accepts(distances, asked):
    checked(distances, **asked)


@pytest.mark.interpreter
@pytest.mark.parametrize(
    "distances, asked, complaint",
    [
        (INT([1, 1, 1, MOST]), {}, "the source 0 has the distance 1, not 0"),
        (INT([0, 1, 2, MOST]), {}, "the edge from vertex 0 to 2 offers the distance 1, but the vertex has 2"),
        (INT([0, 1, MOST, MOST]), {}, "offers the distance 1, but the vertex has none"),
        (INT([0, 1, 1, 2]), {}, "no path has the distance 2 that vertex 3 has"),
        (INT([0, 1, 1, MOST]), {"cutoff": 0}, "distance 1 of vertex 1 is beyond the cutoff 0"),
        (INT([0, 3, 3, MOST]), {"weights": [5, 0, 9, 0]}, "no path has the distance 3"),
        (INT([0, 5, 1, MOST]), {"weights": [5, 1, 9, 0]}, "no path has the distance 1 that vertex 2"),
        (INT([0, MOST, 9, MOST]), {"weights": [5, 9, 9, 0], "partial": True}, "offers the distance 5"),
        (FLOAT([0, np.nan, 1, INF]), {"weights": [0.5, 0.5, 1.0, 0.0]}, "vertex 1 is no number"),
    ],
)
def test_verifier_rejects(distances, asked, complaint):
    with pytest.raises(VerificationError, match=complaint):
        checked(distances, **asked)


@pytest.mark.interpreter
def test_oracle_sees_a_negative_cycle():
    assert oracle(3, [0, 1], [1, 0], [0], weights=[1, -2], directed=True) is None
    assert oracle(3, [0, 1], [1, 2], [0], weights=[1, -2], directed=True) == [0, 1, -1]


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("shape", FEW_SHAPES)
def test_targets_end_the_search_the_same_everywhere(shape):
    vertices, *ends = ZOO[shape]
    graph = ew.Graph.from_edges(*ends, n_vertices=vertices).to(PLACE)
    everything = expected(vertices, *ends, [0])
    for targets in (vertices - 1, [vertices // 2, 0], [0]):
        furthest = max(everything[target] for target in np.atleast_1d(targets))
        wanted = [distance if distance <= furthest else NONE for distance in everything]
        for name in names_for(directed=False):
            with method_named(name) as method:
                found = bfs(graph, 0, targets=targets, method=method).verify().on_host()
            assert found.distances.tolist() == wanted and found.partial, (name, targets)
    with pytest.raises(GraphError, match=f"vertex {vertices} is not in the graph"):
        bfs(graph, 0, targets=vertices)
    with pytest.raises(OptionError, match="targets is empty"):
        bfs(graph, 0, targets=[])


@pytest.mark.interpreter
@pytest.mark.usefixtures("no_graph_is_small")
@pytest.mark.skipif(PLACE != "cpu", reason="another method on GPUs")
def test_a_prepared_directed_graph_is_searched_from_both_sides():
    made = ew.generate.rmat(10, edge_factor=16, seed=1)
    graph = ew.Graph.from_edges(made.sources, made.targets, directed=True, n_vertices=made.n_vertices)
    hub = int(graph.degrees().argmax())
    usual = bfs(graph, hub)
    found = bfs(graph.prepare("searches"), hub)
    assert (usual.method, found.method) == ("top-down", "direction-optimising")
    assert np.array_equal(usual.distances, found.distances)


@pytest.mark.skipif(PLACE != "cpu", reason="the local search is the CPU's")
def test_a_local_search_ends_with_its_targets():
    n = 30_000
    graph = ew.Graph.from_edges(np.arange(n - 1), np.arange(1, n), n_vertices=n)
    near, far = ew.bfs(graph, 5, targets=[9, 2]), ew.bfs(graph, 5, targets=n - 1)
    assert (near.method, near.n_reached, near.eccentricity) == ("top-down-sequential", 9, 4)
    assert near.path_to(9) == [5, 6, 7, 8, 9] and near.distance_to(10) == np.inf
    assert far.method != "top-down-sequential" and far.n_reached == n
    assert ew.bfs(graph, 5, targets=9, cutoff=2).n_reached == 5


@pytest.mark.skipif(PLACE != "cpu", reason="the local search is the CPU's")
@pytest.mark.parametrize("cutoff", [1, None])
def test_a_local_search_of_a_large_graph_holds_a_hub(cutoff):
    """A search of all vertices would take longer by far than one of a few thousand."""
    n, degree = 600_000, 4_000
    spokes = np.arange(1, degree + 1)
    rest = np.arange(degree + 1, n - 1)
    sources = np.concatenate([np.zeros(degree, np.int64), rest])
    graph = ew.Graph.from_edges(sources, np.concatenate([spokes, rest + 1]), n_vertices=n)
    found = ew.bfs(graph, 0, cutoff=cutoff)
    assert (found.method, found.n_reached) == ("top-down-sequential", degree + 1)


@pytest.mark.skipif(PLACE != "cpu", reason="the local search is the CPU's")
@pytest.mark.parametrize("n_sources", [3_000, 8_191, 8_192])
def test_sources_that_fill_the_local_search(n_sources):
    """Its queue has room for 8,191."""
    n = 1 << 17
    graph = ew.Graph.from_edges(np.arange(n - 1), np.arange(1, n), n_vertices=n)
    sources = np.arange(0, n, n // n_sources)[:n_sources]
    answer = np.abs(np.arange(n) - sources[np.searchsorted(sources, np.arange(n), side="right") - 1])
    after = np.append(sources, 2 * n)[np.searchsorted(sources, np.arange(n))] - np.arange(n)
    answer = np.minimum(answer, after)
    assert np.array_equal(ew.bfs(graph, sources).distances, answer)
    near = ew.bfs(graph, sources, cutoff=2)
    assert near.n_reached == (answer <= 2).sum()
