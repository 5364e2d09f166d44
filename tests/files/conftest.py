"""What tests of files share."""

import gc

import pytest


@pytest.fixture(scope="module")
def few_objects():
    """A module whose ``gc.collect()`` looks at new objects only, not at those of thousands of tests."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
