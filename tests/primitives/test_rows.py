"""The row of an entry, by two searches of the offsets."""

import numpy as np
import pytest

from edgewise.primitives.rows import row_from, row_of

pytestmark = pytest.mark.interpreter


@pytest.mark.parametrize("lengths", [[3], [1, 1, 1], [0, 0, 2, 0, 5, 0, 0, 1, 0], [0] * 40 + [7] + [0] * 40])
def test_rows_of_all_entries(lengths):
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    for entry, row in enumerate(np.repeat(np.arange(len(lengths)), lengths).tolist()):
        assert row_of(entry, offsets) == row
        assert {row_from(first, entry, offsets) for first in range(row + 1)} == {row}
