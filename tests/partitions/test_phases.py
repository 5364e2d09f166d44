"""Each phase against a slow one: ratings, clusters, contraction, bisection, the order of evictions."""

import os
import sys
import tracemalloc
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise import tuning
from edgewise.device import arrays
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.partitions import PRESETS, initial, levels, rating, ratings, refine, row_shares
from edgewise.partitions import input as inputs
from edgewise.partitions.coarsen import contraction
from edgewise.partitions.coarsen.clustering import cluster
from edgewise.partitions.coarsen.contraction import contract
from edgewise.partitions.initial import recursive_bisection
from edgewise.partitions.levels import Level, moved, with_rows
from edgewise.partitions.multilevel import multilevel
from edgewise.partitions.presets import Settings
from edgewise.partitions.rating import FACT, NO_LABEL, WORDS, Labels, new_facts
from edgewise.partitions.ratings import no_connections, rate, tables_for
from edgewise.partitions.refine import Refinement, rebalance
from edgewise.partitions.refine.rebalance import cost_step, part_and_key, rank_all, ranking_of, vertex_of
from edgewise.partitions.refine.state import AMPLE, AT, COUNT, Rule
from edgewise.primitives.mixing import mix, unmix
from tests import jitter

DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if SIMULATED else "cpu")
pytestmark = [pytest.mark.interpreter]
simulator = pytest.mark.simulator


def level_of(graph, sizes=None):
    offsets, neighbours, weights = graph.offsets, graph.neighbours, graph.csr_weights
    weights = np.empty(0, np.int32) if weights is None else weights.astype(np.int32)
    sizes = np.ones(len(offsets) - 1, np.int64) if sizes is None else sizes
    return Level(offsets, neighbours, weights, sizes, np.empty(0, neighbours.dtype))


def hubs():
    graph = ew.generate.with_weights(ew.generate.rmat(4, edge_factor=3, seed=1).simplified(), 1, 5, seed=1)
    return level_of(graph, np.arange(16) % 3 + 1)


def dense():
    """Rows of many lengths up to 50, some longer than a warp is wide."""
    graph = ew.generate.rmat(6, edge_factor=24, probabilities=(0.3, 0.25, 0.25, 0.2), seed=1).simplified()
    return level_of(ew.generate.with_weights(graph, 1, 9, seed=2), np.arange(64) % 3 + 1)


def wheel():
    """A ring of 75 vertices and a hub, whose row is a long one on a GPU."""
    ring = np.arange(75)
    graph = ew.Graph.from_edges(np.r_[ring, ring], np.r_[(ring + 1) % 75, np.full(75, 75)])
    return level_of(graph, np.arange(76) % 3 + 1)


def isolated():
    """Two neighbours, and two vertices without edges, of which the last one is heavy."""
    offsets, neighbours = np.array([0, 1, 2, 2, 2]), np.array([1, 0], np.uint32)
    none = np.empty(0, np.uint32)
    return Level(offsets, neighbours, np.array([7, 7], np.int32), np.array([1, 2, 1, 9]), none)


def memory_for(level, n_labels):
    """Memory to rate rows without totals to each part."""
    return no_connections(level), tables_for(level, n_labels)


def edges(level):
    """Weight of each pair of neighbours, by a dictionary."""
    rows = np.repeat(np.arange(len(level.sizes)), np.diff(level.offsets)).tolist()
    weights = level.weights.tolist() or [1] * len(rows)
    return dict(zip(zip(rows, level.neighbours.tolist()), weights))


