"""Bits spread from a hub along an edge list: small lists, warps in step, races, and PTX."""

import os
from importlib import import_module

import numpy as np
import pytest

import edgewise as ew
from edgewise import warm
from edgewise.components import edge_order
from edgewise.components.trees import singletons
from edgewise.device import arrays, launch
from edgewise.device.explorer import operations
from tests import jitter, warps
from tests.conftest import engine
from tests.oracles import components as oracle

edge_filter, edge_reach = (import_module(f"edgewise.components.edge_{name}") for name in ("filter", "reach"))
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if engine() == "simulator" else "cpu")
SEEDS = range(60)


def skewed_edges(n, m, seed):
    """Random edges, of which vertices with small numbers have most."""
    random = np.random.default_rng(seed)
    return np.stack([(n * random.random(m) ** power).astype(np.uint32) for power in (1, 3)])


def in_a_star(n):
    return np.full(n - 1, n // 2, np.uint32), np.delete(np.arange(n, dtype=np.uint32), n // 2)


def in_a_path(n):
    order = np.random.default_rng(2).permutation(n).astype(np.uint32)
    return order[:-1], order[1:]


def apart(n):
    """Two components, of which the hub's has the greater numbers, and isolated vertices."""
    ends = skewed_edges(n // 3, n, 5)
    return np.concatenate([ends, n // 2 + ends, n // 2 + ends], axis=1)


LISTS = {
    **{f"{n} vertices, {m} edges": (n, skewed_edges(n, m, m)) for n in (1, 40, 500) for m in (128, 129, 700)},
    "a star": (300, in_a_star(300)),
    "a path": (300, in_a_path(300)),
    "two components": (301, apart(301)),
    "few edges": (30, skewed_edges(30, 20, 1)),
    "none": (5, skewed_edges(5, 0, 1)),
}


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("name", list(LISTS)[:: 3 if PLACE == "cuda:0" else 1])
def test_lists_of_any_shape(name):
    n, ends = LISTS[name]
    for source, target in (ends, ends[::-1]):
        found = edge_reach.edge_reach(
            n, *(arrays.move(np.ascontiguousarray(end), PLACE) for end in (source, target))
        )
        assert arrays.move(found, "cpu").tolist() == oracle(n, source.tolist(), target.tolist())


def test_larger_graphs():
    for graph in (
        ew.generate.rmat(14, edge_factor=8, seed=3),
        ew.generate.scale_free(5000),
        ew.generate.grid(60, 70, dropped=0.4),
    ):
        labels = [
            ew.connected_components(graph, method=method).labels.tolist() for method in ("edge-reach", "rem")
        ]
        assert labels[0] == labels[1]


def nothing_reached(n):
    counters = np.zeros((edge_reach.FIRST_WORD + n // 32 + 1) // 2 + 1, np.int64)
    return edge_reach.Reached(counters.view(np.uint32), counters)


def bits_of(reached, n):
    words = reached.words[edge_reach.FIRST_WORD :]
    return np.unpackbits(words.view(np.uint8), bitorder="little")[:n].tolist()


@pytest.mark.interpreter
@pytest.mark.parametrize("seed", range(3))
def test_a_frequent_target_wins(seed):
    targets = np.random.default_rng(seed).integers(0, 4000, 30_000)
    targets[::50] = hub = 1234 + seed
    reached = nothing_reached(4000)
    parent = np.zeros(4000, np.int64)
    edge_reach.prepare(edge_reach.VOTERS, reached, parent, targets)
    assert parent.tolist() == list(range(4000))
    assert reached.counters[edge_reach.AT.winner] & edge_reach.LABEL == hub
    assert (
        reached.counters[edge_reach.AT.targets :][: 1 << edge_reach.COUNTER_BITS].sum() == edge_reach.VOTERS
    )


def take_all_edges(reached, parent, sources, targets, **replaced):
    """Spread along all edges by warps of several lanes."""
    count = -(-len(sources) // (4 * warps.LANES)) * warps.LANES
    arguments = reached, parent, sources, targets
    warps.run_indices(edge_reach.spread_or_join, count, *arguments, **replaced)


@pytest.mark.interpreter
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_warps_reach_or_join_the_ends_of_every_edge(seed, ordered):
    n = 60
    sources, targets = skewed_edges(n, 77, seed)
    if ordered:
        sources.sort()
    reached, parent = nothing_reached(n), singletons(n, sources)
    edge_reach.set_bit(0, reached.words)
    take_all_edges(reached, parent, sources, targets)
    bits = bits_of(reached, n)
    for source, target in zip(sources.tolist(), targets.tolist()):
        assert bits[source] == bits[target] == 1 or root_of(source, parent) == root_of(target, parent)
    for vertex in range(n):
        edge_reach.reach_root.body(vertex, edge_reach.see_word(vertex, reached, parent), reached, parent)
    for vertex in range(n):
        seen = parent[vertex], edge_reach.has_bit(parent[vertex], reached.words)
        edge_reach.label.body(vertex, seen, reached, parent)
    assert parent.tolist() == oracle(n, sources.tolist(), targets.tolist())


@pytest.mark.interpreter
def test_lanes_with_the_same_source_mark_it_once():
    """Every third lane has a target that has not been reached, after which the source is marked again."""
    marked, lanes = [], warps.LANES
    sources = np.full(4 * lanes, 9, np.uint32)
    targets = np.where(np.arange(4 * lanes) % lanes == 2, 5, 0).astype(np.uint32)
    reached, parent = nothing_reached(10), singletons(10, sources)
    edge_reach.set_bit(0, reached.words)

    def fetch_or(array, index, value):
        marked.append(value)
        return operations.fetch_or(array, index, value)

    take_all_edges(reached, parent, sources, targets, fetch_or=fetch_or)
    assert marked.count(1 << 9) == 4 * 2
    assert bits_of(reached, 10) == [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]


def root_of(vertex, parent):
    while parent[vertex] != vertex:
        vertex = parent[vertex]
    return vertex


TWICE = np.array([3, 1, 6, 4, 4, 5, 5, 6, 7, 2, 0, 1]), np.array([4, 2, 7, 3, 5, 6, 4, 5, 6, 1, 2, 0])
ONCE = np.full(12, 4), np.delete(np.arange(13), 4)


def labels_by_three(seed, sources, targets, **replaced):
    """Labels after three workers have taken the edges of a list, and then its vertices, in any order."""
    n, scheduler = 13, jitter.Scheduler(seed)
    plain = nothing_reached(n)
    plain.counters[edge_reach.AT.winner] = 4
    words, counters = jitter.Jittery(plain.words, scheduler), jitter.Jittery(plain.counters, scheduler)
    reached, parent = edge_reach.Reached(words, counters), jitter.Jittery(np.arange(n), scheduler)
    spread, reach, see, label = (
        jitter.jittery(function, **replaced)
        for function in (
            edge_reach.spread_or_join.body,
            edge_reach.reach_root.body,
            edge_reach.see_word,
            edge_reach.label.body,
        )
    )

    def take_roots(first):
        for vertex in range(first, n, 3):
            reach(vertex, see(vertex, reached, parent), reached, parent)

    def take_labels(first):
        for vertex in range(first, n, 3):
            seen = parent[vertex], edge_reach.has_bit(parent[vertex], words)
            label(vertex, seen, reached, parent)

    scheduler.run(
        *(lambda index=index: spread(index, reached, parent, sources, targets) for index in range(3))
    )
    for take in take_roots, take_labels:
        scheduler.run(*(lambda first=first, take=take: take(first) for first in range(3)))
    return parent.values.tolist()


def careless_or(array, index, value):
    """A planted race: read, then write."""
    array[index] = array[index] | array.dtype.type(value)


@pytest.mark.interpreter
def test_no_edge_is_lost():
    for ends in TWICE, ONCE:
        expected = oracle(13, *(end.tolist() for end in ends))
        assert all(labels_by_three(seed, *ends) == expected for seed in SEEDS)
    with jitter.planted():
        assert not all(labels_by_three(seed, *ONCE, fetch_or=careless_or) == expected for seed in SEEDS)


@pytest.mark.simulator
@pytest.mark.skipif(engine() != "simulator", reason="for GPUs, of which the simulator needs few vertices")
def test_warmup_joins_many_edges(monkeypatch):
    launched, simulate = [], launch.simulate
    loops = edge_reach.spread_or_join, edge_filter.join_outside, edge_order.count_order

    def note(kernel, *arguments):
        if kernel in [loop.cuda for loop in loops]:
            launched.append(kernel.name)
        else:
            simulate(kernel, *arguments)

    monkeypatch.setattr(launch, "simulate", note)
    monkeypatch.setattr(edge_filter, "MANY", 100)
    warm._join_many("cuda:0")
    assert sorted(launched) == sorted(
        f"edgewise.components.{name}"
        for name in (
            "edge_filter.join_outside",
            "edge_order.count_order",
            "edge_reach.spread_or_join",
        )
    )


@pytest.mark.ptx
@pytest.mark.parametrize("index", ["uint32[]", "int64[]"])
def test_compiles_for_gpus(index):
    reached = edge_reach.Reached, ("uint32[]", "int64[]")
    text = edge_reach.spread_or_join.cuda.ptx((reached, index, index, index), (9, 0))
    assert launch.entry_name(text)
    assert "ld.local" not in text
    assert "global.or.b32" in text
