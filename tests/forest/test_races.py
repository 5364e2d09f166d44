"""The rounds of Boruvka's algorithm under a jittery interpreter, and planted races that are caught."""

from importlib import import_module

import numpy as np
import pytest

from edgewise.device.regions import Worker
from edgewise.forest import filter as lists_of_edges
from edgewise.forest import renumbering
from edgewise.forest.order import LARGEST
from edgewise.forest.trees import Trees
from tests import jitter

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
boruvka = import_module("edgewise.forest.boruvka")
#: A cycle with chords, whose weights are few, so that edges of equal weight compete.
SOURCES, TARGETS = np.array([0, 1, 2, 3, 4, 0, 0, 1]), np.array([1, 2, 3, 4, 5, 5, 3, 4])
WEIGHTS = np.array([2, 1, 2, 1, 2, 1, 1, 2])
FOREST, WORKERS, SEEDS = [0, 1, 3, 5, 6], 3, range(40)


def forest_by_threads(seed, packed, **atomics):
    """Edges that three workers find, each with a group of the edges; none if they do not come to an end."""
    scheduler, n, m = jitter.Scheduler(seed), 6, len(SOURCES)
    capacity, words = m, WEIGHTS << 32 | np.arange(m) if packed else WEIGHTS.copy()
    columns = [np.zeros(WORKERS * capacity, np.int64) for _ in range(4)]
    counts, offers = np.zeros(WORKERS, np.int64), np.full(n, LARGEST)
    for edge in range(m):
        group = edge % WORKERS
        slot = group * capacity + counts[group]
        for column, value in zip(columns, (SOURCES[edge], TARGETS[edge], words[edge], edge)):
            column[slot] = value
        counts[group] += 1
        for end in (SOURCES[edge], TARGETS[edge]):
            offers[end] = min(offers[end], words[edge])

    def shared(values):
        return jitter.Jittery(values, scheduler)

    none = np.empty(0, np.int64)
    trees = Trees(
        *map(shared, (np.arange(n), np.full(n, -1), offers, none if packed else np.full(n, LARGEST), none))
    )
    lists = lists_of_edges.Lists(*columns[:3], none if packed else columns[3], counts, none, 1, capacity)
    phase = lists_of_edges.Phase(0, none, 0, none, none, shared(np.array([1, 0])))
    grow = jitter.jittery(boruvka.grow_trees.body, **atomics)

    def start(number, barrier):
        grow(Worker(number, WORKERS, barrier), trees, lists, phase, 1)

    ended = jitter.run_region(scheduler, WORKERS, start)
    found = trees.hooked_by.values
    return sorted(found[found >= 0].tolist()) if ended else []


@pytest.mark.parametrize("packed", [True, False])
def test_every_order_of_threads_finds_the_forest(packed):
    for seed in SEEDS:
        assert forest_by_threads(seed, packed) == FOREST, f"seed {seed}"


@pytest.mark.parametrize("packed", [True, False])
def test_a_planted_race_is_caught(packed):
    assert any(forest_by_threads(seed, packed, fetch_min=jitter.careless_min) != FOREST for seed in SEEDS)


#: Parents of two trees, whose roots have their numbers already.
PARENTS = [1, 2, renumbering.NUMBERED, 0, 3, 6, renumbering.NUMBERED | 1, 5, 7]
NUMBERS = [0, 0, 0, 0, 0, 1, 1, 1, 1]


def numbers_by_threads(seed, spread):
    """Numbers that three threads spread; none if they do not come to an end."""
    scheduler = jitter.Scheduler(seed)
    numbers = jitter.Jittery(np.array(PARENTS), scheduler)
    fetch = jitter.jittery(renumbering.spread_number.fetch)

    def start(number, _):
        for vertex in range(number, len(PARENTS), 3):
            spread(vertex, fetch(vertex, numbers), numbers)

    ended = jitter.run_region(scheduler, 3, start)
    return (numbers.values & (renumbering.NUMBERED - 1)).tolist() if ended else []


def careless_spread(vertex, seen, numbers):
    """The number without the bit that tells it from a vertex, until the path has come to an end."""
    above, beyond = int(seen[0]), int(seen[1])
    while above & renumbering.NUMBERED == 0:
        numbers[vertex] = beyond & (renumbering.NUMBERED - 1)
        if beyond & renumbering.NUMBERED:
            numbers[vertex] = beyond
            return
        beyond = int(numbers[beyond])


def test_every_order_of_threads_spreads_the_numbers():
    spread = jitter.jittery(renumbering.spread_number.body)
    assert all(numbers_by_threads(seed, spread) == NUMBERS for seed in SEEDS)


def test_a_number_without_its_bit_is_caught():
    with jitter.planted():
        assert any(numbers_by_threads(seed, careless_spread) != NUMBERS for seed in SEEDS)
