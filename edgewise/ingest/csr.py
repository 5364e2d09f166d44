"""Edge list to compressed sparse rows (CSR), in parallel.

On the CPU by counting sort (see Cormen et al., "Introduction to Algorithms", section 8.2): count the entries
of each row, scan the counts into offsets, write every entry at its row's cursor, sort each row.  On a GPU by
one radix sort of (row, neighbour) packed into 64 bits, which is faster there than scattered atomics.

Both ways, and for any number of threads, rows are in ascending order of neighbour, and entries of equal
neighbours in order of edge number.
"""

import numpy as np

from edgewise.device import arrays, device, each, fetch_add
from edgewise.errors import OptionError, argument
from edgewise.primitives import exclusive_scan

#: Gaps of Shell's sort, each about 2.25 times the next.
GAPS = np.array(
    [1412643, 627841, 279041, 124018, 55119, 24497, 10887, 4839, 2150, 956, 425, 189, 84, 37, 16, 7, 3, 1]
)
#: Largest number of empty rows in a run whose offsets the entry after them writes.
MAX_RUN = 64
NO_EDGES = np.empty(0, np.int64)


@device
def _count_entries(row, other, both, counts):
    fetch_add(counts, row, 1)
    if both and row != other:
        fetch_add(counts, other, 1)


@each
def _count(edge, sources, targets, both, counts):
    _count_entries(sources[edge], targets[edge], both, counts)


@device
def _write_entry(row, neighbour, edge, cursors, neighbours, edges):
    entry = fetch_add(cursors, row, 1)
    neighbours[entry] = neighbour
    if len(edges):
        edges[entry] = edge


@each
def _fill(edge, sources, targets, both, cursors, neighbours, edges):
    source, target = sources[edge], targets[edge]
    _write_entry(source, target, edge, cursors, neighbours, edges)
    if both and source != target:
        _write_entry(target, source, edge, cursors, neighbours, edges)


@each
def _sort_row(row, offsets, neighbours, edges, gaps):
    """Shell sort: in place, no recursion, linear on the nearly sorted rows that sorted input gives."""
    first, end = offsets[row], offsets[row + 1]
    for gap in gaps:
        for entry in range(first + gap, end):
            neighbour = neighbours[entry]
            edge = edges[entry] if len(edges) else 0
            hole = entry
            while hole >= first + gap and _after(neighbours, edges, hole - gap, neighbour, edge):
                neighbours[hole] = neighbours[hole - gap]
                if len(edges):
                    edges[hole] = edges[hole - gap]
                hole -= gap
            neighbours[hole] = neighbour
            if len(edges):
                edges[hole] = edge


@device
def _after(neighbours, edges, entry, neighbour, edge):
    if neighbours[entry] != neighbour or not len(edges):
        return neighbours[entry] > neighbour
    return edges[entry] > edge


def rows_from_edges(vertices, sources, targets, both, with_edges=False):
    """Sort edges into rows; ``both`` also enters every edge (except a self-loop) in the row of its target.

    Returns (vertices + 1,) int64 ``offsets``, (entries,) ``neighbours``, and the (entries,) int64 edge number
    of each entry, or ``None`` unless ``with_edges``.
    """
    by = _by_counting if arrays.device_of(sources) == "cpu" else _by_radix_sort
    return by(vertices, sources, targets, both, with_edges)


def _by_counting(vertices, sources, targets, both, with_edges):
    counts = np.zeros(vertices, np.int64)
    _count(len(sources), sources, targets, both, counts)
    offsets = exclusive_scan(counts)
    neighbours = np.empty(offsets[-1], sources.dtype)
    edges = np.empty(offsets[-1], np.int64) if with_edges else NO_EDGES
    _fill(len(sources), sources, targets, both, offsets[:-1].copy(), neighbours, edges)
    gaps = GAPS[GAPS < max(2, int(counts.max(initial=0)))]
    _sort_row(vertices, offsets, neighbours, edges, gaps)
    return offsets, neighbours, edges if with_edges else None


@each
def _pack_entries(edge, sources, targets, keys):
    keys[edge] = (np.uint64(sources[edge]) << np.uint64(32)) | np.uint64(targets[edge])


def _by_radix_sort(vertices, sources, targets, both, with_edges):
    if vertices > 2**32:
        problem = f"{vertices} vertices are too many for a GPU to sort"
        raise OptionError(f"{problem}; use {argument('device', 'cpu')}")
    xp, where, m = arrays.namespace(sources), arrays.device_of(sources), len(sources)
    if both:
        proper = xp.flatnonzero(sources != targets)
        proper = None if len(proper) == m else proper
        back = (targets, sources) if proper is None else (targets[proper], sources[proper])
    keys = arrays.empty(m + (len(back[0]) if both else 0), np.uint64, where)
    _pack_entries(m, sources, targets, keys)
    if both:
        _pack_entries(len(back[0]), *back, keys[m:])
    edges = None
    if with_edges:
        edges = xp.arange(m)
        if both:
            edges = xp.concatenate([edges, edges if proper is None else proper])
        order = xp.lexsort(xp.stack([edges.astype(np.uint64), keys]))
        keys, edges = keys[order], edges[order]
    else:
        keys.sort()
    offsets = arrays.full(vertices + 1, -1, np.int64, where)
    neighbours = arrays.empty(len(keys), sources.dtype, where)
    _unpack_entries(len(keys) + 1, keys, len(keys), vertices, neighbours, offsets)
    _find_row(vertices + 1, keys, len(keys), offsets)
    return offsets, neighbours, edges


@each
def _unpack_entries(entry, keys, entries, vertices, neighbours, offsets):
    """Write the neighbour, and the offsets of the rows that begin here, except in a long run of them."""
    before = np.int64(keys[entry - 1] >> np.uint64(32)) if entry > 0 else np.int64(-1)
    row = np.int64(vertices) if entry == entries else np.int64(keys[entry] >> np.uint64(32))
    if entry < entries:
        neighbours[entry] = keys[entry] & np.uint64(0xFFFFFFFF)
    for started in range(max(before + 1, row + 1 - MAX_RUN), row + 1):
        offsets[started] = entry


@each
def _find_row(row, keys, entries, offsets):
    """Find the first entry of a row in a long run of empty ones by bisection."""
    if offsets[row] < 0:
        first, end = np.int64(0), np.int64(entries)
        while first < end:
            middle = (first + end) // 2
            if np.int64(keys[middle] >> np.uint64(32)) < row:
                first = middle + 1
            else:
                end = middle
        offsets[row] = first
