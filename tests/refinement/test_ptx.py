"""The kernels of refinement compile for GPUs, without memory of a thread's own on the stack."""

import numpy as np
import pytest

from edgewise.device import launch
from edgewise.refinement.cavity import Room
from edgewise.refinement.flips import find_illegal, flip
from edgewise.refinement.predicates import Points
from edgewise.refinement.quality import Mesh, bound_of
from edgewise.refinement.rounds import Work, insert, inspect, settle
from edgewise.transactions import runner
from edgewise.transactions.transaction import Memory
from edgewise.transactions.wound_wait import WoundWait

pytestmark = pytest.mark.ptx
NUMBERS, STATES = np.zeros(4, np.int64), np.zeros(2, np.int8)
MESH = Mesh(Points(NUMBERS, NUMBERS), NUMBERS, NUMBERS, STATES)
WORK = Work(NUMBERS, NUMBERS, NUMBERS, STATES, Room(NUMBERS, NUMBERS, 2, 1, 2))


@pytest.mark.parametrize("body", [pytest.param(insert, marks=pytest.mark.release), flip])
def test_transactions_compile(body):
    schedule = runner.Schedule(NUMBERS, 2, 1, 1, np.zeros(2, np.int32), STATES, NUMBERS, NUMBERS)
    arguments = Memory(NUMBERS, NUMBERS, NUMBERS, 0), runner.log_of(NUMBERS, 1, 2), schedule
    kernel = runner.loop_of(body, WoundWait, 1).cuda
    text = kernel.ptx(tuple(map(launch.kind_of, (*arguments, MESH, bound_of(20), WORK))), (9, 0))
    assert ".target sm_90" in text
    assert ".local" not in text


@pytest.mark.parametrize(
    ("loop", "arguments"),
    [
        (inspect, (NUMBERS, MESH, bound_of(20))),
        (find_illegal, (NUMBERS, MESH, bound_of(20))),
        (settle, (MESH, WORK)),
    ],
)
def test_loops_compile(loop, arguments):
    text = loop.cuda.ptx(tuple(map(launch.kind_of, arguments)), (9, 0))
    assert ".target sm_90" in text
    assert ".local" not in text
