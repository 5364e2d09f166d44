"""The row of an entry, by two searches of the offsets, and of all entries; rows that become simple."""

import os
from itertools import pairwise

import numpy as np
import pytest

from edgewise.device import arrays
from edgewise.device.target import SIMULATED
from edgewise.primitives.rows import TILE, are_simple, flags_of, row_from, row_numbers, row_of, simplified

WHERE = arrays.resolve(os.environ.get("EDGEWISE_TEST_PLACE", "cuda" if SIMULATED else "cpu"))


@pytest.mark.interpreter
@pytest.mark.parametrize("lengths", [[3], [1, 1, 1], [0, 0, 2, 0, 5, 0, 0, 1, 0], [0] * 40 + [7] + [0] * 40])
def test_rows_of_all_entries(lengths):
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    for entry, row in enumerate(np.repeat(np.arange(len(lengths)), lengths).tolist()):
        assert row_of(entry, offsets) == row
        assert {row_from(first, entry, offsets) for first in range(row + 1)} == {row}


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("kind", ["uint32", "int64"])
@pytest.mark.parametrize(
    "lengths",
    [
        [],
        [0, 0],
        [2, 0, 3, 0],
        [0] * 50 + [TILE] + [0] * 50 + [1],
        [TILE - 1, 0, 1, 1, 2 * TILE],
        np.random.default_rng(1).geometric(0.3, 900) - 1,
    ],
    ids=["no rows", "empty rows", "few", "one tile", "tiles", "many"],
)
def test_row_numbers(lengths, kind):
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    found = row_numbers(arrays.move(offsets, WHERE), kind)
    assert arrays.device_of(found) == WHERE and found.dtype == kind
    assert found.tolist() == np.repeat(np.arange(len(lengths)), lengths).tolist()


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("kind", ["uint32", "int64"])
def test_simplified_rows(kind):
    draw = np.random.default_rng(2)
    given = [[], [1], [0, 0], [3, 3, 3], [4, 4, 5], [], np.sort(draw.integers(0, 60, 200)), [6, 8, 8]]
    offsets = np.concatenate([[0], np.cumsum([*map(len, given)])]).astype(np.int64)
    rows = [arrays.move(one, WHERE) for one in (offsets, np.concatenate(given).astype(kind))]
    starts, kept = simplified(*rows)
    assert kept.dtype == kind and {*map(arrays.device_of, (starts, kept))} == {WHERE}
    wanted = [sorted({*map(int, row)} - {number}) for number, row in enumerate(given)]
    assert [kept[a:b].tolist() for a, b in pairwise(starts)] == wanted
    assert flags_of(*rows) == [1, 0] and are_simple(starts, kept)


@pytest.mark.interpreter
@pytest.mark.simulator
def test_rows_that_descend():
    offsets, *rows = (arrays.move(np.array(one), WHERE) for one in ([0, 2, 3, 4], [2, 1, 2, 0], [1, 2, 2, 0]))
    assert [flags_of(offsets, row) for row in rows] == [[1, 1], [0, 0]]
