"""Functions of several workers, which are called by their addresses.

What Numba makes for Python, a function that takes each argument from a Python object, is a third of what LLVM
compiles for a loop with one line.  Workers have an *entry* instead, a function of a worker's id and of the
address of a memory, in which Python has written the arguments (:class:`Entries`): numbers, and the addresses
of arrays' structs, from which the entry reads where their items are.  So a call with several workers writes
them once.

The names are Numba's own, as on :mod:`~edgewise.device.numba_internals`; where one is missing, every worker
calls the function as Python calls any other.
"""

import ctypes
import struct
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.errors import LoweringError
from numba.extending import intrinsic

from edgewise.device.first_use import private
from edgewise.device.interrupts import interrupts_kept
from edgewise.device.numba_arrays import READS_STRUCT, TYPED_POINTERS, contiguous, pointer_to, read_array
from edgewise.errors import DeviceError
from edgewise.garbage_collection import collection_paused

#: Words of the memory of a call: the status of a worker that failed, its exception, the address of an int32
#: that is then set to 1, room for such an int32, and the arguments.
FAILED, EXCEPTION, FLAG, OWN_FLAG, ARGUMENTS, WORDS = 0, 1, 2, 3, 4, 1024
#: Numbers and arrays of all arguments together.
MOST = WORDS - ARGUMENTS

_Status, _excinfo_pointer, _USER_EXCEPTION = private(
    "numba.core.callconv", "Status", "excinfo_ptr_t", "RETCODE_USEREXC"
)
(fingerprint,) = private("numba._dispatcher", "compute_fingerprint")
#: Whether all these names are there.
CAN_ENTER = TYPED_POINTERS and READS_STRUCT
CAN_ENTER &= None not in (_Status, _excinfo_pointer, _USER_EXCEPTION, fingerprint)
_word = ir.IntType(64)
#: The end of the names of entries, and their type: functions of a worker's id and of the address of a memory.
ENTRY = ".entry"
entry_type = ir.FunctionType(ir.VoidType(), [_word, _word])


class TooManyArguments(LoweringError):
    """The arguments do not fit into the memory of a call."""

    def __init__(self, number):
        super().__init__(f"its arguments are {number} numbers and arrays, {MOST} at most")


# -- what is compiled ----------------------------------------------------------------------------------------


def entry_name(description):
    """Name of the entry of a function that Numba describes."""
    return f"{description.llvm_func_name}{ENTRY}"


def add_entry(context, module, description):
    """Add the entry of a function to a module.

    It calls the function with its first argument and with the others in memory, and stores a failure there.
    """
    own = context.call_conv.get_function_type(description.restype, description.argtypes)
    function = ir.Function(module, own, description.llvm_func_name)
    entry = ir.Function(module, entry_type, entry_name(description))
    builder = ir.IRBuilder(entry.append_basic_block())
    worker_id, memory = entry.args
    _, *kinds = description.argtypes
    leaves = [*_leaves(kinds)]
    values = {
        place: _read(context, builder, leaves[place], _at(builder, memory, ARGUMENTS + word))
        for word, place in enumerate(chain(*_places(leaves)))
    }
    left = iter([values[place] for place in range(len(leaves))])
    passed = [_build(context, builder, one, left) for one in kinds]
    status, _ = context.call_conv.call_function(
        builder, function, description.restype, description.argtypes, (worker_id, *passed)
    )
    with builder.if_then(status.is_error, likely=False):
        _store_failure(builder, memory, status)
    builder.ret_void()


def _leaves(kinds):
    """The types of all numbers and arrays in nested tuples."""
    for kind in kinds:
        if isinstance(kind, types.BaseTuple):
            yield from _leaves(kind)
        else:
            yield kind


def _places(leaves):
    """Which of some types are arrays, and which are numbers; their values are in memory in this order."""
    numbers = [place for place, kind in enumerate(leaves) if not isinstance(kind, types.Array)]
    return [place for place, kind in enumerate(leaves) if isinstance(kind, types.Array)], numbers


def _at(builder, memory, word):
    return builder.add(memory, _word(8 * word))


def _read(context, builder, kind, address):
    """Read a number or an array of which the number or the address of its struct is at an address."""
    if not isinstance(kind, types.Array):
        data = context.get_data_type(kind)
        return context.unpack_value(builder, kind, builder.inttoptr(address, pointer_to(data)))
    word = builder.load(builder.inttoptr(address, pointer_to(_word)), typ=_word)
    return read_array(context, builder, kind, builder.inttoptr(word, pointer_to(_word)))


def _build(context, builder, kind, values):
    """A value of a type, made of the next of some values of leaves."""
    if isinstance(kind, types.BaseTuple):
        return context.make_tuple(builder, kind, [_build(context, builder, one, values) for one in kind])
    return next(values)


