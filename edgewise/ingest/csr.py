"""Edge list to compressed sparse rows (CSR), in parallel.

On the CPU by buckets of rows (:mod:`~edgewise.ingest.row_buckets`).  On a GPU by one radix sort of (row,
neighbour) packed into 64 bits, which is faster there than scattered atomics.  Few edges are packed and sorted
by NumPy, also those of a GPU, since nothing has to be compiled or loaded there.

Every way, and for any number of threads, rows are in ascending order of neighbour, and entries of equal
neighbours in order of edge number.
"""

import numpy as np

from edgewise import tuning
from edgewise.device import arrays, each
from edgewise.device.target import cpu_compiler_is_loaded
from edgewise.device.warps import warp_aggregated_add
from edgewise.errors import OptionError, argument, one_of
from edgewise.index_type import MAX_UINT32
from edgewise.ingest.row_buckets import NONE, rows_by_buckets, transposed
from edgewise.primitives import histogram
from edgewise.primitives.rows import row_numbers

#: The edges of a directed graph that degrees count.
DIRECTIONS = ("out", "in", "both")
#: Largest number of empty rows in a run whose offsets the entry after them writes.
MAX_RUN = 64
#: Bits of half a packed entry.
HALF = np.uint64(32)
#: What is packed where there is no entry: it is sorted to the end.
NO_ENTRY = np.uint64(2**64 - 1)


def few_edges(device):
    """Edges up to which NumPy is faster than a kernel, or, on the CPU, than the import of the compiler."""
    loaded = device != "cpu" or cpu_compiler_is_loaded()
    return tuning.CPU.ingest_few if loaded else tuning.CPU.ingest_first


def rows_from_edges(vertices, sources, targets, both, with_edges=False):
    """Sort edges into rows; ``both`` also enters every edge (except a self-loop) in the row of its target.

    Returns (vertices + 1,) int64 ``offsets``, (entries,) ``neighbours``, and the (entries,) int64 edge number
    of each entry, or ``None`` unless ``with_edges``.
    """
    where = arrays.device_of(sources)
    by = rows_by_buckets if where == "cpu" else _by_radix_sort
    few = few_edges(where)
    if len(sources) <= few and vertices <= (MAX_UINT32 if where == "cpu" else few):
        by = _by_sorting
    return by(vertices, sources, targets, both, with_edges)


def reversed_rows(offsets, neighbours, with_entries=False):
    """The rows of the other direction, in ascending order; those of an undirected graph are sorted so.

    Returns offsets, neighbours, and the entry that each of these was, or ``None`` unless ``with_entries``.
    """
    where = arrays.device_of(offsets)
    if where != "cpu" or len(neighbours) <= few_edges(where):
        sources = row_numbers(offsets, neighbours.dtype)
        return rows_from_edges(len(offsets) - 1, neighbours, sources, False, with_entries)
    rows = transposed(offsets, neighbours, np.arange(len(neighbours)) if with_entries else NONE)
    return rows.offsets, rows.neighbours, rows.numbers if with_entries else None


def _by_sorting(vertices, sources, targets, both, with_edges):
    where = arrays.device_of(sources)
    sources, targets = arrays.move(sources, "cpu"), arrays.move(targets, "cpu")
    rows, others = sources.astype(np.uint64), targets.astype(np.uint64)
    keys, edges = rows << HALF | others, np.arange(len(rows) if with_edges else 0)
    if both:
        keys = np.stack((keys, others << HALF | rows), axis=1).ravel()
        is_entry = np.stack((np.ones(len(rows), bool), rows != others), axis=1).ravel()
        keys, edges = keys[is_entry], edges.repeat(2)[is_entry] if with_edges else edges
    if with_edges:
        order = keys.argsort(kind="stable")
        keys, edges = keys[order], edges[order]
    else:
        keys.sort()
    offsets = np.zeros(vertices + 1, np.int64)
    np.bincount((keys >> HALF).astype(np.int64), minlength=vertices).cumsum(out=offsets[1:])
    neighbours = keys.astype(np.uint32).astype(sources.dtype)
    offsets, neighbours, edges = (arrays.move(array, where) for array in (offsets, neighbours, edges))
    return offsets, neighbours, edges if with_edges else None


@each
def _pack_edges(edge, sources, targets, both, keys, n_loops):
    """Pack the entry of an edge and, if ``both``, the one of the other direction: none for a self-loop."""
    source, target = np.uint64(sources[edge]), np.uint64(targets[edge])
    if not both:
        keys[edge] = source << HALF | target
        return
    keys[2 * edge] = source << HALF | target
    if source == target:
        keys[2 * edge + 1] = NO_ENTRY
        warp_aggregated_add(n_loops, 0)
    else:
        keys[2 * edge + 1] = target << HALF | source


@each
def _take_sorted(entry, order, both, packed, keys, edges):
    """Take the entry that is next in order, and the number of its edge."""
    keys[entry] = packed[order[entry]]
    edges[entry] = order[entry] >> both  # an edge has two entries if both


def _by_radix_sort(vertices, sources, targets, both, with_edges):
    if vertices > MAX_UINT32:
        problem = f"{vertices} vertices are too many for a GPU to sort"
        raise OptionError(f"{problem}; use {argument('device', 'cpu')}")
    where, m = arrays.device_of(sources), len(sources)
    keys, n_loops = arrays.empty(m << int(both), np.uint64, where), arrays.zeros(1, np.int64, where)
    _pack_edges(m, sources, targets, int(both), keys, n_loops)
    edges = None
    if with_edges:  # by a stable sort, so that entries of equal neighbours stay in the order of their edges
        order, packed = keys.argsort(kind="stable"), keys
        keys, edges = arrays.empty(len(packed), np.uint64, where), arrays.empty(len(packed), np.int64, where)
        _take_sorted(len(packed), order, int(both), packed, keys, edges)
    else:
        keys.sort()
    entries = len(keys) - (int(n_loops[0]) if both else 0)
    offsets = arrays.full(vertices + 1, -1, np.int64, where)
    neighbours = arrays.empty(entries, sources.dtype, where)
    _unpack_entries(entries + 1, keys, entries, vertices, neighbours, offsets)
    _find_row(vertices + 1, keys, entries, offsets)
    return offsets, neighbours, edges if edges is None else edges[:entries]


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


def degrees(graph, direction):
    """Number of CSR entries of each vertex; see :meth:`edgewise.Graph.degrees`."""
    if direction not in DIRECTIONS:
        raise OptionError(f"{argument('direction', direction)} is unknown; {one_of(direction, DIRECTIONS)}")
    outgoing = 0 if direction == "in" and graph.directed else graph.offsets[1:] - graph.offsets[:-1]
    if not graph.directed or direction == "out":
        return outgoing
    targets = graph._edges[1] if graph._edges is not None else graph._rows[1]
    with arrays.guard(graph.device):
        return outgoing + histogram(targets, graph.n_vertices)
