"""Calls whose helpers come late, or not at all."""

from threading import Thread
from time import sleep

import numpy as np
import pytest

from edgewise.device import barrier_wait, each, fibers, helpers, parallel_region, threads
from edgewise.device.regions import workers
from edgewise.device.target import SIMULATED

pytestmark = pytest.mark.skipif(SIMULATED or not fibers.are_possible(), reason="there are no fibers")
WORKERS = 5


@parallel_region
def pass_on(worker, values, rounds):
    """Each worker reads what its neighbour wrote in the round before."""
    n = worker.count
    for step in range(rounds):
        first, second = n * (step % 2), n * (1 - step % 2)
        values[second + worker.id] = values[first + (worker.id + 1) % n] + 1
        barrier_wait(worker)


@parallel_region
def fail_in_round(worker, values, failing, rounds):
    for step in range(rounds):
        if worker.id == failing and step == rounds - 1:
            raise ValueError("the last round")
        barrier_wait(worker)
    barrier_wait(worker)
    values[0] = 1


@each
def count_visits(index, values):
    values[index] += 1


class Few(threads.Helpers):
    """So many helpers at most."""

    most = 0

    def lead(self, n_workers, *given):
        self.started = max(self.started, n_workers - 1 - self.most)
        super().lead(n_workers, *given)


@pytest.fixture(params=[0, 1, 3])
def few(request, monkeypatch):
    """The helpers of calls, of which fewer come than there are other workers."""
    made = Few(WORKERS)
    made.most = request.param
    monkeypatch.setattr(threads, "helpers_for", lambda n_workers: made)
    yield made
    made.stop()


def test_the_caller_does_what_helpers_do_not(few):
    for rounds in (1, 2, 301):
        values = np.zeros(2 * WORKERS, np.int64)
        pass_on.with_workers(WORKERS, values, rounds)
        assert (values[WORKERS * (rounds % 2) :][:WORKERS] == rounds).all()
    for failing in range(WORKERS):
        values = np.zeros(1)
        with pytest.raises(ValueError, match="the last round"):
            fail_in_round.with_workers(WORKERS, values, failing, 3)
        assert values[0] == 0


def test_a_helper_looks_while_the_first_call_is_being_written(monkeypatch):
    made = threads.Helpers(2)
    monkeypatch.setattr(threads, "helpers_for", lambda n_workers: made)
    made.state[helpers.N_WORKERS], made.state[helpers.BEFORE] = 2, made.state[helpers.PHASE]
    made._start(made._serve, 1)  # there are workers, and no fiber of this call yet
    made.started = 1
    sleep(0.1)
    values = np.zeros(4, np.int64)
    pass_on.with_workers(2, values, 3)
    made.stop()
    assert values.tolist() == [2, 2, 3, 3]


def test_a_loop_does_every_index_once(few, monkeypatch):
    monkeypatch.setattr(threads, "count", lambda: WORKERS)
    for length in (1, 600, 5000, 100_003):
        values = np.zeros(length, np.int64)
        count_visits(length, values)
        assert (values == 1).all()


def test_calls_of_many_threads_at_once_are_right():
    wrong, n = [], workers()

    def work(number):
        for rounds in range(number, 60):
            values = np.zeros(2 * n, np.int64)
            pass_on(values, rounds)
            if (values[n * (rounds % 2) :][:n] != rounds).any():
                wrong.append((number, rounds))

    callers = [Thread(target=work, args=(number,)) for number in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == []
