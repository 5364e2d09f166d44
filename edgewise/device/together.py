"""``@together``: one region that all workers run at once, with barriers in it; ``@alone``: one compiled call.

A search over a graph makes many small rounds.  A parallel loop a round would cost a region's launch on the
CPU, and a kernel's launch and a question by the host on a GPU.  Here all workers enter once and meet
between rounds:

    @together
    def fill(me, everyone, barrier, first, second):
        for index in range(me, len(first), everyone):
            first[index] = index
        meet(barrier, everyone)
        for index in range(me, len(second), everyone):
            second[index] = first[len(first) - 1 - index]

    fill(first, second)

On the CPU a worker is a thread of Numba's, on a GPU a thread of a cooperative launch, which holds no more
blocks than the GPU can run at once.  The simulator has one block, the interpreter one worker.

Where the threading layer would run the workers one after the other, as TBB may, there is one worker.
"""

import os
import sys
from functools import partial, update_wrapper

import numpy as np
from numba import get_num_threads, njit, types
from numba.extending import overload

from edgewise.device import arrays as places
from edgewise.device import at_once, cache, launch
from edgewise.device.at_once import entry
from edgewise.device.atomics import fetch_add, load, store
from edgewise.device.loop import one_loop
from edgewise.device.target import INTERPRETED, PART, SIMULATED, WHOLE, device, on_cuda

#: Words of a barrier: who has arrived stands in the first, the turn in another cache line.
BARRIER, TURN = 32, 16
#: Looks at the turn before a waiting thread offers its core to others, and before it sleeps: where other
#: programs want the cores too, the thread that all wait for may be one without a core.
PATIENCE, DROWSY = 2000, 2050
#: Microseconds of such a sleep; looks of a probe of the first use, and how many probes may fail.
NAP, PROBE_LOOKS, TRIES = 50, 20_000, 3


def rest(looks):
    """Offer the core to another thread, or sleep for a moment after many ``looks`` in vain."""


_sched_yield = types.ExternalFunction("sched_yield", types.int32())
_usleep = types.ExternalFunction("usleep", types.int32(types.uint32))


@overload(rest, jit_options=PART)
def _rest_on_cpu(looks):
    if sys.platform == "win32":
        return lambda looks: None

    def yield_or_sleep(looks):
        if looks > DROWSY:
            _usleep(np.uint32(NAP))
        else:
            _sched_yield()

    return yield_or_sleep


@device
def meet(barrier, everyone):
    """Wait until all workers are here; what they wrote before is seen by all behind it."""
    _meet(barrier, everyone)


def _meet(barrier, everyone):
    if SIMULATED:
        _wait_for_block()


@overload(_meet, jit_options=PART)
def _meet_on_cpu(barrier, everyone):
    def meet_threads(barrier, everyone):
        if everyone > 1:
            turn = load(barrier, TURN)
            if fetch_add(barrier, 0, 1) == everyone - 1:
                store(barrier, 0, 0)
                store(barrier, TURN, turn + 1)
            else:
                looks = 0
                while load(barrier, TURN) == turn:
                    looks += 1
                    if looks > PATIENCE:
                        rest(looks)

    return meet_threads


def _register_on_cuda():
    """Blocks meet through one counter; the threads of a block, before and after, through its own barrier."""
    if SIMULATED:
        return
    from numba import cuda
    from numba.cuda.extending import overload as overload_on_cuda

    @overload_on_cuda(_meet)
    def meet_on_cuda(barrier, everyone):
        def meet_blocks(barrier, everyone):
            cuda.syncthreads()
            if cuda.threadIdx.x == 0:
                cuda.threadfence()
                turn = load(barrier, TURN)
                if cuda.atomic.add(barrier, 0, 1) == cuda.gridDim.x - 1:
                    barrier[0] = 0
                    cuda.threadfence()
                    cuda.atomic.add(barrier, TURN, 1)
                else:
                    while load(barrier, TURN) == turn:
                        pass
                cuda.threadfence()
            cuda.syncthreads()

        return meet_blocks


on_cuda(_register_on_cuda)


def _wait_for_block():
    from edgewise.device import grid

    grid.wait_for_block()


