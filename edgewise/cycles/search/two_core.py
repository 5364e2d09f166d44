"""The part of a graph that can have cycles, its 2-core, and the number of walks in it.

A vertex with fewer than two neighbours is on no cycle, and without it others have fewer than two; what is
left in the end is the 2-core.  Sampling needs it exactly, and peels it off on the host, vertex by vertex.
Bounds and searches profit from any part of that, and peel a few rounds in parallel on the graph's device.
"""

from __future__ import annotations

import numpy as np

from edgewise.cycles.counting.ranked import CSR, Ranked
from edgewise.device import arrays, compiled, each

#: Rounds of peeling at most.
ROUNDS = 16


@compiled
def peel(rows, degrees, waiting):
    """Remove vertices until ``degrees`` are 0 or at least 2; ``waiting`` is scratch for n vertices."""
    count = 0
    for vertex in range(len(degrees)):
        degrees[vertex] = rows.offsets[vertex + 1] - rows.offsets[vertex]
        if degrees[vertex] < 2:
            waiting[count] = vertex
            count += 1
    while count > 0:
        count -= 1
        vertex = waiting[count]
        degrees[vertex] = 0
        for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
            other = np.int64(rows.neighbours[entry])
            if degrees[other] == 2:  # those with fewer are waiting already
                waiting[count] = other
                count += 1
            if degrees[other] > 0:
                degrees[other] -= 1


@compiled
def copy_rows(rows, degrees, numbers, neighbours):
    """Copy the rows of the vertices that remain, under their new ``numbers``."""
    count = 0
    for vertex in range(len(degrees)):
        if degrees[vertex] > 0:
            for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
                other = np.int64(rows.neighbours[entry])
                if degrees[other] > 0:
                    neighbours[count] = numbers[other]
                    count += 1


def two_core(ranked: Ranked) -> CSR:
    """Rows of the 2-core on the device of ``ranked``, its vertices renumbered in the same order."""
    rows = CSR(ranked.offsets, ranked.neighbours)
    host = CSR(*(arrays.move(array, "cpu") for array in rows))
    degrees, waiting = (np.empty(ranked.n_vertices, np.int64) for _ in range(2))
    peel(host, degrees, waiting)
    remains = degrees > 0
    if remains.all():
        return rows
    offsets = np.concatenate([[0], np.cumsum(degrees[remains])])
    neighbours = np.empty(offsets[-1], host.neighbours.dtype)
    copy_rows(host, degrees, np.cumsum(remains) - 1, neighbours)
    return CSR(arrays.move(offsets, ranked.device), arrays.move(neighbours, ranked.device))


@each
def peel_once(vertex, rows, before, after):
    """Mark a vertex in ``after`` if two of its neighbours are marked in ``before``, as it is itself."""
    count = 0
    if before[vertex] != 0:
        entry, end = rows.offsets[vertex], rows.offsets[vertex + 1]
        while entry < end and count < 2:
            if before[np.int64(rows.neighbours[entry])] != 0:
                count += 1
            entry += 1
    after[vertex] = np.uint8(count == 2)


def peeled(ranked: Ranked):
    """Mark the vertices that remain after some rounds in which those with fewer than two neighbours go.

    Returns an (n,) uint8 array on the device of ``ranked``, zero only for vertices that are on no cycle.
    """
    n, device, rows = ranked.n_vertices, ranked.device, ranked.csr
    remains, other = arrays.full(n, 1, np.uint8, device), arrays.empty(n, np.uint8, device)
    left = n
    for _ in range(ROUNDS):
        peel_once(n, rows, remains, other)
        remains, other = other, remains
        before, left = left, int(remains.sum(dtype=np.int64))
        if left == before:
            break
    return remains


def without_trees(ranked: Ranked) -> Ranked:
    """The graph with the rows of peeled vertices emptied; all vertices keep their numbers."""
    device = ranked.device
    with arrays.guard(device):
        remains = peeled(ranked)
        if bool(remains.all()):
            return ranked
        entries = remains[ranked.neighbours]
        prefix = arrays.zeros(len(entries) + 1, np.int64, device)
        prefix[1:] = entries.cumsum(dtype=np.int64)
        return ranked._replace(
            offsets=arrays.move(prefix[ranked.offsets], device),
            neighbours=arrays.move(ranked.neighbours[entries != 0], device),
            split=arrays.move(prefix[ranked.split], device),
        )


@each
def add_step(vertex, rows, remains, shorter, longer):
    """Count the walks from a vertex by those of its neighbours, which are one edge shorter."""
    total = 0.0
    if remains[vertex] != 0:
        for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
            total += shorter[np.int64(rows.neighbours[entry])]
    longer[vertex] = total


def count_walks(rows, steps: int, remains):
    """Walks of ``steps`` edges from every vertex that remains: (n,) float64 array, perhaps infinite."""
    n, device = len(remains), arrays.device_of(remains)
    counts, other = remains.astype(np.float64), arrays.empty(n, np.float64, device)
    for _ in range(steps):
        add_step(n, rows, remains, counts, other)
        counts, other = other, counts
    return counts
