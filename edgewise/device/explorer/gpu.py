"""A GPU of the explorer: blocks and warps of threads that wait for each other and exchange values.

Blocks of a cooperative launch all run at once, of another one a few.  A barrier of a block is reached by all
of its threads at one line, and an exchange by all lanes of a warp; whatever else they do is a fault that
names both lines.  Words of shared memory have no value before one is stored there.
"""

import sys
from types import SimpleNamespace

import numpy as np

from edgewise.device import lanes, regions, warps
from edgewise.device.explorer.copies import preemptible
from edgewise.device.explorer.memory import Shared, without_values
from edgewise.device.explorer.reports import Fault, call_of, here, shown
from edgewise.device.explorer.scheduler import current
from edgewise.device.launch import WARP

#: Blocks of a launch that run at once, unless it is cooperative.
RESIDENT = 2
#: Steps of a launch after which it is said to make no progress.
MAX_STEPS = 20_000_000


class Meeting:
    """Threads that wait until all of them have arrived at one call, each with a value."""

    def __init__(self, count, name):
        self.count, self.name = count, name
        self.arrived, self.values, self.where, self.call = [], {}, None, None

    def arrive(self, value, frame, orders=True):
        """Wait for the others; return the values of all by the order of their numbers.

        Unless it ``orders`` memory, what a thread has written before need not be seen by the others.
        """
        scheduler = current()
        thread, where, call = scheduler.running, here(frame), call_of(frame.f_code, frame.f_lasti)
        if not self.arrived:
            self.where, self.call = where, call
        elif (where, call) != (self.where, self.call):
            raise Fault(
                f"{thread} waits at {shown(where)} while {self.arrived[0]} waits at {shown(self.where)}"
            )
        self.arrived.append(thread)
        self.values[thread.place.number] = value
        if len(self.arrived) < self.count:
            scheduler.wait(f"waits for its {self.name}", frame)
        else:
            self._complete(scheduler, orders)
        return thread.place.met

    def _complete(self, scheduler, orders):
        values = [self.values[number] for number in sorted(self.values)]
        arrived, self.arrived, self.values = self.arrived, [], {}
        if orders and scheduler.memory is not None:
            scheduler.memory.barrier(arrived)
        for thread in arrived:
            thread.place.met = values
            if thread is not scheduler.running:
                scheduler.release(thread)
        scheduler.step()

    def end(self, thread):
        """A thread ends; nobody may wait for it."""
        if self.arrived:
            raise Fault(f"{thread} has ended while {self.arrived[0]} waits at {shown(self.where)}")


