"""Every protocol on every engine: histories are serializable, and bad input ends in one clear line."""

import os

import numpy as np
import pytest

from edgewise.device import arrays
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import OptionError, VerificationError
from edgewise.transactions import (
    PROTOCOLS,
    TransactionalMemory,
    TransactionError,
    is_active,
    read,
    retry,
    runner,
    workloads,
    write,
)
from edgewise.transactions.check import History, check_history
from edgewise.transactions.workloads import WORKLOADS, run_checked

DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if SIMULATED else "cpu")
pytestmark = pytest.mark.interpreter
simulator = pytest.mark.simulator
COUNT = 30 if SIMULATED else 60 if INTERPRETED else 3000
#: What is compiled: every protocol with one workload, most with another one before a release.
BANKS = ["wound-wait", "block-nonblocking"]
BANKS += [pytest.param(name, marks=pytest.mark.release) for name in ("priority", "block", "reservations")]
COMPILED = {
    "increments": ["invisible", "block"],
    "hash table": ["priority"],
    "sorted list": ["invisible"],
    "write skew": ["tl2"],
    "bank of 2": [],
}


@simulator
@pytest.mark.parametrize("protocol", PROTOCOLS if INTERPRETED or SIMULATED else BANKS)
def test_bank_of_four(protocol):
    """Hot and cold, with audits of all accounts."""
    for n_words in (4, 1000):
        count = min(COUNT, 100) if protocol == "reservations" else COUNT
        statistics = run_checked("bank of 4", protocol, n_words=n_words, count=count, device=DEVICE)
        assert statistics.commits == count
        assert 0 <= statistics.abort_rate < 1
        assert statistics.attempts_histogram().sum() == count
        assert statistics.first_attempt_aborts <= statistics.aborts


@pytest.mark.parametrize(
    "workload",
    [
        pytest.param(name, marks=pytest.mark.release) if name in ("sorted list", "write skew") else name
        for name in WORKLOADS
    ],
)
def test_workloads(workload):
    for protocol in PROTOCOLS if INTERPRETED else COMPILED.get(workload, ["pessimistic"]):
        for n_words in (1, 200):
            done = run_checked(workload, protocol, n_words=n_words, count=COUNT, device=DEVICE)
            assert done.commits == COUNT


def add(tx, number, words, amount):
    write(tx, words[number], read(tx, words[number]) + amount)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"] if INTERPRETED else ["uint32"])
def test_types_of_words(dtype):
    kind = np.dtype(dtype).type
    words = arrays.move(np.full(3, 5, dtype), DEVICE)
    memory = TransactionalMemory(words, slots=2)
    numbers = arrays.move(np.arange(40) % 3, DEVICE)
    assert memory.run(add, 40, numbers, arrays.move(np.full(1, 2, dtype), DEVICE)[0].item()).commits == 40
    assert arrays.move(words, "cpu").tolist() == [kind(33), kind(31), kind(31)]


def test_no_transaction():
    memory = TransactionalMemory(np.zeros(1, np.int64))
    statistics = memory.run(add, 0, np.zeros(1, np.int64), 1)
    assert (statistics.commits, statistics.aborts, statistics.abort_rate) == (0, 0, 0)


def add_to_many(tx, number, n_words):
    for word in range(n_words):
        write(tx, word, read(tx, word) + 1)


@simulator
@pytest.mark.parametrize("protocol", ["wound-wait", "reservations"])
def test_a_log_that_is_too_small_grows(protocol):
    words = arrays.move(np.zeros(50, np.int64), DEVICE)
    statistics = TransactionalMemory(words, protocol=protocol, log=4, slots=2).run(add_to_many, 5, 50)
    assert arrays.move(words, "cpu").tolist() == [5] * 50
    assert statistics.commits == 5 and statistics.overflows >= 4 and statistics.launches > 4


def test_a_log_has_an_end(monkeypatch):
    import sys

    monkeypatch.setattr(sys.modules["edgewise.transactions.memory"], "LOG_ENTRIES", 8)
    for protocol in ("wound-wait", "reservations"):
        words = np.zeros(50, np.int64)
        with pytest.raises(TransactionError, match=r"0 \(and 1 others\) accesses more than 8 words"):
            TransactionalMemory(words, protocol=protocol).run(add_to_many, 2, 50)
        assert not words.any()


def use_unknown(tx, number, word):
    if number == 3:
        write(tx, word, 1)
    else:
        write(tx, number, 1)


