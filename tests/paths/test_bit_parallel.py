"""Distances added up by searches side by side, against one search after the other in plain Python."""

import os
from collections import deque

import networkx as nx
import numpy as np
import pytest

import edgewise as ew
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import OptionError
from edgewise.paths.csr import adjacency_of
from edgewise.paths.measures import METHODS, bit_parallel_gpu
from edgewise.paths.measures import bit_parallel as bit_parallel_page
from edgewise.paths.measures.bit_parallel import bit_parallel
from edgewise.paths.measures.numbering import by_bisection, numbered
from edgewise.paths.measures.sums import DISTANCE, HALF, HIGH, LOW, REACHED
from tests.zoo import ZOO

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
HERE = "cuda" if SIMULATED else "cpu"
SHAPES = ["empty", "one vertex", "isolated", "repeated edges", "sparse"] if SIMULATED else list(ZOO)
#: More sources than a batch has only where searches are quick.
LARGEST = 140 if SIMULATED else 530 if INTERPRETED else 600


def levels_from(source, rows):
    """Distances from a source: a queue and a dictionary."""
    found, queue = {source: 0}, deque([source])
    while queue:
        vertex = queue.popleft()
        for other in rows[vertex]:
            if other not in found:
                found[other] = found[vertex] + 1
                queue.append(other)
    return found


def oracle(n, sources, targets, directed, chosen):
    """Sources and sums for each vertex, pairs by hops, and eccentricities of the chosen sources."""
    rows = [set() for _ in range(n)]
    for one, other in zip(sources.tolist(), targets.tolist(), strict=True):
        rows[one].add(other)
        if not directed:
            rows[other].add(one)
    sums, hops, farthest = [[0] * 4 for _ in range(n)], {}, np.full(n, -1)
    for source in chosen:
        levels = levels_from(source, rows)
        for vertex, level in levels.items():
            inverse, own = 2**62 // level if level else 0, sums[vertex]
            own[0] += 1
            own[1] += level
            own[2] += inverse >> HALF
            own[3] += inverse % 2**HALF
            hops[level] = hops.get(level, 0) + 1
        farthest[source] = max(levels.values()) if len(levels) == n else -1
    return sums, [hops[level] for level in range(len(hops))], farthest


def check(n, sources, targets, directed, chosen=None):
    """Compare the sums with those of the oracle."""
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n, directed=directed).to(PLACE)
    found = bit_parallel(adjacency_of(graph), chosen)
    sums, hops, farthest = oracle(n, sources, targets, directed, range(n) if chosen is None else chosen)
    assert [REACHED, DISTANCE, HIGH, LOW] == [0, 1, 2, 3]
    assert found.of_vertices.tolist() == sums
    assert found.hops.tolist() == hops
    assert found.farthest.tolist() == farthest.tolist()


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_are_those_of_single_searches(shape, directed):
    check(*ZOO[shape], directed)


def drawn(n, m, seed):
    """Ends of edges at random, with loops, repeated ones, and a hub."""
    draw = np.random.default_rng(seed)
    ends = draw.integers(0, max(n, 1), (2, m if n else 0))
    ends[0, : m // 4] = draw.integers(0, max(n // 10, 1))
    return ends


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("n, m", [(LARGEST, 3 * LARGEST), (LARGEST - 1, LARGEST), (129, 500), (64, 60)])
def test_batches_that_are_full_and_not(n, m, directed, monkeypatch):
    if SIMULATED:
        monkeypatch.setattr(bit_parallel_gpu, "GROUP", 1)
        n, m = min(n, 140), min(m, 300)
    check(n, *drawn(n, m, seed=n), directed)


@pytest.mark.skipif(SIMULATED or INTERPRETED, reason="thousands of levels")
def test_long_paths_and_cycles_with_shuffled_numbers():
    order = np.random.default_rng(5).permutation(540)
    for directed in (False, True):
        check(540, order[:-1], order[1:], directed)
        check(540, order, np.roll(order, 1), directed)


@pytest.mark.parametrize("seed", range(2 if SIMULATED else 10))
def test_random_graphs(seed):
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 30 if SIMULATED or INTERPRETED else 200))
    check(n, *drawn(n, int(draw.integers(0, 4 * n)), seed), bool(seed % 2))


