"""The explorer: kernels run in the interpreter by threads that a deterministic scheduler switches.

    scheduler = Scheduler(seed)
    counter = Shared(np.zeros(1, np.int64), scheduler)
    add = preemptible(function)
    scheduler.run(lambda: add(counter), lambda: add(counter))

One thread runs at a time.  Before every access of a :class:`Shared` array the scheduler may *preempt* it,
that is, let another one go on.  The seed determines all of its decisions, so a fault that shows with some
seed shows with that seed again.  Nothing is compiled: :func:`preemptible` copies the plain Python functions
that device functions are, with atomic operations that are one step each.

===================  =======================================================================================
page                 what it models
===================  =======================================================================================
``scheduler``        threads, and who goes on
``orders``           by which rule: bursts, single steps, priorities, and every interleaving of a small case
``memory``           arrays, the stores that a weak memory delays, and values out of date
``races``            accesses that nothing orders
``operations``       atomic operations and fences
``gpu``              grids, blocks and warps: their barriers, exchanges and shared memory
``copies``           device functions with these operations in place of the compilers'
===================  =======================================================================================

By default all threads see all writes at once and in their order (*sequential consistency*).
``Scheduler(seed, memory=GPU)`` delays stores, and lets reads see values out of date, as far as fences and
barriers allow; with ``memory=CPU`` atomic operations order them, too.  With ``races=True`` two accesses
of which one is a plain store, and which nothing orders, end the run with an error that names both lines,
unless a comment ``# race: reason`` documents one of them.
"""

from edgewise.device.explorer.copies import Barrier, barrier_wait, preemptible, rebound, run_region
from edgewise.device.explorer.memory import CPU, GPU, Shared
from edgewise.device.explorer.operations import cas, fetch_add, fetch_min
from edgewise.device.explorer.orders import Bursts, Priorities, explore
from edgewise.device.explorer.scheduler import Fault, NoProgress, Scheduler

__all__ = [
    "CPU",
    "GPU",
    "Barrier",
    "Bursts",
    "Fault",
    "NoProgress",
    "Priorities",
    "Scheduler",
    "Shared",
    "barrier_wait",
    "cas",
    "explore",
    "fetch_add",
    "fetch_min",
    "preemptible",
    "rebound",
    "run_region",
]