@pytest.mark.parametrize("make", [hubs, dense, wheel])
@simulator
def test_ratings(make):
    level, draw = make(), np.random.default_rng(5)
    n = len(level.sizes)
    labels, groups = draw.integers(0, 6, n).astype(np.uint32), draw.integers(0, 2, n).astype(np.uint32)
    room = np.array([9, 9, 2, 9, 1, 9])
    there = with_rows(moved(level, DEVICE))
    state = Labels(*(arrays.move(one, DEVICE) for one in (labels, room, groups)), 77, 0)
    found, chosen = new_facts(there), np.array([0, 3, 4, 7, 9, 12, n - 1])
    growth = rate(arrays.move(chosen, DEVICE), there, state, memory_for(there, 6), found)
    own, best, link = (one.tolist() for one in ratings_in(found))
    pairs = edges(level).items()
    for row in range(n):
        totals = dict.fromkeys(range(6), 0)
        for (one, other), weight in pairs:
            if one == row and groups[one] == groups[other]:
                totals[int(labels[other])] += weight
        mine = totals.pop(int(labels[row]))
        open_to = [
            (total, mix(one, 77), one)
            for one, total in totals.items()
            if total and room[one] >= level.sizes[row]
        ]
        total, _, strongest = max(open_to, default=(0, 0, NO_LABEL))
        wanted = (mine, strongest, total) if row in chosen else (0, 0, 0)
        assert (own[row], best[row], link[row]) == wanted
    assert int(growth[0]) == sum(own)


@simulator
def test_clusters_and_contraction():
    level = hubs()
    how = Settings(rounds=2, sub_rounds=2)
    there = with_rows(moved(level, DEVICE))
    none = arrays.empty(0, np.uint32, DEVICE)
    labels = cluster(there, 6, none, how)
    coarse, clusters = contract(there, labels)
    labels, clusters = arrays.move(labels, "cpu"), arrays.move(clusters, "cpu").tolist()
    coarse = moved(coarse, "cpu")
    assert sorted(set(clusters)) == list(range(len(coarse.sizes))) and len(coarse.sizes) < 16
    members = {one: np.flatnonzero(labels == one) for one in set(labels.tolist())}
    assert all(level.sizes[group].sum() <= 6 for group in members.values() if len(group) > 1)
    assert np.bincount(clusters, level.sizes).tolist() == coarse.sizes.tolist()
    wanted = {}
    for (one, other), weight in edges(level).items():
        pair = clusters[one], clusters[other]
        if pair[0] != pair[1]:
            wanted[pair] = wanted.get(pair, 0) + weight
    assert edges(coarse) == wanted and len(coarse.neighbours) == len(wanted)


@pytest.mark.parametrize("few", [0, 1 << 30])
@pytest.mark.parametrize("most", [1, 7, 40])
def test_contraction_takes_turns(most, few, monkeypatch):
    """The graph of the clusters is the same for any number of them at a time, also of one of many entries."""
    level = hubs()
    labels = np.array([0, 0, 2, 2, 4, 0, 2, 7, 7, 9, 9, 9, 12, 12, 12, 15], np.uint32)
    expected, clusters = contract(level, labels)
    monkeypatch.setattr(contraction, "TURN_ENTRIES", most)
    monkeypatch.setattr(contraction, "TURNS", 1 << 20)
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, primitives_few=few))
    found, again = contract(level, labels)
    assert (clusters == again).all() and found.offsets.tolist() == expected.offsets.tolist()
    assert edges(found) == edges(expected) and found.sizes.tolist() == expected.sizes.tolist()
    assert len(found.neighbours) == len(found.weights) == found.offsets[-1]
    assert found.neighbours.flags.owndata and found.neighbours.nbytes == 4 * found.offsets[-1]


