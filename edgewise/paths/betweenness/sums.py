"""Sums of floats that do not depend on threads: what is added up by whom, and in which order.

The batches of sources are dealt out to a number of *sums* that depends on the size of the graph only.  Each
sum is added up by one worker, in the order of its batches, and in the end the sums are added in their order.
So the scores are the same, bit for bit, for any number of threads.  On a GPU a sum belongs to a team of
threads; their number depends on the kind of GPU and on its free memory, and so do the last bits.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, device, each, fetch_add, load

#: Sums of a small graph, and of a very large one.
MOST, LEAST = 1024, 16
#: Elements of all sums of a graph that is neither.
ELEMENTS = 2**25


class Dependencies(NamedTuple):
    """What a method returns.

    Attributes
    ----------
    scores : (n,) float64 array
        Dependencies of all sources on each vertex, added up; infinite or NaN where there are too many paths.
    edge_scores : (entries,) float64 array or None
        The same on each entry of the rows.
    rounded : bool
        Whether a weight was lost by rounding, so that the scores mean nothing.
    """

    scores: Any
    edge_scores: Any = None
    rounded: bool = False


class Sums(NamedTuple):
    """The sums, and the state of the workers that share them.

    ``values`` (count * size,) float64, zeros at first; ``next_sum`` (1,) int64 counts those that are taken;
    ``stop`` (1,) int32 becomes 1 where all workers are to end.
    """

    values: Any
    count: int  # type: ignore[assignment]
    next_sum: Any
    stop: Any


def number_of_sums(size, n_batches) -> int:
    """How many sums of ``size`` numbers there are for some batches."""
    return max(1, min(n_batches, MOST, max(LEAST, ELEMENTS // max(size, 1))))


def new_sums(size, n_batches) -> Sums:
    """Sums of ``size`` numbers each, on the host."""
    count = number_of_sums(size, n_batches)
    return Sums(np.zeros(count * size), count, np.zeros(1, np.int64), np.zeros(1, np.int32))


@device
def take(sums):
    """The next sum that no worker has taken; ``sums.count`` or more where there is none."""
    return np.int64(fetch_add(sums.next_sum, 0, 1))


@device
def is_stopped(sums):
    """Whether the workers are to end."""
    return load(sums.stop, 0) != 0


@each
def add_up(index, values, count, result):
    """Add the sums in their order."""
    added = 0.0
    for number in range(count):
        added += values[number * len(result) + index]
    result[index] = added


def added_up(values, count) -> Any:
    """The total of ``count`` sums, on their device."""
    result = arrays.empty(len(values) // count, np.float64, arrays.device_of(values))
    add_up(len(result), values, count, result)
    return result
