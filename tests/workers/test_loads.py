"""A queue by load keeps workers of any speeds busy until all are done."""

import numpy as np
import pytest

from edgewise.workers import LoadQueue

pytestmark = pytest.mark.interpreter

HEAVY = np.sort(np.random.default_rng(3).pareto(1.5, 20_000))[::-1]


def played(queue, loads, speeds, overhead=0.0):
    """Let workers of these true speeds empty the queue; when each is done, and the runs of each."""
    clocks, runs, ends = [0.0] * len(speeds), [[] for _ in speeds], np.concatenate([[0], np.cumsum(loads)])
    at_work, under_way = set(range(len(speeds))), {}
    while at_work:
        worker = min(at_work, key=lambda one: clocks[one])
        if worker in under_way:
            queue.report(worker, *under_way.pop(worker))
        run = queue.take(worker)
        if run is None:
            at_work.discard(worker)
            continue
        seconds = (ends[run[1]] - ends[run[0]]) / speeds[worker]
        under_way[worker] = run, seconds
        clocks[worker] += seconds + overhead
        runs[worker].append(run)
    return clocks, runs


@pytest.mark.parametrize("speeds", ([1.0], [1.0] * 8, [10.0, 10.0, 5.0, 5.0, 1.0]))
@pytest.mark.parametrize("guess", (1.0, 1000.0))
def test_all_are_done_at_about_the_same_time(speeds, guess):
    queue = LoadQueue(HEAVY, [guess] * len(speeds), min_seconds=1e-4)
    clocks, runs = played(queue, HEAVY, speeds)
    tasks = sorted(task for own in runs for start, stop in own for task in range(start, stop))
    assert tasks == list(range(len(HEAVY)))
    assert max(clocks) <= 1.05 * HEAVY.sum() / sum(speeds)


def test_few_runs():
    _, runs = played(LoadQueue(HEAVY, [1.0] * 4, min_seconds=HEAVY.sum() / 4e3), HEAVY, [1.0] * 4)
    assert sum(map(len, runs)) < 100


def test_runs_are_no_longer_than_they_may_be():
    loads = np.ones(10_000)
    _, runs = played(LoadQueue(loads, [1.0, 2.0], max_seconds=50.0), loads, [1.0, 2.0])
    assert [max(stop - start for start, stop in own) for own in runs] == [50, 100]


def test_a_slow_worker_takes_from_the_light_end_and_does_not_keep_the_others_waiting():
    queue = LoadQueue(HEAVY, [1.0, 1.0, 1.0], min_seconds=HEAVY.sum() / 1e4, from_light_end=[2])
    clocks, runs = played(queue, HEAVY, [100.0, 100.0, 1.0])
    assert max(clocks) <= 1.05 * HEAVY.sum() / 200
    assert all(run[0] > 10_000 for run in runs[2])


def test_the_last_may_be_one_heavy_task():
    assert played(LoadQueue([5.0], [1.0, 1.0]), [5.0], [1.0, 1.0])[1] == [[(0, 1)], []]
    assert LoadQueue([], [1.0]).take(0) is None


def test_tasks_without_load_are_handed_out_too():
    _, runs = played(LoadQueue(np.zeros(10), [1.0, 1.0]), np.zeros(10), [1.0, 1.0])
    assert sorted(task for own in runs for start, stop in own for task in range(start, stop)) == list(
        range(10)
    )


def test_closed():
    queue = LoadQueue(HEAVY, [1.0])
    queue.take(0)
    queue.close()
    assert queue.take(0) is None
