"""Regions in which all workers meet, and what a warp and a team share, on every engine."""

import os
import platform
import subprocess
import sys
from threading import Thread

import numpy as np
import pytest

from edgewise.device import (
    arrays,
    barrier_wait,
    compiled,
    each,
    fetch_add,
    fibers,
    parallel_region,
    threads,
)
from edgewise.device.regions import workers
from edgewise.device.spin import X86, cycles, relax
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.device.warps import (
    block_barrier,
    block_size,
    claim,
    inclusive_scan,
    shuffle,
    warp_aggregated_add,
    warp_size,
)
from edgewise.errors import DeviceError

regions = sys.modules["edgewise.device.regions"]  # the package's name is the decorator
pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if SIMULATED else "cpu")
WITH_FIBERS = pytest.mark.skipif(
    PLACE != "cpu" or not fibers.are_possible(),
    reason="regions do not run as fibers",
)


def here(values, kind=np.int64):
    return arrays.move(np.asarray(values, kind), PLACE)


def back(values):
    return np.asarray(arrays.move(values, "cpu"))


@parallel_region
def turn_round(worker, first, second, rounds):
    for _ in range(rounds):
        for index in range(worker.id, len(first), worker.count):
            first[index] = second[len(second) - 1 - index] + 1
        barrier_wait(worker)
        for index in range(worker.id, len(second), worker.count):
            second[index] = first[index]
        barrier_wait(worker)


@parallel_region
def take_tickets(worker, counter, taken):
    for _ in range(worker.id, len(taken), worker.count):
        taken[warp_aggregated_add(counter, 0)] += 1


@parallel_region
def claim_places(worker, counter, count, taken):
    """Each of ``count`` items claims from 0 to 4 places."""
    for index in range(worker.id, count, worker.count):
        first = claim(counter, 0, index % 5)
        for place in range(first, first + index % 5):
            taken[place] += 1


