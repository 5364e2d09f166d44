"""Shortest paths along weights of any sign by the algorithm of Bellman and Ford, and negative cycles.

The queue, and the ways in which a negative cycle is noticed early, are those of NetworkX, so predecessors and
paths come in its order.  Bellman 1958; Moore 1959; Cherkassky and Goldberg, "Negative-cycle detection
algorithms" (1999).
"""

from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from edgewise.device import compiled, device
from edgewise.networkx.nearest_first import NearestFirst, WeightedRows
from edgewise.networkx.registry import LESS, implements, without_callable
from edgewise.networkx.unweighted import paths_in_order
from edgewise.networkx.weighted import one, rows_by, vertex_of

#: No vertex, or no entry.
NONE = -1

no_callable = without_callable("weight")


class Relaxed(NamedTuple):
    """What a search finds.

    Attributes
    ----------
    order : (n,) int64 array
        Vertices in the order in which they were first reached.
    distances : (n,) int64 or float64 array
    is_met : (n,) bool array
        Whether a vertex is reached.
    first, last : (n,) int64 array
        First and last entry of the list of predecessors of each vertex, or ``NONE``.
    following : (entries,) int64 array
        The next entry of the same list.
    tails : (entries,) int64 array
        Row of each entry.
    repeats : (1,) bool array
        Whether NetworkX lists a predecessor twice: a shorter path to it has the same sum, by rounding.
    """

    order: Any
    distances: Any
    is_met: Any
    first: Any
    last: Any
    following: Any
    tails: Any
    repeats: Any


class Queue(NamedTuple):
    """Vertices that wait, and what is known of their latest changes.

    Attributes
    ----------
    items : (n,) int64 array
        A ring of vertices.
    waits : (n,) bool array
        Whether a vertex is in the ring.
    visits : (n,) int64 array
        How often each was added to it.
    updates : (2 n,) int64 array
        Ends of the edge near the source that changed the path to each vertex last, two for each.
    causes : (n,) int64 array
        Vertex that changed each one last.
    """

    items: Any
    waits: Any
    visits: Any
    updates: Any
    causes: Any


@device
def some_waits(vertex, relaxed, waits):
    """Whether a predecessor of a vertex is in the queue."""
    entry = relaxed.first[vertex]
    while entry != NONE:
        if waits[relaxed.tails[entry]]:
            return True
        entry = relaxed.following[entry]
    return False


@device
def append_predecessor(vertex, entry, relaxed):
    """Append an entry to the list of predecessors, unless it is there."""
    listed = relaxed.first[vertex]
    while listed != NONE:
        if listed == entry:
            relaxed.repeats[0] = True
            return
        listed = relaxed.following[listed]
    relaxed.following[entry] = NONE
    if relaxed.first[vertex] == NONE:
        relaxed.first[vertex] = entry
    else:
        relaxed.following[relaxed.last[vertex]] = entry
    relaxed.last[vertex] = entry


@device
def note_update(vertex, other, queue):
    """Note which edge changed the path to ``other``; return whether it closes a cycle."""
    updates = queue.updates
    if updates[2 * vertex] == other or updates[2 * vertex + 1] == other:
        return True
    if queue.causes[other] == vertex:
        updates[2 * other], updates[2 * other + 1] = updates[2 * vertex], updates[2 * vertex + 1]
    else:
        updates[2 * other], updates[2 * other + 1] = vertex, other
    return False


@compiled
def relax(rows, sources, heuristic, relaxed, queue):
    """Relax edges until nothing changes; return the number of vertices reached, and a vertex of a cycle."""
    offsets, neighbours, weights = rows
    order, distances, is_met = relaxed.order, relaxed.distances, relaxed.is_met
    n, n_met, head, length = len(offsets) - 1, 0, 0, len(sources)
    for item in range(length):
        source = sources[item]
        order[n_met], distances[source], is_met[source] = source, 0, True
        queue.items[item], queue.waits[source] = source, True
        n_met += 1
    while length > 0:
        vertex = queue.items[head]
        head, length = (head + 1) % n, length - 1
        queue.waits[vertex] = False
        if some_waits(vertex, relaxed, queue.waits):
            continue
        distance = distances[vertex]
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            other, longer = np.int64(neighbours[entry]), distance + weights[entry]
            relaxed.tails[entry] = vertex
            # A vertex is not reached by an infinite path.
            if longer < distances[other] if is_met[other] else longer < np.inf:
                if heuristic and note_update(vertex, other, queue):
                    append_predecessor(other, entry, relaxed)
                    return n_met, other
                if not queue.waits[other]:
                    queue.items[(head + length) % n], queue.waits[other] = other, True
                    length += 1
                    queue.visits[other] += 1
                    if queue.visits[other] == n:
                        return n_met, other
                if not is_met[other]:
                    order[n_met], is_met[other] = other, True
                    n_met += 1
                distances[other] = longer
                relaxed.first[other] = NONE
                append_predecessor(other, entry, relaxed)
                queue.causes[other] = vertex
            elif is_met[other] and longer == distances[other]:
                append_predecessor(other, entry, relaxed)
    return n_met, np.int64(NONE)


