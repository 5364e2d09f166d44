"""Arrays that threads copy to a GPU in pieces are the same there."""

import os
from dataclasses import replace

import numpy as np
import pytest

from edgewise import tuning
from edgewise.device import arrays
from edgewise.device.target import SIMULATED
from edgewise.primitives import uploads

DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0")
pytestmark = [pytest.mark.simulator, pytest.mark.gpu] if SIMULATED else [pytest.mark.gpu]


@pytest.mark.parametrize("few", [0, 1 << 25])
@pytest.mark.parametrize("kind", ["uint32", "int64", "bool"])
@pytest.mark.parametrize("count", [0, 1, 1000, 123_456])
def test_arrays(count, kind, few, monkeypatch):
    monkeypatch.setattr(tuning, "GPU", replace(tuning.GPU, primitives_sent=few))
    monkeypatch.setattr(uploads, "PIECE", 4096)
    here = np.random.default_rng(count).integers(0, 1 << 31, 2 * count).astype(kind)
    given = here, None, here[::2], here[1:].astype(np.float64)
    found = uploads.upload(given, DEVICE)
    assert found[1] is None
    for there, one in ((there, one) for there, one in zip(found, given) if one is not None):
        assert arrays.device_of(there) == DEVICE and there.dtype == one.dtype
        assert np.array_equal(arrays.move(there, "cpu"), one)


def test_an_error_in_a_thread_is_raised(monkeypatch):
    def fail(*_):
        raise OSError("no more")

    monkeypatch.setattr(tuning, "GPU", replace(tuning.GPU, primitives_sent=0))
    monkeypatch.setattr(uploads.streams.StagingBuffer, "send", fail)
    with pytest.raises(OSError, match="no more"):
        uploads.upload([np.arange(1 << 16)], DEVICE)
