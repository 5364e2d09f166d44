"""The explorer as an engine: launches run on a GPU that has room for two blocks, of two warps of four lanes.

``EDGEWISE_SIMULATOR=1`` chooses it.  ``EDGEWISE_SEED`` is the seed of all launches.
"""

import os

from edgewise.device import launch
from edgewise.device.explorer.copies import is_current
from edgewise.device.explorer.gpu import MAX_STEPS, Launch, on_gpu, shared
from edgewise.device.explorer.memory import GPU
from edgewise.device.explorer.orders import Bursts
from edgewise.device.explorer.scheduler import Scheduler

#: The seed of all launches, and how likely a thread is to go on at a step, for one seed after another.
SEED, STAY = int(os.environ.get("EDGEWISE_SEED", "0")), (0.98, 0.5, 0.9, 0.0)
#: Whether memory is weak, and whether races are errors: each takes time.
WEAK, RACES = (os.environ.get(f"EDGEWISE_{name}", "0") not in ("", "0") for name in ("WEAK_MEMORY", "RACES"))
#: Blocks of a cooperative launch.
BLOCKS = 2
#: Bodies of kernels for threads of the explorer.
bodies: dict = {}


def simulate(kernel, n_blocks, count, arguments):
    """Launch a kernel."""
    if kernel not in bodies or not is_current(bodies[kernel]):
        bodies[kernel] = on_gpu(kernel.source())
    body, grid = bodies[kernel], kernel.grid
    order, memory = Bursts(SEED, STAY[SEED % len(STAY)]), GPU if WEAK else None
    scheduler = Scheduler(SEED, MAX_STEPS, order=order, memory=memory, races=RACES)
    given = shared(arguments, scheduler)
    blocks = BLOCKS if grid.cooperative else n_blocks
    Launch(lambda: body(count, given), blocks, grid.threads, grid.cooperative).run(scheduler)


launch.simulate = simulate
