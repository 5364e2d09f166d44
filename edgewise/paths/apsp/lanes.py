"""Repeated single-source search on a GPU: the lanes of a warp are sources.

As in :mod:`~edgewise.paths.apsp.batches`, a batch of sources is searched for at once, and ``distances[v]``
is a row with one distance from each.  Here a warp takes a marked vertex and its lanes two sources each: it
pulls the least of ``distances[u] + weight`` over the edges that come in, 256 bytes at a time, and where that
lowered a lane it marks the vertices behind the edges that leave for the next round.  A vertex belongs to one
warp, so nothing is atomic.  What neighbours write in the same round may be seen or not; if not, they have
marked the vertex.  A mark is the number of the round, so marks need not be taken away.

A warp mostly waits for memory.  So its lanes look at the marks and rows of as many vertices as there are
lanes, and pass them round; and four edges are read at a time, the last one again where a row has no more.

All batches are one region with barriers (:mod:`~edgewise.device.regions`): the host asks for nothing in
between.  128 sources of a graph of 100,000 vertices take 51 MB, which stay in the cache of a large GPU.
"""

import numpy as np

from edgewise.device import arrays, barrier_wait, device, fetch_max, load, parallel_region
from edgewise.device.warps import shuffle, warp_size
from edgewise.paths.apsp.bounds import always_fits, ceiling_of, end_of, heaviest_of, largest_of
from edgewise.paths.result import unreached

#: Sources of a batch; a multiple of twice the lanes of a warp.
SOURCES = 128
#: Blocks that a multiprocessor of a GPU runs at once, for which a thread's registers have to do.
MIN_BLOCKS_PER_SM = 4
U = np.uint64  # an unsigned index needs no test for one below zero


@device
def lower(vertex, begin, end, step, lane, lanes, neighbours, weights, sources, distances):
    """Lower a lane's distances of a vertex by the edges that come in; return whether any fell.

    ``step`` is 4.  A compiler that knew would unroll the loop, and take more registers than there are.
    """
    kind, fell, final = distances.dtype.type, False, end - 1
    for first in range(lane, sources, 2 * lanes):
        own = U(vertex * sources + first)
        last = U(vertex * sources + first + lanes)
        here, there = distances[own], distances[last]
        low, other = here, there
        entry = begin
        while entry < end:
            one, two = U(entry), U(min(entry + 1, final))
            three, four = U(min(entry + 2, final)), U(min(entry + 3, final))
            a, b = np.int64(neighbours[one]) * sources + first, np.int64(neighbours[two]) * sources + first
            c, d = np.int64(neighbours[three]) * sources + first, np.int64(neighbours[four]) * sources + first
            p, q, r, s = weights[one], weights[two], weights[three], weights[four]
            low = min(low, min(kind(distances[U(a)] + p), kind(distances[U(b)] + q)))
            low = min(low, min(kind(distances[U(c)] + r), kind(distances[U(d)] + s)))
            a, b, c, d = a + lanes, b + lanes, c + lanes, d + lanes
            other = min(other, min(kind(distances[U(a)] + p), kind(distances[U(b)] + q)))
            other = min(other, min(kind(distances[U(c)] + r), kind(distances[U(d)] + s)))
            entry += step
        if low < here:
            distances[own] = low
            fell = True
        if other < there:
            distances[last] = other
            fell = True
    return fell


@device
def mark_behind(vertex, turn, offsets, neighbours, marks):
    """Mark the vertices to which an edge leads."""
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        marks[U(neighbours[U(entry)])] = turn


@device
def lower_marked(warp, warps, lane, lanes, turn, step, leaving, incoming, sources, distances, marks):
    """Lower the marked vertices of a warp; return whether any of this lane's distances fell."""
    offsets, neighbours, weights = incoming
    vertices, any_fell = len(offsets) - 1, False
    for least in range(warp, vertices, warps * lanes):
        mine, marked, begin, end = least + lane * warps, 0, np.int64(0), np.int64(0)
        if mine < vertices and marks[mine] == turn:
            marked, begin, end = 1, offsets[mine], offsets[mine + 1]
        for turned in range(lanes):
            if shuffle(marked, turned) == 1:
                vertex, row = least + turned * warps, (shuffle(begin, turned), shuffle(end, turned))
                if lower(vertex, row[0], row[1], step, lane, lanes, neighbours, weights, sources, distances):
                    mark_behind(vertex, turn + 1, leaving[0], leaving[1], marks)
                    any_fell = True
    return any_fell


