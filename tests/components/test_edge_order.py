"""Lists in order, in sequence, and in random order, judged on every device."""

import os

import numpy as np
import pytest

from edgewise.components.edge_order import Order, is_ordered, order_of
from edgewise.device import arrays
from tests.conftest import engine

PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if engine() == "simulator" else "cpu")
N = 4000
CELLS = np.arange(2 * N) // 2
RANDOM = (np.random.default_rng(seed).permutation(N) for seed in range(2))
LISTS = {
    "ordered": (CELLS, (CELLS * 7919 + 1) % N, Order(True, True)),
    "in sequence": (np.arange(N - 1), np.arange(1, N), Order(False, True)),
    "random": (
        np.random.default_rng(1).permutation(N),
        np.random.default_rng(2).permutation(N),
        Order(False, False),
    ),
    "one edge": (np.arange(1), np.arange(1), Order(True, True)),
}


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("kind", [np.uint32, np.int64])
def test_order(name, kind):
    *ends, expected = LISTS[name]
    sources, targets = (arrays.move(end.astype(kind), PLACE) for end in ends)
    assert order_of(N, sources, targets) == order_of(N, targets, sources) == expected
    assert is_ordered(sources, targets) == expected.ordered
