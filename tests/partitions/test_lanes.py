"""What the lanes of a warp do together in partitioning, by warps of several lanes in plain Python."""

import numpy as np
import pytest

from edgewise.device import BlockWorker, parallel_region
from edgewise.device.warps import warp_size
from edgewise.partitions import ratings
from edgewise.partitions.rating import Labels, new_facts
from edgewise.partitions.ratings import rate
from edgewise.partitions.refine import rebalance
from edgewise.partitions.refine.rebalance import Ranking, _choose_digit, cost_step, find_least_step, new_room
from edgewise.partitions.row_shares import is_long, team_of
from tests import warps
from tests.partitions.test_phases import dense, hubs, memory_for, wheel


@parallel_region
def choose_digits(worker, width, parts, space, how):
    lanes = warp_size()
    for one in range(worker.id // lanes, parts, worker.count // lanes):
        _choose_digit(one, worker.id % lanes, lanes, width, space, how)


@parallel_region
def take_rows(worker, taken):
    team = team_of(worker, len(taken))
    for item in range(team.first, len(taken), team.step):
        taken[item, team.lane] += 1


@pytest.mark.parametrize("width", [1, 2, 5])
def test_lanes_choose_a_digit(width):
    draw, parts = np.random.default_rng(width), 5
    space = new_room(parts, np.int64, "cpu")
    how = Ranking(0, -1, 0, 1, 3, rebalance.digit_bits_of(parts), 0)
    bins = space.bins.reshape(parts, -1)
    bins[:, : 1 << width] = draw.integers(0, 9, (parts, 1 << width))
    sums = bins.cumsum(axis=1)[:, : 1 << width]
    space.left[:], space.last[:] = np.minimum(sums[:, -1] // 2 + 1, sums[:, -1]), 1
    space.left[0], space.left[1] = 0, sums[1, -1] + 4  # a light part, and one that stays too heavy
    left = space.left.copy()
    warps.run(choose_digits, width, parts, space, how)
    for one in range(1, parts):
        digit = min(np.searchsorted(sums[one], left[one]), (1 << width) - 1)
        assert space.last[one] == 1 << width | digit
        before = sums[one, digit - 1] if digit and one != 1 else 0
        assert space.left[one] == left[one] - before
    assert space.last[0] == 1 and not bins[1:].any()


@pytest.mark.parametrize("make", [hubs, dense, wheel])
def test_threads_of_a_block_rate_in_columns(make):
    """Rows that fit are rated as on the CPU, the others are left."""
    level, draw = make(), np.random.default_rng(3)
    n = len(level.sizes)
    labels, groups = draw.integers(0, 6, n).astype(np.uint32), draw.integers(0, 2, n).astype(np.uint32)
    state = Labels(labels, np.array([9, 9, 2, 9, 1, 9]), groups, 77, 0)
    chosen, wanted, found = np.arange(0, n, 2), new_facts(level), new_facts(level)
    short = chosen[np.diff(level.offsets)[chosen] <= ratings.IN_COLUMN]
    expected, growth = rate(short, level, state, memory_for(level, 6), wanted), np.zeros(1, np.int64)
    words = 2 * ratings.IN_COLUMN * warps.LANES
    rows = len(chosen), chosen
    warps.run(ratings.rate_in_columns, rows, level, state, found, growth, words=words)
    assert found.tolist() == wanted.tolist() and growth.tolist() == expected.tolist()


@pytest.mark.parametrize("make", [hubs, wheel])
def test_lanes_find_the_least_step(make):
    level, least = make(), np.full(1, rebalance.STEPS)
    warps.run_rows(find_least_step, len(level.sizes), level, least)
    weights = level.weights if len(level.weights) else np.ones(len(level.neighbours), np.int64)
    rows = zip(level.offsets[:-1], level.offsets[1:], level.sizes)
    totals = [(int(weights[first:end].sum()), int(size)) for first, end, size in rows]
    assert least[0] == min(cost_step(-total, size) for total, size in totals if total)


@pytest.mark.parametrize("workers", [8, 12])
def test_teams_have_each_long_row_once(workers, monkeypatch):
    """Every lane of a team takes the same items; workers that fill no team take none."""
    monkeypatch.setattr("edgewise.partitions.row_shares.TEAM", 8)
    taken = np.zeros((7, 8), np.int64)
    warps.run(take_rows, taken, warps=workers // warps.LANES)
    assert (taken == 1).all()
    assert not is_long(75, wheel(), BlockWorker(0, 2, None, None))
