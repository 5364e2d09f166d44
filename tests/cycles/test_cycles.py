"""Every method on every engine counts what the oracle counts, NetworkX enumerates, and formulas say."""

import os
from functools import cache
from math import comb, perm

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise.cycles import METHODS
from edgewise.device.target import INTERPRETED, SIMULATED
from tests.oracles import count_by_hand
from tests.zoo import ZOO

PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
LENGTHS = range(3, 6) if SIMULATED else range(3, 8)
SHAPES = ["empty", "isolated", "repeated edges", "grid", "two cliques and a bridge"] if SIMULATED else [*ZOO]
NAMES = [name for name, method in METHODS.items() if PLACE.partition(":")[0] in method.devices]
#: Every method with every length it can do.
WAYS = [(name, length) for name in NAMES for length in LENGTHS if METHODS[name].can(length)]
#: Long cycles of a dense graph are too many to walk them all in the interpreter.
DENSE = "two cliques and a bridge" if INTERPRETED else "dense"


def counted(name, length, vertices, sources, targets, **asked):
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices).to(PLACE)
    result = ew.cycle_counts(graph, length, method=name, **asked).on_host()
    assert result.counts.dtype == np.int64
    assert result.total * length == sum(result.counts.tolist())
    return result.counts


@cache
def by_hand(shape, length):
    return count_by_hand(*ZOO[shape], length).tolist()


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name, length", WAYS)
def test_counts_are_the_oracles(name, length, shape):
    if INTERPRETED and shape == "dense" and length > 4:
        shape = DENSE
    assert counted(name, length, *ZOO[shape]).tolist() == by_hand(shape, length)


@pytest.mark.interpreter
@pytest.mark.parametrize("name, length", WAYS)
def test_both_directions_count_twice(name, length):
    for shape in (DENSE, "sparse"):
        twice = counted(name, length, *ZOO[shape], count_directions=True)
        assert twice.tolist() == [2 * count for count in by_hand(shape, length)]


def one_graph(parts):
    """Disjoint graphs as one: (vertices, sources, targets)."""
    starts = np.cumsum([0, *(part[0] for part in parts)])
    ends = [np.concatenate([part[side] + start for part, start in zip(parts, starts)]) for side in (1, 2)]
    return int(starts[-1]), *ends


