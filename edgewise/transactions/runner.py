"""The loop of a slot: it takes one transaction after the other, and leaves those that fail to the host.

A *slot* is a log and the thread that uses it.  Slot ``s`` of ``k`` runs the transactions ``s``, ``s + k``,
``s + 2 k`` ..., each until it commits, waiting a little longer after every failure, and at most
``attempts`` times.  A transaction that has not committed by then is appended to a list, which the host runs
again with the same numbers, so that it keeps its age.

The host is in :mod:`edgewise.transactions.memory`.
"""

from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, device, each, fetch_add, launch, threads
from edgewise.device.by_class import registered
from edgewise.device.cache import is_ours
from edgewise.device.spin import back_off
from edgewise.transactions.transaction import (
    OUT_OF_RANGE,
    OVERFLOW,
    OVERFLOWS,
    STATES,
    STATUS,
    Log,
    begin,
    commit,
    count_one,
    state,
)

#: Slots for each multiprocessor of a GPU.
SLOTS_PER_PROCESSOR = 512
#: Looks at a word of an older transaction before an attempt fails, on the CPU.
PATIENCE = 32
#: Looks at a word of an older transaction before an attempt fails, on GPUs.
PATIENCE_ON_GPU = 0
#: Numbers of int64 between the states of two slots on the CPU: two cache lines.
PADDING = 16


class Schedule(NamedTuple):
    """Which transactions a launch runs, and what became of them.

    Attributes
    ----------
    numbers : (pending,) int64 array
        Numbers of the transactions; empty if they are all from 0 on.
    pending : int
    slots : int
    attempts : int
        How often a transaction is tried in this launch.
    tried : (count,) int32 array
        How often each has been tried so far.
    ended : (count,) int8 array
        Why the last attempt of one of ``failed`` has failed.
    failed : (count,) int64 array
    n_failed : (1,) int64 array
    """

    numbers: Any
    pending: int
    slots: int
    attempts: int
    tried: Any
    ended: Any
    failed: Any
    n_failed: Any


def slot_of(body, kind):
    """The loop of a slot: ``loop(slot, memory, log, schedule, *arguments)``, for the class of a protocol."""

    @device
    def run_slot(slot, memory, log, schedule, *arguments):
        item, failures = np.int64(slot), 0
        while item < schedule.pending:
            number = item
            if len(schedule.numbers):
                number = schedule.numbers[item]
            tx = kind(memory, log, np.int64(slot), number)
            begin(tx)
            body(tx, number, *arguments)
            if commit(tx):
                schedule.tried[number] += failures + 1
                item, failures = item + schedule.slots, 0
                continue
            failures += 1
            status = state(tx, STATUS)
            if failures < schedule.attempts and status != OVERFLOW and status != OUT_OF_RANGE:
                back_off(failures)
                continue
            if status == OVERFLOW:
                count_one(tx, OVERFLOWS)
            schedule.tried[number] += failures
            schedule.ended[number] = status
            schedule.failed[fetch_add(schedule.n_failed, 0, 1)] = number
            item, failures = item + schedule.slots, 0

    return run_slot


def _name_of(one):
    return f"{one.__module__}.{one.__qualname__}"


@cache
def loop_of(body, kind, lanes):
    """The parallel loop over slots for a body and the class of a protocol; a slot has ``lanes`` threads."""
    run_slot = slot_of(registered(body), kind)

    def run_first_lane(thread, memory, log, schedule, *arguments):
        if thread % lanes == 0:
            run_slot(thread // lanes, memory, log, schedule, *arguments)

    def run(thread, memory, log, schedule, *arguments):
        run_slot(thread, memory, log, schedule, *arguments)

    run = run_first_lane if lanes > 1 else run
    first, second = sorted((body, kind), key=lambda one: is_ours(_name_of(one)))  # code of others is not kept
    run.__module__ = first.__module__  # from which Numba loads a kernel that was kept
    run.__qualname__ = f"{first.__qualname__}.{_name_of(second)}.{lanes}"
    return each(run, least_chunk=1)


def n_slots(where, count, slots, lanes):
    """Number of slots on a device: that asked for, or one for each core, or as many as keep a GPU busy."""
    if slots is None:
        if where == "cpu":
            slots = threads.count()
        else:
            slots = launch.processors(where) * SLOTS_PER_PROCESSOR // lanes
    return max(1, min(slots, count))


def log_of(words, slots, size):
    """Logs and states of as many slots, on the device of the words."""
    where = arrays.device_of(words)
    entries = partial(arrays.empty, slots * size, device=where)
    own, mine = (size, PADDING) if where == "cpu" else (1, 1)
    states = arrays.zeros(slots * (PADDING if where == "cpu" else STATES), np.int64, where)
    stride = 1 if where == "cpu" else slots
    return Log(entries(np.int64), entries(np.int64), entries(words.dtype), states, size, own, mine, stride)
