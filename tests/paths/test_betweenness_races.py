"""Betweenness by teams under a jittery interpreter: a level has every vertex once, with all its bits."""

from importlib import import_module

import numpy as np
import pytest

import edgewise as ew
from edgewise.device import Worker
from edgewise.paths.betweenness import METHODS, _simple_rows
from tests import jitter

warps = import_module("edgewise.paths.betweenness.warps")
pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
CORRECT = jitter.jittery(import_module("edgewise.device.teams").arrive_and_wait)
WORKERS, N, SEEDS, MANY_SEEDS = 3, 12, range(8), range(60)
rng = np.random.default_rng(4)
ROWS = _simple_rows(ew.Graph.from_edges(*rng.integers(0, N, (2, 24)), n_vertices=N))
SOURCES, WEIGHTS = np.arange(5), np.arange(1.0, N + 1)
EXPECTED = METHODS["brandes"].run(ROWS, SOURCES, WEIGHTS, True).scores


def scores_by(seed, n_workers=WORKERS, n_teams=1, **replaced):
    """Scores by teams of workers, each of which is a block; ``None`` if they got stuck."""
    scheduler = jitter.Scheduler(seed, max_steps=100_000)
    region = jitter.jittery(warps.search_batches.body, **replaced)
    rows = warps.in_pieces(ROWS.outgoing, 3)
    search = warps.BatchSearch(rows, rows, SOURCES, WEIGHTS, n_teams, 1)
    own = warps.new_scratch(search, n_teams, "cpu")
    shared = {
        name: jitter.Jittery(getattr(own, name), scheduler)
        for name in ("coming", "tail", "vertices", "barriers")
    }
    ended = jitter.run_region(
        scheduler,
        n_workers,
        lambda number, barrier: region(Worker(number, n_workers, barrier), search, own._replace(**shared)),
    )
    return own.scores.reshape(n_teams, N).sum(0) if ended else None


def careless_or(array, index, value):
    """A planted race: another thread may set bits between the read and the write."""
    held = array[index]
    array[index] = held | array.dtype.type(value)
    return held


@pytest.mark.parametrize("n_workers, n_teams, n_sources", [(WORKERS, 1, 32), (5, 2, 2)])
def test_scores_are_the_same_under_every_schedule(n_workers, n_teams, n_sources, monkeypatch):
    monkeypatch.setattr(warps, "SOURCES", n_sources)  # each team has a batch, and the first one two
    wanted = scores_by(0, n_workers, n_teams)
    assert np.allclose(wanted, EXPECTED, rtol=1e-12)
    for seed in SEEDS:
        assert scores_by(seed, n_workers, n_teams).tobytes() == wanted.tobytes(), f"seed {seed}"


def one_too_few(barriers, first, count):
    """A planted fault: a barrier that does not wait for the last block."""
    CORRECT(barriers, first, count - 1)


@pytest.mark.parametrize("name, planted", [("fetch_or", careless_or), ("arrive_and_wait", one_too_few)])
@jitter.planted()
def test_planted_faults_are_caught(name, planted):
    def is_right(seed):
        try:
            found = scores_by(seed, **{name: planted})
        except (IndexError, RuntimeWarning):  # a vertex was queued twice, or is divided by too early
            return False
        return found is not None and np.allclose(found, EXPECTED, rtol=1e-12)

    assert not all(map(is_right, MANY_SEEDS))
