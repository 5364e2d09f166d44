"""Words are stolen from transactions that stop in their commit, and no write is lost."""

from dataclasses import replace

import numpy as np
import pytest

from edgewise.device import cas
from edgewise.errors import VerificationError
from edgewise.transactions import PROTOCOLS, TransactionalMemory, block_nonblocking, runner, transaction
from edgewise.transactions.block_nonblocking import (
    DECIDED,
    BlockNonBlocking,
    acquire,
    holders_of,
    leave,
    owning_slot,
)
from edgewise.transactions.check import check_history, new_history, values_of, with_versions
from edgewise.transactions.memory import Run
from edgewise.transactions.transaction import Memory, begin, commit, position, read, write
from edgewise.transactions.workloads import WORKLOADS
from tests import jitter

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
#: Workloads with their words, and seeds.
HOT = {"increments": 2, "bank of 2": 2, "bank of 4": 4, "write skew": 2}
SEEDS = range(12)
#: How likely a thread is to go on at a step, for one seed after another: up to a whole transaction.
STAY = (0.98, 0.99, 0.9, 0.98, 0.995, 0.0)


class Bank:
    """Two words of 10, 20 and slots that move an amount from the first to the second, step by step."""

    def __init__(self, slots=4):
        self.words = np.array([10, 20])
        self.entries = np.zeros(2, np.int64)
        self.memory = Memory(self.words, self.entries, np.zeros(slots, np.int64), 0)
        self.log = runner.log_of(self.words, slots, 4)

    def moves(self, slot, amount):
        """A transaction that has called its body and has not begun to commit."""
        tx = BlockNonBlocking(self.memory, self.log, np.int64(slot), np.int64(slot))
        begin(tx)
        write(tx, 0, read(tx, 0) - amount)
        write(tx, 1, read(tx, 1) + amount)
        return tx

    def acquires(self, tx, word):
        at = position(tx, 2 * word)
        return acquire(tx, word, self.log.marks[at] >> 1, self.memory.shared[tx.slot])

    def decides(self, tx):
        mine = self.memory.shared[tx.slot]
        return mine % 4 == 0 and cas(self.memory.shared, tx.slot, mine, mine + DECIDED) == mine

    def leaves(self, tx, word):
        leave(tx, word)
        tx.log.states[tx.slot * tx.log.first_state + block_nonblocking.NAMED] = 4

    def at_rest(self):
        """The words, once nobody holds one."""
        assert (self.entries % 2 == 0).all()
        return self.words.tolist()


@pytest.mark.parametrize("n_acquired", [0, 1, 2])
def test_who_has_not_decided_is_aborted(n_acquired):
    bank = Bank()
    slow = bank.moves(0, 1)
    for word in range(n_acquired):
        assert bank.acquires(slow, word)
    assert commit(bank.moves(1, 5))
    assert not bank.decides(slow) or n_acquired == 0
    for word in range(n_acquired):
        bank.leaves(slow, word)
    assert bank.at_rest() == [5, 25]


@pytest.mark.parametrize("n_left", [0, 1, 2])
@pytest.mark.parametrize("back", [[0, 1], [1, 0]])
def test_the_new_values_of_who_has_decided_are_taken_over(n_left, back):
    """The victim redoes the writes of the thief, whichever word it comes back to first."""
    bank = Bank()
    slow = bank.moves(0, 1)
    assert bank.acquires(slow, 0) and bank.acquires(slow, 1) and bank.decides(slow)
    for word in back[:n_left]:
        bank.leaves(slow, word)
    thief = bank.moves(1, 5)
    assert (read(thief, 0), read(thief, 1)) == (4, 26)
    assert commit(thief)
    for word in back[n_left:]:
        assert (owning_slot(bank.entries[word]), holders_of(bank.entries[word])) == (1, 1)
        bank.words[word] = -1  # as if the victim had written just now
        bank.leaves(slow, word)
    assert bank.at_rest() == [4, 26]


