"""What all distances of a graph come to, from sweeps whose distances are not kept.

After each batch two things are added up where the distances are: the largest distance from each source, over
all ranks, and for each rank the number, the sum and the sum of the inverses of the distances from the sources
of the batch.  So measures of a whole graph need the memory of one batch, and nothing as large as a matrix.

Ranks are in :data:`GROUPS` groups, each of which has its own largest distances of a batch.  Sums of floats
are taken in the order of the sources.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import Worker, arrays, device, parallel_region
from edgewise.device.shares import own_share
from edgewise.device.warps import warp_size
from edgewise.paths.csr import unreached
from edgewise.paths.hierarchy.sweeps import Sweeps

#: Groups of ranks.
GROUPS = 4096
U = np.uint64  # an unsigned index needs no test for one below zero


class Sums(NamedTuple):
    """Sums by rank, and largest distances of a batch by group and lane.

    ``reached`` (ranks,) int64: sources with a path to a rank; ``total`` (ranks,) int64 or float64: the sum of
    their distances; ``inverse`` (ranks,) float64: that of 1 / distance, but for zeros.  ``farthest``
    (groups * width,) in the type of the distances.
    """

    reached: Any
    total: Any
    inverse: Any
    farthest: Any


@device
def add_rank(sweep, sums, number, n_sources, ceiling):
    """Add the distances of the batch to the sums of a rank."""
    reached, total, inverse = sums.reached[number], sums.total[number], sums.inverse[number]
    at = number * sweep.width
    for lane in range(n_sources):
        value = sweep.distances[U(at + lane)]
        if value < ceiling:
            reached += 1
            total += value
            if value != 0:
                inverse += 1.0 / np.float64(value)
    sums.reached[number], sums.total[number], sums.inverse[number] = reached, total, inverse


@device
def find_farthest(sweep, sums, group, n_groups, thread):
    """Find the largest distances within a group, in the lanes of a thread."""
    n, width, (lane, lanes) = len(sweep.rows.offsets) - 1, sweep.width, thread
    first, end = n * group // n_groups, n * (group + 1) // n_groups
    base = group * width
    if lanes == 1:  # a row after the other, in vectors
        for column in range(width):
            sums.farthest[U(base + column)] = sweep.distances[U(first * width + column)]
        for number in range(first + 1, end):
            for column in range(width):
                value = sweep.distances[U(number * width + column)]
                sums.farthest[U(base + column)] = max(sums.farthest[U(base + column)], value)
        return
    for column in range(lane, width, lanes):
        farthest = sweep.distances[U(first * width + column)]
        for number in range(first + 1, end):
            farthest = max(farthest, sweep.distances[U(number * width + column)])
        sums.farthest[U(base + column)] = farthest


@parallel_region
def add_batch(worker, sweep, sums, n_sources, ceiling):
    """Add a batch to the sums; find the largest distances of each group."""
    lanes = warp_size() if sweep.width > 1 else 1
    team = Worker(worker.id // lanes, worker.count // lanes, worker.barrier)
    n, n_groups = len(sweep.rows.offsets) - 1, len(sums.farthest) // sweep.width
    first, end, step = own_share(team, 0, n_groups)
    for group in range(first, end, step):
        find_farthest(sweep, sums, group, n_groups, (worker.id % lanes, lanes))
    first, end, step = own_share(worker, 0, n)
    for number in range(first, end, step):
        add_rank(sweep, sums, number, n_sources, ceiling)


def reduced(sweeps: Sweeps, sources, progress):
    """Reduce all distances from (k,) vertices; None if one was too large for its type.

    Returns four arrays on the host: (k,) the largest distance from each, or the value for no path where it
    does not reach all vertices; and by vertex the number of sources that reach it, the sum of their
    distances, and that of the inverses.
    """
    size, kind, where = len(sweeps.hierarchy.ranks), sweeps.dtype, sweeps.device
    parts, width = sweeps.parts(sources)
    exact = np.int64 if kind == np.int32 else np.float64  # 2**31 distances of 30 bits have a sum of 61
    sums = Sums(
        arrays.zeros(size, np.int64, where),
        arrays.zeros(size, exact, where),
        arrays.zeros(size, np.float64, where),
        arrays.empty(min(GROUPS, size) * width, kind, where),
    )
    farthest, nowhere = np.empty(len(sources), kind), arrays.empty(0, kind, where)
    ceiling, none = kind.type(sweeps.ceiling), unreached(kind)
    for done, (part, sweep, ascent) in enumerate(sweeps.together(sources, parts, width, nowhere), start=1):
        if sweeps.has_cut_off(sweep, ascent):
            return None
        add_batch(sweep, sums, len(part), ceiling)
        largest = arrays.move(sums.farthest, "cpu").reshape(-1, width).max(axis=0)[: len(part)]
        farthest[part] = np.where(largest < ceiling, largest, none)
        progress(done, len(parts))
    ranks = sweeps.hierarchy.ranks
    return farthest, *(arrays.move(array, "cpu")[ranks] for array in sums[:3])
