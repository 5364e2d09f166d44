"""What the threads of a warp, and of a block, do together inside a region (:mod:`~edgewise.device.regions`).

A *warp* has ``warp_size()`` lanes that exchange values from register to register; a *team* is a block,
which has words of fast memory of its own if its region asks for them.  On the CPU, and in the interpreter,
a worker is a warp of one lane and a team of one; in the simulator a warp has one lane.  All lanes of a warp
must come to an exchange together, and all workers of a block to :func:`block_barrier`;
:func:`warp_aggregated_add` may be called by any.
"""

from numba.extending import overload

from edgewise.device.atomics import fetch_add
from edgewise.device.launch import BLOCK, WARP
from edgewise.device.target import INTERPRETED, PART, SIMULATED, device, on_cuda


def warp_size():
    """Number of lanes that exchange values."""
    return 1


def inclusive_scan(value, lane):
    """The sum of ``value`` over the lanes up to this one; int64."""
    return value


def shuffle(value, lane):
    """The ``value`` that another lane holds."""
    return value


def ballot(flag):
    """Bit ``lane`` of the result says whether that lane's ``flag`` is true; int64."""
    return 1 if flag else 0


def popcount(found):
    """How many lanes are in ``found``, a selection of a warp's :func:`ballot`."""
    return int(found).bit_count()


def warp_barrier():
    """Wait until all lanes are here; what they wrote before is seen by all of them behind it."""


def block_add(array, index, value):
    """Add to an element that others of the team, and nobody else, may add to; return what was there."""
    return fetch_add(array, index, value)


@device
def find_segment(entry, ends, lanes):
    """Number of the lane in whose share ``entry`` lies; ``ends`` are where the lanes' shares end."""
    owner, step = 0, lanes // 2
    while step > 0:
        if shuffle(ends, owner + step - 1) <= entry:
            owner += step
        step //= 2
    return owner


@device
def segment_sum(value, first, end, lane):
    """The sum of what the lanes ``first`` to ``end`` (cut to those there are) hold; each asks for its own."""
    lanes, sums = warp_size(), inclusive_scan(value, lane)
    first, end = max(first, 0), min(end, lanes)
    before, within = shuffle(sums, max(first, 1) - 1), shuffle(sums, max(end, 1) - 1)
    if first >= end:
        return value - value
    return within - before if first > 0 else within


def warps_per_block(threads, device):
    """Warps that a team has whose region has so many ``threads`` on a GPU; asked on the host."""
    if device == "cpu":
        return 1
    return min(threads, BLOCK) if SIMULATED else threads // WARP


def warp_aggregated_add(counter, index):
    """Add one to ``counter[index]`` and return what was there.

    Lanes that come here together go there at once, so they must name the same counter.  Counters hold less
    than 2**31.
    """
    return fetch_add(counter, index, 1)


def block_size():
    """Number of workers of a team."""
    return _block().size() if SIMULATED else 1


def block_barrier():
    """Wait until all workers of the team are here."""
    if SIMULATED:
        _block().wait_for_block()


def _block():
    from edgewise.device import grid

    return grid


@overload(warp_size, jit_options=PART)
def _one_lane():
    return lambda: 1


@overload(inclusive_scan, jit_options=PART)
def _sum_of_one(value, lane):
    return lambda value, lane: value


@overload(shuffle, jit_options=PART)
def _from_the_one(value, lane):
    return lambda value, lane: value


@overload(ballot, jit_options=PART)
def _vote_of_one(flag):
    return lambda flag: 1 if flag else 0


@overload(popcount, jit_options=PART)
def _count_one_vote(found):
    return lambda found: found & 1


@overload(warp_barrier, jit_options=PART)
def _no_other_lane():
    return lambda: None


@overload(block_add, jit_options=PART)
def _add_alone(array, index, value):
    def add(array, index, value):
        held = array[index]
        array[index] = held + array.dtype.type(value)
        return held

    return add


@overload(warp_aggregated_add, jit_options=PART)
def _ticket_on_cpu(counter, index):
    return lambda counter, index: fetch_add(counter, index, 1)


@overload(block_size, jit_options=PART)
def _team_of_one():
    return lambda: 1


@overload(block_barrier, jit_options=PART)
def _nobody_to_meet():
    return lambda: None


def _register_warps_on_cuda():
    """A warp's lanes exchange registers."""
    if SIMULATED or INTERPRETED:
        return
    from numba import cuda, types
    from numba.cuda.extending import overload as overload_on_cuda

    everyone = 0xFFFFFFFF

    @overload_on_cuda(warp_size)
    def lanes_on_cuda():
        return lambda: WARP

    @overload_on_cuda(inclusive_scan)
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

    @overload_on_cuda(shuffle)
    def from_lane_on_cuda(value, lane):
        return lambda value, lane: cuda.shfl_sync(everyone, value, types.int32(lane))

    @overload_on_cuda(ballot)
    def votes_on_cuda(flag):
        return lambda flag: types.int64(cuda.ballot_sync(everyone, flag))

    @overload_on_cuda(popcount)
    def count_on_cuda(found):
        return lambda found: types.int64(cuda.popc(types.uint32(found)))

    @overload_on_cuda(warp_barrier)
    def meet_warp_on_cuda():
        return lambda: cuda.syncwarp(everyone)


def _register_teams_on_cuda():
    """A team is a block, and lanes that come together go to a counter together."""
    if SIMULATED or INTERPRETED:
        return
    from numba import cuda, types
    from numba.cuda.extending import overload as overload_on_cuda

    @overload_on_cuda(block_add)
    def add_on_cuda(array, index, value):
        return lambda array, index, value: fetch_add(array, index, value)

    @overload_on_cuda(warp_aggregated_add)
    def ticket_on_cuda(counter, index):
        def take(counter, index):
            mask = cuda.activemask()
            before = cuda.popc(mask & cuda.lanemask_lt())
            first = types.int32(0)
            if before == 0:
                first = types.int32(fetch_add(counter, index, cuda.popc(mask)))
            return cuda.shfl_sync(mask, first, cuda.ffs(mask) - 1) + before

        return take

    @overload_on_cuda(block_size)
    def team_on_cuda():
        return lambda: cuda.blockDim.x

    @overload_on_cuda(block_barrier)
    def meet_on_cuda():
        return lambda: cuda.syncthreads()


on_cuda(_register_warps_on_cuda)
on_cuda(_register_teams_on_cuda)
