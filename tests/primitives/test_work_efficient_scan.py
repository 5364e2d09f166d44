"""The sweeps of the thesis, Algorithms 4.1 to 4.4: their steps, their results, and how much they do."""

import os
from itertools import pairwise

import numpy as np
import pytest

from edgewise.device import arrays
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import OptionError
from edgewise.primitives import work_efficient_scan as page
from edgewise.primitives.segments import segmented_scan

DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")
pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
WHERE = arrays.resolve(DEVICE)
SCANS = {"sum": np.cumsum, "min": np.minimum.accumulate, "max": np.maximum.accumulate}
SIZES = [0, 1, 3, 8] + ([] if SIMULATED else [17]) + ([] if SIMULATED or INTERPRETED else [100_000])
TYPES = ["int64"] if SIMULATED else ["int64", "float32", "uint32"]


def moved(values, dtype="int64"):
    return arrays.move(np.array(values, dtype), WHERE)


@pytest.mark.parametrize("operation", SCANS)
@pytest.mark.parametrize("size", SIZES)
def test_a_scan_is_that_of_numpy(size, operation):
    for dtype in TYPES:
        values = np.random.default_rng(size).integers(0, 99, size).astype(dtype)
        scanned = page.work_efficient_scan(moved(values, dtype), operation, inclusive=True)
        assert arrays.device_of(scanned) == WHERE and scanned.dtype == values.dtype
        assert scanned.tolist() == SCANS[operation](values, dtype=dtype).tolist()
        before = page.work_efficient_scan(moved(values, dtype), operation).tolist()
        assert before == [page.identity_of(operation, values.dtype), *scanned.tolist()][:size]


@pytest.mark.parametrize("operation", SCANS)
@pytest.mark.parametrize("sizes", [[], [0], [5], [0, 0, 4, 0, 1, 9, 2, 0], [1] * 9, [3, 30, 3]], ids=str)
def test_a_segmented_scan_is_that_of_each_segment(sizes, operation):
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
    values = np.random.default_rng(len(sizes)).integers(0, 99, offsets[-1])
    given = moved(values), moved(offsets), operation
    scanned = page.segmented_work_efficient_scan(*given, inclusive=True).tolist()
    assert scanned == [one for a, b in pairwise(offsets) for one in SCANS[operation](values[a:b]).tolist()]
    assert scanned == segmented_scan(*given, inclusive=True).tolist()
    assert page.segmented_work_efficient_scan(*given).tolist() == segmented_scan(*given).tolist()


def test_the_sweeps_step_by_step():
    """Two segments, of three items and of five."""
    values, heads = moved([3, 1, 7, 1, 4, 1, 6, 3]), moved([1, 0, 0, 1, 0, 0, 0, 0], "uint8")
    flags = heads.copy()
    page.segmented_up_sweep(values, flags)
    assert values.tolist() == [3, 4, 7, 1, 4, 5, 6, 15]
    assert flags.tolist() == [1, 1, 0, 1, 0, 0, 0, 1]
    page.segmented_down_sweep(values, flags, heads)
    assert values.tolist() == [0, 3, 4, 0, 1, 5, 6, 12]


@pytest.mark.skipif(SIMULATED or not INTERPRETED, reason="operations are counted in the interpreter")
@pytest.mark.parametrize("size", [1, 2, 64, 1024])
def test_work_is_linear(size, monkeypatch):
    """2 (n - 1) operations for n items, and no more of them within segments."""
    operations, combine = [], page.combined
    monkeypatch.setattr(page, "combined", lambda *given: operations.append(1) or combine(*given))
    page.work_efficient_scan(moved(np.ones(size)))
    assert len(operations) == 2 * (size - 1)
    operations.clear()
    offsets = np.unique([0, size // 3, size // 2, size])
    page.segmented_work_efficient_scan(moved(np.ones(size)), moved(offsets))
    assert len(operations) <= 2 * (size - 1)


def test_bad_input():
    with pytest.raises(
        OptionError, match="an array of 3 items has no balanced tree; pad it to a power of two"
    ):
        page.up_sweep(moved([1, 2, 3]))
    with pytest.raises(OptionError, match="an array of 0 items"):
        page.segmented_up_sweep(moved([]), moved([], "uint8"))
    with pytest.raises(OptionError, match="operation='mean' is unknown; use one of sum, min, max"):
        page.work_efficient_scan(moved([]), "mean")
