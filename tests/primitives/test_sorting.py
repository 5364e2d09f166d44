"""The order of keys by parts, against NumPy."""

import numpy as np
import pytest

from edgewise.device import threads
from edgewise.primitives import sorting

pytestmark = pytest.mark.interpreter


@pytest.mark.parametrize("count", [0, 1, 7, 300, 2000])
@pytest.mark.parametrize("largest", [0, 5, 2**64 - 1])
def test_the_order_of_keys(monkeypatch, count, largest):
    monkeypatch.setattr(sorting, "PART_KEYS", 4)
    monkeypatch.setattr(threads, "count", lambda: 3)
    keys = np.random.default_rng(count).integers(0, largest, count, np.uint64, endpoint=True)
    found, order = sorting.ordered(keys)
    assert order.dtype == np.int64 and (order == keys.argsort(kind="stable")).all()
    assert (found == np.sort(keys)).all()
    begins = sorting.begins_of(np.sort(keys))
    assert (np.sort(keys)[begins[:-1]] == np.unique(keys)).all() and begins[-1] == count
