"""Loops, rows and atomics mean the same on every engine."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from edgewise.device import (
    arrays,
    cas,
    each,
    each_row,
    fetch_add,
    fetch_max,
    fetch_min,
    fetch_or,
    load,
    store,
    threads,
)
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.errors import DeviceError, OptionError

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if SIMULATED else "cpu")


def here(values, kind=np.int64):
    return arrays.move(np.asarray(values, kind), PLACE)


def back(values):
    return np.asarray(arrays.move(values, "cpu"))


@each
def square(index, values, factor):
    values[index] = index * index * factor


@each.prefetch(lambda index, values: values[index])
def double(index, seen, values):
    values[index] = seen + seen  # race: threads past the end fetch the last item, and use none of it


@each
def atomics(index, numbers, result):
    fetch_add(result, 0, numbers[index])
    fetch_min(result, 1, numbers[index])
    fetch_max(result, 2, numbers[index])
    cas(result, 3, -1, 7)
    store(result, 4, load(numbers, 0))


@each
def set_bits(index, numbers, result):
    fetch_or(result, index % 2, 1 << numbers[index])


@each_row
def row_sum(row, lane, lanes, offsets, values, sums):
    for entry in range(offsets[row] + lane, offsets[row + 1], lanes):
        fetch_add(sums, row, values[entry])


@each
def wait_for_other(index, begun, own, met):
    """Note whether the loop of the other thread has begun before this one ends."""
    store(begun, own, 1)
    for _ in range(1 << 32):
        if load(begun, 1 - own):
            met[own] = 1
            break


@pytest.mark.skipif(INTERPRETED or PLACE != "cpu", reason="it is compiled loops that do without the GIL")
def test_loops_of_one_worker_run_beside_each_other():
    begun, met = np.ones(2, np.int64), np.zeros(2, np.int64)
    wait_for_other(1, begun, 0, met)  # compiles
    begun[:] = met[:] = 0

    def run(own):
        with threads.limited(1):
            wait_for_other(1, begun, own, met)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, range(2)))
    assert met.tolist() == [1, 1]


@pytest.mark.parametrize("count", [0, 1, 255, 1025])
def test_each_visits_every_index_once(count):
    values = here(np.zeros(count))
    square(count, values, 3)
    assert back(values).tolist() == [3 * i * i for i in range(count)]


@pytest.mark.parametrize("count", [1, 63, 300, 1500])
def test_reading_ahead_stops_at_the_end(count):
    values = here(np.arange(count))
    double(count, values)
    assert back(values).tolist() == [2 * i for i in range(count)]


@pytest.mark.parametrize("kind", [np.int64, np.int32])
def test_atomics(kind):
    numbers = here(np.arange(-3, 100), kind)
    result = here([0, 5, 5, -1, 0], kind)
    atomics(len(numbers), numbers, result)
    assert back(result).tolist() == [int(np.arange(-3, 100).sum()), -3, 99, 7, -3]


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_unsigned_atomics(kind):
    numbers = here(np.arange(100) + 2**31, kind)
    result = here([0, 2**32 - 1, 5, 0, 0], kind)
    atomics(len(numbers) if kind is np.uint64 else 1, numbers, result)
    assert back(result)[1] == 2**31
    assert back(result)[2] == 2**31 + (99 if kind is np.uint64 else 0)


@pytest.mark.parametrize("kind", [np.uint32, np.int64])
def test_bits_are_set_together(kind):
    result = here([0, 1 << 20], kind)
    set_bits(32, here(np.arange(32)), result)
    assert back(result).tolist() == [0x55555555, 0xAAAAAAAA | 1 << 20]


@pytest.mark.parametrize("width", ["thread", "warp", "block"])
def test_rows_have_one_meaning_at_every_width(width):
    offsets, sums = here([0, 0, 3, 103, 104]), here([0, 0, 0, 0])
    row_sum(4, offsets, here(np.arange(104)), sums, width=width)
    assert back(sums).tolist() == [0, 3, sum(range(3, 103)), 103]


def test_bad_calls_are_refused():
    with pytest.raises(OptionError, match="width='grid'"):
        row_sum(1, here([0, 0]), here([0]), here([0]), width="grid")
    if PLACE != "cpu":
        with pytest.raises(DeviceError, match="square: a GPU has no grid of 1,125,899,906,842,624 indices"):
            square(1 << 50, here([0]), 1)
        with pytest.raises(DeviceError, match="several devices"):
            square(1, arrays.device_of(here([0]), np.zeros(1)), 1)


def test_places():
    assert arrays.resolve("cpu") == "cpu"
    with pytest.raises(DeviceError, match="unknown"):
        arrays.resolve("gpu7")
    with pytest.raises(DeviceError, match="not there"):
        arrays.resolve("cuda:99")
