"""``block-nonblocking``: as ``block``, but a word may be stolen from a transaction that holds it.

A transaction reads versions and values and keeps its writes in its log; at the end it acquires all words that
it has accessed.  An acquired word has the slot and the attempt of its *owner* in its tracking entry, and what
it holds is in the owner's log: the new value once the owner has *decided* to commit, the old one before, and
after the owner was aborted.  One compare-and-swap of the owner's status decides, for all words at once.
Nobody waits for an owner:

* A read takes the value from the owner's log.
* A transaction that needs an acquired word looks at it ``patience`` times and then steals it.  An owner that
  has not decided is aborted first.  The version that the thief has read must be that which the victim's log
  has for its status; its value is then in the thief's log (*merge*).
* The victim may still write to a word that was stolen from it.  So an entry counts the *holders* of its word,
  the owner and those who have not left the word yet.  Whoever leaves looks for the owner, writes what the
  owner's log has unless the owner is undecided and will do so itself (*redo*), and takes itself off the count
  if the entry is still the same.  The last holder turns the entry into a version again.

An entry never comes back while somebody may compare with it: an owner acquires a word once in an attempt, the
count only falls while the owner stays, and attempts have 34 bits.  Versions have 62.

Guarantees.  *Serializable*: an undecided transaction that has lost a word was aborted before, so at the
moment of the decision it has all words, in the versions that it has read.  *Not opaque*: the number of
accesses of an attempt is limited.  *Obstruction-free* but for one case: a log is used again for the next
transaction of its slot, and not while an entry names it, which it does after its transaction has ended if it
has stolen a word that its victim has not left.  Attempts of that slot fail until then, and the host runs them
again.  A thread that stops for a while in its commit holds up one slot for each of its words at most, and
none of the other slots.  Since launches are bounded, *livelock* of thieves ends in a launch of one slot.

Differences from the publication: versions are compared instead of values, as by ``block``; entries count
holders, as those of Harris and Fraser do; a thief is patient first; logs are reused; and words are also
written by those who leave them after an abort, so that a read outside of transactions may see a value that
was replaced a moment ago, until the run ends.

Cederman, Tsigas and Chaudhry, "Towards a software transactional memory for graphics processors" (EGPGV 2010),
the non-blocking variant; Harris and Fraser, "Language support for lightweight transactions" (OOPSLA 2003).
"""

import numpy as np

from edgewise.device import cas, device, fence, load, store
from edgewise.device.spin import relax
from edgewise.transactions.accesses import Deferred
from edgewise.transactions.transaction import (
    CONFLICT,
    COUNT,
    DIRTY,
    NEW,
    NONE,
    OVERFLOW,
    RESERVED,
    STATUS,
    append,
    begin,
    begin_log,
    commit,
    entry_for,
    fail,
    is_active,
    is_within_budget,
    look_up,
    nothing,
    position,
    read,
    set_state,
    state,
    write,
)

#: Bit of the entry of a word that is owned; other entries are twice the version of the word.
OWNED = 1
#: One holder in an entry: the bits of holders follow that of OWNED.
HOLDER = 2
#: Bits of the number of holders, of the slot of the owner above it, and of both with OWNED.
HOLDER_BITS, SLOT_BITS = 12, 16
BELOW_ATTEMPT = 1 + HOLDER_BITS + SLOT_BITS
#: Slots at most.
SLOTS = 2**SLOT_BITS
#: Largest number of holders of a word.
HOLDERS = 2**HOLDER_BITS - 1
#: A word of the memory's shared words for each slot: the number of its attempt, and in the lowest bits:
UNDECIDED, ABORTED, DECIDED = 0, 1, 2
#: Mask and number of these bits.
DECISION, DECISION_BITS = 3, 2
#: Entries of the log for each word: the first has the value that was read, the second the new one.
ENTRIES = 2
#: In the state of the slot: entries of the log that may still be named by tracking entries.
NAMED = RESERVED


class BlockNonBlocking(Deferred):
    """A transaction of this protocol; first marks are twice the version's entry, plus 1 if it writes."""

    __slots__ = ()


@device
def owning_slot(held):
    """The slot that owns a word, by its entry."""
    return held >> np.int64(1 + HOLDER_BITS) & np.int64(SLOTS - 1)


@device
def holders_of(held):
    """The number of transactions that have not left a word, by its entry."""
    return held >> np.int64(1) & np.int64(HOLDERS)


