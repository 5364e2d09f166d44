"""Repeated single-source search on a GPU: the lanes of a warp are sources.

As in :mod:`~edgewise.paths.apsp.many_sources`, a batch of sources is searched from at once.  Here a warp
takes a marked vertex, and each of its lanes two sources: it pulls the least of ``distances[u] + weight`` over
the incoming edges, 256 bytes at a time, and where that lowered a lane it marks the targets of the outgoing
edges for the next round.  A vertex belongs to one warp, so nothing is atomic.  What neighbours write in the
same round may be seen or not; if not, they have marked the vertex.  A mark is the number of the round.

The lanes of a warp read the marks and offsets of as many vertices as there are lanes and pass them to each
other, and four edges are read at a time, the last one again where a row has no more.  All batches are one
region with barriers (:mod:`~edgewise.device.regions`).  128 sources of a graph of 100,000 vertices take 51
MB, which stay in the cache of a large GPU.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, barrier_wait, device, fetch_max, load, parallel_region
from edgewise.device.warps import shuffle, warp_size
from edgewise.paths.apsp.search import always_fits, ceiling_of, end_of, heaviest_of, largest_of
from edgewise.paths.csr import CSR, unreached

#: Sources of a batch; a multiple of twice the lanes of a warp.
SOURCES = 128
#: Blocks that a multiprocessor runs at once, which limits the registers of a thread.
BLOCKS = 4
U = np.uint64  # an unsigned index needs no test for one below zero


class LaneSearch(NamedTuple):
    """What all workers of a search share.

    The weights of ``incoming`` are in the type of the distances.  ``sources`` (k,) int64 are searched from
    ``batch`` at a time; ``distances`` (n * batch,) has those of a vertex side by side, and ``marks`` (n,)
    int32 the last round for which it was marked.  ``step`` is 4, the edges read at a time: a compiler that
    knew it would unroll the loop, and take more registers than there are.
    """

    outgoing: CSR
    incoming: CSR
    sources: Any
    batch: int
    step: int
    distances: Any
    marks: Any


class Output(NamedTuple):
    """Where the distances go: ``result`` (k * n,), and its value ``none`` where no path leads."""

    result: Any
    none: Any


class Lane(NamedTuple):
    """A thread's warp, the number of warps, the thread's lane, and the number of lanes."""

    warp: int
    n_warps: int
    lane: int
    n_lanes: int


@device
def lower(search, vertex, begin, end, thread):
    """Lower a lane's distances of a vertex by its incoming edges; return whether any distance fell."""
    neighbours, weights = search.incoming.neighbours, search.incoming.weights
    distances, batch, lanes = search.distances, search.batch, thread.n_lanes
    kind, fell, final = distances.dtype.type, False, end - 1
    for first in range(thread.lane, batch, 2 * lanes):
        own = U(vertex * batch + first)
        last = U(vertex * batch + first + lanes)
        here, there = distances[own], distances[last]
        low, other = here, there
        entry = begin
        while entry < end:
            one, two = U(entry), U(min(entry + 1, final))
            three, four = U(min(entry + 2, final)), U(min(entry + 3, final))
            a, b = np.int64(neighbours[one]) * batch + first, np.int64(neighbours[two]) * batch + first
            c, d = np.int64(neighbours[three]) * batch + first, np.int64(neighbours[four]) * batch + first
            p, q, r, s = weights[one], weights[two], weights[three], weights[four]
            low = min(low, min(kind(distances[U(a)] + p), kind(distances[U(b)] + q)))
            low = min(low, min(kind(distances[U(c)] + r), kind(distances[U(d)] + s)))
            a, b, c, d = a + lanes, b + lanes, c + lanes, d + lanes
            other = min(other, min(kind(distances[U(a)] + p), kind(distances[U(b)] + q)))
            other = min(other, min(kind(distances[U(c)] + r), kind(distances[U(d)] + s)))
            entry += search.step
        if low < here:
            # race: who reads the distance from before has been marked for the next round
            distances[own] = low
            fell = True
        if other < there:
            distances[last] = other  # race: as above
            fell = True
    return fell


@device
def mark_targets(search, vertex, round_number):
    """Mark the targets of the outgoing edges of a vertex for a round."""
    for entry in range(search.outgoing.offsets[vertex], search.outgoing.offsets[vertex + 1]):
        # race: a vertex marked for this round, too, is lowered in the next one, which sees all
        search.marks[U(search.outgoing.neighbours[U(entry)])] = round_number


