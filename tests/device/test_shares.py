"""Shares of a range: every item is taken once, a worker's own share first, for any numbers of both."""

from functools import partial

import numpy as np
import pytest

from edgewise.device import each, fetch_add, parallel_region
from edgewise.device.shares import STRIDE, next_chunk
from tests import jitter

pytestmark = pytest.mark.interpreter


@pytest.mark.parametrize("count", [0, 1, 5, 16, 1000])
@pytest.mark.parametrize("n_workers", [1, 3, 8])
@pytest.mark.parametrize("chunk", [1, 7])
def test_one_worker_takes_everything_from_its_own_share_on(count, n_workers, chunk):
    shares, found, turn = np.zeros(n_workers * STRIDE, np.int64), [], 0
    while True:
        turn, first, end = next_chunk(turn, shares, count, chunk, n_workers - 1)
        if first >= end:
            break
        assert end - first <= chunk
        found += range(first, end)
    own = min(count, (n_workers - 1) * -(-count // n_workers))
    assert found == [*range(own, count), *range(own)]
    assert next_chunk(0, shares, count, chunk, 0)[1:] == (0, 0)


@parallel_region
def _take(worker, times, shares):
    turn, first, end = next_chunk(0, shares, len(times), 3, worker.id)
    while first < end:
        for item in range(first, end):
            fetch_add(times, item, 1)
        turn, first, end = next_chunk(turn, shares, len(times), 3, worker.id)


@pytest.mark.parametrize("n_shares", [1, 2, 5])
def test_workers_take_every_item_once(n_shares):
    """There may be more shares than workers, or fewer."""
    times = np.zeros(10_007, np.int64)
    _take(times, np.zeros(n_shares * STRIDE, np.int64))
    assert (times == 1).all()


def test_an_ascending_loop_has_one_share():
    order, next_place = np.zeros(5000, np.int64), np.zeros(1, np.int64)

    @partial(each, least_chunk=8, ascending=True)
    def note(index, order, next_place):
        order[fetch_add(next_place, 0, 1)] = index

    note(len(order), order, next_place)
    assert sorted(order.tolist()) == list(range(5000))
    assert order[0] < 5000 // 4  # the first chunk of the only share


def taken_items(seed, **atomics):
    """What three workers take of the 14 items of two shares, in all."""
    scheduler, found = jitter.Scheduler(seed), []
    counters = jitter.Jittery(np.zeros(2 * STRIDE, np.int64), scheduler)
    take = jitter.jittery(next_chunk, **atomics)

    def worker(number):
        turn, first, end = take(0, counters, 14, 2, number)
        while first < end:
            found.extend(range(first, end))
            turn, first, end = take(turn, counters, 14, 2, number)

    scheduler.run(*(lambda number=number: worker(number) for number in range(3)))
    return sorted(found)


def test_no_item_is_taken_twice():
    assert all(taken_items(seed) == list(range(14)) for seed in range(60))


def test_a_careless_addition_is_found():
    assert any(taken_items(seed, fetch_add=jitter.careless_add) != list(range(14)) for seed in range(60))
