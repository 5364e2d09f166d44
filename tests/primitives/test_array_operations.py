"""Counts and means of arrays, in parts on a GPU, and filled arrays are those of NumPy."""

import os

import numpy as np
import pytest

from edgewise.device import arrays
from edgewise.device.target import SIMULATED
from edgewise.primitives import array_operations, copy_into, count, filled, mean

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if SIMULATED else "cpu")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(array_operations, "BLOCK_ITEMS", 5)


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


#: Numbers of items around those with which arrays are filled in another way, and lines that are not whole.
SIZES = [0, 1, 15, 16, 17, 63, 64, 65, 100, 255, 256, 257, 1000]


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("size", SIZES)
def test_filled(monkeypatch, size, dtype):
    monkeypatch.setattr(array_operations, "COMPILED_BYTES", 64)
    for value in (dtype(7), np.inf if dtype in (np.float32, np.float64) else np.iinfo(dtype).max):
        for shared in (10**9, 1024, 64):
            monkeypatch.setattr(array_operations, "SHARED_BYTES", shared)
            found = filled(size, value, dtype)
            assert found.dtype == dtype
            assert len(found) == size
            assert (found == value).all()


@pytest.mark.parametrize("first", range(5))
def test_a_part_that_begins_within_a_line_is_filled_alone(first):
    memory = np.zeros(100, np.int32)
    for end in (first, first + 1, first + 3, 40, 99):
        memory[:] = 0
        array_operations.fill_from(first, end, memory, 7)
        assert memory.tolist() == [0] * first + [7] * (end - first) + [0] * (100 - end)


def test_several_parts(monkeypatch):
    size = 3 * array_operations.SHARED_BYTES // 8 + 5
    monkeypatch.setattr(array_operations, "SHARED_BYTES", 1)
    if os.environ.get("NUMBA_DISABLE_JIT"):
        monkeypatch.setattr(array_operations, "PART_BYTES", 256)
        size = 333
    assert (filled(size, np.inf, np.float64) == np.inf).all()


def test_copies_of_several_parts(monkeypatch):
    size = 3 * array_operations.SHARED_BYTES // 8 + 5
    if os.environ.get("NUMBA_DISABLE_JIT"):
        monkeypatch.setattr(array_operations, "SHARED_BYTES", 1)
        monkeypatch.setattr(array_operations, "PART_BYTES", 256)
        size = 333
    values = np.arange(size)
    array = np.empty_like(values)
    copy_into(array, values)
    assert (array == values).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64, np.float64])
@pytest.mark.parametrize("size", SIZES)
def test_copy_into(monkeypatch, size, dtype):
    """Also in parts, from memory that cannot be written or is not contiguous, and of another type."""
    values = np.random.default_rng(size).integers(0, 200, 2 * size).astype(dtype)
    values.flags.writeable = False
    for shared in (10**9, 1):
        monkeypatch.setattr(array_operations, "SHARED_BYTES", shared)
        if os.environ.get("NUMBA_DISABLE_JIT"):  # compiled code is kept with the constants that it has
            monkeypatch.setattr(array_operations, "PART_BYTES", 64)
        for given in values[:size], values[::2], values[:size].astype(np.int16):
            array = np.empty(size, dtype)
            copy_into(array, given)
            assert (array == given).all()