def test_some_sources():
    chosen = np.array([5, 3, 17, 0])
    for directed in (False, True):
        check(40, *drawn(40, 70, 1), directed, chosen)


@pytest.mark.skipif(not (SIMULATED or INTERPRETED), reason="compiled code holds the constants")
@pytest.mark.parametrize("part", [0, 2, 1 << 40], ids=["push", "both", "pull"])
def test_directions_agree(part, monkeypatch):
    for page in (bit_parallel_page, bit_parallel_gpu):
        monkeypatch.setattr(page, "PULLED_PART", part)
    monkeypatch.setattr(bit_parallel_gpu, "PIECE", 3)
    for directed in (False, True):
        check(30, *drawn(30, 110, 3), directed)


@pytest.mark.skipif(not (SIMULATED or INTERPRETED), reason="compiled code holds the constants")
@pytest.mark.parametrize("part", [0, 1, 2, 1 << 40], ids=["never", "all", "half", "always"])
def test_gathering_agrees(part, monkeypatch):
    for page in (bit_parallel_page, bit_parallel_gpu):
        monkeypatch.setattr(page, "GATHERED_PART", part)
    streets = ew.generate.grid(6, dropped=0.2)
    for directed in (False, True):
        check(30, *drawn(30, 35, 3), directed)
        check(36, streets.sources, streets.targets, directed)
        check(36, streets.sources, streets.targets, directed, np.array([7, 3, 8]))


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_streets_in_several_batches(directed, monkeypatch):
    side = 12 if SIMULATED or INTERPRETED else 40
    if SIMULATED:
        monkeypatch.setattr(bit_parallel_gpu, "GROUP", 1)
    streets = ew.generate.grid(side, dropped=0.2, shuffle=True)
    check(side**2, streets.sources, streets.targets, directed)


@pytest.mark.skipif(not SIMULATED, reason="counts the searches of GPUs")
def test_several_launches(monkeypatch):
    shares, search = [], bit_parallel_gpu.search_batches
    noted = lambda *given: (shares.append(given[-1]), search(*given))  # noqa: E731
    monkeypatch.setattr(bit_parallel_gpu, "search_batches", noted)
    monkeypatch.setattr(bit_parallel_gpu, "LAUNCHED", 1)
    monkeypatch.setattr(bit_parallel_gpu, "GROUP", 1)
    monkeypatch.setattr(bit_parallel_gpu, "BLOCKS", 1)  # as many teams
    check(140, *drawn(140, 200, 4), False)
    assert [(share.n_teams, share.first) for share in shares] == [(1, 0), (1, 128)]


def test_thin_graphs_have_teams(monkeypatch):
    monkeypatch.setattr(bit_parallel_gpu, "processors", lambda device: 132)
    monkeypatch.setattr(bit_parallel_gpu.arrays, "free_memory", lambda device: 10**9)
    thin, other = (numbered(adjacency_of(ew.Graph.from_edges(*drawn(100, m, 4)))) for m in (90, 900))
    teams = bit_parallel_gpu.n_teams_for
    assert [teams(thin, "cuda:0", n_batches) for n_batches in (1, 20, 176)] == [1, 20, 88]
    assert teams(other, "cuda:0", 176) == 1
    monkeypatch.setattr(bit_parallel_gpu.arrays, "free_memory", lambda device: 10**6)
    bytes_of_team = thin.outgoing.n_vertices * (32 * bit_parallel_gpu.GROUP + 4 + 2 * 4)
    assert 1 < teams(thin, "cuda:0", 176) <= 10**6 // (2 * bytes_of_team)


