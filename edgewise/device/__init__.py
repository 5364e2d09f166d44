"""The only package that uses Numba, CUDA and CuPy, together with :mod:`edgewise.primitives`.

Other packages write plain Python functions over arrays.  The device of the arrays decides where a loop runs:
NumPy arrays on all CPU cores, CuPy arrays on their GPU.  Functions that kernels call are marked by
:func:`~edgewise.device.target.device`; a body is run for each index by :class:`~edgewise.device.loop.each`,
for each row by :class:`~edgewise.device.lanes.each_row`, and for each worker, with barriers, by
:class:`~edgewise.device.regions.parallel_region`.
"""

from edgewise.device.atomics import cas, fence, fetch_add, fetch_max, fetch_min, fetch_or, load, store
from edgewise.device.by_class import by_class
from edgewise.device.lanes import each_row, warp_min
from edgewise.device.loop import each
from edgewise.device.regions import BlockWorker, Worker, barrier_wait, compiled, parallel_region
from edgewise.device.target import SIMULATED, device

if SIMULATED:
    from edgewise.device.explorer import engine  # noqa: F401

__all__ = [
    "BlockWorker",
    "Worker",
    "barrier_wait",
    "by_class",
    "cas",
    "compiled",
    "device",
    "each",
    "each_row",
    "fence",
    "fetch_add",
    "fetch_max",
    "fetch_min",
    "fetch_or",
    "load",
    "parallel_region",
    "store",
    "warp_min",
]
