"""Betweenness by Brandes' algorithm, source by source: along weights, and of edges.

A search settles the vertices in the order of their distances and counts the shortest paths to each: by levels
where every edge counts one, by Dijkstra's algorithm along weights.  On the way back every vertex adds up the
quotients ``(1 + delta) / sigma`` of those neighbours whose distance is exactly its own and the weight of the
entry: this is the shortest path's edge, and ``sigma`` times the quotient is the share of the paths over it.

Weights are larger than zero.  Along edges of weight zero the number of shortest walks is infinite, and that
of paths depends on the order in which vertices are settled.  The same holds of a float weight that is lost
when it is added to a distance, which is noticed.

U. Brandes, "A faster algorithm for betweenness centrality" (Journal of Mathematical Sociology, 2001).
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import compiled, device, load, store
from edgewise.paths.betweenness.sums import Dependencies, added_up, is_stopped, new_sums, number_of_sums, take
from edgewise.paths.csr import unreached
from edgewise.primitives.heap import Heap, pop, push
from edgewise.primitives.thread_pool import ThreadPool

U = np.uint64  # an unsigned index needs no test for one below zero


class Scratch(NamedTuple):
    """The memory of one worker.

    ``order`` (n,) int64: the vertices that are reached, in the order of ``distances`` (n,), int64 or float64.
    ``counts`` (n,) float64: the shortest paths to each vertex; ``quotients`` (n,) float64.  ``heap``: of
    (m + 1,) arrays along weights.
    """

    order: Any
    distances: Any
    counts: Any
    quotients: Any
    heap: Heap


@device
def settle_by_levels(rows, source, none, scratch):
    """Search where every edge counts one; return the number of vertices that are reached."""
    offsets, neighbours, _ = rows
    order, distances, counts, _, _ = scratch
    order[0], n_found, position = source, 1, 0
    distances[source], counts[source] = 0, 1.0
    while position < n_found:
        vertex = U(order[U(position)])
        position += 1
        further = distances[vertex] + 1
        for entry in range(offsets[vertex], offsets[vertex + U(1)]):
            other = U(neighbours[U(entry)])
            if distances[other] == none:
                distances[other] = further
                order[U(n_found)] = other
                n_found += 1
            if distances[other] == further:
                counts[other] += counts[vertex]
    return n_found


@device
def settle_nearest_first(rows, source, scratch, rounded):
    """Search along weights; return the number of vertices that are reached.

    ``rounded`` (1,) becomes 1 where a distance is not larger than the one before it.
    """
    offsets, neighbours, weights = rows
    order, distances, counts, _, heap = scratch
    distances[source], counts[source], n_found = 0, 1.0, 0
    size = push(heap, 0, distances[source], source)
    while size > 0:
        distance, vertex = heap.keys[0], U(heap.items[0])
        size = pop(heap, size)
        if distance > distances[vertex]:
            continue
        order[U(n_found)] = vertex
        n_found += 1
        for entry in range(offsets[vertex], offsets[vertex + U(1)]):
            other, longer = U(neighbours[U(entry)]), distance + weights[U(entry)]
            if longer <= distance:
                store(rounded, 0, 1)
            elif longer < distances[other]:
                distances[other], counts[other] = longer, counts[vertex]
                size = push(heap, size, longer, np.int64(other))
            elif longer == distances[other]:
                counts[other] += counts[vertex]
    return n_found


@device
def add_dependencies(rows, weights_of, n_found, scratch, scores, edge_scores):
    """Add the dependencies of the first vertex in the order on all others, and on entries if wanted."""
    offsets, neighbours, weights = rows
    order, distances, counts, quotients, _ = scratch
    times = weights_of[order[0]]
    for position in range(n_found - 1, -1, -1):
        vertex = U(order[U(position)])
        quotient = 0.0
        for entry in range(offsets[vertex], offsets[vertex + U(1)]):
            other = U(neighbours[U(entry)])
            longer = distances[vertex] + (weights[U(entry)] if len(weights) > 0 else 1)
            if longer == distances[other]:
                quotient += quotients[other]
                if len(edge_scores) > 0:
                    edge_scores[U(entry)] += counts[vertex] * quotients[other]
        dependency = quotient * counts[vertex]  # infinite or NaN where the count is infinite
        quotients[vertex] = (weights_of[vertex] + dependency) / counts[vertex]
        if position > 0:
            scores[vertex] += times * dependency


@compiled
def search_sources(rows, searched, wanted, sums, scratch):
    """Take one sum after the other until none is left, and add up its sources.

    ``searched`` are the sources, and how often each vertex counts.  ``wanted`` are: whether ends of paths
    count, the number of entries whose scores are wanted, the distance of vertices that are not reached, and a
    flag that becomes 1 where a weight is lost by rounding.
    """
    n, number = len(scratch.order), take(sums)
    (sources, weights_of), (endpoints, n_entries, none, rounded) = searched, wanted
    while number < sums.count:
        begin = number * (n + n_entries)
        scores, edge_scores = sums.values[begin : begin + n], sums.values[begin + n : begin + n + n_entries]
        for at in range(number, len(sources), sums.count):
            if is_stopped(sums) or load(rounded, 0) != 0:
                return
            for vertex in range(n):
                scratch.distances[vertex], scratch.counts[vertex] = none, 0.0
            if len(rows.weights) > 0:
                n_found = settle_nearest_first(rows, sources[at], scratch, rounded)
            else:
                n_found = settle_by_levels(rows, sources[at], none, scratch)
            add_dependencies(rows, weights_of, n_found, scratch, scores, edge_scores)
            if endpoints:
                scores[sources[at]] += n_found - 1
                for position in range(1, n_found):
                    scores[scratch.order[position]] += 1.0
        number = take(sums)


def bytes_of_brandes(size) -> int:
    """Bytes of a search from all sources, for a :class:`~edgewise.needs.Size`; edges count, too."""
    n, lengths = size.vertices, size.entries if size.weight else 0
    numbers = n + size.entries
    count = number_of_sums(numbers, n)
    return 8 * numbers * (count + 1) + min(size.threads, count) * (32 * n + 16 * lengths)


def new_scratch(rows, dtype):
    """The memory of a worker."""
    n, capacity = rows.n_vertices, len(rows.weights) + 1
    heap = Heap(np.empty(capacity, dtype), np.empty(capacity, np.int64))
    return Scratch(np.empty(n, np.int64), np.empty(n, dtype), np.empty(n), np.empty(n), heap)


def brandes(rows, sources, weights, endpoints, edges=False) -> Dependencies:
    """Dependencies of (k,) int64 ``sources`` on every vertex, and on every entry of the rows if wanted."""
    csr, n = rows.outgoing, rows.n_vertices
    dtype = csr.weights.dtype if len(csr.weights) else np.dtype(np.int64)
    n_entries = len(csr.neighbours) if edges else 0
    sums, rounded = new_sums(n + n_entries, len(sources)), np.zeros(1, np.int32)
    pool = ThreadPool(sums.count, 32 * n + 16 * len(csr.weights))
    wanted = bool(endpoints), n_entries, dtype.type(unreached(dtype)), rounded
    searched = sources, weights
    calls = [(csr, searched, wanted, sums, new_scratch(csr, dtype)) for _ in range(pool.n_workers)]
    pool.starmap(search_sources, calls, cancel=partial(sums.stop.fill, 1))
    scores = added_up(sums.values, sums.count)
    return Dependencies(scores[:n], scores[n:] if edges else None, bool(rounded[0]))
