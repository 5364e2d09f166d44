"""What Numba writes for a function of the package: short text, which LLVM reads, simplifies and copies.

A call.  Numba asks in nine instructions how a called function has ended, gives it room of its own for an
exception, and asks in eight more, before it passes that on, whether a ``try`` is around the call.  Here a
function leaves its exception where its caller does, and whatever is not 0 is a failure.

A variable.  Numba fills it with zeros, and reads it before it is written, to count references.  Here neither
is done, unless references are counted.

A loop over a range.  Numba counts the items first, for steps of both signs, fails if the step is 0, and puts
each item into a structure in memory.  With a step of 1 a loop is a comparison and an addition here.

The names are Numba's own, as on :mod:`~edgewise.device.numba_internals`; where one is missing, Numba writes
its own text.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model

from edgewise.device.first_use import private

_Convention, _Status = private("numba.core.callconv", "CPUCallConv", "Status")
(_Lower,) = private("numba.core.lowering", "Lower")
(_Context,) = private("numba.core.base", "BaseContext")
(_CPUContext,) = private("numba.core.cpu", "CPUContext")
_METHODS = {
    _Convention: ["call_function", "return_status_propagate", "set_try_status", "_get_arg_packer"],
    _Lower: ["alloca", "storevar", "getvar", "_alloca_var", "_disable_sroa_like_opt"],
    _Context: ["pair_first", "pair_second"],
    _CPUContext: ["call_conv", "enable_nrt"],
}
#: Whether all these names are there.
IS_SHORT = _Status is not None and all(hasattr(kind, one) for kind in _METHODS for one in _METHODS[kind])


# -- calls ---------------------------------------------------------------------------------------------------


class _ShortCalls(_Convention if IS_SHORT else object):  # type: ignore[misc]
    """How functions call each other."""

    def call_function(self, builder, callee, kind, kinds, values, attrs=None):
        """Call a function; return its status and its value."""
        own = builder.function.args
        if attrs or isinstance(kind, types.Optional) or len(own) < 2 or own[1].name != "excinfo":
            return super().call_function(builder, callee, kind, kinds, values, attrs)
        place = _variable(builder, self.get_return_type(kind).pointee)
        arguments = self._get_arg_packer(kinds).as_arguments(builder, values)
        code = builder.call(callee, [place, own[1], *arguments])
        is_error = builder.icmp_signed("!=", code, code.type(0))
        status = dict.fromkeys(_Status._fields) | {"code": code, "is_error": is_error}
        return _Status(**status), self.context.get_returned_value(builder, kind, builder.load(place))

    def return_status_propagate(self, builder, status):
        """Fail as the called function has, which has left its exception."""
        if status.excinfoptr is not None:
            super().return_status_propagate(builder, status)
        elif getattr(builder, "tries", False):
            with builder.if_then(builder.not_(self.check_try_status(builder).in_try)):
                builder.ret(status.code)
        else:
            builder.ret(status.code)

    def set_try_status(self, builder):
        """Begin a ``try``, which is before all that it is around."""
        builder.tries = True
        super().set_try_status(builder)


# -- variables -----------------------------------------------------------------------------------------------


def _variable(builder, kind, name=""):
    with builder.goto_entry_block():
        return builder.alloca(kind, name=name)


_numba_makes_room: Any = getattr(_Lower, "alloca", None)


def _alloca(self, name, kind):
    """Make room for a variable."""
    if self.context.enable_nrt:
        return _numba_makes_room(self, name, kind)
    return _variable(self.builder, self.context.get_value_type(kind), name)


_numba_writes: Any = getattr(_Lower, "storevar", None)


def _write(self, value, name, argidx=None):
    """Write a variable."""
    if self.context.enable_nrt or self._disable_sroa_like_opt:
        _numba_writes(self, value, name, argidx)
        return
    self._alloca_var(name, self.typeof(name))
    if name in self._singly_assigned_vars:
        self._blk_local_varmap[name] = value
    else:
        self.builder.store(value, self.getvar(name))


# -- loops ---------------------------------------------------------------------------------------------------


class _Range(types.SimpleIterableType):
    """Type of a range with a step of 1."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(f"range of {dtype}", _Iterator(dtype))


class _Iterator(types.SimpleIteratorType):
    """Type of an iterator over such a range."""

    def __init__(self, dtype):
        super().__init__(f"iterator of {dtype}", dtype)


@register_model(_Range)
class _RangeModel(models.StructModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, [("start", kind.dtype), ("stop", kind.dtype)])


@register_model(_Iterator)
class _IteratorModel(models.StructModel):
    def __init__(self, manager, kind):
        members = ("next", types.CPointer(kind.yield_type)), ("stop", kind.yield_type)
        super().__init__(manager, kind, list(members))


def _two(builder, first, second):
    pair = ir.Constant(ir.LiteralStructType([first.type, second.type]), ir.Undefined)
    return builder.insert_value(builder.insert_value(pair, first, 0), second, 1)


def _type_of_range(typing, *bounds):
    known = typing.resolve_value_type(range).get_call_type(typing, bounds, {})
    return known and known.return_type.dtype


@intrinsic
def _up_to(typing, stop):
    kind = _type_of_range(typing, stop)

    def emit(context, builder, signature, values):
        return _two(builder, values[0].type(0), values[0])

    return kind and (_Range(kind)(kind), emit)


@intrinsic
def _between(typing, start, stop):
    kind = _type_of_range(typing, start, stop)

    def emit(context, builder, signature, values):
        return _two(builder, *values)

    return kind and (_Range(kind)(kind, kind), emit)


@lower_builtin("getiter", _Range)
def _begin(context, builder, signature, values):
    start = builder.extract_value(values[0], 0)
    place = _variable(builder, start.type)
    builder.store(start, place)
    return _two(builder, place, builder.extract_value(values[0], 1))


@lower_builtin("iternext", _Iterator)
def _next(context, builder, signature, values):
    place, stop = (builder.extract_value(values[0], number) for number in range(2))
    kind = signature.args[0].yield_type
    index = builder.load(place)
    compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
    builder.store(builder.add(index, index.type(1), flags=["nsw"] if kind.signed else []), place)
    return _two(builder, index, compare("<", index, stop))


#: Functions of one and of two arguments that take the place of ``range`` in loops.
RANGES = {1: _up_to, 2: _between} if IS_SHORT else {}


# -- in place of Numba's own ---------------------------------------------------------------------------------

#: Classes of Numba, names of what is replaced while a function is compiled, and the replacements.
REPLACED = [
    (_CPUContext, "call_conv", property(_ShortCalls)),
    (_Lower, "alloca", _alloca),
    (_Lower, "storevar", _write),
    (_Context, "pair_first", lambda self, builder, value, kind: builder.extract_value(value, 0)),
    (_Context, "pair_second", lambda self, builder, value, kind: builder.extract_value(value, 1)),
]
if not IS_SHORT:
    REPLACED.clear()
