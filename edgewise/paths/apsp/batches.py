"""Repeated single-source search, 256 bytes of sources at a time.

The document finds all pairs by one search after another, all the same but for their source.  Here a batch of
sources is searched for at once, and the *lanes* of a vector are its sources: ``distances[v]`` is a row with
one distance from each, and one edge is relaxed for all of them by one load, one addition and one minimum.  An
edge's weight is read once for 64 sources (int32, float32) instead of 64 times.

A vertex *pulls*: it takes the least of ``distances[u] + weight`` over the edges that come in, which stays in
registers to the end of its row, and if that lowered any lane it marks the vertices behind the edges that
leave.  Sweeps over the marked vertices go on until none is left.  This is Bellman-Ford's search with
Gauss-Seidel's order: a vertex sees what the vertices before it found in the same sweep.  Every
eighth sweep goes down, so that long thin graphs that are numbered along their length take few.  The result is
the one fixpoint, so it is bit for bit that of any other search, for floats too, since rounding is monotone.

Sources of one batch should see the graph alike, so they are taken from balls: around the first vertex that
has none yet, as many of the nearest as a batch holds.  On a grid of 100 x 100 vertices a vertex is then
recomputed 16 times instead of 39.  On random graphs it makes no difference (8 times).

Small weights allow narrow lanes: 128 of int16.  A distance that would be too large for its lane is cut off at
the ceiling.  That is noticed, because the way there passes a distance less than a weight below the ceiling:
the batches that are not done yet are then searched in the type of the result, and if that is too narrow,
too, the caller is told.

Batches are independent, so each thread takes its own and there is nothing to wait for.  See Then et al., "The
more the merrier: efficient multi-source graph traversal" (VLDB 2014) for the idea with one bit a source.
"""

import numpy as np

from edgewise.device import compiled, device, fetch_add, load, store
from edgewise.paths.apsp import team
from edgewise.paths.apsp.bounds import ceiling_of, heaviest_of
from edgewise.paths.result import unreached
from edgewise.primitives.vectors import any_less, lesser, of_bytes, wrapping_add, write

#: Vertices whose distances are turned from lanes into rows at a time: a cache line of int32.
STRIP = 16
#: Of so many sweeps one goes through the vertices in descending order.
DOWNWARDS = 8

read, lanes_of = of_bytes(256)


@device
def mark_behind(vertex, offsets, neighbours, marks, marked):
    """Mark the vertices to which an edge leads."""
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        marks[marked + np.int64(neighbours[entry])] = 1


@device
def sweep(vertices, upwards, leaving, incoming, lanes, held, distances, marked, marks):
    """Recompute the marked vertices in ascending or descending order; return whether any distance fell."""
    offsets, neighbours, weights = incoming
    fell = False
    for turned in range(vertices):
        vertex = turned if upwards else vertices - 1 - turned
        if marks[marked + vertex] == 0:
            continue
        marks[marked + vertex] = 0
        at = held + vertex * lanes
        before = read(distances, at)
        least = before
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other = held + np.int64(neighbours[entry]) * lanes
            least = lesser(wrapping_add(read(distances, other), weights[entry]), least)
        if any_less(least, before):
            write(distances, at, least)
            mark_behind(vertex, leaving[0], leaving[1], marks, marked)
            fell = True
    return fell


@device
def turn(vertices, lanes, count, held, distances, ceiling, none, first, lines, into, largest):
    """Write the lanes of a batch as rows of the result; return the largest distance, or ``largest``."""
    for begin in range(0, vertices, STRIP):
        end = min(begin + STRIP, vertices)
        for lane in range(count):
            line = lines[first + lane] * vertices
            for vertex in range(begin, end):
                value = distances[held + vertex * lanes + lane]
                if value < ceiling:
                    largest = max(largest, value)
                    into[line + vertex] = value
                else:
                    into[line + vertex] = none
    return largest


@compiled
def search(
    me,
    counter,
    done,
    too_narrow,
    offsets,
    neighbours,
    offsets_in,
    neighbours_in,
    weights_in,
    sources,
    lines,
    into,
    distances,
    marks,
    lanes,
    ceiling,
    none,
    heaviest,
):
    """One worker takes batches of sources from the counter until there are none, or a lane was too narrow."""
    leaving, incoming = (offsets, neighbours), (offsets_in, neighbours_in, weights_in)
    vertices, nought = len(offsets) - 1, heaviest - heaviest
    held, marked = me * vertices * lanes, me * vertices
    batch = fetch_add(counter, 0, 1)
    while batch * lanes < len(sources):
        if done[batch] == 0 and load(too_narrow, 0) == 0:
            first = batch * lanes
            count = min(lanes, len(sources) - first)
            for at in range(held, held + vertices * lanes):
                distances[at] = ceiling
            for lane in range(count):
                source = sources[first + lane]
                distances[held + source * lanes + lane] = 0
                mark_behind(source, leaving[0], leaving[1], marks, marked)
            turned = 1
            while sweep(
                vertices, turned % DOWNWARDS != 0, leaving, incoming, lanes, held, distances, marked, marks
            ):
                turned += 1
            largest = turn(vertices, lanes, count, held, distances, ceiling, none, first, lines, into, nought)
            if largest + heaviest >= ceiling:
                store(too_narrow, 0, 1)
            else:
                done[batch] = 1
        batch = fetch_add(counter, 0, 1)


