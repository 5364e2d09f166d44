"""One compiled function that several threads of the CPU run at once, with no parallel loop of its own.

Numba compiles what stands in a parallel loop by itself, then for the loop, for two wrappers around that, and
for the function that the loop stands in.  So there is only one such loop here, over threads; it is compiled
once for all, and calls any function by its address.

Such a function begins like this:

    def region(me, kept, first, second):
        if me < 0:
            return entry(kept, (kept, first, second))
        ...
        return 0

Called for nobody (-1) it leaves its arguments in the memory at ``kept``, and returns the address of a
function that takes the number of a thread and finds the other arguments there.
"""

import numpy as np
from llvmlite import ir
from numba import njit, prange, types
from numba.core import cgutils
from numba.extending import intrinsic

from edgewise.device import cache
from edgewise.device.target import INTERPRETED, SIMULATED, WHOLE

#: Where the arguments are kept for threads: one function runs at a time (see :data:`.loop.one_loop`).
_kept = np.empty(1024, np.int64)
KEPT = _kept.ctypes.data

_word = ir.IntType(64)
_numbered = ir.FunctionType(ir.VoidType(), [_word, _word])


@intrinsic
def entry(_, kept, arguments):
    """Keep ``arguments``, all but the first of the function that this stands in; its address for threads."""

    def emit(context, builder, signature, values):
        address, whole = values
        if context.get_abi_sizeof(whole.type) > _kept.nbytes:
            raise NotImplementedError("so many arguments")
        builder.store(whole, builder.inttoptr(address, whole.type.as_pointer()))
        function = ir.Function(builder.module, _numbered, f"{builder.function.name}.numbered")
        function.linkage = "internal"
        inner = ir.IRBuilder(function.append_basic_block())
        me, place = function.args
        found = inner.load(inner.inttoptr(place, whole.type.as_pointer()))
        kinds, passed = (types.int64, *signature.args[1].types), [me, *cgutils.unpack_tuple(inner, found)]
        context.call_conv.call_function(inner, builder.function, types.int64, kinds, passed)
        inner.ret_void()
        return builder.ptrtoint(function, _word)

    return types.int64(types.int64, arguments), emit


@intrinsic
def _call(_, function, me, kept):
    """Run the function at an address as worker ``me``, with the arguments that were kept."""

    def emit(context, builder, signature, values):
        function, *passed = values
        builder.call(builder.inttoptr(function, _numbered.as_pointer()), passed)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), emit


def _all_call(everyone, function, kept):
    for me in prange(everyone):
        _call(function, np.int64(me), kept)


_all_call = njit(parallel=True, nogil=True)(_all_call)
if not (INTERPRETED or SIMULATED):
    _all_call = cache.keep(_all_call, f"{__name__}._all_call")


def compiled(region, name):
    """Compile such a function, and keep it under ``name``."""
    if INTERPRETED:
        return region
    function = njit(nogil=True, **WHOLE)(region)
    return function if SIMULATED else cache.keep(function, name)


def run(region, everyone, *arguments):
    """Run a compiled function as workers 0 to ``everyone - 1`` at once; the caller holds the lock."""
    if INTERPRETED or everyone == 1:
        for me in range(everyone):
            region(me, KEPT, *arguments)
    else:
        _all_call(everyone, region(-1, KEPT, *arguments), KEPT)