class Place:
    """What a thread is in a launch: its block, its warp, and its number in the block."""

    __slots__ = ("block", "met", "n_shared", "number", "warp")

    def __init__(self, block, number):
        self.block, self.number, self.n_shared, self.met = block, number, 0, None
        self.warp = block.warps[number // block.launch.lanes]

    def __str__(self):
        return f"thread {self.number} of block {self.block.number}"

    def end(self, scheduler):
        """The thread ends."""
        for meeting in (self.warp, self.block.barrier, self.block.launch.barrier):
            meeting.end(self)
        self.block.left -= 1
        if self.block.left == 0:
            self.block.launch.start_block(scheduler)


class Block:
    """A block of threads: its barrier, its warps, and its shared memory."""

    def __init__(self, launch, number, n_threads):
        self.launch, self.number, self.left = launch, number, n_threads
        self.barrier, self.shared, lanes = Meeting(n_threads, "block"), [], launch.lanes
        self.warps = [Meeting(min(lanes, n_threads - first), "warp") for first in range(0, n_threads, lanes)]


class Launch:
    """A launch of ``body()`` by blocks of so many threads, in warps of so many lanes, or of :data:`WARP`."""

    def __init__(self, body, n_blocks, n_threads, cooperative, lanes=None):
        self.body, self.n_blocks, self.n_threads, self.started = body, n_blocks, n_threads, 0
        self.lanes = WARP if lanes is None else lanes
        self.resident = n_blocks if cooperative else min(RESIDENT, n_blocks)
        self.barrier = Meeting(n_blocks * n_threads, "grid")

    def run(self, scheduler):
        """Run all blocks."""
        for _ in range(self.resident):
            self.start_block(scheduler)
        scheduler.finish()

    def start_block(self, scheduler):
        """Start the next block, if there is one."""
        if self.started < self.n_blocks:
            block = Block(self, self.started, self.n_threads)
            self.started += 1
            scheduler.start([(self.body, Place(block, number)) for number in range(self.n_threads)])


def _place():
    return current().running.place


def _exchange(value, orders=False):
    """The values of all lanes of the warp; the line is that of the caller's caller."""
    return _place().warp.arrive(value, sys._getframe(2), orders)


def warp_size():
    """Lanes of a warp."""
    return _place().block.launch.lanes


def inclusive_scan(value, lane):
    """Sum over the lanes up to this one."""
    return np.int64(sum(_exchange(value)[: int(lane) + 1]))


def shuffle(value, lane):
    """The value of another lane."""
    values = _exchange(value)
    return values[int(lane) % len(values)]  # as a GPU wraps it


def ballot(flag):
    """A word of the flags of all lanes."""
    return sum(1 << lane for lane, one in enumerate(_exchange(bool(flag))) if one)


def match(value):
    """A word of the lanes with the same value."""
    return sum(1 << lane for lane, one in enumerate(_exchange(int(value))) if one == int(value))


def warp_barrier():
    """Wait for all lanes."""
    _exchange(None, orders=True)


def warp_min(value, n_lanes, lane, otherwise):
    """The least value of a warp, in its first lane."""
    if n_lanes == 1:
        return value
    values = _exchange(value)
    return min(values) if lane % len(values) == 0 else otherwise


def block_size():
    """Threads of a block."""
    return _place().block.launch.n_threads


def is_first_of_block():
    """Whether a thread is the first of its block."""
    return _place().number == 0


def block_barrier():
    """Wait for all threads of the block."""
    _place().block.barrier.arrive(None, sys._getframe(1))


def block_any(flag):
    """Whether the flag of any thread of the block is true."""
    return any(_place().block.barrier.arrive(bool(flag), sys._getframe(1)))


def barrier_wait(worker):
    """Wait for all threads of the grid."""
    place = _place()
    place.block.launch.barrier.arrive(None, sys._getframe(1))


def _shared_array(shape, dtype, alignment=None):
    """The array of shared memory that a thread's call of this number gives to all threads of its block."""
    place, scheduler = _place(), current()
    if place.n_shared == len(place.block.shared):
        place.block.shared.append(without_values(shape, _numpy_type(dtype), scheduler))
    place.n_shared += 1
    return place.block.shared[place.n_shared - 1]


def _numpy_type(dtype):
    """The type of NumPy by that of the compiler."""
    return np.dtype(dtype if isinstance(dtype, type) else dtype.name)


class _Along:
    """A number along the only dimension."""

    def __init__(self, read):
        self._read = read

    @property
    def x(self):
        """The number."""
        return self._read(_place())


#: What takes the place of the compiler's module ``cuda``.
cuda = SimpleNamespace(
    grid=lambda dimensions: _place().block.number * block_size() + _place().number,
    gridsize=lambda dimensions: _place().block.launch.n_blocks * block_size(),
    threadIdx=_Along(lambda place: place.number),
    blockIdx=_Along(lambda place: place.block.number),
    blockDim=_Along(lambda place: place.block.launch.n_threads),
    gridDim=_Along(lambda place: place.block.launch.n_blocks),
    syncthreads=lambda: _place().block.barrier.arrive(None, sys._getframe(1)),
    shared=SimpleNamespace(array=_shared_array),
    local=SimpleNamespace(array=lambda shape, dtype: np.empty(shape, _numpy_type(dtype))),
)
#: What takes the place of the library's operations of warps, blocks and grids.
OPERATIONS = {
    warps.warp_size: warp_size,
    warps.inclusive_scan: inclusive_scan,
    warps.shuffle: shuffle,
    warps.ballot: ballot,
    warps.match: match,
    warps.warp_barrier: warp_barrier,
    warps.block_size: block_size,
    warps.is_first_of_block: is_first_of_block,
    warps.block_barrier: block_barrier,
    warps.block_any: block_any,
    lanes.warp_min: warp_min,
    regions.barrier_wait: barrier_wait,
}


def on_gpu(function, **replaced):
    """A copy of a device function for a thread of a :class:`Launch`."""
    return preemptible(function, OPERATIONS, cuda=cuda, **replaced)


def shared(arguments, scheduler):
    """The arguments with arrays that threads share, in records as well."""

    def of(one):
        if isinstance(one, tuple):
            return shared(one, scheduler)
        return Shared(one.view(np.ndarray), scheduler) if isinstance(one, np.ndarray) else one

    converted = map(of, arguments)
    return type(arguments)(*converted) if hasattr(arguments, "_fields") else tuple(converted)
