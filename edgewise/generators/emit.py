"""Edges whose number differs from vertex to vertex: one body, run to count and run again to write.

A body begins at ``slot = slots[vertex]``, calls ``slot = emit(slot, ...)`` for each edge and ends with
``slots[vertex] = slot``.  In the first run the slots are zeros and come out as counts, and there is nowhere
to write; in the second they are the offsets of the counts.  Edges so come in the order of their vertices,
however the work was shared out, and the family compiles one kernel.
"""

import numpy as np

from edgewise.device import arrays, device
from edgewise.generators.limits import room
from edgewise.primitives import exclusive_scan


@device
def emit(slot, source, target, sources, targets):
    """Put an edge in ``slot``, or nowhere while counting; return the next slot."""
    if len(sources):
        sources[slot] = source
        targets[slot] = target
    return slot + 1


def emitted(loop, count, device, *arguments):
    """Run ``loop(count, *arguments, slots, sources, targets)`` twice; return the edges written.

    Returns
    -------
    sources, targets : (m,) uint32 arrays in ``device``
    """
    room(16 * count, device)
    slots = arrays.zeros(count, np.int64, device)
    nowhere = arrays.empty(0, np.uint32, device)
    loop(count, *arguments, slots, nowhere, nowhere)
    slots = exclusive_scan(slots)
    edges = int(slots[-1])
    room(8 * edges, device)
    sources, targets = arrays.empty(edges, np.uint32, device), arrays.empty(edges, np.uint32, device)
    if edges:
        loop(count, *arguments, slots, sources, targets)
    return sources, targets
