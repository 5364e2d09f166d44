"""Parents: for every vertex the smallest neighbour from which a shortest path comes in.

They are read off the distances, so they are the same for every method, device and number of threads: the edge
from ``u`` to ``v`` is *tight* if ``distance[u] + weight == distance[v]``.

A parent that is nearer to the source than its child cannot close a cycle, so the smallest of these is taken.
Without one, the tight edges come from vertices at the same distance (weights of zero, or lost in rounding);
such vertices are settled level by level: first those with a tight edge from a settled vertex, then those with
one from these.  With negative weights all vertices are settled by levels, from the sources on.

On a GPU the warps take equal stretches of the entries rather than rows, since the longest row would take
longer than all others.  A warp reads the offsets of as many rows as it has lanes at a time.  It reads the
long ones among them one after the other, and then shares the entries of all short ones evenly, with the least
parent of each in shared memory.  Entries that are no less are skipped before their distance is read: rows
mostly ascend, so that few distances are read after a row's first parent.  Rows that several warps share are
joined by an atomic minimum.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, device, each, fetch_min, parallel_region
from edgewise.device.lanes import warp_min
from edgewise.device.threads import few_steps
from edgewise.device.warps import (
    ballot,
    block_size,
    find_segment,
    inclusive_scan,
    popcount,
    shuffle,
    warp_barrier,
    warp_size,
)
from edgewise.device.wrapping import wrapping_add
from edgewise.paths.csr import unreached
from edgewise.primitives.rows import row_of

#: Level of a vertex that has no parent yet.
OPEN = -1
#: Entries of a stretch.
STRETCH = 4096
#: Threads of a block.
THREADS = 256
#: Blocks on a multiprocessor, at most.
BLOCKS = 8
#: Entries from which on a row is read by a whole warp; shorter ones share it.
WARP_ROW = 48
#: More than any vertex number.
NO_VERTEX = 2**63 - 1


@device
def is_tight(distances, source, target, weights, entry):
    """Whether the edge ends a shortest path; ``distances[source]`` is finite."""
    if len(weights):
        return wrapping_add(distances[source], weights[entry]) == distances[target]
    return distances[source] + 1 == distances[target]


@device
def is_among(vertex, ascending):
    """Whether a vertex is one of an ascending array."""
    first, end = 0, len(ascending)
    while first < end:
        middle = (first + end) // 2
        if ascending[middle] < vertex:
            first = middle + 1
        else:
            end = middle
    return first < len(ascending) and ascending[first] == vertex


class Tree(NamedTuple):
    """What is known of the parents."""

    distances: Any  # (n,) array
    none: Any  # the distance of vertices that are not reached
    parents: Any  # (n,) int64 array, -1 where there is none
    levels: Any  # (n,) int32 array, OPEN where the parent is not known yet
    changed: Any  # (1,) int32 array, not 0 if another pass has to follow


@each
def _nearer_parent(vertex, incoming, tree, sources):
    """Find the smallest parent that is nearer to the sources."""
    distances = tree.distances
    tree.parents[vertex], tree.levels[vertex] = -1, 0
    if distances[vertex] == tree.none:
        return
    least = np.int64(-1)
    for entry in range(incoming.offsets[vertex], incoming.offsets[vertex + 1]):
        other = np.int64(incoming.neighbours[entry])
        candidate = distances[other] < distances[vertex] and (least < 0 or other < least)
        if candidate and is_tight(distances, other, vertex, incoming.weights, entry):
            least = other
    tree.parents[vertex] = least
    if least < 0 and not is_among(vertex, sources):
        tree.levels[vertex] = OPEN
        tree.changed[0] = 1


@device
def _least_of_row(vertex, first, end, lane, incoming, distances):
    """Least parent of a vertex among the entries ``first`` to ``end - 1``, which the lanes of a warp share.

    Each lane reads its next entry early.  A parent that one lane finds is told to all, so that the greater
    entries, whose distances need not be read, are known to all.
    """
    _, neighbours, weights = incoming
    lanes, distance, least = warp_size(), distances[vertex], np.int64(NO_VERTEX)
    following = np.int64(NO_VERTEX)
    if first + lane < end:
        following = np.int64(neighbours[first + lane])
    for chunk in range(first, end, lanes):
        entry, other, is_parent = chunk + lane, following, False
        following = np.int64(NO_VERTEX)
        if entry + lanes < end:
            following = np.int64(neighbours[entry + lanes])
        if other < least and distances[other] < distance:
            is_parent = is_tight(distances, other, vertex, weights, entry)
        if ballot(is_parent) != 0:
            found = other if is_parent else least
            least = shuffle(warp_min(found, lanes, lane, np.int64(NO_VERTEX)), 0)
    return least


@device
def _least_of_short_rows(worker, row, span, incoming, distances):
    """Find the least parents of a warp's short rows; lane ``l`` has row ``row + l``, of a :class:`Span`.

    They are in the lanes' words of shared memory, which are no vertices before.
    """
    lanes, words = warp_size(), worker.shared
    lane = worker.id % lanes
    base = worker.id % block_size() - lane
    total, shift = shuffle(span.last, lanes - 1), span.first + span.length - span.last
    begin = span.last - span.length
    for chunk in range(0, total, lanes):
        share, is_parent, other = chunk + lane, False, np.int64(0)
        owner = find_segment(share, span.last, lanes)
        entry, leader = share + shuffle(shift, owner), max(shuffle(begin, owner) - chunk, 0)
        if share < total:
            other, vertex = np.int64(incoming.neighbours[entry]), row + owner
            if other < words[base + owner] and distances[other] < distances[vertex]:
                is_parent = is_tight(distances, other, vertex, incoming.weights, entry)
        found = ballot(is_parent) >> leader
        if is_parent and found & ((np.int64(1) << (lane - leader)) - 1) == 0:
            # race: what the others have read there is in the ballot
            words[base + owner] = other  # the first lane of its row, alone
        warp_barrier()
        if is_parent and other < words[base + owner]:
            fetch_min(words, base + owner, other)
        warp_barrier()


class Span(NamedTuple):
    """Entries of a lane's row: the first, their number, and the sum of the numbers up to this lane."""

    first: int
    length: int
    last: int


