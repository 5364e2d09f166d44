"""Edge list to compressed sparse rows on all CPU cores, by buckets of rows.

A bucket is a range of rows whose entries fit a core's cache.  Blocks of edges count how many entries they
have for each bucket; the sums of these are the places to which the blocks then move their entries.  So no
pass needs an atomic operation, and a block writes to some hundred places that advance.  Then each bucket is
one core's, which counts the entries of its rows and puts them in the rows.

Entries of a row keep the order of the edges.  So sorted edges give sorted rows, and so do edges in the order
of their targets; counting finds out whether they are.  Others take two passes, as by a radix sort: first rows
of the targets, whose entries in their order then give sorted rows of the sources.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, device, each, threads
from edgewise.primitives.counting_sort import bounds_of, starts_by_key

#: Entries of a bucket, about, and most buckets: as many places as a core can write in turn.
BUCKET_ENTRIES, MAX_BUCKETS = 1 << 16, 256
#: Blocks of edges for each thread, and edges of the smallest block.
BLOCKS, BLOCK_EDGES = 4, 1 << 12
#: Entries that wait in buckets at the same time, about, each 8 bytes, or 16 with its number.
WAITING = 1 << 27
#: Edges of a sample, and how many of them follow each other.
SAMPLE, WINDOW = 1 << 12, 1 << 6
NONE = np.empty(0, np.int64)


class Edges(NamedTuple):
    """The edges, and how they are divided.

    If ``offsets`` are not empty, the edges are the entries of other rows, whose numbers are the neighbours.
    """

    rows: Any  # (m,) index array
    neighbours: Any  # (m,) index array, or empty
    offsets: Any  # int64
    numbers: Any  # (m,) int64, or empty where they are not wanted
    both: int  # whether an edge is an entry of its neighbour's row, too
    bounds: Any  # (blocks + 1,) int64: those of the blocks


class Buckets(NamedTuple):
    """Some buckets, and the entries that wait in them."""

    shift: int  # bits of a row's number within its bucket
    first: int  # number of the first bucket
    bounds: Any  # (buckets + 1,) int64: where the entries of each begin
    rows: Any  # (count,) index array
    neighbours: Any  # (count,) index array
    numbers: Any  # (count,) int64, or empty


class Rows(NamedTuple):
    """The result: rows, and the numbers of the entries, or none."""

    offsets: Any
    neighbours: Any
    numbers: Any


@device
def first_row(offsets, entry):
    """The last row that begins at the entry or before it; 0 without offsets."""
    first, end = np.int64(0), np.int64(len(offsets))
    while end - first > 1:
        middle = (first + end) >> 1
        if offsets[middle] <= entry:
            first = middle
        else:
            end = middle
    return first


@device
def _neighbour_of(edges, edge, row):
    """The neighbour of an edge; that of the edge before was ``row``, if edges are entries of rows."""
    if len(edges.offsets) == 0:
        return np.int64(edges.neighbours[edge])
    while edges.offsets[row + 1] <= edge:
        row += 1
    return row


@partial(each, least_chunk=1)
def _count_entries(block, edges, shift, n_buckets, counts, ordered):
    """Count a block's entries by bucket, and find out whether its edges are sorted."""
    base, by_row, by_neighbour = block * n_buckets, True, not edges.both
    first, end = edges.bounds[block], edges.bounds[block + 1]
    before = max(first - 1, 0)
    neighbour = first_row(edges.offsets, before)
    last_row, last = np.int64(edges.rows[before]), _neighbour_of(edges, before, neighbour)
    for edge in range(first, end):
        row, neighbour = np.int64(edges.rows[edge]), _neighbour_of(edges, edge, neighbour)
        counts[base + (row >> shift)] += 1
        if edges.both and row != neighbour:
            counts[base + (neighbour >> shift)] += 1
        if row < last_row or (row == last_row and neighbour < last) or (edges.both and neighbour < row):
            by_row = False
        if neighbour < last:
            by_neighbour = False
        last_row, last = row, neighbour
    ordered[2 * block], ordered[2 * block + 1] = by_row, by_neighbour


