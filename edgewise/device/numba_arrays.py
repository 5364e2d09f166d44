"""Arrays of compiled functions for the CPU: an address and a length.

Numba passes an array as seven words: two for counting references, the number of items and the size of one,
the address, the shape and the strides.  A record of ten arrays is seventy values, which LLVM stores, loads
and copies at every call of a device function, and which a function that Python calls takes from each array
with several tests.  Kernels own no array, so a contiguous one-dimensional array is two words here, which
takes a quarter less to compile.  They index, slice and iterate over it, ask for its length, and pass it on;
Numba refuses to compile whatever else is done with one.
"""

import ctypes
import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import RefType, iternext_impl
from numba.cpython import slicing
from numba.extending import (
    NativeValue,
    lower_builtin,
    lower_getattr,
    models,
    register_model,
    unbox,
)

from edgewise.device.first_use import PUBLIC_ONLY

# -- pointers ------------------------------------------------------------------------------------------------

#: Whether llvmlite distinguishes types of pointers.
TYPED_POINTERS = hasattr(ir.PointerType(), "is_opaque") and not PUBLIC_ONLY


def pointer_to(kind, address_space=0):
    """LLVM's type of pointers to ``kind``: a typed one where they are distinguished."""
    return ir.PointerType(kind, address_space) if TYPED_POINTERS else ir.PointerType(addrspace=address_space)


def element_pointer(context, builder, array_type, array, index):
    """Address of one element of a contiguous array, and LLVM's type of the element."""
    kind = context.get_data_type(array_type.dtype)
    data = builder.extract_value(array, context.data_model_manager[array_type].get_field_position("data"))
    return builder.gep(data, [index], source_etype=kind), kind


# -- types ---------------------------------------------------------------------------------------------------


class Contiguous(types.Array):
    """Type of a one-dimensional contiguous array."""

    def __init__(self, dtype):
        super().__init__(dtype, 1, "C")

    @property
    def key(self):
        """What tells two of these types apart."""
        return self.dtype

    def copy(self, dtype=None, ndim=1, layout="C", readonly=False):
        """The type of a part of such an array."""
        if (ndim or 1) != 1 or (layout or "C") != "C":
            return super().copy(dtype, ndim, layout, readonly)
        return Contiguous(dtype or self.dtype)

    @property
    def iterator_type(self):
        """The type of an iterator."""
        return _Iterator(self)

    def unify(self, typingctx, other):
        """A variable holds arrays of one type."""
        return self if self == other else None

    def can_convert_to(self, typingctx, other):
        """There is nothing to convert to."""
        return None


class _Iterator(types.ArrayIterator):
    """Type of an iterator over such an array."""


def contiguous(kind):
    """The type of compiled functions for Numba's type of an array, in tuples as well.

    Read-only arrays, as those of results are, have the type of others: no kernel writes to an argument that
    its caller did not make for it, so a second compilation would give the same code.
    """
    if isinstance(kind, types.Array):
        is_plain = kind.aligned and isinstance(kind.dtype, types.Number | types.Boolean)
        if is_plain and kind.ndim == 1 and kind.layout == "C":
            return Contiguous(kind.dtype)
        return kind if kind.mutable else kind.copy(readonly=False)
    if isinstance(kind, types.BaseTuple):
        return types.BaseTuple.from_types(
            [contiguous(one) for one in kind], getattr(kind, "instance_class", None)
        )
    return kind


def _holds_arrays(kind):
    """Whether a type is that of such an array, or of a tuple with one, as functions of this package have."""
    return isinstance(kind, Contiguous) or (
        isinstance(kind, types.BaseTuple) and any(map(_holds_arrays, kind))
    )


def _as_it_is(builder, value):
    return value


def _passed_whole(model):
    """``model`` of a type, which is one value for LLVM in calls as well if it holds such arrays.

    Numba passes every field by itself, and so puts a record together at every beginning of a function.
    """

    class Whole(model):  # type: ignore[misc, valid-type]
        def __init__(self, manager, kind):
            super().__init__(manager, kind)
            if _holds_arrays(kind):
                self.get_argument_type = self.get_return_type = self.get_value_type
                self.as_argument = self.from_argument = self.as_return = self.from_return = _as_it_is

    return Whole


for _kind in types.Tuple, types.NamedTuple:
    register_model(_kind)(_passed_whole(models.TupleModel))
for _kind in types.UniTuple, types.NamedUniTuple:
    register_model(_kind)(_passed_whole(models.UniTupleModel))


@register_model(Contiguous)
@_passed_whole
class _Model(models.StructModel):
    def __init__(self, manager, kind):
        members = ("data", types.CPointer(kind.dtype)), ("shape", types.UniTuple(types.intp, 1))
        super().__init__(manager, kind, list(members))


register_model(_Iterator)(models.ArrayIterator)

# -- arguments -----------------------------------------------------------------------------------------------

_word = ir.IntType(64)
#: Words of the struct of a NumPy array before its address, and before the address of its shape.
_DATA, _SHAPE = object.__basicsize__ // 8, object.__basicsize__ // 8 + 2


def _struct_is_known():
    """Whether the address and the length of an array are where :func:`_unbox` reads them."""
    array = np.zeros(3, np.int8)
    words = ctypes.cast(id(array), ctypes.POINTER(ctypes.c_int64))
    return words[_DATA] == array.ctypes.data and ctypes.c_int64.from_address(words[_SHAPE]).value == 3


#: Whether the struct of an array, a part of NumPy's binary interface, is read.
READS_STRUCT = not PUBLIC_ONLY and np.ndarray.__basicsize__ > 8 * _SHAPE and _struct_is_known()


