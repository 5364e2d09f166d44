"""A few cases of the campaign."""

import pytest

pytest.importorskip("networkx", minversion="3.6", reason="NetworkX 3.6 or newer is not installed")
from tests.campaigns import networkx_backend


def test_calls_on_odd_graphs_are_networkx_s_or_declined():
    outcomes = networkx_backend.main(["--cases", "40", "--seed", "3", "--processes", "1"])
    assert set(outcomes) <= networkx_backend.RIGHT
    assert sum(outcomes.values()) == 40 * networkx_backend.CALLS and outcomes["equal"] > 250
