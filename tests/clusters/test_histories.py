"""Random histories against brute force; ``EDGEWISE_HISTORIES`` is how many."""

import os

import pytest

from edgewise.clusters import runs
from edgewise.primitives import counting_sort, sorting
from tests.campaigns import cluster_histories

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]
HISTORIES = int(os.environ.get("EDGEWISE_HISTORIES", "60"))


@pytest.mark.parametrize("by_blocks", (False, True))
def test_random_histories_are_what_brute_force_says(by_blocks, monkeypatch):
    """Few items are not divided among threads unless the limits say so."""
    if by_blocks:
        monkeypatch.setattr(counting_sort, "n_blocks_of", lambda count: 3)
        monkeypatch.setattr(counting_sort, "_is_few", lambda count, where: False)
        monkeypatch.setattr(runs, "n_blocks_of", lambda count: 3)
        monkeypatch.setattr(sorting, "PART_KEYS", 2)
    cases = str(HISTORIES // 5 if by_blocks else HISTORIES)
    counts = cluster_histories.main(["--cases", cases, "--seed", "1", "--processes", "1"])
    assert "wrong" not in counts
    assert counts["taken"] > counts["refused"] > 0
