"""The primitives on segments equal loops over the segments, on every engine."""

import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgewise.device import arrays
from edgewise.device.target import SIMULATED
from edgewise.errors import OptionError
from edgewise.primitives import segments as page
from edgewise.primitives.work_efficient_scan import identity_of

DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
WHERE = arrays.resolve(DEVICE)
SIZES = [[], [0], [3], [0, 0, 4, 0, 1, 9, 2, 0], [1] * 5, [17]]
TYPES = ["int64", "float64", "uint32"]


def segmented(sizes, dtype="int64", seed=1):
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 9, offsets[-1]).astype(dtype)
    return values, rng.random(len(values)) < 0.4, offsets


def each_segment(function, values, offsets):
    parts = [function(values[a:b]) for a, b in pairwise(offsets)]
    return [one for part in parts for one in np.asarray(part).tolist()]


def on_device(*columns):
    return [arrays.move(np.ascontiguousarray(column), WHERE) for column in columns]


def check(sizes, dtype):
    values, flags, offsets = segmented(sizes, dtype)
    moved, marked, starts = on_device(values, flags, offsets)
    for name, scan in (("sum", np.cumsum), ("min", np.minimum.accumulate), ("max", np.maximum.accumulate)):
        found = page.segmented_scan(moved, starts, name, inclusive=True)
        assert arrays.device_of(found) == WHERE and found.dtype == values.dtype
        assert found.tolist() == each_segment(scan, values, offsets)
        before = page.segmented_scan(moved, starts, name).tolist()
        identity = identity_of(name, values.dtype)
        shifted = each_segment(
            lambda one, scan=scan, i=identity: [i, *scan(one)][: len(one)], values, offsets
        )
        assert before == shifted
    ones = each_segment(lambda one: np.cumsum(one) - one, flags.astype(int), offsets)
    assert page.segmented_enumerate(marked, starts).tolist() == ones
    heads = each_segment(lambda one: [one[0]] * len(one) if len(one) else [], values, offsets)
    assert page.segmented_copy(moved, starts).tolist() == heads
    tails = each_segment(lambda one: [one[-1]] * len(one) if len(one) else [], values, offsets)
    assert page.segmented_copy(moved, starts, tail=True).tolist() == tails
    assert page.segmented_sort(moved, starts).tolist() == each_segment(np.sort, values, offsets)
    pairs = [(values[a:b], flags[a:b]) for a, b in pairwise(offsets)]
    split, both = page.split_and_segment(moved, marked, starts)
    assert split.tolist() == [one for part, flag in pairs for one in [*part[~flag], *part[flag]]]
    assert np.diff(both.tolist()).tolist() == [n for _, flag in pairs for n in ((~flag).sum(), flag.sum())]
    packed, left = page.segmented_pack(moved, marked, starts)
    assert packed.tolist() == values[flags].tolist()
    assert np.diff(left.tolist()).tolist() == [flag.sum() for _, flag in pairs]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_small(sizes):
    for dtype in TYPES:
        check(sizes, dtype)


@pytest.mark.skipif(SIMULATED, reason="nothing new")
@settings(max_examples=30)
@given(st.lists(st.integers(0, 6), max_size=8))
def test_any_sizes(sizes):
    check(sizes, "int64")


def test_sums_of_floats_are_of_their_segment_alone():
    values, offsets = on_device(np.array([1e300, 1.0, 2.0]), np.array([0, 1, 3]))
    assert page.segmented_scan(values, offsets, inclusive=True).tolist() == [1e300, 1.0, 3.0]


def test_unknown_operation():
    with pytest.raises(OptionError, match="operation='mean' is unknown; use one of sum, min, max"):
        page.segmented_scan(*on_device(np.ones(1), np.array([0, 1])), "mean")
