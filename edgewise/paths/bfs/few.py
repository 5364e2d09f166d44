"""A small search by one core, in memory of its own: its cost does not know how large the graph is.

What was reached stands in a small hash table, so nothing has to be laid out or cleared for all vertices: a
search of 19 vertices in two million takes a microsecond.  A search that outgrows the table is handed on at
the last level that it has finished.

The table is kept for each thread and is clean between searches: each takes out what it has put in.
"""

from threading import local

import numpy as np

from edgewise.device import compiled, device
from edgewise.paths.bfs.push import unsigned

#: Vertices that may be reached, entries that may be read, and slots of the table, a power of two.
MOST, ENTRIES, SLOTS = 2048, 8192, 1 << 13
SPREAD, KEPT_BITS = 2654435769, 32

_thread = local()


@device
def slot_of(table, vertex):
    """Where a vertex stands in the table, or would: the slot then holds 0."""
    mask = unsigned(len(table) - 1)
    slot = (unsigned(vertex) & unsigned(2**KEPT_BITS - 1)) * unsigned(SPREAD) >> unsigned(16) & mask
    while table[slot] != 0 and table[slot] != np.int64(vertex) + 1:
        slot = slot + unsigned(1) & mask
    return slot


@device
def add(table, vertex, found, slots, count):
    """Put a vertex into the table and the list, unless it is there; the length of the list."""
    slot = slot_of(table, vertex)
    if table[slot] == 0:
        table[slot] = np.int64(vertex) + 1
        found[count], slots[count] = vertex, slot
        count += 1
    return count


@compiled
def search(offsets, neighbours, sources, cutoff, table, slots, found, values, said):
    """Search until everything is reached or too much is; the number of vertices found.

    ``said`` gets the last level and whether the search has come to an end.
    """
    count = read = level = first = 0
    for source in sources:
        count = add(table, source, found, slots, count)
        values[count - 1] = 0
    last, fits = count, True
    while first < last and level < cutoff and fits:
        for item in range(first, last):
            vertex = found[item]
            for entry in range(offsets[vertex], offsets[vertex + 1]):
                count = add(table, neighbours[entry], found, slots, count)
                read += 1
                if count >= MOST or read >= ENTRIES:
                    fits = False
                    break
            if not fits:
                break
        if fits:
            first, last, level = last, count, level + 1
            for item in range(first, last):
                values[item] = level
    for item in range(count):
        table[slots[item]] = 0
    said[0], said[1] = level, fits
    return last


def search_few(rows, sources, cutoff):
    """Search as far as a small table holds.

    Parameters
    ----------
    rows : edgewise.paths.csr.Adjacency
        On the host.
    sources : (k,) int64 array
    cutoff : int

    Returns
    -------
    vertices : (found,) index array
        In ascending order of distance.
    distances : (found,) int32 array
    level : int
        The largest distance, up to which nothing is missing.
    done : bool
        Whether nothing else is within reach.
    """
    if len(sources) >= MOST:
        return sources, np.zeros(len(sources), np.int32), 0, False
    kept = getattr(_thread, "kept", None)
    if kept is None:
        kept = np.zeros(SLOTS, np.int64), np.empty(MOST, np.int64), np.empty(MOST, np.int32)
        _thread.kept = kept
    table, slots, values = kept
    found, said = np.empty(MOST, rows.neighbours.dtype), np.empty(2, np.int64)
    count = search(rows.offsets, rows.neighbours, sources, cutoff, table, slots, found, values, said)
    return found[:count].copy(), values[:count].copy(), int(said[0]), bool(said[1])
