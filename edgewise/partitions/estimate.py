"""What a partition takes in memory, by the phase that takes most, and by a sample of the edges.

The coarser levels of a random graph have nearly as many entries as the graph has, so that all levels together
take most.  Those of a mesh have few, and the lists of the finest level take most.  What kind of graph it is
shows a sample of a few thousand edges: the vertices of a mesh are numbered so that neighbours have numbers
that are near, unless somebody has shuffled them; and the edges of graphs with hubs have the same ends again
and again, so that contraction joins more of them.  The constants are measured (``bench/memory.py``, two
cores, states 1fb2adf2 and, of clustering and lists, 0dde0988, 2026-12-01), for the allocator of glibc, which
keeps arrays of up to 32 MiB that are freed.
"""

from typing import NamedTuple

import numpy as np

from edgewise.device import arrays
from edgewise.partitions.input import has_self_loops
from edgewise.partitions.levels import longest_row
from edgewise.partitions.rating import SHORT, may_be_short
from edgewise.partitions.ratings import TOTALS_BYTES, TOTALS_FOR_EACH_ENTRY

#: Edges of a sample.
SAMPLE = 1 << 12
#: Numbers of neighbours are near if they differ by so many times n^(2/3), the width of a grid in space.
NEAR = 2
#: How much more often than in a random graph two edges of a sample have the same end where there are hubs.
HUBS = 8
#: Pairs of such edges that are there by chance.
FEW = 16
#: Vertices of a part of a mesh from which on less than ``ratings.CUT`` of the edges is between parts, so that
#: there are no connections: an estimate, which chooses no code.
LARGE_PART = 1 << 18
#: Bytes that the allocator keeps: an estimate, which chooses no code.
KEPT = 32 << 20
#: Bytes more that the lists of a mesh take on 16 threads, of which few places are used (6b5f5a77, 2026-12-01;
#: ``bench/notes/partitions.md``): an estimate, which chooses no code.
IN_LISTS = 16 << 20


class Kind(NamedTuple):
    """What a sample tells of a graph.

    Attributes
    ----------
    is_near : bool
        Whether three quarters of the neighbours have numbers that are near.
    has_hubs : bool
    has_loops : bool
        Whether there are self-loops, so that the rows are copied without them.
    has_long_rows : bool
        Whether facts of 16 bits are too small for some row, or rows are not there yet.
    """

    is_near: bool = False
    has_hubs: bool = False
    has_loops: bool = True
    has_long_rows: bool = True


def kind_of(graph):
    """The kind of a graph on the host; that of a random one if nothing is known but its size."""
    columns = graph._edges or graph._rows
    n, count = graph.n_vertices, len(columns[1])
    if arrays.is_one_number(columns[1]) or not count:
        return Kind()
    places = np.arange(min(count, SAMPLE)) * count // min(count, SAMPLE)
    targets = columns[1][places].astype(np.int64)
    if graph._edges is None:
        sources = np.searchsorted(columns[0], places, side="right") - 1
    else:
        sources = columns[0][places].astype(np.int64)
    apart = np.sort(np.abs(sources - targets))[3 * len(places) // 4]
    repeats = np.unique(targets, return_counts=True)[1]
    pairs, all_pairs = (repeats * (repeats - 1)).sum(), len(places) * (len(places) - 1)
    has_hubs = pairs > FEW + HUBS * all_pairs / n
    is_near = apart <= NEAR * n ** (2 / 3)
    has_long_rows = graph._rows is None or longest_row(graph._rows[0]) > SHORT
    return Kind(bool(is_near), bool(has_hubs), has_self_loops(graph), has_long_rows)


def bytes_of(size, kind, k):
    """The bytes at the peak of a partition into ``k`` parts."""
    n, entries = size.vertices, size.entries
    copied = (4 + size.weight) * entries + 8 * n if kind.has_loops else 0
    totals = 4 * n * size.threads  # a thread may take the chunks of others
    if kind.is_near and totals > TOTALS_BYTES:
        totals = 0  # hash tables take their place, which are small, since the rows of meshes are short
    clustering = 21 * n + min(totals, TOTALS_BYTES)
    has_tables = n * k <= TOTALS_FOR_EACH_ENTRY * entries and not (kind.is_near and n >= LARGE_PART * k)
    tables = 4 * n * k if has_tables else 0
    is_short = may_be_short(n, size.weight, k) and not kind.has_long_rows
    lists = (27 if is_short else 43) * n
    if kind.is_near:
        lists += min(lists, IN_LISTS)
        needed = max(clustering, lists + tables, 12 * n + 8 * max(min(entries, 1 << 20), entries // 64))
    else:
        density = max(10, 22 - entries / max(n, 1) / 4)
        levels = 8 * n + (9 if kind.has_hubs else density) * entries
        lists = 72 * n if 4 * n < KEPT else lists
        needed = max(clustering, lists + tables, levels)
    needed += copied
    return needed + min(needed, KEPT)
