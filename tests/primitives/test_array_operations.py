"""Counts and means of arrays, in parts on a GPU, are those of NumPy."""

import os

import numpy as np
import pytest

from edgewise.device import arrays
from edgewise.device.target import SIMULATED
from edgewise.primitives import array_operations, count, mean

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if SIMULATED else "cpu")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(array_operations, "AT_ONCE", 5)


@pytest.mark.parametrize("size", [0, 1, 5, 12])
def test_count(size):
    marked = np.arange(size) % 3 != 1
    found = count(arrays.move(marked, DEVICE))
    assert type(found) is int
    assert found == marked.sum()


@pytest.mark.parametrize("dtype", [np.int32, np.uint64, np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 5, 12])
def test_mean(size, dtype):
    values = (np.arange(size) ** 2 + 3).astype(dtype)
    found = mean(arrays.move(values, DEVICE))
    assert type(found) is float
    assert found == pytest.approx(values.mean(dtype=np.float64), rel=1e-14)
