"""Bellman-Ford by frontiers, and negative cycles.

All workers run in one region and relax, round after round, the edges of the vertices whose distances fell in
the round before.  A vertex is queued once per round, by the worker that is first to write the round's number
beside it.

A negative cycle would keep the rounds going for ever, and n rounds would be too many.  So where a weight is
negative, a search on one core continues from a copy after some rounds: Bellman-Ford-Moore with a queue, in
which whatever lowers a vertex becomes its parent.  A cycle of parents has a negative sum, and if a source
leads to a negative cycle then, from some time on, there always is a cycle among the parents (Cherkassky and
Goldberg, "Negative-cycle detection algorithms", 1999).  So the parents are followed whenever as many edges
were relaxed as there are vertices.  This search ends with the distances, with a cycle, or when it has cost as
much as the rounds; then the rounds go on, for twice as many.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, barrier_wait, compiled, device, parallel_region
from edgewise.device.atomics import fetch_add, fetch_max, fetch_min, load, store
from edgewise.device.wrapping import wrapping_add
from edgewise.errors import GraphError
from edgewise.paths.csr import CSR, unreached
from edgewise.paths.sssp.weights import least_in, past_the_end
from edgewise.primitives.rounds import APART, Rounds, places, set_of, words

#: Rounds before the first search for a negative cycle.
FIRST_ROUNDS = 32
#: Rounds where there can be no negative cycle: more than a search takes.
ALL_ROUNDS = 2**62
#: Vertices queued in a round.
QUEUED = Rounds(0, APART)
#: How a search for a cycle ended, other than with a vertex of one.
DONE, BUDGET_SPENT, UNDERFLOWED = -1, -2, -3
#: Parent of a vertex that has none.
NO_VERTEX = -1
#: Vertices of a negative cycle that an error names.
NAMED_VERTICES = 20


class Counters(NamedTuple):
    """Counters of all rounds."""

    relaxed: int  # edges relaxed
    underflowed: int  # whether a distance fell below the range of its type
    ended: int  # first round that was not run


#: Places of the counters of all rounds, which follow the numbers of queued vertices.
AT = places(Counters, QUEUED.end)
#: Words of all counters.
END = QUEUED.end + words(Counters)


class State(NamedTuple):
    """State of the rounds: ``distances`` (n,) and int64 arrays.

    ``queue`` (2 * n,) is two queues, used in turn; ``queued_in`` (n,) is the last round for which each vertex
    was queued; ``counters`` (END,) are described above.
    """

    distances: Any
    queue: Any
    queued_in: Any
    counters: Any


class NextRound(NamedTuple):
    """A round's number, its (n,) queue, and the index of the counter of that queue."""

    number: int
    queue: Any
    counter: int


class Limits(NamedTuple):
    """Least number of the distances' type, and largest distance that counts."""

    lowest: Any
    cutoff: Any


@device
def relax(graph, state, vertex, following, limits):
    """Relax the edges of ``vertex``, and queue the vertices whose distances fall."""
    offsets, neighbours, weights = graph
    distances, queued_in, counters = state.distances, state.queued_in, state.counters
    number, queue, counter = following
    distance = load(distances, vertex)
    for entry in range(offsets[vertex], offsets[vertex + 1]):
        other, weight = np.int64(neighbours[entry]), weights[entry]
        longer = wrapping_add(distance, weight)
        if weight < 0 and (longer > distance or longer < limits.lowest):  # or it has wrapped round
            store(counters, AT.underflowed, 1)
        elif (
            (weight < 0 or longer >= distance)  # or it has wrapped round
            and longer <= limits.cutoff
            and longer < load(distances, other)
            and longer < fetch_min(distances, other, longer)
            and fetch_max(queued_in, other, number) < number
        ):
            queue[fetch_add(counters, counter, 1)] = other


@parallel_region
def run_rounds(worker, graph, state, first, last, limits):
    """Run rounds ``first`` to ``last - 1``, or fewer if nothing is left to do.

    Round ``r`` takes the queue of ``r % 2`` and its counter, fills the next of each, and clears the counter
    after that.
    """
    counters, offsets, n, now = state.counters, graph.offsets, len(state.distances), first
    while now < last and load(counters, set_of(QUEUED, now)) > 0:
        count, half = load(counters, set_of(QUEUED, now)), now % 2
        if worker.id == 0:
            store(counters, set_of(QUEUED, now + 2), 0)
        next_queue = state.queue[(1 - half) * n : (2 - half) * n]
        following = NextRound(now + 1, next_queue, set_of(QUEUED, now + 1))
        relaxed = np.int64(0)
        for position in range(half * n + worker.id, half * n + count, worker.count):
            vertex = np.int64(state.queue[position])
            relax(graph, state, vertex, following, limits)
            relaxed += offsets[vertex + 1] - offsets[vertex]
        fetch_add(counters, AT.relaxed, relaxed)
        barrier_wait(worker)
        now += 1
    if worker.id == 0:
        store(counters, AT.ended, now)