def search(rows, sources, heuristic=True):
    """What a search finds, with ``order`` of those reached, and a vertex of a negative cycle or ``NONE``."""
    n, entries = len(rows.offsets) - 1, len(rows.neighbours)
    numbers = [np.full(n, NONE, np.int64) for _ in range(3)]
    links = [np.full(entries, NONE, np.int64) for _ in range(2)]
    distances, is_met = np.zeros(n, rows.weights.dtype), np.zeros(n, bool)
    order, changed = np.empty(n, np.int64), np.zeros(1, bool)
    relaxed = Relaxed._make([order, distances, is_met, *numbers[:2], *links, changed])
    items, visits = np.empty(max(n, 1), np.int64), np.zeros(n, np.int64)
    queue = Queue(items, np.zeros(n, bool), visits, np.full(2 * n, NONE, np.int64), numbers[2])
    n_met, vertex = relax(rows, sources, heuristic, relaxed, queue)
    return relaxed._replace(order=relaxed.order[:n_met]), int(vertex)


def predecessors(relaxed, vertex):
    """Positions of the predecessors of a vertex, in the order of the search."""
    entry, found = int(relaxed.first[vertex]), []
    while entry != NONE:
        found.append(int(relaxed.tails[entry]))
        entry = int(relaxed.following[entry])
    return found


def _unbounded():
    return nx.NetworkXUnbounded("Negative cycle detected.")


def _searched(G, source, weight, reverse=False, heuristic=True):
    """A search without negative cycles from a node."""
    vertex = vertex_of(G, source, "Source {} not in G")
    relaxed, cycle = search(rows_by(G, weight, reverse=reverse), one(vertex), heuristic)
    if cycle != NONE:
        raise _unbounded()
    return vertex, relaxed


def _lengths(G, relaxed):
    values = relaxed.distances[relaxed.order].tolist()
    if values:
        values[0] = values[0] or 0  # the source's is an integer
    return dict(zip(G.names(relaxed.order), values))


def path_to(relaxed, source, vertex):
    """Positions along the path by first predecessors; those of cycles of length zero are passed by."""
    stack, on_path = [(vertex, iter(predecessors(relaxed, vertex)))], {vertex}
    while stack[-1][0] != source:
        before = next((one for one in stack[-1][1] if one not in on_path), None)
        if before is None:
            on_path.discard(stack.pop()[0])
        else:
            on_path.add(before)
            stack.append((before, iter(predecessors(relaxed, before))))
    return [one for one, _ in reversed(stack)]


def lengths_from(G, source, weight, *, reverse=False):
    """Dict of the distances from a node, or to it."""
    return _lengths(G, _searched(G, source, weight, reverse)[1])


def paths_from(G, source, weight, *, reverse=False):
    """Dict of the paths from a node, along edges or reversed ones."""
    return _paths(G, *_searched(G, source, weight, reverse))


def _paths(G, source, relaxed):
    """Dict of the paths to all vertices: over first predecessors, unless those lead in a circle."""
    order, parents = relaxed.order.tolist(), [NONE] * len(relaxed.first)
    if len(relaxed.tails):
        parents = relaxed.tails[relaxed.first].tolist()
    found = {source: [G.name(source)]}
    for vertex in order:
        chain = {vertex: None}
        while (last := next(reversed(chain))) not in found and parents[last] not in chain:
            chain[parents[last]] = None
        if last not in found:
            found[vertex] = [G.name(step) for step in path_to(relaxed, source, vertex)]
            continue
        path = found[last]
        for step in list(reversed(chain))[1:]:
            path = found[step] = [*path, G.name(step)]
    return {G.name(vertex): found[vertex] for vertex in order}


@implements(why_not=no_callable)
def single_source_bellman_ford_path_length(G, source, weight="weight"):
    return lengths_from(G, source, weight)


@implements(why_not=no_callable)
def single_source_bellman_ford_path(G, source, weight="weight"):
    return single_source_bellman_ford(G, source, None, weight)[1]


