"""Thresholds of weights: what a list of them must be, and the same in the type of the weights.

A threshold becomes a number of the type of the weights before it is compared, as in the conditions on columns
of a table: the nearest float, or the next larger integer.  So comparisons are exact for integers of any size,
and a threshold of 0.9 is reached by a weight of 0.9 in single precision.
"""

import math
from itertools import pairwise

import numpy as np

from edgewise.device import arrays
from edgewise.errors import OptionError, argument
from edgewise.method import is_number

#: Largest number of thresholds, whose number is counted in a byte for each edge.
MAX_THRESHOLDS = 255
INFINITE = (math.inf, -math.inf)


def checked(thresholds) -> tuple:
    """The thresholds as a tuple of Python's numbers, which ascend."""
    name = argument("thresholds")
    try:
        given = tuple(thresholds)
    except TypeError:
        given = ()
    if isinstance(thresholds, str | bytes) or not given:
        raise OptionError(f"{name} is a list of numbers, such as [0.8, 0.9]; give at least one")
    if len(given) > MAX_THRESHOLDS:
        raise OptionError(f"{name} holds {len(given):,} numbers; give at most {MAX_THRESHOLDS}")
    for value in given:
        if not is_number(value, whole=False) or value != value:
            raise OptionError(f"{name} holds {value!r}, which no weight can be compared with; give numbers")
    plain = tuple(value.item() if isinstance(value, np.generic) else value for value in given)
    for before, after in pairwise(plain):
        if after <= before:
            problem = f"{after} comes after {before}" if after < before else f"{after} comes twice"
            raise OptionError(f"{name} must ascend, but {problem}; sort them")
    return plain


def limits_of(thresholds, kind):
    """The thresholds in the type of the weights, ascending; without those that no integer reaches."""
    if kind.kind == "f":
        values = [_as_float(value) for value in thresholds]
        with np.errstate(over="ignore"):  # beyond the largest number of the type are infinite weights only
            return np.array(values, kind)
    least, largest = np.iinfo(kind).min, np.iinfo(kind).max
    values = [value if value in INFINITE else math.ceil(value) for value in thresholds]
    return np.array([max(value, least) for value in values if value <= largest], kind)


def _as_float(value):
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def is_reached(threshold, weights, at_most=False):
    """Whether each weight is at least, or at most, a threshold: a boolean array beside the weights."""
    kind = weights.dtype
    if kind.kind == "f":
        (limit,) = limits_of([threshold], kind)
        return weights <= limit if at_most else weights >= limit
    bounds = np.iinfo(kind)
    if threshold not in INFINITE:
        threshold = math.floor(threshold) if at_most else math.ceil(threshold)
    if bounds.min <= threshold <= bounds.max:
        return weights <= kind.type(threshold) if at_most else weights >= kind.type(threshold)
    reached = arrays.empty(len(weights), np.bool_, arrays.device_of(weights))
    reached.fill((threshold > 0) == at_most)
    return reached


def strongest(kind, maximum):
    """The weight of a pair that people have decided, which reaches every threshold of weights of a type."""
    if kind.kind == "f":
        return kind.type(np.inf if maximum else -np.inf)
    return kind.type(np.iinfo(kind).max if maximum else np.iinfo(kind).min)
