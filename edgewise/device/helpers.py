"""Helpers: threads that run the workers of a call with the caller, as far as the system runs them.

A call has as many workers as threads are wanted, each of them a fiber (:mod:`~edgewise.device.fibers`).  The
caller begins at once.  Helpers wait in a compiled function without the GIL, and take workers when they find
some.  A worker that waits at a barrier is parked, and the thread that ran it looks for one that can go on.
So a call never waits for a thread that the system does not run, unless it lost its core in the middle of a
worker's work; and the caller can do everything by itself.

A thread prefers the worker of its own number, whose data are in its cache, and steals another one after some
microseconds.  There may be more helpers than a call has workers: those without a worker become the owner of
one that they have stolen, so that it does not move between threads, and sleep soon if they find none.  A
helper that finds no work for longer sleeps too, and one that has lost its core to another program stays away
for some milliseconds.
"""

import mmap

import numpy as np

from edgewise.device.atomics import cas, fetch_add, load, store
from edgewise.device.fibers import ENDED, FUNCTION, ID, MEMORY, STATUS, WAITS, park, resume, start
from edgewise.device.first_use import on_cpu_compiler
from edgewise.device.spin import cycles, leave_core, relax
from edgewise.device.target import device, overload_on_cpu

#: Words of the state, in cache lines of their own.  PHASE counts barriers and calls, and helpers sleep on it.
#: ARRIVED are the workers at the barrier, DONE those that have ended.  Of all HELPERS some sleep until others
#: wake them (SLEEPING), and some stay AWAY.
PHASE, ARRIVED, DONE = 0, 16, 32
HELPERS, SLEEPING, AWAY = 48, 49, 50
#: Words that a call sets: its number of workers, the phase before it, the function and memory of its workers,
#: after how many looks a thread steals the worker of another one, and whether a worker has failed.
N_WORKERS, BEFORE, CALL_FUNCTION, CALL_MEMORY, STEAL_AFTER, FAILED = range(64, 70)
#: The address of the stacks, whether helpers should return, and the cores that the process may use.
STACKS, STOPPED, CORES = 70, 71, 72
#: The words before the fibers, and those of a fiber.
FIBERS, FIBER = 80, 16
#: A word of a fiber: the number of the thread that prefers it.
OWNER = 7
#: The words of a helper, after the fibers: a time of the system (seconds, nanoseconds); when it began to look
#: for work, for how long it had had no core by then, and the processor time of the process by then; when it
#: came back, and for how long it stays away.
TIME, SINCE, WITHOUT_CORE, OF_PROCESS, CAME_BACK, PAUSE, HELPER = 0, 2, 3, 4, 5, 6, 16
#: Values of a fiber's STATUS, which is below PHASE if the fiber can be run: the phase whose end it waits for,
#: or one of these.
RUNNING, FINISHED = 1 << 62, (1 << 62) + 1
#: Bytes of a stack, whose first page cannot be used.
STACK_SIZE, PAGE = 1 << 20, mmap.PAGESIZE

#: Looks, of 20 to 40 ns each, before a thread steals the worker of another one, in calls with barriers; and
#: how many looks at its preferred worker a thread makes for each at those of others.
LOOKS_BEFORE_STEALING, LOOKS_AT_OWN = 100, 16
#: Looks before a helper sleeps, about a millisecond; fewer without a worker, or where other programs have
#: taken its core.
LOOKS_BEFORE_SLEEP, FEW_LOOKS = 30_000, 3000
#: Looks before the caller yields its core at each look.
LOOKS_BEFORE_YIELD = 400
#: Cycles of one look, with the run of a worker, after which a helper asks whether it had no core meanwhile.
LONG = 1_000_000
#: Nanoseconds without a core after which a helper stays away.
LOST = 1_000_000
#: Nanoseconds for which it does: twice as long when it loses its core again soon.
SHORTEST, LONGEST = 10_000_000, 160_000_000

#: The system call, and its operations for threads of one process.
FUTEX, FUTEX_WAIT, FUTEX_WAKE = 202, 128, 129
SECOND, LOWER_HALF = 1_000_000_000, 0xFFFFFFFF
#: The system's clocks: one that runs always, and those of the processor time of a process and of a thread.
CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID = 1, 2, 3


def futex(state, word, operation, value, timeout):
    """Sleep while the lower half of ``state[word]`` is ``value``, or wake so many threads that sleep.

    A time to sleep at most is in the words from ``timeout`` on, unless that is 0.
    """