@device
def look(tx, word):
    """Entry of a word, and its owner's status, its version's entry and its value at that moment."""
    entries, log = tx.memory.entries, tx.log
    while True:
        held = load(entries, word)
        fence()
        status, seen, at = np.int64(DECIDED), held, np.int64(0)
        if held & np.int64(OWNED) == 0:
            value = load(tx.memory.words, word)
        else:
            owner = owning_slot(held)
            status = load(tx.memory.shared, owner)
            fence()
            at = look_up(BlockNonBlocking(tx.memory, log, owner, tx.number), word)
            first = max(at, np.int64(0))
            # race: a log that its owner uses again counts only if the entry, read once more, still names it
            value, mark = load(log.values, first), load(log.marks, first)
            seen = mark >> np.int64(1)
            if status & np.int64(DECISION) == DECIDED:
                value = load(log.values, first + log.stride)  # race: as above
                seen += HOLDER * (mark & np.int64(DIRTY))
        fence()
        if at >= 0 and load(entries, word) == held:
            return held, status, seen, value


@begin.of(BlockNonBlocking)
def begin_attempt(tx):
    """Begin the next attempt; it has failed already if the log of the one before is still needed."""
    for entry in range(0, state(tx, NAMED), ENTRIES):
        held = load(tx.memory.entries, tx.log.words[position(tx, entry)])
        if held & np.int64(OWNED) != 0 and owning_slot(held) == tx.slot:
            set_state(tx, STATUS, CONFLICT)
            return
    fence()
    begin_log(tx)
    set_state(tx, NAMED, 0)
    last = load(tx.memory.shared, tx.slot)
    store(tx.memory.shared, tx.slot, (last | np.int64(DECISION)) + np.int64(1))


@device
def note(tx, word):
    """Position in the log of a word, which is added with its version and value if it is new."""
    at = entry_for(tx, word) if is_within_budget(tx) else np.int64(NONE)
    if at != NEW:
        return at
    if state(tx, COUNT) + ENTRIES > tx.log.size:
        fail(tx, OVERFLOW)
        return np.int64(NONE)
    _, _, seen, value = look(tx, word)
    at = append(tx, word, value, 2 * seen)
    append(tx, word, value, np.int64(0))
    return at


@read.of(BlockNonBlocking)
def read_newest(tx, word):
    """Read a word, or what the transaction has written there."""
    at = note(tx, np.int64(word))
    return tx.log.values[at + tx.log.stride] if at >= 0 else nothing(tx)


@write.of(BlockNonBlocking)
def write_newest(tx, word, value):
    """Keep a new value in the log."""
    at = note(tx, np.int64(word))
    if at >= 0:
        tx.log.values[at + tx.log.stride] = value
        tx.log.marks[at] |= np.int64(DIRTY)


@device
def acquire(tx, word, expected, mine):
    """Own a word that is in an expected version; steal it if another owns it for long."""
    entries, shared, polls = tx.memory.entries, tx.memory.shared, 0
    name = mine >> np.int64(DECISION_BITS) << np.int64(BELOW_ATTEMPT)
    name |= tx.slot << np.int64(1 + HOLDER_BITS) | np.int64(OWNED)
    while True:
        held, status, seen, _ = look(tx, word)
        is_owned = held & np.int64(OWNED) != 0
        n_holders = holders_of(held) if is_owned else np.int64(0)
        if seen != expected or n_holders == HOLDERS or load(shared, tx.slot) != mine:
            return False
        if is_owned and polls < tx.memory.patience:
            polls += 1
            relax()
        elif status & np.int64(DECISION) == UNDECIDED:
            cas(shared, owning_slot(held), status, status + np.int64(ABORTED))
        elif cas(entries, word, held, name + HOLDER * (n_holders + 1)) == held:
            return True


@device
def leave(tx, word):
    """Write what a word holds by now, and be no holder of it any longer."""
    while True:
        held, status, seen, value = look(tx, word)
        if status & np.int64(DECISION) != UNDECIDED:
            store(tx.memory.words, word, value)
            fence()
        left = held - np.int64(HOLDER) if holders_of(held) > 1 else seen
        if cas(tx.memory.entries, word, held, left) == held:
            return


@commit.of(BlockNonBlocking)
def decide(tx):
    """Acquire all words, decide, and leave the words one after the other."""
    if not is_active(tx):
        return False
    mine = load(tx.memory.shared, tx.slot)
    count, n_acquired = state(tx, COUNT), np.int64(0)
    fence()
    while n_acquired < count:
        at = position(tx, n_acquired)
        if not acquire(tx, tx.log.words[at], tx.log.marks[at] >> np.int64(1), mine):
            break
        n_acquired += ENTRIES
    decision = np.int64(DECIDED if n_acquired == count else ABORTED)
    succeeded = cas(tx.memory.shared, tx.slot, mine, mine + decision) == mine and decision == DECIDED
    for entry in range(0, n_acquired, ENTRIES):
        leave(tx, tx.log.words[position(tx, entry)])
    set_state(tx, NAMED, n_acquired)
    return succeeded
