"""``@each_row``: one body for one row, run by a thread, a warp or a block of a GPU.

    @each_row
    def row_sum(row, lane, lanes, offsets, values, sums):
        for entry in range(offsets[row] + lane, offsets[row + 1], lanes):
            fetch_add(sums, row, values[entry])

    row_sum(n, offsets, values, sums, width="warp")

``lane`` counts from 0 to ``lanes - 1`` within the threads that share the row.  On the CPU, and for
``width="thread"``, a row has one lane.  The three widths are those of Baltzakis' label propagation.

By default there is one block, or one warp, per row.  ``@each_row.by(threads=128, max_blocks_per_sm=8)`` sets
the threads per block and limits the blocks per multiprocessor at the widths "warp" and "block"; the blocks
then loop over the rows.  Starting a block costs more than a short row, and rows that are processed later
read what earlier rows have written.
"""

from functools import partial, update_wrapper

from edgewise.device import arrays, launch
from edgewise.device.loop import CHUNK, each
from edgewise.device.target import device, on_cpu, overload_on_cuda
from edgewise.errors import OptionError

WIDTHS = ("thread", "warp", "block")


class each_row:
    """Turn ``body(row, lane, lanes, *arguments)`` into a loop over rows ``loop(rows, *arguments, width=)``.

    The lanes of a row run concurrently and in no particular order; they communicate through atomic
    operations and :func:`warp_min`.  ``threads`` per block are a multiple of the warp size; ``least_chunk``
    is the smallest number of rows that a core takes at a time.
    """

    def __init__(self, body, threads=launch.BLOCK, max_blocks_per_sm=None, least_chunk=CHUNK):
        self.body = device(body)
        self.name = f"{body.__module__}.{body.__qualname__}"
        update_wrapper(self, body)
        threads = min(threads, launch.BLOCK)  # a block of the simulator is smaller
        self.single_lane = each(_one_lane(body), least_chunk=least_chunk, threads=threads)
        warps, blocks = (lambda: _grid().warp_a_row(body)), (lambda: _grid().block_a_row(body))
        grid = launch.Grid(threads=threads, max_blocks_per_sm=max_blocks_per_sm)
        self.kernels = {
            "warp": launch.Kernel(f"{self.name}.warp", warps, grid._replace(lanes=launch.WARP)),
            "block": launch.Kernel(f"{self.name}.block", blocks, grid._replace(lanes=threads)),
        }

    @classmethod
    def by(cls, **sizes):
        """Decorator for a body with launch parameters, named as in the class."""
        return partial(cls, **sizes)

    def __call__(self, rows, *arguments, width="thread"):
        if width not in WIDTHS:
            raise OptionError(f"width={width!r} is unknown; use one of {', '.join(WIDTHS)}")
        if rows <= 0:
            return
        device = arrays.gpu_of(arguments) or arrays.device_of(*arguments, contiguous=True)
        if width == "thread" or device == "cpu":
            self.single_lane(rows, *arguments)
        else:
            self.kernels[width](int(rows), arguments, device)


@on_cpu
def warp_min(value, lanes, lane, otherwise):
    """Minimum of the values of a warp's lanes, returned to its first lane; the others get ``otherwise``.

    A block of several warps therefore has several first lanes.  A row with a single lane
    keeps its own value.  All lanes must call this function together.
    """
    return value


@overload_on_cuda(warp_min)
def _warp_min_on_cuda(value, lanes, lane, otherwise):
    """The lanes reduce by register shuffles, in five steps."""
    from edgewise.device.gpu_compiler import cuda, types

    all_lanes, warp = 0xFFFFFFFF, launch.WARP
    kind, carried = value, types.int32 if value.bitwidth == 32 else types.int64  # shuffles are signed

    def reduce(value, lanes, lane, otherwise):
        if lanes == 1:
            return value
        least, distance = value, warp // 2
        while distance > 0:
            other = kind(cuda.shfl_xor_sync(all_lanes, carried(least), distance))
            if other < least:
                least = other
            distance //= 2
        return least if lane % warp == 0 else otherwise

    return reduce


def _one_lane(body):
    def single_lane(row, *arguments):
        body(row, 0, 1, *arguments)

    single_lane.__module__, single_lane.__qualname__ = body.__module__, f"{body.__qualname__}.thread"
    return single_lane


def _grid():
    from edgewise.device import grid

    return grid