class together:
    """Turn ``body(me, everyone, barrier, *arguments)`` into a call ``region(*arguments)``.

    Parameters
    ----------
    body : function
        Run by every worker at the same time; all must come to the same barriers.  ``me`` counts from 0 to
        ``everyone - 1``.
    threads : int
        Threads a block on a GPU.
    crowd : int, optional
        Blocks a multiprocessor gets at most.
    resident : int, optional
        Blocks a multiprocessor must be able to run at once; a thread gets fewer registers then.
    words : int
        Words (int64) of fast memory that the workers of a team share (a block's shared memory; each thread's
        own stretch of memory on the CPU).  If any, the body takes them behind the barrier, holding anything.
    """

    def __init__(self, body, threads=launch.BLOCK, crowd=None, resident=None, words=0):
        self.body, self.words = device(body), words
        self.name = f"{body.__module__}.{body.__qualname__}"
        update_wrapper(self, body)
        self.cpu = (_cpu_region_of_teams if words else _cpu_region)(body, self.name)
        threads = min(threads, launch.BLOCK) if SIMULATED else threads
        sizes = {"threads": threads, "crowd": crowd, "resident": resident}
        self.cuda = launch.Kernel(self.name, self._cuda_source, **sizes, cooperative=True)

    @classmethod
    def by(cls, *, threads=launch.BLOCK, crowd=None, resident=None, words=0):
        """Decorator for a body whose grid has these sizes."""
        return partial(cls, threads=threads, crowd=crowd, resident=resident, words=words)

    def __call__(self, *arguments):
        place = places.place_of(*arguments, contiguous=True)
        if place != "cpu":
            barrier = places.zeros(BARRIER, np.int32, place)
            self.cuda(1, (barrier, *arguments), place)
            return
        everyone = workers()
        if self.words:
            arguments = (np.empty(everyone * self.words, np.int64), *arguments)
        with one_loop:
            barrier = np.zeros(BARRIER, np.int32)
            at_once.run(self.cpu, everyone, everyone, barrier, arguments)

    def _cuda_source(self):
        from edgewise.device import grid

        return grid.whole_grid_of_teams(self.body, self.words) if self.words else grid.whole_grid(self.body)


def workers() -> int:
    """Workers that a region has on the CPU."""
    return _at_once(get_num_threads())


def _cpu_region(body, name):
    def region(me, kept, everyone, barrier, arguments):
        if me < 0:
            return entry(kept, (kept, everyone, barrier, arguments))
        body(me, everyone, barrier, *arguments)
        return 0

    return at_once.compiled(region, name)


def _cpu_region_of_teams(body, name):
    def region(me, kept, everyone, barrier, arguments):
        if me < 0:
            return entry(kept, (kept, everyone, barrier, arguments))
        words = len(arguments[0]) // everyone
        own = arguments[0][me * words : (me + 1) * words]
        body(me, everyone, barrier, own, *arguments[1:])
        return 0

    return at_once.compiled(region, name)


def _at_once(threads):
    """``threads``, if the threading layer really runs so many iterations at once, else 1; found out once."""
    with one_loop:  # also so that all who ask hear the same
        if threads not in _known:
            _known[threads] = 1 if INTERPRETED else threads
            if threads > 1 and not INTERPRETED and not any(_all_there(threads) for _ in range(TRIES)):
                _known[threads] = 1
        return _known[threads]


_known: dict[int, int] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_known.clear)  # the child's threads are others


def _all_there(threads):
    """Whether so many workers have seen each other."""
    seen = np.zeros(threads, np.int64)
    at_once.run(_probe, threads, threads, np.zeros(1, np.int64), seen)
    return bool((seen == threads).all())


def _arrive(me, kept, threads, arrived, seen):
    if me < 0:
        return entry(kept, (kept, threads, arrived, seen))
    fetch_add(arrived, 0, 1)
    looks = 0
    while load(arrived, 0) < threads and looks < PROBE_LOOKS:
        looks += 1
        rest(0)
    seen[me] = load(arrived, 0)
    return 0


_probe = at_once.compiled(_arrive, f"{__name__}._arrive")


class alone:
    """Turn a plain function over arrays into one compiled call on the CPU, cheap to make.

    Parameters
    ----------
    body : function
        ``body(*arguments)``; may return a number.
    """

    def __init__(self, body):
        self.body = body
        update_wrapper(self, body)
        name = f"{body.__module__}.{body.__qualname__}"
        compiled = njit(nogil=True, **WHOLE)(body)
        self.compiled = compiled if INTERPRETED or SIMULATED else cache.keep(compiled, name)

    def __call__(self, *arguments):
        return self.compiled(*arguments)
