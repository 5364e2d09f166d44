"""The crossover of two ways of doing the same thing: the size from which on the other way takes less time.

Both ways run in turn on each of some ascending sizes, from a quick size to a slow one.  What is compared is
the ratio of the times of a pair of runs that follow each other, since a machine may become slower in between,
and runs that come next to each other feel it alike.

A limit is moved from its default only if that gains :data:`LEAST_GAIN` on one of the sizes between the two,
and a gain counts as far as three quarters of the pairs show it.  So noise moves no limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import NamedTuple

#: Pairs of runs on a size, at least.
LEAST_PAIRS = 7
#: Pairs of runs on a size, at most.
MOST_PAIRS = 25
#: What a limit has to gain to be moved.
LEAST_GAIN = 0.1
#: Largest ratio of the quartiles of the ratios that is no sign of a busy machine.
MOST_SPREAD = 1.3

#: A run of a way, which returns its seconds.
Run = Callable[[], float]


class Measurement(NamedTuple):
    """A size, and the ratios of the seconds of the one way and of the other, pair by pair, ascending."""

    size: float
    ratios: list[float]

    def quartile(self, number: int) -> float:
        """The first quartile, the median or the third one."""
        return self.ratios[(len(self.ratios) - 1) * number // 4]

    @property
    def spread(self) -> float:
        """Ratio of the third quartile and the first one."""
        return self.quartile(3) / self.quartile(1)


class Crossover(NamedTuple):
    """A limit that was measured.

    Attributes
    ----------
    limit : float
        Size from which on the other way takes less time; the default if no other limit is better.
    gain : float
        What it gains over the default on the size where it gains most: 0.25 if a call took 25 % longer.
    """

    limit: float
    gain: float


def measure(
    pair_of: Callable[[float], tuple[Run, Run]],
    sizes: Sequence[float],
    seconds: float,
    clock: Callable[[], float] = perf_counter,
) -> list[Measurement]:
    """Run both ways on ascending sizes, as many of them as fit into some seconds after the first two runs.

    ``pair_of(size)`` returns what runs the one way and the other on a size.
    """
    found: list[Measurement] = []
    for run in pair_of(sizes[0]):  # which compiles
        run()
    end = clock() + seconds
    for number, size in enumerate(sizes):
        one, other = pair_of(size)
        one(), other()
        spent = one() + other()
        if clock() + LEAST_PAIRS * spent > end:
            break
        share = clock() + (end - clock()) / (len(sizes) - number)
        ratios: list[float] = []
        while len(ratios) < LEAST_PAIRS or (len(ratios) < MOST_PAIRS and clock() < share):
            if len(ratios) % 2:  # what runs before changes what is in the caches
                after, before = other(), one()
            else:
                before, after = one(), other()
            ratios.append(before / after)
        found.append(Measurement(size, sorted(ratios)))
    return found


def is_steady(found: Iterable[Measurement]) -> bool:
    """Whether the times of half of the sizes, or more, vary little."""
    spreads = sorted(one.spread for one in found)
    return bool(spreads) and spreads[(len(spreads) - 1) // 2] <= MOST_SPREAD


def crossover(found: Sequence[Measurement], default: float) -> Crossover:
    """The limit with the least loss over all sizes: the sum of the logarithms of what the way taken loses."""
    logs = [math.log(one.quartile(2)) for one in found]
    start = sum(one.size < default for one in found)  # the first size where the default takes the other way

    def loss(first):
        return sum(max(log, 0) for log in logs[:first]) + sum(max(-log, 0) for log in logs[first:])

    first = min(range(len(found) + 1), key=lambda at: (loss(at), abs(at - start)))
    gains = [one.quartile(1) - 1 for one in found[first:start]]
    gains += [1 / one.quartile(3) - 1 for one in found[start:first]]
    if first == start:
        return Crossover(default, 0.0)
    return Crossover(_between(found, logs, first), max(gains))


def _between(found, logs, first):
    """The size between two where both ways take the same time, on a scale of logarithms."""
    if first == 0:
        return found[0].size
    if first == len(found):
        return found[-1].size * 1.1  # that is as far as was measured
    below, above = -min(logs[first - 1], 0.0), max(logs[first], 0.0)
    share = below / (below + above) if below + above else 0.5
    return found[first - 1].size * (found[first].size / found[first - 1].size) ** share
