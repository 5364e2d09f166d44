"""Counters of rounds: places by name, and three sets in turn."""

from typing import NamedTuple

import numpy as np
import pytest

from edgewise.device import compiled
from edgewise.primitives.rounds import APART, Rounds, clear_set, places, set_after, set_of, words

pytestmark = pytest.mark.interpreter


class Counters(NamedTuple):
    kept: int
    added: int


AT = places(Counters, 3 * APART)
SETS = Rounds(2 * APART, words(Counters))


@compiled
def add(counters, number):
    """Add to the counters of a round, and clear the set of the round after it."""
    turn = set_of(SETS, number)
    counters[turn + AT.added - AT.kept] += number
    clear_set(SETS, counters, set_after(SETS, turn))


def test_places_are_a_cache_line_apart():
    assert AT == (3 * APART, 4 * APART)
    assert places(Counters).kept == 0 and places(Counters, apart=1) == (0, 1)
    assert SETS.end == 8 * APART


def test_rounds_use_three_sets_in_turn():
    assert [set_of(SETS, number) // APART for number in range(4)] == [2, 4, 6, 2]
    for number in range(4):
        assert set_after(SETS, set_of(SETS, number)) == set_of(SETS, number + 1)


def test_a_round_leaves_the_set_before_and_clears_the_next_one():
    counters = np.full(SETS.end, 7, np.int64)
    add(counters, 4)
    sets = counters[SETS.first :].reshape(3, 2, APART)[:, :, 0]
    assert sets.tolist() == [[7, 7], [7, 11], [0, 0]]
    assert (counters[: SETS.first] == 7).all()
