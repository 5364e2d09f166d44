"""Ranking the rows of a graph on a GPU, by two sorts of integers.

The first sorts the vertices: a key has the degree in its upper half and the vertex in its lower.  The second
sorts the entries, by the rank of their row and then their own.  Rows are symmetric, so nothing else is
needed, and the host waits once.

Self-loops and repeated entries, which the rows of a simple graph do not have, are found on the way: they are
sorted to the end, and taken from the degrees.  If there are any, the ranks were those of wrong degrees, and
all is done again with the right ones.  Repeated entries are side by side, if rows ascend; rows that do not
are sorted first.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles.counting.ranked import Ranked, RankedCSR
from edgewise.device import arrays, each, fetch_add, store
from edgewise.device.warps import warp_aggregated_add
from edgewise.errors import OptionError, argument
from edgewise.primitives import exclusive_scan
from edgewise.primitives.rows import row_of

#: Upper limit of the vertices: half of a key holds one, or a degree.
MAX_VERTICES = 2**31 - 1
HALF = 32
LOWER = (1 << HALF) - 1
#: Key of an entry that is left out.
NO_ENTRY = 2**63 - 1


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


class Given(NamedTuple):
    """The rows of a graph: (n + 1,) int64 ``offsets``, and ``neighbours``, an index array."""

    offsets: Any
    neighbours: Any


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


def sorted_rows(given):
    """The same rows, each in ascending order."""
    entries, device = len(given.neighbours), arrays.device_of(given.offsets)
    keys = arrays.empty(entries, np.int64, device)
    key_of_number(entries, given, keys)
    keys.sort()
    neighbours = arrays.empty(entries, given.neighbours.dtype, device)
    take_lower(entries, keys, neighbours)
    return Given(given.offsets, neighbours)


def _rank(given, degrees, entries):
    """The graph ranked by ``degrees``, whose rows have so many ``entries``, and what was found on the way.

    Entries that are left out are taken from ``degrees``.
    """
    device, n, given_entries = arrays.device_of(given.offsets), len(degrees), len(given.neighbours)
    keys, rank = arrays.empty(n, np.int64, device), arrays.empty(n, np.uint32, device)
    sizes, facts = arrays.empty(n, np.int64, device), arrays.zeros(len(Facts()), np.int64, device)
    key_of_degree(n, degrees, keys)
    keys.sort()
    place_vertex(n, keys, rank, sizes, facts)
    starts, keys = exclusive_scan(sizes), arrays.empty(given_entries, np.int64, device)
    key_of_entry(given_entries, given, rank, keys, degrees, facts)
    keys.sort()
    csr = RankedCSR(starts, arrays.empty(entries, np.uint32, device), starts[:-1].copy())
    rows = arrays.empty(entries, np.uint32, device)
    place_entry(entries, keys, csr, rows)
    found = Facts(*arrays.move(facts, "cpu").tolist())
    return Ranked(*csr, rank, 0, 0, rows, found.max_degree), found


def rank_rows(n, offsets, neighbours):
    """The ranked graph of symmetric rows, by sorting."""
    if n > MAX_VERTICES:
        raise OptionError(
            f"ranking on a GPU needs at most {MAX_VERTICES:,} vertices; use {argument('device', 'cpu')}"
        )
    given, degrees = Given(offsets, neighbours), arrays.empty(n, np.int64, arrays.device_of(offsets))
    measure_row(n, offsets, degrees)
    ranked, found = _rank(given, degrees, len(neighbours))
    if found.descends:
        given = sorted_rows(given)
        measure_row(n, offsets, degrees)
        ranked, found = _rank(given, degrees, len(neighbours))
    if found.left_out:
        ranked, _ = _rank(given, degrees, len(neighbours) - found.left_out)
    n_duplicates = (found.left_out - found.self_loops) // 2
    return ranked._replace(n_self_loops=found.self_loops, n_duplicates=n_duplicates)
