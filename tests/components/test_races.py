"""Device functions under a jittery interpreter: no race in ours, and a planted one is caught."""

from types import FunctionType

import numpy as np
import pytest

from edgewise.components import result
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


LABELS = [0, 0, 2, 0, 2, 2, 0, 7, 7, 0, 2, 0]


def counted_on(seed, **replaced):
    """Sizes counted by three threads in blocks of two vertices."""
    scheduler = jitter.Scheduler(seed)
    sizes = jitter.Jittery(np.zeros(len(LABELS), np.int32), scheduler)
    body = jitter.jittery(result.count_block.body, COUNTED=2, **replaced)

    def thread(number):
        for block in range(number, len(LABELS) // 2, 3):
            body(block, 0, np.array(LABELS, np.int32), sizes)

    scheduler.run(*(lambda number=number: thread(number) for number in range(3)))
    return sizes.values.tolist()


def careless_add(array, index, value):
    """Read and then write, with a hand-over between."""
    array[index] = array[index] + value


def test_members_are_all_counted():
    expected = np.bincount(LABELS, minlength=len(LABELS)).tolist()
    assert all(counted_on(seed) == expected for seed in SEEDS)
    assert any(counted_on(seed, fetch_add=careless_add) != expected for seed in SEEDS)


@pytest.mark.parametrize("labels", [[], [0], [0, 0, 0], [0, 1, 0, 3, 1], LABELS, np.sort(LABELS)], ids=len)
@pytest.mark.parametrize("times", [1, 5000])
def test_sizes_of_many_vertices(labels, times):
    labels = np.tile(np.array(labels, np.int32), times)
    roots, sizes = result.component_sizes_on_host(labels)
    expected, counts = np.unique(labels, return_counts=True)
    assert roots.tolist() == expected.tolist() and sizes.tolist() == counts.tolist()
    assert sizes.dtype == np.int64
