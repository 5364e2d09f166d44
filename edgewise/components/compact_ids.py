"""Which numbers occur among streamed edges, and the labels of those alone.

A stream of integer ids takes the ids for vertex numbers, so there is a parent for every number up to the
largest id, met or not.  That an id was met shows in the parents: it hangs below another vertex, or another
vertex hangs below it, or it has only met itself, and such self-loops are marked while they go past.

In the end the marks are packed into a bit a number.  A count of bits numbers the ids that occur in ascending
order, as they are numbered when a graph is read, and labels are renumbered in place: the labels move towards
the beginning, block by block, and never past what is still to be read.
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
    """Mark a vertex that is not alone, and the root it hangs below."""
    root = labels[vertex]
    if root != vertex:
        marks[vertex] = 1
        if not marks[root]:  # the root of many is written once
            marks[root] = 1


@each
def renumber(vertex, first, base, labels, marks, renumbered):
    """Write the new label of a vertex that occurs to its place in the block."""
    number = np.uint64(first + vertex)
    if marks.words[number >> np.uint64(6)] >> (number & np.uint64(63)) & np.uint64(1):
        renumbered[marks_below(number, marks) - base] = marks_below(np.uint64(labels[number]), marks)


def occurring(labels, marks, dtype=np.int64):
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
        Over the memory of ``labels`` where at least half of that is in use.
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
