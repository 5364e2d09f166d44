"""The only package that uses Numba, CUDA and CuPy, together with :mod:`edgewise.primitives`.

All other packages write plain Python functions over arrays:

* :func:`~edgewise.device.target.device` marks a function that other kernels may call,
* :class:`~edgewise.device.loop.each` turns a body for one index into a parallel loop,
* :class:`~edgewise.device.lanes.each_row` turns a body for one row into a thread, warp or block per row,
* :class:`~edgewise.device.regions.parallel_region` turns a body for one worker into a region with barriers,
* :mod:`~edgewise.device.atomics` names the atomic operations,
* :mod:`~edgewise.device.arrays` tells the device of arrays, and creates and moves them.

The device of the arrays decides where a loop runs: NumPy arrays on all CPU cores, CuPy arrays on their GPU.
"""

from edgewise.device.atomics import cas, fetch_add, fetch_max, fetch_min, load, store
from edgewise.device.lanes import each_row, warp_min
from edgewise.device.loop import each
from edgewise.device.regions import BlockWorker, Worker, barrier_wait, compiled, parallel_region
from edgewise.device.target import device

__all__ = [
    "BlockWorker",
    "Worker",
    "barrier_wait",
    "cas",
    "compiled",
    "device",
    "each",
    "each_row",
    "fetch_add",
    "fetch_max",
    "fetch_min",
    "load",
    "parallel_region",
    "store",
    "warp_min",
]
