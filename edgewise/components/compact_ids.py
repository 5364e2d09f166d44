"""The ids that occur among streamed edges, and the labels of these alone.

A stream of integer ids takes the ids as vertex numbers, so there is a parent for every number up to the
largest id.  An id occurs if it has another vertex as its label, if it is the label of another vertex, or if
it has a self-loop; self-loops are marked while the edges are read.

At the end the marks are packed into one bit per number.  Counts of bits number the ids that occur in
ascending order, as reading a graph does, and labels are renumbered in place: blocks of labels move towards
the beginning, and never overwrite labels that are still to be read.
"""

import numpy as np

from edgewise.components.streamed_graph import MarkedIds
from edgewise.device import each
from edgewise.index_type import index_type
from edgewise.ingest.integers import Marks, marks_below

#: Numbers that are renumbered at a time.
BLOCK = 1 << 20


@each
def mark_members(vertex, labels, marks):
    """Mark a vertex with a smaller label, and its root."""
    root = labels[vertex]
    if root != vertex:
        marks[vertex] = 1
        if not marks[root]:  # avoids concurrent writes to large roots
            marks[root] = 1


@each
def renumber(vertex, first, base, labels, marks, renumbered):
    """Write the new label of a vertex that occurs to its position in the block."""
    number = np.uint64(first + vertex)
    if marks.words[number >> np.uint64(6)] >> (number & np.uint64(63)) & np.uint64(1):
        renumbered[marks_below(number, marks) - base] = marks_below(np.uint64(labels[number]), marks)


def compact_ids(labels, marks, dtype=np.int64):
    """Labels of the vertices that occur, and their ids.

    Parameters
    ----------
    labels : (n,) index array
        Smallest vertex of each vertex's component; overwritten.
    marks : (n,) uint8 array
        1 for vertices with a self-loop, else 0; overwritten.
    dtype : type
        Of the ids.

    Returns
    -------
    labels : (k,) index array
        In the memory of ``labels`` if at least half of that is in use.
    ids : MarkedIds or None
        ``None`` if all vertices occur.
    """
    mark_members(len(labels), labels, marks)
    words = np.zeros(-(-len(labels) // 64), "<u8")
    words.view(np.uint8)[: -(-len(labels) // 8)] = np.packbits(marks, bitorder="little")
    before = np.zeros(len(words) + 1, np.int64 if len(labels) > np.iinfo(np.uint32).max else np.uint32)
    np.cumsum(np.bitwise_count(words), dtype=before.dtype, out=before[1:])
    count = int(before[-1])
    if count == len(labels):
        return labels, None
    for first in range(0, len(labels), BLOCK):
        last = min(first + BLOCK, len(labels))
        base, end = int(before[first // 64]), int(before[-(-last // 64)])
        renumbered = np.empty(end - base, labels.dtype)
        renumber(last - first, first, base, labels, Marks(words, before), renumbered)
        labels[base:end] = renumbered
    kind, ids = index_type(count), MarkedIds(words, before, dtype)
    return (
        labels[:count] if 2 * count > len(labels) and labels.dtype == kind else labels[:count].astype(kind)
    ), ids
