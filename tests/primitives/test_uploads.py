"""Arrays that threads copy to a GPU in pieces are the same there."""

import os

import numpy as np
import pytest

from edgewise.device import arrays, streams
from edgewise.device.target import SIMULATED
from edgewise.primitives import uploads

DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0")
pytestmark = [pytest.mark.simulator, pytest.mark.gpu] if SIMULATED else [pytest.mark.gpu]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(uploads, "PIECE", 4096)


@pytest.mark.parametrize("kind", ["uint32", "int64", "bool"])
@pytest.mark.parametrize("count", [0, 1, 1000, 12_345])
def test_arrays(count, kind):
    here = np.random.default_rng(count).integers(0, 1 << 31, 2 * count).astype(kind)
    given = here, None, here[::2], here[1:].astype(np.float64)
    found = uploads.upload(given, DEVICE)
    assert found[1] is None
    for there, one in ((there, one) for there, one in zip(found, given) if one is not None):
        assert arrays.device_of(there) == DEVICE and there.dtype == one.dtype
        assert np.array_equal(arrays.move(there, "cpu"), one)


def test_columns_one_after_the_other():
    """Sources are overwritten as soon as they are copied, and 64 bits become 32."""
    draw, stream, found = np.random.default_rng(1), streams.Stream(DEVICE), []
    copies = uploads.Uploads(DEVICE, 40_000)
    arrays.synchronize(DEVICE)
    for count in (5000, 1, 4321):
        here = draw.integers(0, 1 << 32, (2, count))
        there = [arrays.empty(count, np.uint32, DEVICE) for _ in here]
        arrays.synchronize(DEVICE)
        found.append((there, here.copy()))
        copies.copy(there, here, stream)
        here[:] = 0
    stream.synchronize()
    for there, here in found:
        assert all(np.array_equal(arrays.move(one, "cpu"), other) for one, other in zip(there, here))


def test_an_error_in_a_thread_is_raised():
    there = arrays.empty(3000, np.uint32, DEVICE)
    with pytest.raises((TypeError, ValueError)):
        uploads.Uploads(DEVICE, 12_000).copy([there], [["text"] * 3000], streams.Stream(DEVICE))
