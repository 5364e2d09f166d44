"""numba-cuda-mlir: the names that kernels use, corrections of it, and instructions that it has no names for.

Release 0.6.0 compiles some operations to other results without an error: 64-bit values lose their upper half
in shuffles; ``min``, ``max`` and the atomic ones compare unsigned integers as signed ones; an unsigned index
of 32 bits is extended by its sign.  It has no lowering for fences, the mask of lower lanes, and records that
are made in a kernel.  ``bench/notes/numba-cuda-mlir.md`` has an example of each.

A lowering ``lower(builder, target, arguments, _)`` computes the value of the variable ``target``.
"""

import builtins
import operator
from contextlib import contextmanager
from functools import cache, partial

from numba_cuda_mlir import cuda, extending, tools, types
from numba_cuda_mlir._mlir import ir
from numba_cuda_mlir._mlir.dialects import arith, llvm, nvvm
from numba_cuda_mlir._mlir.extras import types as mlir
from numba_cuda_mlir.extending import intrinsic, lower_builtin
from numba_cuda_mlir.lowering_utilities import constant, convert, memref_to_llvm_ptr
from numba_cuda_mlir.numba_cuda.np.numpy_support import from_dtype

__all__ = [
    "compiling_for",
    "cuda",
    "fetch_four",
    "from_dtype",
    "load_four",
    "load_past_l1",
    "overload",
    "register_jitable",
    "store_four",
    "types",
    "wait_for_copies",
]
#: Records made in kernels belong to these packages.
PACKAGES = ("edgewise", "tests", "examples")
MEMORY, RELAXED = "~{memory}", llvm.AtomicOrdering.monotonic

overload = partial(extending.overload, typing_registry=extending.typing_registry)
register_jitable = partial(extending.register_jitable, typing_registry=extending.typing_registry)


@contextmanager
def compiling_for(capability):
    """Compile for ``capability`` without a GPU, of which the compiler asks this in any case."""
    _register_records()
    before, tools._cached_cc = tools._cached_cc, tuple(capability)
    try:
        yield
    finally:
        tools._cached_cc = before


# -- parts of lowerings --------------------------------------------------------------------------------------


def _value(builder, variable, kind):
    """The value of a variable as MLIR's type ``kind``, with or without a sign as its own type has one."""
    signed = getattr(builder.get_numba_type(variable.name), "signed", True)
    return convert(builder.load_var(variable), kind, signed=signed)


def _element(builder, array, index):
    """Address of an element, MLIR's type of what is stored there, and the type of the element."""
    kind = builder.get_numba_type(array.name).dtype
    stored = builder.get_storage_type(kind)
    index = _value(builder, index, mlir.i64())
    return memref_to_llvm_ptr(builder.load_var(array), [index], stored), stored, kind


def _instruction(text, kind=None, constraints=MEMORY, operands=()):
    return llvm.inline_asm(kind, list(operands), text, constraints, has_side_effects=MEMORY in constraints)


# -- corrections ---------------------------------------------------------------------------------------------


def _choice(name):
    def lower(builder, target, arguments, _):
        kind = builder.get_numba_type(target.name)
        values = (_value(builder, one, builder.get_mlir_type(kind)) for one in arguments)
        builder.store_var(target, getattr(arith, f"{name}{'si' if kind.signed else 'ui'}")(*values))

    return lower


def _atomic(signed, unsigned):
    def lower(builder, target, arguments, _):
        address, stored, kind = _element(builder, *arguments[:2])
        operation = signed if kind.signed else unsigned
        value = _value(builder, arguments[2], stored)
        builder.store_var(target, llvm.atomicrmw(operation, address, value, RELAXED))

    return lower


def _compare_and_swap(builder, target, arguments, _):
    address, stored, _ = _element(builder, *arguments[:2])
    values = (_value(builder, one, stored) for one in arguments[2:])
    pair = llvm.cmpxchg(address, *values, RELAXED, RELAXED)
    builder.store_var(target, llvm.extractvalue(stored, pair, [0]))


def _shuffle(how):
    """Both halves of a 64-bit value."""
    last_lane = 0 if how == nvvm.ShflKind.up else 31

    def lower(builder, target, arguments, _):
        mask, value, lane = map(builder.load_var, arguments)
        mask, lane = convert(mask, mlir.i32()), convert(lane, mlir.i32())
        last = constant(last_lane, mlir.i32())
        kind, half = value.type, constant(32, mlir.i64())
        value = arith.bitcast(mlir.i64(), value)
        low, high = (
            arith.extui(mlir.i64(), nvvm.shfl_sync(mask, arith.trunci(mlir.i32(), part), lane, last, how))
            for part in (value, arith.shrui(value, half))
        )
        builder.store_var(target, arith.bitcast(kind, arith.ori(low, arith.shli(high, half))))

    return lower


def _get(builder, target, arguments, _):
    address, stored, kind = _element(builder, *arguments)
    builder.store_var(target, builder.from_storage(kind, llvm.load(stored, address)))


def _set(builder, _, arguments, __):
    array, index, value = arguments
    address, _, kind = _element(builder, array, index)
    value = _value(builder, value, builder.get_mlir_type(kind))
    llvm.store(builder.as_storage(kind, value), address)


