"""Arrays of compiled functions: what kernels may do with one, held to NumPy."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from edgewise.device import compiled
from edgewise.device.target import INTERPRETED, SIMULATED

#: One kernel takes all of them in turn.
DTYPES = ("bool", "uint8", "int32", "uint32", "int64", "uint64", "float32", "float64")


class Pair(NamedTuple):
    """Two arrays of one type."""

    first: Any
    second: Any


@compiled
def use(pair, place, index, size):
    """Index, slice, assign, iterate, and ask for sizes; counts are written to ``size``."""
    first, second = pair
    second[place] = first[index]
    second[1:3] = first[3]
    second[-2:] = first[0]
    inner = first[2:-1]
    size[0], size[1], size[2] = len(inner), inner.size, first.itemsize
    for value in inner:
        size[3] += value != 0
    size[4] = first[place:index].shape[0]
    return second[-1]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint32])
def test_arrays_do_what_those_of_numpy_do(dtype, kind):
    values = (np.arange(12) % 3).astype(dtype)
    values.flags.writeable = False
    for place, index in ((4, 7), (0, 11), (-3, -12)) if kind is not np.uint32 else ((4, 7), (0, 11)):
        here, wanted = (Pair(values, np.zeros(12, dtype)) for _ in range(2))
        sizes, wanted_sizes = np.zeros(5, np.int64), np.zeros(5, np.int64)
        result = use(here, kind(place), kind(index), sizes)
        expected = use.body(wanted, kind(place), kind(index), wanted_sizes)
        assert result == expected
        np.testing.assert_array_equal(here.second, wanted.second)
        np.testing.assert_array_equal(sizes, wanted_sizes)


@compiled
def choose(first, second, index):
    """One of two arrays, an item of which is read."""
    chosen = first
    if index > 2:
        chosen = second[1:]
    return chosen[index]


def test_a_variable_holds_parts_as_well_as_wholes():
    first, second = np.arange(5), np.arange(10, 20)
    assert [choose(first, second, index) for index in (1, 4)] == [1, 15]


@pytest.mark.skipif(INTERPRETED or SIMULATED, reason="it is the compiler that types arguments")
def test_arrays_that_are_not_contiguous_stay_numbas():
    strided, table = np.arange(10)[::2], np.arange(6).reshape(2, 3)

    @compiled
    def both(strided, table):
        return strided[-1] + table[1, 2]

    assert both(strided, table) == 8 + 5


def test_the_struct_of_an_array_is_known():
    from edgewise.device import numba_arrays

    assert numba_arrays._struct_is_known()
