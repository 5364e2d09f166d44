"""Operations of the threads of a warp, and of a block, in a region (:mod:`~edgewise.device.regions`).

A *warp* has ``warp_size()`` lanes that exchange values from register to register.  On the CPU and in the
interpreter a worker is a warp of one lane and a block of one worker.

All lanes of a warp must call an exchange together, and all workers of a block :func:`block_barrier`.  Any
worker may call :func:`warp_aggregated_add` and :func:`claim`.
"""

import numpy as np

from edgewise.device.atomics import fetch_add
from edgewise.device.first_use import on_cuda
from edgewise.device.launch import WARP
from edgewise.device.target import device, on_cpu, overload_on_cpu


@on_cpu
def warp_size():
    """Number of lanes that exchange values."""
    return 1


@on_cpu
def inclusive_scan(value, lane):
    """Sum of ``value`` over the lanes up to and including this one; int64."""
    return value


@on_cpu
def shuffle(value, lane):
    """The ``value`` of another lane."""
    return value


@on_cpu
def ballot(flag):
    """A word (int64) whose bit ``lane`` is set if that lane's ``flag`` is true."""
    return 1 if flag else 0


@on_cpu
def match(value):
    """A word (int64) whose bits are the lanes with the same ``value``, an integer."""
    return 1


@device
def warp_rank(flag, lane):
    """How many lanes before this one have a true ``flag``, and how many of the warp: two int64."""
    chosen = ballot(flag)
    return popcount(chosen & ((1 << lane) - 1)), popcount(chosen)


def popcount(lanes):
    """Number of lanes in a selection of a warp's :func:`ballot`."""
    return int(lanes).bit_count()


@on_cpu
def warp_barrier():
    """Wait until all lanes have arrived; what they wrote before is visible to all of them afterwards."""


def block_add(array, index, value):
    """Add to an element that only workers of this block add to; return the previous value."""
    return fetch_add(array, index, value)


@device
def find_segment(entry, ends, lanes):
    """Lane whose segment contains ``entry``; ``ends`` is the end of each lane's segment."""
    lane, step = 0, lanes // 2
    while step > 0:
        if shuffle(ends, lane + step - 1) <= entry:
            lane += step
        step //= 2
    return lane


@device
def sum_of_lanes(value, lane, width):
    """Sum over the ``width`` lanes, a power of two, that the lane is one of; added up in one order."""
    step = width // 2
    while step > 0:
        value += shuffle(value, lane ^ step)
        step //= 2
    return value


@device
def segment_min(value, segment, lane, lanes):
    """Minimum of ``value`` over a run of lanes of one segment, and whether a lane is the first of its run.

    Only the first lane has the minimum of the whole run.  All lanes of the warp must call this.
    """
    distance = np.int64(1)
    while distance < lanes:
        other, its_segment = shuffle(value, lane + distance), shuffle(segment, lane + distance)
        if lane + distance < lanes and its_segment == segment and other < value:
            value = other
        distance *= 2
    is_first = shuffle(segment, max(lane - 1, 0)) != segment or lane == 0
    return value, is_first


@device
def segment_sum(value, first, end, lane):
    """Sum of ``value`` over the lanes ``first`` to ``end - 1`` of the warp; each lane has its own limits."""
    lanes, sums = warp_size(), inclusive_scan(value, lane)
    first, end = max(first, 0), min(end, lanes)
    before, within = shuffle(sums, max(first, 1) - 1), shuffle(sums, max(end, 1) - 1)
    if first >= end:
        return value - value
    return within - before if first > 0 else within


@on_cpu
def warp_aggregated_add(counter, index):
    """Add one to ``counter[index]`` and return the previous value.

    The lanes that call this together are served by one atomic operation, so they must name the same counter.
    Counters stay below 2**31.
    """
    return fetch_add(counter, index, 1)


@on_cpu
def claim(counter, index, places):
    """Add a number of places, 0 or more, to ``counter[index]`` and return the previous value.

    The lanes that call this together are served by one atomic operation, so they must name the same counter.
    """
    return fetch_add(counter, index, places)


def block_size():
    """Number of workers of a block."""
    return 1


def is_first_of_block():
    """Whether this worker is the first one of its block."""
    return True


def block_barrier():
    """Wait until all workers of the block have arrived."""


def block_any(flag):
    """Whether the ``flag`` of any worker of the block is true, once all have arrived."""
    return bool(flag)


@overload_on_cpu(block_add)
def _block_add_on_cpu(array, index, value):
    def add(array, index, value):
        held = array[index]
        array[index] = held + array.dtype.type(value)
        return held

    return add


