"""Device functions under a jittery interpreter: no race in ours, and a planted one is caught."""

from types import FunctionType

import numpy as np
import pytest

from edgewise.components.hang_rem import hang
from edgewise.components.hook import hook_up
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


def test_a_planted_race_is_caught():
    assert any(components_on(seed, careless_union) != EXPECTED for seed in SEEDS)


def hung_and_joined(seed, join_early):
    """Components by three threads that hang all edges; one joins them by Rem, perhaps without waiting."""
    scheduler = jitter.Scheduler(seed)
    parent = jitter.Jittery(np.arange(7), scheduler)
    union = with_jittery_cas(rem_union)

    def hang_some(number):
        for edge in range(number, len(SOURCES), 2):
            hang.body(edge, (SOURCES[edge], TARGETS[edge]), parent, SOURCES, TARGETS)

    def join_all():
        for source, target in zip(SOURCES, TARGETS):
            union(parent, source, target)

    scheduler.run(*(lambda number=number: hang_some(number) for number in range(2)), *[join_all][:join_early])
    if not join_early:
        assert all(parent.values <= np.arange(7))
        scheduler.run(join_all)
    return [root(parent.values, vertex) for vertex in range(7)]


def test_writes_that_hanging_loses_are_joined_later():
    assert all(hung_and_joined(seed, 0) == EXPECTED for seed in SEEDS)
    assert not all(hung_and_joined(seed, 1) == EXPECTED for seed in SEEDS)  # the planted race
