"""Four neighbouring array items at once, 16 bytes aligned: one instruction on a GPU where the items have 4 bytes.

The Python bodies below are the semantics; the simulator runs them as they stand.
"""

from edgewise.device.target import SIMULATED, on_cuda


def load_quad(array, index):
    """Read four items from ``index`` on."""
    return array[index], array[index + 1], array[index + 2], array[index + 3]


def store_quad(array, index, first, second, third, fourth):
    """Write four items from ``index`` on."""
    array[index], array[index + 1], array[index + 2], array[index + 3] = first, second, third, fourth


def fetch_quad(shared, place, array, index):
    """Let four items be copied into shared memory while the thread goes on; see :func:`wait_for_quads`."""
    for item in range(4):
        shared[int(place) + item] = array[int(index) + item]


def wait_for_quads():
    """Wait until all that the thread has asked :func:`fetch_quad` for is there."""


def _register_on_cuda():
    if SIMULATED:
        return
    from llvmlite import ir
    from numba import types
    from numba.cuda.extending import intrinsic, overload
    from numba.cuda.np.arrayobj import make_array

    def pointer_to(context, builder, kind, array, index, wide):
        data = make_array(kind)(context, builder, array).data
        pointer = builder.gep(data, [index])
        return builder.bitcast(pointer, ir.VectorType(data.type.pointee, 4).as_pointer()) if wide else pointer

    @intrinsic
    def load(_, array, index):
        def emit(context, builder, signature, arguments):
            quad = builder.load(pointer_to(context, builder, signature.args[0], *arguments, True), align=16)
            items = [builder.extract_element(quad, ir.IntType(32)(item)) for item in range(4)]
            return context.make_tuple(builder, signature.return_type, items)

        return types.UniTuple(array.dtype, 4)(array, types.uint64), emit

    @intrinsic
    def store(_, array, index, first, second, third, fourth):
        def emit(context, builder, signature, arguments):
            pointer = pointer_to(context, builder, signature.args[0], *arguments[:2], True)
            quad = ir.Constant(pointer.type.pointee, ir.Undefined)
            for item, value in enumerate(arguments[2:]):
                quad = builder.insert_element(quad, value, ir.IntType(32)(item))
            builder.store(quad, pointer, align=16)
            return context.get_dummy_value()

        return types.void(array, types.uint64, *[array.dtype] * 4), emit

    @intrinsic
    def fetch(_, shared, place, array, index):
        def emit(context, builder, signature, arguments):
            to = pointer_to(context, builder, signature.args[0], *arguments[:2], False)
            to = builder.addrspacecast(to, ir.PointerType(to.type.pointee, 3))
            to = builder.ptrtoint(to, ir.IntType(32))
            origin = pointer_to(context, builder, signature.args[2], *arguments[2:], False)
            origin = builder.ptrtoint(origin, ir.IntType(64))
            copy = ir.FunctionType(ir.VoidType(), [ir.IntType(32), ir.IntType(64)])
            for byte in range(0, 4 * signature.args[2].dtype.bitwidth // 8, 16):
                builder.call(
                    ir.InlineAsm(
                        copy,
                        f"cp.async.cg.shared.global [$0+{byte}], [$1+{byte}], 16;",
                        "r,l,~{memory}",
                        side_effect=True,
                    ),
                    [to, origin],
                )
            return context.get_dummy_value()

        return types.void(shared, types.uint64, array, types.uint64), emit

    @intrinsic
    def wait(_):
        def emit(context, builder, signature, arguments):
            nothing = ir.FunctionType(ir.VoidType(), [])
            builder.call(ir.InlineAsm(nothing, "cp.async.wait_all;", "~{memory}", side_effect=True), [])
            return context.get_dummy_value()

        return types.void(), emit

    overload(load_quad)(lambda array, index: lambda array, index: load(array, index))
    overload(store_quad)(
        lambda array, index, first, second, third, fourth: (
            lambda array, index, first, second, third, fourth: store(array, index, first, second, third, fourth)
        )
    )
    overload(fetch_quad)(
        lambda shared, place, array, index: lambda shared, place, array, index: fetch(shared, place, array, index)
    )
    overload(wait_for_quads)(lambda: lambda: wait())


on_cuda(_register_on_cuda)
