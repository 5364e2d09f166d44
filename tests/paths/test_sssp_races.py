"""Shortest paths under a jittery interpreter: no race in ours, and a planted one is caught."""

from importlib import import_module

import numpy as np
import pytest

from edgewise.device import BlockWorker, Worker
from edgewise.paths.block_queues import WORDS as SHARED
from edgewise.paths.csr import CSR, unreached
from edgewise.primitives.rounds import set_of
from tests import jitter
from tests.paths.oracle import oracle

bellman_ford = import_module("edgewise.paths.sssp.bellman_ford")
delta_stepping = import_module("edgewise.paths.sssp.delta_stepping")
near_far = import_module("edgewise.paths.sssp.near_far")
pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
SEEDS, WORKERS = range(30), 3
#: More seeds for a planted race, of which one is enough.
MANY_SEEDS = range(200)
#: A source, vertices around it, and vertices that all of these lower at about the same time.
N, AROUND, BEHIND = 13, range(1, 6), range(6, 9)
EDGES = [(0, one, 1 + one % 2) for one in AROUND]
EDGES += [(one, other, (3 * one + 5 * other) % 7 + 1) for one in AROUND for other in BEHIND]
EDGES += [(one, one + 3, 1) for one in BEHIND] + [(6, 7, 1), (9, 1, 1)]
SOURCES, TARGETS, WEIGHTS = (np.array(column, np.int32) for column in zip(*EDGES, strict=True))
NONE = unreached(np.int32)
EXPECTED = [
    NONE if distance is None else distance
    for distance in oracle(N, SOURCES, TARGETS, [0], WEIGHTS.tolist(), directed=True)
]


def graph(edges=EDGES, n=N):
    sources, targets, weights = (np.array(column, np.int32) for column in zip(*edges, strict=True))
    order = np.argsort(sources, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=n))])
    return CSR(offsets, targets[order].astype(np.uint32), weights[order])


class Runs:
    """Runs of one region under many schedules; ``share`` makes an array one that all workers access."""

    def __init__(self, seed):
        self.scheduler = jitter.Scheduler(seed)

    def share(self, array):
        return jitter.Jittery(array, self.scheduler)

    def run(self, region, *arguments):
        """Run a region of workers without shared memory; whether it came to an end."""
        return jitter.run_region(
            self.scheduler,
            WORKERS,
            lambda number, barrier: region(Worker(number, WORKERS, barrier), *arguments),
        )


#: Sizes of delta-stepping with which workers share every bin.
ALL_SHARED = {"SINGLE_CHUNKS": 0, "OWN_CHUNKS": 0, "SPAN": 1, "PIECES": 1}


def distances_by_bins(seed, rows=None, width=2, **replaced):
    """Distances by delta-stepping, with chunks of one vertex, so that workers take them from each other."""
    runs = Runs(seed)
    region = jitter.jittery(delta_stepping.search_bins.body, **{"CHUNK": 1, **ALL_SHARED, **replaced})
    bins, offers = delta_stepping.scratch(WORKERS, 40, np.uint32)
    bins = bins._replace(pool=runs.share(bins.pool), next_chunk=runs.share(bins.next_chunk))
    rows = graph() if rows is None else rows
    distances = runs.share(np.zeros(rows.n_vertices, np.int32))
    offers = delta_stepping.Offers(*map(runs.share, offers))
    query = delta_stepping.Query(np.zeros(1, np.int64), np.empty(0, np.int64), 1 / width, NONE, 100)
    ended = runs.run(region, rows, distances, query, bins, offers)
    return distances.values.tolist() if ended else None


