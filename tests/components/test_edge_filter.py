"""Edges inside the giant component are filtered out: small filters, warps in step, races, and PTX."""

from importlib import import_module

import numpy as np
import pytest

from edgewise.components import edge_samples
from edgewise.components.trees import compress
from edgewise.device import BlockWorker, arrays, launch
from edgewise.primitives import quads
from edgewise.primitives.vote import LABEL_BITS
from tests import jitter, warps
from tests.conftest import engine
from tests.oracles import components as oracle

edge_filter = import_module("edgewise.components.edge_filter")
PLACE = "cuda:0" if engine() == "simulator" else "cpu"
SEEDS = range(90)


def random_edges(n, m, seed):
    return np.random.default_rng(seed).integers(0, n, (2, m)).astype(np.uint32)


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("n, m", [(30, 20), (130, 400), (130, 110), (300, 150), (1, 5)])
def test_small_filters_and_samples(monkeypatch, n, m):
    monkeypatch.setattr(edge_filter, "MANY", 20)  # which only the driver reads
    if engine() != "jit":  # compiled kernels are kept, with their constants
        monkeypatch.setattr(edge_samples, "BLOCK", 4)
        monkeypatch.setattr(edge_filter, "FILTER_WORDS", 4)
    for seed in range(3):
        ends = random_edges(n, m, seed)
        found = edge_filter.edge_filter(n, *(arrays.move(end, PLACE) for end in ends))
        assert arrays.move(found, "cpu").tolist() == oracle(n, *ends.tolist())


