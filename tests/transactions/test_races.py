"""The protocols under a jittery interpreter, and protocols that are broken on purpose, which are caught."""

import numpy as np
import pytest

from edgewise.errors import VerificationError
from edgewise.transactions import PROTOCOLS, runner, transaction
from edgewise.transactions.check import check_history, new_history, values_of, with_versions
from edgewise.transactions.reservations import Apply, Reserve
from edgewise.transactions.transaction import Memory
from edgewise.transactions.workloads import WORKLOADS
from tests import jitter
from tests.transactions.broken import BROKEN

pytestmark = pytest.mark.interpreter
SEEDS, MANY_SEEDS, THREADS, COUNT, WORDS = range(24), range(120), 3, 6, 4
HOT = ("increments", "bank of 4", "write skew")


def jittery_run(seed, workload, protocol, n_words=WORDS, count=COUNT, **replaced):
    """Run transactions in threads that switch at every access of a shared array, and check the history."""
    scheduler, kind = jitter.Scheduler(seed), WORKLOADS[workload]
    picks, seen = kind.arguments(n_words, count, np.random.default_rng(seed))
    initial = with_versions(np.full(n_words, kind.value))
    words = jitter.Jittery(initial.copy(), scheduler)
    entries = jitter.Jittery(np.full(n_words, protocol.free), scheduler)
    shared = jitter.Jittery(np.zeros(protocol.shared(count), np.int64), scheduler)
    memory, log = Memory(words, entries, shared, 2), runner.log_of(initial, THREADS, 8)
    history = new_history(count, kind.accesses)

    def attempt(of, slot, number):
        steps = transaction.begin, kind.body, transaction.commit
        begin, body, commit = (jitter.jittery(step, **replaced) for step in steps)
        tx = of(memory, log, slot, number)
        begin(tx)
        body(tx, number, history, picks, seen)
        return commit(tx)

    def slot_of(slot):
        for number in range(slot, count, THREADS):
            while not attempt(protocol.kind, slot, number):
                pass

    def rounds():
        pending, turn = list(range(count)), 0
        while pending:
            turn += 1
            shared.values[0] = (1000 - turn) << 32
            failed = []
            for of in (Reserve, Apply):
                numbers = pending[:THREADS]

                def one(slot, of=of, numbers=numbers, failed=failed):
                    if not attempt(of, slot, numbers[slot]) and of is Apply:
                        failed.append(numbers[slot])

                scheduler.run(*(lambda slot=slot: one(slot) for slot in range(len(numbers))))
            pending = sorted(failed) + pending[THREADS:]

    if protocol.kind is Apply:
        rounds()
    else:
        scheduler.run(*(lambda slot=slot: slot_of(slot) for slot in range(THREADS)))
    check_history(history, initial, words.values)
    if not kind.holds(values_of(initial), values_of(words.values), seen, kind.accesses):
        raise VerificationError("the invariant does not hold")


def is_caught(workload, protocol, seeds=range(60), **replaced):
    for seed in seeds:
        try:
            jittery_run(seed, workload, protocol, **replaced)
        except (VerificationError, jitter.Stuck):
            return True
    return False


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_histories_are_serial(protocol):
    for workload in HOT:
        for seed in SEEDS:
            jittery_run(seed, workload, PROTOCOLS[protocol])


@pytest.mark.parametrize("protocol", ["invisible", "tl2", "block"])
def test_reads_without_locks_are_of_one_moment(protocol):
    # A word may change after it has been read and before the transaction takes a later time.
    for seed in MANY_SEEDS:
        jittery_run(seed, "write skew", PROTOCOLS[protocol], n_words=2, count=12)


@pytest.mark.parametrize("protocol", ["wound-wait", "pessimistic"])
def test_a_planted_race_is_caught(protocol):
    assert is_caught("bank of 4", PROTOCOLS[protocol], cas=jitter.careless_cas)


@pytest.mark.parametrize("name", BROKEN)
def test_broken_protocols_are_caught(name):
    protocol, workload = BROKEN[name]
    assert is_caught(workload, protocol)
