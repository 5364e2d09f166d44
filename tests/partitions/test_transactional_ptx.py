"""The kernels of the partitioner with transactions compile for GPUs."""

import numpy as np
import pytest

from edgewise.device import launch
from edgewise.partitions import gain_ranges, transactional
from edgewise.partitions.levels import Level
from edgewise.partitions.refine.state import Search
from edgewise.transactions import PROTOCOLS, runner
from edgewise.transactions.transaction import Memory

pytestmark = pytest.mark.ptx
SHORTS, INTS, LONGS = np.zeros(4, np.uint32), np.zeros(4, np.int32), np.zeros(4, np.int64)
LEVEL = Level(LONGS, SHORTS, INTS, LONGS, SHORTS)
RULE = transactional.Rule(4, 5, 0)
MOVES = gain_ranges.Moves(LONGS, INTS, LONGS, LONGS, INTS, LONGS)
SEARCH = Search(SHORTS, *(LONGS,) * (len(Search._fields) - 1))
#: Kernels and their arguments; a region has those of its barrier first.
LOOPS = (
    (transactional.find_candidates.cuda, (INTS, LEVEL, SHORTS, RULE, LONGS)),
    (gain_ranges.find_largest.cuda, (INTS, SEARCH)),
    (gain_ranges.choose.cuda, (INTS, SEARCH, 5, INTS)),
)


@pytest.mark.parametrize("number", range(len(LOOPS)))
def test_kernels_compile(number):
    kernel, arguments = LOOPS[number]
    text = kernel.ptx(tuple(map(launch.kind_of, arguments)), (9, 0))
    assert launch.entry_name(text) and ".target sm_90" in text and ".local" not in text


@pytest.mark.parametrize(
    ("body", "words", "arguments"),
    [
        pytest.param(transactional.pair, SHORTS, (LONGS, LONGS, 5), marks=pytest.mark.release),
        (gain_ranges.move, INTS, (LEVEL, MOVES)),
    ],
    ids=["pair", "move"],
)
def test_transactions_compile(body, words, arguments):
    memory = Memory(words, LONGS, LONGS, 0)
    schedule = runner.Schedule(LONGS, 2, 1, 1, INTS, np.zeros(2, np.int8), LONGS, LONGS)
    given = memory, runner.log_of(words, 1, 2), schedule, *arguments
    kernel = runner.loop_of(body, PROTOCOLS["wound-wait"].kind, 1).cuda
    text = kernel.ptx(tuple(map(launch.kind_of, given)), (9, 0))
    assert ".target sm_90" in text and ".local" not in text
