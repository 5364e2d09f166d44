from dataclasses import replace

import pytest

from edgewise import tuning
from edgewise.device.target import INTERPRETED
from edgewise.partitions import PRESETS


@pytest.fixture(autouse=True)
def few_tries(monkeypatch):
    """In the interpreter the coarsest graph is divided twice for each bisection, not eight or 16 times."""
    if INTERPRETED:
        for name, how in PRESETS.items():
            monkeypatch.setitem(PRESETS, name, how._replace(tries=2))


@pytest.fixture(autouse=True)
def no_small_graphs(monkeypatch):
    """The graphs of these tests are small, and most tests are about the method of large ones."""
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, partitions_small=0))
