"""Protocols that differ from one of the library in a few functions; those in ``RIGHT`` are right as well."""

from dataclasses import replace
from types import FunctionType

import numpy as np

from edgewise.device import cas, device, fence, load
from edgewise.device.explorer import rebound
from edgewise.device.spin import relax
from edgewise.transactions import PROTOCOLS, invisible, pessimistic, priority, tl2
from edgewise.transactions.accesses import access, acquire
from edgewise.transactions.transaction import (
    CONFLICT,
    COUNT,
    DIRTY,
    NONE,
    begin,
    commit,
    fail,
    is_active,
    position,
    read,
    state,
    write,
)
from edgewise.transactions.versions import LOCKED, read_with_version

OPERATIONS = {
    "begin": begin,
    "read": read,
    "write": write,
    "commit": commit,
    "access": access,
    "acquire": acquire,
}


def variant(base, name, **changed):
    """A protocol of the library with other operations, or with other functions below the operations.

    ``changed`` are functions by the names of operations, such as ``acquire``, or of what operations call.
    """
    kind = type(name.title().replace(" ", ""), (PROTOCOLS[base].kind,), {"__slots__": ()})
    copies = {}

    def named(name, value):
        if name in changed:
            return changed[name]
        is_ours = isinstance(value, FunctionType) and value.__module__.startswith("edgewise.transactions")
        return of(value) if is_ours and not hasattr(value, "dispatch") else value

    def of(function):
        if function not in copies:
            device(rebound(function, named, copies))
        return copies[function]

    for function in changed.values():
        device(function)
    for operation, by_class in OPERATIONS.items():
        try:
            by_class.of(kind)(changed.get(operation) or of(by_class.dispatch(kind)))
        except TypeError:  # the protocol has no such operation
            continue
    return replace(PROTOCOLS[base], name=f"{base}: {name}", kind=kind)


def skip(tx):
    """Do nothing."""


def is_valid_by_values(tx, now):
    """As :func:`edgewise.transactions.tl2.is_valid`, but values are compared even for equal versions."""
    for entry in range(state(tx, COUNT)):
        at = position(tx, entry)
        mark, word = tx.log.marks[at], tx.log.words[at]
        seen = mark >> np.int64(1)
        if seen == NONE:
            continue
        if mark & np.int64(DIRTY) != 0:
            held = load(tx.memory.entries, word)
            if held != seen and (held != (seen | np.int64(LOCKED)) or state(tx, tl2.HOLDS) == 0):
                return False
            continue
        held, value = read_with_version(tx, word)
        if held == NONE or held >> np.int64(1) > now or value != tx.log.values[at]:
            return False
        tx.log.marks[at] = 2 * held
    return True


def mark_by_cas(tx, word):
    """Mark a word by compare-and-swap instead of an atomic minimum."""
    mine = np.int64(priority.MARKED) + np.int64(tx.number)
    held = load(tx.memory.entries, word)
    while held > mine:
        seen = cas(tx.memory.entries, word, held, mine)
        if seen == held:
            fence()
            return True
        held = seen
    return False


def take_with_patience(tx, word):
    """Own a word that nobody owns, and look again for a while if somebody does."""
    for _ in range(tx.memory.patience + 1):
        if cas(tx.memory.entries, word, np.int64(pessimistic.FREE), np.int64(tx.number)) == pessimistic.FREE:
            fence()
            return True
        relax()
    return False


def read_and_validate(tx, word):
    """Fail as soon as what has been read is not of one moment."""
    value = invisible.read_invisibly(tx, word)
    if is_active(tx) and not invisible.is_valid(tx):
        fail(tx, CONFLICT)
    return value


#: Protocols that are right beside those of the library.
RIGHT = (
    variant("tl2", "by values", is_valid=is_valid_by_values),
    variant("block", "unsorted", sort_log=skip),
    variant("priority", "by cas", acquire=mark_by_cas),
    variant("pessimistic", "with patience", acquire=take_with_patience),
    variant("invisible", "opaque", read=read_and_validate),
)