def half_joined(n, m, seed):
    """Edges, parents after half of them, and the vertices outside the largest tree as a :class:`Giant`."""
    sources, targets = random_edges(n, m, seed)
    parent = np.array(oracle(n, sources[: m // 2].tolist(), targets[: m // 2].tolist()), np.uint32)
    winner = np.full(1, 1 << LABEL_BITS | np.bincount(parent).argmax(), np.int64)
    giant = giant_of(n // 32 + 1, words=4)
    warps.run_rows(edge_filter.mark_outside, len(giant.outside), parent, winner, giant.outside)
    for word in range(4):
        jitter.jittery(edge_filter.fold.body, FILTER_WORDS=4)(word, giant)
    return sources, targets, parent, giant


def giant_of(n_words, words):
    """A :class:`Giant` with all bits zero."""
    bits = np.zeros(n_words, np.uint32), np.zeros(words, np.uint32)
    return edge_filter.Giant(*bits, np.zeros(1, np.int64))


@pytest.mark.interpreter
@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_lanes_of_a_warp_queue_their_edges(seed, filtered):
    n, m, words = 300, 420, 4
    sources, targets, parent, giant = half_joined(n, m, seed)
    outside = np.unpackbits(giant.outside.view(np.uint8), bitorder="little")[:n].astype(bool)
    assert outside.tolist() == (parent != np.bincount(parent).argmax()).tolist()
    assert giant.n_set[0] == len(set(np.flatnonzero(outside) % (32 * words)))
    giant.n_set[0] = 0 if filtered else edge_filter.MANY
    room = words + edge_filter.ENDS * edge_filter.PLACES * warps.LANES
    arguments = giant, parent, sources, targets, 0
    warps.run(edge_filter.join_outside, *arguments, words=room, FILTER_WORDS=words)
    compress(n, parent)
    assert parent.tolist() == oracle(n, sources.tolist(), targets.tolist())


def joined_by_three(seed, **replaced):
    """Labels after three workers have joined the edges outside a giant."""
    n, scheduler = 8, jitter.Scheduler(seed)
    sources, targets = np.array([4, 4, 5, 5, 6, 6, 1, 2]), np.array([0, 3, 1, 3, 2, 3, 7, 7])
    parent, giant = jitter.Jittery(np.arange(n), scheduler), giant_of(1, 1)
    giant.outside[:] = giant.folded[:] = 255
    body = jitter.jittery(edge_filter.join_outside.body, FILTER_WORDS=1, **replaced)

    def work(number, barrier):
        shared = np.zeros(1 + edge_filter.ENDS * edge_filter.PLACES, np.uint32)
        body(BlockWorker(number, 3, barrier, shared), giant, parent, sources, targets, 1)

    assert jitter.run_region(scheduler, 3, work)
    compress(n, parent.values)
    return parent.values.tolist() == [0] * n


@pytest.mark.interpreter
def test_no_edge_is_lost():
    assert all(joined_by_three(seed) for seed in SEEDS)
    assert not all(joined_by_three(seed, cas=jitter.careless_cas) for seed in SEEDS)


@pytest.mark.ptx
@pytest.mark.parametrize("index", ["uint32[]", "int64[]"])
def test_compiles_for_gpus(index):
    bits, words = "uint32[]", "int64[]"
    kinds = ("int32[]", (edge_filter.Giant, (bits, bits, words)), index, index, index, "int64")
    text = edge_filter.join_outside.cuda.ptx(kinds, (9, 0))
    assert launch.entry_name(text)
    assert "ld.local" not in text
    assert ("ld.global.v4.u32" in text) == (index == "uint32[]")


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("first", range(4))
def test_parts_of_arrays_need_not_be_aligned(monkeypatch, first):
    monkeypatch.setattr(edge_filter, "MANY", 20)
    ends = [arrays.move(end, PLACE)[first:] for end in random_edges(100, 303, first)]
    expected = oracle(100, *(arrays.move(end, "cpu").tolist() for end in ends))
    assert arrays.move(edge_filter.edge_filter(100, *ends), "cpu").tolist() == expected
    assert quads.are_aligned(np.zeros(8, np.int64)[2:]) == quads.are_aligned(np.zeros(8, np.int64))


@pytest.mark.interpreter
def test_every_start_is_judged():
    items = np.zeros(64, np.uint32)
    start = -items.ctypes.data // 4 % 4
    aligned = [quads.are_aligned(items[start:], items[start + first :]) for first in range(5)]
    assert aligned == [True, False, False, False, True]


def hooked(seed, sources, targets):
    """Parents of roots after each edge is hooked by a thread of its own."""
    scheduler, hook = jitter.Scheduler(seed), jitter.jittery(edge_samples.hook_least.body)
    parent = jitter.Jittery(np.arange(7), scheduler)
    pairs = zip(sources, targets)
    scheduler.run(*(lambda pair=pair: hook(0, pair, None, parent, sources, targets) for pair in pairs))
    return parent.values.tolist()


@pytest.mark.interpreter
def test_the_least_of_several_hooks_remains():
    ends = np.array([4, 4, 3, 5, 1]), np.array([3, 2, 5, 1, 4])
    assert all(hooked(seed, *ends) == [0, 1, 2, 3, 1, 1, 6] for seed in SEEDS)


def samples_of(per_vertex, n, m):
    """The edges that each of three rounds takes, and the distance of their blocks."""
    taken = []

    def join(count, sample, *_):
        edges = [edge_samples.edge_of(index, sample) for index in range(count)]
        taken.append((edges, sample.step // edge_samples.BLOCK))

    edge_samples.join_samples(((join, per_vertex),) * 3, n, *random_edges(n, m, 1))
    return taken


@pytest.mark.interpreter
@pytest.mark.parametrize("per_vertex", [0.1, 0.5, 1, 2, 9])
@pytest.mark.parametrize("n, m", [(40, 645), (7, 300), (100, 31), (5, 0)])
def test_samples_are_whole_blocks_of_the_list(per_vertex, n, m):
    """Each round takes other blocks; a list of fewer edges than a block has none."""
    blocks, every = m // 32, max(round(m / max(per_vertex * n, 1)), 1)
    taken = samples_of(per_vertex, n, m)
    for turn, (edges, distance) in enumerate(taken):
        assert distance == every
        assert edges == [edge for edge in range(blocks * 32) if edge // 32 % every == turn % every]