overload_on_cpu(popcount)(lambda lanes: lambda lanes: lanes & 1)
overload_on_cpu(block_size)(lambda: lambda: 1)
overload_on_cpu(is_first_of_block)(lambda: lambda: True)
overload_on_cpu(block_barrier)(lambda: lambda: None)
overload_on_cpu(block_any)(lambda flag: lambda flag: flag)


def _register_warps():
    """The lanes of a warp exchange registers."""
    from edgewise.device.gpu_compiler import cuda, types
    from edgewise.device.gpu_compiler import overload as overload_on_cuda

    all_lanes = 0xFFFFFFFF

    @overload_on_cuda(warp_size)
    def warp_size_on_cuda():
        return lambda: WARP

    @overload_on_cuda(inclusive_scan)
    def inclusive_scan_on_cuda(value, lane):
        def scan(value, lane):
            total, distance = types.int64(value), 1
            while distance < WARP:
                other = cuda.shfl_up_sync(all_lanes, total, distance)
                if lane >= distance:
                    total += other
                distance *= 2
            return total

        return scan

    @overload_on_cuda(shuffle)
    def shuffle_on_cuda(value, lane):
        if not isinstance(value, types.Integer) or value.signed:
            return lambda value, lane: cuda.shfl_sync(all_lanes, value, types.int32(lane))
        kind, carried = value, types.int32 if value.bitwidth <= 32 else types.int64  # shuffles are signed
        return lambda value, lane: kind(cuda.shfl_sync(all_lanes, carried(value), types.int32(lane)))

    @overload_on_cuda(ballot)
    def ballot_on_cuda(flag):
        return lambda flag: types.int64(types.uint32(cuda.ballot_sync(all_lanes, flag)))

    @overload_on_cuda(match)
    def match_on_cuda(value):
        kind = types.int32 if value.bitwidth <= 32 else types.int64  # compares bits
        return lambda value: types.int64(types.uint32(cuda.match_any_sync(all_lanes, kind(value))))

    @overload_on_cuda(popcount)
    def popcount_on_cuda(lanes):
        return lambda lanes: types.int64(cuda.popc(types.uint32(lanes)))

    @overload_on_cuda(warp_barrier)
    def warp_barrier_on_cuda():
        return lambda: cuda.syncwarp(all_lanes)


def _register_counters():
    """Lanes that add to one counter together are served by one atomic operation."""
    from edgewise.device.gpu_compiler import cuda, types
    from edgewise.device.gpu_compiler import overload as overload_on_cuda

    @overload_on_cuda(warp_aggregated_add)
    def warp_aggregated_add_on_cuda(counter, index):
        def take(counter, index):
            mask = cuda.activemask()
            before = cuda.popc(mask & cuda.lanemask_lt())
            first = types.int32(0)
            if before == 0:
                first = types.int32(fetch_add(counter, index, cuda.popc(mask)))
            return cuda.shfl_sync(mask, first, cuda.ffs(mask) - 1) + before

        return take

    @overload_on_cuda(claim)
    def claim_on_cuda(counter, index, places):
        def take(counter, index, places):
            mask = cuda.activemask()
            below, bit, rest = mask & cuda.lanemask_lt(), types.int64(0), types.int64(places)
            before, total, first = types.int64(0), types.int64(0), types.int64(0)
            while cuda.any_sync(mask, rest != 0):
                chosen = cuda.ballot_sync(mask, rest & 1 != 0)
                before += types.int64(cuda.popc(chosen & below)) << bit
                total += types.int64(cuda.popc(chosen)) << bit
                rest >>= 1
                bit += 1
            if below == 0:
                first = types.int64(fetch_add(counter, index, total))
            return cuda.shfl_sync(mask, first, cuda.ffs(mask) - 1) + before

        return take


def _register_blocks():
    """A block has shared memory, in which its threads add, and a barrier of its own."""
    from edgewise.device.gpu_compiler import cuda
    from edgewise.device.gpu_compiler import overload as overload_on_cuda

    @overload_on_cuda(block_add)
    def block_add_on_cuda(array, index, value):
        return lambda array, index, value: fetch_add(array, index, value)

    @overload_on_cuda(block_size)
    def block_size_on_cuda():
        return lambda: cuda.blockDim.x

    @overload_on_cuda(is_first_of_block)
    def is_first_of_block_on_cuda():
        return lambda: cuda.threadIdx.x == 0

    @overload_on_cuda(block_barrier)
    def block_barrier_on_cuda():
        return lambda: cuda.syncthreads()

    @overload_on_cuda(block_any)
    def block_any_on_cuda(flag):
        return lambda flag: cuda.syncthreads_or(np.int32(flag)) != 0


on_cuda(_register_warps)
on_cuda(_register_counters)
on_cuda(_register_blocks)
