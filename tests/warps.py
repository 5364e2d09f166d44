"""Bodies of loops and regions on a GPU of the explorer, with warps of four lanes, on every engine."""

from edgewise.device import BlockWorker
from edgewise.device.explorer import Scheduler
from edgewise.device.explorer.gpu import Launch, cuda, on_gpu, shared

#: Lanes of a warp, which is a block here.
LANES = 4


def run_rows(loop, rows, *arguments, warps=2, **replaced):
    """Run the body of a loop over rows, each of which a warp takes."""
    body = on_gpu(loop.body, **replaced)

    def take_rows(thread, given):
        for row in range(thread // LANES, rows, warps):
            body(row, thread % LANES, LANES, *given)

    _run(take_rows, warps, arguments)


def run_indices(loop, count, *arguments, **replaced):
    """Run the body of a loop over indices, a multiple of LANES, each of which a lane takes."""
    body = on_gpu(loop.body, **replaced)
    _run(lambda thread, given: body(thread, *given), count // LANES, arguments)


def run(region, *arguments, warps=2, words=LANES, **replaced):
    """Run the body of a region in so many warps; ``words`` are of shared memory."""
    body = on_gpu(region.body, **replaced)

    def work(thread, given):
        worker = BlockWorker(thread, warps * LANES, None, cuda.shared.array(words, region.shared_type))
        body(worker, *given)

    _run(work, warps, arguments)


def _run(body, warps, arguments):
    scheduler = Scheduler(0, max_steps=1_000_000)
    given = shared(arguments, scheduler)
    Launch(lambda: body(cuda.grid(1), given), warps, LANES, True, LANES).run(scheduler)