@implements(why_not=no_callable)
def single_source_bellman_ford(G, source, target=None, weight="weight"):
    if source == target:
        vertex_of(G, source, "Node {} is not found in the graph")
        return 0, [source]
    vertex, relaxed = _searched(G, source, weight)
    if target is None:
        return _lengths(G, relaxed), _paths(G, vertex, relaxed)
    goal = G.find(target)
    if goal is None or not relaxed.is_met[goal]:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    path = [G.name(one) for one in path_to(relaxed, vertex, goal)]
    return relaxed.distances[goal].item(), path


@implements(why_not=no_callable)
def bellman_ford_path(G, source, target, weight="weight"):
    return single_source_bellman_ford(G, source, target, weight)[1]


@implements(why_not=no_callable)
def bellman_ford_path_length(G, source, target, weight="weight"):
    if source == target:
        vertex_of(G, source, "Node {} not found in graph")
        return 0
    _, relaxed = _searched(G, source, weight)
    goal = G.find(target)
    if goal is None or not relaxed.is_met[goal]:
        raise nx.NetworkXNoPath(f"node {target} not reachable from {source}")
    return relaxed.distances[goal].item()


@implements(why_not=no_callable)
def bellman_ford_predecessor_and_distance(G, source, target=None, weight="weight", heuristic=False):
    vertex = vertex_of(G, source, "Node {} is not found in the graph")
    if has_negative_loop(rows_by(G, weight)):
        raise _unbounded()
    if G.n == 1:
        return {source: []}, {source: 0}
    relaxed, cycle = search(rows_by(G, weight), one(vertex), heuristic)
    if cycle != NONE:
        raise _unbounded()
    if relaxed.repeats[0]:
        raise NotImplementedError("a sum is rounded, and NetworkX lists a predecessor twice")
    pred = {G.name(v): [G.name(u) for u in predecessors(relaxed, v)] for v in relaxed.order.tolist()}
    return pred, _lengths(G, relaxed)


def has_negative_loop(rows):
    """Whether a self-loop has a negative weight."""
    sources = np.repeat(np.arange(len(rows.offsets) - 1), np.diff(rows.offsets))
    return bool((rows.weights[sources == rows.neighbours] < 0).any())


@implements(why_not=no_callable)
def all_pairs_bellman_ford_path_length(G, weight="weight"):
    rows_by(G, weight)
    return ((node, lengths_from(G, node, weight)) for node in G)


@implements(why_not=no_callable)
def all_pairs_bellman_ford_path(G, weight="weight"):
    rows_by(G, weight)
    return ((node, paths_from(G, node, weight)) for node in G)


def _frozen(get):
    if getattr(get("G"), "frozen", False):
        return "the graph is frozen, and NetworkX adds a node to it"
    return no_callable(get)


@implements(why_not=_frozen)
def negative_edge_cycle(G, weight="weight", heuristic=True):
    rows = rows_by(G, weight)
    if not len(rows.weights) or rows.weights.min() >= 0:
        return False
    if not G.is_directed() or has_negative_loop(rows):
        return True  # an edge and its way back are a cycle
    return search(rows, np.arange(G.n), heuristic)[1] != NONE


@implements(cost=LESS, why_not=no_callable)
def find_negative_cycle(G, source, weight="weight"):
    vertex = vertex_of(G, source, "Source {} not in G")
    relaxed, cycle = search(rows_by(G, weight), one(vertex))
    if cycle == NONE:
        raise nx.NetworkXError("No negative cycles detected.")
    return [G.name(one) for one in _cycle_through(relaxed, cycle)]


def _cycle_through(relaxed, vertex):
    """A cycle of predecessors through a vertex, from it and back to it."""
    stack, seen = [(vertex, predecessors(relaxed, vertex))], {vertex}
    while stack:
        _, waiting = stack[-1]
        if vertex in waiting:
            return [vertex, *(one for one, _ in reversed(stack))]
        if not waiting:
            stack.pop()
            continue
        before = waiting.pop()
        if before not in seen:
            seen.add(before)
            stack.append((before, predecessors(relaxed, before)))
    raise NotImplementedError("the cycle is not among the predecessors")


@implements(why_not=no_callable)
def johnson(G, weight="weight"):
    rows = rows_by(G, weight)
    if rows.weights.dtype.kind == "f" and not np.isfinite(rows.weights).all():
        raise NotImplementedError("a weight is infinite")
    relaxed, cycle = search(rows, np.arange(G.n))
    if cycle != NONE:
        raise _unbounded()
    sources = np.repeat(np.arange(G.n), np.diff(rows.offsets))
    potentials = relaxed.distances
    shifted = rows.weights + potentials[sources] - potentials[rows.neighbours]
    finder = NearestFirst(WeightedRows(rows.offsets, rows.neighbours, shifted))
    return {node: paths_in_order(G, finder.run(one(vertex))) for vertex, node in enumerate(G)}
