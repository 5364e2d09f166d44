"""Betweenness against sums over all pairs, NetworkX, and itself on other threads and devices."""

import inspect
import os
from dataclasses import replace
from importlib import import_module

import networkx as nx
import numpy as np
import pytest

import edgewise as ew
from edgewise.device import arrays
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import GraphError, OptionError, VerificationError
from edgewise.paths.betweenness import METHODS, _simple_rows, betweenness
from edgewise.paths.betweenness import lanes as lanes_page
from edgewise.paths.betweenness import sums as sums_page
from edgewise.paths.betweenness.trees import without_trees
from edgewise.paths.csr import CSR
from tests.zoo import ZOO

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
warps = import_module("edgewise.paths.betweenness.warps")
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
SLOW = SIMULATED or INTERPRETED
SHAPES = ["empty", "one vertex", "repeated edges", "cycle"] if SIMULATED else list(ZOO)


def distances_and_counts(n, edges, directed):
    """Distances of all pairs by all vertices between, and the numbers of shortest paths."""
    inf, arcs = float("inf"), {}
    for u, v, weight in edges:
        for pair in ((u, v),) if directed else ((u, v), (v, u)):
            if u != v:
                arcs[pair] = min(weight, arcs.get(pair, inf))
    far = [[0 if u == v else arcs.get((u, v), inf) for v in range(n)] for u in range(n)]
    for w in range(n):
        for u in range(n):
            for v in range(n):
                far[u][v] = min(far[u][v], far[u][w] + far[w][v])
    ways = [[0] * n for _ in range(n)]
    for u in range(n):
        ways[u][u] = 1
        for v in sorted((v for v in range(n) if v != u and far[u][v] < inf), key=lambda v: far[u][v]):
            ways[u][v] = sum(
                ways[u][w]
                for (w, end), weight in arcs.items()
                if end == v and far[u][w] + weight == far[u][v]
            )
    return far, ways


def by_pairs(n, edges, directed, sources, endpoints):
    """Sum over pairs of the share of shortest paths that lead over each vertex."""
    far, ways = distances_and_counts(n, edges, directed)
    scores = np.zeros(n)
    for s in sources:
        for t in range(n):
            if s == t or not ways[s][t]:
                continue
            for v in range(n):
                if v in (s, t):
                    scores[v] += endpoints
                elif far[s][v] + far[v][t] == far[s][t]:
                    scores[v] += ways[s][v] * ways[v][t] / ways[s][t]
    return scores


def random_case(seed, largest=12):
    """A random graph with self-loops, repeated edges and ties, as numbers."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, largest + 1))
    m, directed, weighted = int(draw.integers(0, 3 * n)), bool(seed & 1), bool(seed & 2)
    sources, targets = draw.integers(0, n, (2, m))
    weights = draw.integers(1, 4, m) if weighted else np.ones(m, np.int64)
    if seed & 4:
        weights = weights / 4  # sums are exact
    graph = ew.Graph.from_edges(
        sources, targets, weights=weights if weighted else None, n_vertices=n, directed=directed
    )
    return graph, list(zip(sources.tolist(), targets.tolist(), weights.tolist())), directed, weighted


def names_for(graph):
    """The methods that take a graph, where it is."""
    if SIMULATED:
        return ["auto"]
    return ["auto", "brandes"] if graph.is_weighted or PLACE != "cpu" else ["lanes", "brandes"]


@pytest.mark.parametrize("seed", range(4 if SIMULATED else 16 if INTERPRETED else 80))
def test_sums_over_pairs(seed):
    graph, edges, directed, _ = random_case(seed)
    n, pairs = graph.n_vertices, 1 if directed else 2
    graph = graph.to(PLACE)
    for endpoints in (False, True):
        wanted = by_pairs(n, edges, directed, range(n), endpoints)
        for method in names_for(graph):
            where = "cpu" if method == "brandes" else None
            found = betweenness(graph, normalized=False, endpoints=endpoints, method=method, device=where)
            if n > 2:
                assert np.allclose(found.scores * pairs, wanted, rtol=1e-12), method
            assert found.error == 0 and found.sources is None
            if not SIMULATED:
                found.verify()


def multigraph(graph, weighted):
    """NetworkX's graph with every edge, and the keys of the edges."""
    made = (nx.MultiDiGraph if graph.directed else nx.MultiGraph)()
    made.add_nodes_from(range(graph.n_vertices))
    weights = graph.weights.tolist() if weighted else [1] * graph.n_edges
    ends = zip(graph.sources.tolist(), graph.targets.tolist(), weights)
    return made, [(u, v, made.add_edge(u, v, weight=weight)) for u, v, weight in ends]


