"""Breadth-first search under a jittery interpreter: lost bits never make a distance wrong."""

from importlib import import_module

import numpy as np
import pytest

import edgewise as ew
from edgewise.device import Worker
from edgewise.paths.bfs import steps
from edgewise.paths.csr import CSR
from edgewise.paths.result import SparseDistances
from tests import jitter
from tests.paths.oracle import oracle

driver = import_module("edgewise.paths.bfs.level_synchronous")
pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
WORKERS, N, SEEDS, MANY_SEEDS = 3, 70, range(12), range(150)
rng = np.random.default_rng(5)
#: Vertices that share bytes of the bitmap, and that several workers reach at once.
SOURCES = np.concatenate([np.zeros(8, np.int64), rng.integers(1, N, 150)])
TARGETS = np.concatenate([np.arange(1, 9), rng.integers(1, N, 150)])
EXPECTED = [driver.NONE if d is None else d for d in oracle(N, SOURCES, TARGETS, [0])]
#: Costs that make every step of one kind.
WAYS = {
    "push": {"BIT_COST": 1000, "TEST_COST": 1000},
    "bitmap push": {"BIT_COST": 0, "WRITE_COST": 0, "TEST_COST": 1000},
    "pull": {"TEST_COST": 0, "SURVEY_COST": 0},
    "mixed": {"BIT_COST": 6, "WRITE_COST": 0, "TEST_COST": 1, "SURVEY_COST": 0},
}


def distances_by(way, seed, **replaced):
    """Distances from vertex 0 by three workers, none of which goes on alone, and the number of lost bits."""
    scheduler = jitter.Scheduler(seed)
    limits = {"SINGLE_ENTRIES": -1, "DIVIDED_ENTRIES": 8, "QUEUE_CHUNK": 2, "BLOCK": 64}
    region = jitter.jittery(driver.run.body, **WAYS[way], **limits, **replaced)
    graph = ew.Graph.from_edges(SOURCES, TARGETS, n_vertices=N)
    rows = CSR(graph.offsets, graph.neighbours, np.empty(0, np.int32))
    search = driver.new_search(rows, rows, WORKERS, driver.new_memory(rows, WORKERS))
    seen = jitter.Jittery(search.seen, scheduler)
    distances = jitter.Jittery(np.zeros(N, np.int32), scheduler)
    search = search._replace(seen=seen, distances=distances, lists=np.zeros((2, 65), np.uint32))
    known = SparseDistances(np.zeros(1, np.uint32), np.zeros(1, np.int32))
    ended = jitter.run_region(
        scheduler,
        WORKERS,
        lambda number, barrier: region(Worker(number, WORKERS, barrier), search, known, 0, driver.NONE - 1),
    )
    distances = distances.values
    seen = np.unpackbits(seen.values, bitorder="little")[:N].astype(bool)
    assert not (seen & (distances == driver.NONE)).any()  # no bit is set too early
    n_lost = int(((distances != driver.NONE) & ~seen).sum())
    return (distances.tolist() if ended else None), n_lost


@pytest.mark.parametrize("way", WAYS)
def test_distances_are_right_under_every_schedule(way):
    for seed in SEEDS:
        assert distances_by(way, seed)[0] == EXPECTED, f"seed {seed}"


def test_bits_do_get_lost():
    assert any(distances_by("push", seed)[1] for seed in MANY_SEEDS)


def settle_by_bits(first, end, offsets, output):
    """The planted race: a clear bit is taken for a vertex that is not reached, whatever its distance."""
    seen, distances, queue, tail = output.seen, output.distances, output.queue, first
    for item in range(first, end):
        vertex = queue[item]
        byte, bit = seen[vertex >> 3], np.uint8(1 << (vertex & 7))
        new = byte & bit == 0
        seen[vertex >> 3] = byte | bit
        if new:
            distances[vertex] = output.distance
            queue[tail] = vertex
            tail += np.uint64(1)
            output.counts[steps.COUNT.entries] += offsets[vertex + 1] - offsets[vertex]
    output.counts[steps.COUNT.tail] = tail


def test_the_planted_race_is_caught():
    with jitter.planted():
        assert any(distances_by("push", seed, settle=settle_by_bits)[0] != EXPECTED for seed in MANY_SEEDS)
