"""Teams of blocks: how a region is divided, and what is seen after their barriers, under any schedule too."""

import os
import sys

import numpy as np
import pytest

from edgewise.device import Worker, arrays, parallel_region
from edgewise.device.launch import BLOCK, processors
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.device.teams import even_teams, new_barriers, team_barrier, team_of
from tests import jitter

regions = sys.modules["edgewise.device.regions"]  # as a module, whose name others have
pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if SIMULATED else "cpu")
ON_HOST = pytest.mark.skipif(SIMULATED or PLACE != "cpu", reason="the same on the host")
SEEDS = range(24)


@parallel_region
def pass_on(worker, rounds, n_teams, barriers, words, first, wrong):
    """In each round a team's workers write their words, and read that of the next one of the team."""
    team = team_of(worker, n_teams, barriers)
    if team.number < team.n_teams:
        if team.id == 0:
            first[team.number] = worker.id
        team_barrier(team)
        begin = first[team.number]
        for turn in range(1, rounds + 1):
            words[begin + team.id] = turn
            team_barrier(team)
            if words[begin + (team.id + 1) % team.count] != turn:
                wrong[team.number] = turn
            team_barrier(team)


@pytest.mark.parametrize("n_teams", [1, 2, 3, 100])
def test_words_of_a_team_are_seen_after_its_barrier(n_teams):
    rounds = 3 if SIMULATED else 100
    words, first, wrong = (arrays.zeros(count, np.int64, PLACE) for count in (2**20, n_teams, n_teams))
    pass_on(rounds, n_teams, new_barriers(n_teams, PLACE), words, first, wrong)
    assert not arrays.move(wrong, "cpu").any()
    assert int(arrays.move(words, "cpu").max()) == rounds


@pytest.mark.gpu
@pytest.mark.skipif(SIMULATED or INTERPRETED, reason="has few blocks")
@pytest.mark.parametrize("n_teams", [1, 2, 5, 37, 131, 132, 10_000])
def test_teams_of_several_blocks_on_a_gpu(n_teams):
    words, first, wrong = (arrays.zeros(count, np.int64, "cuda:0") for count in (2**20, n_teams, n_teams))
    pass_on(2000, n_teams, new_barriers(n_teams, "cuda:0"), words, first, wrong)
    assert not arrays.move(wrong, "cpu").any()
    words = arrays.move(words, "cpu")
    assert (words == 2000).sum() == np.count_nonzero(words) >= processors("cuda:0") * BLOCK


@ON_HOST
@pytest.mark.parametrize("n_blocks", [1, 2, 7, 132, 528])
def test_a_region_is_divided_evenly(n_blocks):
    for n_teams in {1, 2, 3, n_blocks // 2 + 1, n_blocks, n_blocks + 5}:
        made = [team_of(Worker(block, n_blocks, None), n_teams, None) for block in range(n_blocks)]
        numbers = [one.number for one in made]
        sizes = np.bincount(numbers)
        assert numbers == sorted(numbers) and len(sizes) == min(n_teams, n_blocks) == made[0].n_teams
        assert sizes.min() >= 1 and sizes.max() - sizes.min() <= 1
        for one in made:
            assert one.count == sizes[one.number]
        assert [one.id for one in made] == [place for size in sizes for place in range(size)]


@ON_HOST
def test_numbers_of_teams():
    assert [even_teams(n_tasks, 8) for n_tasks in (0, 1, 2, 8, 9, 16)] == [1, 1, 2, 8, 2, 8]
    assert [even_teams(100, 8, most) for most in (0, 1, 2, 8)] == [1, 1, 2, 8]
    assert even_teams(176, 264) == 88 and even_teams(32, 528) == 32 and even_teams(5, 528) == 5


def wrong_by(seed, n_workers, n_teams, **replaced):
    """Whether a worker has read an old word, or the workers got stuck."""
    scheduler = jitter.Scheduler(seed)
    region = jitter.jittery(pass_on.body, **replaced)
    barriers = new_barriers(n_teams, "cpu")
    shared = [jitter.Jittery(one, scheduler) for one in (barriers, np.zeros(n_workers, np.int64))]
    first, wrong = np.zeros(n_teams, np.int64), np.zeros(n_teams, np.int64)

    def start(number, barrier):
        region(Worker(number, n_workers, barrier), 3, n_teams, *shared, first, wrong)

    return not jitter.run_region(scheduler, n_workers, start) or wrong.any()


@ON_HOST
@pytest.mark.parametrize("n_workers, n_teams", [(3, 1), (5, 2), (4, 4)])
def test_barriers_hold_under_every_schedule(n_workers, n_teams):
    assert not any(wrong_by(seed, n_workers, n_teams) for seed in SEEDS)


@ON_HOST
@pytest.mark.parametrize("n_workers, n_teams", [(3, 1), (5, 2)])
@jitter.planted()
def test_planted_faults_are_found(n_workers, n_teams):
    correct = jitter.jittery(regions.arrive_and_wait)

    def one_too_few(barriers, first, count):
        correct(barriers, first, count - 1)

    with jitter.planted():
        assert any(wrong_by(seed, n_workers, n_teams, arrive_and_wait=one_too_few) for seed in SEEDS)
        assert any(wrong_by(seed, n_workers, n_teams, BARRIER=0) for seed in SEEDS) == (n_teams > 1)
    careless = jitter.jittery(regions.arrive_and_wait, fetch_add=jitter.careless_add)
    assert any(wrong_by(seed, n_workers, n_teams, arrive_and_wait=careless) for seed in SEEDS)
