"""Partitions of small graphs: the moves of Fiduccia and Mattheyses, on all levels of a hierarchy.

A small graph is divided in the interpreter in less time than a compiler takes to be imported, so nothing here
is compiled, and rows are dictionaries.  Clusters of few vertices are contracted until a graph of few vertices
for each part is left.  That is divided by recursive bisection, for which one side grows from a random vertex,
and single vertices are moved on each level from the coarsest to the finest one.  The same is done again with
clusters inside the parts, which moves whole clusters of the partition that there is.

In a *pass* each vertex moves once at most, the one whose move lowers the cut most first, also where the cut
grows, and the moves after the best state are undone.  A move may make a part too heavy by one vertex; the
next ones are then out of that part, so that two vertices change places where all parts are full.

C. M. Fiduccia and R. M. Mattheyses, "A linear-time heuristic for improving network partitions" (DAC 1982);
G. Karypis and V. Kumar, "Multilevel k-way partitioning scheme for irregular graphs" (Journal of Parallel and
Distributed Computing 48, 1998); C. Walshaw, "Multilevel refinement for combinatorial optimisation problems"
(Annals of Operations Research 131, 2004), on repeating it.
"""

from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays
from edgewise.partitions.levels import salt_of, sizes_of
from edgewise.primitives.mixing import mix

#: Vertices of the coarsest graph: the larger of the first, and the second for each part.
COARSEST, COARSEST_FOR_EACH = 40, 8
#: Largest weight of a cluster of a level, in average weights of its vertices.
GROWTH = 3
#: A level has at most this share of the vertices of the one before it.
SHRINK = 0.95
#: Moves without a better state after which a pass ends, for each unit of patience.
FRUITLESS = 8
#: Passes over a level, at most.
PASSES = 6
#: Bisections of a graph, of which the best one is taken, and hierarchies inside of the parts.
SIDES, CYCLES = 2, 2
#: One partition is made for so many tries of the settings, and the best one is taken.
TRIES = 4


class Small(NamedTuple):
    """A graph in the interpreter.

    Attributes
    ----------
    rows : list of dict
        Weight of the edge to each neighbour, for each vertex.
    sizes : list of int
        Weights of the vertices.
    """

    rows: Any
    sizes: Any


def small_of(level):
    """The graph of a level, whose rows are in the order of the neighbours."""
    offsets, neighbours, weights = (arrays.move(one, "cpu") for one in level[:3])
    vertices = np.arange(len(offsets) - 1)
    rows = np.repeat(vertices, np.diff(offsets))
    order = np.lexsort((neighbours, rows))
    weights = weights[order].tolist() if len(weights) else [1] * len(order)
    found: list[dict] = [{} for _ in vertices]
    for row, other, weight in zip(rows.tolist(), neighbours[order].tolist(), weights):
        found[row][other] = found[row].get(other, 0) + weight
    return Small(found, arrays.move(sizes_of(level, vertices), "cpu").tolist())


def drawn(n, salt):
    """Different random numbers of the vertices."""
    return mix(np.arange(n, dtype=np.int64), salt).tolist()


# -- coarsening ----------------------------------------------------------------------------------------------


def cluster(graph, most, groups, ranks):
    """The cluster of each vertex, numbered from 0 on, and the weights of the clusters.

    Vertices join, in a random order, the neighbour to which the edge is heaviest for the weight of its
    cluster, unless that would be heavier than ``most``, or is of another group.  Those that cannot join one
    are joined with each other where their heaviest edges lead to one cluster, and isolated vertices are, too.
    """
    rows, sizes = graph
    numbers = [-1] * len(sizes)
    weights: list[int] = []
    left: dict = {}
    for vertex in sorted(range(len(sizes)), key=ranks.__getitem__):
        if numbers[vertex] >= 0:
            continue
        size, row, group = sizes[vertex], rows[vertex], groups and groups[vertex]
        best, chosen = (0.0, -1), -1
        for other, weight in row.items():
            number = numbers[other]
            held = sizes[other] if number < 0 else weights[number]
            if held + size <= most and not (groups and groups[other] != group):
                rating = weight / held, ranks[other]
                if rating > best:
                    best, chosen = rating, other
        if chosen >= 0:
            number = numbers[chosen]
            if number < 0:
                number = numbers[chosen] = len(weights)
                weights.append(sizes[chosen])
        else:
            favourite = max(row, key=row.__getitem__) if row else -1
            favourite = group, numbers[favourite] if row and numbers[favourite] >= 0 else ~favourite
            number = left.get(favourite, -1)
            if number < 0 or weights[number] + size > most:
                number = left[favourite] = len(weights)
                weights.append(0)
        numbers[vertex] = number
        weights[number] += size
    return numbers, weights