def random_graphs(many, seed):
    """Small random graphs: as likely edges, cliques with tails, hubs, and two sides; loops and repeats."""
    draw = np.random.default_rng(seed)
    for number in range(many):
        n = int(draw.integers(1, 11))
        keep = np.triu(draw.random((n, n)) < draw.uniform(0.1, 0.9 if n < 9 else 0.6), 1)
        if number % 4 == 1:
            keep[: n // 2, : n // 2] = keep[n // 2 :, n // 2 :] = False
        elif number % 4 == 2:
            keep[0] = draw.random(n) < 0.9
            keep[1:] &= draw.random((n - 1, n)) < 0.5
        ends = np.nonzero(keep)
        if number % 4 == 3:
            again = draw.integers(0, len(ends[0]), 3) if len(ends[0]) else np.zeros(0, np.int64)
            loop = draw.integers(0, n, 1)
            ends = (
                np.concatenate([ends[0], ends[1][again], loop]),
                np.concatenate([ends[1], ends[0][again], loop]),
            )
        mixed = draw.permutation(n)
        yield n, mixed[ends[0]], mixed[ends[1]]


@pytest.fixture(scope="module")
def thousand():
    """A thousand random graphs, and how many cycles of each length NetworkX finds through each vertex."""
    import networkx as nx

    parts = list(random_graphs(1000, 5))
    expected = {length: [np.zeros(part[0], np.int64) for part in parts] for length in range(3, 8)}
    for number, (n, sources, targets) in enumerate(parts):
        peer = nx.Graph()
        peer.add_nodes_from(range(n))
        peer.add_edges_from((u, v) for u, v in zip(sources.tolist(), targets.tolist()) if u != v)
        for cycle in nx.simple_cycles(peer, length_bound=7):
            expected[len(cycle)][number][cycle] += 1
    return parts, expected


@pytest.mark.parametrize("name, length", WAYS)
def test_a_thousand_random_graphs_as_networkx_enumerates_them(name, length, thousand):
    parts, expected = thousand
    assert np.array_equal(counted(name, length, *one_graph(parts)), np.concatenate(expected[length]))


@pytest.mark.parametrize("length", LENGTHS)
def test_the_oracle_counts_what_networkx_enumerates(length, thousand):
    parts, expected = thousand
    for part, answer in list(zip(parts, expected[length]))[:200]:
        assert np.array_equal(count_by_hand(*part, length), answer)


@st.composite
def edge_lists(draw):
    vertices = draw(st.integers(1, 14))
    ends = st.lists(st.integers(0, vertices - 1), min_size=0, max_size=40)
    sources = draw(ends)
    targets = draw(st.lists(st.integers(0, vertices - 1), min_size=len(sources), max_size=len(sources)))
    return vertices, np.array(sources, np.int64), np.array(targets, np.int64)


@given(edge_lists())
def test_methods_agree_on_made_up_graphs(made):
    expected = {length: count_by_hand(*made, length).tolist() for length in LENGTHS}
    for name, length in WAYS:
        assert counted(name, length, *made).tolist() == expected[length], (name, length)


def clique(n):
    return n, *np.triu_indices(n, 1)


def two_sided(a, b):
    return a + b, np.repeat(np.arange(a), b), a + np.tile(np.arange(b), a)


def wheel(n):
    """A hub and a rim of ``n``."""
    rim = np.arange(n)
    return n + 1, np.concatenate([rim, rim]), np.concatenate([(rim + 1) % n, np.full(n, n)])


def cube(dimensions):
    at = np.arange(1 << dimensions)
    ends = [at[at >> bit & 1 == 0] for bit in range(dimensions)]
    return 1 << dimensions, np.concatenate(ends), np.concatenate([e | 1 << b for b, e in enumerate(ends)])


def petersen():
    rim = np.arange(5)
    sources, targets = (rim, rim, rim + 5), ((rim + 1) % 5, rim + 5, (rim + 2) % 5 + 5)
    return 10, np.concatenate(sources), np.concatenate(targets)


def in_clique(n, length):
    return perm(n - 1, length - 1) // 2


def in_two_sides(a, b, length):
    """Cycles of even length through a vertex on the side of ``a``."""
    half = length // 2
    return 0 if length % 2 else perm(a - 1, half - 1) * perm(b, half) // 2


def through_rim(n, length):
    """Cycles through a vertex of a wheel's rim: stretches of the rim closed by the hub, and the rim."""
    return length - 1 + (length == n) if length <= n else n * (length == n + 1)


FORMULAS = {
    "clique of 5": (clique(5), lambda k: [in_clique(5, k)] * 5),
    "clique of 20": (clique(20), lambda k: [in_clique(20, k)] * 20),
    "7 and 11": (two_sided(7, 11), lambda k: [in_two_sides(7, 11, k)] * 7 + [in_two_sides(11, 7, k)] * 11),
    "2 and 60": (two_sided(2, 60), lambda k: [comb(60, 2) * (k == 4)] * 2 + [59 * (k == 4)] * 60),
    "petersen": (petersen(), lambda k: [{5: 6, 6: 6}.get(k, 0)] * 10),
    "cube": (cube(4), lambda k: [{4: 6, 6: 48}.get(k, 0)] * 16),
    "wheel": (wheel(50), lambda k: [through_rim(50, k)] * 50 + [50]),
    "cycle of 6": ((6, np.arange(6), (np.arange(6) + 1) % 6), lambda k: [int(k == 6)] * 6),
    "tree": ((300, np.arange(1, 300), np.arange(1, 300) // 3), lambda k: [0] * 300),
}


@pytest.mark.parametrize("shape", FORMULAS)
@pytest.mark.parametrize("name, length", WAYS)
def test_closed_forms(name, length, shape):
    if shape == "clique of 20" and METHODS[name].enumerates and length > 5:
        pytest.skip("a billion steps, one by one")
    graph, formula = FORMULAS[shape]
    assert counted(name, length, *graph).tolist() == formula(length)


def through_hubs(hubs, leaves, joined=False):
    """Every leaf at all hubs, and perhaps the first two hubs side by side."""
    n, sources, targets = two_sided(hubs, leaves)
    return (n, np.append(sources, 0), np.append(targets, 1)) if joined else (n, sources, targets)


#: By length: a graph, and the counts of its hubs, which pass 32 bits.
BEYOND_32_BITS = {
    4: (through_hubs(2, 70_000), [comb(70_000, 2)] * 2),
    5: (through_hubs(3, 50_000, joined=True), [perm(50_000, 2)] * 3),
    6: (through_hubs(3, 2_000), [perm(2_000, 3)] * 3),
}


@pytest.mark.parametrize("name, length", [way for way in WAYS if not METHODS[way[0]].enumerates])
def test_counts_beyond_32_bits(name, length):
    if length in BEYOND_32_BITS:
        graph, hubs = BEYOND_32_BITS[length]
        found = counted(name, length, *graph)
        assert found[: len(hubs)].tolist() == hubs
        assert len(set(found[len(hubs) :].tolist())) == 1
    for n in (114, 300) if length == 5 else (114,):
        assert set(counted(name, length, *clique(n)).tolist()) == {in_clique(n, length)}


@pytest.mark.parametrize("name, length", WAYS)
def test_ids_rows_and_repeats_do_not_matter(name, length):
    n, sources, targets = ZOO["dense"]
    expected = np.array(by_hand("dense", length))
    draw = np.random.default_rng(3)
    mixed, order = draw.permutation(n), draw.permutation(3 * len(sources)) % len(sources)
    turned = draw.random(len(order)) < 0.5
    ends = np.where(turned, targets[order], sources[order]), np.where(turned, sources[order], targets[order])
    found = counted(name, length, n, mixed[ends[0]], mixed[ends[1]])
    assert found[mixed].tolist() == expected.tolist()


@pytest.mark.interpreter
@pytest.mark.parametrize("name, length", WAYS)
def test_devices_and_schedules_do_not_matter(name, length):
    for schedule in ("auto", "static", "static-weighted:3", "queue:2"):
        found = counted(name, length, *ZOO[DENSE], devices="cpu:0,cpu:1,cpu:2", schedule=schedule)
        assert found.tolist() == by_hand(DENSE, length), schedule
