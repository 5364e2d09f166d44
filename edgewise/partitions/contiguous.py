"""Contiguous parts: pieces of a part that are not connected to the rest of it go to other parts.

The heaviest connected component of each part is its *core*; the others are pieces.  Round by round, pieces
are joined to cores beside them, the lightest first: to the core that most of their edges lead to, of a part
that has room.  Cores only grow, so a joined piece stays connected.  In a round in which no piece finds room,
the one that exceeds a limit least is joined in spite of that.

Then single vertices leave the parts that have become too heavy, those first whose move costs least, for
parts that are fewer steps away from one with room; so weight is passed on from part to part where those
beside are full.  A vertex may only leave if the rest of its part stays connected.  This repairs what is a
little out of balance; what remains is reported by a warning.

All of this happens on the host and is the same for every device.
"""

import numpy as np

from edgewise.components import connected_components
from edgewise.device import arrays, compiled
from edgewise.errors import GraphError, argument
from edgewise.graph import Graph
from edgewise.partitions.levels import moved, sizes_of
from edgewise.primitives.rows import row_numbers

#: Passes over the vertices of heavy parts.
PASSES = 64
#: Steps of all searches inside of parts, for each entry of the graph.
SEARCH_STEPS = 200


def check_connected(graph):
    """Raise :class:`~edgewise.errors.GraphError` unless a graph is connected."""
    count = connected_components(graph).count if graph.n_vertices else 0
    if count > 1:
        raise GraphError(
            f"the graph has {count:,} components, so its parts cannot all be contiguous; partition each of "
            f"them by itself, or leave out {argument('contiguous', True)}"
        )


def make_contiguous(level, part, limits):
    """A partition of a connected graph whose parts are connected, (n,) on the device of the level."""
    where, kind = arrays.device_of(level.offsets), part.dtype
    host = moved(level, "cpu")
    host = host._replace(sizes=sizes_of(host, np.arange(len(part))), rows=np.empty(0, np.int64))
    part = arrays.move(part, "cpu").astype(np.int64)
    if not len(part):
        return arrays.move(part.astype(kind), where)
    entries = _Entries(host)
    loads = np.bincount(part, weights=host.sizes, minlength=len(limits)).astype(np.int64)
    while _join_pieces(entries, host.sizes, part, loads, limits):
        pass
    if (loads > limits).any():
        part = _lightened(host, entries, part, loads, limits)
    return arrays.move(part.astype(kind), where)


class _Entries:
    """The rows, ends and weights of all entries of a level on the host."""

    def __init__(self, level):
        self.rows, self.ends = row_numbers(level.offsets, level.neighbours.dtype), level.neighbours
        self.weights = level.weights if len(level.weights) else np.ones(len(self.rows), np.int64)


def _join_pieces(entries, sizes, part, loads, limits):
    """One round; whether there may be pieces left."""
    n, inside = len(sizes), part[entries.rows] == part[entries.ends]
    graph = Graph(n, edges=(entries.rows[inside], entries.ends[inside], None))
    label = connected_components(graph).labels.astype(np.int64)
    weights = np.bincount(label, weights=sizes, minlength=n).astype(np.int64)
    roots = np.unique(label)
    order = roots[np.lexsort((roots, -weights[roots], part[roots]))]
    is_core = np.zeros(n, bool)
    is_core[order[np.append(True, part[order[1:]] != part[order[:-1]])]] = True
    if len(order) == np.count_nonzero(is_core):
        return False
    between = ~is_core[label[entries.rows]] & is_core[label[entries.ends]] & ~inside
    pieces, targets, links = _links(
        label[entries.rows[between]], part[entries.ends[between]], entries, between
    )
    chosen = {}
    for at in np.lexsort((targets, -links, pieces, weights[pieces])).tolist():
        piece, target, weight = pieces[at], targets[at], weights[pieces[at]]
        if piece not in chosen and loads[target] + weight <= limits[target]:
            chosen[piece] = target
            loads[target] += weight
            loads[part[piece]] -= weight
    if not chosen:
        excess = loads[targets] + weights[pieces] - limits[targets]
        least = np.lexsort((targets, pieces, -links, excess))[0]
        piece, target = pieces[least], targets[least]
        chosen[piece] = target
        loads[target] += weights[piece]
        loads[part[piece]] -= weights[piece]
    goes_to = np.full(n, -1)
    goes_to[list(chosen)] = list(chosen.values())
    targets = goes_to[label]
    part[targets >= 0] = targets[targets >= 0]
    return True


