"""The thread pool: every task is processed once, and errors, Ctrl-C and memory are handled."""

import signal
import threading
import time

import numpy as np
import pytest

from edgewise import memory
from edgewise.device import arrays, compiled, threads
from edgewise.device.target import INTERPRETED
from edgewise.primitives.thread_pool import ThreadPool, next_chunk

pytestmark = pytest.mark.interpreter


@compiled
def mark_tasks(queue, marks, total):
    """Mark each task, and count them."""
    start, stop = next_chunk(queue)
    while start < stop:
        for task in range(start, stop):
            marks[task] += 1
            total[0] += 1
        start, stop = next_chunk(queue)


@pytest.mark.parametrize("first, end", [(0, 0), (0, 1), (5, 5000)])
def test_every_task_is_processed_once(first, end):
    marks, pool = np.zeros(end, np.int64), ThreadPool(end)
    totals = [np.zeros(1, np.int64) for _ in range(pool.n_workers)]
    pool.run_queue(mark_tasks, first, end, marks, per_worker=[(total,) for total in totals])
    assert marks.tolist() == [0] * first + [1] * (end - first)
    assert sum(totals) == end - first


def test_results_come_in_the_order_of_the_calls():
    assert ThreadPool(3).starmap(pow, [(base, 2) for base in range(5)]) == [0, 1, 4, 9, 16]
    assert ThreadPool(3).starmap(pow, []) == []


def test_results_are_computed_ahead_in_the_order_of_the_calls():
    pool = ThreadPool(3)
    assert list(pool.ahead(pow, [(base, 2) for base in range(5)])) == [0, 1, 4, 9, 16]
    assert list(pool.ahead(pow, [])) == []
    with pytest.raises(ZeroDivisionError):
        list(pool.ahead(divmod, [(1, 1), (1, 0), (1, 1)]))
    started = []
    results = pool.ahead(
        lambda number: started.append(number) or time.sleep(0.001), [(n,) for n in range(999)]
    )
    next(results)
    results.close()  # the caller wants no more
    assert len(started) < 999


def test_memory_and_threads_limit_the_workers(monkeypatch):
    monkeypatch.setattr(arrays, "free_memory", lambda device: 1 << 30)
    assert ThreadPool(64, 1 << 30).n_workers == 1
    assert ThreadPool(0).n_workers == 1
    assert ThreadPool(64).n_workers == (1 if INTERPRETED else threads.count())
    monkeypatch.setattr(memory, "UNCHECKED_BYTES", 0)
    assert ThreadPool(64, 1 << 28).n_workers <= 2


def test_an_exception_cancels_the_other_calls():
    stop, ended = threading.Event(), []

    def call(number):
        if number == 0:
            raise ValueError("the first call")
        stop.wait(30)
        ended.append(number)

    pool = ThreadPool(2)
    pool._executor._max_workers = 2  # in the interpreter as well
    with pytest.raises(ValueError, match="the first call"):
        pool.starmap(call, [(0,), (1,)], cancel=stop.set)
    assert stop.is_set()
    assert ended in ([], [1])
    assert ThreadPool(2).starmap(pow, [(2, 3), (2, 4)]) == [8, 16]


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals cannot be sent to a thread")
def test_ctrl_c_waits_for_all_calls():
    stop, ended, main = threading.Event(), [], threading.main_thread().ident

    def call(number):
        if number == 0:
            time.sleep(0.05)
            signal.pthread_kill(main, signal.SIGINT)
        stop.wait(30)
        ended.append(number)

    pool = ThreadPool(2)
    pool._executor._max_workers = 2
    with pytest.raises(KeyboardInterrupt):
        pool.starmap(call, [(0,), (1,)], cancel=stop.set)
    assert 0 in ended