@pytest.mark.parametrize("make", [hubs, wheel, dense, isolated])
def test_loops_do_what_numpy_does(make, monkeypatch):
    """Few rows are looked at by NumPy, and many by compiled loops."""
    level, k = make(), 3
    n, draw = len(level.sizes), np.random.default_rng(5)
    part, labels = draw.integers(0, k, n).astype(np.uint32), draw.integers(0, n, n).astype(np.uint32)
    rows = level.neighbours, np.zeros_like(level.neighbours)
    graphs = [ew.Graph.from_csr(level.offsets, one, directed=True) for one in rows]

    def found():
        coarse, clusters = contract(level, labels)
        job = Refinement(level, part.copy(), np.full(k, level.sizes.sum() // k + 2), Settings(seed=3))
        job.list_active(100)
        job.list_active(0)
        active = job.memory.active[: job.progress[AT.n_active]]
        border = job.memory.search.border[: job.progress[AT.n_border]]
        job.list_border(border.copy(), len(border))
        again = job.memory.search.border[: job.progress[AT.n_border]]
        lists = [sorted(one.tolist()) for one in (active, border, again)]
        facts = job.memory.facts.tolist(), rebalance.least_step_of(level)
        sums = levels.cut_of(level, part), levels.part_weights(level.sizes, part, k).tolist()
        loops = [inputs._search_self_loops(graph) for graph in graphs]
        assert loops == [False, True]
        return edges(coarse), coarse.sizes.tolist(), clusters.tolist(), lists, facts, sums, loops

    by_numpy = found()
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, primitives_few=0))
    assert found() == by_numpy and not levels.are_few(level.offsets, level.neighbours)


@pytest.mark.parametrize("n", [1 << 16, (1 << 16) + 3])
def test_numpy_tells_more_clusters_apart_than_16_bits_do(n, monkeypatch):
    """Also where the limit is tuned."""
    offsets = np.r_[0, np.arange(1, 2 * n - 2, 2), 2 * n - 2]
    neighbours = np.concatenate([np.arange(n)[1:], np.arange(n)[:-1]])
    neighbours = neighbours[np.argsort(np.r_[np.arange(n)[:-1], np.arange(n)[1:]], kind="stable")]
    none = np.empty(0, np.uint32)
    level = Level(offsets, neighbours.astype(np.uint32), np.empty(0, np.int32), np.empty(0, np.int64), none)
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, primitives_few=1 << 20, partitions_few=1 << 22))
    coarse, clusters = contract(level, np.arange(n, dtype=np.uint32))
    assert (clusters == np.arange(n)).all() and (coarse.offsets == offsets).all()
    rows = np.repeat(np.arange(n), np.diff(offsets))
    assert (np.sort(rows << 32 | coarse.neighbours) == np.sort(rows << 32 | neighbours)).all()


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.integers(1, 64), st.integers(1, 8))
def test_turns_are_all_clusters(sizes, most, turns):
    """Each cluster is in one turn, which has no more entries than it may, or one cluster."""
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    with mock.patch.multiple(contraction, TURN_ENTRIES=most, TURNS=turns):
        found = list(contraction._turns(bounds))
    assert [first for first, _ in found] == [0, *(end for _, end in found[:-1])]
    assert found[-1][1] == len(sizes)
    room = max(most, sum(sizes) // turns)
    assert all(end == first + 1 or bounds[end] - bounds[first] <= room for first, end in found)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=30),
    st.booleans(),
)
@simulator
def test_levels_have_no_self_loops_and_no_zeros(found, weighted):
    """What a level has is the entries of the graph that count, row by row."""
    sources, targets, weights = np.array(found, np.int64).T
    given = weights if weighted else None
    graph = ew.Graph.from_edges(sources, targets, weights=given, n_vertices=6).to(DEVICE)
    level, total, _ = inputs.level_of(graph, np.broadcast_to(np.int64(1), 6), None)
    host = moved(level, "cpu")
    wanted = [[] for _ in range(6)]
    for source, target, weight in found:
        if source != target and (weight or not weighted):
            wanted[source].append((target, weight if weighted else 1))
            wanted[target].append((source, weight if weighted else 1))
    kept = host.weights if weighted else np.ones(len(host.neighbours), int)
    entries = list(zip(host.neighbours.tolist(), kept.tolist()))
    spans = zip(host.offsets[:-1], host.offsets[1:])
    assert [sorted(entries[first:end]) for first, end in spans] == [sorted(row) for row in wanted]
    assert total == kept.sum()