@pytest.mark.skipif(SIMULATED, reason="the same on the host")
@pytest.mark.parametrize("seed", range(8 if INTERPRETED else 40))
def test_networkx(seed):
    graph, _, _, weighted = random_case(seed + 1000, largest=30)
    theirs, keys = multigraph(graph, weighted)
    weight = "weight" if weighted else None
    for normalized in (True, False):
        options = {"normalized": normalized, "weight": weight}
        for endpoints in (True, False):
            wanted = nx.betweenness_centrality(theirs, endpoints=endpoints, **options)
            found = betweenness(graph, normalized=normalized, endpoints=endpoints)
            assert np.allclose(found.scores, [wanted[v] for v in range(len(theirs))], rtol=1e-12)
        wanted = nx.edge_betweenness_centrality(theirs, **options)
        expected = [wanted.get(key, wanted.get((key[1], key[0], key[2]))) for key in keys]
        found = betweenness(graph, normalized=normalized, edges=True)
        assert np.allclose(found.edge_scores, expected, rtol=1e-12) and found.method == "brandes"


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("shape", SHAPES)
def test_zoo(shape, directed):
    vertices, sources, targets = ZOO[shape]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices, directed=directed)
    plain = nx.DiGraph if directed else nx.Graph
    theirs = plain(list(zip(sources.tolist(), targets.tolist())))
    theirs.add_nodes_from(range(vertices))
    wanted = nx.betweenness_centrality(theirs)
    found = betweenness(graph.to(PLACE))
    assert np.allclose(found.scores, [wanted[v] for v in range(vertices)], rtol=1e-12)
    assert found.method == ("lanes" if PLACE == "cpu" else "warps")


@pytest.mark.skipif(SIMULATED, reason="the same on the host")
def test_samples_are_scaled_as_networkx_scales_them():
    for seed in range(4):
        graph, _, _, weighted = random_case(seed)
        n = graph.n_vertices
        for samples in range(1, n + 1):
            found = betweenness(graph, samples=samples, seed=seed, normalized=bool(seed & 1))
            sources = found.sources
            if samples == n:
                assert sources is None and found.error == 0
                continue
            assert len(set(sources.tolist())) == samples
            theirs, _ = multigraph(graph, weighted)

            class Drawn:
                def sample(self, nodes, k, sources=sources):
                    return sources.tolist()

            centrality = inspect.unwrap(nx.betweenness_centrality.orig_func)
            wanted = centrality(theirs, samples, bool(seed & 1), "weight" if weighted else None, seed=Drawn())
            scores = [wanted[v] for v in range(n)]
            assert np.allclose(found.scores, scores, rtol=1e-12, equal_nan=True)
            if samples > 1:
                found.verify()


@pytest.mark.skipif(SLOW, reason="takes long")
def test_the_error_of_samples_is_as_small_as_is_said():
    graph = ew.generate.grid(16, dropped=0.1, seed=1)
    for normalized in (True, False):
        whole = betweenness(graph, normalized=normalized).scores
        wrong, before = 0, np.inf
        for seed in range(20):
            found = betweenness(graph, samples=60, seed=seed, normalized=normalized)
            wrong += np.abs(found.scores - whole).max() > found.error
            assert np.abs(found.scores - whole).max() > found.error / 50  # and says something
        assert wrong <= 3
        for samples in (2, 20, 200, 255):
            error = betweenness(graph, samples=samples, normalized=normalized).error
            assert error <= before
            before = error
    assert betweenness(graph, samples=1).error == np.inf
    assert betweenness(graph, samples=10**9).sources is None
    assert betweenness(graph, samples=20, seed=4).sources.tolist() != found.sources.tolist()


@pytest.mark.skipif(SLOW, reason="has one worker")
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_the_same_for_any_number_of_threads(weighted):
    graph = ew.generate.rmat(8, edge_factor=4, seed=2)
    if weighted:
        graph = graph.with_weights(np.random.default_rng(1).random(graph.n_edges))
    one, other = (betweenness(graph, threads=threads, edges=weighted) for threads in (1, 2))
    assert one.scores.tobytes() == other.scores.tobytes()
    assert not weighted or one.edge_scores.tobytes() == other.edge_scores.tobytes()