@parallel_region.by(threads=THREADS, max_blocks_per_sm=BLOCKS, shared_words=THREADS)
def find_nearer_parents(worker, incoming, distances, none, parents):
    """Find the smallest parents that are nearer to the sources; ``parents`` are all ones, (n,) uint64."""
    offsets, lanes, n = incoming.offsets, warp_size(), len(distances)
    n_entries, lane = offsets[n], worker.id % lanes
    word = worker.id % block_size()
    for stretch in range(worker.id // lanes, -(-n_entries // STRETCH), worker.count // lanes):
        begin, stop = stretch * STRETCH, min((stretch + 1) * STRETCH, n_entries)
        row = row_of(begin, offsets)
        while begin < stop:
            own = min(row + lane, n - 1)
            first, end = max(offsets[own], begin), min(offsets[own + 1], stop)
            if row + lane >= n or distances[own] == none:
                end = first
            worker.shared[word] = NO_VERTEX
            long_rows = ballot(end - first >= WARP_ROW) & ((np.int64(1) << lanes) - 1)
            while long_rows != 0:
                other = popcount((long_rows & -long_rows) - 1)
                long_rows &= long_rows - 1
                bounds = shuffle(first, other), shuffle(end, other)
                least = _least_of_row(row + other, bounds[0], bounds[1], lane, incoming, distances)
                if lane == 0 and least < NO_VERTEX:
                    fetch_min(parents, row + other, np.uint64(least))
            length = max(end - first, 0)
            if length >= WARP_ROW:
                length = np.int64(0)
            warp_barrier()
            span = Span(first, length, inclusive_scan(length, lane))
            _least_of_short_rows(worker, row, span, incoming, distances)
            if worker.shared[word] < NO_VERTEX:
                fetch_min(parents, own, np.uint64(worker.shared[word]))
            row += lanes
            begin = offsets[min(row, n)]


@each
def _open_without_parent(vertex, tree, sources):
    """Leave a vertex open if it is reached, has no parent and is no source."""
    reached = tree.distances[vertex] != tree.none
    tree.levels[vertex] = 0
    if reached and tree.parents[vertex] < 0 and not is_among(vertex, sources):
        tree.levels[vertex] = OPEN
        tree.changed[0] = 1


@each
def _parent_at_level(vertex, incoming, tree, level):
    """Settle an open vertex behind the smallest tight neighbour of the level before."""
    distances, none = tree.distances, tree.none
    if tree.levels[vertex] != OPEN or distances[vertex] == none:
        return
    least = np.int64(-1)
    for entry in range(incoming.offsets[vertex], incoming.offsets[vertex + 1]):
        other = np.int64(incoming.neighbours[entry])
        candidate = tree.levels[other] == level and distances[other] != none and (least < 0 or other < least)
        if candidate and is_tight(distances, other, vertex, incoming.weights, entry):
            least = other
    if least >= 0:
        # race: others ask whether it is at ``level``, which it is neither before nor after
        tree.parents[vertex], tree.levels[vertex] = least, level + 1
        tree.changed[0] = 1


def parents_of(incoming, distances, sources, least_weight):
    """Smallest vertex from which a shortest path comes in, (n,) int64; -1 for sources and unvisited vertices.

    ``sources`` ascend, on the host; no weight is less than ``least_weight``.
    """
    device = arrays.device_of(distances)
    with arrays.guard(device):
        n, none = len(distances), distances.dtype.type(unreached(distances.dtype))
        parents = arrays.full(n, -1, np.int64, device)
        if device != "cpu" and least_weight >= 0:
            find_nearer_parents(incoming, distances, none, parents.view(np.uint64))
            if not len(incoming.weights) or (least_weight > 0 and distances.dtype.kind in "iu"):
                return parents  # every vertex has a parent that is nearer
        levels = arrays.full(n, OPEN, np.int32, device)
        starts, changed = arrays.move(np.asarray(sources), device), arrays.zeros(1, np.int32, device)
        tree = Tree(distances, none, parents, levels, changed)
        if least_weight < 0:
            levels[starts] = 0
            changed.fill(1)
        elif device == "cpu":
            with few_steps(n + len(incoming.neighbours)):
                _nearer_parent(n, incoming, tree, starts)
        else:
            _open_without_parent(n, tree, starts)
        level = 0
        while int(changed[0]):
            changed.fill(0)
            _parent_at_level(n, incoming, tree, level)
            level += 1
    return parents
