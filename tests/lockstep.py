"""Warps in plain Python: the lanes of a warp are threads that exchange values in step.

The simulator's warps have one lane.  Here a region runs with warps of several lanes, each of which is a
block, so that what the lanes tell each other is tested without a GPU.  A warp whose lanes do not reach the
same exchanges ends by a timeout.
"""

import threading

import numpy as np

from edgewise.device import BlockWorker, atomics
from tests import jitter

#: Lanes of a warp, and seconds for which a lane waits for the others.
LANES, TIMEOUT = 4, 20
ATOMICS = {
    name: getattr(atomics, name)
    for name in ("cas", "fetch_add", "fetch_max", "fetch_min", "fetch_or", "store")
}
_mine = threading.local()


class _Warp:
    def __init__(self):
        self.values, self.barrier = [None] * LANES, threading.Barrier(LANES, timeout=TIMEOUT)

    def exchange(self, value):
        """The values of all lanes."""
        self.values[_mine.lane] = value
        self.barrier.wait()
        values = list(self.values)
        self.barrier.wait()
        return values


def _exchange(value):
    return _mine.warp.exchange(value)


def ballot(flag):
    return sum(1 << lane for lane, one in enumerate(_exchange(bool(flag))) if one)


def match(value):
    return sum(1 << lane for lane, one in enumerate(_exchange(int(value))) if one == int(value))


def warp_min(value, lanes, lane, otherwise):
    least = min(_exchange(value))
    return least if lane == 0 else otherwise


WARPS = {
    "warp_size": lambda: LANES,
    "block_size": lambda: LANES,
    "inclusive_scan": lambda value, lane: np.int64(sum(_exchange(value)[: lane + 1])),
    "shuffle": lambda value, lane: _exchange(value)[int(lane) % LANES],  # as a GPU wraps it
    "popcount": lambda lanes: int(lanes).bit_count(),
    "warp_barrier": lambda: _exchange(None),
    "block_barrier": lambda: _exchange(None),
    "ballot": ballot,
    "match": match,
    "warp_min": warp_min,
}


def run_rows(loop, rows, *arguments, warps=2, **replaced):
    """Run the body of a loop over rows, each of which a warp takes."""
    body = jitter.jittery(loop.body, **WARPS, **ATOMICS, **replaced)

    def take_rows(worker):
        for row in range(worker.id // LANES, rows, warps):
            body(row, worker.id % LANES, LANES, *arguments)

    _run(take_rows, warps, LANES)


def run_indices(loop, count, *arguments, **replaced):
    """Run the body of a loop over indices, a multiple of LANES, each of which a lane takes."""
    body = jitter.jittery(loop.body, **{**WARPS, **ATOMICS, **replaced})
    _run(lambda worker: body(worker.id, *arguments), count // LANES, LANES)


def run(region, *arguments, warps=2, words=LANES, **replaced):
    """Run the body of a region without grid barriers, in so many warps; ``words`` are of shared memory."""
    body = jitter.jittery(region.body, **WARPS, **ATOMICS, **replaced)
    _run(lambda worker: body(worker, *arguments), warps, words)


def _run(body, warps, words):
    errors = []

    def run_lane(number, warp, shared):
        _mine.warp, _mine.lane = warp, number % LANES
        try:
            body(BlockWorker(number, warps * LANES, None, shared))
        except BaseException as error:
            warp.barrier.abort()
            errors.append(error)

    threads = []
    for first in range(0, warps * LANES, LANES):
        warp, shared = _Warp(), np.zeros(words, np.int64)
        numbers = range(first, first + LANES)
        threads += [threading.Thread(target=run_lane, args=(number, warp, shared)) for number in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