@parallel_region.by(shared_words=4)
def add_in_teams(worker, values, total, lanes_seen):
    if worker.id % block_size() == 0:
        worker.shared[0] = 0
    block_barrier()
    for index in range(worker.id, len(values), worker.count):
        fetch_add(worker.shared, 0, values[index])
    block_barrier()
    if worker.id % block_size() == 0:
        fetch_add(total, 0, worker.shared[0])
    lanes = warp_size()
    ends = inclusive_scan(1, worker.id % lanes)
    if worker.id == 0:
        lanes_seen[0] = lanes
        lanes_seen[1] = ends
    lanes_seen[2 + worker.id // lanes * 0] = shuffle(ends, lanes - 1)


@compiled
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


def test_a_worker_that_is_alone_does_all():
    counter, taken = here([0], np.int32), here(np.zeros(50))
    with threads.limited(1):
        take_tickets(counter, taken)
    assert back(counter).tolist() == [50] and (back(taken) == 1).all()


def test_claimed_places_are_distinct():
    taken, counter = here(np.zeros(1000)), here([0])
    claim_places(counter, 500, taken)
    assert back(counter).tolist() == [1000]
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


def test_no_more_workers_than_threads_that_run():
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


@each
def fail_at_last(index, values):
    if index == len(values) - 1:
        raise ValueError("the last one")
    values[index] = index


@pytest.mark.skipif(PLACE != "cpu", reason="GPUs raise nothing")
@pytest.mark.parametrize("length", [3, 5000])
def test_what_one_of_several_threads_raises_is_raised(length):
    for _ in range(2):
        with pytest.raises(ValueError, match="the last one"):
            fail_at_last(length, np.zeros(length, np.int64))


@parallel_region
def fail_alone(worker, values):
    barrier_wait(worker)
    if worker.id == worker.count - 1:
        raise ValueError("the last one")


@pytest.mark.skipif(PLACE != "cpu", reason="GPUs raise nothing")
def test_what_a_worker_raises_is_raised():
    with pytest.raises(ValueError, match="the last one"):
        fail_alone(np.zeros(1))


@each
def first_of_many(index, many):
    many[0][index] = 1


@WITH_FIBERS
def test_too_many_arguments_are_named():
    with pytest.raises(DeviceError, match=r"first_of_many: its arguments are 1023 numbers .*, 1020 at most"):
        first_of_many(2, (np.zeros(2),) * 1020)


@each
def fill(index, values, value):
    values[index] = value


@WITH_FIBERS
def test_a_call_in_between_keeps_its_own_arguments(monkeypatch):
    first, between, lead = np.zeros(3000, np.int64), np.zeros(3000, np.int64), threads.Helpers.lead

    def call_in_between(*given):
        monkeypatch.setattr(threads.Helpers, "lead", lead)
        fill(3000, between, 2)  # as a signal's handler would; the lock is the same thread's
        lead(*given)

    monkeypatch.setattr(threads.Helpers, "lead", call_in_between)
    fill(3000, first, 1)
    assert (first == 1).all()
    assert (between == (0 if workers() == 1 else 2)).all()


@parallel_region
def wait_for_the_first(worker, values, rounds):
    for _ in range(rounds):
        if worker.id == 0:
            waited = 0
            for step in range(200_000):
                waited += step ^ len(values)
            values[0] += waited > 0
        barrier_wait(worker)
        for index in range(1 + worker.id, len(values), worker.count):
            values[index] = values[0]
        barrier_wait(worker)


@pytest.mark.skipif(PLACE != "cpu" or INTERPRETED, reason="only threads yield and sleep")
def test_late_workers_are_waited_for():
    values = np.zeros(9, np.int64)
    wait_for_the_first(values, 60)
    assert (values == 60).all()


@compiled
def spin(rounds):
    begun = cycles()
    for _ in range(rounds):
        relax()
    return cycles() - begun


@pytest.mark.skipif(PLACE != "cpu" or INTERPRETED, reason="only threads spin")
def test_spinning_takes_cycles_where_they_are_counted():
    counted = platform.machine() in X86
    assert (spin(100) > 0) == counted


@parallel_region
def fail_before_a_barrier(worker, values):
    if worker.id == worker.count - 1:
        raise ValueError("before the barrier")
    barrier_wait(worker)
    values[0] = 1


@pytest.mark.skipif(PLACE != "cpu", reason="GPUs raise nothing")
def test_workers_leave_a_barrier_when_another_worker_fails():
    for _ in range(3):
        values = np.zeros(1)
        with pytest.raises(ValueError, match="before the barrier"):
            fail_before_a_barrier(values)
        assert values[0] == 0


FEW = """
import sys
import numpy as np
from edgewise.components.rem import label_all

parent = np.empty(5, np.uint32)
ends = np.array([0, 3], np.uint32), np.array([1, 4], np.uint32)
for steps in (7, {steps}):
    label_all.with_steps(steps, parent, *ends)
    print(*parent, "numba" in sys.modules)
"""


@pytest.mark.skipif(INTERPRETED or SIMULATED, reason="the other engines import Numba")
def test_few_steps_do_not_import_the_compiler():
    script = FEW.format(steps=threads.FEW_STEPS + 1)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["0 0 2 3 3 False", "0 0 2 3 3 True"]


MANY = """
from edgewise.device import threads

for _ in range(6):
    with threads.few_steps(threads.FEW_STEPS):
        print(threads.interprets())
"""


@pytest.mark.skipif(INTERPRETED or SIMULATED, reason="the other engines import Numba")
def test_after_many_small_calls_functions_are_compiled():
    done = subprocess.run([sys.executable, "-c", MANY], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"] * 5 + ["False"]


ALONE = """
import sys
import edgewise as ew

graph = ew.Graph.from_edges([1, 2, 3, 3, 4, 5], [2, 3, 1, 4, 1, 4])
print(ew.core_numbers(graph).cores.tolist(), [ew.cycle_counts(graph, n).counts.tolist() for n in (3, 4, 5)])
print(ew.bfs(graph, 1).parents.tolist(), "numba" in sys.modules)
"""


@pytest.mark.skipif(INTERPRETED or SIMULATED, reason="the other engines import Numba")
def test_small_graphs_do_not_import_the_compiler():
    command = [sys.executable, "-W", "error", "-c", ALONE]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    counts, parents = done.stdout.splitlines()
    assert counts == "[2, 2, 2, 2, 1] [[2, 1, 2, 1, 0], [1, 1, 1, 1, 0], [0, 0, 0, 0, 0]]"
    assert parents == "[-1, 0, 0, 0, 3] False"