def test_a_thief_that_is_aborted_leaves_the_new_values_of_its_victim():
    bank = Bank()
    victim = bank.moves(0, 1)
    assert bank.acquires(victim, 0) and bank.acquires(victim, 1) and bank.decides(victim)
    thief = bank.moves(1, 5)
    assert bank.acquires(thief, 0) and bank.acquires(thief, 1)
    for word in range(2):  # the thief is undecided, and will write itself
        bank.leaves(victim, word)
    assert bank.words.tolist() == [10, 20]
    bank.memory.shared[thief.slot] += block_nonblocking.ABORTED
    for word in range(2):
        bank.leaves(thief, word)
    assert bank.at_rest() == [9, 21]


def test_a_log_that_is_needed_is_not_used_again():
    """The slot of a thief begins no transaction before its victim has come back; another slot does."""
    bank = Bank()
    victim = bank.moves(0, 1)
    assert bank.acquires(victim, 0) and bank.acquires(victim, 1) and bank.decides(victim)
    assert commit(bank.moves(1, 1))
    assert not commit(bank.moves(1, 1))
    assert commit(bank.moves(2, 1))
    assert commit(bank.moves(1, 1))  # its words name slot 2 by now
    assert not commit(bank.moves(1, 1))
    bank.leaves(victim, 1)
    bank.leaves(victim, 0)
    assert commit(bank.moves(1, 1))
    assert bank.at_rest() == [5, 25]


def add_to_many(tx, number, n_words):
    for word in range(n_words):
        write(tx, word, read(tx, word) + 1)


def test_logs_have_two_entries_for_a_word_and_grow():
    words = np.zeros(20, np.int64)
    protocol = replace(PROTOCOLS["block-nonblocking"], most_slots=2)
    memory = TransactionalMemory(words, protocol=protocol, log=20, slots=5)
    run = Run(memory, add_to_many, 5, (20,))
    assert (run.size, run.slots) == (40, 2)
    assert memory.run(add_to_many, 5, 20).overflows == 0
    memory = TransactionalMemory(words, protocol=protocol, log=3)
    assert memory.run(add_to_many, 5, 20).overflows > 0
    assert words.tolist() == [10] * 20


def jittery_run(seed, workload, patience=0, n_words=2, count=12, slots=3, **replaced):
    """Run transactions in threads that switch at every access of words, entries, statuses and logs."""
    scheduler, kind = jitter.Scheduler(seed), WORKLOADS[workload]
    scheduler.stay = STAY[seed % len(STAY)]
    picks, seen = kind.arguments(n_words, count, np.random.default_rng(seed))
    initial = with_versions(np.full(n_words, kind.value))

    def shared_by_all(array):
        return jitter.Jittery(array, scheduler)

    words, entries = shared_by_all(initial.copy()), shared_by_all(np.zeros(n_words, np.int64))
    memory = Memory(words, entries, shared_by_all(np.zeros(count, np.int64)), patience)
    log = runner.log_of(initial, slots, 16)
    log = log._replace(**{name: shared_by_all(getattr(log, name)) for name in ("words", "marks", "values")})
    history = new_history(count, kind.accesses)
    steps = transaction.begin, kind.body, transaction.commit
    begin, body, commit = (jitter.jittery(step, **replaced) for step in steps)

    def run_slot(slot):
        for number in range(slot, count, slots):
            done = False
            while not done:
                tx = BlockNonBlocking(memory, log, np.int64(slot), np.int64(number))
                begin(tx)
                body(tx, number, history, picks, seen)
                done = commit(tx)

    scheduler.run(*(lambda slot=slot: run_slot(slot) for slot in range(slots)))
    check_history(history, initial, words.values)
    if not kind.holds(values_of(initial), values_of(words.values), seen, kind.accesses):
        raise VerificationError("the invariant does not hold")
    if (entries.values % 2).any():
        raise VerificationError("a word is still owned")


@pytest.mark.parametrize("workload", HOT)
@pytest.mark.parametrize("patience", [0, 2])
def test_histories_are_serial(workload, patience):
    for seed in SEEDS:
        jittery_run(seed, workload, patience, HOT[workload])


#: Words without a count of those that have not left them, and a compare-and-swap that is not atomic.
PLANTED = [{"holders_of": lambda held: np.int64(1)}, {"cas": jitter.careless_cas}]


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: next(iter(planted)))
def test_planted_races_are_caught(planted):
    with pytest.raises((VerificationError, jitter.Stuck)):
        for seed in range(60):
            jittery_run(seed, "increments", **planted)