@device
def _move_entry(row, neighbour, edge, edges, buckets, starts, base):
    """Move an entry to its bucket, if that is one of these."""
    bucket = (row >> buckets.shift) - buckets.first
    if bucket < 0 or bucket >= len(buckets.bounds) - 1:
        return
    place = starts[base + bucket]
    starts[base + bucket] = place + 1
    buckets.rows[place], buckets.neighbours[place] = row, neighbour
    if len(edges.numbers):
        buckets.numbers[place] = edges.numbers[edge]


@partial(each, least_chunk=1)
def _move_entries(block, edges, buckets, starts):
    base, neighbour = block * (len(buckets.bounds) - 1), first_row(edges.offsets, edges.bounds[block])
    for edge in range(edges.bounds[block], edges.bounds[block + 1]):
        row, neighbour = np.int64(edges.rows[edge]), _neighbour_of(edges, edge, neighbour)
        _move_entry(row, neighbour, edge, edges, buckets, starts, base)
        if edges.both and row != neighbour:
            _move_entry(neighbour, row, edge, edges, buckets, starts, base)


@partial(each, least_chunk=1)
def _put_in_rows(bucket, buckets, base, rows):
    """Put the entries of a bucket in their rows, in the order in which they wait."""
    offsets, (begin, end) = rows.offsets, (buckets.bounds[bucket], buckets.bounds[bucket + 1])
    first_row = (buckets.first + bucket) << buckets.shift
    end_row = min(first_row + (1 << buckets.shift), len(offsets) - 1)
    for row in range(first_row, end_row):
        offsets[row + 1] = 0
    for place in range(begin, end):
        offsets[np.int64(buckets.rows[place]) + 1] += 1
    at = base + begin
    for row in range(first_row, end_row):
        size = offsets[row + 1]
        offsets[row + 1] = at
        at += size
    for place in range(begin, end):
        behind = np.int64(buckets.rows[place]) + 1
        entry = offsets[behind]
        offsets[behind] = entry + 1
        rows.neighbours[entry] = buckets.neighbours[place]
        if len(buckets.numbers):
            rows.numbers[entry] = buckets.numbers[place]


def _parts(bounds):
    """Ranges of buckets in which about so many entries wait as may."""
    first, n_buckets = 0, len(bounds) - 1
    while first < n_buckets:
        end = int(np.searchsorted(bounds, bounds[first] + WAITING, "right")) - 1
        end = min(max(end, first + 1), n_buckets)
        yield first, end
        first = end


