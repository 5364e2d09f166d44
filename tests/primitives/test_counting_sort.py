"""Counting sort, scan, gather, scatter, mark, marked and zeros by blocks, against NumPy."""

import numpy as np
import pytest

from edgewise.primitives import counting_sort

pytestmark = pytest.mark.interpreter
COUNTS = [0, 1, 7, 300]


@pytest.fixture(autouse=True)
def several_blocks(monkeypatch):
    monkeypatch.setattr(counting_sort, "n_blocks_of", lambda count: 3)
    monkeypatch.setattr(counting_sort, "is_few", lambda count, where: False)


@pytest.fixture(params=[False, True])
def few(request, monkeypatch):
    """Whether NumPy does what it does for few items."""
    monkeypatch.setattr(counting_sort, "is_few", lambda count, where: request.param)


@pytest.mark.parametrize("count", COUNTS)
def test_equal_keys_keep_their_order(count):
    keys = np.random.default_rng(count).integers(0, 9, count)
    order = counting_sort.counting_order(keys, 6)
    assert order.dtype == np.int64
    assert (order == np.argsort(np.minimum(keys, 5), kind="stable")).all()
    keys = np.minimum(keys, 5).astype(np.uint8)
    narrow, begins = counting_sort.grouped(keys, 6, np.uint32)
    assert narrow.dtype == np.uint32 and (narrow == order).all()
    assert begins.tolist() == [int((keys < key).sum()) for key in range(7)]


@pytest.mark.parametrize("count", COUNTS)
def test_offsets_are_sums_in_an_order(few, count):
    draw = np.random.default_rng(count)
    sizes, order = draw.integers(0, 9, count), draw.permutation(count)
    expected = np.concatenate([[0], np.cumsum(sizes[order])])
    offsets, rank = counting_sort.offsets_in_order(sizes, order, np.uint32)
    assert (offsets == expected).all() and rank.dtype == np.uint32
    assert (rank[order] == np.arange(count)).all()
    for dtype in (None, np.uint32):
        gathered = counting_sort.gather(sizes, order, dtype)
        assert gathered.dtype == (dtype or sizes.dtype) and (gathered == sizes[order]).all()
    assert (counting_sort.scan(sizes) == np.append(0, np.cumsum(sizes))).all()


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("share", [0, 0.1, 1])
def test_items_that_are_marked(few, count, share):
    draw = np.random.default_rng(count)
    marks, target = draw.random(count) < share, np.zeros(count, np.int64)
    positions = counting_sort.marked(marks)
    assert positions.dtype == np.int64 and (positions == np.flatnonzero(marks)).all()
    counting_sort.scatter(target, positions, positions + 1)
    assert (target == np.where(marks, np.arange(count) + 1, 0)).all()
    again = np.zeros(count, np.uint8)
    counting_sort.mark(again, positions)
    assert (again == marks).all()


@pytest.mark.parametrize("count", [0, 3, 20_000])
def test_zeros_are_zero(count, monkeypatch):
    for _ in range(3):  # memory comes back with what was there before
        values = counting_sort.zeros(count, np.int64)
        assert values.shape == (count,) and not values.any()
        values.fill(1)
        del values
