"""A few cases of the campaign, of every kind of file."""

import pytest

from edgewise.device.target import INTERPRETED, SIMULATED
from tests.campaigns import flipped_caches


@pytest.mark.release
@pytest.mark.skipif(INTERPRETED or SIMULATED, reason="it is the compiler that keeps kernels")
def test_changed_bits_in_the_files_of_kernels():
    assert flipped_caches.main(["--cases", "1", "--seed", "2", "--processes", "1"]) == {"right": 1}
