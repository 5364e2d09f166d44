"""Ranking the rows of a graph on a GPU, by two sorts of integers.

The first sorts the vertices: a key has the degree in its upper half and the vertex in its lower.  The second
sorts the entries, by the rank of their row and then their own, which puts repeated entries side by side.
Rows are symmetric, so nothing else is needed, and the host waits once.  Graphs with self-loops or repeated
edges, whose degrees are others without them, and graphs that are too large for these keys are left to
:func:`edgewise.cycles.counting.ranked.by_sorting`.
"""

from typing import NamedTuple

import numpy as np

from edgewise.cycles.counting.ranked import Ranked, RankedCSR
from edgewise.device import arrays, each, store
from edgewise.primitives import exclusive_scan
from edgewise.primitives.rows import row_of

#: Upper limit of the vertices and of the entries: half of a key holds either.
MAX_ENTRIES = 2**31 - 1
HALF = 32
LOWER = (1 << HALF) - 1


@each
def key_of_degree(vertex, offsets, keys):
    """Join the degree of a vertex and its number."""
    keys[vertex] = (offsets[vertex + 1] - offsets[vertex]) << HALF | vertex


class Facts(NamedTuple):
    """What the host reads, in an int64 array: whether rows are not simple, and the largest degree."""

    improper: int = 0
    max_degree: int = 0


@each
def place_vertex(position, keys, rank, degrees, facts):
    """Read the vertex and its degree from a sorted key."""
    rank[keys[position] & LOWER] = position
    degrees[position] = keys[position] >> HALF
    if position == len(keys) - 1:
        facts[1] = keys[position] >> HALF


@each
def key_of_entry(entry, offsets, neighbours, rank, keys):
    """Join the ranks of an entry's row and of its neighbour."""
    row = row_of(entry, offsets)
    keys[entry] = np.int64(rank[row]) << HALF | np.int64(rank[neighbours[entry]])


@each
def place_entry(entry, keys, csr, rows, facts):
    """Read an entry from a sorted key, and where its row splits; ``split`` begins as the rows' first entries.

    The first of the :class:`Facts` is set if an entry is its own row, or equals the one before.
    """
    offsets, neighbours, split = csr
    key, row, neighbour = keys[entry], keys[entry] >> HALF, keys[entry] & LOWER
    neighbours[entry], rows[entry] = neighbour, row
    before = keys[entry - 1] if entry > offsets[row] else np.int64(-1)
    if neighbour == row or key == before:
        store(facts, 0, 1)
    if neighbour < row and entry + 1 == offsets[row + 1]:
        split[row] = entry + 1
    elif neighbour > row and before >= 0 and before & LOWER < row:
        split[row] = entry


def rank_rows(n, offsets, neighbours):
    """The ranked graph of symmetric rows on a GPU, or ``None`` if the rows are not simple or too large."""
    if max(n, len(neighbours)) > MAX_ENTRIES:
        return None
    device, entries = arrays.device_of(offsets), len(neighbours)
    keys, rank = arrays.empty(n, np.int64, device), arrays.empty(n, np.uint32, device)
    degrees, facts = arrays.empty(n, np.int64, device), arrays.zeros(len(Facts()), np.int64, device)
    key_of_degree(n, offsets, keys)
    keys.sort()
    place_vertex(n, keys, rank, degrees, facts)
    starts, keys = exclusive_scan(degrees), arrays.empty(entries, np.int64, device)
    key_of_entry(entries, offsets, neighbours, rank, keys)
    keys.sort()
    csr = RankedCSR(starts, arrays.empty(entries, np.uint32, device), starts[:-1].copy())
    rows = arrays.empty(entries, np.uint32, device)
    place_entry(entries, keys, csr, rows, facts)
    found = Facts(*arrays.move(facts, "cpu").tolist())
    return None if found.improper else Ranked(*csr, rank, 0, 0, rows, found.max_degree)
