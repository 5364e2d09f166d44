"""What can be reached by ascending in a hierarchy, and the part of one that leads to some targets (RPHAST).

A search that ascends by rank from a few vertices reaches few ranks: some hundreds in the road network of a
country.  Rows lead to higher ranks only, so a depth-first search that lists a rank behind all the ranks that
it leads to lists higher ones first (a topological order), and needs no queue by distance.

The shortest path to a target descends through ranks that the target's own search, which ascends along the
edges that *come* to each rank, reaches.  So a sweep towards some targets passes only those ranks.  They are
numbered anew, from the lowest to the highest, so that levels stay ranges; or, for sweeps of a single thread,
in the order of the depth-first search.

D. Delling, A. Goldberg and R. Werneck, "Faster batched shortest paths in road networks" (ATMOS 2011).
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, compiled, each
from edgewise.paths.csr import CSR
from edgewise.paths.hierarchy import Hierarchy


class Ascending(NamedTuple):
    """The memory of searches that ascend, one after the other.

    ``places`` (n,) is one more than the place of each rank in ``order`` (n,), and zero for ranks that are not
    reached; ``stack`` and ``cursors`` (levels + 1,) int64 have a rank of each level at most.
    """

    places: Any
    order: Any
    stack: Any
    cursors: Any


class Descent(NamedTuple):
    """Rows that a sweep passes, of the whole hierarchy or of a part of it.

    ``rows``: edges and shortcuts that come to each from higher ranks; ``levels`` (levels + 1,) int64: the
    first row of each level, then their number.  The levels are passed from the last to the first, and the
    rows of a level in ascending order.  ``numbers`` (n,) int64: the row of each rank, or -1; empty where it
    is the rank.
    """

    rows: CSR
    levels: Any
    numbers: Any


def ascending_in(hierarchy: Hierarchy) -> Ascending:
    """Memory for searches in a hierarchy on the host."""
    n, depth = len(hierarchy.ranks), len(hierarchy.levels) + 1
    kind = np.int32 if n < 2**31 else np.int64
    stacks = np.empty(depth, np.int64), np.empty(depth, np.int64)
    return Ascending(np.zeros(n, kind), np.empty(n, hierarchy.vertices.dtype), *stacks)


@compiled
def ascend(rows, starts, memory):
    """List the ranks that are reached from some others, higher ones first; return their number."""
    places, order, stack, cursors = memory
    offsets, neighbours, count = rows.offsets, rows.neighbours, np.int64(0)
    for start in starts:
        if places[start] != 0:
            continue
        stack[0], cursors[0], depth = start, offsets[start], 1
        while depth > 0:
            rank, entry = stack[depth - 1], cursors[depth - 1]
            end = offsets[rank + 1]
            while entry < end and places[np.int64(neighbours[entry])] != 0:
                entry += 1
            if entry < end:
                other = np.int64(neighbours[entry])
                cursors[depth - 1] = entry + 1
                stack[depth], cursors[depth] = other, offsets[other]
                depth += 1
            else:
                order[count] = rank
                count += 1
                places[rank] = count
                depth -= 1
    return count


def whole(hierarchy: Hierarchy) -> Descent:
    """All ranks of a hierarchy."""
    return Descent(hierarchy.incoming.rows, hierarchy.levels, np.empty(0, np.int64))


def restricted(hierarchy: Hierarchy, targets, by_level=True) -> Descent:
    """The part of a hierarchy on the host that leads to the ranks ``targets`` (k,) int64.

    Rows are in the order of the ranks, or else all on one level in that of the depth-first search, in which a
    single thread finds most neighbours of a row in its cache.
    """
    memory, rows = ascending_in(hierarchy), hierarchy.incoming.rows
    count = ascend(rows, targets, memory)
    ranks, levels = memory.order[:count].astype(np.int64), np.array([0, count])
    if by_level:
        ranks.sort()
        levels = np.unique(np.searchsorted(ranks, hierarchy.levels))
    numbers = np.full(len(hierarchy.ranks), -1)
    numbers[ranks] = np.arange(count)
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(rows.offsets[ranks + 1] - rows.offsets[ranks], out=offsets[1:])
    neighbours = np.empty(offsets[-1], rows.neighbours.dtype)
    weights = np.empty(offsets[-1], rows.weights.dtype)
    part = CSR(offsets, neighbours, weights)
    _copy_row(count, ranks, rows, numbers, part)
    return Descent(part, levels, numbers)


@each
def _copy_row(number, ranks, rows, numbers, part):
    """Copy the row of a rank, whose neighbours all have numbers."""
    begin, first = rows.offsets[ranks[number]], part.offsets[number]
    for entry in range(part.offsets[number + 1] - first):
        part.neighbours[first + entry] = numbers[rows.neighbours[begin + entry]]
        part.weights[first + entry] = rows.weights[begin + entry]


def in_type(descent: Descent, dtype, most, device) -> Descent:
    """The rows on a device with weights of a type, of which none is more than ``most``."""
    rows, weights = descent.rows, descent.rows.weights
    if weights.max(initial=0) > most:
        weights = np.minimum(weights, weights.dtype.type(most))
    rows = rows._replace(weights=weights.astype(dtype, copy=False))
    moved = CSR(*(arrays.move(array, device) for array in rows))
    return descent._replace(rows=moved, levels=arrays.move(descent.levels, device))