def nanoseconds(clock, state, time):
    """The time of a clock of the system, which is read into two words."""


def _register():
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    from edgewise.device.fibers_on_cpu import overload_switches
    from edgewise.device.numba_arrays import element_pointer
    from edgewise.device.numba_internals import external

    overload_switches()

    @intrinsic
    def address(_, array, index):
        def emit(context, builder, signature, values):
            pointer, _ = element_pointer(context, builder, signature.args[0], *values)
            return builder.ptrtoint(pointer, ir.IntType(64))

        return types.int64(array, types.int64), emit

    system_call = external("syscall", types.int64(*[types.int64] * 7))
    clock_gettime = external("clock_gettime", types.int32(types.int32, types.int64))

    @overload_on_cpu(futex)
    def futex_on_cpu(state, word, operation, value, timeout):
        def call(state, word, operation, value, timeout):
            at_most = address(state, timeout) if timeout else 0
            system_call(FUTEX, address(state, word), operation, value, at_most, 0, 0)

        return call

    @overload_on_cpu(nanoseconds)
    def nanoseconds_on_cpu(clock, state, time):
        def read(clock, state, time):
            clock_gettime(np.int32(clock), address(state, time))
            return state[time] * SECOND + state[time + 1]

        return read


on_cpu_compiler(_register)


@device
def wait_at_barrier(state, n_workers, worker_id):
    """Wait at a barrier, as a worker; return whether a worker has failed."""
    if load(state, FAILED) != 0:
        return True
    phase = load(state, PHASE)
    if fetch_add(state, ARRIVED, 1) == n_workers - 1:
        store(state, ARRIVED, 0)
        _begin_phase(state, n_workers)
        return False
    fiber = FIBERS + worker_id * FIBER
    state[fiber + WAITS] = phase
    park(state, fiber)
    return load(state, FAILED) != 0


@device
def _missing(state, n_workers):
    """How many helpers that a call could use sleep, or stay away."""
    return n_workers - 1 - (load(state, HELPERS) - load(state, SLEEPING) - load(state, AWAY))


@device
def _begin_phase(state, n_workers):
    fetch_add(state, PHASE, 1)
    if load(state, SLEEPING) > 0:
        missing = _missing(state, n_workers)
        if missing > 0:
            futex(state, PHASE, FUTEX_WAKE, missing, 0)


@device
def _run(state, worker_id, phase):
    """Run a worker until it parks or ends, and return whether it could be run."""
    fiber = FIBERS + worker_id * FIBER
    status = load(state, fiber + STATUS)
    if status >= phase or cas(state, fiber + STATUS, status, RUNNING) != status:
        return False
    if status == state[BEFORE]:
        state[fiber + ID] = worker_id
        state[fiber + FUNCTION] = state[CALL_FUNCTION]
        state[fiber + MEMORY] = state[CALL_MEMORY]
        start(state, fiber, state[STACKS] + (worker_id + 1) * STACK_SIZE)
    else:
        resume(state, fiber)
    if state[fiber + WAITS] != ENDED:
        store(state, fiber + STATUS, state[fiber + WAITS])
        return True
    store(state, fiber + STATUS, FINISHED)
    if load(state, FAILED) != 0:  # those that wait for it should fail too
        _begin_phase(state, state[N_WORKERS])
    fetch_add(state, DONE, 1)
    return True


@device
def _run_one(state, preferred, number, phase, looks):
    """Run the preferred worker, unless that is -1, or after enough looks another one.

    Returns the number of the worker; -1 if none can go on.
    """
    if preferred >= 0 and _run(state, preferred, phase):
        return preferred
    n_workers = load(state, N_WORKERS)
    if looks % LOOKS_AT_OWN != 0 or (looks < state[STEAL_AFTER] and _missing(state, n_workers) <= 0):
        return -1
    if load(state, DONE) < n_workers:
        for step in range(n_workers):
            worker_id = (number + step) % n_workers
            if _run(state, worker_id, phase):
                return worker_id
    return -1


