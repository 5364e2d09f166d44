"""Workers that each take work from a shared counter until there is none: one thread of Python for each.

Such a worker needs no parallel loop: it is one compiled call (:class:`~edgewise.device.regions.alone`) that
lets go of the interpreter.  It compiles in half the time of a parallel loop, and several may run at once.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from edgewise.device import arrays, threads
from edgewise.device.target import INTERPRETED

#: Bytes of scratch for which nobody asks how much memory is free.
SMALL = 1 << 26


def size_for(tasks, scratch=0):
    """Workers for so many tasks: not more than threads that loops use, or than half of the memory holds.

    Parameters
    ----------
    tasks : int
    scratch : int
        Bytes that a worker needs for itself.
    """
    if INTERPRETED:
        return 1
    most = min(threads.count(), tasks)
    if most * scratch > SMALL:
        most = min(most, arrays.free_memory("cpu") // (2 * scratch))
    return max(1, most)


def run(worker, size, *arguments):
    """Call ``worker(me, counter, *arguments)`` for ``me`` below ``size`` at once; wait for all.

    ``counter`` is a (1,) int64 array that begins at zero.
    """
    counter = np.zeros(1, np.int64)
    if size == 1:
        worker(0, counter, *arguments)
        return
    with ThreadPoolExecutor(size - 1) as pool:
        others = [pool.submit(worker, me, counter, *arguments) for me in range(1, size)]
        worker(0, counter, *arguments)
        for other in others:
            other.result()