def _store_failure(builder, memory, status):
    """Store the first failure; then set the flag, upon which workers that wait for others fail as well."""
    failed = builder.inttoptr(_at(builder, memory, FAILED), pointer_to(_word))
    with builder.if_then(builder.icmp_signed("==", builder.load(failed, typ=_word), _word(0))):
        with builder.if_then(status.is_user_exc):
            kind = pointer_to(status.excinfoptr.type)
            builder.store(status.excinfoptr, builder.inttoptr(_at(builder, memory, EXCEPTION), kind))
        builder.store(builder.sext(status.code, _word), failed)
    flag = builder.load(builder.inttoptr(_at(builder, memory, FLAG), pointer_to(_word)), typ=_word)
    builder.store_atomic(ir.IntType(32)(1), builder.inttoptr(flag, pointer_to(ir.IntType(32))), "release", 4)


@intrinsic
def _fail(_, exception):
    """Fail with the exception that is described at an address."""

    def emit(context, builder, signature, values):
        described = builder.inttoptr(values[0], _excinfo_pointer)
        status = dict.fromkeys(_Status._fields) | {"code": _USER_EXCEPTION, "excinfoptr": described}
        context.call_conv.return_status_propagate(builder, _Status(**status))
        return context.get_dummy_value()

    return types.void(types.int64), emit


@njit
def raise_again(exception):
    """Raise the exception that a worker left behind."""
    _fail(exception)


# -- calls ---------------------------------------------------------------------------------------------------


def flatten(values, classes, flat):
    """Append the values in nested tuples to ``flat``; describe each tuple by class, length and position."""
    for value in values:
        if isinstance(value, tuple):
            classes += type(value), len(value), len(flat)
            flatten(value, classes, flat)
        else:
            flat.append(value)


def key_of(values, flat):
    """What tells the types of arguments apart; the numbers and arrays in them are appended to ``flat``.

    These are the classes of the tuples, and Numba's fingerprint of what is in them.  Numba's own key reads
    the names of the fields of every record, which takes 1 us for each.
    """
    classes: list[type] = []
    flatten(values, classes, flat)
    return *classes, fingerprint(tuple(flat))


class Memory:
    """The memory of a call; one that has ended leaves it to others."""

    def __init__(self):
        self.words = np.empty(WORDS, np.int64)
        self.address = self.words.ctypes.data
        self.flag = self.address + 8 * OWN_FLAG


_free: list[Memory] = []


class Entry(NamedTuple):
    """The entry of a function for some types of arguments."""

    address: int
    call: Any  # it from Python, without the GIL
    write: Any  # its arguments, numbers, into a memory
    arrays: Any  # picks the arrays of a list of arguments
    numbers: Any  # picks the numbers


class Entries:
    """The entries of a compiled function, one for the types of each key."""

    def __init__(self, dispatcher):
        self.dispatcher, self.known = dispatcher, {}

    def begin(self, arguments, flag):
        """Write arguments, all but a worker's id, into a memory; return that and the entry.

        The arguments must be alive until the call has ended.  ``flag`` is the address of an int32 that is set
        to 1 when a worker has failed; if it is 0, the memory has one.
        """
        values: list = []
        key = key_of(arguments, values)
        if (entry := self.known.get(key)) is None:
            entry = self.known[key] = self._new(arguments)
        try:
            memory = _free.pop()
        except IndexError:
            memory = Memory()
        addresses = map(id, entry.arrays(values))
        entry.write(memory.words, 0, 0, 0, flag or memory.flag, 0, *addresses, *entry.numbers(values))
        return memory, entry

    def _new(self, arguments):
        signature = types.int64, *map(contiguous, map(numba.typeof, arguments))
        leaves = [*_leaves(signature[1:])]
        if len(leaves) > MOST:
            raise TooManyArguments(len(leaves))
        with collection_paused(), interrupts_kept():
            self.dispatcher.compile(signature)
        compiled = self.dispatcher.overloads[signature]
        address = compiled.library.get_pointer_to_function(entry_name(compiled.fndesc))
        arrays, numbers = _places(leaves)
        form = "q" * (ARGUMENTS + len(arrays)) + "".join(_form(leaves[place]) for place in numbers)
        write = struct.Struct(f"={form}").pack_into
        return Entry(address, _type_of_entries(address), write, _picker(arrays), _picker(numbers))


def end(memory, name):
    """Leave the memory of a call to others, or raise the exception of a worker."""
    if failed := memory.words[FAILED]:
        if failed > 0:
            raise_again(memory.words[EXCEPTION])
        raise DeviceError(f"{name}: a worker failed without an exception")
    _free.append(memory)


_type_of_entries = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)


def _picker(places):
    """A function that picks the items at some places of a list."""
    return itemgetter(*places) if len(places) > 1 else lambda values: [values[place] for place in places]


def _form(kind):
    """How the module ``struct`` writes a number into a word."""
    if isinstance(kind, types.Boolean):
        return "?7x"
    size = kind.bitwidth // 8
    if isinstance(kind, types.Float):
        form = {4: "f", 8: "d"}[size]
    else:
        form = {1: "b", 2: "h", 4: "i", 8: "q"}[size]
        form = form if kind.signed else form.upper()
    return f"{form}{8 - size}x" if size < 8 else form
