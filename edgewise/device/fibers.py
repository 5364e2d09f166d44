"""Fibers for compiled functions: calls with a stack of their own, which any thread can continue.

A thread runs a fiber until it ends or parks.  A parked fiber is continued by whichever thread comes first, so
nobody waits for a thread that the system does not run.  Threads switch to and from a fiber as other libraries
of fibers do: the registers that a call must preserve are pushed, and the stack pointer is exchanged.

A fiber is a block of words of an int64 array, ``state``, from a given word on.  The code of the functions of
this page is made by :mod:`~edgewise.device.fibers_on_cpu`.
"""

import platform
import sys
from functools import cache as memoize

from edgewise.device.target import INTERPRETED, cpu_compiler

#: Words of a fiber: whether it can be run; its stack pointer and that of the thread that runs it; for which
#: phase it waits; and its function with the two numbers that it is called with.
STATUS, STACK, HOME, WAITS, FUNCTION, ID, MEMORY = range(7)
#: The value of WAITS of a fiber that has ended.
ENDED = -1


@memoize
def are_possible() -> bool:
    """Whether there are fibers here: on Linux, for x86-64, with the private names of Numba that they take."""
    if INTERPRETED or sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    internals = cpu_compiler()
    return internals.HAS_ENTRIES and internals.HAS_EXTERNALS


def start(state, block, top):
    """Run a new fiber, whose stack ends at address ``top``, until it parks or ends."""


def resume(state, block):
    """Continue a parked fiber until it parks again or ends."""


def park(state, block):
    """Leave the fiber that this is; the thread goes on after its :func:`resume`."""