@device
def begin_batch(warp, warps, lane, lanes, first, turn, leaving, chosen, sources, distances, marks, ceiling):
    """Set a batch's distances, and mark what lies behind its sources."""
    vertices = len(leaving[0]) - 1
    for source in range(lane, sources, lanes):
        home = np.int64(-1)
        if first + source < len(chosen):
            home = chosen[first + source]
        for vertex in range(warp, vertices, warps):
            distances[vertex * sources + source] = ceiling
            if vertex == home:
                distances[vertex * sources + source] = 0
                mark_behind(vertex, turn, leaving[0], leaving[1], marks)


@device
def finish_batch(me, everyone, vertices, first, chosen, sources, distances, into, limits):
    """Write a batch's lanes as rows of the result; return the largest distance that is finite."""
    ceiling, none, largest = limits
    for vertex in range(me, vertices, everyone):
        for source in range(min(sources, len(chosen) - first)):
            value, to = distances[vertex * sources + source], (first + source) * vertices + vertex
            if value < ceiling:
                largest = max(largest, np.int64(value))
                into[to] = value
            else:
                into[to] = none
    return largest


@parallel_region.by(min_blocks_per_sm=MIN_BLOCKS_PER_SM)
def search(
    worker,
    leaving_offsets,
    leaving_neighbours,
    offsets,
    neighbours,
    weights,
    chosen,
    sources,
    step,
    distances,
    marks,
    changed,
    into,
    largest,
    ceiling,
    none,
):
    """Search from one batch of the chosen sources after the other.

    ``changed[0]`` is the last round that lowered a distance.
    """
    leaving, incoming = (leaving_offsets, leaving_neighbours), (offsets, neighbours, weights)
    lanes, turn, most = warp_size(), 1, largest[0]
    warp, warps, lane = worker.id // lanes, worker.count // lanes, worker.id % lanes
    for first in range(0, len(chosen), sources):
        begin_batch(
            warp, warps, lane, lanes, first, turn, leaving, chosen, sources, distances, marks, ceiling
        )
        barrier_wait(worker)
        going = True
        while going:
            if lower_marked(
                warp, warps, lane, lanes, turn, step, leaving, incoming, sources, distances, marks
            ):
                changed[0] = turn
            barrier_wait(worker)
            # Others may be a round ahead of this look, never behind.
            going = load(changed, 0) >= turn
            turn += 1
        limits = ceiling, none, most
        most = finish_batch(
            worker.id, worker.count, len(offsets) - 1, first, chosen, sources, distances, into, limits
        )
        barrier_wait(worker)
    if most > largest[0]:
        fetch_max(largest, 0, most)


def solve(rows, sources, into, *, batch=SOURCES):
    """Search from many sources.

    Parameters
    ----------
    rows : edgewise.paths.csr.Adjacency
        With ``incoming``, and weights of zero or more (or none).
    sources : (k,) int64 array
        Vertices, anywhere.
    into : (k n,) array
        Takes the distances, source after source, in the place of the rows; of the weights' type.
    batch : int
        Sources searched for at once; a multiple of 64 on a GPU.

    Returns
    -------
    bool
        Whether a distance was too large for the type; ``into`` holds nothing of use then.
    """
    device, n, kind = arrays.device_of(into), rows.n_vertices, into.dtype
    if not n or not len(sources):
        return False
    heaviest, ceiling = heaviest_of(rows.weights), ceiling_of(kind)
    if heaviest >= ceiling:
        return True
    incoming = rows.incoming
    with arrays.on(device):
        largest = arrays.zeros(1, np.int64, device)
        search(
            rows.offsets,
            rows.neighbours,
            incoming.offsets,
            incoming.neighbours,
            _weights_as(incoming, kind),
            arrays.move(sources, device),
            batch,
            4,
            arrays.empty(n * batch, kind, device),
            arrays.zeros(n, np.int32, device),
            arrays.zeros(1, np.int32, device),
            into,
            largest,
            ceiling,
            unreached(kind),
        )
        if kind.kind == "i":
            return int(arrays.move(largest, "cpu")[0]) + heaviest >= ceiling
        return not always_fits(rows, kind) and largest_of(into, ceiling) + heaviest > end_of(kind)


def _weights_as(incoming, kind):
    """Weights of the entries that come in; ones where edges count as one."""
    if len(incoming.weights):
        return incoming.weights
    return arrays.full(len(incoming.neighbours), 1, kind, arrays.device_of(incoming.neighbours))
