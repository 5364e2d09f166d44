"""The string table under a jittery interpreter: no race in ours, and a planted one is caught."""

from types import FunctionType

import numpy as np
import pytest

from edgewise.ingest import string_table as ours
from tests import jitter

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]

WORDS = ["b", "a", "b", "c", "a", "b", "c", "c"]
ROWS = len(WORDS) // 2


def late(function):
    """find_or_enter with the mark of a new string set after others can see it."""

    def marked_late(position, batch, table, lookup):
        marks = {}

        class Held:
            def __setitem__(self, index, value):
                if value:
                    marks[index] = value
                else:
                    lookup.new_lengths[index] = 0

        result = function(position, batch, table, lookup._replace(new_lengths=Held()))
        for index, value in marks.items():
            lookup.new_lengths[index] = value
        return result

    return marked_late


def with_names(function, **names):
    """A copy of a device function that sees other functions under its names."""
    return FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__)


def numbered(seed, cas=jitter.cas, finish=lambda function: function):
    """Number the words by two threads; return what is marked as new and the positions in the slots."""
    scheduler = jitter.Scheduler(seed)
    texts = ["".join(WORDS[side::2]).encode() for side in range(2)]
    left, right = (ours.Strings(np.arange(ROWS + 1), np.frombuffer(text, np.uint8)) for text in texts)
    slots = jitter.Jittery(np.full(16, ours.EMPTY), scheduler)
    new_lengths = jitter.Jittery(np.zeros(len(WORDS), np.uint32), scheduler)
    batch = ours.Batch(ROWS, np.uint64(1), left, right, np.uint64(0))
    table = ours.Table(slots, np.zeros(1, np.int32), np.zeros(64, np.uint8), np.uint64(0))
    lookup = ours.Lookup(np.zeros(len(WORDS), np.uint64), new_lengths)
    enter = finish(with_names(ours.find_or_enter, cas=cas, fetch_min=jitter.fetch_min))
    body = with_names(ours.look_up.body, find_or_enter=enter, GROUP=4)
    scheduler.run(lambda: body(0, batch, table, lookup), lambda: body(1, batch, table, lookup))
    marks = [position for position in range(len(WORDS)) if new_lengths.values[position]]
    firsts = {int(one & ours.ENTRY) for one in slots.values if one != ours.EMPTY}
    return marks, firsts


EXPECTED = [0, 1, 3], {0, 1, 3}
SEEDS = range(120)


def test_first_appearances_are_found_in_any_order_of_threads():
    assert all(numbered(seed) == EXPECTED for seed in SEEDS)


def test_a_careless_exchange_is_caught():
    assert any(numbered(seed, cas=jitter.careless_cas) != EXPECTED for seed in SEEDS)


@jitter.planted()
def test_a_late_mark_is_caught():
    assert any(numbered(seed, finish=late) != EXPECTED for seed in SEEDS)