def diamonds(count):
    """A chain of squares, over each of which two shortest paths lead: 2**count from end to end."""
    first = 3 * np.arange(count)
    sources = np.concatenate([first, first, first + 1, first + 2])
    targets = np.concatenate([first + 1, first + 2, first + 3, first + 3])
    return ew.Graph.from_edges(sources, targets, n_vertices=3 * count + 1)


@pytest.mark.skipif(SLOW, reason="takes long")
@pytest.mark.parametrize("method", ["lanes", "brandes"])
def test_more_paths_than_floats_can_count(method):
    graph = diamonds(1000)  # whose counts are exact up to 2**1000
    found = betweenness(graph, samples=32, method=method)
    assert np.isfinite(found.scores).all() and found.verify()
    with pytest.raises(GraphError, match=r"more shortest paths lead over vertex [0-9]+ than a float64 can"):
        betweenness(diamonds(1030), samples=64, method=method)


def test_what_is_refused():
    graph = ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], weights=[1, 2, 0]).to(PLACE)
    with pytest.raises(GraphError, match=r"the edge from 'c' to 'd' weighs 0; .* larger than 0: merge"):
        betweenness(graph)
    assert betweenness(graph, weight=False).scores.tolist() == pytest.approx([0, 2 / 3, 2 / 3, 0])
    for weights, message in (
        ([1, -2, 3], "weighs -2"),
        ([1.0, np.nan, 1.0], "weighs nan"),
        ([1e20, 1e20, 1.0], "is so small that adding it"),
        ([2**60, 2**61, 5], r"may pass 2\*\*62; use smaller"),
    ):
        ring = ew.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=weights).to(PLACE)
        with pytest.raises(GraphError, match=message):
            betweenness(ring)
    plain = graph.without_weights()
    for options, message in (
        ({"samples": 0}, "samples=0 must be a whole number, 1 or more"),
        ({"samples": 2.5}, "samples=2.5 must be"),
        ({"seed": -1}, "seed=-1 must be"),
        ({"method": "x"}, "method='x' is unknown"),
        ({"method": "lanes", "edges": True}, "method lanes counts every edge as one"),
    ):
        with pytest.raises(OptionError, match=message):
            betweenness(plain, **options)
    with pytest.raises(OptionError, match="method lanes counts every edge as one"):
        betweenness(graph, method="lanes")
    with pytest.raises(OptionError, match="a Graph is needed"):
        betweenness([])


def test_infinite_weights_are_no_edges_and_loops_may_weigh_nothing():
    graph = ew.Graph.from_edges([0, 1, 0, 2, 1], [1, 2, 2, 3, 1], weights=[1.0, 1.0, np.inf, 1.0, 0.0])
    found = betweenness(graph.to(PLACE), normalized=False, edges=True)
    assert found.scores.tolist() == [0, 2, 2, 0] and found.weighted
    assert found.edge_scores.tolist() == [3, 4, 0, 3, 0]


def test_a_result_verifies_and_is_a_table_and_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    graph = ew.Graph.from_edges(["a", "b", "c", "c"], ["b", "c", "d", "e"])
    found = betweenness(graph.to(PLACE), normalized=False).verify()
    assert found.most_central.tolist() == ["c", "b", "a", "d", "e"]
    assert str(found).startswith("betweenness of 5 vertices, the largest is 5, of c; ")
    assert found.to_dict() == {"a": 0, "b": 3, "c": 5, "d": 0, "e": 0}
    found.write(tmp_path / "scores.csv")
    assert (tmp_path / "scores.csv").read_text().startswith("id,betweenness\na,0\nb,3\n")
    found.plot(tmp_path / "scores.png")
    with pytest.raises(VerificationError, match=r"vertex 1 has the betweenness 4\.0, but searches from 5"):
        replace(found, scores=found.scores + np.array([0, 1, 0, 0, 0])).verify()
    empty = betweenness(ew.Graph.from_edges([], [], n_vertices=0).to(PLACE), edges=True)
    assert str(empty).startswith("betweenness of 0 vertices") and len(empty.edge_scores) == 0


