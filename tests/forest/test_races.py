"""The tree functions of the forest under a jittery interpreter, and a planted race that is caught."""

import numpy as np
import pytest

from edgewise.forest import trees
from tests import jitter

pytestmark = pytest.mark.interpreter
SEEDS = range(150)
#: A tree: all its edges are taken at once.
SOURCES, TARGETS = np.array([5, 4, 3, 6, 1, 2]), np.array([4, 3, 5 - 3, 1, 4, 0])


def careless_cas(array, index, expected, value):
    """A compare-and-swap that is taken apart."""
    held = array[index]
    if held == expected:
        array[index] = value
    return held


def hooked_on(seed, **atomics):
    scheduler = jitter.Scheduler(seed)
    parent, hooked_by = jitter.Jittery(np.arange(7), scheduler), jitter.Jittery(np.full(7, -1), scheduler)
    hook = jitter.jittery(trees.hook, **atomics)

    def thread(number):
        for edge in range(number, len(SOURCES), 3):
            hook(parent, hooked_by, SOURCES[edge], TARGETS[edge], edge)

    scheduler.run(*(lambda number=number: thread(number) for number in range(3)))
    return sorted(hooked_by.values.tolist())


def test_every_edge_hooks_one_vertex():
    for seed in SEEDS:
        assert hooked_on(seed) == [-1, 0, 1, 2, 3, 4, 5], f"seed {seed}"


def test_a_planted_race_is_caught():
    assert any(hooked_on(seed, cas=careless_cas) != [-1, 0, 1, 2, 3, 4, 5] for seed in SEEDS)
