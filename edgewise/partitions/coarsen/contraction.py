"""Contraction: the graph of the clusters, in which the edges between two clusters are one.

Clusters are numbered in the order of their labels.  The row of a cluster is the sum of the rows of its
vertices, by label of the neighbours: on the CPU a worker knows the place of each cluster in the row, on a GPU
every entry is added in a table for each cluster, as in :mod:`~edgewise.partitions.ratings`.  The order of the
entries in a row is left open; nothing depends on it.

A row is shorter than the rows of its vertices in all, by how much is known only when it is there.  So the CPU
takes some clusters at a time, whose rows are written with gaps into memory that the next ones use again, and
then copied to the end of the graph.  No more memory is touched than that and the graph of the clusters.

L. Gottesbüren, N. Maas, D. Salwasser, P. Sanders and D. Seemaier, "Tera-scale multilevel graph partitioning"
(IPDPS 2025), contract in one pass for the same reason.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, each, fetch_add, parallel_region, regions, threads
from edgewise.device.shares import next_chunk
from edgewise.partitions.levels import NARROW, Level, are_few, part_weights, size_at, weight_at, with_rows
from edgewise.partitions.rating import NO_LABEL
from edgewise.partitions.ratings import IN_A_LINE, TOTALS_BYTES, claim_slot
from edgewise.partitions.row_shares import WORKER_ITEMS
from edgewise.primitives import exclusive_scan
from edgewise.primitives.counting_sort import gather, mark, scan

#: Clusters that a worker takes at a time.
CHUNK = 16
#: Entries whose clusters are contracted at a time, at least, and turns of a large graph, about.  A turn ends
#: when its largest cluster is done, so that many workers need large ones.
TURN_ENTRIES, TURNS = 1 << 20, 64


class Members(NamedTuple):
    """The vertices of each cluster.

    Attributes
    ----------
    clusters : (n,) index array
        The number of each vertex's cluster.
    starts : (clusters + 1,) int64 array
    vertices : (n,) index array
        Those of cluster ``c`` are at ``starts[c]`` to ``starts[c + 1] - 1``, in any order.
    bounds : (clusters + 1,) int64 array
        Prefix sums of the numbers of entries in the rows of the vertices of the clusters; on the CPU one more
        for each cluster.
    """

    clusters: Any
    starts: Any
    vertices: Any
    bounds: Any


@each
def _count(vertex, offsets, weights, clusters, sums):
    sizes, members, entries = sums
    cluster = np.int64(clusters[vertex])
    fetch_add(sizes, cluster, size_at(weights, vertex))
    fetch_add(members, cluster, 1)
    fetch_add(entries, cluster, offsets[vertex + 1] - offsets[vertex])


@each
def _place(vertex, clusters, cursors, vertices):
    vertices[fetch_add(cursors, np.int64(clusters[vertex]), 1)] = vertex


class Turn(NamedTuple):
    """Clusters that are contracted at a time, and their rows.

    Attributes
    ----------
    first : int
        The first of the clusters.
    base : int
        Its bound.
    neighbours : (entries,) index array
    weights : (entries,) int32 or int64 array
        The row of a cluster is at its bound less the base.
    counts : (clusters,) int64 array
        Numbers of the entries of the rows.
    """

    first: int
    base: int
    neighbours: Any
    weights: Any
    counts: Any


@parallel_region
def _add_rows(worker, level, members, places, now, shares):
    """Write the row of each cluster of a turn, and its number of entries.

    ``places`` has, for each worker and each cluster, one more than where the cluster was last written, from
    the bound of the first one of all on.  A place outside of what has been written of a row is one of another
    row.  The cluster itself is the first of its row, and left out in the end.
    """
    neighbours, weights, before = now.neighbours, now.weights, now.base
    base = worker.id * (len(places) // worker.count)
    turn, first, last = next_chunk(0, shares, len(now.counts), CHUNK, worker.id)
    while first < last:
        for cluster in range(now.first + first, now.first + last):
            start = members.bounds[cluster]
            neighbours[start - before], weights[start - before] = cluster, 0
            places[base + cluster] = start + 1
            end = start + 1
            for member in range(members.starts[cluster], members.starts[cluster + 1]):
                vertex = np.uint64(members.vertices[member])
                for entry in range(level.offsets[vertex], level.offsets[vertex + np.uint64(1)]):
                    other = members.clusters[level.neighbours[np.uint64(entry)]]
                    slot = np.uint64(base + np.int64(other))
                    written = np.int64(places[slot]) - 1
                    is_new = (written < start) | (written >= end)
                    at = end if is_new else written
                    place = np.uint64(at - before)
                    held = np.int64(weights[place])
                    weights[place] = (0 if is_new else held) + weight_at(level, np.uint64(entry))
                    neighbours[place] = other
                    places[slot] = at + 1
                    end += is_new
            end -= 1
            row, kept = start - before, end - before
            neighbours[row], weights[row] = neighbours[kept], weights[kept]
            now.counts[cluster - now.first] = end - start
        turn, first, last = next_chunk(turn, shares, len(now.counts), CHUNK, worker.id)


@each
def _copy_row(row, now, bounds, offsets, output):
    neighbours, weights = output
    here, there = bounds[row] - now.base, offsets[row]
    for entry in range(now.counts[row]):
        neighbours[there + entry] = now.neighbours[here + entry]
        weights[there + entry] = now.weights[here + entry]


@each
def _add_entry(entry, level, members, keys, sums, counts):
    row, other = np.int64(level.rows[entry]), np.int64(members.clusters[level.neighbours[entry]])
    cluster = np.int64(members.clusters[row])
    if cluster != other:
        base = 2 * members.bounds[cluster]
        slot = claim_slot(keys, base, 2 * members.bounds[cluster + 1] - base, other)
        if fetch_add(sums, slot, weight_at(level, entry)) == 0:
            fetch_add(counts, cluster, 1)


def _numbered(labels):
    """The number of each vertex's cluster, in the order of the labels: (n,) index array; and how many."""
    where, n = arrays.device_of(labels), len(labels)
    used = arrays.zeros(n, np.uint8, where)
    mark(used, labels)
    numbers = _scan(used)
    return gather(numbers, labels, labels.dtype), int(numbers[-1])