@simulator
@pytest.mark.parametrize("word", [-1, 8])
@pytest.mark.parametrize("protocol", ["wound-wait", "reservations"])
def test_words_that_are_not_there(protocol, word):
    words = arrays.move(np.zeros(8, np.int64), DEVICE)
    with pytest.raises(
        TransactionError, match="transaction 3 accesses a word that is not among the 8"
    ) as caught:
        TransactionalMemory(words, protocol=protocol).run(use_unknown, 8, word)
    assert caught.value.numbers.tolist() == [3] and caught.value.statistics.commits == 7
    assert arrays.move(words, "cpu").tolist() == [1, 1, 1, 0, 1, 1, 1, 1]


def take_turns(tx, number, left):
    if read(tx, 0) != left - number:
        retry(tx)
    if is_active(tx):
        write(tx, 0, left - number - 1)


@pytest.mark.parametrize("protocol", ["wound-wait", "reservations"])
def test_waiting_for_others(protocol):
    """Transactions that wait for each other come to an end, and those that wait for nothing are named."""
    words = np.full(1, 12)
    memory = TransactionalMemory(words, protocol=protocol, slots=2, attempts=4)
    assert memory.run(take_turns, 12, 12).commits == 12
    assert words[0] == 0
    with pytest.raises(TransactionError, match=r"transaction 0 \(and 3 others\) has called retry"):
        memory.run(take_turns, 4, 100)


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        (np.zeros(3), {}, r"words are a one-dimensional array of int32, .* not float64 of shape \(3,\)"),
        (np.zeros((2, 2), np.int64), {}, "one-dimensional"),
        ([1, 2], {}, "not list of shape"),
        (np.zeros(0, np.int64), {}, "of one word at least"),
        (np.zeros(6, np.int64)[::2], {}, "contiguous"),
        (np.zeros(1, np.int64), {"protocol": "wound wait"}, "did you mean wound-wait"),
        (np.zeros(1, np.int64), {"protocol": "hstm"}, "protocol='hstm' is unknown; tl2 is closest to it"),
        (np.zeros(1, np.int64), {"protocol": "LSTM"}, "pessimistic or invisible is closest"),
        (np.zeros(1, np.int64), {"log": 0}, "log=0 must be a whole number, 1 or more"),
        (np.zeros(1, np.int64), {"log": 2**20}, "log=1048576 is too large"),
        (np.zeros(1, np.int64), {"slots": 1.5}, "slots=1.5 must be"),
        (np.zeros(1, np.int64), {"patience": -1}, "patience=-1 must be"),
    ],
)
def test_bad_input(words, options, message):
    with pytest.raises(OptionError, match=message):
        TransactionalMemory(words, **options)


def test_too_many_transactions():
    with pytest.raises(OptionError, match=r"2,147,483,647 transactions are too many; run 2,147,483,646"):
        TransactionalMemory(np.zeros(1, np.int64)).run(add, 2**31 - 1)


def history(*rows):
    """A history of one access for each row: transaction by position, (word, before, after) as versions."""
    words, before, after = (np.array(column) for column in zip(*rows))
    return History(words, before << 32, after << 32, 1)


@pytest.mark.parametrize(
    ("rows", "final", "message"),
    [
        ([(0, 0, 1), (0, 0, 1)], [1], "transactions 0 and 1 both replaced version 0 of word 0"),
        ([(0, 0, 1), (0, 2, 3)], [3], "transaction 1 has read word 0 as no"),
        ([(0, 0, 1)], [0], "word 0 is not what the last transaction has written"),
        ([(0, 7, 7)], [0], "transaction 0 has read word 0"),
    ],
)
def test_histories_that_are_not_serial(rows, final, message):
    with pytest.raises(VerificationError, match=message):
        check_history(history(*rows), np.zeros(1, np.int64), np.array(final) << 32)


def test_write_skew_is_a_cycle():
    """Two transactions read two words; each writes another one."""
    words, before = np.array([0, 1, 0, 1]), np.zeros(4, np.int64)
    after = np.array([1, 0, 0, 1]) << 32
    zero = np.zeros(2, np.int64)
    with pytest.raises(VerificationError, match=r"no serial order .* exists: 0 before 1 before 0"):
        check_history(History(words, before, after, 2), zero, np.array([1, 1]) << 32)


def test_a_serial_history_passes():
    check_history(
        history((0, 1, 2), (0, 0, 1), (0, 1, 1), (1, 0, 0)), np.zeros(2, np.int64), np.array([2, 0]) << 32
    )


@pytest.mark.interpreter
@pytest.mark.parametrize("lanes", [1, 32])
def test_a_kernel_belongs_to_a_module_that_can_be_imported(lanes):
    """Otherwise Numba cannot load it from the disk."""
    loop = runner.loop_of(workloads.transfer, PROTOCOLS["tl2"].kind, lanes)
    assert loop.body.__module__ == workloads.__name__
    assert loop.name.startswith("edgewise.transactions.workloads.transfer.edgewise.transactions.tl2.TL2.")
