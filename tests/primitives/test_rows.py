"""The row of an entry, by two searches of the offsets, and of all entries."""

import os

import numpy as np
import pytest

from edgewise.device import arrays
from edgewise.device.target import SIMULATED
from edgewise.primitives.rows import TILE, row_from, row_numbers, row_of

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