def bellman_ford(rows, sources, cutoff):
    """Search by rounds; raise :class:`NegativeCycle` if a source leads to one.

    Where a weight is negative, the cutoff is the largest number of the type.
    """
    device, dtype, n = arrays.device_of(rows.offsets), rows.weights.dtype, rows.n_vertices
    distances = arrays.full(n, dtype.type(unreached(dtype)), dtype, device)
    starts = arrays.move(sources, device)
    distances[starts] = 0
    queue = arrays.empty(2 * n, np.int64, device)
    queue[: len(sources)] = starts
    counters = arrays.zeros(END, np.int64, device)
    counters[QUEUED.first] = n_left = len(sources)
    state = State(distances, queue, arrays.zeros(n, np.int64, device), counters)
    now, rounds = 0, FIRST_ROUNDS if rows.spread.least < 0 else ALL_ROUNDS
    graph, limits = rows.outgoing, Limits(least_in(dtype), cutoff)
    while n_left:
        run_rounds(graph, state, now, now + rounds, limits)
        if int(counters[AT.underflowed]):
            return distances, True
        now, rounds = int(counters[AT.ended]), 2 * rounds
        n_left = int(counters[QUEUED.first + now % 3 * QUEUED.words])
        if n_left:
            pending = queue[now % 2 * n : now % 2 * n + n_left]
            finished = finish(rows, distances, pending, int(counters[AT.relaxed]))
            if finished is not None:
                distances, n_left = finished, 0
    return distances, past_the_end(rows, distances, cutoff)


class NegativeCycle(Exception):
    """A cycle whose weights sum up to less than zero: its vertices in order, and the sum."""

    def __init__(self, vertices, weight):
        super().__init__(f"a negative cycle of {len(vertices)} vertices")
        self.vertices, self.weight = vertices, weight

    def named(self, graph):
        """The error for a user of ``graph``, which names the vertices by their ids."""
        ids = [repr(id) for id in graph.ids_of(np.array(self.vertices)).tolist()]
        if len(ids) > NAMED_VERTICES:
            ids[NAMED_VERTICES:] = [f"({len(ids) - NAMED_VERTICES} more)"]
        return GraphError(
            f"no shortest paths: the cycle {' -> '.join([*ids, ids[0]])} weighs {self.weight}; "
            "leave out an edge of it, or raise its weight"
        )


class QueueSearch(NamedTuple):
    """State of a search on one core: (n,) int64 arrays, and ``waiting`` (n,) uint8.

    ``queue`` is a ring of vertices, ``waiting`` whether each vertex is in it; ``parents`` and ``entries`` are
    the parent of each vertex and the entry from there, ``visited`` is scratch memory.
    """

    queue: Any
    waiting: Any
    parents: Any
    entries: Any
    visited: Any


@device
def vertex_on_cycle(parents, visited):
    """A vertex on a cycle of parents, if any; ``visited`` is set to the start of the walk to each vertex."""
    for vertex in range(len(parents)):
        visited[vertex] = NO_VERTEX
    for start in range(len(parents)):
        vertex = start
        while vertex != NO_VERTEX and visited[vertex] == NO_VERTEX:
            visited[vertex] = start
            vertex = parents[vertex]
        if vertex != NO_VERTEX and visited[vertex] == start:
            return vertex
    return NO_VERTEX


@compiled
def search_cycle(graph, distances, count, state, budget, lowest):
    """Relax edges until no distance falls; return a vertex of a negative cycle, or how the search ended."""
    offsets, neighbours, weights = graph
    queue, waiting, parents, entries, visited = state
    n, head, since = len(distances), 0, 0
    while count > 0:
        vertex = queue[head]
        head = head + 1 if head + 1 < n else 0
        count -= 1
        waiting[vertex] = 0
        distance = distances[vertex]
        scanned = offsets[vertex + 1] - offsets[vertex]
        since, budget = since + scanned + 1, budget - scanned - 1
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other, weight = np.int64(neighbours[entry]), weights[entry]
            longer = wrapping_add(distance, weight)
            if weight < 0 and (longer > distance or longer < lowest):
                return UNDERFLOWED
            if longer < distances[other] and (weight < 0 or longer >= distance):
                distances[other], parents[other], entries[other] = longer, vertex, entry
                if waiting[other] == 0:
                    waiting[other] = 1
                    tail = head + count
                    queue[tail if tail < n else tail - n] = other
                    count += 1
        if since > n or (count == 0 and since > 0):
            since = 0
            on_cycle = vertex_on_cycle(parents, visited)
            if on_cycle != NO_VERTEX:
                return on_cycle
        if budget < 0 and count > 0:
            return BUDGET_SPENT
    return DONE


def finish(rows, distances, pending, budget):
    """Continue on one core from ``distances``, whose ``pending`` vertices were lowered last.

    The given distances count as they are, like edges from a vertex that leads everywhere.  About ``budget``
    edges may be relaxed.  Return the final distances on the device of the given ones, or ``None`` if the
    budget is spent or a distance would fall below the range of its type; raise :class:`NegativeCycle`.
    """
    device, n = arrays.device_of(distances), len(distances)
    graph = CSR(*(arrays.move(a, "cpu") for a in (rows.offsets, rows.neighbours, rows.weights)))
    lowered = np.array(arrays.move(distances, "cpu"))
    pending, lowest = arrays.move(pending, "cpu"), least_in(lowered.dtype)
    parents, entries, visited = (np.full(n, NO_VERTEX, np.int64) for _ in range(3))
    state = QueueSearch(np.empty(n, np.int64), np.zeros(n, np.uint8), parents, entries, visited)
    state.queue[: len(pending)], state.waiting[pending] = pending, 1
    with np.errstate(over="ignore"):
        ended = search_cycle(graph, lowered, len(pending), state, budget + n, lowest)
    if ended >= 0:
        raise _cycle_through(ended, state, graph.weights)
    return arrays.move(lowered, device) if ended == DONE else None


def _cycle_through(start, state, weights):
    """The cycle of parents through ``start``, its vertices in the order of its edges."""
    vertices: list[int] = []
    vertex, weight = int(start), 0
    while vertex != start or not vertices:
        vertices.append(vertex)
        weight += weights[state.entries[vertex]].item()
        vertex = int(state.parents[vertex])
    return NegativeCycle(vertices[::-1], weight)
