"""Device functions under a jittery interpreter: no race in ours, and a planted one is caught."""

from types import FunctionType

import numpy as np
import pytest

from edgewise.components.hook import hook_up
from edgewise.components.long_rows import list_row
from edgewise.components.rem import union as rem_union
from edgewise.components.verification import oracle
from tests import jitter

pytestmark = pytest.mark.interpreter
SEEDS = range(150)
SOURCES, TARGETS = np.array([4, 4, 3, 5, 1, 5, 2]), np.array([3, 2, 5, 1, 4, 0, 6])
EXPECTED = oracle(7, SOURCES.tolist(), TARGETS.tolist())


def with_jittery_cas(function, **others):
    """The function with its atomics handing over between threads."""
    names = {**function.__globals__, "cas": jitter.cas, **others}
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__)


def components_on(seed, union):
    scheduler = jitter.Scheduler(seed)
    parent = jitter.Jittery(np.arange(7), scheduler)

    def thread(number):
        for edge in range(number, len(SOURCES), 3):
            union(parent, SOURCES[edge], TARGETS[edge])

    scheduler.run(*(lambda number=number: thread(number) for number in range(3)))
    return [root(parent.values, vertex) for vertex in range(7)]


def root(parent, vertex):
    while parent[vertex] != vertex:
        vertex = parent[vertex]
    return vertex


def careless_union(parent, one, other):
    """Rem's algorithm with the compare-and-swap taken apart: the planted race."""
    while parent[one] != parent[other]:
        if parent[one] > parent[other]:
            one, other = other, one
        above = parent[other]
        parent[other] = parent[one]
        if above == other:
            return
        other = above


def test_rem_loses_no_edge():
    union = with_jittery_cas(rem_union)
    for seed in SEEDS:
        assert components_on(seed, union) == EXPECTED, f"seed {seed}"


def test_hook_atomic_loses_no_edge():
    union = with_jittery_cas(hook_up)
    for seed in SEEDS:
        assert components_on(seed, union) == EXPECTED, f"seed {seed}"


def listed_by_three(seed, **replaced):
    """What three threads list, and how long they say the list is."""
    scheduler = jitter.Scheduler(seed)
    function = jitter.jittery(list_row, **replaced)
    listed = jitter.Jittery(np.full(9, -1), scheduler)
    counts = jitter.Jittery(np.zeros(2, np.int64), scheduler)

    def thread(number):
        for vertex in range(number, 9, 3):
            function(vertex, listed, counts, 1)

    scheduler.run(*(lambda number=number: thread(number) for number in range(3)))
    return sorted(listed.values.tolist()), counts.values.tolist()


def test_every_long_row_is_listed_once():
    for seed in SEEDS:
        assert listed_by_three(seed) == (list(range(9)), [0, 9]), f"seed {seed}"


def careless_add(array, index, value):
    """The planted race of a list: another thread may add between the read and the write."""
    held = array[index]
    array[index] = held + value
    return held


def test_a_careless_list_loses_rows():
    assert any(listed_by_three(seed, fetch_add=careless_add)[1] != [0, 9] for seed in SEEDS)


def test_a_planted_race_is_caught():
    assert any(components_on(seed, careless_union) != EXPECTED for seed in SEEDS)