def _bits_within_bucket(vertices, count):
    """Bits of a row's number within its bucket, for so many entries."""
    n_buckets = min(max(count // BUCKET_ENTRIES, 1), MAX_BUCKETS)
    return max(-(-vertices // n_buckets) - 1, 0).bit_length()


def _stable_rows(vertices, edges, only_sorted):
    """Rows whose entries are in the order of the edges; None if these are not sorted and must be."""
    blocks, shift = len(edges.bounds) - 1, _bits_within_bucket(vertices, len(edges.rows) << edges.both)
    n_buckets = max(-(-vertices >> shift), 1)
    counts, ordered = np.zeros(blocks * n_buckets, np.int64), np.empty(2 * blocks, bool)
    _count_entries(blocks, edges, shift, n_buckets, counts, ordered)
    if only_sorted and not ordered.reshape(blocks, 2).all(axis=0).any():
        return None
    starts, bounds = starts_by_key(counts, blocks)
    starts, n_entries, kind = starts.reshape(blocks, n_buckets), int(bounds[-1]), edges.rows.dtype
    numbered = len(edges.numbers) > 0
    rows = Rows(np.empty(vertices + 1, np.int64), *_lists(n_entries, kind, numbered))
    rows.offsets[0] = 0
    for first, end in _parts(bounds):
        base = int(bounds[first])
        lists = _lists(int(bounds[end]) - base, kind, numbered)
        waiting_rows = np.empty(len(lists[0]), kind)
        buckets = Buckets(shift, first, bounds[first : end + 1] - base, waiting_rows, *lists)
        _move_entries(blocks, edges, buckets, np.ascontiguousarray(starts[:, first:end]).reshape(-1) - base)
        _put_in_rows(end - first, buckets, base, rows)
    return rows


def _lists(count, kind, numbered):
    """New lists of neighbours and of numbers."""
    return np.empty(count, kind), np.empty(count, np.int64) if numbered else NONE


def _divided(rows, neighbours, offsets, numbers, both):
    """The edges in blocks."""
    blocks = max(1, min(threads.count() * BLOCKS, len(rows) // BLOCK_EDGES))
    return Edges(rows, neighbours, offsets, numbers, int(both), bounds_of(len(rows), blocks))


def transposed(offsets, neighbours, numbers=NONE):
    """The rows of the other direction, in order, with the ``numbers`` of the entries if there are any."""
    if len(neighbours) == 0:
        return Rows(np.zeros_like(offsets), neighbours, numbers)
    edges = _divided(neighbours, neighbours[:0], offsets, numbers, False)
    return _stable_rows(len(offsets) - 1, edges, False)


def seem_sorted(sources, targets, both) -> bool:
    """Whether a sample of edges is in order, as :func:`_count_entries` finds out of all.

    Of edges that are one number in memory, as those of a file that has not been read, nothing is known.
    """
    if len(sources) == 0 or arrays.is_one_number(sources):
        return False
    windows = np.arange(min(len(sources), SAMPLE)) * (len(sources) - 1) // SAMPLE
    places = np.unique(windows[::WINDOW, None] + np.arange(WINDOW))
    places = places[places < len(sources)]
    rows, neighbours = sources[places].astype(np.int64), targets[places].astype(np.int64)
    by_row = (rows[1:] > rows[:-1]) | ((rows[1:] == rows[:-1]) & (neighbours[1:] >= neighbours[:-1]))
    if both:
        return bool(by_row.all() and (neighbours >= rows).all())
    return bool(by_row.all() or (neighbours[1:] >= neighbours[:-1]).all())


def bytes_to_make_rows(size, are_sorted=False) -> int:
    """Bytes at the peak of :func:`rows_by_buckets`, for a :class:`~edgewise.needs.Size`.

    Rows are made twice unless the edges are sorted; with numbers if there are weights to be moved.
    """
    number, waiting = 8 if size.weight else 0, min(size.entries, WAITING)
    rows = 8 * size.vertices + (size.width + number) * size.entries
    return (1 if are_sorted else 2) * rows + (2 * size.width + number) * waiting + number * size.edges


def bytes_to_reverse_rows(size) -> int:
    """Bytes at the peak of :func:`transposed`, without numbers."""
    return 8 * size.vertices + size.width * (size.entries + 2 * min(size.entries, WAITING))


def bytes_of_rows(size) -> int:
    """Bytes of the rows with their weights."""
    return 8 * size.vertices + (size.width + size.weight) * size.entries


def rows_by_buckets(vertices, sources, targets, both, with_edges):
    """As :func:`~edgewise.ingest.csr.rows_from_edges`, on the CPU."""
    if len(sources) == 0:
        none = NONE if with_edges else None
        return np.zeros(vertices + 1, np.int64), sources[:0], none
    numbers = np.arange(len(sources)) if with_edges else NONE
    rows = _stable_rows(vertices, _divided(sources, targets, NONE, numbers, both), True)
    if rows is None:
        rows = _stable_rows(vertices, _divided(targets, sources, NONE, numbers, both), False)
        rows = transposed(*rows)
    return rows.offsets, rows.neighbours, rows.numbers if with_edges else None
