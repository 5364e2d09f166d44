"""Positions of marks, on every engine."""

import os

import numpy as np
import pytest

from edgewise.device import arrays
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.primitives import marks
from edgewise.primitives.array_operations import exclusive_scan

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu")


@pytest.mark.parametrize("count", (0, 1, 8, 9000))
@pytest.mark.parametrize("share", (0.0, 0.3, 1.0))
def test_marked(count, share):
    given = np.random.default_rng(count).random(count) < share
    where = arrays.resolve(DEVICE)
    here = marks.new_marks(count, where)
    here[:count] = arrays.move(given, where)
    assert arrays.move(marks.marked(here), "cpu").tolist() == np.flatnonzero(given).tolist()
    words = arrays.move(here, "cpu").view(np.uint64)
    counts = np.empty(-(-len(words) // marks.ROW), np.int64)
    if not SIMULATED:  # the loops of GPUs by one lane
        marks.count_marks(len(counts), words, counts)
        assert counts.sum() == given.sum()
        positions = np.empty(counts.sum(), np.int64)
        marks.write_marked(len(counts), words, exclusive_scan(counts), positions)
        assert positions.tolist() == np.flatnonzero(given).tolist()


@pytest.mark.gpu
def test_on_a_gpu():
    if SIMULATED or not arrays.gpu_count():
        pytest.skip("needs a GPU")
    for count in (1, 4096, 4097, 3_000_001):
        for share in (0.001, 0.5):
            given = np.random.default_rng(count).random(count) < share
            here = marks.new_marks(count, "cuda:0")
            here[:count] = arrays.move(given, "cuda:0")
            assert np.array_equal(arrays.move(marks.marked(here), "cpu"), np.flatnonzero(given))


@pytest.mark.ptx
def test_kernels_compile():
    if SIMULATED or INTERPRETED:
        pytest.skip("needs the compiler")
    for loop, kinds in (
        (marks.count_marks, ("uint64[]", "int64[]")),
        (marks.write_marked, ("uint64[]", "int64[]", "int64[]")),
    ):
        assert ".entry" in loop.kernels["warp"].ptx(kinds, (9, 0))
