"""Triangles through every vertex, by intersecting rows of higher neighbours.

A triangle is found once, at its lowest vertex ``x`` and the edge to its middle ``y``: what stands both in the
row of higher neighbours of ``x`` and in that of ``y`` is the top.  *Higher* may be any order of the vertices.

* By rank, that is by degree, a vertex has at most ``sqrt(2 m)`` higher neighbours, so that all takes
  ``O(m**1.5)`` steps on any graph (Chiba and Nishizeki 1985; Latapy 2008).
* By number the steps are ``sum lower(y) higher(y)``, known after a look at the rows.  Where that is little,
  as on meshes, roads and all graphs without hubs, the rows are read as they are (:func:`count_rows`): ranking
  would take longer than counting, and would tear apart what lies side by side.

Rows of up to three higher neighbours are merged with those of their neighbours.  For longer ones the higher
neighbours of ``x`` are *marked*: a mark is one more than what was found so far for the vertex that it stands
at, as a middle or a top.  The rows of the middles then add to marks what they find there, without a branch,
and in the end marks are credited and wiped off.  Each thread has marks and counts of its own.

For GPUs there is :mod:`~edgewise.cycles.counting.triangles_warps`; triangles through edges are counted by
:mod:`~edgewise.cycles.counting.on_edges` in any place.
"""

from __future__ import annotations

import numpy as np

from edgewise.cycles.counting.on_edges import at_vertices, edge_triangles
from edgewise.cycles.counting.ranked import Ranked, ranked_of
from edgewise.device import arrays, compiled, device, each
from edgewise.device.prefetch import prefetch
from edgewise.primitives.thread_pool import ThreadPool, next_chunk

#: Higher neighbours up to which rows are merged.
FEW = 3
#: How many vertices ahead a row is asked for, where its neighbours' rows begin, and these.
THIRD, SECOND, NEXT = 12, 8, 4
#: Steps by number for each entry up to which ranking is not worth its while.
STEPS = 8
#: Steps by rank, seconds of work, from which on tasks are better dealt out in pieces.
MANY = 1 << 30
#: Entries that are looked at to see whether neighbours lie side by side, and how far apart that is.
SAMPLE, FAR = 4096, 8192
#: Rows of which one thread makes a survey at a time.
STRETCH = 4096
#: Operations of a step, in the unit of :mod:`~edgewise.cycles.planning.cost_model`.
COST = 0.2
NO_ORDER = np.empty(0, np.int64)


@device
def merge_few(low, starts, ends, entries, counts):
    """Credit the triangles whose lowest vertex has few higher neighbours."""
    found, end = np.int64(0), ends[low]
    for entry in range(starts[low], end - 1):
        middle = np.int64(entries[entry])
        mine, its, its_end = entry + 1, starts[middle], ends[middle]
        here = np.int64(0)
        while mine < end and its < its_end:
            one, other = entries[mine], entries[its]
            if one == other:
                counts[one] += 1
                here += 1
            mine += one <= other
            its += other <= one
        if here > 0:
            counts[middle] += here
            found += here
    if found > 0:
        counts[low] += found


@device
def mark_many(low, starts, ends, entries, marks, counts):
    """Credit the triangles whose lowest vertex is ``low``; no mark stands before or after."""
    first, end = starts[low], ends[low]
    for entry in range(first, end):
        marks[entries[entry]] = 1
    found = np.int64(0)
    for entry in range(first, end):
        middle = np.int64(entries[entry])
        here = np.int64(0)
        for position in range(starts[middle], ends[middle]):
            top = entries[position]
            mark = np.int64(marks[top])
            hit = np.int64(mark > 0)
            marks[top] = mark + hit
            here += hit
        marks[middle] += here
        found += here
    for entry in range(first, end):
        vertex = entries[entry]
        credit = np.int64(marks[vertex]) - 1
        marks[vertex] = 0
        if credit > 0:
            counts[vertex] += credit
    counts[low] += found


@device
def vertex_of(position, order):
    """Vertex of a task; without an order tasks are vertices."""
    return np.int64(order[position]) if len(order) > 0 else np.int64(position)


