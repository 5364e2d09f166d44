"""Searches side by side in one team, under a scheduler that switches at every access of what is shared."""

from functools import cache

import numpy as np
import pytest

import edgewise as ew
from edgewise.device import Worker
from edgewise.device.teams import arrive_and_wait, new_barriers
from edgewise.paths.csr import adjacency_of
from edgewise.paths.measures import bit_parallel_gpu as page
from edgewise.paths.measures.sums import PARTS
from tests import jitter
from tests.paths.test_bit_parallel import drawn, oracle

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
WORKERS, N, SEEDS, MANY_SEEDS = 3, 12, range(8), range(60)
ENDS = drawn(N, 30, 9)
#: Entries of a row that is not cut into pieces.
PIECE = 3


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch):
    monkeypatch.setattr(page, "PIECE", PIECE)


@cache
def expected():
    """Sums of all vertices, and eccentricities, by single searches."""
    sums, _, farthest = oracle(N, *ENDS, False, range(N))
    return [number for one in sums for number in one], farthest.tolist()


def found_by(seed, part, gathers=False, **replaced):
    """What three workers find, or None if they come to no end; ``part`` decides on the direction."""
    scheduler = jitter.Scheduler(seed)
    region = jitter.jittery(page.search_batches.body, PULLED_PART=part, PIECE=PIECE, **replaced)
    rows = adjacency_of(ew.Graph.from_edges(*ENDS, n_vertices=N)).outgoing

    def shared(count, kind):
        return jitter.Jittery(np.zeros(count, kind), scheduler)

    memory = page.Memory(
        shared(4 * N, np.uint32),
        shared(4 * N, np.uint32),
        shared(N, np.int32),
        shared(2 * N, np.uint32),
        shared(12, np.uint32),
        shared(page.SET_WORDS, np.int64),
        jitter.Jittery(new_barriers(1, "cpu"), scheduler),
    )
    totals = page.Totals(np.arange(N), shared(N * PARTS, np.int64), shared(N, np.int64), shared(N, np.int32))
    ends = (
        page.Rows(rows, rows, page.pieces_of(rows)),
        memory,
        totals,
        page.Share(1, 1, 0, N, gathers),
    )
    ended = jitter.run_region(
        scheduler, WORKERS, lambda number, barrier: region(Worker(number, WORKERS, barrier), *ends)
    )
    return (totals.of_vertices.values.tolist(), totals.farthest.values.tolist()) if ended else None


@pytest.mark.parametrize("part", [0, 3, 1 << 40], ids=["push", "both", "pull"])
def test_sums_are_right_under_every_schedule(part):
    for seed in SEEDS:
        assert found_by(seed, part) == expected(), f"seed {seed}"


@pytest.mark.parametrize("gathered", [0, 1, 1 << 40], ids=["never", "some levels", "always"])
def test_gathered_sums_are_right_under_every_schedule(gathered):
    for seed in SEEDS:
        assert found_by(seed, 0, True, GATHERED_PART=gathered) == expected(), f"seed {seed}"


def careless_max(array, index, value):
    """A planted race: another worker may open the vertex between the read and the write."""
    held = array[index]
    array[index] = max(held, value)
    return held


def test_a_vertex_that_is_opened_twice_is_caught():
    def is_right(seed):
        try:
            return found_by(seed, 0, True, GATHERED_PART=1 << 40, fetch_max=careless_max) == expected()
        except (IndexError, RuntimeWarning):  # a place beyond the queue
            return False

    assert not all(map(is_right, MANY_SEEDS))


def careless_or(array, index, value):
    """A planted race: another worker may set bits between the read and the write."""
    held = array[index]
    array[index] = held | array.dtype.type(value)
    return held


@jitter.planted()
def test_a_lost_bit_is_caught():
    assert any(found_by(seed, 0, fetch_or=careless_or) != expected() for seed in MANY_SEEDS)


@jitter.planted()
def test_a_barrier_that_does_not_wait_for_the_last_block_is_caught():
    waits = jitter.jittery(arrive_and_wait)

    def one_too_few(barriers, first, count):
        waits(barriers, first, count - 1)

    def is_right(seed):
        try:
            return found_by(seed, 0, arrive_and_wait=one_too_few) == expected()
        except (IndexError, RuntimeWarning):  # a place beyond the queue
            return False

    assert not all(map(is_right, MANY_SEEDS))
