"""Breadth-first search in one cooperative region: all levels in one launch, in two gears.

A search on a road network has thousands of levels of a few thousand vertices; one on a social network has
seven, of which two hold nearly everything.  Neither bears a launch and a question by the host a level.  One
region runs the whole search and shifts between two gears, by the size of the frontier:

*Narrow.*  The frontier is a queue, and every team (a block of a GPU, a thread of a CPU) takes a stretch of
it.  A group of threads reads each row.  After the first rounds a team goes on for several levels by itself
before it meets the others: it puts what it finds into a queue in its own fast memory.  Teams overtake each
other then, so distances are lowered by an atomic minimum, and whoever lowers one passes it on (label
correcting inside a window of levels, as in delta-stepping; Meyer and Sanders 2003).  At the end of a window
all distances inside it are final, since every path into it has been followed from a final one.

*Wide.*  The frontier is not listed at all: every warp looks through its share of the vertices for those at
this level.  Top-down it shares out the entries of its 32 rows evenly among its lanes (Merrill, Garland and
Grimshaw 2012); rows too long for a warp are cut into pieces, for all warps.  Bottom-up, where the frontier
is a large part of the graph, the vertices not yet reached look for a neighbour in it and stop at the first
(Beamer, Asanovic and Patterson 2012).  Every write is the same value, so there are no atomics.
"""

import numpy as np

from edgewise.device import arrays, barrier_wait, device, load, parallel_region
from edgewise.paths.bfs.gears import QUEUES, bottom_up, gather, narrow, top_down, top_down_pieces
from edgewise.paths.block_queues import APART, PIECE, WORDS, add_up
from edgewise.paths.result import unreached

#: Threads a block and blocks a multiprocessor.
THREADS, MAX_BLOCKS_PER_SM = 512, 2
#: Rounds before a narrow window spans several levels, and how many then.
PATIENCE, WINDOW = 48, 32
#: Vertices of a frontier from which on it is wide, for each worker of a GPU's grid and at least.
WIDE = 16384
#: Part of the vertices from which on the others look for the frontier.
BOTTOM_UP = 64


@device
def start(worker, distances, source, others, queue, counts, none):
    """Nothing is reached but the sources, which stand in the first queue as far as they fit; their number."""
    for vertex in range(worker.id, len(distances), worker.count):
        distances[vertex] = none
    barrier_wait(worker)
    capacity = len(queue) // QUEUES
    for item in range(worker.id, len(others), worker.count):
        distances[others[item]] = 0
        if item + 1 < capacity:
            queue[item + 1] = others[item]
    if worker.id == 0:
        distances[source] = 0
        queue[0] = source
    barrier_wait(worker)
    return len(others) + 1


@parallel_region.by(threads=THREADS, max_blocks_per_sm=MAX_BLOCKS_PER_SM, shared_words=WORDS)
def search(
    worker, distances, rows_offsets, rows_neighbours, in_offsets, in_neighbours, source,
    others, queue, counts, group, wide, cutoff, none,
):  # fmt: skip
    """Run a whole search; all workers come to the same decisions from the same counters.

    A counter that decides is not written before the next barrier, since others may still have to read it: the
    queues, and three sets of other counters, take turns.
    """
    n, capacity = len(distances), len(queue) // QUEUES
    rows, incoming = (rows_offsets, rows_neighbours), (in_offsets, in_neighbours)
    size = start(worker, distances, source, others, queue, counts, none)
    near, spill, far, free, spare = 0, 1, 2, 3, 4
    level, rounds, forced = 0, 0, 0
    while size > 0 and level < cutoff:
        found, pieces = QUEUES + 2 * (rounds % 3), QUEUES + 2 * (rounds % 3) + 1
        if worker.id == 0:
            counts[free * APART] = 0
            counts[(QUEUES + 2 * ((rounds + 1) % 3)) * APART] = 0
            counts[(QUEUES + 2 * ((rounds + 1) % 3) + 1) * APART] = 0
        if size < wide and level >= forced:
            last = min(level + (1 if rounds < PATIENCE else WINDOW), cutoff)
            roles = (near, spill, far, capacity)
            narrow(
                worker.id,
                worker.count,
                worker.shared,
                distances,
                rows,
                group,
                queue,
                counts,
                roles,
                size,
                last,
            )
            barrier_wait(worker)
            size = np.int64(load(counts, spill * APART))
            if 0 < size <= capacity:
                near, spill, free = spill, free, near
            elif size > capacity:
                forced, size = last, wide
                barrier_wait(worker)
                if worker.id == 0:
                    counts[spill * APART] = counts[far * APART] = 0
            else:
                level, size = last, np.int64(load(counts, far * APART))
                near, spill, far, free, spare = far, spare, free, near, spill
        else:
            if len(in_offsets) > 0 and size >= n // BOTTOM_UP:
                reached = bottom_up(worker.id, worker.count, distances, incoming, level)
            else:
                reached = top_down(worker.id, worker.count, distances, rows, queue, counts, pieces, level)
                barrier_wait(worker)
                count = np.int64(load(counts, pieces * APART))
                reached += top_down_pieces(worker.id, worker.count, distances, rows, queue, count, level)
            add_up(worker.id, worker.shared, counts, found, reached)
            barrier_wait(worker)
            level, size = level + 1, np.int64(load(counts, found * APART))
            if level < forced:
                size = max(size, wide)
            elif level == forced or 0 < size < wide:  # in a forced window some were found before
                gather(worker.id, worker.count, distances, queue, counts, free, level)
                near, free = free, near
                barrier_wait(worker)
                size = np.int64(load(counts, near * APART))
        rounds += 1


def cooperative(rows, sources, cutoff, wide=WIDE):
    """Distances from the nearest of ``sources`` in one launch.

    Parameters
    ----------
    rows : edgewise.paths.csr.Adjacency
    sources : (k,) int64 array on the host
        Distinct vertices.
    cutoff : int
        Vertices further away are not reached.
    wide : int
        Vertices of a frontier from which on it is not listed.

    Returns
    -------
    (n,) int32 array
    """
    device, n, m = arrays.device_of(rows.offsets), rows.n_vertices, len(rows.neighbours)
    wide = max(1, min(wide, n))
    distances = arrays.empty(n, np.int32, device)
    queue = arrays.empty(QUEUES * (2 * wide + m // PIECE), rows.neighbours.dtype, device)
    counts = arrays.zeros((QUEUES + 6) * APART, np.int32, device)
    nothing, back = arrays.empty(0, np.int64, device), rows.incoming if rows.has_incoming else None
    incoming = (nothing, rows.neighbours[:0]) if back is None else (back.offsets, back.neighbours)
    others = nothing if len(sources) == 1 else arrays.move(sources[1:], device)
    group = 1 << max(0, min(5, round(np.log2(max(m / max(n, 1), 1)))))
    search(
        distances, rows.offsets, rows.neighbours, *incoming, int(sources[0]), others,
        queue, counts, group, wide, int(cutoff), int(unreached(np.int32)),
    )  # fmt: skip
    return distances
