"""``@each``: one body for one index, a parallel loop on every target.

    @each
    def scale(i, values, factor):
        values[i] *= factor

    scale(len(values), values, 2.0)     # NumPy array: all cores; CuPy array: its GPU

The arrays travel as one tuple, because CUDA kernels take no ``*args``.  On the CPU the cores take chunks
from a shared counter, so that uneven bodies and busy neighbours even out.  On a GPU there is one thread
for each index.
"""

from functools import update_wrapper

import numpy as np
from numba import get_num_threads, njit, prange

from edgewise.device import arrays as places
from edgewise.device import cache, launch
from edgewise.device.atomics import fetch_add
from edgewise.device.target import INTERPRETED, SIMULATED, device

#: Chunks a core takes on the average, and the fewest indices worth a trip to the counter.
CHUNKS_PER_CORE = 16
LEAST_CHUNK = 512


class each:
    """Turn ``body(index, *arguments)`` into a parallel loop ``loop(count, *arguments)``.

    Parameters
    ----------
    body : function
        Called once for every index ``0 <= index < count`` (an int64), in any order and at once.  Arguments
        are one-dimensional contiguous arrays in one place, integers or floats.
    """

    def __init__(self, body):
        self.body = device(body)
        self.name = f"{body.__module__}.{body.__qualname__}"
        update_wrapper(self, body)
        self.cpu = _cpu_loop(body, self.name)
        self.cuda = launch.Kernel(self.name, self._cuda_source)

    def __call__(self, count, *arguments):
        if count <= 0:
            return
        place = places.place_of(*arguments)
        if place != "cpu":
            self.cuda(int(count), arguments)
            return
        workers = get_num_threads()
        chunk = max(LEAST_CHUNK, count // (workers * CHUNKS_PER_CORE))
        workers = min(workers, -(-count // chunk))
        self.cpu(int(count), chunk, workers, np.zeros(1, np.int64), arguments)

    def _cuda_source(self):
        from edgewise.device import grid

        return grid.thread_an_index(self.body)


def _cpu_loop(body, name):
    @device
    def run_chunk(start, stop, arguments):
        for index in range(start, stop):
            body(index, *arguments)

    def loop(count, chunk, workers, counter, arguments):
        for _ in prange(workers):
            start = fetch_add(counter, 0, chunk)
            while start < count:
                run_chunk(start, min(start + chunk, count), arguments)
                start = fetch_add(counter, 0, chunk)

    compiled = njit(parallel=True, nogil=True)(loop)
    return compiled if INTERPRETED or SIMULATED else cache.keep(compiled, name)
