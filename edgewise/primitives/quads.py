"""Four neighbouring array items at once, 16 bytes aligned: one instruction where the items have 4 bytes.

The Python bodies below are the semantics.
"""

import numpy as np

from edgewise.device.first_use import on_cuda
from edgewise.device.target import device, on_cpu

#: Bytes of a quad of 4-byte items, and of its alignment.
QUAD_BYTES = 16


def are_aligned(*arrays):
    """Whether :func:`load_quad` may read the quads of all arrays; a part of an array may begin anywhere."""
    return all(_address(array) % QUAD_BYTES == 0 for array in arrays)


def _address(array):
    return array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr


@device
def read_four(array, index, aligned):
    """Read four items from ``index`` on, as a quad if the array is ``aligned``, not 0."""
    if aligned != 0:
        return load_quad(array, index)
    return array[index], array[index + 1], array[index + 2], array[index + 3]


@on_cpu
def load_quad(array, index):
    """Read four items from ``index`` on."""
    return array[index], array[index + 1], array[index + 2], array[index + 3]


def store_quad(array, index, first, second, third, fourth):
    """Write four items from ``index`` on."""
    array[index], array[index + 1], array[index + 2], array[index + 3] = first, second, third, fourth


def fetch_quad(shared, position, array, index):
    """Start to copy four items into shared memory; :func:`wait_for_quads` waits for the end."""
    for item in range(4):
        shared[int(position) + item] = array[int(index) + item]


def wait_for_quads():
    """Wait until all copies that the thread has started are complete."""


def _register_on_cuda():
    _register_reads_and_writes()
    _register_copies()


def _register_reads_and_writes():
    from llvmlite import ir
    from numba import types
    from numba.cuda.extending import intrinsic, overload

    from edgewise.device.numba_arrays import element_pointer, pointer_to

    def quad_at(context, builder, *where):
        pointer, kind = element_pointer(context, builder, *where)
        kind = ir.VectorType(kind, 4)
        return builder.bitcast(pointer, pointer_to(kind)), kind

    @intrinsic
    def load(_, array, index):
        def emit(context, builder, signature, arguments):
            pointer, kind = quad_at(context, builder, signature.args[0], *arguments)
            quad = builder.load(pointer, align=16, typ=kind)
            items = [builder.extract_element(quad, ir.IntType(32)(item)) for item in range(4)]
            return context.make_tuple(builder, signature.return_type, items)

        return types.UniTuple(array.dtype, 4)(array, types.uint64), emit

    @intrinsic
    def store(_, array, index, first, second, third, fourth):
        def emit(context, builder, signature, arguments):
            pointer, kind = quad_at(context, builder, signature.args[0], *arguments[:2])
            quad = ir.Constant(kind, ir.Undefined)
            for item, value in enumerate(arguments[2:]):
                quad = builder.insert_element(quad, value, ir.IntType(32)(item))
            builder.store(quad, pointer, align=16)
            return context.get_dummy_value()

        return types.void(array, types.uint64, *[array.dtype] * 4), emit

    @overload(load_quad)
    def load_on_cuda(array, index):
        return lambda array, index: load(array, index)

    @overload(store_quad)
    def store_on_cuda(array, index, first, second, third, fourth):
        return lambda array, index, first, second, third, fourth: store(
            array, index, first, second, third, fourth
        )


def _register_copies():
    from llvmlite import ir
    from numba import types
    from numba.cuda.extending import intrinsic, overload

    from edgewise.device.numba_arrays import element_pointer, pointer_to

    nothing, word, address = ir.VoidType(), ir.IntType(32), ir.IntType(64)

    def assembly(builder, text, constraints, *operands):
        shape = ir.FunctionType(nothing, [operand.type for operand in operands])
        builder.call(ir.InlineAsm(shape, text, constraints, side_effect=True), operands)

    @intrinsic
    def fetch(_, shared, device, array, index):
        def emit(context, builder, signature, arguments):
            to, kind = element_pointer(context, builder, signature.args[0], *arguments[:2])
            to = builder.ptrtoint(builder.addrspacecast(to, pointer_to(kind, 3)), word)
            origin, _ = element_pointer(context, builder, signature.args[2], *arguments[2:])
            origin = builder.ptrtoint(origin, address)
            for byte in range(0, 4 * signature.args[2].dtype.bitwidth // 8, 16):
                text = f"cp.async.cg.shared.global [$0+{byte}], [$1+{byte}], 16;"
                assembly(builder, text, "r,l,~{memory}", to, origin)
            return context.get_dummy_value()

        return types.void(shared, types.uint64, array, types.uint64), emit

    @intrinsic
    def wait(_):
        def emit(context, builder, signature, arguments):
            assembly(builder, "cp.async.wait_all;", "~{memory}")
            return context.get_dummy_value()

        return types.void(), emit

    @overload(fetch_quad)
    def fetch_on_cuda(shared, device, array, index):
        return lambda shared, device, array, index: fetch(shared, device, array, index)

    @overload(wait_for_quads)
    def wait_on_cuda():
        return lambda: wait()


on_cuda(_register_on_cuda)
