"""Repeated single-source search on a GPU: the lanes of a warp are sources.

As in :mod:`~edgewise.paths.apsp.batches`, a batch of sources is searched for at once, and ``distances[v]``
is a row with one distance from each.  Here a warp takes a marked vertex and its lanes two sources each: it
pulls the least of ``distances[u] + weight`` over the edges that come in, 256 bytes at a time, and where that
lowered a lane it marks the vertices behind the edges that leave for the next round.  A vertex belongs to one
warp, so nothing is atomic.  What neighbours write in the same round may be seen or not; if not, they have
marked the vertex.

A mark is the number of the round, so marks need not be taken away.  A vertex that is marked for the next
round before its warp has come in this one waits for the next, which harms nothing.

All batches are one region with barriers (:mod:`~edgewise.device.together`): the host asks for nothing in
between.  64 sources of a graph of 100,000 vertices take 26 MB, which stay in the cache of a large GPU.
"""

import numpy as np

from edgewise.device import arrays, device, fetch_max, load, meet, together
from edgewise.device.warps import lanes_of_warp
from edgewise.paths.apsp.bounds import ceiling_of, heaviest_of
from edgewise.paths.distances import unreached

#: Sources of a batch; a multiple of twice the lanes of a warp.
SOURCES = 64


@device
def lower(vertex, first, last, offsets, neighbours, weights, sources, distances):
    """Lower two lanes of a vertex by the edges that come in; return whether any fell."""
    own, other = vertex * sources + first, vertex * sources + last
    here, there = distances[own], distances[other]
    least, least_there = here, there
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        weight = weights[entry]
        row = np.int64(neighbours[entry]) * sources
        least = min(least, distances[row + first] + weight)
        least_there = min(least_there, distances[row + last] + weight)
    if least < here:
        distances[own] = least
    if least_there < there:
        distances[other] = least_there
    return least < here or least_there < there


@device
def mark_behind(vertex, turn, offsets, neighbours, marks):
    """Mark the vertices to which an edge leads."""
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        marks[np.int64(neighbours[entry])] = turn


@device
def begin(me, everyone, batch, turn, leaving, chosen, sources, distances, marks, ceiling):
    """Set a batch's distances, and mark what lies behind its sources."""
    begun, count = batch * sources, min(sources, len(chosen) - batch * sources)
    for entry in range(me, (len(leaving[0]) - 1) * sources, everyone):
        lane = entry % sources
        distances[entry] = ceiling
        if lane < count and chosen[begun + lane] == entry // sources:
            distances[entry] = 0
    for lane in range(me, count, everyone):
        mark_behind(chosen[begun + lane], turn, leaving[0], leaving[1], marks)


@device
def finish(me, everyone, batch, vertices, chosen, sources, distances, into, limits):
    """Write a batch's lanes as rows of the result; return the largest distance that is finite."""
    ceiling, none, largest = limits
    begun, count = batch * sources, min(sources, len(chosen) - batch * sources)
    for entry in range(me, count * vertices, everyone):
        lane, vertex = entry // vertices, entry % vertices
        value = distances[vertex * sources + lane]
        if value < ceiling:
            largest = max(largest, np.int64(value))
            into[(begun + lane) * vertices + vertex] = value
        else:
            into[(begun + lane) * vertices + vertex] = none
    return largest


@together
def search(
    me,
    everyone,
    barrier,
    leaving_offsets,
    leaving_neighbours,
    offsets,
    neighbours,
    weights,
    chosen,
    sources,
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
    leaving = leaving_offsets, leaving_neighbours
    vertices, lanes = len(offsets) - 1, lanes_of_warp()
    lane, turn, most = me % lanes, 1, largest[0]
    for batch in range((len(chosen) + sources - 1) // sources):
        begin(me, everyone, batch, turn, leaving, chosen, sources, distances, marks, ceiling)
        meet(barrier, everyone)
        going = True
        while going:
            for vertex in range(me // lanes, vertices, everyone // lanes):
                if marks[vertex] == turn:
                    fell = False
                    for first in range(lane, sources, 2 * lanes):
                        last = first + lanes
                        if lower(vertex, first, last, offsets, neighbours, weights, sources, distances):
                            fell = True
                    if fell:
                        mark_behind(vertex, turn + 1, leaving_offsets, leaving_neighbours, marks)
                        changed[0] = turn
            meet(barrier, everyone)
            # Others may be a round ahead of this look, never behind.
            going = load(changed, 0) >= turn
            turn += 1
        limits = ceiling, none, most
        most = finish(me, everyone, batch, vertices, chosen, sources, distances, into, limits)
        meet(barrier, everyone)
    if most > largest[0]:
        fetch_max(largest, 0, most)


def solve(rows, sources, into, *, batch=SOURCES):
    """Search from many sources.

    Parameters
    ----------
    rows : edgewise.paths.rows.Rows
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
    place, n, kind = arrays.place_of(into), rows.n_vertices, into.dtype
    if not n or not len(sources):
        return False
    heaviest, ceiling = heaviest_of(rows.weights), ceiling_of(kind)
    if heaviest >= ceiling:
        return True
    incoming = rows.incoming
    with arrays.on(place):
        largest = arrays.zeros(1, np.int64, place)
        search(
            rows.offsets,
            rows.neighbours,
            incoming.offsets,
            incoming.neighbours,
            _weights_as(incoming, kind),
            arrays.move(sources, place),
            batch,
            arrays.empty(n * batch, kind, place),
            arrays.zeros(n, np.int32, place),
            arrays.zeros(1, np.int32, place),
            into,
            largest,
            ceiling,
            unreached(kind),
        )
        return kind.kind == "i" and int(arrays.move(largest, "cpu")[0]) + heaviest >= ceiling


def _weights_as(incoming, kind):
    """Weights of the entries that come in; ones where edges count as one."""
    if len(incoming.weights):
        return incoming.weights
    return arrays.full(len(incoming.neighbours), 1, kind, arrays.place_of(incoming.neighbours))
