"""Depth-first search to a limited depth from every vertex: the method of the document, with its cost.

From a vertex all paths of ``length - 1`` edges are walked, and the row of the last vertex is read from its
beginning until the first one turns up (CS406, "Parallelizing cycle counting": ``sparse3``, ``sparse4``,
``sparse5`` and their kernels).  There is no recursion: a stack says where in each row of the path the search
is, and the last two levels are plain loops.  A thread has a vertex.  Every cycle is met twice at each of its
vertices, once in each direction; that is the document's number, and half of it is kept here.

The cost is that of all walks: 6.2e12 steps for the 5-cycles of com-DBLP, where methods that do not enumerate
take 4e7.  It is here to be compared with, and because it is so plain that it can check the others.

The document hands out vertices in the order of their ids; here workers take those with most work first.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from edgewise.cycles.counting.lookup import is_on_path
from edgewise.cycles.counting.ranked import Ranked
from edgewise.cycles.planning.bounds import walks
from edgewise.device import arrays, device, each, fetch_add, threads

#: Searches under way at once on a GPU, and words of all their stacks in memory.
SEARCHES, STACKS = 1 << 18, 1 << 25
#: Vertices a core takes at a time.
CLAIM = 4


@device
def stands_between(vertex, first, end, neighbours):
    """Whether a stretch of rows, read from its beginning, has this vertex."""
    at, stop = np.uint64(first), np.uint64(end)  # unsigned: no look whether the index counts from the end
    while at < stop and np.int64(neighbours[at]) != vertex:
        at += np.uint64(1)
    return at < stop


@device
def closing(last, offsets, neighbours, path, base, step, depth):
    """Number of ways to close a path by one more vertex behind ``last``."""
    start, found = path[base], 0
    for entry in range(offsets[last], offsets[last + 1]):
        end = np.int64(neighbours[entry])
        if not is_on_path(end, path, base, step, depth + 1):
            found += stands_between(start, offsets[end], offsets[end + 1], neighbours)
    return found


@device
def closed_walks(start, length, offsets, neighbours, path, entries, base, step):
    """Number of closed walks of ``length`` edges from ``start`` that visit no vertex twice."""
    found, depth, deepest = 0, 0, length - 3
    path[base], entries[base] = start, offsets[start]
    while depth >= 0:
        at = base + depth * step
        entry = entries[at]
        if entry == offsets[path[at] + 1]:
            depth -= 1
        else:
            entries[at] = entry + 1
            vertex = np.int64(neighbours[entry])
            if not is_on_path(vertex, path, base, step, depth + 1):
                if depth == deepest:
                    found += closing(vertex, offsets, neighbours, path, base, step, depth)
                else:
                    depth += 1
                    path[at + step], entries[at + step] = vertex, offsets[vertex]
    return found


@partial(each, least_chunk=1)
def search(
    worker, claimed, claim, order, first, end, length, offsets, neighbours, path, entries, own, step, counts
):
    """Take vertices until there are none, and count the cycles through each."""
    position = first + fetch_add(claimed, 0, claim)
    while position < end:
        for task in range(position, min(position + claim, end)):
            start = np.int64(order[task])
            found = closed_walks(start, length, offsets, neighbours, path, entries, worker * own, step)
            counts[start] = found // 2
        position = first + fetch_add(claimed, 0, claim)


class Searches:
    """The count under way (:class:`edgewise.cycles.method.Solver`).

    Parameters
    ----------
    ranked : Ranked
    order : (tasks,) int64 array
    length : int
    """

    def __init__(self, ranked: Ranked, order, length: int):
        device, depths = ranked.device, length - 2
        on_cpu = device == "cpu"
        most = threads.count() if on_cpu else max(1, min(SEARCHES, STACKS // depths))
        self.workers, self.claim = min(most, len(order)), CLAIM if on_cpu else 1
        # a core's stack is one stretch of memory; on a GPU what is equally deep lies side by side
        self.layout = (depths, 1) if on_cpu else (1, self.workers)
        self.ranked, self.order, self.length = ranked, order, length
        self.path = arrays.empty(self.workers * depths, np.int64, device)
        self.entries = arrays.empty(self.workers * depths, np.int64, device)
        self.counts = arrays.zeros(ranked.n_vertices, np.int64, device)

    def count(self, first: int, end: int) -> None:
        """Search from the vertices ``order[first:end]``."""
        ranked = self.ranked
        claimed = arrays.zeros(1, np.int64, ranked.device)
        tasks = claimed, self.claim, self.order, first, end, self.length
        stacks = self.path, self.entries, *self.layout
        workers = min(self.workers, -(-(end - first) // self.claim))
        search(workers, *tasks, ranked.offsets, ranked.neighbours, *stacks, self.counts)

    def settle(self) -> None:
        """Nothing is left over."""


def start(ranked: Ranked, order, length: int) -> Searches:
    """A worker that counts cycles of ``length`` edges from the vertices of ``order``."""
    return Searches(ranked, order, length)


def work(ranked: Ranked, length: int):
    """Steps of the search from every vertex, about: the walks it takes, (n,) float64 array.

    Vertices with fewer than two neighbours are on no cycle, and have no work.
    """
    xp = arrays.namespace(ranked.device)
    with np.errstate(over="ignore"):
        steps = walks(ranked, length)
    steps[xp.diff(ranked.offsets) < 2] = 0
    return steps
