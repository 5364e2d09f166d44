"""Edges whose number differs from vertex to vertex: one body, run to count and run again to write.

A body begins at ``slot = output.slots[vertex]``, calls ``slot = emit(slot, ...)`` for each edge and ends with
``output.slots[vertex] = slot``.  The slots are zeros in the first run and end as counts, whose offsets are
the slots of the second run.  The edges are therefore in the order of their vertices for any number of
threads, and a family compiles one kernel.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, device
from edgewise.generators.limits import check_memory
from edgewise.primitives import exclusive_scan


class EdgeOutput(NamedTuple):
    """Where a body writes its edges.

    Attributes
    ----------
    slots : (count,) int64 array, next slot of each vertex
    sources, targets : (m,) uint32 arrays, empty while edges are counted
    """

    slots: Any
    sources: Any
    targets: Any


@device
def emit(slot, source, target, output):
    """Write an edge to ``slot`` unless edges are only counted; return the next slot."""
    if len(output.sources):
        output.sources[slot] = source
        output.targets[slot] = target
    return slot + 1


def emitted(loop, count, device, *arguments):
    """Run ``loop(count, *arguments, output)`` twice; return uint32 sources and targets."""
    check_memory(16 * count, device)
    slots = arrays.zeros(count, np.int64, device)
    empty = arrays.empty(0, np.uint32, device)
    loop(count, *arguments, EdgeOutput(slots, empty, empty))
    slots = exclusive_scan(slots)
    edges = int(slots[-1])
    check_memory(8 * edges, device)
    sources, targets = arrays.empty(edges, np.uint32, device), arrays.empty(edges, np.uint32, device)
    if edges:
        loop(count, *arguments, EdgeOutput(slots, sources, targets))
    return sources, targets