def distances_by_thresholds(seed, dense_from, **replaced):
    """Distances by near-far, in dense rounds from so many near vertices on, and sparse ones of one step."""
    runs = Runs(seed)
    region = jitter.jittery(near_far.search_near_far.body, TURNS=1, **replaced)
    words = np.zeros(2 * -(-N // near_far.FLAGS), np.uint32)
    search = near_far.Search(
        graph(),
        *(runs.share(np.zeros(N, np.int32)) for _ in range(2)),
        *(runs.share(words.view(np.uint8)), runs.share(words)),
        runs.share(np.zeros(near_far.QUEUES * N, np.uint32)),
        runs.share(np.zeros(near_far.SETS.end, np.int32)),
    )
    nothing = np.empty(0, np.int64)
    limits = near_far.Limits(0, nothing, nothing, dense_from, 16, NONE - 1, NONE)
    ended = jitter.run_region(
        runs.scheduler,
        WORKERS,
        lambda number, barrier: region(
            BlockWorker(number, WORKERS, barrier, np.zeros(SHARED, np.int64)), search, limits
        ),
    )
    return search.distances.values.tolist() if ended else None


def queued_by_rounds(seed, **replaced):
    """Distances by Bellman-Ford, and whether no vertex was queued twice for one round."""
    runs = Runs(seed)
    region = jitter.jittery(bellman_ford.run_rounds.body, **replaced)
    counters = np.zeros(bellman_ford.END, np.int64)
    counters[bellman_ford.QUEUED.first] = 1
    distances, queue = np.full(N, NONE), np.zeros(4 * N, np.int64)
    distances[0], once, now = 0, True, 0
    limits = bellman_ford.Limits(-(2**31), NONE - 1)
    state = bellman_ford.State(*map(runs.share, (distances, queue, np.zeros(N, np.int64), counters)))
    while n_queued := counters[set_of(bellman_ford.QUEUED, now)]:
        queued = queue[now % 2 * N :][:n_queued].tolist()
        once &= len(set(queued)) == n_queued
        if n_queued > N or not runs.run(region, graph(), state, now, now + 1, limits):
            return None, False
        now += 1
    return distances.tolist(), once


def careless(changed):
    """An atomic operation that reads and then writes, with a switch between: the planted race."""

    def operation(array, index, value):
        held = array[index]
        array[index] = changed(held, value)
        return held

    return operation


def one_set(offers, side):
    """The same memory for the offers of every round: a slow worker loses its view of a round."""
    return delta_stepping.offers_of(offers, 0)


CARELESS = {
    "fetch_add": careless(lambda held, value: held + value),
    "fetch_min": careless(min),
    "fetch_max": careless(max),
    "offers_of": one_set,
}


@pytest.mark.parametrize("few_chunks", [0, 1, 3])
@pytest.mark.parametrize("max_span", [1, 8])
@pytest.mark.parametrize("own_chunks", [0, 1, 8])
def test_bins_lose_no_vertex(few_chunks, max_span, own_chunks):
    limits = {"SINGLE_CHUNKS": few_chunks, "SPAN": max_span, "OWN_CHUNKS": own_chunks}
    for seed in SEEDS:
        assert distances_by_bins(seed, **limits) == EXPECTED, f"seed {seed}"


@pytest.mark.parametrize("few_chunks", [0, 1])
def test_chunks_in_pieces_lose_no_vertex(few_chunks):
    for seed in SEEDS:
        found = distances_by_bins(seed, CHUNK=2, PIECES=2, SINGLE_CHUNKS=few_chunks)
        assert found == EXPECTED, f"seed {seed}"


def uneven(span, processed, query, n_workers):
    """Rounds of one bin and of eight, as it happens."""
    return 8 if processed % 2 else 1


def forgetful(horizon, limit):
    """Only the bins of this round: a vertex of a bin that an earlier round has processed gets lost."""
    return limit


def test_rounds_of_few_bins_follow_rounds_of_many():
    """Vertices 3 and 4 wait while 5 is processed, too early; then 3 lowers it within its bin."""
    rows = graph([(0, 1, 1), (0, 2, 2), (1, 3, 14), (1, 4, 14), (2, 5, 56), (3, 5, 36), (5, 6, 5)], 7)
    expected, sizes = [0, 1, 2, 15, 15, 51, 56], {"span_of": uneven, "OWN_CHUNKS": 1}
    for seed in SEEDS:
        assert distances_by_bins(seed, rows, 10, **sizes) == expected, f"seed {seed}"
    planted = {**sizes, "further": forgetful}
    assert any(distances_by_bins(seed, rows, 10, **planted) != expected for seed in MANY_SEEDS)


@pytest.mark.parametrize("name", ["fetch_min", "offers_of"])
@jitter.planted()
def test_planted_races_of_bins_are_caught(name):
    assert any(distances_by_bins(seed, **{name: CARELESS[name]}) != EXPECTED for seed in MANY_SEEDS)


@pytest.mark.parametrize("dense_from", [2, 100])
def test_thresholds_lose_no_vertex(dense_from):
    for seed in SEEDS:
        assert distances_by_thresholds(seed, dense_from) == EXPECTED, f"seed {seed}"


@pytest.mark.parametrize("name, dense_from", [("fetch_min", 2), ("fetch_min", 100), ("fetch_add", 100)])
@jitter.planted()
def test_planted_races_of_thresholds_are_caught(name, dense_from):
    replaced = {name: CARELESS[name]}
    assert any(distances_by_thresholds(seed, dense_from, **replaced) != EXPECTED for seed in MANY_SEEDS)


def test_a_vertex_is_queued_once_per_round():
    for seed in SEEDS:
        assert queued_by_rounds(seed) == (EXPECTED, True), f"seed {seed}"


@pytest.mark.parametrize("name", ["fetch_min", "fetch_max", "fetch_add"])
@jitter.planted()
def test_planted_races_of_rounds_are_caught(name):
    replaced = {name: CARELESS[name]}
    assert any(queued_by_rounds(seed, **replaced) != (EXPECTED, True) for seed in MANY_SEEDS)