@simulator
def test_weights_of_one_need_no_array():
    """A partition of a level without weights of its vertices is that with ones, by every preset."""
    plain = level_of(ew.generate.grid(9, 7))
    none = plain._replace(sizes=plain.sizes[:0])
    limits, targets = np.full(3, 24), np.full(3, 1 / 3)
    for preset in ("default", "strong"):
        settings = PRESETS[preset]._replace(coarsest=8, coarsest_for_each=0)
        settings = settings._replace(starts=min(settings.starts, 2), small=0, cycles=min(settings.cycles, 1))
        one, two = (
            multilevel(with_rows(moved(level, DEVICE)), limits, targets, settings) for level in (plain, none)
        )
        assert one[1:] == two[1:]
        assert arrays.move(one[0], "cpu").tolist() == arrays.move(two[0], "cpu").tolist()


def test_single_vertices_are_joined():
    """The leaves of a star, whose centre is full, and isolated vertices."""
    n = 60
    graph = ew.Graph.from_edges(np.zeros(29, int), np.arange(1, 30), n_vertices=n)
    level = level_of(graph)
    labels = cluster(level, 5, np.empty(0, np.uint32), Settings())
    sizes = np.bincount(labels)
    assert sizes.max() == 5 and np.count_nonzero(sizes) <= 14


@pytest.mark.parametrize("make", [hubs, dense])
def test_clusters_of_heavy_vertices(make):
    """Weights whose sums need 64 bits give the clusters of their multiples that do not."""
    level, none = make(), np.empty(0, np.uint32)
    heavy = level._replace(sizes=level.sizes << 40)
    labels = cluster(level, 6, none, Settings(single_clusters=1))
    assert cluster(heavy, 6 << 40, none, Settings(single_clusters=1)).tolist() == labels.tolist()


def test_isolated_vertices_stay_in_their_groups():
    """No cluster has vertices of two groups, with edges between the groups or without edges."""
    n = 60
    graph = ew.Graph.from_edges(np.arange(10), np.arange(10, 20), n_vertices=n)
    groups = (np.arange(n) % 7).astype(np.uint32)
    level = level_of(graph)
    labels = cluster(level, 5, groups, Settings())
    sizes = np.bincount(labels)
    assert sizes.max() == 5 and (groups[labels] == groups).all()


@pytest.mark.skipif(INTERPRETED, reason="takes long in the interpreter")
def test_small_graphs_with_isolated_vertices_have_many_parts():
    graph = ew.generate.rmat(8, edge_factor=4, seed=1).simplified()
    found = ew.partition(graph, 64, preset="fast")
    found.verify()
    assert len(np.unique(found.parts)) == 64


def test_bisection_finds_the_bridge():
    draw = np.random.default_rng(2)
    pairs = [draw.integers(0, 20, (60, 2)) + 20 * side for side in range(4)]
    path = np.stack([np.arange(79), np.arange(1, 80)], axis=1)
    ends = np.concatenate([*pairs, path])
    graph = ew.Graph.from_edges(ends[:, 0], ends[:, 1], n_vertices=80).simplified()
    limits = np.full(4, 20)
    parts = recursive_bisection(level_of(graph), limits, np.full(4, 0.25), Settings(tries=4))
    assert parts.reshape(4, 20).max(axis=1).tolist() == parts.reshape(4, 20).min(axis=1).tolist()


