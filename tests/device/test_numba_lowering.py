"""The short text that LLVM reads of calls, variables and loops means what Numba's own does."""

from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from edgewise.device import compiled, device, numba_pipeline
from edgewise.device.target import INTERPRETED, SIMULATED

pytestmark = pytest.mark.skipif(INTERPRETED or SIMULATED, reason="it is the compiler that lowers")


def sums(start, stop, found):
    """Sums over ranges, and what the variables of loops are after them."""
    last = 0
    for index in range(stop):
        last = index
        found[0] += index + 1
    found[1] = last
    for index in range(start, stop):
        if index == start + 2:
            continue
        if index > start + 5:
            found[2] = 1
            break
        found[3] += index
    else:
        found[2] = 2
    items = range(start, stop)
    for first in items:
        for second in items:
            found[4] += first * second
    for index in range(stop, start, -2):
        found[5] += index
    found[6] = len(items)


OURS, NUMBAS = compiled(sums), njit(sums)
BOUNDS = [(0, 0), (0, 7), (3, 3), (5, 2), (2, 11), (-4, 3), (-9, -2)]


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint32, np.uint8])
@pytest.mark.parametrize(("start", "stop"), BOUNDS)
def test_ranges_are_those_of_the_interpreter(start, stop, kind):
    if start < 0 and np.issubdtype(kind, np.unsignedinteger):
        pytest.skip("not a number of this type")
    ours, numbas, plain = (np.zeros(7, np.int64) for _ in range(3))
    OURS(kind(start), kind(stop), ours)
    NUMBAS(kind(start), kind(stop), numbas)
    sums(start, stop, plain)
    np.testing.assert_array_equal(ours, numbas)
    np.testing.assert_array_equal(ours, plain)


def indices(start, stop, found):
    """Indices, where their type shows."""
    for index in range(start, stop):
        found[0] = index - 3 > 0


def test_the_types_of_indices_are_those_of_numba():
    for kind in np.int32, np.int64, np.uint64:
        ours, numbas = np.zeros(1, np.int64), np.zeros(1, np.int64)
        compiled(indices)(kind(1), kind(2), ours)
        njit(indices)(kind(1), kind(2), numbas)
        assert ours[0] == numbas[0]


@device
def checked(value):
    """Refuse a negative number."""
    if value < 0:
        raise ValueError("negative")
    return value + 1


@device
def twice_checked(value):
    """As above, for two numbers."""
    return checked(value) + checked(value - 10)


def add(values):
    """The sum of what is not refused, and how many are."""
    total = refused = 0
    for value in values:
        try:
            total += twice_checked(value)
        except Exception:
            refused += 1
    return total, refused


@compiled
def add_all(values):
    """The sum, unless one is refused."""
    total = 0
    for value in values:
        total += twice_checked(value)
    return total


def test_failures_pass_through_device_functions():
    assert add_all(np.array([10, 20])) == 44
    with pytest.raises(ValueError, match="negative"):
        add_all(np.array([10, 20, 9]))


def test_failures_are_caught():
    values = np.array([10, 20, 9, -1, 30])
    assert compiled(add)(values) == add(values) == (96, 2)


def sum_of_held(count, rows):
    """The sum of what two variables have held that count references."""
    total = 0
    for index in range(count):
        one = np.full(3 + index, index) if index % 2 else rows[index % 2]
        other, pair = one, [index, index + 1]
        for value in other:
            total += value
        total += pair[1]
    return total


def test_references_are_counted_where_numba_has_no_option_for_it():
    """What a variable holds is given back, which is nothing at first."""
    held, rows = njit(**numba_pipeline.FOR_WHOLES)(sum_of_held), np.arange(6).reshape(2, 3)
    assert [held(20, rows) for _ in range(50)] == [sum_of_held(20, rows)] * 50


class Place(NamedTuple):
    """Two positions and a name."""

    first: int
    second: int
    name: str


PLACE = Place(1, 2, "place")


@device
def read_fields(values, which):
    """Read by fields of a global record."""
    return values[PLACE.second] if which == PLACE.first else values[PLACE[0]] - PLACE.first


def test_fields_of_global_records():
    read = compiled(lambda values, which: read_fields(values, which))
    assert [read(np.array([7, 8, 9]), which) for which in (1, 0)] == [9, 7]


def test_the_text_is_short():
    if not numba_pipeline.HAS_PARTS:
        pytest.skip("Numba has changed")
    lines, add = {}, numba_pipeline._Part.add_ir_module

    def count(library, module):
        lines[library.name.rpartition(".")[2]] = str(module).count("\n")
        add(library, module)

    @device
    def walked(record, stop):
        total = 0
        for index in range(stop):
            total += checked(record.values[index]) + PLACE.second
        return total

    class Record(NamedTuple):
        values: np.ndarray
        others: np.ndarray

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba_pipeline._Part, "add_ir_module", count)
        read = compiled(lambda record, stop: walked(record, stop))
        assert read(Record(np.arange(4), np.arange(4)), 3) == 12
    assert lines["walked"] < 80  # Numba writes 237