def _links(pieces, targets, entries, between):
    """Each piece and part beside it, once, and the total weight of the edges between them."""
    n_parts = int(targets.max(initial=0)) + 1
    pairs, which = np.unique(pieces * n_parts + targets, return_inverse=True)
    links = np.bincount(which, weights=entries.weights[between], minlength=len(pairs))
    return pairs // n_parts, pairs % n_parts, links


@compiled
def _shed(order, level, part, weights, marks, queue):
    """Let vertices leave heavy parts, in an order; return their number.

    ``weights`` are the weights of the parts, their limits and their steps to a part with room.  ``marks`` has
    the number of the last search that saw each vertex, and at its end that of the last search; ``queue`` has
    the steps that are left for all searches at its end.
    """
    loads, limits, steps = weights
    n, count = len(part), 0
    for vertex in order:
        here, size = part[vertex], level.sizes[vertex]
        above = loads[here] - limits[here]
        if above <= 0 or queue[n] <= 0:
            continue
        first, end = level.offsets[vertex], level.offsets[vertex + 1]
        target, own = np.int64(-1), 0
        for entry in range(first, end):
            other = np.int64(level.neighbours[entry])
            there = part[other]
            if there == here:
                own += 1
            elif steps[there] < steps[here] and loads[there] + size - limits[there] <= max(above, size):
                is_lighter = target < 0 or loads[there] - limits[there] < loads[target] - limits[target]
                target = there if is_lighter else target
        if target < 0 or own == 0:
            continue
        # Search from one neighbour in the part, without the vertex, until all the others are seen.
        marks[n] += 1
        start = vertex
        search, head, tail, left = marks[n], 0, 0, 0
        for entry in range(first, end):
            other = np.int64(level.neighbours[entry])
            if part[other] == here and marks[other] != -search:
                marks[other] = -search
                left += 1
                start = other
        marks[vertex] = search
        marks[start] = search
        queue[tail] = start
        tail, left = 1, left - 1
        while head < tail and left > 0:
            at = queue[head]
            head += 1
            for entry in range(level.offsets[at], level.offsets[at + 1]):
                other = np.int64(level.neighbours[entry])
                if part[other] == here and marks[other] != search:
                    if marks[other] == -search:
                        left -= 1
                    marks[other] = search
                    queue[tail] = other
                    tail += 1
            queue[n] -= level.offsets[at + 1] - level.offsets[at]
        if left == 0:
            part[vertex] = target
            loads[here] -= size
            loads[target] += size
            count += 1
    return count


def _steps_to_room(entries, part, loads, limits):
    """Fewest steps from each part, over parts beside each other, to one that has room: (k,) int64."""
    k = len(limits)
    here, there = part[entries.rows], part[entries.ends]
    pairs = np.unique(here[here != there] * k + there[here != there])
    steps = np.where(loads < limits, 0, k)
    for step in range(1, k):
        reached = pairs[steps[pairs % k] == step - 1] // k
        reached = reached[steps[reached] == k]
        if not len(reached):
            break
        steps[reached] = step
    return steps


def _lightened(level, entries, part, loads, limits):
    """The partition after heavy parts have become lighter by single vertices; no part is taken apart."""
    n = len(part)
    marks, queue = np.zeros(n + 1, np.int64), np.empty(n + 1, np.int64)
    queue[n] = SEARCH_STEPS * max(len(entries.rows), 1)
    best, least = part.copy(), np.maximum(loads - limits, 0).sum()
    for _ in range(PASSES):
        is_heavy = (loads > limits)[part]
        is_cut = part[entries.rows] != part[entries.ends]
        outside = np.bincount(entries.rows[is_cut], entries.weights[is_cut], n)
        within = np.bincount(entries.rows[~is_cut], entries.weights[~is_cut], n)
        order = np.flatnonzero(is_heavy & (outside > 0))
        order = order[np.argsort((within - outside)[order], kind="stable")]
        weights = loads, limits, _steps_to_room(entries, part, loads, limits)
        if not _shed(order, level, part, weights, marks, queue):
            break
        excess = np.maximum(loads - limits, 0).sum()
        if excess < least:
            best, least = part.copy(), excess
        if least == 0:
            break
    return best