def test_every_method_returns_the_same_bits():
    n = 20 if SIMULATED or INTERPRETED else 70
    ends = drawn(n, 2 * n, 2)
    for directed in (False, True):
        graph = ew.Graph.from_edges(*ends, n_vertices=n, directed=directed).to(PLACE)
        whole = ew.distance_measures(graph)
        assert whole.method == "bit-parallel" and not whole.weighted
        names = ["sssp"] if SIMULATED else [name for name in METHODS if PLACE in METHODS[name].devices]
        for name in names:
            other = ew.distance_measures(graph, method=name)
            assert other.method == name
            for column in ("eccentricities", "closeness", "harmonic", "hop_histogram"):
                assert getattr(other, column).tobytes() == getattr(whole, column).tobytes(), (name, column)
            assert other.average_distance == whole.average_distance


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("m", [30, 70, 300])
def test_measures_are_those_of_networkx(m, directed):
    n = 30
    sources, targets = drawn(n, m, seed=m)
    theirs = (nx.DiGraph if directed else nx.Graph)(zip(sources.tolist(), targets.tolist(), strict=True))
    theirs.add_nodes_from(range(n))
    ours = ew.Graph.from_edges(sources, targets, n_vertices=n, directed=directed).to(PLACE)
    for improved in (True, False):
        found = ew.distance_measures(ours, wf_improved=improved)
        wanted = nx.closeness_centrality(theirs, wf_improved=improved)
        assert np.allclose(found.closeness, [wanted[v] for v in range(n)], rtol=1e-14)
    wanted = nx.harmonic_centrality(theirs)
    assert np.allclose(found.harmonic, [wanted[v] for v in range(n)], rtol=1e-14)
    if (nx.is_strongly_connected if directed else nx.is_connected)(theirs):
        assert found.eccentricities.tolist() == [nx.eccentricity(theirs)[v] for v in range(n)]
        assert found.average_distance == pytest.approx(nx.average_shortest_path_length(theirs), rel=1e-14)
    else:
        assert found.diameter == found.average_distance == np.inf


def test_hops_of_all_pairs():
    graph = ew.Graph.from_edges([0, 1, 2], [1, 2, 3]).to(PLACE)
    assert ew.distance_measures(graph).hop_histogram.tolist() == [4, 6, 4, 2]
    weighted = ew.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[1, 1, 1]).to(PLACE)
    assert ew.distance_measures(weighted).hop_histogram is None


def test_what_is_refused():
    weighted = ew.Graph.from_edges([0, 1], [1, 2], weights=[1, 2])
    with pytest.raises(OptionError, match=r"bit-parallel counts every edge as one, .* use weight=False"):
        ew.distance_measures(weighted, method="bit-parallel")
    assert ew.distance_measures(weighted, method="bit-parallel", weight=False).diameter == 2
    with pytest.raises(OptionError, match="bit-parallel adds up in one process; leave out client"):
        ew.distance_measures(weighted, method="bit-parallel", weight=False, client=object())


def test_parts_of_a_bisection_are_all_vertices_and_near_each_other():
    side = 8 if SIMULATED or INTERPRETED else 48
    graph = ew.generate.grid(side, shuffle=True)
    rows = adjacency_of(graph).outgoing
    size = 4 if side == 8 else 64
    order = by_bisection(rows, np.arange(side**2), size)
    assert sorted(order.tolist()) == list(range(side**2))
    spans = []
    for first in range(0, side**2, size):
        levels = ew.bfs(graph, int(order[first])).distances[order[first : first + size]]
        spans.append(levels.max())
    assert np.mean(spans) < 4 * size**0.5


@pytest.mark.parametrize("degree", [2, 20])
def test_numbering_keeps_the_graph(degree):
    n = 50
    sources, targets = drawn(n, degree * n, degree)
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n, directed=True).to(PLACE)
    found = numbered(adjacency_of(graph))
    outgoing, incoming = found.outgoing.on_host(), found.incoming.on_host()
    assert found.order.tolist() != list(range(n)) and sorted(found.order.tolist()) == list(range(n))
    edges = sorted(zip(sources.tolist(), targets.tolist(), strict=True))
    for rows, forth in ((outgoing, 1), (incoming, -1)):
        starts = np.repeat(np.arange(n), np.diff(rows.offsets))
        ends = found.order[starts], found.order[rows.neighbours.astype(np.int64)]
        assert sorted(zip(*(one.tolist() for one in ends[::forth]), strict=True)) == edges
    degrees = np.diff(outgoing.offsets)
    assert (degrees[: len(found.sources)] > 0).all() and not degrees[len(found.sources) :].any()
