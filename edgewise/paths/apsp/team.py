"""Workers that each take work from a shared counter until there is none: one thread of Python for each.

Such a worker needs no parallel loop: it is one compiled call (:class:`~edgewise.device.together.alone`) that
lets go of the interpreter.  It compiles in half the time of a parallel loop, and several may run at once.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from edgewise.device import threads
from edgewise.device.target import INTERPRETED


def size_for(tasks):
    """Workers for so many tasks: not more than threads that loops use."""
    return 1 if INTERPRETED else max(1, min(threads.count(), tasks))


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