def test_blocks_take_few_bytes_for_each_entry():
    """The coarsest graph of a random one is nearly complete: this was the peak of a partition."""
    n = 600
    rows = np.arange(n * n, dtype=np.int64).reshape(n, n) % n
    neighbours = rows[~np.eye(n, dtype=bool)].astype(np.uint32)
    none = np.empty(0, np.uint32)
    weights = np.ones(len(neighbours), np.int32)
    level = Level(np.arange(n + 1) * (n - 1), neighbours, weights, np.empty(0, np.int64), none)
    parts = np.arange(n) % 2
    tracemalloc.start()
    blocks, vertices = initial._blocks_of(parts, np.arange(2), level, np.ones(n, np.int64))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * len(neighbours)
    assert vertices.tolist() == [*range(0, n, 2), *range(1, n, 2)]
    assert blocks.starts.tolist() == [0, n // 2, n]
    first = np.arange(1, n // 2)
    assert blocks.neighbours[: n // 2 - 1].tolist() == first.tolist()
    assert blocks.neighbours[-(n // 2 - 1) :].tolist() == (n // 2 + first - 1).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_bisection_cuts_a_grid_in_the_middle(seed):
    graph = ew.generate.grid(8, 8, shuffle=True, seed=seed)
    parts = recursive_bisection(level_of(graph), np.full(2, 35), np.full(2, 0.5), Settings(tries=1))
    assert np.count_nonzero(parts[graph.sources] != parts[graph.targets]) <= 10


def test_mix_is_a_permutation():
    numbers = [0, 1, 2, 255, 65535, 65536, 123456789, 2**31, 2**32 - 1]
    for salt in (0, 77, 2**32 - 1):
        codes = [int(mix(number, salt)) for number in numbers]
        assert [int(unmix(code, salt)) for code in codes] == numbers
        assert len(set(codes)) == len(numbers) and max(codes) < 2**32
    assert len({int(mix(number, 5)) for number in range(2000)}) == 2000


def test_cost_steps_rise_with_the_loss():
    gains = [10**15, 10**6, 1000, 999, 50, 3, 1, 0, -1, -2, -3, -50, -1000, -(10**6), -(10**15)]
    steps = [int(cost_step(np.int64(gain), np.int64(3))) for gain in gains]
    assert steps == sorted(steps) and min(steps) >= 0 and max(steps) < 1024
    assert len(set(steps[5:11])) == 6


def slots_of(seed, **atomics):
    """Slots that three threads claim for the same labels, and the table."""
    scheduler = jitter.Scheduler(seed)
    keys = jitter.Jittery(np.full(8, NO_LABEL), scheduler)
    claim = jitter.jittery(ratings.claim_slot, **atomics)
    claimed = [[] for _ in range(3)]

    def thread(number):
        for label in (3, 11, 19, 4)[number:] + (3, 11, 19, 4)[:number]:
            claimed[number].append((label, int(claim(keys, 0, 8, label))))

    scheduler.run(*(lambda number=number: thread(number) for number in range(3)))
    return claimed, keys.values


@pytest.mark.skipif(SIMULATED, reason="the interpreter finds races")
def test_a_label_has_one_slot():
    for seed in range(60):
        claimed, keys = slots_of(seed)
        assert len({tuple(sorted(one)) for one in claimed}) == 1, seed
        assert sorted(keys[keys >= 0].tolist()) == [3, 4, 11, 19]


@pytest.mark.skipif(SIMULATED, reason="the interpreter finds races")
def test_a_careless_swap_is_found():
    assert any(
        len({tuple(sorted(one)) for one in slots_of(seed, cas=jitter.careless_cas)[0]}) > 1
        for seed in range(60)
    )


@pytest.mark.parametrize(
    ("make", "k", "has_totals"), [(hubs, 5, True), (hubs, 30, False), (wheel, 30, False)]
)
@simulator
def test_ratings_follow_the_moves(make, k, has_totals, monkeypatch):
    """Ratings, from totals or from rows, are those of the moved vertices; empty parts are no choice."""
    monkeypatch.setattr(ratings, "TOTALS_FOR_EACH_ENTRY", ratings.TOTALS_ON_GPU)
    monkeypatch.setattr(ratings, "CUT", 0)
    level = make()
    n = len(level.sizes)
    there, draw = with_rows(moved(level, DEVICE)), np.random.default_rng(6)
    part, limits = draw.integers(0, 4, n).astype(np.uint32), np.full(k, 9 if n == 16 else 50)
    how = Settings(seed=3)
    job = Refinement(there, arrays.move(part, DEVICE), arrays.move(limits, DEVICE), how)
    assert len(job.memory.connections.totals) == n * k * has_totals
    for _ in range(3):
        move_once(job)
        assert job.progress[AT.own_total] == cut_of_rows(level, arrays.move(job.memory.search.part, "cpu"))
        fresh = new_facts(there)
        rate(None, there, job.labels, memory_for(there, k), fresh)
        for kept, found in zip(ratings_in(job.memory.facts), ratings_in(fresh)):
            assert kept.tolist() == found.tolist()
        loads = np.bincount(arrays.move(job.memory.search.part, "cpu"), level.sizes, minlength=k)
        assert arrays.move(job.memory.search.loads, "cpu").tolist() == loads.tolist()
        assert job.progress[AT.excess] == (loads - limits).max()
        check_lists(job, fresh)


@simulator
def test_a_rebalance_keeps_the_lists():
    """Moves for the balance are rated and listed as free ones are."""
    level = wheel()
    there = with_rows(moved(level, DEVICE))
    part, limits = (np.arange(76) // 40).astype(np.uint32), np.full(2, 77)
    job = Refinement(there, arrays.move(part, DEVICE), arrays.move(limits, DEVICE), Settings(seed=3))
    assert job.progress[AT.excess] > 0
    for is_strong in (False, False, True):
        move_once(job)
        job.rebalance_strongly() if is_strong else repair_once(job)
        fresh = new_facts(there)
        rate(None, there, job.labels, memory_for(there, 2), fresh)
        assert job.progress[AT.own_total] == int(ratings_in(fresh)[0].sum())
        check_lists(job, fresh)
        loads = np.bincount(arrays.move(job.memory.search.part, "cpu"), level.sizes, minlength=2)
        assert job.progress[AT.excess] == (loads - limits).max()


@simulator
def test_light_parts_give_no_vertices():
    """A part gives vertices in a free iteration if it has its least weight."""
    level = dense()
    part, total = (np.arange(64) % 5 // 2).astype(np.uint32), int(level.sizes.sum())
    loads = np.bincount(part, level.sizes).astype(int)
    for most, givers in ((2 * total // 3 - loads[2] - 1, {0, 1}), (2 * total // 3 - loads[2], {0, 1, 2})):
        here, limits = arrays.move(part, DEVICE), arrays.move(np.full(3, most), DEVICE)
        job = Refinement(with_rows(moved(level, DEVICE)), here.copy(), limits, Settings())
        assert set(arrays.move(job.memory.search.least, "cpu").tolist()) == {loads[2] + (len(givers) == 2)}
        move_once(job)
        now = arrays.move(job.memory.search.part, "cpu")
        assert set(part[now != part].tolist()) == givers


def ratings_in(words):
    """Totals to the own labels, strongest labels, and totals to these, on the host."""
    words = arrays.move(words, "cpu").reshape(-1, WORDS)
    return words[:, FACT.own], words[:, FACT.best], words[:, FACT.link]


def check_lists(job, fresh):
    """The active vertices and the border have all that belong there by fresh ratings, each once."""
    own, best, link = ratings_in(fresh)
    active = (best != NO_LABEL) & ((link >= own) | (own - link < own * 250 // 1000))
    border = (best != NO_LABEL) | (own == 0)
    search, n_border = job.memory.search, job.progress[AT.n_border]
    lists = (active, job.memory.active[: job.progress[AT.n_active]]), (border, search.border[:n_border])
    for belongs, listed in lists:
        listed = arrays.move(listed, "cpu").tolist()
        assert len(set(listed)) == len(listed)
        assert set(np.flatnonzero(belongs).tolist()) <= set(listed)


def cut_of_rows(level, part):
    """Weight of the entries within parts."""
    return sum(weight for (one, other), weight in edges(level).items() if part[one] == part[other])


@pytest.mark.parametrize("bits", [1, 4, 11])
@simulator
def test_those_that_cost_least_leave(monkeypatch, bits):
    """The last key that leaves each part is that of a sort, whatever the digits are."""
    monkeypatch.setattr(rebalance, "DIGIT_BITS", bits)
    level = level_of(ew.generate.grid(20, 15), np.arange(300) % 7 + 1)
    part = np.minimum(np.arange(300) // 90, 3).astype(np.uint32)
    loads = np.bincount(part, level.sizes).astype(np.int64)  # the type that the kernel has elsewhere
    limits = loads - np.array([40, 1, -200, loads[3] - 2])
    job = Refinement(
        with_rows(moved(level, DEVICE)),
        arrays.move(part, DEVICE),
        arrays.move(limits, DEVICE),
        Settings(),
    )
    how = ranking_of(job.level, 4, job.items)
    rank_all(job.level, job.labels, job.memory, job.space, how)
    search = job.memory.search
    listed = arrays.move(search.net, "cpu")[: int(search.counters[COUNT.listed])]
    last, (parts, keys) = arrays.move(job.space.last, "cpu"), part_and_key(listed, how)
    for one in (0, 1, 3):
        order = np.sort(keys[parts == one])
        sizes = level.sizes[vertex_of(order, how)]
        leaving = order[np.cumsum(sizes) - sizes < (loads - limits)[one]]
        assert (order[order <= last[one]] == leaving).all()
    assert not (parts == 2).any() and not arrays.move(job.space.bins, "cpu").any()


@pytest.mark.release
def test_ratings_with_little_memory(monkeypatch):
    """With hash tables, and with one worker to contract, the partition is that of totals for each label."""
    graph = ew.generate.delaunay(400, seed=1)
    monkeypatch.setitem(PRESETS, "default", PRESETS["default"]._replace(coarsest=100, coarsest_for_each=8))
    expected = ew.partition(graph, 7, seed=3)
    for module in ("ratings", "coarsen.contraction"):
        monkeypatch.setattr(sys.modules[f"edgewise.partitions.{module}"], "TOTALS_BYTES", 0)
    found = ew.partition(graph, 7, seed=3)
    assert found.edge_cut == expected.edge_cut
    assert (found.parts == expected.parts).all()


@simulator
@pytest.mark.skipif(not (INTERPRETED or SIMULATED), reason="another test compiles facts of 64 bits")
def test_wide_facts_give_the_same_parts(monkeypatch):
    """Facts have 64 bits if the weights or the vertices need them, and may have 16 on the CPU."""
    level = with_rows(moved(wheel(), DEVICE))
    assert new_facts(level).dtype == np.int32
    part, limits = (np.arange(76) // 26).astype(np.uint32), np.full(3, 60)
    found = []
    for most in (2**31 - 1, 75):
        monkeypatch.setattr(rating, "NARROW", most)
        found.append(refined(level, part, limits))
    assert new_facts(level).dtype == np.int64
    assert new_facts(level._replace(weights=level.weights.astype(np.int64))).dtype == np.int64
    assert found[0] == found[1]


@pytest.mark.release
def test_short_facts_give_the_same_parts(monkeypatch):
    """Facts of many vertices have 16 bits on the CPU, unless a row, a weight or part is too large."""
    graph, found = ew.generate.delaunay(1000, seed=1), []
    monkeypatch.setitem(PRESETS, "default", PRESETS["default"]._replace(coarsest=100, coarsest_for_each=8))
    for least in (2**22, 600):
        monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, partitions_short=least, partitions_small=0))
        found.append(ew.partition(graph, 5, seed=3).parts.tolist())
    assert found[0] == found[1]
    level, most = level_of(graph), int(np.diff(graph.offsets).max())
    weighted = level._replace(weights=np.ones(len(level.neighbours), np.int32))
    assert new_facts(level, 5).dtype == np.int16
    for others in ((level,), (level, 2**15), (weighted, 5)):
        assert new_facts(*others).dtype == np.int32
    for longest, kind in ((most, np.int16), (most - 1, np.int32)):
        monkeypatch.setattr(rating, "SHORT", longest)
        assert new_facts(level, 5).dtype == kind
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, partitions_short=1001))
    assert new_facts(level, 5).dtype == np.int32


@simulator
def test_iterations_in_one_region_are_those_one_by_one(monkeypatch):
    """The region and the host decide alike when a search ends, which state is best, and what is undone."""
    level, found = with_rows(moved(wheel(), DEVICE)), []
    cases = (3, 53), (3, 60), (2, 90)
    for parts, limit in cases[: 1 if SIMULATED else 3]:  # one takes the simulator a quarter of a minute
        part, limits = (np.arange(76) % parts).astype(np.uint32), np.full(parts, limit)
        for most in (256, 1, 3):
            monkeypatch.setattr(refine, "REGION_STEPS", most)
            found.append(refined(level, part, limits))
        assert found[-1] == found[-2] == found[-3]
        part, cut, _ = found[-1]
        assert cut == cut_between(wheel(), np.array(part))


@simulator
def test_teams_share_the_rows_of_hubs(monkeypatch):
    """With several workers the parts are the same, whatever row is a long one."""
    level, found = with_rows(moved(wheel(), DEVICE)), []
    part, limits = (np.arange(76) % 3).astype(np.uint32), np.full(3, 60)
    for longest in (2, 10**6) if SIMULATED else (2, 40, 10**6):
        monkeypatch.setattr(row_shares, "LONG_ROW", longest)
        found.append(refined(level, part, limits))
    assert all(one == found[0] for one in found)


@pytest.mark.skipif(INTERPRETED or SIMULATED, reason="takes minutes without compiled code")
def test_threads_share_the_rows_of_hubs():
    n, hubs = 6000, [0, 1, 2]
    ring = np.arange(n)
    sources = np.r_[ring, np.repeat(hubs, n)]
    graph = ew.Graph.from_edges(sources, np.r_[(ring + 1) % n, np.tile(ring, 3)]).simplified()
    one, two = (ew.partition(graph, 8, seed=1, threads=count).parts for count in (1, 2))
    assert (one == two).all()


def refined(level, part, limits):
    """A refined partition as a list, its cut, and its excess."""
    here, most = arrays.move(part, DEVICE), arrays.move(limits, DEVICE)
    part, cut, excess = refine.refine(level, here, most, Settings(seed=2), cut_between(wheel(), part))
    return arrays.move(part, "cpu").tolist(), cut, excess


def cut_between(level, part):
    """Weight of the edges between parts."""
    return sum(weight for (one, other), weight in edges(level).items() if part[one] != part[other]) // 2


def move_once(job):
    """One free iteration."""
    begin_search(job, Rule(0, 1, 1000, 2, AMPLE, 250, job.items, 1))
    job.progress[AT.unbalanced] = 1
    assert len(job.run()) == 1
    assert job.progress[AT.is_free] == 1


def repair_once(job):
    """One weak iteration for the balance; the number of moves."""
    begin_search(job, Rule(0, 9, 1000, 0, 0, 250, job.items, 1))
    job.prepare_repair()
    ends = job.run().tolist()
    if job.progress[AT.looks_at_all]:
        assert ends == []
        ends = job.run().tolist()
    return ends[0]


def begin_search(job, rule):
    """Begin a search by a rule from the state that there is."""
    search = (AT.fruitless, AT.unbalanced, AT.repairs, AT.is_done, AT.is_strong, AT.looks_at_all)
    job.progress[[*search, AT.best_cut, AT.best_excess]] = 0
    job.rule = rule


@pytest.mark.release
def test_parts_do_not_depend_on_the_type_of_the_weights(monkeypatch):
    """Weights have 64 bits where their total needs them, also those of a graph without weights."""
    graph = ew.generate.grid(20, 20)
    parts = ew.partition(graph, 4, seed=1).parts.tolist()
    monkeypatch.setattr(inputs, "NARROW", 100)
    level = inputs.level_of(graph, np.ones(400, np.int64), None)[0]
    assert level.weights.dtype == np.int64 and not len(level.weights)
    assert ew.partition(graph, 4, seed=1).parts.tolist() == parts
