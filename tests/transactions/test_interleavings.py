"""Fixed interleavings, for races that random schedules rarely meet."""

import numpy as np
import pytest

from edgewise.device import fence, load
from edgewise.transactions import runner
from edgewise.transactions.tl2 import TL2
from edgewise.transactions.transaction import Memory, begin, commit, read, write
from tests import jitter

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]


class Interrupted:
    """An array that calls a function once, just before one of its items is read."""

    def __init__(self, values, index, call):
        self.values, self.index, self.call, self.dtype = values, index, call, values.dtype

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        if index == self.index and self.call:
            call, self.call = self.call, None
            call()
        return self.values[index]


def read_without_second_look(tx, word):
    """As ``versions.read_with_version``, but for the last comparison."""
    seen = load(tx.memory.entries, word)
    fence()
    return seen, load(tx.memory.words, word)


def audit_during_a_transfer(**replaced):
    """Read two words, one before and one while another transaction changes both; the outcome and the sum."""
    words, entries, clock = np.array([10, 20]), np.zeros(2, np.int64), np.zeros(1, np.int64)
    log = runner.log_of(words, 2, 2)

    def transfer():
        tx = TL2(Memory(words, entries, clock, 2), log, np.int64(1), np.int64(1))
        begin(tx)
        write(tx, 0, read(tx, 0) - 5)
        write(tx, 1, read(tx, 1) + 5)
        assert commit(tx)

    # The transfer comes between the entry of word 1 and its value.
    interrupted = Interrupted(words, 1, transfer)
    tx = TL2(Memory(interrupted, entries, clock, 2), log, np.int64(0), np.int64(0))
    look = jitter.jittery(read, **replaced)
    begin(tx)
    total = look(tx, 0) + look(tx, 1)
    assert interrupted.call is None
    return commit(tx), total


def test_an_audit_that_is_overtaken_fails():
    """The entry has changed, so the word is read again, at a time at which the first word is another."""
    committed, _ = audit_during_a_transfer()
    assert not committed


def test_without_the_second_look_it_commits_a_sum_that_never_was():
    committed, total = audit_during_a_transfer(read_with_version=read_without_second_look)
    assert committed and total == 35