def work(state, number, own, n_workers, function, memory, steal_after):
    """Run workers: as the caller, number 0, until all have ended, or as a helper until it should stop.

    The words of a helper begin at ``own``.  The arguments after that are the caller's.
    """
    if number == 0:
        _begin_call(state, n_workers, function, memory, steal_after)
    else:
        fetch_add(state, HELPERS, 1)
        _begin_to_look(state, own)
        state[own + PAUSE] = SHORTEST
    looks, idle, phase, call, preferred = 0, 0, np.int64(-1), np.int64(-1), np.int64(-1)
    while load(state, DONE) < n_workers if number == 0 else load(state, STOPPED) == 0:
        if load(state, PHASE) != phase:
            looks, phase = 0, load(state, PHASE)
            if load(state, BEFORE) != call:
                call = load(state, BEFORE)
                preferred = np.int64(number if number < load(state, N_WORKERS) else -1)
            if preferred >= 0:
                idle = 0
                if load(state, FIBERS + preferred * FIBER + OWNER) != number:
                    preferred = np.int64(-1)
        begun = cycles()
        worker_id = _run_one(state, preferred, number, phase, looks)
        if worker_id < 0:
            looks += 1
            idle += 1
            relax()
        elif preferred < 0:
            preferred, idle = worker_id, 0
            store(state, FIBERS + worker_id * FIBER + OWNER, number)
        if number > 0:
            if cycles() - begun > LONG:
                _stay_away_if_lost(state, own)
            if idle > (_most_looks(state, own) if preferred >= 0 else FEW_LOOKS):
                _sleep(state, own, phase)
                looks = idle = 0
        elif looks > LOOKS_BEFORE_YIELD:
            leave_core()
    return 0


@device
def _begin_call(state, n_workers, function, memory, steal_after):
    phase = load(state, PHASE)
    state[N_WORKERS], state[BEFORE], state[STEAL_AFTER] = n_workers, phase, steal_after
    state[CALL_FUNCTION], state[CALL_MEMORY] = function, memory
    state[ARRIVED] = state[FAILED] = state[DONE] = 0
    for worker_id in range(n_workers):
        fiber = FIBERS + worker_id * FIBER
        store(state, fiber + OWNER, worker_id)
        store(state, fiber + STATUS, phase)
    _begin_phase(state, n_workers)


@device
def _begin_to_look(state, own):
    """Note the time, and for how long of it this thread has had no core and the process had some."""
    state[own + SINCE] = now = nanoseconds(CLOCK_MONOTONIC, state, own + TIME)
    state[own + WITHOUT_CORE] = now - nanoseconds(CLOCK_THREAD_CPUTIME_ID, state, own + TIME)
    state[own + OF_PROCESS] = nanoseconds(CLOCK_PROCESS_CPUTIME_ID, state, own + TIME)


@device
def _stay_away_if_lost(state, own):
    """Stay away if another program has used the core, and twice as long if that was so a short time ago.

    If this process has used all cores but half a one, other threads of it had the core, as in reading a file.
    """
    since, without_core, of_process = state[own + SINCE], state[own + WITHOUT_CORE], state[own + OF_PROCESS]
    now, pause = nanoseconds(CLOCK_MONOTONIC, state, own + TIME), state[own + PAUSE]
    lost = now - nanoseconds(CLOCK_THREAD_CPUTIME_ID, state, own + TIME) - without_core
    if lost < LOST and now - since < LONGEST:
        return
    _begin_to_look(state, own)
    if lost < LOST:  # what others have used in longer than this is not counted on
        return
    if 2 * (state[own + OF_PROCESS] - of_process) > (2 * state[CORES] - 1) * (now - since):
        return
    pause = min(2 * pause, LONGEST) if now - state[own + CAME_BACK] < 2 * pause else SHORTEST
    state[own + TIME], state[own + TIME + 1], state[own + PAUSE] = 0, pause, pause
    fetch_add(state, AWAY, 1)
    futex(state, STOPPED, FUTEX_WAIT, 0, own + TIME)
    fetch_add(state, AWAY, -1)
    _begin_to_look(state, own)
    state[own + CAME_BACK] = state[own + SINCE]


@device
def _most_looks(state, own):
    """Looks after which a helper sleeps."""
    return LOOKS_BEFORE_SLEEP if state[own + PAUSE] == SHORTEST else FEW_LOOKS


@device
def _sleep(state, own, phase):
    """Sleep until a phase begins in which helpers are missing."""
    fetch_add(state, SLEEPING, 1)
    futex(state, PHASE, FUTEX_WAIT, phase & LOWER_HALF, 0)
    fetch_add(state, SLEEPING, -1)
    _begin_to_look(state, own)
    if state[own + SINCE] - state[own + CAME_BACK] >= 2 * state[own + PAUSE]:
        state[own + PAUSE] = SHORTEST
