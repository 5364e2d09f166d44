"""The table of planted faults fits the sources, and one fault is found."""

import pytest

from edgewise.device.target import INTERPRETED, SIMULATED
from tests.campaigns import mutants

ROWS = mutants.mutants()


@pytest.mark.interpreter
def test_names_are_different():
    assert len({row.name for row in ROWS}) == len(ROWS) >= 150


@pytest.mark.interpreter
@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_every_fault_can_be_planted(row):
    text = (mutants.ROOT / row.file).read_text()
    assert mutants.planted(row, text) != text
    assert all((mutants.ROOT / one).exists() for one in row.tests if one.startswith("tests/"))


@pytest.mark.release
@pytest.mark.skipif(INTERPRETED or SIMULATED, reason="starts processes of its own")
def test_a_planted_fault_is_found():
    assert mutants.main(["--only", "a minute is shown", "--processes", "1"]) == {"killed": 1}
