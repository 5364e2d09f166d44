"""Contraction by sorting: the rows of a pair are put together, sorted, added up and packed.

These are the steps of the thesis, with the primitives of :mod:`edgewise.primitives.segments`:

* The degrees of each pair are added up; their scan says where its row begins.
* The rows are copied there, with the numbers of the pairs instead of those of the neighbours.
* Each row is sorted, so that edges to the same pair are next to each other.
* The first of these gets the sum of their weights and a flag, unless it leads to its own pair.
* What is flagged is packed, which makes the rows of the contracted graph.

The result is that of :mod:`~edgewise.partitions.contract`, with sorted rows.

S. Manoochehri, "Efficient Transactional-Memory-based Implementation of Morph Algorithms on GPU" (2017),
section 4.4.2.
"""

import numpy as np

from edgewise.device import arrays, each, each_row, fetch_add
from edgewise.partitions.levels import Level, weight_at, with_rows
from edgewise.primitives import exclusive_scan
from edgewise.primitives.segments import segment_numbers, segmented_order, segmented_pack


@each
def _add_up(vertex, level, clusters, sizes, degrees):
    cluster = np.int64(clusters[vertex])
    fetch_add(sizes, cluster, level.sizes[vertex])
    fetch_add(degrees, cluster, level.offsets[vertex + 1] - level.offsets[vertex])


@each_row
def _copy_row(row, lane, lanes, level, mates, clusters, bounds, columns):
    """Copy the row of a vertex to that of its pair, after the row of the first one of the pair."""
    ends, weights = columns
    mate, at = np.int64(mates[row]), bounds[np.int64(clusters[row])]
    if mate < row:
        at += level.offsets[mate + 1] - level.offsets[mate]
    first = level.offsets[row]
    for entry in range(first + lane, level.offsets[row + 1], lanes):
        ends[at + entry - first] = clusters[level.neighbours[entry]]
        weights[at + entry - first] = weight_at(level, entry)


@each
def _flag(item, ends, segments, is_head, is_kept):
    head = item == 0 or ends[item] != ends[item - 1] or segments[item] != segments[item - 1]
    is_head[item] = head
    is_kept[item] = head and np.int64(ends[item]) != segments[item]


@each
def _add_run(run, heads, sums, weights):
    """Write the total weight of the items from one head to the next at the first of the two."""
    weights[heads[run]] = sums[heads[run + 1]] - sums[heads[run]]


def contract_by_sorting(level, mates, clusters, n_clusters):
    """The level of the pairs; ``clusters`` are their numbers, and ``mates`` those of the vertices in them."""
    where, n = arrays.device_of(level.offsets), len(level.sizes)
    xp, kind = arrays.namespace(where), level.neighbours.dtype
    sizes, degrees = (arrays.zeros(n_clusters, np.int64, where) for _ in range(2))
    _add_up(n, level, clusters, sizes, degrees)
    bounds = exclusive_scan(degrees)
    total = len(level.neighbours)
    ends, weights = arrays.empty(total, kind, where), arrays.empty(total, level.weights.dtype, where)
    _copy_row(n, level, mates, clusters, bounds, (ends, weights), width="warp")
    order = segmented_order(ends, bounds)
    ends, weights = (arrays.move(column[order], where) for column in (ends, weights))
    is_head, is_kept = (arrays.empty(total, np.bool_, where) for _ in range(2))
    _flag(total, ends, segment_numbers(bounds), is_head, is_kept)
    heads = arrays.full(int(is_head.sum()) + 1, total, np.int64, where)
    heads[:-1] = xp.flatnonzero(is_head)
    _add_run(len(heads) - 1, heads, exclusive_scan(weights), weights)
    neighbours, offsets = segmented_pack(ends, is_kept, bounds)
    rows = (offsets, neighbours, weights[is_kept])
    moved = [arrays.move(column, where) for column in rows]
    return with_rows(Level._make([*moved, sizes, arrays.empty(0, kind, where)]))