@compiled
def gather_balls(offsets, neighbours, size, begun, ball, rank):
    """Number the vertices ball by ball; a ball has up to ``size`` vertices near its first one.

    Balls begin at vertices in the order in which a search by levels meets them.
    """
    vertices, met, numbered = len(offsets) - 1, 0, 0
    for root in range(vertices):
        if begun[root] == 0:
            begun[root] = 1
            ball[met] = root
            met += 1
        # `ball[:met]` is the queue of the search by levels; it is served up to the last vertex met
        served = met - 1
        while served < met:
            vertex = ball[served]
            served += 1
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                other = np.int64(neighbours[entry])
                if begun[other] == 0:
                    begun[other] = 1
                    ball[met] = other
                    met += 1
    for position in range(vertices):
        if rank[ball[position]] >= 0:
            continue
        begin, end = numbered, numbered + 1
        ball[vertices + begin] = ball[position]
        rank[ball[position]] = begin
        while begin < end and end < numbered + size:
            vertex = ball[vertices + begin]
            begin += 1
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                other = np.int64(neighbours[entry])
                if rank[other] < 0 and end < numbered + size:
                    rank[other] = end
                    ball[vertices + end] = other
                    end += 1
        numbered = end


def rank_by_balls(rows, size):
    """Place of each vertex in an order by balls of ``size`` vertices: (n,) int64 array."""
    n = rows.n_vertices
    rank = np.full(n, -1)
    gather_balls(rows.offsets, rows.neighbours, size, np.zeros(n, np.uint8), np.empty(2 * n, np.int64), rank)
    return rank


def sssp(rows):
    """Make ready to search from many sources.

    Parameters
    ----------
    rows : edgewise.paths.csr.Adjacency
        With ``incoming``, and weights of zero or more (or none), on the CPU.

    Returns
    -------
    solve : function
        ``solve(sources, into)`` writes the distances from each of the (k,) ``sources`` to the flat (k n,)
        array ``into``, source after source, and returns whether a distance was too large for its type.
    """
    kinds, ranks = {}, {}

    def solve(sources, into):
        lines = np.arange(len(sources))
        if len(sources) > lanes_of(into.dtype):
            if not ranks:
                ranks["balls"] = rank_by_balls(rows, lanes_of(into.dtype))
            lines = np.argsort(ranks["balls"][sources], kind="stable")
        sources = np.ascontiguousarray(sources[lines])
        heaviest = heaviest_of(rows.weights)
        for kind in lane_types(into.dtype, heaviest):
            if kind not in kinds:
                kinds[kind] = _weights_as(rows, kind)
            undone = _solve_in(kind, rows, kinds[kind], heaviest, sources, lines, into)
            if not len(undone):
                return False
            sources, lines = sources[undone], lines[undone]
        return True

    return solve


def lane_types(dtype, heaviest):
    """Types of lanes that are worth trying for distances of ``dtype``, the narrowest first."""
    if dtype == np.int32 and heaviest < ceiling_of(np.int16) // 64:
        return [np.dtype(np.int16), np.dtype(np.int32)]
    return [np.dtype(dtype)]


def _weights_as(rows, kind):
    """Weights of the entries that leave and come in, as lanes are."""
    incoming = rows.incoming
    if not len(rows.weights):
        return np.ones(len(incoming.neighbours), kind)
    return incoming.weights.astype(kind, copy=False)


def _solve_in(kind, rows, weights, heaviest, sources, lines, into):
    """Search in lanes of one type; return the positions of the sources that are not done."""
    lanes, n = lanes_of(kind), rows.n_vertices
    ceiling = ceiling_of(kind)
    if heaviest >= ceiling:
        return np.arange(len(sources))
    done = np.zeros(-(-len(sources) // lanes), np.uint8)
    workers = team.size_for(len(done), n * lanes * kind.itemsize)
    leaving, incoming = (rows.offsets, rows.neighbours), (rows.incoming.offsets, rows.incoming.neighbours)
    team.run(
        search,
        workers,
        done,
        np.zeros(1, np.int64),
        *leaving,
        *incoming,
        weights,
        sources,
        lines,
        into,
        np.empty(workers * n * lanes, kind),
        np.zeros(workers * n, np.uint8),
        lanes,
        kind.type(ceiling),
        into.dtype.type(unreached(into.dtype)),
        kind.type(heaviest),
    )
    return np.flatnonzero(np.repeat(done, lanes)[: len(sources)] == 0)