def on_host(values):
    return np.asarray(arrays.move(values, "cpu"))


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("teams", [1, 3] if INTERPRETED else [None, 1, 3])
def test_warps_in_teams_and_pieces(teams, directed):
    """The search of GPUs, on threads of the CPU too, where each is a block."""
    draw = np.random.default_rng(teams or 0)
    n, m = (12, 30) if SIMULATED or INTERPRETED else (40, 100)
    sources, targets = draw.integers(0, n, (2, m))
    sources[: m // 3] = 5  # a hub, whose row is in pieces
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n, directed=directed)
    rows, weights = _simple_rows(graph.to(PLACE)), draw.integers(1, 4, n).astype(np.float64)
    for endpoints in (False, True):
        for chosen in (np.arange(n), np.array([3])):
            wanted = METHODS["brandes"].run(_simple_rows(graph), chosen, weights, endpoints).scores
            found = warps.warps(rows, chosen, weights, endpoints, n_teams=teams, piece=4)
            assert np.allclose(on_host(found.scores), wanted, rtol=1e-12)


def test_as_many_teams_as_batches_blocks_and_memory_allow(monkeypatch):
    monkeypatch.setattr(warps, "processors", lambda device: 132)
    monkeypatch.setattr(warps.arrays, "free_memory", lambda device: 10**9)
    teams = warps.teams_for
    assert teams(1, 10**6, "cuda:0") == 1
    assert teams(32, 10**6, "cuda:0") == 32
    assert teams(528, 10**6, "cuda:0") == 528
    assert teams(529, 10**6, "cuda:0") == 76  # seven batches each
    assert teams(1000, 10**8, "cuda:0") == 6
    assert teams(1000, 10**9, "cuda:0") == 1


def test_sums_are_as_many_as_the_size_says():
    assert sums_page.new_sums(100, 5).count == 5
    assert sums_page.new_sums(100, 10**6).count == sums_page.MOST
    assert sums_page.new_sums(2**24, 10**3).count == sums_page.LEAST
    assert sums_page.new_sums(0, 0).count == 1


@pytest.mark.skipif(PLACE != "cpu", reason="lanes are those of the CPU")
def test_each_batch_of_lanes_has_sums(monkeypatch):
    """As many threads as there are batches can work."""
    made = []
    monkeypatch.setattr(
        lanes_page, "new_sums", lambda *sizes: made.append(sums_page.new_sums(*sizes)) or made[0]
    )
    betweenness(ew.generate.grid(6, 6), method="lanes")
    assert made[0].count == -(-36 // lanes_page.LANES)


@pytest.mark.skipif(SIMULATED, reason="the same on the host")
@pytest.mark.parametrize("seed", range(10 if INTERPRETED else 40))
def test_folded_trees_change_nothing(seed):
    """Trees, forests and rings with trees, whose cores are searched from with weights."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(2, 40))
    targets = np.arange(1, n)
    sources = (draw.random(n - 1) * targets).astype(np.int64)
    kept = draw.random(n - 1) < (1 if seed % 3 else 0.8)
    more = draw.integers(0, n, (2, seed % 5))
    ends = np.append(sources[kept], more[0]), np.append(targets[kept], more[1])
    lengths = draw.integers(1, 3, len(ends[0])) if seed % 2 else None
    graph = ew.Graph.from_edges(*ends, weights=lengths, n_vertices=n)
    rows = _simple_rows(graph)
    core = without_trees(rows)
    assert (np.diff(core.rows.offsets) >= 2).all() and core.weights.sum() <= n
    for endpoints in (False, True):
        wanted = METHODS["brandes"].run(rows, np.arange(n), np.ones(n), endpoints).scores
        found = betweenness(graph, normalized=False, endpoints=endpoints).verify()
        assert n < 3 or np.allclose(2 * found.scores, wanted, rtol=1e-12)


def test_rows_of_methods_are_simple():
    graph = ew.Graph.from_edges([0, 1, 1, 0], [1, 0, 1, 2], weights=[5, 3, 1, 2], n_vertices=3).to(PLACE)
    rows = _simple_rows(graph).outgoing
    assert isinstance(rows, CSR) and on_host(rows.neighbours).tolist() == [1, 2, 0, 0]
    assert on_host(rows.weights).tolist() == [3, 2, 3, 2]
