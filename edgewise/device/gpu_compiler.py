"""numba-cuda: its names that kernels use, and instructions that it has no names for.

All pages have them from here, so that another compiler with these names would take one page like this.  It is
imported when the first kernel for a GPU is compiled.
"""

from llvmlite import ir
from numba import cuda, types
from numba.cuda.extending import intrinsic, overload, register_jitable

from edgewise.device.numba_arrays import element_pointer, pointer_to
from edgewise.device.numba_internals import compiling_for

__all__ = [
    "compiling_for",
    "cuda",
    "fetch_four",
    "load_four",
    "load_past_l1",
    "overload",
    "register_jitable",
    "store_four",
    "types",
    "wait_for_copies",
]


def _assembly(builder, text, constraints, *operands, kind=None):
    shape = ir.FunctionType(kind or ir.VoidType(), [operand.type for operand in operands])
    return builder.call(ir.InlineAsm(shape, text, constraints, side_effect=True), operands)


@intrinsic
def load_past_l1(_, array, index):
    """Read an element past the first cache, and so see what other multiprocessors have written."""
    kind = array.dtype
    letter = "f" if isinstance(kind, types.Float) else "u"
    register = {"u32": "r", "u64": "l", "f32": "f", "f64": "d"}[f"{letter}{kind.bitwidth}"]

    def emit(context, builder, signature, arguments):
        at = context.cast(builder, arguments[1], signature.args[1], types.intp)
        pointer, held = element_pointer(context, builder, signature.args[0], arguments[0], at)
        text = f"ld.relaxed.gpu.global.{letter}{kind.bitwidth} $0, [$1];"
        return _assembly(builder, text, f"={register},l,~{{memory}}", pointer, kind=held)

    return kind(array, index), emit


def _quad_at(context, builder, *where):
    pointer, kind = element_pointer(context, builder, *where)
    kind = ir.VectorType(kind, 4)
    return builder.bitcast(pointer, pointer_to(kind)), kind


@intrinsic
def load_four(_, array, index):
    """Read four aligned elements."""

    def emit(context, builder, signature, arguments):
        pointer, kind = _quad_at(context, builder, signature.args[0], *arguments)
        quad = builder.load(pointer, align=16, typ=kind)
        items = [builder.extract_element(quad, ir.IntType(32)(item)) for item in range(4)]
        return context.make_tuple(builder, signature.return_type, items)

    return types.UniTuple(array.dtype, 4)(array, types.uint64), emit


@intrinsic
def store_four(_, array, index, first, second, third, fourth):
    """Write four aligned elements."""

    def emit(context, builder, signature, arguments):
        pointer, kind = _quad_at(context, builder, signature.args[0], *arguments[:2])
        quad = ir.Constant(kind, ir.Undefined)
        for item, value in enumerate(arguments[2:]):
            quad = builder.insert_element(quad, value, ir.IntType(32)(item))
        builder.store(quad, pointer, align=16)
        return context.get_dummy_value()

    return types.void(array, types.uint64, *[array.dtype] * 4), emit


@intrinsic
def fetch_four(_, shared, position, array, index):
    """Start to copy four aligned elements into shared memory."""

    def emit(context, builder, signature, arguments):
        to, kind = element_pointer(context, builder, signature.args[0], *arguments[:2])
        to = builder.ptrtoint(builder.addrspacecast(to, pointer_to(kind, 3)), ir.IntType(32))
        origin, _ = element_pointer(context, builder, signature.args[2], *arguments[2:])
        origin = builder.ptrtoint(origin, ir.IntType(64))
        for byte in range(0, 4 * signature.args[2].dtype.bitwidth // 8, 16):
            text = f"cp.async.cg.shared.global [$0+{byte}], [$1+{byte}], 16;"
            _assembly(builder, text, "r,l,~{memory}", to, origin)
        return context.get_dummy_value()

    return types.void(shared, types.uint64, array, types.uint64), emit


@intrinsic
def wait_for_copies(_):
    """Wait for all copies that the thread has started."""

    def emit(context, builder, signature, arguments):
        _assembly(builder, "cp.async.wait_all;", "~{memory}")
        return context.get_dummy_value()

    return types.void(), emit
