"""All pairs on several devices: blocks of sources go to whoever is free; a matrix is spread by rows.

Sources are independent, so every device has the graph and takes the next block when it is done with one.  The
blocks come together on the host.  Floyd and Warshall's matrix lies on all GPUs, each with a run of its rows
(:mod:`edgewise.paths.apsp.floyd_several`).
"""

from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import numpy as np

from edgewise.device import arrays
from edgewise.paths.apsp import floyd_several
from edgewise.paths.apsp.bounds import always_fits, end_of, heaviest_of, largest_of, least_of, limit_of
from edgewise.paths.apsp.dense import enter, leave
from edgewise.paths.apsp.potentials import NegativeDiagonal
from edgewise.primitives.min_plus import padded


def share_out(workers, tasks, serve):
    """Call ``serve(worker, task)`` for all tasks; every worker takes the next when it is done with one.

    An error, or Ctrl-C, ends it when the tasks under way are done.
    """
    waiting, alone = iter(tasks), Lock()
    stopped = []

    def work(worker):
        while not stopped:
            with alone:
                task = next(waiting, None)
            if task is None:
                return
            try:
                serve(worker, task)
            except BaseException:
                stopped.append(worker)
                raise

    if len(workers) == 1:
        work(workers[0])
        return
    with ThreadPoolExecutor(len(workers)) as pool:
        under_way = [pool.submit(work, worker) for worker in workers]
        try:
            for one in under_way:
                one.result()
        except BaseException:
            stopped.append(None)
            raise


def floyd_warshall(rows_of_places):
    """Make the blocked method ready on several GPUs.

    Parameters
    ----------
    rows_of_places : list of edgewise.paths.csr.Adjacency
        The graph's rows, on one GPU after the other; one may come twice.

    Returns
    -------
    solve : function
        As that of :func:`~edgewise.paths.apsp.dense.by_matrix`, but that it writes to the host.
    """
    rows, stride = rows_of_places[0], padded(rows_of_places[0].n_vertices)
    n, signed, kept = rows.n_vertices, least_of(rows.weights) < 0, {}

    def closed(dtype):
        parts, first = [], 0
        for count, here in zip(floyd_several.shares(stride, len(rows_of_places)), rows_of_places):
            device = arrays.device_of(here.offsets)
            with arrays.guard(device):
                parts.append(arrays.empty(count * stride, dtype, device))
                enter(here, first, stride, parts[-1])
            first += count
        if floyd_several.solve(parts, n, stride, signed=signed):
            raise NegativeDiagonal
        return parts

    def solve(sources, into):
        dtype = into.dtype
        safe, heaviest = always_fits(rows, dtype), heaviest_of(rows.weights)
        if not safe and (signed or heaviest >= end_of(dtype)):
            return True
        if dtype not in kept:
            kept[dtype] = closed(dtype)
        parts, limit = kept[dtype], limit_of(dtype, signed)
        if not safe and max(largest_of(part, limit) for part in parts) + heaviest >= end_of(dtype):
            return True
        first = 0
        for part in parts:
            count = len(part) // stride
            here = np.flatnonzero((sources >= first) & (sources < first + count))
            with arrays.guard(arrays.device_of(part)):
                block = arrays.empty(len(here) * n, dtype, arrays.device_of(part))
                leave(part, stride, sources[here] - first, n, signed, block)
            into.reshape(-1, n)[here] = arrays.move(block, "cpu").reshape(-1, n)
            first += count
        return False

    return solve
