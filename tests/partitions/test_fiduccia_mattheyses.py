"""The method of small graphs: its moves and its answers."""

from dataclasses import replace

import numpy as np
import pytest

import edgewise as ew
from edgewise import tuning
from edgewise.partitions.fiduccia_mattheyses import (
    Search,
    Small,
    bisect,
    cluster,
    coarsen,
    contract,
    drawn,
    small_of,
)
from edgewise.partitions.input import level_of
from tests.zoo import ZOO

NONE = np.empty(0, np.uint32), np.empty(0, np.uint32)
METHOD = "fiduccia-mattheyses"
GRAPHS = [
    ew.Graph(0, edges=(*NONE, None)),
    ew.Graph(9, edges=(*NONE, None)),
    ew.Graph.from_edges(np.zeros(60, int), np.arange(1, 61)),
    ew.generate.grid(12, 12),
    ew.generate.rmat(8, seed=1),
    ew.generate.rgg(300, seed=2),
]


@pytest.fixture(autouse=True)
def small_graphs(monkeypatch, no_small_graphs):
    """These tests are about the method of small graphs."""
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, partitions_small=20_000))


def weighted(graph, seed=0, least=1):
    draw = np.random.default_rng(seed)
    sources, targets = np.asarray(graph.sources), np.asarray(graph.targets)
    weights = draw.integers(least, 30, len(sources))
    sizes = draw.integers(least, 9, graph.n_vertices)
    return ew.Graph(graph.n_vertices, edges=(sources, targets, weights), vertex_weights=sizes)


def small(graph):
    sizes = np.ones(graph.n_vertices, np.int64) if graph.vertex_weights is None else graph.vertex_weights
    return small_of(level_of(graph, np.asarray(sizes, np.int64), None)[0])


def state(search):
    """What a search keeps of its partition, computed anew."""
    fresh = Search(search.graph, list(search.part), search.limits, search.ranks)
    return fresh.cut, fresh.excess, fresh.loads, fresh.heavy, fresh.links


@pytest.mark.parametrize("graph", GRAPHS, ids=str)
@pytest.mark.parametrize("k", [1, 2, 3, 8])
@pytest.mark.filterwarnings("ignore::edgewise.errors.ImbalanceWarning")
def test_small_graphs_take_the_method_and_verify(graph, k):
    for one in graph, weighted(graph, 3), weighted(graph, 4, least=0):
        result = ew.partition(one, k)
        assert result.method == METHOD
        result.verify()
        assert result.is_balanced or one.vertex_weights is not None or k > one.n_vertices


@pytest.mark.parametrize("name", [name for name, (n, *_) in ZOO.items() if n])
def test_the_zoo_of_graphs(name):
    n, sources, targets = ZOO[name]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=n)
    result = ew.partition(graph, min(3, n))
    assert result.method == METHOD
    assert result.is_balanced
    result.verify()


def test_large_graphs_and_many_parts_take_the_other_method():
    assert ew.partition(ew.generate.grid(8, 8), 40).method == METHOD
    assert ew.Graph.estimate(ew.generate.grid(90, 90), "partition", parts=2).method == "jet"
    assert ew.Graph.estimate(ew.generate.grid(20, 20), "partition", parts=2).method == METHOD
    assert ew.Graph.estimate(ew.generate.grid(20, 20), "partition", parts=320).method == "jet"


def test_the_seed_decides_and_the_order_of_edges_does_not():
    graph = ew.generate.rmat(8, seed=1)
    first = ew.partition(graph, 5, seed=4)
    assert (ew.partition(graph, 5, seed=4).parts == first.parts).all()
    assert (ew.partition(graph, 5, seed=5).parts != first.parts).any()
    order = np.random.default_rng(0).permutation(graph.n_edges)
    turned = np.asarray(graph.targets)[order], np.asarray(graph.sources)[order], None
    assert (ew.partition(ew.Graph(graph.n_vertices, edges=turned), 5, seed=4).parts == first.parts).all()


