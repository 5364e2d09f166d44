"""The kernels of this room compile to PTX without a GPU."""

import pytest

from edgewise.device import launch
from edgewise.experiments import streets
from edgewise.generators.shuffle import Shuffle

pytestmark = pytest.mark.ptx


@pytest.mark.parametrize("index", ["uint32[]", "int64[]"])
def test_kernels_compile(index):
    ends = (index, index)
    for loop, kinds in (
        (streets._renumber, ((Shuffle, ("int64", "int64", "int64")), *ends, *ends)),
        (streets._mark_higher, (*ends, "int8[]")),
    ):
        assert launch.entry_name(loop.cuda.ptx(kinds, (9, 0)))
