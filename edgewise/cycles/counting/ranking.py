"""The ranks of a graph, which are found once, on its device, and cached with the graph.

**On the CPU** this is a counting sort by blocks, each with cursors of its own, because an atomic cursor would
wait for memory at every edge.  Rows that are sorted are copied in the order of their ranks; of an edge list,
both endpoints of every edge are appended to the row of the other.  Appending each of these rows, in ascending
order, to the rows of its entries sorts them.  If an edge list repeats edges, which are now side by side, the
rows are built again from the distinct ones, since degrees and ranks have changed.  No pass over all vertices
or edges is serial.

**On a GPU** two sorts of integers rank rows.  The first sorts the vertices: a key has the degree in its upper
half and the vertex in its lower.  The second sorts the entries, by the rank of their row and then their own.
Rows are symmetric, so nothing else is needed, and the host waits once.  Self-loops and repeated entries,
which the rows of a simple graph do not have, are found on the way: they are sorted to the end, and taken from
the degrees.  If there are any, the ranks were those of wrong degrees, and all is done again with the right
ones.  Repeated entries are side by side, if rows ascend; rows that do not are sorted first.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.counting.ranked import CSR, Ranked, RankedCSR, check_undirected, even_pieces
from edgewise.device import arrays, compiled, device, each, fetch_add, store, threads
from edgewise.device.prefetch import prefetch
from edgewise.device.warps import warp_aggregated_add
from edgewise.errors import OptionError, argument
from edgewise.index_type import index_type
from edgewise.ingest.csr import reversed_rows
from edgewise.primitives import ascending, exclusive_scan
from edgewise.primitives.counting_sort import bounds_of, counting_order, offsets_in_order
from edgewise.primitives.rows import row_of

#: Upper bound of the blocks of edges, each with n cursors, as a multiple of m / n: it bounds their memory.
BLOCKS_BY_DENSITY = 4
#: How many edges ahead a cursor is prefetched.
AHEAD_CURSOR = 16
#: How many edges ahead the entry to which a cursor points is prefetched.
AHEAD_ENTRY = 8
#: Degrees that vertices are sorted by at first; their counters fit the caches.
DEGREES = 1 << 11
#: Bits of half a key of a GPU, a mask of the lower half, and the key of an entry that is left out.
HALF = 32
LOWER = (1 << HALF) - 1
NO_ENTRY = 2**63 - 1


def prepare_cycles(graph):
    """Rank an undirected graph before its cycles are counted."""
    check_undirected(graph)
    ranked_of(graph)


def ranked_of(graph) -> Ranked:
    """The simple graph of an undirected graph, ranked, on the same device; it is cached with the graph."""

    def rank():
        with arrays.guard(graph.device):
            if graph.device != "cpu":
                return by_keys(graph.offsets, graph.neighbours)
            if "rows" in graph.made_of:
                return by_rows(sorted_rows(graph))
            return by_counting(graph.n_vertices, graph.sources, graph.targets)

    return graph.cached("ranked", rank)


class RowFacts(NamedTuple):
    """What one pass over rows finds; numbers, or arrays with one for each piece of the rows.

    ``pairs`` is a bound of the pairs of a lower and a higher neighbour of the same vertex, ``longest`` the
    entries of the longest row.  ``falls`` are entries that are not above the one before in the same row.
    """

    pairs: Any
    longest: Any
    falls: Any


@partial(each, least_chunk=1)
def _measure_rows(piece, bounds, rows, facts):
    """Measure the rows of a piece.

    Falls are those of all entries as one sequence, which takes no branch, less those where a row begins.
    """
    offsets, neighbours = rows
    begin, last = offsets[bounds[piece]], np.int64(len(neighbours) - 1)
    pairs = longest = falls = np.int64(0)
    for vertex in range(bounds[piece], bounds[piece + 1]):
        first, degree = offsets[vertex], offsets[vertex + 1] - offsets[vertex]
        pairs += (degree >> 1) * (degree - (degree >> 1))
        longest = max(longest, degree)
        here, before = np.uint64(min(first, last)), np.uint64(max(first - 1, 0))
        falls -= (degree > 0) & (first > begin) & (neighbours[here] <= neighbours[before])
    for entry in range(np.uint64(begin + 1), np.uint64(offsets[bounds[piece + 1]])):
        falls += neighbours[entry] <= neighbours[entry - np.uint64(1)]
    facts.pairs[piece], facts.longest[piece], facts.falls[piece] = pairs, longest, falls


def row_facts(graph) -> RowFacts:
    """Facts of the rows of an undirected graph on the host; cached with the graph."""

    def measure():
        rows = CSR(graph.offsets, graph.neighbours)
        if not len(rows.neighbours):
            return RowFacts(0, 0, 0)
        pieces = even_pieces(rows.offsets)
        facts = RowFacts(*np.empty((3, len(pieces) - 1), np.int64))
        _measure_rows(len(pieces) - 1, pieces, rows, facts)
        return RowFacts(sum(facts.pairs.tolist()), int(facts.longest.max()), int(facts.falls.sum()))

    return graph.cached("row facts", measure)


class Faults(NamedTuple):
    """Entries of rows; numbers, or arrays with one for each piece of the rows.

    These are self-loops, others that are equal to the one before in their row, and those below it.
    """

    self_loops: Any
    repeated: Any
    descents: Any


@partial(each, least_chunk=1)
def _find_faults(piece, bounds, rows, faults):
    """Count the faults of the rows of a piece."""
    self_loops = repeated = descents = np.int64(0)
    for vertex in range(bounds[piece], bounds[piece + 1]):
        before = np.int64(-1)
        for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
            neighbour = np.int64(rows.neighbours[np.uint64(entry)])
            self_loops += neighbour == vertex
            repeated += (neighbour == before) & (neighbour != vertex)
            descents += neighbour < before
            before = neighbour
    faults.self_loops[piece], faults.repeated[piece], faults.descents[piece] = self_loops, repeated, descents


def faults_of_rows(graph) -> Faults:
    """Faults of the rows of a graph on the host, in numbers; cached with the graph."""
    return graph.cached("faults of rows", lambda: _faults_of(CSR(graph.offsets, graph.neighbours)))


def have_descents(graph) -> bool:
    """Whether rows of a graph on the host, if there are any yet and they have been read, do not ascend."""
    is_read = graph.has_rows and not arrays.is_one_number(graph._rows[1])
    return is_read and row_facts(graph).falls > 0 and faults_of_rows(graph).descents > 0


def _faults_of(rows: CSR) -> Faults:
    pieces = even_pieces(rows.offsets)
    faults = Faults(*np.empty((3, len(pieces) - 1), np.int64))
    _find_faults(len(pieces) - 1, pieces, rows, faults)
    return Faults(*(int(found.sum()) for found in faults))


class SortedRows(NamedTuple):
    """Ascending rows on the host, and how many of their entries repeat the one before and are no self-loops.

    ``self_loops`` is ``None``, not counted, where no row has an entry twice.
    """

    rows: CSR
    repeated: int
    self_loops: int | None


def sorted_rows(graph) -> SortedRows:
    """The rows of an undirected graph on the host, each ascending; cached with the graph."""

    def sort():
        rows = CSR(graph.offsets, graph.neighbours)
        if not row_facts(graph).falls:
            return SortedRows(rows, 0, None)
        faults = faults_of_rows(graph)
        if faults.descents:
            rows = CSR(*reversed_rows(*rows)[:2])
            faults = _faults_of(rows)
        return SortedRows(rows, faults.repeated, faults.self_loops)

    return graph.cached("sorted rows", sort)


class Blocks(NamedTuple):
    """How elements are divided: block ``b`` has ``bounds[b]`` to ``bounds[b + 1] - 1``, (blocks + 1,) int64.

    ``cursors``, (blocks * n,) uint32 or int64, are a block's own from ``b * n`` on.
    """

    bounds: Any
    cursors: Any


@partial(each, least_chunk=1)
def _count_values(block, n, blocks, values):
    for index in range(blocks.bounds[block], blocks.bounds[block + 1]):
        blocks.cursors[block * n + np.int64(values[index])] += 1


@each
def _scan_blocks(row, n, blocks, starts, totals):
    """Turn the counts of all blocks into positions from the start of a row on, and sum them up."""
    position = starts[row]
    for block in range(len(blocks.bounds) - 1):
        count = np.int64(blocks.cursors[block * n + row])
        blocks.cursors[block * n + row] = position
        position += count
    totals[row] = position - starts[row]


@each
def _move_cursors(row, n, blocks, offsets, rank):
    """Add the start of the row of a vertex to the positions of all blocks."""
    for block in range(len(blocks.bounds) - 1):
        blocks.cursors[block * n + row] += offsets[rank[row]]


@device
def _append(value, row, cursors, entries):
    """Write a value at the cursor of a row; return its position."""
    position = np.int64(cursors[row])
    entries[position] = value
    cursors[row] = position + 1
    return position


class Edges(NamedTuple):
    """Endpoints of edges, (m,), and the rank of every vertex, (n,)."""

    sources: Any
    targets: Any
    rank: Any


@partial(each, least_chunk=1)
def _append_edges(block, n, blocks, edges, entries):
    """Append both endpoints of edges to the row of the other, in any order."""
    sources, targets, rank = edges
    cursors, base, end = blocks.cursors, block * n, blocks.bounds[block + 1]
    for edge in range(blocks.bounds[block], end):
        if edge + AHEAD_CURSOR < end:
            prefetch(cursors, base + np.int64(targets[edge + AHEAD_CURSOR]))
            prefetch(rank, np.int64(targets[edge + AHEAD_CURSOR]))
            prefetch(entries, np.int64(cursors[base + np.int64(targets[edge + AHEAD_ENTRY])]))
        source, target = np.int64(sources[edge]), np.int64(targets[edge])
        _append(rank[target], base + source, cursors, entries)
        _append(rank[source], base + target, cursors, entries)


@partial(each, least_chunk=1)
def _append_rows(block, n, blocks, entries, ranked, n_repeated):
    """Append rows, in ascending order, to the rows of their entries; count those that repeat the one before.

    When a row is reached, all its lower neighbours are in it, appended by this block or by earlier ones at
    positions before this block's.
    """
    offsets, neighbours, split = ranked
    cursors, base, repeated = blocks.cursors, block * n, np.int64(0)
    last = offsets[blocks.bounds[block + 1]]
    for row in range(blocks.bounds[block], blocks.bounds[block + 1]):
        split[row] = cursors[base + row]
        for entry in range(offsets[row], offsets[row + 1]):
            if entry + AHEAD_CURSOR < last:
                prefetch(cursors, base + np.int64(entries[entry + AHEAD_CURSOR]))
                prefetch(neighbours, np.int64(cursors[base + np.int64(entries[entry + AHEAD_ENTRY])]))
            other = np.int64(entries[entry])
            position = _append(row, base + other, cursors, neighbours)
            if position > 0 and neighbours[position - 1] == row and position > offsets[other]:
                repeated += 1
    n_repeated[block] = repeated


@compiled
def _list_distinct_edges(offsets, split, neighbours, vertices, sources, targets):
    """List every edge once, by vertex."""
    n_edges = 0
    for row in range(len(split)):
        for entry in range(split[row], offsets[row + 1]):
            if entry == split[row] or neighbours[entry] != neighbours[entry - 1]:
                sources[n_edges], targets[n_edges] = vertices[row], vertices[neighbours[entry]]
                n_edges += 1


def _order_by_degree(degrees):
    """Vertices in ascending order of (degree, number): (n,) int64."""
    vertices = counting_order(degrees, DEGREES + 1)
    large = (
        vertices[np.searchsorted(degrees[vertices], DEGREES) :]
        if degrees.max(initial=0) > DEGREES
        else vertices[:0]
    )
    large[:] = large[np.argsort(degrees[large], kind="stable")]
    return vertices


def _sorted_rows(offsets, entries, n_blocks):
    """Rows of ranks, sorted, as a :class:`RankedCSR`, and the number of entries that repeat another."""
    n, kind = len(offsets) - 1, entries.dtype
    stretches = even_pieces(offsets, n_blocks)
    cursors = np.zeros(n_blocks * n, np.uint32 if len(entries) < 2**32 else np.int64)
    neighbours = np.zeros(
        len(entries), kind
    )  # no row of a later block equals an entry that is not yet written
    ranked = RankedCSR(offsets, neighbours, np.empty(n, np.int64))
    _count_values(n_blocks, n, Blocks(offsets[stretches], cursors), entries)
    blocks, n_repeated = Blocks(stretches, cursors), np.zeros(n_blocks, np.int64)
    _scan_blocks(n, n, blocks, offsets, ranked.split)
    _append_rows(n_blocks, n, blocks, entries, ranked, n_repeated)
    return ranked, int(n_repeated.sum())


def _blocks_for(n, m):
    return max(1, min(threads.count(), BLOCKS_BY_DENSITY * m // max(n, 1)))


def by_counting(n, sources, targets):
    """The ranked graph of an edge list on the host."""
    n_given, proper = len(sources), sources != targets
    if not proper.all():
        sources, targets = sources[proper], targets[proper]
    n_self_loops = n_given - len(sources)
    ranked, rank, vertices, n_repeated = _ranked_edges(n, sources, targets)
    if n_repeated:
        sources, targets = np.empty((2, len(sources) - n_repeated // 2), rank.dtype)
        _list_distinct_edges(ranked.offsets, ranked.split, ranked.neighbours, vertices, sources, targets)
        del ranked, rank, vertices  # which are as large as those of the distinct edges
        ranked, rank, *_ = _ranked_edges(n, sources, targets)
    return Ranked(ranked.offsets, ranked.neighbours, ranked.split, rank, n_self_loops, n_repeated // 2)


def _ranked_edges(n, sources, targets):
    """The rows of edges by rank, rank and vertex of each other, and how many entries repeat another."""
    m, kind = len(sources), index_type(n)
    n_blocks, degrees = _blocks_for(n, m), np.empty(n, np.int64)
    cursors = np.zeros(n_blocks * n, np.uint32 if 2 * m < 2**32 else np.int64)
    blocks = Blocks(bounds_of(m, n_blocks), cursors)
    _count_values(n_blocks, n, blocks, sources)
    _count_values(n_blocks, n, blocks, targets)
    _scan_blocks(n, n, blocks, np.zeros(n, np.int64), degrees)
    vertices = _order_by_degree(degrees)
    offsets, rank = offsets_in_order(degrees, vertices, kind)
    del degrees
    entries: np.ndarray = np.empty(2 * m, kind)
    _move_cursors(n, n, blocks, offsets, rank)
    _append_edges(n_blocks, n, blocks, Edges(sources, targets, rank), entries)
    del cursors, blocks
    ranked, n_repeated = _sorted_rows(offsets, entries, n_blocks)
    return ranked, rank, vertices, n_repeated


@each
def _count_distinct(vertex, rows, degrees):
    """Count the distinct neighbours of a vertex."""
    before, degree = np.int64(-1), np.int64(0)
    for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
        neighbour = np.int64(rows.neighbours[entry])
        degree += (neighbour != vertex) & (neighbour != before)
        before = neighbour
    degrees[vertex] = degree


class Copy(NamedTuple):
    """Rows in a new order: ``vertices`` in the order of their ``rank``, and offsets and entries by rank."""

    vertices: Any
    rank: Any
    offsets: Any
    entries: Any


@partial(each, least_chunk=1)
def _copy_rows(piece, bounds, rows, copy):
    """Copy the distinct neighbours of the rows of a piece, by rank."""
    for row in range(bounds[piece], bounds[piece + 1]):
        vertex, before, end = np.int64(copy.vertices[row]), np.int64(-1), copy.offsets[row]
        for entry in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
            neighbour = np.int64(rows.neighbours[entry])
            if neighbour != vertex and neighbour != before:
                copy.entries[end] = copy.rank[neighbour]
                end += 1
            before = neighbour


def by_rows(given: SortedRows) -> Ranked:
    """The ranked graph of sorted symmetric rows on the host."""
    rows, repeated, n_self_loops = given
    n, degrees = len(rows.offsets) - 1, np.diff(rows.offsets)
    if n_self_loops is None:
        n_self_loops = _faults_of(rows).self_loops
    if n_self_loops or repeated:
        _count_distinct(n, rows, degrees)
    vertices = _order_by_degree(degrees)
    offsets, rank = offsets_in_order(degrees, vertices, index_type(n))
    del degrees
    pieces = even_pieces(offsets)
    copy = Copy(vertices, rank, offsets, np.empty(int(offsets[-1]), rank.dtype))
    _copy_rows(len(pieces) - 1, pieces, rows, copy)
    csr, _ = _sorted_rows(offsets, copy.entries, _blocks_for(n, len(copy.entries) // 2))
    return Ranked(csr.offsets, csr.neighbours, csr.split, rank, n_self_loops, repeated // 2)


class Facts(NamedTuple):
    """What the host reads, in an int64 array: entries that are left out, self-loops among them, and more."""

    left_out: int = 0
    self_loops: int = 0
    descends: int = 0  # whether a row does
    max_degree: int = 0


@each
def measure_row(vertex, offsets, degrees):
    """Write the length of a row."""
    degrees[vertex] = offsets[vertex + 1] - offsets[vertex]


@each
def key_of_degree(vertex, degrees, keys):
    """Join the degree of a vertex and its number."""
    keys[vertex] = degrees[vertex] << HALF | vertex


@each
def place_vertex(position, keys, rank, sizes, facts):
    """Read the vertex and its degree from a sorted key."""
    rank[keys[position] & LOWER] = position
    sizes[position] = keys[position] >> HALF
    if position == len(keys) - 1:
        facts[3] = keys[position] >> HALF


@each
def key_of_entry(entry, given, rank, keys, degrees, facts):
    """Join the ranks of an entry's row and of its neighbour; leave out self-loops and repeated entries."""
    row, neighbour = row_of(entry, given.offsets), np.int64(given.neighbours[entry])
    before = np.int64(-1)
    if entry > given.offsets[row]:
        before = np.int64(given.neighbours[entry - 1])
    if neighbour in (row, before):
        keys[entry] = NO_ENTRY
        fetch_add(degrees, row, -1)
        warp_aggregated_add(facts, 0)
        if neighbour == row:
            warp_aggregated_add(facts, 1)
    else:
        keys[entry] = np.int64(rank[row]) << HALF | np.int64(rank[neighbour])
    if neighbour < before:
        store(facts, 2, 1)


