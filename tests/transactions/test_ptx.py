"""Transactions compile for GPUs, without memory of a thread's own on the stack or of a block."""

import numpy as np
import pytest

from edgewise.device import launch
from edgewise.transactions import PROTOCOLS, read, runner, write
from edgewise.transactions.reservations import Reserve
from edgewise.transactions.transaction import Memory

pytestmark = pytest.mark.ptx


def move_one(tx, number, ones, others):
    write(tx, ones[number], read(tx, ones[number]) - 1)
    write(tx, others[number], read(tx, others[number]) + 1)


def kinds_of_arguments():
    """The types of the arguments of a launch."""
    words, numbers = np.zeros(4, np.uint32), np.zeros(2, np.int64)
    memory = Memory(words, numbers, numbers, 0)
    small = np.zeros(2, np.int32), np.zeros(2, np.int8)
    schedule = runner.Schedule(numbers, 2, 1, 1, *small, numbers, numbers)
    arguments = memory, runner.log_of(words, 1, 2), schedule, numbers, numbers
    return tuple(map(launch.kind_of, arguments))


#: Kinds of transactions that need most registers, with one lane and with several, and their lanes.
KINDS = [PROTOCOLS[name] for name in ("wound-wait", "tl2", "block-nonblocking")]
LANES = {one.kind: one.lanes for one in KINDS} | {Reserve: 1}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.release] if kind.__name__ in ("TL2", "Reserve") else [])
        for kind in LANES
    ],
    ids=lambda kind: kind.__name__,
)
def test_kernels_compile(kind):
    kernel = runner.loop_of(move_one, kind, LANES[kind]).cuda
    text = kernel.ptx(kinds_of_arguments(), (9, 0))
    assert ".target sm_90" in text
    assert ".local" not in text
    assert ".shared" not in text  # where a race checker would have to look