@device
def lower_marked(search, round_number, thread):
    """Lower the marked vertices of a warp; return whether any of this lane's distances fell."""
    offsets, marks, (warp, n_warps, lane, lanes) = search.incoming.offsets, search.marks, thread
    vertices, any_fell = len(offsets) - 1, False
    for least in range(warp, vertices, n_warps * lanes):
        mine, marked, begin, end = least + lane * n_warps, 0, np.int64(0), np.int64(0)
        if mine < vertices and marks[mine] == round_number:
            marked, begin, end = 1, offsets[mine], offsets[mine + 1]
        for other in range(lanes):
            if shuffle(marked, other) == 1:
                vertex = least + other * n_warps
                if lower(search, vertex, shuffle(begin, other), shuffle(end, other), thread):
                    mark_targets(search, vertex, round_number + 1)
                    any_fell = True
    return any_fell


@device
def begin_batch(search, first, round_number, thread, ceiling):
    """Set the distances of the batch that begins at source ``first``; mark the targets of its sources."""
    vertices, batch, distances = len(search.outgoing.offsets) - 1, search.batch, search.distances
    for number in range(thread.lane, batch, thread.n_lanes):
        source = np.int64(-1)
        if first + number < len(search.sources):
            source = search.sources[first + number]
        for vertex in range(thread.warp, vertices, thread.n_warps):
            distances[vertex * batch + number] = ceiling
            if vertex == source:
                distances[vertex * batch + number] = 0
                mark_targets(search, vertex, round_number)


@device
def finish_batch(search, first, worker, output, ceiling, largest):
    """Write the lanes of a batch as rows; return the largest finite distance, or ``largest``."""
    vertices, batch = len(search.outgoing.offsets) - 1, search.batch
    for vertex in range(worker.id, vertices, worker.count):
        for number in range(min(batch, len(search.sources) - first)):
            value, to = search.distances[vertex * batch + number], (first + number) * vertices + vertex
            if value < ceiling:
                largest = max(largest, np.int64(value))
                output.result[to] = value
            else:
                output.result[to] = output.none
    return largest


@parallel_region.by(min_blocks_per_sm=BLOCKS)
def search_batches(worker, search, output, ceiling, changed, largest):
    """Search from one batch of the sources after the other.

    ``changed[0]`` is the last round that lowered a distance; ``largest[0]`` becomes the largest finite
    distance of integers.
    """
    lanes, round_number, maximum = warp_size(), 1, largest[0]
    thread = Lane(worker.id // lanes, worker.count // lanes, worker.id % lanes, lanes)
    for first in range(0, len(search.sources), search.batch):
        begin_batch(search, first, round_number, thread, ceiling)
        barrier_wait(worker)
        active = True
        while active:
            if lower_marked(search, round_number, thread):
                changed[0] = round_number  # race: who reads it asks for this round or a later one
            barrier_wait(worker)
            # Other workers may be a round ahead of this read, never behind.
            active = load(changed, 0) >= round_number
            round_number += 1
        maximum = finish_batch(search, first, worker, output, ceiling, maximum)
        barrier_wait(worker)
    if maximum > largest[0]:
        fetch_max(largest, 0, maximum)


def solve(adjacency, sources, result, *, batch=SOURCES):
    """Search from ``batch`` sources at once, a multiple of 64 on a GPU; weights of zero or more, or none.

    Returns whether a distance was too large for its type.
    """
    device, n, kind = arrays.device_of(result), adjacency.n_vertices, result.dtype
    if not n or not len(sources):
        return False
    heaviest, ceiling = heaviest_of(adjacency), ceiling_of(kind)
    if heaviest >= ceiling:
        return True
    incoming = adjacency.incoming
    with arrays.on(device):
        if not len(incoming.weights):
            incoming = incoming._replace(weights=arrays.full(len(incoming.neighbours), 1, kind, device))
        distances, marks = arrays.empty(n * batch, kind, device), arrays.zeros(n, np.int32, device)
        there = arrays.move(sources, device)
        search = LaneSearch(adjacency.outgoing, incoming, there, batch, 4, distances, marks)
        changed, largest = arrays.zeros(1, np.int32, device), arrays.zeros(1, np.int64, device)
        search_batches(search, Output(result, unreached(kind)), ceiling, changed, largest)
        if kind.kind == "i":
            return int(arrays.move(largest, "cpu")[0]) + heaviest >= ceiling
        return not always_fits(adjacency, kind) and largest_of(result, ceiling) + heaviest > end_of(kind)
