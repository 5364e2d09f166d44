"""One compiled function that several threads of the CPU run at once, with no parallel loop of its own.

Numba compiles what stands in a parallel loop by itself, then for the loop, for two wrappers around that, and
for the function that the loop stands in.  So there is only one such loop here, over threads; it is compiled
once for all, and calls any function by its address.

Such a function begins like this:

    def region(worker, saved, first, second):
        if worker < 0:
            return entry(saved, (saved, first, second))
        ...
        return 0

Called for nobody (-1) it leaves its arguments in the memory at ``kept``, and returns the address of a
function that takes the number of a thread and finds the other arguments there.  An exception of a thread is
left there too, and raised once all threads are done.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, prange, types
from numba.core import callconv, cgutils
from numba.core.errors import LoweringError
from numba.extending import intrinsic

from edgewise.device import cache
from edgewise.device.target import INTERPRETED, SIMULATED, WHOLE
from edgewise.errors import DeviceError

#: Words of the memory that a call keeps: whether a thread failed (a status of Numba's), where its exception
#: is described, and from then on the arguments.
FAILED, EXCEPTION, ARGUMENTS, WORDS = 0, 1, 2, 1024
#: Bytes that the arguments may take; an array of one dimension takes 56.
MOST = 8 * (WORDS - ARGUMENTS)

_word = ir.IntType(64)
_numbered = ir.FunctionType(ir.VoidType(), [_word, _word])


class Region(NamedTuple):
    """A compiled function for several threads, and its full name."""

    function: Any
    name: str


class _TooMuch(LoweringError):
    """Arguments that do not fit."""

    def __init__(self, size):
        super().__init__(f"its arguments take {size} bytes")
        self.size = size


def _at(builder, kept, word, kind):
    """Pointer to a word of the kept memory."""
    return builder.inttoptr(builder.add(kept, _word(8 * word)), kind.as_pointer())


@intrinsic
def entry(_, kept, arguments):
    """Keep ``arguments``, all but the first of the function that this stands in; its address for threads."""

    def emit(context, builder, signature, values):
        address, whole = values
        size = context.get_abi_sizeof(whole.type)
        if size > MOST:
            raise _TooMuch(size)
        builder.store(whole, _at(builder, address, ARGUMENTS, whole.type))
        function = ir.Function(builder.module, _numbered, f"{builder.function.name}.numbered")
        function.linkage = "internal"
        inner = ir.IRBuilder(function.append_basic_block())
        me, position = function.args
        found = inner.load(_at(inner, position, ARGUMENTS, whole.type))
        kinds, passed = (types.int64, *signature.args[1].types), [me, *cgutils.unpack_tuple(inner, found)]
        status, _ = context.call_conv.call_function(inner, builder.function, types.int64, kinds, passed)
        with inner.if_then(status.is_error, likely=False):
            with inner.if_then(status.is_user_exc):
                inner.store(status.excinfoptr, _at(inner, position, EXCEPTION, status.excinfoptr.type))
            inner.store(inner.sext(status.code, _word), _at(inner, position, FAILED, _word))
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


@intrinsic
def _fail(_, exception):
    """Fail with the exception that is described at an address."""

    def emit(context, builder, signature, values):
        described = builder.inttoptr(values[0], callconv.excinfo_ptr_t)
        status = dict.fromkeys(callconv.Status._fields) | {
            "code": callconv.RETCODE_USEREXC,
            "excinfoptr": described,
        }
        context.call_conv.return_status_propagate(builder, callconv.Status(**status))
        return context.get_dummy_value()

    return types.void(types.int64), emit


@njit
def _raise_again(exception):
    _fail(exception)


def _all_call(everyone, function, kept):
    for me in prange(everyone):
        _call(function, np.int64(me), kept)


_all_call = njit(parallel=True, nogil=True)(_all_call)
if not (INTERPRETED or SIMULATED):
    _all_call = cache.keep(_all_call, f"{__name__}._all_call")


def compiled(region, name):
    """Compile such a function, and keep it under ``name``."""
    if INTERPRETED:
        return Region(region, name)
    function = njit(nogil=True, **WHOLE)(region)
    return Region(function if SIMULATED else cache.keep(function, name), name)


def run(region, everyone, *arguments):
    """Run a compiled function as workers 0 to ``everyone - 1`` at once; the caller holds the lock.

    The lock lets a signal's handler or a finalizer of the same thread in at any time, so every call has its
    own memory for the arguments.  What a worker raises is raised here, with several of them the last one's.
    """
    kept = np.empty(WORDS, np.int64)
    kept[FAILED], address = 0, kept.ctypes.data
    try:
        if INTERPRETED or everyone == 1:
            for me in range(everyone):
                region.function(me, address, *arguments)
            return
        function = region.function(-1, address, *arguments)
    except _TooMuch as error:
        raise DeviceError(
            f"{region.name}: its arguments take {error.size} bytes, of {MOST} at most; pass fewer arrays"
        ) from error
    _all_call(everyone, function, address)
    if kept[FAILED]:
        if kept[FAILED] > 0:
            _raise_again(kept[EXCEPTION])
        raise DeviceError(f"{region.name}: a worker failed, and left no exception")