@pytest.mark.parametrize("graph", GRAPHS[2:], ids=str)
def test_moves_keep_what_is_known_of_a_partition(graph):
    of, draw, k = small(weighted(graph)), np.random.default_rng(1), 4
    part = draw.integers(0, k, len(of.sizes)).tolist()
    search = Search(of, part, [sum(of.sizes) // k] * k, drawn(len(part), 7))
    for vertex, target in zip(draw.integers(0, len(part), 200).tolist(), draw.integers(0, k, 200).tolist()):
        if part[vertex] != target:
            search.move(vertex, target)
    assert (search.cut, search.excess, search.loads, search.heavy, search.links) == state(search)


@pytest.mark.parametrize("slack", [0, 5, -20])
def test_a_pass_ends_in_its_best_state(slack):
    of, draw, k = small(weighted(ew.generate.grid(10, 10))), np.random.default_rng(2), 3
    part = draw.integers(0, k, len(of.sizes)).tolist()
    search = Search(of, part, [sum(of.sizes) // k + slack] * k, drawn(len(part), 7))
    before = search.excess, search.cut
    while search.run_pass(50):
        assert (search.excess, search.cut) < before
        before = search.excess, search.cut
    assert (search.excess, search.cut) == before
    assert (search.cut, search.excess, search.loads, search.heavy, search.links) == state(search)


def test_vertices_change_places_where_all_parts_are_full():
    """Two paths of four vertices, of which one vertex each is in the part of the other path."""
    rows = [{1: 1}, {0: 1, 2: 1}, {1: 1, 3: 1}, {2: 1}, {5: 1}, {4: 1, 6: 1}, {5: 1, 7: 1}, {6: 1}]
    search = Search(Small(rows, [1] * 8), [0, 0, 0, 1, 1, 1, 1, 0], [4, 4], list(range(8)))
    assert search.cut == 2
    assert search.run(10) == (0, 0, [0, 0, 0, 0, 1, 1, 1, 1])


def test_clusters_are_light_and_inside_their_groups():
    of, draw = small(weighted(ew.generate.rmat(8, seed=1))), np.random.default_rng(3)
    groups = draw.integers(0, 3, len(of.sizes)).tolist()
    numbers, weights = cluster(of, 20, groups, drawn(len(groups), 5))
    assert np.bincount(numbers, of.sizes).tolist() == weights
    assert max(weights) <= 20
    assert len({*zip(numbers, groups)}) == len(weights) == len({*numbers})
    coarse = contract(of, numbers, weights)
    assert sum(coarse.sizes) == sum(of.sizes)
    part = [number % 2 for number in range(len(weights))]
    fine = Search(of, [part[number] for number in numbers], [10**9] * 2, drawn(len(numbers), 1))
    assert fine.cut == Search(coarse, part, [10**9] * 2, drawn(len(part), 1)).cut


def test_isolated_vertices_and_leaves_are_joined():
    star = small(GRAPHS[2])
    _, weights = cluster(star, 8, None, drawn(61, 1))
    assert len(weights) <= 10, "61 vertices of a star, eight for each cluster"
    hierarchy, _ = coarsen(small(ew.Graph(500, edges=(*NONE, None))), 2, iter(range(1, 99)))
    assert len(hierarchy[-1][0].sizes) < 100


def test_bisection_into_unequal_shares():
    of = small(ew.generate.grid(12, 12))
    targets = [0.5, 0.25, 0.125, 0.125]
    limits = [int(1.05 * 144 * share) for share in targets]
    parts = bisect(of, (0, 4), (limits, targets, 96), iter(range(1, 999)))
    counts = np.bincount(parts, minlength=4)
    assert (np.abs(counts - 144 * np.array(targets)) <= 8).all(), counts


def test_an_initial_partition_is_improved_and_options_count():
    graph = ew.generate.grid(16, 16)
    given = np.arange(256) % 4
    result = ew.partition(graph, 4, initial=given)
    assert result.method == METHOD
    assert result.is_balanced
    assert result.edge_cut < 60
    again = ew.partition(graph, 4, initial=result.parts)
    assert again.edge_cut <= result.edge_cut
    cuts = [ew.partition(graph, 6, preset=preset).edge_cut for preset in ("strong", "default", "fast")]
    assert cuts == sorted(cuts), "a preset makes the partitions of a faster one, and others"
    shares = ew.partition(graph, 2, target_weights=[1, 3], imbalance=0.02)
    assert shares.weights[0] <= 66
    assert shares.is_balanced
    assert ew.partition(graph, 4, tries=3).edge_cut <= ew.partition(graph, 4).edge_cut
    assert ew.partition(graph, 5, contiguous=True).measures.components.tolist() == [1] * 5


def test_cuts_are_those_of_the_other_method():
    ratios = []
    for graph in ew.generate.grid(24, 24), ew.generate.rmat(9, seed=2), ew.generate.rgg(600, seed=3):
        for k in 2, 8:
            ours, theirs = (ew.partition(graph, k, method=name).edge_cut for name in (METHOD, "jet"))
            ratios.append(max(ours, 1) / max(theirs, 1))
    assert np.exp(np.mean(np.log(ratios))) < 1.08