def contract(graph, numbers, weights):
    """The graph of the clusters."""
    rows: list[dict] = [{} for _ in weights]
    for own, row in zip(numbers, graph.rows):
        found = rows[own]
        for other, weight in row.items():
            number = numbers[other]
            if number != own:
                found[number] = found.get(number, 0) + weight
    return Small(rows, weights)


def coarsen(graph, k, salts, part=None):
    """The hierarchy of a graph: pairs of a graph and its clusters in the next one, the finest first.

    With ``part`` no cluster has vertices of two parts, and the second value is the coarsest partition.
    """
    hierarchy, total = [], sum(graph.sizes)
    target = max(COARSEST, COARSEST_FOR_EACH * k)
    while len(graph.sizes) > target:
        n = len(graph.sizes)
        most = max(1, min(2 * total // target, GROWTH * total // n))
        numbers, weights = cluster(graph, most, part, drawn(n, next(salts)))
        if len(weights) > SHRINK * n:
            break
        if part:
            coarse = [0] * len(weights)
            for number, one in zip(numbers, part):
                coarse[number] = one
            part = coarse
        hierarchy.append((graph, numbers))
        graph = contract(graph, numbers, weights)
    return [*hierarchy, (graph, None)], part


# -- moves of single vertices --------------------------------------------------------------------------------


class Search:
    """A partition of a graph that moves of single vertices improve.

    Parameters
    ----------
    graph : Small
    part : list of int
        Part of each vertex; it is changed.
    limits : list of int
        Largest weight of each part.
    ranks : list of int
        Different random numbers of the vertices, which decide among equal gains.
    """

    def __init__(self, graph, part, limits, ranks):
        self.graph, self.part, self.limits, self.ranks = graph, part, limits, ranks
        self.loads = [0] * len(limits)
        for one, size in zip(part, graph.sizes):
            self.loads[one] += size
        self.links: list[dict] = []  # weight of the edges of a vertex to each part that there are some to
        self.cut = 0
        for own, row in zip(part, graph.rows):
            found: dict = {}
            for other, weight in row.items():
                there = part[other]
                found[there] = found.get(there, 0) + weight
                if there != own:
                    self.cut += weight
            self.links.append(found)
        self.cut //= 2
        above = [load - limit for load, limit in zip(self.loads, limits)]
        self.heavy = {one for one, weight in enumerate(above) if weight > 0}  # parts above their limits
        self.excess = sum(above[one] for one in self.heavy)

    def move(self, vertex, target):
        """Move a vertex to a part."""
        own, size, links = self.part[vertex], self.graph.sizes[vertex], self.links
        held = links[vertex]
        self.cut += held.get(own, 0) - held.get(target, 0)
        for part, change in ((own, -size), (target, size)):
            above = self.loads[part] - self.limits[part]
            self.loads[part] += change
            self.excess += max(0, above + change) - max(0, above)
            (self.heavy.add if above + change > 0 else self.heavy.discard)(part)
        self.part[vertex] = target
        for other, weight in self.graph.rows[vertex].items():
            found = links[other]
            left = found[own] - weight
            if left:
                found[own] = left
            else:
                del found[own]
            found[target] = found.get(target, 0) + weight

    def key(self, vertex):
        """By how much the cut grows if the vertex moves to the part beside it that most edges lead to.

        Without a part beside it, it is by how much it grows wherever the vertex moves.
        """
        held, own = self.links[vertex], self.part[vertex]
        inner = held.get(own, 0)
        if len(held) == (inner > 0):
            return inner
        if len(held) == 1:
            return -max(held.values())
        return inner - max([weight for part, weight in held.items() if part != own])

    def target(self, vertex):
        """The part with room that most edges of a vertex lead to, or -1 if no part has room.

        A part has room up to its limit, beside which one vertex may be in it.  A part that no edge leads to
        is only for the vertices of parts that are too heavy.
        """
        own, best, found, most = self.part[vertex], 0, -1, 0
        for part, weight in self.links[vertex].items():
            if part != own and weight >= best:
                room = self.limits[part] - self.loads[part]
                if room >= 0 and (weight > best or room > most):
                    best, found, most = weight, part, room
        if found < 0 and self.excess:
            rooms = [limit - load for limit, load in zip(self.limits, self.loads)]
            freest = max(range(len(rooms)), key=rooms.__getitem__)
            if rooms[freest] >= self.graph.sizes[vertex]:
                found = freest
        return found

    def heaps(self, keys):
        """A heap of the vertices beside other parts, one of them for each part, and one of the others."""
        near: list = []
        heaps: list[list] = [[] for _ in self.limits]
        inner: list[list] = [[] for _ in self.limits]
        for vertex, (key, own, held) in enumerate(zip(keys, self.part, self.links)):
            item = key, self.ranks[vertex], vertex
            if len(held) == (own in held):
                inner[own].append(item)
            else:
                heaps[own].append(item)
                near.append(item)
        for heap in near, *heaps, *inner:
            heapify(heap)
        return near, heaps, inner

    def first(self, near, heaps, inner):
        """The heap of the next vertex: it is in the part that is most above its limit, if there is one."""
        if not self.heavy:
            return near
        source = max(self.heavy, key=lambda one: (self.loads[one] - self.limits[one], one))
        one, other = heaps[source], inner[source]
        return other if other and (not one or other[0] < one[0]) else one

    def run_pass(self, patience):
        """Move vertices, and undo the moves after the best state; return whether that is better.

        The keys in the heaps are those of the vertices or less: a vertex whose key has grown enters the heaps
        again when it is the first.
        """
        part, ranks, rows = self.part, self.ranks, self.graph.rows
        keys = [self.key(vertex) for vertex in range(len(part))]
        near, heaps, inner = self.heaps(keys)

        def enter(vertex, key):
            keys[vertex] = key
            heappush(near, (key, ranks[vertex], vertex))
            heappush(heaps[part[vertex]], (key, ranks[vertex], vertex))

        best = before = self.excess, self.cut
        moves: list[tuple] = []
        n_best, is_locked = 0, [False] * len(part)
        while len(moves) - n_best < patience and (heap := self.first(near, heaps, inner)):
            key, _, vertex = heappop(heap)
            if is_locked[vertex] or keys[vertex] != key or (target := self.target(vertex)) < 0:
                continue
            held, source = self.links[vertex], part[vertex]
            growth = held.get(source, 0) - held.get(target, 0)
            if growth > key:
                enter(vertex, growth)
                continue
            is_locked[vertex] = True
            self.move(vertex, target)
            moves.append((vertex, source))
            if (self.excess, self.cut) < best:
                best, n_best = (self.excess, self.cut), len(moves)
            for other in rows[vertex]:
                if part[other] != target and not is_locked[other]:
                    key = self.key(other)
                    if key < keys[other]:
                        enter(other, key)
        for vertex, source in reversed(moves[n_best:]):
            self.move(vertex, source)
        return best < before

    def run(self, patience):
        """Run passes while they find better states; return excess, cut and parts, by which states compare."""
        for _ in range(PASSES):
            if not self.run_pass(patience):
                break
        return self.excess, self.cut, self.part


# -- the coarsest graph --------------------------------------------------------------------------------------


def grow(graph, weight, ranks):
    """Grow a side of about such a weight from random vertices, by the vertex that lowers the cut most."""
    rows, sizes = graph
    side, gains = [1] * len(sizes), [sum(row.values()) for row in rows]
    heap: list[tuple] = []
    waiting = sorted(range(len(sizes)), key=ranks.__getitem__, reverse=True)
    while weight > 0 and (heap or waiting):
        if heap:
            gain, _, vertex = heappop(heap)
            if gain != gains[vertex]:
                continue
        else:
            vertex = waiting.pop()
        if side[vertex] == 0 or sizes[vertex] > 2 * weight:
            continue
        side[vertex] = 0
        weight -= sizes[vertex]
        for other, edge in rows[vertex].items():
            gains[other] -= 2 * edge
            if side[other]:
                heappush(heap, (gains[other], ranks[other], other))
    return side


def bisect(graph, parts, how, salts):
    """Divide a graph into the parts of a span, by recursive bisection; return the part of each vertex.

    ``how`` are limits and targets of all parts, and the patience.
    """
    first, end = parts
    limits, targets, patience = how
    if end - first == 1 or not graph.sizes:
        return [first] * len(graph.sizes)
    middle, total = first + (end - first) // 2, sum(graph.sizes)
    whole = sum(limits[first:end])
    share = sum(targets[first:middle]) / sum(targets[first:end])
    slack = max(1.0, whole / total) ** (1 / (end - first - 1).bit_length())
    most = [sum(limits[first:middle]), sum(limits[middle:end])]
    if end - first > 2:
        wanted = share * total, (1 - share) * total
        most = [min(one, max(int(part * slack), -int(-part // 1))) for one, part in zip(most, wanted)]
    found = []
    for _ in range(SIDES):
        ranks = drawn(len(graph.sizes), next(salts))
        found.append(Search(graph, grow(graph, share * total, ranks), most, ranks).run(patience))
    side, parts = min(found)[2], [0] * len(graph.sizes)
    for number, span in enumerate(((first, middle), (middle, end))):
        vertices = [vertex for vertex, one in enumerate(side) if one == number]
        place = {vertex: at for at, vertex in enumerate(vertices)}
        rows = [
            {place[other]: weight for other, weight in graph.rows[vertex].items() if side[other] == number}
            for vertex in vertices
        ]
        inner = Small(rows, [graph.sizes[vertex] for vertex in vertices])
        for vertex, one in zip(vertices, bisect(inner, span, how, salts)):
            parts[vertex] = one
    return parts


# -- the driver ----------------------------------------------------------------------------------------------


def refine(hierarchy, part, limits, patience, salts):
    """Improve a partition of the coarsest graph on all levels; return excess, cut and parts of the finest."""
    found = None
    for graph, numbers in reversed(hierarchy):
        if numbers is not None:
            part = [part[number] for number in numbers]
        found = Search(graph, part, limits, drawn(len(part), next(salts))).run(patience)
    return found


def fiduccia_mattheyses(level, limits, targets, how, start=None):
    """Partition a small level; see :func:`~edgewise.partitions.multilevel.multilevel`."""
    graph, k, found = small_of(level), len(limits), []
    salts = (salt_of(how.seed, step) for step in count())
    limits, targets, patience = limits.tolist(), targets.tolist(), FRUITLESS * how.patience
    for _ in range(max(1, how.tries // TRIES)):
        if start is None:
            hierarchy, _ = coarsen(graph, k, salts)
            part = bisect(hierarchy[-1][0], (0, k), (limits, targets, patience), salts)
        else:
            hierarchy, part = [(graph, None)], arrays.move(start[0], "cpu").tolist()
        found.append(refine(hierarchy, part, limits, patience, salts))
        for _ in range(CYCLES):
            hierarchy, part = coarsen(graph, k, salts, found[-1][2])
            found.append(min(found[-1], refine(hierarchy, part, limits, patience, salts)))
    excess, cut, part = min(found)
    return arrays.move(np.array(part, level.neighbours.dtype), arrays.device_of(level.offsets)), cut, excess
