"""What the threads of a warp, and of a block, do together inside a region (:mod:`~edgewise.device.together`).

A *warp* has ``lanes_of_warp()`` lanes that exchange values from register to register; a *team* is a block,
which has words of fast memory of its own if its region asks for them.  On the CPU, and in the interpreter,
a worker is a warp of one lane and a team of one; in the simulator a warp has one lane.  All lanes of a warp
must come to an exchange together, and all workers of a team to :func:`meet_team`; :func:`ticket` may be
called by any.
"""

from numba.extending import overload

from edgewise.device.atomics import fetch_add
from edgewise.device.launch import WARP
from edgewise.device.target import INTERPRETED, NO_COUNTING, SIMULATED, on_cuda


def lanes_of_warp():
    """Number of lanes that exchange values."""
    return 1


def sum_up_to(value, lane):
    """The sum of ``value`` over the lanes up to this one; int64."""
    return value


def from_lane(value, lane):
    """The ``value`` that another lane holds."""
    return value


def ticket(counter, index):
    """Add one to ``counter[index]`` and return what was there.

    Lanes that come here together go there at once, so they must name the same counter.  Counters hold less
    than 2**31.
    """
    return fetch_add(counter, index, 1)


def team_size():
    """Number of workers of a team."""
    return _block().size() if SIMULATED else 1


def meet_team():
    """Wait until all workers of the team are here."""
    if SIMULATED:
        _block().wait_for_block()


def _block():
    from edgewise.device import grid

    return grid


@overload(lanes_of_warp, jit_options=NO_COUNTING)
def _one_lane():
    return lambda: 1


@overload(sum_up_to, jit_options=NO_COUNTING)
def _sum_of_one(value, lane):
    return lambda value, lane: value


@overload(from_lane, jit_options=NO_COUNTING)
def _from_the_one(value, lane):
    return lambda value, lane: value


@overload(ticket, jit_options=NO_COUNTING)
def _ticket_on_cpu(counter, index):
    return lambda counter, index: fetch_add(counter, index, 1)


@overload(team_size, jit_options=NO_COUNTING)
def _team_of_one():
    return lambda: 1


@overload(meet_team, jit_options=NO_COUNTING)
def _nobody_to_meet():
    return lambda: None


def _register_on_cuda():
    if SIMULATED or INTERPRETED:
        return
    from numba import cuda, types
    from numba.cuda.extending import overload as overload_on_cuda

    everyone = 0xFFFFFFFF

    @overload_on_cuda(lanes_of_warp)
    def lanes_on_cuda():
        return lambda: WARP

    @overload_on_cuda(sum_up_to)
    def sum_on_cuda(value, lane):
        def scan(value, lane):
            total, apart = types.int64(value), 1
            while apart < WARP:
                other = cuda.shfl_up_sync(everyone, total, apart)
                if lane >= apart:
                    total += other
                apart *= 2
            return total

        return scan

    @overload_on_cuda(from_lane)
    def from_lane_on_cuda(value, lane):
        return lambda value, lane: cuda.shfl_sync(everyone, value, types.int32(lane))

    @overload_on_cuda(ticket)
    def ticket_on_cuda(counter, index):
        def take(counter, index):
            mask = cuda.activemask()
            before = cuda.popc(mask & cuda.lanemask_lt())
            first = types.int32(0)
            if before == 0:
                first = types.int32(fetch_add(counter, index, cuda.popc(mask)))
            return cuda.shfl_sync(mask, first, cuda.ffs(mask) - 1) + before

        return take

    @overload_on_cuda(team_size)
    def team_on_cuda():
        return lambda: cuda.blockDim.x

    @overload_on_cuda(meet_team)
    def meet_on_cuda():
        return lambda: cuda.syncthreads()


on_cuda(_register_on_cuda)