@unbox(Contiguous)
def _unbox(kind, value, c):
    """Read the address and the length of an array."""
    if READS_STRUCT:
        words = c.builder.bitcast(value, pointer_to(_word))
        return NativeValue(read_array(c.context, c.builder, kind, words))
    array = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    plain = types.Array(kind.dtype, 1, "C")
    given = cgutils.create_struct_proxy(plain)(c.context, c.builder, value=c.unbox(plain, value).value)
    array.data, array.shape = given.data, given.shape
    return NativeValue(array._getvalue())


def read_array(context, builder, kind, words):
    """An array, given by a pointer to its struct in NumPy."""

    def word(pointer, number):
        return builder.load(builder.gep(pointer, [_word(number)], source_etype=_word), typ=_word)

    def read(number):
        pointer = builder.inttoptr(word(words, number), pointer_to(_word))
        return [word(pointer, axis) for axis in range(kind.ndim)]

    array = context.make_array(kind)(context, builder)
    data, shape = builder.inttoptr(word(words, _DATA), array.data.type), read(_SHAPE)
    if isinstance(kind, Contiguous):
        array.data, array.shape = data, cgutils.pack_array(builder, shape)
    else:
        from numba.np.arrayobj import populate_array

        size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        populate_array(array, data, shape, read(_SHAPE + 1), _word(size), None)
    return array._getvalue()


# -- operations ----------------------------------------------------------------------------------------------


def _length(builder, array):
    return builder.extract_value(array, [1, 0])


def _position(context, builder, kind, index, array):
    """An index that counts from the beginning."""
    if not kind.signed:
        return context.cast(builder, index, kind, types.uintp)
    index = context.cast(builder, index, kind, types.intp)
    if isinstance(index, ir.Constant) and index.constant >= 0:
        return index
    from_end = builder.add(index, _length(builder, array))
    return builder.select(builder.icmp_signed("<", index, index.type(0)), from_end, index)


def _load(context, builder, kind, array, position):
    pointer, _ = element_pointer(context, builder, kind, array, position)
    return context.unpack_value(builder, kind.dtype, pointer)


@lower_builtin(operator.getitem, Contiguous, types.Integer)
def _get(context, builder, signature, values):
    array, index = values
    position = _position(context, builder, signature.args[1], index, array)
    return _load(context, builder, signature.args[0], array, position)


@lower_builtin(operator.setitem, Contiguous, types.Integer, types.Any)
def _set(context, builder, signature, values):
    kind, index_kind, value_kind = signature.args
    array, index, value = values
    value = context.cast(builder, value, value_kind, kind.dtype)
    position = _position(context, builder, index_kind, index, array)
    pointer, _ = element_pointer(context, builder, kind, array, position)
    context.pack_value(builder, kind.dtype, value, pointer)
    return context.get_dummy_value()


@lower_builtin(len, Contiguous)
def _len(context, builder, signature, values):
    return _length(builder, values[0])


@lower_getattr(Contiguous, "size")
def _size(context, builder, kind, value):
    return _length(builder, value)


@lower_getattr(Contiguous, "itemsize")
def _item_size(context, builder, kind, value):
    return context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))


@lower_getattr(Contiguous, "ctypes")
def _ctypes(context, builder, kind, value):
    found = context.make_helper(builder, types.ArrayCTypes(kind))
    found.data = builder.extract_value(value, 0)
    return found._getvalue()


@lower_builtin(operator.getitem, Contiguous, types.SliceType)
def _slice(context, builder, signature, values):
    kind, slice_kind = signature.args
    span = context.make_helper(builder, slice_kind, value=values[1])
    slicing.fix_slice(builder, span, _length(builder, values[0]))
    array = cgutils.create_struct_proxy(kind)(context, builder)
    array.data, _ = element_pointer(context, builder, kind, values[0], span.start)
    array.shape = cgutils.pack_array(builder, [slicing.get_slice_length(builder, span)])
    return array._getvalue()


@lower_builtin(operator.setitem, Contiguous, types.SliceType, types.Any)
def _set_slice(context, builder, signature, values):
    """As Numba does for its own arrays, to which these are converted."""
    kinds, given = zip(*(_plain(context, builder, *one) for one in zip(signature.args, values)))
    setitem = context.typing_context.resolve_value_type(operator.setitem)
    own = setitem.get_call_type(context.typing_context, kinds, {})
    return context.get_function(setitem, own)(builder, given)


def _plain(context, builder, kind, value):
    if not isinstance(kind, Contiguous):
        return kind, value
    plain = types.Array(kind.dtype, 1, "C")
    array = cgutils.create_struct_proxy(plain)(context, builder)
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    array.data, array.shape = builder.extract_value(value, 0), builder.extract_value(value, 1)
    array.strides, array.itemsize = cgutils.pack_array(builder, [size]), size
    array.nitems = _length(builder, value)
    return plain, array._getvalue()


@lower_builtin("iternext", _Iterator)
@iternext_impl(RefType.UNTRACKED)
def _next(context, builder, signature, values, result):
    (kind,) = signature.args
    iterator = context.make_helper(builder, kind, value=values[0])
    index = builder.load(iterator.index)
    is_valid = builder.icmp_unsigned("<", index, _length(builder, iterator.array))
    result.set_valid(is_valid)
    with builder.if_then(is_valid):
        result.yield_(_load(context, builder, kind.array_type, iterator.array, index))
        builder.store(builder.add(index, index.type(1)), iterator.index)
