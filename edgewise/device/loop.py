"""``@each``: one body for one index, a parallel loop on every target.

    @each
    def scale(i, values, factor):
        values[i] *= factor

    scale(len(values), values, 2.0)     # NumPy array: all cores; CuPy array: its GPU

The arguments are passed as one tuple, because CUDA kernels take no ``*args``.  On the CPU every thread has a
contiguous share of the indices, from which it takes chunks, and then it steals chunks of other shares
(:mod:`~edgewise.device.shares`), which balances uneven bodies and cores that other programs use.  All threads
have one share if the loop is ``ascending``, for bodies that are cheaper after earlier ones, as in union-find.

On a GPU there is one thread per index.  A body that mostly waits for a few reads can declare them:

    @each.prefetch(lambda v, parent: parent[v])
    def jump(v, above, parent):
        parent[v] = parent[above]

Then a thread serves ``launch.ITEMS_PER_THREAD`` indices and starts all their reads before the first body,
because four bytes in flight per thread use only a quarter of an H200's memory bandwidth.
"""

from functools import partial, update_wrapper

from edgewise.cached_property import cached_property
from edgewise.device import arrays, launch, threads
from edgewise.device.shares import next_chunk
from edgewise.device.target import device, inlined
from edgewise.device.threads import by_name

#: Average number of chunks per core, and the smallest chunk that is worth an access of a counter.
CHUNKS_PER_CORE = 4
CHUNK = 512
#: The bits of indices.  With them alone the compiler knows that an index is not negative, and leaves out the
#: test with which Numba lets negative ones count from the end: a fifth of the time of Rem's algorithm.
INDEX_BITS = 2**63 - 1


class each:
    """Turn ``body(index, *arguments)`` into a parallel loop ``loop(count, *arguments)``.

    The body is called once for every index ``0 <= index < count`` (an int64), in any order and in parallel.
    Arguments are one-dimensional contiguous arrays on one device, integers, floats, and named tuples of these
    (nested ones as well).

    Parameters
    ----------
    body : function
    fetch : function, optional
        ``fetch(index, *arguments)`` reads what the body will need, while other bodies may write; its value is
        the second argument of the body.
    least_chunk : int
        Smallest number of indices that a core takes at a time; smaller for bodies that last microseconds.
    threads : int
        Threads per block on a GPU.
    min_blocks_per_sm : int, optional
        A limit of :class:`~edgewise.device.launch.Grid`, for bodies that need many registers.
    ascending : bool
        Whether the threads of the CPU begin the indices in ascending order.
    """

    def __init__(
        self,
        body,
        fetch=None,
        least_chunk=CHUNK,
        threads=launch.BLOCK,
        min_blocks_per_sm=None,
        ascending=False,
    ):
        self.body, self.fetch = inlined(body), fetch and device(fetch)
        self.least_chunk = least_chunk
        self.ascending = ascending
        self.name = f"{body.__module__}.{body.__qualname__}"
        update_wrapper(self, body)
        items = 1 if fetch is None else launch.ITEMS_PER_THREAD
        grid = launch.Grid(threads=threads, items_per_thread=items, min_blocks_per_sm=min_blocks_per_sm)
        self.cuda = launch.Kernel(self.name, self._cuda_source, grid)
        by_name[self.name] = self

    @classmethod
    def prefetch(cls, fetch, ascending=False):
        """Decorator for a body whose second argument is the value of ``fetch``."""
        return partial(cls, fetch=fetch, ascending=ascending)

    @cached_property
    def cpu(self):
        """The loop for the CPU, which is made when it is first needed: few processes need all loops."""
        body = self.body if self.fetch is None else _combine(self.body, self.fetch)
        return _cpu_loop(body, self.name)

    def __call__(self, count, *arguments):
        if count <= 0:
            return
        device = arrays.gpu_of(arguments) or arrays.device_of(*arguments, contiguous=True)
        if device != "cpu":
            self.cuda(int(count), arguments, device)
            return
        workers = threads.count()
        chunk = max(self.least_chunk, count // (workers * CHUNKS_PER_CORE))
        workers = min(workers, -(-count // chunk))
        with threads.lock_for(workers):
            shares = threads.new_shares(1 if self.ascending else workers)
            threads.run(self.cpu, workers, int(count), chunk, shares, arguments)

    def vectorised(self, count, *arguments):
        """Run the body for a slice of all indices by NumPy; it may do no more with it than index arrays."""
        self.body(slice(count), *arguments)

    def _cuda_source(self):
        from edgewise.device import grid

        if self.fetch is None:
            return grid.thread_an_index(self.body)
        return grid.thread_some_indices(self.body, self.fetch)


def _combine(body, fetch):
    @inlined
    def fetch_and_run(index, *arguments):
        body(index, fetch(index, *arguments), *arguments)

    return fetch_and_run


def _cpu_loop(body, name):
    def loop(worker_id, count, chunk, shares, arguments):
        turn = 0
        while True:
            turn, start, stop = next_chunk(turn, shares, count, chunk, worker_id)
            if start >= stop:
                return
            for index in range(start, stop):
                body(index & INDEX_BITS, *arguments)

    return threads.Region(loop, name)
