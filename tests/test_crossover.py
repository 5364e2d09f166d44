"""The crossover of two ways, by a clock that runs as the ways say."""

from itertools import cycle

import numpy as np
import pytest

from edgewise.crossover import LEAST_PAIRS, MOST_SPREAD, Measurement, crossover, is_steady, measure

SIZES = [1 << exponent for exponent in range(7, 15)]
pytestmark = pytest.mark.interpreter


class Clock:
    """A clock that runs only while a way does, whose seconds are ``seconds(size)``."""

    now = 0.0

    def __call__(self):
        return self.now

    def pairs_of(self, *ways):
        def run(way, size):
            seconds = way(size)
            self.now += seconds
            return seconds

        return lambda size: tuple(lambda way=way: run(way, size) for way in ways)


def measured(one, other, seconds=1e6):
    clock = Clock()
    return measure(clock.pairs_of(one, other), SIZES, seconds, clock)


def steep(size):
    return size / 1e6


def flat(size):
    return 1e-3 + size / 1e7  # as steep at 1,111


@pytest.mark.parametrize("default", [50, 200, 20_000, 1 << 20])
def test_the_crossover_is_found(default):
    limit, gain = crossover(measured(steep, flat), default)
    assert limit == pytest.approx(1111, rel=0.05)
    assert gain > 0.5


@pytest.mark.parametrize("default", [1025, 1111, 2048])
def test_a_default_between_the_same_sizes_stays(default):
    assert crossover(measured(steep, flat), default) == (default, 0)


def test_the_gain_is_the_largest_between_both_limits():
    times = measured(steep, flat)
    assert crossover(times, 10_000).gain == pytest.approx(steep(8192) / flat(8192) - 1)
    assert crossover(times, 300).gain == pytest.approx(flat(512) / steep(512) - 1)


def test_one_way_that_always_wins():
    assert crossover(measured(steep, lambda size: 2 * steep(size)), 500).limit == pytest.approx(
        1.1 * SIZES[-1]
    )
    assert crossover(measured(lambda size: 2 * steep(size), steep), 500).limit == SIZES[0]
    assert crossover(measured(steep, lambda size: 2 * steep(size)), 1 << 20) == (1 << 20, 0)


def test_little_is_gained_by_little():
    limit, gain = crossover(measured(steep, lambda size: steep(size) / 1.05), 1 << 20)
    assert limit == SIZES[0] and gain == pytest.approx(0.05)


@pytest.mark.parametrize("seed", range(20))
def test_noise_gains_nothing(seed):
    random = np.random.default_rng(seed)

    def noisy(size):
        return steep(size) * random.uniform(0.8, 1.25)

    assert crossover(measured(noisy, noisy), 1000).gain < 0.1


def test_a_machine_that_becomes_slower():
    """Pairs of runs that follow each other are compared, each of them first in turn."""
    slow = iter(np.linspace(1, 3, 10_000))
    limit, gain = crossover(
        measured(lambda size: steep(size) * next(slow), lambda size: flat(size) * next(slow)), 20_000
    )
    assert limit == pytest.approx(1111, rel=0.1) and gain > 0.5


def test_steadiness():
    factors = cycle([1, 1, 2 * MOST_SPREAD])
    assert is_steady(measured(steep, flat))
    assert not is_steady(measured(lambda size: steep(size) * next(factors), flat))
    assert not is_steady([])


def test_sizes_that_take_too_long_are_left_out():
    clock = Clock()
    times = measure(clock.pairs_of(lambda size: size, lambda size: 2 * size), SIZES, 40_000, clock)
    assert 2 < len(times) < len(SIZES)
    assert all(len(one.ratios) >= LEAST_PAIRS for one in times)
    assert clock.now < 40_000 + 3 * SIZES[len(times)] + 6 * SIZES[0]
    assert measured(steep, flat, 1e-6) == []


def test_the_spread_is_that_of_the_quartiles():
    assert Measurement(7, [1.0, 2.0, 3.0, 5.0, 99.0]).spread == 5.0 / 2.0
