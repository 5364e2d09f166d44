"""Betweenness on the CPU where every edge counts one: the lanes of a vector are sources.

Brandes finds the dependencies of one source by two passes: a breadth-first search that counts the shortest
paths to every vertex, ``sigma``, and a pass from the farthest level back to the nearest that adds up

    delta[u] = sigma[u] * (sum of (1 + delta[w]) / sigma[w] over the neighbours w in the next level).

A vertex into which trees were folded (:mod:`~edgewise.paths.betweenness.trees`) counts as its *weight* says:
that takes the place of the 1, and as a source it counts so many times.

Here 16 sources are searched from at once, as in :mod:`~edgewise.paths.apsp.many_sources`.  The counts of a
vertex, one for each source, are a vector.  A word says which sources have reached the vertex, and
``here & ~seen[w]`` are those of ``u`` that reach ``w`` in the next level: their lanes are added to the vector
of ``w`` by one addition.  A queue holds the vertices of each level with the sources that reach them there.
A vertex is in as many levels as it has different distances from the sources of a batch, which are few if
these are near each other (:class:`~edgewise.paths.apsp.many_sources.BallOrder`).

On the way back every vertex *pulls* the sum from its neighbours.  The quotient ``(1 + delta) / sigma`` takes
the place of ``sigma``, which is not read any more.  So there are no lists of predecessors, one vector for
each vertex, and nothing is atomic, because a batch belongs to one thread.  A count that is too large for a
float becomes infinite, and so do the scores, or they become NaN, which zero times infinity is.

U. Brandes, "A faster algorithm for betweenness centrality" (Journal of Mathematical Sociology, 2001); M. Then
et al., "The more the merrier: efficient multi-source graph traversal" (VLDB 2014).
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled, device
from edgewise.paths.apsp.many_sources import BallOrder
from edgewise.paths.betweenness.sums import Dependencies, added_up, is_stopped, new_sums, number_of_sums, take
from edgewise.primitives.thread_pool import ThreadPool
from edgewise.primitives.vectors import added, chosen, of_bytes, product, quotient, total, wrapping_add, write

#: Sources of a batch.
LANES = 16
#: Type of a word with a bit for each of them.
BITS = np.uint16
U = np.uint64  # an unsigned index needs no test for one below zero

read, _ = of_bytes(8 * LANES)


class Scratch(NamedTuple):
    """The memory of one worker.

    ``counts`` (LANES * n,) float64: the number of shortest paths to each vertex from each source, then the
    quotients.  ``seen`` (n,): the sources that have reached a vertex.  ``level`` (n,): those that reach it in
    the next level, zeros between searches.  ``vertices`` and ``bits`` (LANES * n,): the queue;
    ``begins`` (n + 2,) int64: where each level begins in it.  ``shares`` and ``reached`` (LANES,) float64:
    the weight of each source, and the vertices that it reaches.
    """

    counts: Any
    seen: Any
    level: Any
    vertices: Any
    bits: Any
    begins: Any
    shares: Any
    reached: Any


@device
def begin(scratch, sources, weights, first):
    """Queue the sources of a batch as the first level."""
    counts, seen, _, vertices, bits, begins, shares, _ = scratch
    n_sources = min(LANES, len(sources) - first)
    for at in range(len(seen)):
        seen[at] = 0
    for at in range(len(counts)):
        counts[at] = 0.0
    for lane in range(n_sources):
        source = sources[first + lane]
        counts[source * LANES + lane] = 1.0
        seen[source] = 1 << lane
        vertices[lane], bits[lane], shares[lane] = source, 1 << lane, weights[source]
    begins[0], begins[1] = 0, n_sources


@device
def count_paths(rows, scratch):
    """Search from the queued sources; return the number of levels."""
    offsets, neighbours = rows
    counts, seen, level, vertices, bits, begins, _, _ = scratch
    n_levels = 1
    while begins[n_levels] > begins[n_levels - 1]:
        end = begins[n_levels]
        last = end
        for position in range(begins[n_levels - 1], end):
            vertex, here = U(vertices[U(position)]), bits[U(position)]
            paths = read(counts, vertex * U(LANES))
            for entry in range(offsets[vertex], offsets[vertex + U(1)]):
                other = U(neighbours[U(entry)])
                new = here & ~seen[other]
                if new != 0:
                    if level[other] == 0:
                        vertices[U(last)] = other
                        last += 1
                    level[other] |= new
                    at = other * U(LANES)
                    write(counts, at, added(read(counts, at), chosen(paths, new)))
        for position in range(end, last):
            vertex = U(vertices[U(position)])
            bits[U(position)] = level[vertex]
            seen[vertex] |= level[vertex]
            level[vertex] = 0
        n_levels += 1
        begins[n_levels] = last
    return n_levels - 1


@device
def mark(scratch, number, n_levels):
    """Mark the vertices of one level, and no longer those of the next one."""
    _, _, level, vertices, bits, begins, _, _ = scratch
    for position in range(begins[number + 1], begins[min(number + 2, n_levels)]):
        level[U(vertices[U(position)])] = 0
    for position in range(begins[number], begins[number + 1]):
        level[U(vertices[U(position)])] = bits[U(position)]


@device
def add_dependencies(rows, weights, scratch, n_levels, scores):
    """Add the dependencies of the batch to the scores, from the last level back to the second."""
    offsets, neighbours = rows
    counts, _, level, vertices, bits, begins, shares, _ = scratch
    own = read(shares, 0)
    for number in range(n_levels - 1, 0, -1):
        for position in range(begins[number], begins[number + 1]):
            vertex, here = U(vertices[U(position)]), bits[U(position)]
            at = vertex * U(LANES)
            paths = read(counts, at)
            dependency = chosen(paths, 0)
            for entry in range(offsets[vertex], offsets[vertex + U(1)]):
                other = U(neighbours[U(entry)])
                both = here & level[other]
                if both != 0:
                    dependency = added(dependency, chosen(read(counts, other * U(LANES)), both))
            dependency = product(dependency, chosen(paths, here))
            scores[vertex] += total(product(dependency, own))
            new = quotient(wrapping_add(dependency, weights[vertex]), paths)
            write(counts, at, added(chosen(new, here), chosen(paths, ~here)))
        mark(scratch, number, n_levels)
    for position in range(begins[1], begins[min(2, n_levels)]):
        level[U(vertices[U(position)])] = 0


@device
def add_ends(scratch, n_levels, sources, first, scores):
    """Add one to every vertex for each source that reaches it, and to a source what it reaches."""
    _, _, _, vertices, bits, begins, _, reached = scratch
    for lane in range(LANES):
        reached[lane] = 0.0
    for position in range(begins[1], begins[n_levels]):
        for lane in range(LANES):
            if bits[position] >> lane & 1 != 0:
                reached[lane] += 1.0
                scores[vertices[position]] += 1.0
    for lane in range(begins[1]):
        scores[sources[first + lane]] += reached[lane]


@compiled
def search_batches(rows, search, sums, scratch):
    """Take one sum after the other until none is left, and add up its batches."""
    n, number, (sources, weights, endpoints) = len(scratch.seen), take(sums), search
    while number < sums.count:
        scores = sums.values[number * n : (number + 1) * n]
        for first in range(number * LANES, len(sources), sums.count * LANES):
            if is_stopped(sums):
                return
            begin(scratch, sources, weights, first)
            n_levels = count_paths(rows, scratch)
            add_dependencies(rows, weights, scratch, n_levels, scores)
            if endpoints:
                add_ends(scratch, n_levels, sources, first, scores)
        number = take(sums)


def bytes_of_worker(n, width):
    """Bytes of a worker's memory."""
    return n * (LANES * (10 + width) + 12)


