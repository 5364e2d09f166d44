"""Teams: the blocks of a region in groups, each of which has a task, and a barrier, of its own.

    @parallel_region
    def work(worker, tasks, n_teams, barriers):
        team = team_of(worker, n_teams, barriers)
        if team.number < team.n_teams:
            for task in range(team.number, len(tasks), team.n_teams):
                ...  # team.id is one of team.count workers
                team_barrier(team)

    work(tasks, n_teams, new_barriers(n_teams, device))

A task with little to do at a time leaves most of a GPU idle, and many such tasks fill it only if each has a
part of it.  A block waits in a fraction of a microsecond, all blocks in some; so a team should be as small as
the number of tasks, and the memory that each needs, allow.  Teams differ by one block at most, and the only
team of a region has all of its blocks.  They may wait for each other because all blocks of a region run at
once (:mod:`~edgewise.device.regions`).

On the CPU, where a worker that waits must let another one go on, the only team has all workers, and one of
several teams is a worker.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays
from edgewise.device.regions import BARRIER, Worker, arrive_and_wait, barrier_wait
from edgewise.device.target import device, on_gpu, overload_on_cpu
from edgewise.device.warps import block_barrier, block_size, is_first_of_block

#: How many numbers of tasks for a team are compared, and the part of the time that makes more of them pay.
MORE_ROUNDS, GAIN = 8, 0.9


class Team(NamedTuple):
    """The team of a worker, and the worker in it.

    ``number`` of the team, of ``n_teams`` that have a task; a region may have more, which should do nothing.
    ``id`` of the worker, of ``count``; ``n_blocks``: of the team; ``barriers``: as of :func:`new_barriers`.
    """

    worker: Worker
    number: int
    n_teams: int
    id: int
    count: int  # type: ignore[assignment]
    n_blocks: int
    barriers: Any


def new_barriers(n_teams, where):
    """The state of the barriers of some teams, int32."""
    return arrays.zeros(n_teams * BARRIER, np.int32, where)


def even_teams(n_tasks, n_blocks, most=None):
    """The number of teams, at most ``most``, for equal tasks that each keep any number of blocks busy.

    They have as many teams as possible, or fewer of more blocks if that makes the last one end sooner by a
    tenth: 176 tasks of 264 blocks are done by 88 teams of three blocks, one after the other.
    """
    most = max(1, min(n_tasks, n_blocks, n_blocks if most is None else most))
    least, n_teams, fastest = -(-n_tasks // most), 1, np.inf
    for rounds in range(max(1, least), least + MORE_ROUNDS):
        among = max(1, -(-n_tasks // rounds))
        time = rounds / (n_blocks // among)
        if time < GAIN * fastest:
            n_teams, fastest = among, time
    return n_teams


def can_be_several():
    """Whether several blocks can wait for each other, and for no others."""
    return True


overload_on_cpu(can_be_several)(lambda: lambda: False)
on_gpu(can_be_several)


@device
def team_of(worker, n_teams, barriers):
    """The team of a worker in a region that has ``n_teams``, or as many as it has blocks."""
    size = block_size()
    n_blocks, block = worker.count // size, worker.id // size
    busy = min(n_teams, n_blocks)
    among = busy if busy == 1 or can_be_several() else n_blocks
    number = ((block + 1) * among - 1) // n_blocks
    first, end = number * n_blocks // among, (number + 1) * n_blocks // among
    id, count = worker.id - first * size, (end - first) * size
    return Team(worker, number, busy, id, count, end - first, barriers)


@on_gpu
def team_barrier(team):
    """Wait until all workers of the team have arrived; what they wrote before is visible to all of them."""
    block_barrier()
    if team.n_blocks > 1:
        if is_first_of_block():
            arrive_and_wait(team.barriers, team.number * BARRIER, team.n_blocks)
        block_barrier()


@overload_on_cpu(team_barrier)
def _team_barrier_on_cpu(team):
    def wait(team):
        if team.n_blocks > 1:
            barrier_wait(team.worker)

    return wait
