"""Peeling under a jittery interpreter: every schedule removes every vertex once, at its level."""

from importlib import import_module

import numpy as np
import pytest

import edgewise as ew
from edgewise.cores.simple_rows import simple_rows
from edgewise.device import BlockWorker
from tests import jitter
from tests.oracles import core_numbers as oracle

peel = import_module("edgewise.cores.peel")
pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
WORKERS, N, SEEDS, MANY_SEEDS = 3, 14, range(24), range(80)
rng = np.random.default_rng(3)
SOURCES, TARGETS = rng.integers(0, N, (2, 40))
EXPECTED = oracle(N, SOURCES.tolist(), TARGETS.tolist())


def cores_by(seed, few=-1, **replaced):
    """Core numbers by three workers, and the vertices in the order of removal; ``None`` if they got stuck."""
    scheduler = jitter.Scheduler(seed)
    region = jitter.jittery(peel.run.body, FEW=few, BUFFER=2, **replaced)
    peeling = peel.new_peeling(simple_rows(ew.Graph.from_edges(SOURCES, TARGETS, n_vertices=N)))
    peeling.queue[:], peeling.listed[:] = 0, 0
    degrees = jitter.Jittery(peeling.degrees, scheduler)
    counters = jitter.Jittery(peeling.counters, scheduler)
    peeling = peeling._replace(degrees=degrees, counters=counters)
    shared = np.zeros((WORKERS, 3), np.int64)
    ended = jitter.run_region(
        scheduler,
        WORKERS,
        lambda number, barrier: region(BlockWorker(number, WORKERS, barrier, shared[number]), peeling),
    )
    return (degrees.values.tolist(), sorted(peeling.queue.tolist())) if ended else None


@pytest.mark.parametrize("few", [-1, 3])
def test_cores_are_right_under_every_schedule(few):
    for seed in SEEDS:
        assert cores_by(seed, few) == (EXPECTED, list(range(N))), f"seed {seed}"


def test_the_planted_race_is_caught():
    def outcome(seed):
        try:
            return cores_by(seed, fetch_add=jitter.careless_add)
        except IndexError:  # a vertex was queued twice
            return None

    assert any(outcome(seed) != (EXPECTED, list(range(N))) for seed in MANY_SEEDS)
