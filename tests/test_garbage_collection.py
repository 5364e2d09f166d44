"""The garbage collector is paused within a context, and is as it was before afterwards."""

import gc

import pytest

from edgewise.garbage_collection import collection_paused

pytestmark = pytest.mark.interpreter


@pytest.mark.parametrize("start", [gc.enable, gc.disable])
def test_the_collector_is_as_before(start):
    start()
    try:
        before = gc.isenabled()
        with pytest.raises(ZeroDivisionError), collection_paused():
            assert not gc.isenabled()
            raise ZeroDivisionError
        assert gc.isenabled() is before
    finally:
        gc.enable()
