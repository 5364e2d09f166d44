"""A few cases of the campaign, one of them in Python code."""

import os

import pytest

from edgewise.device.target import INTERPRETED, SIMULATED
from tests.campaigns import interrupted_compiling


@pytest.mark.release
@pytest.mark.skipif(INTERPRETED or SIMULATED, reason="it is the compiler that is interrupted")
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_signals_while_kernels_are_compiled():
    outcomes = interrupted_compiling.main(["--cases", "1", "--seed", "3", "--processes", "2"])
    assert set(outcomes) <= {"ended", "raised", "finished"}
