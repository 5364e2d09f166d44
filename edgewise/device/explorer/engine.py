"""The explorer as an engine: launches run on a GPU that has room for two blocks, of two warps of four lanes.

``EDGEWISE_SIMULATOR=1`` chooses it.  ``EDGEWISE_SEED`` is the seed of all launches.  Races are errors.  They
are looked for in some launches of each kernel, since that takes twice the time; with ``EDGEWISE_RACES=1`` in
all.
"""

import os
from collections import Counter

from edgewise.device import launch
from edgewise.device.explorer.copies import is_current
from edgewise.device.explorer.gpu import MAX_STEPS, Launch, on_gpu, shared
from edgewise.device.explorer.memory import GPU
from edgewise.device.explorer.orders import Bursts
from edgewise.device.explorer.scheduler import Scheduler

#: The seed of all launches, and how likely a thread is to go on at a step.
SEED, STAY = int(os.environ.get("EDGEWISE_SEED", "0")), 0.98
#: Whether memory is weak, and whether races are looked for in all launches: each takes time.
WEAK, RACES = (os.environ.get(f"EDGEWISE_{name}", "0") not in ("", "0") for name in ("WEAK_MEMORY", "RACES"))
#: Launches of a kernel in which races are always looked for, and in every how manieth after these.
FIRST, EVERY = 3, 8
#: Blocks of a cooperative launch.
BLOCKS = 2
#: Bodies of kernels for threads of the explorer.
bodies: dict = {}
#: How often each kernel has been launched.
launches: Counter = Counter()


def simulate(kernel, n_blocks, count, arguments):
    """Launch a kernel."""
    if kernel not in bodies or not is_current(bodies[kernel]):
        bodies[kernel] = on_gpu(kernel.source())
    body, grid = bodies[kernel], kernel.grid
    launches[kernel] += 1
    races = RACES or launches[kernel] <= FIRST or launches[kernel] % EVERY == 0
    memory = GPU if WEAK else None
    scheduler = Scheduler(SEED, MAX_STEPS, order=Bursts(SEED, STAY), memory=memory, races=races)
    given = shared(arguments, scheduler)
    blocks = BLOCKS if grid.cooperative else n_blocks
    Launch(lambda: body(count, given), blocks, grid.threads, grid.cooperative).run(scheduler)


launch.simulate = simulate
