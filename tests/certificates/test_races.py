"""The spanning forest of a proof under a jittery interpreter: it has no cycle and loses no edge."""

import numpy as np
import pytest

from edgewise.components import certificate
from tests import jitter
from tests.oracles import components as oracle

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
SEEDS = range(150)
SOURCES, TARGETS = np.array([4, 4, 3, 5, 1, 5, 2, 0, 6]), np.array([3, 2, 5, 1, 4, 0, 6, 6, 4])


def forests_on(seed, hook):
    """The kept edges of three threads, and the components that they make."""
    scheduler = jitter.Scheduler(seed)
    parent = jitter.Jittery(np.arange(7), scheduler)
    kept = []

    def thread(number):
        for edge in range(number, len(SOURCES), 3):
            if hook(parent, SOURCES[edge], TARGETS[edge]):
                kept.append(edge)

    scheduler.run(*(lambda number=number: thread(number) for number in range(3)))
    return kept, oracle(7, SOURCES[kept].tolist(), TARGETS[kept].tolist())


def is_forest(kept, labels):
    return len(kept) == 7 - len(set(labels)) and labels == oracle(7, SOURCES.tolist(), TARGETS.tolist())


def test_the_kept_edges_are_a_spanning_forest():
    hook = jitter.jittery(certificate.hook)
    assert all(is_forest(*forests_on(seed, hook)) for seed in SEEDS)


def test_a_careless_hook_is_caught():
    def careless(parent, high, expected, low):
        held = parent[high]
        parent[high] = low
        return held

    hook = jitter.jittery(certificate.hook, cas=careless)
    with jitter.planted():
        assert not all(is_forest(*forests_on(seed, hook)) for seed in SEEDS)
