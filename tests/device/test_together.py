"""Regions in which all workers meet, and what a warp and a team share, on every engine."""

import os
from threading import Thread

import numpy as np
import pytest

from edgewise.device import alone, arrays, fetch_add, meet, together
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.device.together import workers
from edgewise.device.warps import from_lane, lanes_of_warp, meet_team, sum_up_to, team_size, ticket

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if SIMULATED else "cpu")


def here(values, kind=np.int64):
    return arrays.move(np.asarray(values, kind), PLACE)


def back(values):
    return np.asarray(arrays.move(values, "cpu"))


@together
def turn_round(me, everyone, barrier, first, second, rounds):
    for _ in range(rounds):
        for index in range(me, len(first), everyone):
            first[index] = second[len(second) - 1 - index] + 1
        meet(barrier, everyone)
        for index in range(me, len(second), everyone):
            second[index] = first[index]
        meet(barrier, everyone)


@together
def take_tickets(me, everyone, barrier, counter, taken):
    for _ in range(me, len(taken), everyone):
        taken[ticket(counter, 0)] += 1


@together.by(words=4)
def add_in_teams(me, everyone, barrier, words, values, total, lanes_seen):
    if me % team_size() == 0:
        words[0] = 0
    meet_team()
    for index in range(me, len(values), everyone):
        fetch_add(words, 0, values[index])
    meet_team()
    if me % team_size() == 0:
        fetch_add(total, 0, words[0])
    lanes = lanes_of_warp()
    ends = sum_up_to(1, me % lanes)
    if me == 0:
        lanes_seen[0] = lanes
        lanes_seen[1] = ends
    lanes_seen[2 + me // lanes * 0] = from_lane(ends, lanes - 1)


@alone
def add_up(values, factor):
    total = 0
    for index in range(len(values)):
        total += values[index] * factor
    return total


def test_all_see_what_was_written_before_a_barrier():
    rounds, n = (3, 20) if SIMULATED else (50, 1000)
    first, second = here(np.zeros(n)), here(np.arange(n))
    turn_round(first, second, rounds)
    expected = np.arange(n) if rounds % 2 == 0 else np.arange(n)[::-1]
    assert back(second).tolist() == (expected + rounds).tolist()


def test_every_ticket_is_drawn_once():
    counter, taken = here([0], np.int32), here(np.zeros(500))
    take_tickets(counter, taken)
    assert back(counter).tolist() == [500]
    assert (back(taken) == 1).all()


def test_teams_add_in_their_own_words():
    total, seen = here([0]), here([0, 0, 0])
    add_in_teams(here(np.arange(300)), total, seen)
    lanes = back(seen)
    assert back(total).tolist() == [300 * 299 // 2]
    assert lanes[1] == 1
    assert lanes[2] == lanes[0]


def test_one_compiled_call():
    assert add_up(np.arange(5), 3) == 30


def test_no_more_workers_than_run_at_once():
    assert 1 <= workers() <= (1 if INTERPRETED else os.cpu_count() or 1)


@pytest.mark.skipif(PLACE != "cpu" or INTERPRETED, reason="it is the CPU's threads that are shared")
def test_regions_of_several_python_threads_take_turns():
    results = [np.zeros(100, np.int64) for _ in range(4)]
    threads = [Thread(target=turn_round, args=(r, np.arange(100), 20)) for r in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert all(r.tolist() == results[0].tolist() for r in results)
    assert results[0].any()