@device
def look_ahead(position, stop, order, starts, ends, entries):
    """Start to read what the tasks after ``position`` will need."""
    if position + THIRD < stop:
        prefetch(entries, starts[vertex_of(position + THIRD, order)])
    if position + SECOND < stop:
        low = vertex_of(position + SECOND, order)
        if ends[low] - starts[low] > 1:
            for entry in range(starts[low], ends[low]):
                prefetch(starts, np.int64(entries[entry]))
                prefetch(ends, np.int64(entries[entry]))
    if position + NEXT < stop:
        low = vertex_of(position + NEXT, order)
        if ends[low] - starts[low] > 1:
            for entry in range(starts[low], ends[low]):
                prefetch(entries, starts[np.int64(entries[entry])])


@compiled
def count_lows(queue, order, ahead, starts, ends, entries, marks, counts):
    """One worker counts the triangles above lowest vertices until the queue is empty."""
    start, stop = next_chunk(queue)
    while start < stop:
        for position in range(start, stop):
            if ahead:
                look_ahead(position, stop, order, starts, ends, entries)
            low = vertex_of(position, order)
            higher = ends[low] - starts[low]
            if higher > FEW:
                mark_many(low, starts, ends, entries, marks, counts)
            elif higher > 1:
                merge_few(low, starts, ends, entries, counts)
        start, stop = next_chunk(queue)


class Triangles:
    """The count under way (:class:`edgewise.cycles.method.Solver`).

    Parameters
    ----------
    starts, ends : (n,) int64 array
        Where the higher neighbours of each vertex begin and end.
    entries : index array
        Vertices, ascending from a row's start to its end, on the host.
    order : (tasks,) int64 array
        Vertices; if it is empty, tasks are all vertices.
    ahead : bool
        Ask for rows before they are needed: neighbours lie far apart.
    """

    def __init__(self, starts, ends, entries, order=NO_ORDER, ahead=True):
        n = len(starts)
        self.order, self.ahead, self.rows = order, ahead, (starts, ends, entries)
        self.pool = ThreadPool(len(order) or n, 12 * n)
        self.own = [(np.zeros(n, np.uint32), np.zeros(n, np.int64)) for _ in range(self.pool.n_workers)]

    @property
    def counts(self):
        """What was found so far: (n,) int64 array."""
        return self.pool.sum([counts for _, counts in self.own])

    def count(self, first: int, end: int) -> None:
        """Count the triangles whose lowest vertices are ``order[first:end]``."""
        arguments = self.order, self.ahead, *self.rows
        self.pool.run_queue(count_lows, first, end, *arguments, per_worker=self.own)

    def settle(self) -> None:
        """Nothing is left over."""


def start(ranked: Ranked, order, length: int) -> Triangles:
    """A worker that counts the triangles above the vertices of ``order``."""
    return Triangles(ranked.split, ranked.offsets[1:], ranked.neighbours, order)


@each
def count_steps(vertex, offsets, neighbours, split, steps):
    """Sum up the lengths of the rows that a lowest vertex has to read."""
    total = np.int64(0)
    if offsets[vertex + 1] - split[vertex] > 1:
        for entry in range(split[vertex], offsets[vertex + 1]):
            middle = np.int64(neighbours[entry])
            total += offsets[middle + 1] - split[middle]
    steps[vertex] = total


def work(ranked: Ranked, length: int):
    """Operations of each lowest vertex: (n,) float64 array beside ``ranked``."""
    steps = arrays.empty(ranked.n_vertices, np.int64, ranked.device)
    count_steps(ranked.n_vertices, ranked.offsets, ranked.neighbours, ranked.split, steps)
    return steps * COST


def triangle_counts(ranked: Ranked):
    """Triangles through every vertex: (n,) int64 array by rank, in the place of ``ranked``."""
    if ranked.device == "cpu":
        solver = start(ranked, NO_ORDER, 3)
        solver.count(0, ranked.n_vertices)
        return solver.counts
    return at_vertices(ranked, edge_triangles(ranked))


