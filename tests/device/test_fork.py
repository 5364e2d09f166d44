"""Children of a ``fork``, which has the memory of its parent but not the threads; and Ctrl-C."""

import multiprocessing
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="a process cannot be copied"
)

POOL = """
import multiprocessing, sys, threading
from concurrent.futures import ProcessPoolExecutor
import numpy as np
import edgewise as ew

sources, targets = np.random.default_rng(1).integers(0, 5_000, (2, 8_000))

def results(number):
    graph = ew.Graph.from_edges((sources + number) % 5_000, targets, n_vertices=5_000)
    labels, reached = ew.connected_components(graph).labels, ew.bfs(graph, number).distances
    return labels.sum(), reached.sum(), ew.cycle_counts(graph, 3).total

wanted = [results(number) for number in range(4)]
busy = threading.Event()

def keep_busy():  # a fork must not copy a lock that another thread holds
    while not busy.wait(0.02):
        results(0)

other = threading.Thread(target=keep_busy)
other.start()
with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
    assert list(pool.map(results, range(4))) == wanted
busy.set()
other.join()
assert results(3) == wanted[3]
"""

ONE = """
import os
import numpy as np
import edgewise as ew
from edgewise.device.regions import barrier_wait, parallel_region, workers
from edgewise.errors import GraphError

@parallel_region
def fail_alone(worker, values):
    barrier_wait(worker)
    if worker.id == worker.count - 1:
        raise ValueError("the last one")

count = workers()
ew.connected_components(ew.generate.rmat(12, seed=1))
child = os.fork()
if child == 0:
    try:
        fail_alone(np.zeros(1))
    except ValueError as error:
        os._exit(0 if str(error) == "the last one" and workers() == count else 1)
    os._exit(2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


INTERRUPT = """
import os, signal, time
import numpy as np
from edgewise.device import each
from edgewise.device.regions import barrier_wait, parallel_region

@each
def spin(index, values, count):
    for step in range(count):
        values[(index + step) % 64] += 1

@parallel_region
def count_up(worker, values, count):
    for step in range(count):
        values[worker.id] += 1
        barrier_wait(worker)

pressed = 0

def press(number, frame):  # three times
    global pressed
    pressed += 1
    if pressed % 3:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
    raise KeyboardInterrupt

calls = (spin, (4096,), 100_000), (count_up, (), 1 << 40)
for loop, first, _ in calls:
    loop(*first, np.zeros(64, np.int64), 10)
child = os.fork()
if child == 0:
    signal.signal(signal.SIGALRM, press)
    for loop, first, count in calls:
        values = np.zeros(64, np.int64)
        loop(*first, values, 10)
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        try:
            loop(*first, values, count)
            os._exit(2)
        except KeyboardInterrupt:
            signal.setitimer(signal.ITIMER_REAL, 0)
        before = values.copy()
        time.sleep(0.1)
        if (values != before).any():
            os._exit(1)
        loop(*first, values, 10)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.parametrize(
    ("script", "public"),
    [(POOL, ""), (ONE, ""), pytest.param(ONE, "1", marks=pytest.mark.release)],
    ids=["pool", "error", "python threads"],
)
def test_children_compute(script, public):
    run(script, public)


@pytest.mark.release
def test_python_threads_end_after_an_interrupt():
    run(INTERRUPT, "1")


def run(script, public):
    """Run a script, with public names of Numba only if wanted."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={**os.environ, "EDGEWISE_PUBLIC_ONLY": public},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