@each
def place_entry(entry, keys, csr, rows):
    """Read an entry from a sorted key, and where its row splits; ``split`` begins as the rows' first entries.

    ``keys`` may have more entries than the rows if they are wrong.
    """
    offsets, neighbours, split = csr
    if keys[entry] == NO_ENTRY:
        return
    row, neighbour = keys[entry] >> HALF, keys[entry] & LOWER
    neighbours[entry], rows[entry] = neighbour, row
    before = keys[entry - 1] & LOWER if entry > offsets[row] else np.int64(-1)
    if neighbour < row and entry + 1 == offsets[row + 1]:
        split[row] = entry + 1
    elif neighbour > row and 0 <= before < row:
        split[row] = entry


@each
def key_of_number(entry, given, keys):
    """Join an entry's row and its neighbour."""
    keys[entry] = np.int64(row_of(entry, given.offsets)) << HALF | np.int64(given.neighbours[entry])


@each
def take_lower(entry, keys, neighbours):
    """Read an entry from the lower half of a key."""
    neighbours[entry] = keys[entry] & LOWER


def with_sorted_rows(given):
    """The same rows, each in ascending order."""
    entries, device = len(given.neighbours), arrays.device_of(given.offsets)
    keys = arrays.empty(entries, np.int64, device)
    key_of_number(entries, given, keys)
    neighbours = arrays.empty(entries, given.neighbours.dtype, device)
    take_lower(entries, ascending(keys), neighbours)
    return CSR(given.offsets, neighbours)