def whole(graph):
    """Count the triangles of a graph on the host at once, unless there is work for many seconds.

    Parameters
    ----------
    graph : edgewise.graph.Graph

    Returns
    -------
    counts : (n,) int64 array, or None
        By vertex; ``None`` if the graph should rather be dealt out in pieces.
    loops, repeats : int
        Edges that were ignored: self-loops, and those whose ends an earlier edge joins.
    """
    if graph.has_rows and not graph.directed and "ranked" not in graph.kept:
        found = count_rows(graph.offsets, graph.neighbours)
        if found is not None:
            return found
    ranked = ranked_of(graph)
    lower, higher = ranked.split - ranked.offsets[:-1], ranked.offsets[1:] - ranked.split
    if int(lower @ higher) > MANY:
        return None, ranked.loops, ranked.repeats
    return triangle_counts(ranked)[ranked.rank], ranked.loops, ranked.repeats


def count_rows(offsets, neighbours):
    """Count the triangles of symmetric rows on the host without ranking their vertices.

    Parameters
    ----------
    offsets : (n + 1,) int64 array
    neighbours : (entries,) index array

    Returns
    -------
    tuple or None
        As :func:`whole`; ``None`` if the rows are not sorted, or are better ranked.
    """
    n = len(offsets) - 1
    split, stretches = np.empty(n, np.int64), -(-n // STRETCH)
    found = [np.zeros(stretches, np.int64) for _ in range(3)]
    survey(stretches, offsets, neighbours, split, *found)
    stops, steps, loops = (int(of_stretches.sum()) for of_stretches in found)
    if steps > STEPS * len(neighbours):
        return None
    ends, entries, repeats = offsets[1:], neighbours, 0
    if stops:
        look_again(stretches, offsets, neighbours, split, *found[:2])
        falls, repeats = (int(of_stretches.sum()) for of_stretches in found[:2])
        if falls:
            return None
        ends, entries = ends.copy(), np.empty_like(neighbours)
        keep_once(n, neighbours, split, ends, entries)
    solver = Triangles(split, ends, entries, ahead=_lie_apart(offsets, neighbours))
    solver.count(0, n)
    return solver.counts, loops, repeats


def _survey(stretch, offsets, neighbours, split, stops, steps, loops):
    """Find the higher neighbours of a stretch of rows, and how many steps they take."""
    down, total, itself = np.int64(0), np.int64(0), np.int64(0)
    for vertex in range(stretch * STRETCH, min((stretch + 1) * STRETCH, len(split))):
        first, end, higher, before = offsets[vertex], offsets[vertex + 1], np.int64(0), np.int64(-1)
        for entry in range(first, end):
            neighbour = np.int64(neighbours[entry])
            down += neighbour <= before
            itself += neighbour == vertex
            higher += neighbour > vertex
            before = neighbour
        split[vertex] = end - higher
        total += higher * (end - higher - first)
    stops[stretch], steps[stretch], loops[stretch] = down, total, itself


def _look_again(stretch, offsets, neighbours, split, falls, repeats):
    """Tell rows that are not sorted from those that hold an edge twice."""
    down, again = np.int64(0), np.int64(0)
    for vertex in range(stretch * STRETCH, min((stretch + 1) * STRETCH, len(split))):
        for entry in range(offsets[vertex] + 1, offsets[vertex + 1]):
            down += neighbours[entry] < neighbours[entry - 1]
            again += entry > split[vertex] and neighbours[entry] == neighbours[entry - 1]
    falls[stretch], repeats[stretch] = down, again


survey, look_again = each(_survey, least_chunk=1), each(_look_again, least_chunk=1)


@each
def keep_once(vertex, neighbours, split, ends, entries):
    """Copy the higher neighbours of a row, each once, and move the row's end."""
    into, before = split[vertex], np.int64(-1)
    for entry in range(split[vertex], ends[vertex]):
        neighbour = np.int64(neighbours[entry])
        entries[into] = neighbour
        into += neighbour != before
        before = neighbour
    ends[vertex] = into


def _lie_apart(offsets, neighbours):
    """Whether most neighbours have numbers far from each other's, by a sample."""
    if len(neighbours) == 0:
        return False
    entries = np.linspace(0, len(neighbours) - 1, SAMPLE).astype(np.int64)
    vertices = np.searchsorted(offsets, entries, side="right") - 1
    return bool((np.abs(neighbours[entries].astype(np.int64) - vertices) > FAR).mean() > 0.5)