def bytes_of_lanes(size) -> int:
    """Bytes of a search from all sources, for a :class:`~edgewise.needs.Size`."""
    n, n_batches = size.vertices, -(-size.vertices // LANES)
    count = number_of_sums(n, n_batches)
    return 8 * n * (count + 1) + min(size.threads, count) * bytes_of_worker(n, size.width)


def new_scratch(n, index):
    """The memory of a worker."""
    counts, vertices = np.empty(LANES * n), np.empty(LANES * n, index)
    seen, level, bits = (np.zeros(count, BITS) for count in (n, n, LANES * n))
    return Scratch(counts, seen, level, vertices, bits, np.empty(n + 2, np.int64), *np.zeros((2, LANES)))


def lanes(rows, sources, weights, endpoints) -> Dependencies:
    """Dependencies of (k,) int64 ``sources`` on every vertex."""
    n, index = rows.n_vertices, rows.neighbours.dtype
    sources = sources[BallOrder(rows.outgoing).order(sources, LANES)]
    sums = new_sums(n, -(-len(sources) // LANES))
    pool = ThreadPool(sums.count, bytes_of_worker(n, index.itemsize))
    calls = [
        ((rows.offsets, rows.neighbours), (sources, weights, endpoints), sums, new_scratch(n, index))
        for _ in range(pool.n_workers)
    ]
    pool.starmap(search_batches, calls, cancel=partial(sums.stop.fill, 1))
    return Dependencies(added_up(sums.values, sums.count))
