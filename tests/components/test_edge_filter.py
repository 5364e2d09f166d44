"""Edges inside the giant component are filtered out: small filters, warps in step, races, and PTX."""

from importlib import import_module

import numpy as np
import pytest

from edgewise.components.sampling import LABEL_BITS
from edgewise.components.trees import compress
from edgewise.components.verification import oracle
from edgewise.device import BlockWorker, arrays, launch
from tests import jitter, lockstep
from tests.conftest import engine

edge_filter = import_module("edgewise.components.edge_filter")
PLACE = "cuda:0" if engine() == "simulator" else "cpu"
SEEDS = range(60)


def random_edges(n, m, seed):
    return np.random.default_rng(seed).integers(0, n, (2, m)).astype(np.uint32)


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("n, m", [(30, 20), (130, 400), (130, 110), (300, 150), (1, 5)])
def test_small_filters_and_samples(monkeypatch, n, m):
    monkeypatch.setattr(edge_filter, "MANY", 20)  # which only the driver reads
    if engine() != "jit":  # compiled kernels are kept, with their constants
        monkeypatch.setattr(edge_filter, "BLOCK", 4)
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
    lockstep.run_rows(edge_filter.mark_outside, len(giant.outside), parent, winner, giant.outside)
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
    room = words + edge_filter.HALVES * edge_filter.PLACES * lockstep.LANES
    arguments = giant, parent, sources, targets
    lockstep.run(edge_filter.join_outside, *arguments, words=room, FILTER_WORDS=words)
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
        shared = np.zeros(1 + edge_filter.HALVES * edge_filter.PLACES, np.uint32)
        body(BlockWorker(number, 3, barrier, shared), giant, parent, sources, targets)

    assert jitter.run_region(scheduler, 3, work)
    compress(n, parent.values)
    return parent.values.tolist() == [0] * n


def careless_cas(array, index, expected, value):
    """A planted race: read, then write."""
    held = array[index]
    if held == expected:
        array[index] = value
    return held


@pytest.mark.interpreter
def test_no_edge_is_lost():
    assert all(joined_by_three(seed) for seed in SEEDS)
    assert not all(joined_by_three(seed, cas=careless_cas) for seed in SEEDS)


@pytest.mark.ptx
def test_compiles_for_gpus():
    index, words = "uint32[]", "int64[]"
    kinds = ("int32[]", (edge_filter.Giant, (index, index, words)), index, index, index)
    text = edge_filter.join_outside.cuda.ptx(kinds, (9, 0))
    assert launch.entry_name(text)
    assert "ld.local" not in text
