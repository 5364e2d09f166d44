"""Fibers for compiled functions: calls with a stack of their own, which any thread can continue.

A thread runs a fiber until it ends or parks.  A parked fiber is continued by whichever thread comes first, so
nobody waits for a thread that the system does not run.  Threads switch to and from a fiber as other libraries
of fibers do: the registers that a call must preserve are pushed, and the stack pointer is exchanged.

A fiber is a block of words of an int64 array, ``state``, from a given word on.
"""

import platform
import sys
from functools import cache as memoize

from edgewise.device.first_use import on_cpu_compiler
from edgewise.device.target import INTERPRETED, cpu_compiler, overload_on_cpu

#: Words of a fiber: whether it can be run; its stack pointer and that of the thread that runs it; for which
#: phase it waits; and its function with the two numbers that it is called with.
STATUS, STACK, HOME, WAITS, FUNCTION, ID, MEMORY = range(7)
#: The value of WAITS of a fiber that has ended.
ENDED = -1
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


@memoize
def are_possible() -> bool:
    """Whether there are fibers here: on Linux, for x86-64, with the private names of Numba that they take."""
    if INTERPRETED or sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    internals = cpu_compiler()
    return internals.HAS_ENTRIES and internals.HAS_EXTERNALS


def start(state, block, top):
    """Run a new fiber, whose stack ends at address ``top``, until it parks or ends."""


def resume(state, block):
    """Continue a parked fiber until it parks again or ends."""


def park(state, block):
    """Leave the fiber that this is; the thread goes on after its :func:`resume`."""


def _register():
    from llvmlite import binding, ir
    from numba import types
    from numba.extending import intrinsic

    from edgewise.device.numba_internals import element_pointer, entry_type, pointer_to

    binding.initialize_native_asmparser()
    word, nothing = ir.IntType(64), ir.VoidType()
    shape = ir.FunctionType(nothing, [word] * 3)

    def new_function(module, name, kind, *attributes):
        function = ir.Function(module, kind, name)
        function.linkage = "linkonce_odr"
        for attribute in ("noinline", *attributes):
            function.attributes.add(attribute)
        return function, ir.IRBuilder(function.append_basic_block())

    def switch_of(module):
        if found := module.globals.get("edgewise.switch"):
            return found
        function, builder = new_function(module, "edgewise.switch", shape, "naked")
        builder.asm(ir.FunctionType(nothing, []), SWITCH, "~{memory}", [], side_effect=True)
        builder.ret_void()
        return function

    def at(builder, fiber, position, kind=word):
        return builder.inttoptr(builder.add(fiber, word(8 * position)), pointer_to(kind))

    def read(builder, fiber, position):
        return builder.load(at(builder, fiber, position), typ=word)

    def main_of(module):
        """What a new fiber does: the call, and the last switch."""
        if found := module.globals.get("edgewise.fiber"):
            return found
        function, builder = new_function(module, "edgewise.fiber", ir.FunctionType(nothing, [word]))
        (fiber,) = function.args
        called = builder.inttoptr(read(builder, fiber, FUNCTION), pointer_to(entry_type))
        builder.call(called, [read(builder, fiber, ID), read(builder, fiber, MEMORY)])
        builder.store(word(ENDED), at(builder, fiber, WAITS))
        leave(builder, fiber)
        builder.unreachable()
        return function

    def enter(builder, fiber):
        stack = read(builder, fiber, STACK)
        builder.call(switch_of(builder.module), [builder.add(fiber, word(8 * HOME)), stack, fiber])

    def leave(builder, fiber):
        stack = read(builder, fiber, HOME)
        builder.call(switch_of(builder.module), [builder.add(fiber, word(8 * STACK)), stack, word(0)])

    def address(context, builder, signature, values):
        pointer, _ = element_pointer(context, builder, signature.args[0], *values[:2])
        return builder.ptrtoint(pointer, word)

    @intrinsic
    def enter_new(_, state, block, top):
        def emit(context, builder, signature, values):
            fiber = address(context, builder, signature, values)
            stack = builder.sub(values[2], word(8 * (FRAME + 1)))  # the callee finds it aligned to 8 of 16
            main = builder.ptrtoint(main_of(builder.module), word)
            builder.store(main, at(builder, stack, FRAME - 1))
            builder.store(stack, at(builder, fiber, STACK))
            enter(builder, fiber)
            return context.get_dummy_value()

        return types.void(state, types.int64, types.int64), emit

    @intrinsic
    def enter_again(_, state, block):
        def emit(context, builder, signature, values):
            enter(builder, address(context, builder, signature, values))
            return context.get_dummy_value()

        return types.void(state, types.int64), emit

    @intrinsic
    def leave_now(_, state, block):
        def emit(context, builder, signature, values):
            leave(builder, address(context, builder, signature, values))
            return context.get_dummy_value()

        return types.void(state, types.int64), emit

    overload_on_cpu(start)(lambda state, block, top: lambda state, block, top: enter_new(state, block, top))
    overload_on_cpu(resume)(lambda state, block: lambda state, block: enter_again(state, block))
    overload_on_cpu(park)(lambda state, block: lambda state, block: leave_now(state, block))


on_cpu_compiler(_register)
