"""A few cases of the campaign, and that the campaigns of slices meet every public call."""

import json

import pytest

import edgewise as ew
from tests.campaigns import sliced_calls, sliced_graphs


@pytest.mark.interpreter
def test_every_public_call_is_met():
    called = {name.partition(".")[0] for name, _, _ in sliced_graphs.problems()}
    left = set(ew.__all__) - called - set(sliced_calls.CHECKS) - set(sliced_calls.LEFT_OUT)
    assert not left, "add a check to sliced_calls.py, or a reason to LEFT_OUT"
    assert set(sliced_calls.LEFT_OUT) <= set(ew.__all__)


def test_small_graphs_and_slices_are_right_in_every_call(capsys):
    outcomes = sliced_calls.main(["--cases", "4", "--seed", "4", "--processes", "1"])
    assert set(outcomes) <= sliced_calls.RIGHT and outcomes["right"] > 50
    calls = json.loads(capsys.readouterr().out.splitlines()[-1])["functions"]
    assert all(counts.get("right") for counts in calls.values()), "a call refuses every case"