def _fence(builder, target, arguments, _):
    builder.store_var(target, _instruction("fence.acq_rel.gpu;"))


def _lower_lanes(builder, target, arguments, _):
    builder.store_var(target, _instruction("mov.u32 $0, %lanemask_lt;", mlir.i32(), "=r"))


def _record(builder, target, arguments, _):
    fields = builder.get_numba_type(target.name).types
    builder.store_var(target, tuple(_field(builder, *one) for one in zip(arguments, fields, strict=True)))


def _field(builder, variable, kind):
    if builder.get_numba_type(variable.name) == kind:
        return builder.load_var(variable)
    return _value(builder, variable, builder.get_mlir_type(kind))


def _register():
    operations = llvm.AtomicBinOp
    lower_builtin(builtins.min, types.Integer, types.Integer)(_choice("min"))
    lower_builtin(builtins.max, types.Integer, types.Integer)(_choice("max"))
    for function, signed, unsigned in (
        (cuda.atomic.min, operations.min, operations.umin),
        (cuda.atomic.max, operations.max, operations.umax),
        (cuda.atomic.add, operations.add, operations.add),
        (cuda.atomic.or_, operations._or, operations._or),
        (cuda.atomic.exch, operations.xchg, operations.xchg),
    ):
        lower_builtin(function, types.Array, types.Integer, types.Integer)(_atomic(signed, unsigned))
    of_integers = types.Array, types.Integer, types.Integer, types.Integer
    lower_builtin(cuda.atomic.cas, *of_integers)(_compare_and_swap)
    for name, how in (("", "idx"), ("up_", "up"), ("xor_", "bfly")):
        for kind in (types.int64, types.uint64, types.float64):
            function = getattr(cuda, f"shfl_{name}sync")
            lower_builtin(function, types.Integer, kind, types.Integer)(_shuffle(nvvm.ShflKind[how]))
    for kind in (types.uint8, types.uint16, types.uint32):
        lower_builtin(operator.getitem, types.Array, kind)(_get)
        lower_builtin(operator.setitem, types.Array, kind, types.Number)(_set)
    lower_builtin(cuda.threadfence)(_fence)
    lower_builtin(cuda.lanemask_lt)(_lower_lanes)
    extending.refresh_registries()


@cache
def _register_record(kind):
    lower_builtin(kind, types.VarArg(types.Any))(_record)


def _register_records():
    kinds = [tuple]
    for kind in kinds:
        kinds += kind.__subclasses__()
        if hasattr(kind, "_fields") and kind.__module__.startswith(PACKAGES):
            _register_record(kind)
    extending.refresh_registries()


_register()

# -- instructions --------------------------------------------------------------------------------------------


@intrinsic
def load_past_l1(_, array, index):
    """Read an element past the first cache, and so see what other multiprocessors have written."""
    letter = "f" if isinstance(array.dtype, types.Float) else "u"
    register = {"u32": "r", "u64": "l", "f32": "f", "f64": "d"}[f"{letter}{array.dtype.bitwidth}"]

    def lower(builder, target, arguments, _):
        address, stored, kind = _element(builder, *arguments)
        text = f"ld.relaxed.gpu.global.{letter}{kind.bitwidth} $0, [$1];"
        builder.store_var(target, _instruction(text, stored, f"={register},l,{MEMORY}", [address]))

    return array.dtype(array, index), lower


@intrinsic
def load_four(_, array, index):
    """Read four aligned elements."""

    def lower(builder, target, arguments, _):
        address, stored, _ = _element(builder, *arguments)
        four = llvm.load(ir.VectorType.get([4], stored), address, alignment=16)
        builder.store_var(target, tuple(llvm.extractelement(four, constant(i, mlir.i32())) for i in range(4)))

    return types.UniTuple(array.dtype, 4)(array, index), lower


@intrinsic
def store_four(_, array, index, first, second, third, fourth):
    """Write four aligned elements."""

    def lower(builder, target, arguments, _):
        address, stored, _ = _element(builder, *arguments[:2])
        four = llvm.mlir_undef(ir.VectorType.get([4], stored))
        for i, one in enumerate(arguments[2:]):
            four = llvm.insertelement(four, _value(builder, one, stored), constant(i, mlir.i32()))
        llvm.store(four, address, alignment=16)
        builder.store_var(target, None)

    return types.none(array, index, *[array.dtype] * 4), lower


@intrinsic
def fetch_four(_, shared, position, array, index):
    """Start to copy four aligned elements into shared memory."""

    def lower(builder, target, arguments, _):
        to, _, kind = _element(builder, *arguments[:2])
        to = llvm.ptrtoint(mlir.i32(), llvm.addrspacecast(llvm.PointerType.get(3), to))
        origin, _, _ = _element(builder, *arguments[2:])
        for byte in range(0, 4 * kind.bitwidth // 8, 16):
            text = f"cp.async.cg.shared.global [$0+{byte}], [$1+{byte}], 16;"
            _instruction(text, constraints=f"r,l,{MEMORY}", operands=[to, origin])
        builder.store_var(target, None)

    return types.none(shared, position, array, index), lower


@intrinsic
def wait_for_copies(_):
    """Wait for all copies that the thread has started."""

    def lower(builder, target, arguments, _):
        _instruction("cp.async.wait_all;")
        builder.store_var(target, None)

    return types.none(), lower
