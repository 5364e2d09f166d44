"""The switches of :mod:`~edgewise.device.fibers` as machine code, for the CPU compiler.

A switch pushes the registers that a call must preserve, exchanges the stack pointer, and pops the registers
of the other side.  The stack of a new fiber is prepared as if it had been left where its function begins.
"""

from llvmlite import binding, ir
from numba import types
from numba.extending import intrinsic

from edgewise.device.fibers import ENDED, FUNCTION, HOME, ID, MEMORY, STACK, WAITS, park, resume, start
from edgewise.device.numba_arrays import element_pointer, pointer_to
from edgewise.device.numba_entries import entry_type
from edgewise.device.target import overload_on_cpu

#: Pushed by a switch: six registers, and the address at which to go on.
FRAME = 7

#: ``switch(store_stack_pointer_at, new_stack_pointer, argument_of_a_new_fiber)`` for x86-64, System V.
SWITCH = """
pushq %rbp
pushq %rbx
pushq %r12
pushq %r13
pushq %r14
pushq %r15
movq %rsp, (%rdi)
movq %rsi, %rsp
movq %rdx, %rdi
popq %r15
popq %r14
popq %r13
popq %r12
popq %rbx
popq %rbp
"""
WORD, NOTHING = ir.IntType(64), ir.VoidType()


def _new_function(module, name, parameters, *attributes):
    function = ir.Function(module, ir.FunctionType(NOTHING, [WORD] * parameters), name)
    function.linkage = "linkonce_odr"
    for attribute in ("noinline", *attributes):
        function.attributes.add(attribute)
    return function, ir.IRBuilder(function.append_basic_block())


def _switch(module):
    """The function that switches, in a module."""
    if found := module.globals.get("edgewise.switch"):
        return found
    function, builder = _new_function(module, "edgewise.switch", 3, "naked")
    builder.asm(ir.FunctionType(NOTHING, []), SWITCH, "~{memory}", [], side_effect=True)
    builder.ret_void()
    return function


def _main(module):
    """What a new fiber does, in a module: the call, and the last switch."""
    if found := module.globals.get("edgewise.fiber"):
        return found
    function, builder = _new_function(module, "edgewise.fiber", 1)
    (fiber,) = function.args
    called = builder.inttoptr(_read(builder, fiber, FUNCTION), pointer_to(entry_type))
    builder.call(called, [_read(builder, fiber, ID), _read(builder, fiber, MEMORY)])
    builder.store(WORD(ENDED), _at(builder, fiber, WAITS))
    _leave(builder, fiber)
    builder.unreachable()
    return function


def _at(builder, fiber, position):
    return builder.inttoptr(builder.add(fiber, WORD(8 * position)), pointer_to(WORD))


def _read(builder, fiber, position):
    return builder.load(_at(builder, fiber, position), typ=WORD)


def _enter(builder, fiber):
    stack, home = _read(builder, fiber, STACK), builder.add(fiber, WORD(8 * HOME))
    builder.call(_switch(builder.module), [home, stack, fiber])


def _leave(builder, fiber):
    home, stack = _read(builder, fiber, HOME), builder.add(fiber, WORD(8 * STACK))
    builder.call(_switch(builder.module), [stack, home, WORD(0)])


def _address(context, builder, signature, values):
    pointer, _ = element_pointer(context, builder, signature.args[0], *values[:2])
    return builder.ptrtoint(pointer, WORD)


@intrinsic
def _start(_, state, block, top):
    def emit(context, builder, signature, values):
        fiber = _address(context, builder, signature, values)
        stack = builder.sub(values[2], WORD(8 * (FRAME + 1)))  # 8 bytes beside a multiple of 16 in the callee
        main = builder.ptrtoint(_main(builder.module), WORD)
        builder.store(main, _at(builder, stack, FRAME - 1))
        builder.store(stack, _at(builder, fiber, STACK))
        _enter(builder, fiber)
        return context.get_dummy_value()

    return types.void(state, types.int64, types.int64), emit


def _intrinsic(switch):
    @intrinsic
    def call(_, state, block):
        def emit(context, builder, signature, values):
            switch(builder, _address(context, builder, signature, values))
            return context.get_dummy_value()

        return types.void(state, types.int64), emit

    return call


_resume, _park = _intrinsic(_enter), _intrinsic(_leave)


def overload_switches():
    """Let compiled functions start, resume and park fibers."""
    binding.initialize_native_asmparser()
    overload_on_cpu(start)(lambda state, block, top: lambda state, block, top: _start(state, block, top))
    overload_on_cpu(resume)(lambda state, block: lambda state, block: _resume(state, block))
    overload_on_cpu(park)(lambda state, block: lambda state, block: _park(state, block))
