"""Histories of many transactions on a GPU, hot and cold, and broken protocols, which are caught there."""

import os

import pytest

from edgewise.errors import VerificationError
from edgewise.transactions import PROTOCOLS
from edgewise.transactions.workloads import run_checked
from tests.transactions.broken import BROKEN

pytestmark = pytest.mark.gpu
DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_histories(protocol):
    for workload in ("bank of 4", "write skew"):
        for n_words, count in ((1, 1000), (100_000, 200_000)):
            done = run_checked(workload, protocol, n_words=n_words, count=count, device=DEVICE)
            assert done.commits == count


@pytest.mark.parametrize(("name", "workload"), [("early release", "increments"), ("dirty read", "bank of 4")])
def test_broken_protocols_are_caught(name, workload):
    (protocol,) = (one for one in BROKEN if one.name == name)
    with pytest.raises(VerificationError):
        for seed in range(20):
            run_checked(workload, protocol, n_words=2, count=20_000, device=DEVICE, seed=seed)
