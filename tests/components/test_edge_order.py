"""Lists in sequence and in random order, with ids that are close and hubs, judged on every device."""

import os

import numpy as np
import pytest

import edgewise as ew
from edgewise.components import edge_order
from edgewise.components.edge_order import count_order, is_in_sequence, order_of
from edgewise.device import arrays, launch
from tests.conftest import engine

PLACE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if engine() == "simulator" else "cpu")
N = 4000
CELLS = np.arange(2 * N) // 2
RANDOM = [np.random.default_rng(seed).permutation(N) for seed in range(2)]
#: Lists by name: their ends, whether they are in sequence, and whether their ids are close.
LISTS = {
    "ordered by an endpoint": (CELLS, (CELLS * 7919 + 1) % N, True, False),
    "along a path": (np.arange(N - 1), np.arange(1, N), True, True),
    "a path in random order": (RANDOM[0][RANDOM[0] > 0] - 1, RANDOM[0][RANDOM[0] > 0], False, True),
    "random": (*RANDOM, False, False),
    "two edges": (np.array([0, 1]), np.array([N - 1, 2]), True, False),
}


@pytest.mark.interpreter
@pytest.mark.simulator
@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("kind", [np.uint32, np.int64])
def test_order(name, kind, monkeypatch):
    if engine() != "jit":  # a quarter of a million threads; the sample shows skew, which the next test judges
        for constant, few in ("SAMPLE", 64), ("OTHERS", 16), ("PARTS", 4):
            monkeypatch.setattr(edge_order, constant, few)
    *ends, in_sequence, close = LISTS[name]
    sources, targets = (arrays.move(end.astype(kind), PLACE) for end in ends)
    if PLACE == "cpu":
        assert is_in_sequence(N, sources, targets) == is_in_sequence(N, targets, sources) == in_sequence
    assert order_of(N, sources, targets)[:2] == order_of(N, targets, sources)[:2] == (in_sequence, close)


def test_few_targets_of_most_edges_are_skew():
    for made, skewed in (
        (ew.generate.rmat(16, edge_factor=8, seed=1), True),
        (ew.generate.uniform(1 << 16, 1 << 19, seed=1), False),
    ):
        assert order_of(made.n_vertices, made.sources, made.targets).skewed == skewed


@pytest.mark.ptx
@pytest.mark.parametrize("index", ["uint32[]", "int64[]"])
def test_compiles_for_gpus(index):
    text = count_order.cuda.ptx(("int64", index, index, "int64[]"), (9, 0))
    assert launch.entry_name(text)
    assert "ld.local" not in text
