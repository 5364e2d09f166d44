"""Random histories against brute force; ``EDGEWISE_HISTORIES`` is how many."""

import os

import pytest

from tests.campaigns import cluster_histories

pytestmark = pytest.mark.interpreter
HISTORIES = int(os.environ.get("EDGEWISE_HISTORIES", "150"))


def test_random_histories_are_what_brute_force_says():
    counts = cluster_histories.main(["--cases", str(HISTORIES), "--seed", "1", "--processes", "1"])
    assert "wrong" not in counts
    assert counts["taken"] > counts["refused"] > 0
