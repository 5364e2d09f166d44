"""Histories of many transactions on a GPU, hot and cold."""

import os

import pytest

from edgewise.transactions import PROTOCOLS
from edgewise.transactions.workloads import run_checked

pytestmark = pytest.mark.gpu
DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_histories(protocol):
    for workload in ("bank of 4", "write skew"):
        for n_words, count in ((1, 1000), (100_000, 200_000)):
            done = run_checked(workload, protocol, n_words=n_words, count=count, device=DEVICE)
            assert done.commits == count
