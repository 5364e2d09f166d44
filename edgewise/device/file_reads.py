"""``read_at``: a part of a file, read by a compiled function.

Threads that come back to Python for each read wait for each other there, since one at a time may run it.
"""

import os
import sys

import numpy as np

from edgewise.device.first_use import on_cpu_compiler
from edgewise.device.target import overload_on_cpu


def read_at(file, position, room, at, count):
    """Read up to ``count`` bytes of a file from a position into ``room[at:]``, a uint8 array.

    Returns how many they are, 0 at the end of the file, or less than 0 if it cannot be read here.  ``file``
    is the number by which the system knows it.
    """
    try:
        found = os.pread(file, int(count), int(position))
    except (AttributeError, OSError):  # on Windows there is no such function
        return -1
    room[int(at) : int(at) + len(found)] = np.frombuffer(found, np.uint8)
    return len(found)


def _register_on_cpu():
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    from edgewise.device.numba_arrays import element_pointer
    from edgewise.device.numba_internals import external

    @intrinsic
    def address(_, array, index):
        def emit(context, builder, signature, values):
            pointer, _ = element_pointer(context, builder, signature.args[0], *values)
            return builder.ptrtoint(pointer, ir.IntType(64))

        return types.int64(array, types.int64), emit

    shape = types.int64(types.int32, types.int64, types.int64, types.int64)
    pread = None if sys.platform == "win32" else external("pread", shape)

    @overload_on_cpu(read_at)
    def read_on_cpu(file, position, room, at, count):
        if pread is None:
            return lambda file, position, room, at, count: -1
        return lambda file, position, room, at, count: pread(
            np.int32(file), address(room, np.int64(at)), np.int64(count), np.int64(position)
        )


on_cpu_compiler(_register_on_cpu)