def _scan(sizes):
    """Offsets of consecutive groups from their sizes, (n + 1,) int64."""
    if arrays.device_of(sizes) == "cpu":
        return scan(sizes)
    return arrays.move(exclusive_scan(sizes), arrays.device_of(sizes))


def contract(level, labels):
    """Contract clusters; return the graph of the clusters and the cluster of each vertex, an index array."""
    where, n = arrays.device_of(level.offsets), len(level.offsets) - 1
    clusters, n_clusters = _numbered(labels)
    if are_few(level.offsets, level.neighbours):
        degrees, none = np.diff(level.offsets), np.empty(0, np.int64)
        sizes, counts, entries = (
            part_weights(one, clusters, n_clusters) for one in (level.sizes, none, degrees)
        )
        entries += 1
    else:
        sizes, counts = (arrays.zeros(n_clusters, np.int64, where) for _ in range(2))
        entries = arrays.full(n_clusters, int(where == "cpu"), np.int64, where)
        _count(n, level.offsets, level.sizes, clusters, (sizes, counts, entries))
    none = arrays.empty(0, labels.dtype, where)
    members = Members(clusters, _scan(counts), none, _scan(entries))
    form = (none.dtype, level.weights.dtype)
    rows = _by_rows(level, members, form) if where == "cpu" else _by_entries(level, members, form)
    return with_rows(Level._make([*rows, sizes, none])), clusters


def _by_rows(level, members, form):
    n, n_clusters, total = len(level.offsets) - 1, len(members.starts) - 1, int(members.bounds[-1])
    is_few = are_few(level.offsets, level.neighbours)
    if is_few:
        narrow = members.clusters.astype(np.min_scalar_type(n_clusters))  # 16 bits are sorted by their digits
        vertices = np.argsort(narrow, kind="stable").astype(form[0])
    else:
        vertices = np.empty(n, form[0])
        _place(n, members.clusters, members.starts[:-1].copy(), vertices)
    members = members._replace(vertices=vertices)
    room = (n_clusters // IN_A_LINE + 2) * IN_A_LINE
    kind = np.dtype(np.int32 if total < NARROW else np.int64)
    most = TOTALS_BYTES // (kind.itemsize * room)
    n_workers = max(1, min(regions.workers(), most, n // WORKER_ITEMS))
    places, offsets = np.zeros(room * n_workers, kind), np.zeros(n_clusters + 1, np.int64)
    output, rows = [np.empty(total, one) for one in form], [np.empty(0, one) for one in form]
    for first, end in _turns(members.bounds):
        bounds = members.bounds[first : end + 1]
        if bounds[-1] - bounds[0] > len(rows[0]):
            rows = [np.empty(bounds[-1] - bounds[0], one) for one in form]
        now = Turn(first, int(bounds[0]), rows[0], rows[1], np.empty(end - first, np.int64))
        _add_rows.with_workers(n_workers, level, members, places, now, threads.new_shares(n_workers))
        if is_few and end - first == n_clusters:
            offsets = scan(now.counts)
            kept = np.arange(offsets[-1]) + np.repeat(bounds[:-1] - offsets[:-1], now.counts)
            return offsets, rows[0][kept], rows[1][kept]
        offsets[first : end + 1] = offsets[first] + scan(now.counts)
        _copy_row(end - first, now, bounds, offsets[first : end + 1], tuple(output))
    for one in output:
        one.resize(int(offsets[-1]), refcheck=False)  # in place: no other array has this memory
    return offsets, *output


def _turns(bounds):
    """Ranges of clusters that are contracted at a time: of so many entries, or one cluster."""
    first, most = 0, max(TURN_ENTRIES, int(bounds[-1]) // TURNS)
    while first < len(bounds) - 1:
        end = int(np.searchsorted(bounds, bounds[first] + most, "right")) - 1
        end = max(end, first + 1)
        yield first, end
        first = end


def _by_entries(level, members, form):
    where, n_clusters = arrays.device_of(level.offsets), len(members.starts) - 1
    xp, slots = arrays.namespace(level.offsets), 2 * int(members.bounds[-1])
    keys, sums = arrays.full(slots, NO_LABEL, np.int64, where), arrays.zeros(slots, np.int64, where)
    counts = arrays.zeros(n_clusters, np.int64, where)
    _add_entry(len(level.neighbours), level, members, keys, sums, counts)
    held = xp.flatnonzero(keys != NO_LABEL)
    offsets = _scan(counts)
    columns = keys[held].astype(form[0]), sums[held].astype(form[1])
    return offsets, *(arrays.move(one, where) for one in columns)