def _rank_by_keys(given, degrees, entries):
    """The graph ranked by ``degrees``, whose rows have so many ``entries``, and what was found on the way.

    Entries that are left out are taken from ``degrees``.
    """
    device, n, given_entries = arrays.device_of(given.offsets), len(degrees), len(given.neighbours)
    keys, rank = arrays.empty(n, np.int64, device), arrays.empty(n, np.uint32, device)
    sizes, facts = arrays.empty(n, np.int64, device), arrays.zeros(len(Facts()), np.int64, device)
    key_of_degree(n, degrees, keys)
    place_vertex(n, ascending(keys), rank, sizes, facts)
    starts, keys = exclusive_scan(sizes), arrays.empty(given_entries, np.int64, device)
    key_of_entry(given_entries, given, rank, keys, degrees, facts)
    csr = RankedCSR(starts, arrays.empty(entries, np.uint32, device), starts[:-1].copy())
    rows = arrays.empty(entries, np.uint32, device)
    place_entry(entries, ascending(keys), csr, rows)
    found = Facts(*arrays.move(facts, "cpu").tolist())
    return Ranked(*csr, rank, 0, 0, rows, found.max_degree), found


def by_keys(offsets, neighbours) -> Ranked:
    """The ranked graph of symmetric rows on a GPU, by sorting keys."""
    n = len(offsets) - 1
    if n > LOWER >> 1:
        raise OptionError(
            f"ranking on a GPU needs at most {LOWER >> 1:,} vertices; use {argument('device', 'cpu')}"
        )
    given, degrees = CSR(offsets, neighbours), arrays.empty(n, np.int64, arrays.device_of(offsets))
    measure_row(n, offsets, degrees)
    ranked, found = _rank_by_keys(given, degrees, len(neighbours))
    if found.descends:
        given = with_sorted_rows(given)
        measure_row(n, offsets, degrees)
        ranked, found = _rank_by_keys(given, degrees, len(neighbours))
    if found.left_out:
        ranked, _ = _rank_by_keys(given, degrees, len(neighbours) - found.left_out)
    n_duplicates = (found.left_out - found.self_loops) // 2
    return ranked._replace(n_self_loops=found.self_loops, n_duplicates=n_duplicates)
