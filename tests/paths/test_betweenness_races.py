"""Betweenness by teams under a jittery interpreter: a level has every vertex once, with all its bits."""

from importlib import import_module

import numpy as np
import pytest

import edgewise as ew
from edgewise.device import Worker
from edgewise.paths.betweenness import METHODS, _simple_rows
from tests import jitter

warps = import_module("edgewise.paths.betweenness.warps")
pytestmark = pytest.mark.interpreter
WORKERS, N, SEEDS, MANY_SEEDS = 3, 12, range(16), range(60)
rng = np.random.default_rng(4)
ROWS = _simple_rows(ew.Graph.from_edges(*rng.integers(0, N, (2, 24)), n_vertices=N))
SOURCES, WEIGHTS = np.arange(5), np.arange(1.0, N + 1)
EXPECTED = METHODS["brandes"].run(ROWS, SOURCES, WEIGHTS, True).scores


def scores_by(seed, **replaced):
    """Scores by three workers that are one team; ``None`` if they got stuck."""
    scheduler = jitter.Scheduler(seed, max_steps=100_000)
    region = jitter.jittery(warps.search_batches.body, **replaced)
    rows = warps.in_pieces(ROWS.outgoing, 3)
    search = warps.BatchSearch(rows, rows, SOURCES, WEIGHTS, 1, 1, 1)
    own = warps.new_scratch(search, 1, "cpu")
    shared = {name: jitter.Jittery(getattr(own, name), scheduler) for name in ("coming", "tail", "vertices")}
    ended = jitter.run_region(
        scheduler,
        WORKERS,
        lambda number, barrier: region(Worker(number, WORKERS, barrier), search, own._replace(**shared)),
    )
    return own.scores if ended else None


def careless_or(array, index, value):
    """A planted race: another thread may set bits between the read and the write."""
    held = array[index]
    array[index] = held | array.dtype.type(value)
    return held


def test_scores_are_the_same_under_every_schedule():
    wanted = scores_by(0)
    assert np.allclose(wanted, EXPECTED, rtol=1e-12)
    for seed in SEEDS:
        assert scores_by(seed).tobytes() == wanted.tobytes(), f"seed {seed}"


def test_the_planted_race_is_caught():
    def is_right(seed):
        try:
            found = scores_by(seed, fetch_or=careless_or)
        except IndexError:  # a vertex was queued twice
            return False
        return found is not None and np.allclose(found, EXPECTED, rtol=1e-12)

    assert not all(map(is_right, MANY_SEEDS))
