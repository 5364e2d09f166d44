"""Kept kernels are those of this version, and of these settings."""

import pytest
from numba.core import config

from edgewise.device import cache


@pytest.mark.parametrize("setting, value", [("BOUNDSCHECK", 1), ("OPT", 1), ("DEBUGINFO_DEFAULT", 1)])
def test_settings_of_the_compiler_have_kernels_of_their_own(monkeypatch, setting, value):
    before = cache._digest()
    monkeypatch.setattr(config, setting, value)
    assert cache._digest() != before
    monkeypatch.undo()
    assert cache._digest() == before
