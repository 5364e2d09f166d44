"""What a transaction is: its records, its log, and the operations that every protocol implements.

A transaction is a plain function ``body(tx, number, *arguments)`` that reads and writes words of one array
through :func:`read` and :func:`write`.  It runs as if it were alone: all of its writes take effect at one
moment, or none does.  Where two transactions touch the same words at the same time, a protocol
(:mod:`edgewise.transactions`) lets one of them fail, and the body is called again later.

A body has no exceptions and no jumps, since GPUs have none.  After a conflict :func:`read` returns 0,
:func:`write` does nothing, and the body runs to its end, where :func:`commit` discards what it did.  Word 0
is always there, so what was read may be used as the number of a word.  A loop that follows what it reads ends
when :func:`is_active` is false.

The log of a transaction has an entry for each word that it has touched: the number of the word, a value and a
*mark*, whose meaning is the protocol's.  A word is looked up in the log first, so a transaction sees its own
writes, and no protocol acquires a word twice.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import by_class, device

#: States of a transaction while it runs and when it has ended; a slot's state has them at STATUS.
ACTIVE, COMMITTED, CONFLICT, OVERFLOW, OUT_OF_RANGE, RETRY = 0, 1, 2, 3, 4, 5
#: What a slot's state holds: entries of the log, status, accesses of the attempt, wounds seen or the
#: snapshot, the word that is reserved.
COUNT, STATUS, ACCESSES, SEEN, RESERVED = 0, 1, 2, 3, 4
#: Totals of a slot, which follow its state.
WOUNDS, OVERFLOWS = 5, 6
#: Words of a slot for its state and its totals.
STATES = 8
#: Instead of a position in a log: the attempt has failed, and the word is not in the log yet.
NONE, NEW = -1, -2
#: Marks of words in logs of protocols that mark nothing else: only read, and written.
CLEAN, DIRTY = 0, 1
#: Accesses of an attempt for each entry of its log, after which it fails.
ACCESSES_PER_ENTRY = 64


class Memory(NamedTuple):
    """The words of all transactions, and what their protocol knows of them.

    Attributes
    ----------
    words : (n,) int32, int64, uint32 or uint64 array
    entries : (n,) int64 array
        The tracking entry of each word, as in the thesis of Manoochehri.
    shared : (s,) int64 array
        A counter for each transaction, or a clock.
    patience : int
        How often a transaction looks at a word of another before it fails.
    """

    words: Any
    entries: Any
    shared: Any
    patience: int


class Log(NamedTuple):
    """Logs and states of all slots; a slot runs one transaction at a time.

    Attributes
    ----------
    words, marks : (slots * size,) int64 array
    values : (slots * size,) array of the words' type
    states : (slots * padding,) int64 array
    size : int
        Entries of a log.
    first, first_state, stride : int
        Entry ``k`` of slot ``s`` is at ``s * first + k * stride``, and the same of its state: neighbouring
        entries are one slot's on the CPU, and those of neighbouring threads on a GPU.
    """

    words: Any
    marks: Any
    values: Any
    states: Any
    size: int
    first: int
    first_state: int
    stride: int


class Transaction(NamedTuple):
    """A running transaction; each protocol derives a class of its own without further fields.

    Attributes
    ----------
    memory : Memory
    log : Log
    slot : int
    number : int
        A smaller one is older, and stronger where a protocol has priorities.
    """

    memory: Memory
    log: Log
    slot: int
    number: int


@by_class
def begin(tx):
    """Begin an attempt of a transaction; with an empty log, unless its protocol says otherwise."""


@by_class
def read(tx, word):
    """Value of a word for a transaction; 0 if the transaction has failed."""


@by_class
def write(tx, word, value):
    """Set a word when the transaction commits; nothing if it has failed."""


@by_class
def commit(tx):
    """End an attempt: make its writes visible, all at once, or none of them; whether it committed."""


@device
def state(tx, which):
    """A value of the slot's state."""
    # race: another slot's, in ``block-nonblocking`` only; see :func:`look_up`
    return tx.log.states[tx.slot * tx.log.first_state + which * tx.log.stride]


@device
def set_state(tx, which, value):
    """Set a value of the slot's state."""
    tx.log.states[tx.slot * tx.log.first_state + which * tx.log.stride] = value


@device
def count_one(tx, which):
    """Add one to a total of the slot."""
    set_state(tx, which, state(tx, which) + 1)


@device
def is_active(tx):
    """Whether no access of the attempt has failed so far."""
    return state(tx, STATUS) == ACTIVE


@device
def fail(tx, status):
    """Let the attempt fail; its first failure counts."""
    if is_active(tx):
        set_state(tx, STATUS, status)


@device
def retry(tx):
    """Give this attempt up and try again later, as where the words are not yet what the body waits for."""
    fail(tx, RETRY)


@device
def position(tx, entry):
    """Where an entry of the transaction's log is in the arrays of the log."""
    return tx.log.first * tx.slot + tx.log.stride * entry


@begin.of(Transaction)
def begin_log(tx):
    """Empty the log."""
    set_state(tx, COUNT, 0)
    set_state(tx, STATUS, ACTIVE)
    set_state(tx, ACCESSES, 0)


@device
def look_up(tx, word):
    """Position of a word in the arrays of the log; NONE if it is not in the transaction's log."""
    for entry in range(state(tx, COUNT)):
        at = position(tx, entry)
        # race: another slot's, in ``block-nonblocking`` only, whose reader looks afterwards whether it counts
        if tx.log.words[at] == word:
            return at
    return np.int64(NONE)


@device
def has_room(tx, word):
    """Whether a word exists and the log has room for it; the attempt fails otherwise."""
    if word < 0 or word >= len(tx.memory.words):
        fail(tx, OUT_OF_RANGE)
        return False
    if state(tx, COUNT) >= tx.log.size:
        fail(tx, OVERFLOW)
        return False
    return True


@device
def entry_for(tx, word):
    """Position of a word in the arrays of the log; NEW if it needs an entry, NONE after a failure."""
    if not is_active(tx):
        return np.int64(NONE)
    at = look_up(tx, word)
    if at < 0:
        at = np.int64(NEW if has_room(tx, word) else NONE)
    return at


@device
def append(tx, word, value, mark):
    """Add an entry to the log; return its position in the arrays."""
    count = state(tx, COUNT)
    at = position(tx, count)
    tx.log.words[at] = word
    tx.log.values[at] = value
    tx.log.marks[at] = mark
    set_state(tx, COUNT, count + 1)
    return at


@device
def is_within_budget(tx):
    """Whether the attempt has made few accesses so far, and is active; it fails otherwise.

    Protocols that let an attempt go on with words of different times call this in every access, since such
    an attempt may follow a cycle that no committed transaction has made.
    """
    accesses = state(tx, ACCESSES) + 1
    set_state(tx, ACCESSES, accesses)
    if accesses > ACCESSES_PER_ENTRY * tx.log.size:
        fail(tx, CONFLICT)
    return is_active(tx)


@device
def nothing(tx):
    """Zero, of the words' type."""
    return tx.log.values.dtype.type(0)
