"""Rows too long for one thread of a GPU: listed by the pass that meets them, joined by blocks in the next.

A thread joins a vertex with a neighbour in about a microsecond, because it waits for their parents, so that a
row of a thousand entries would take longer than a whole graph without such rows.  Which rows matter is known
only when they are met: few vertices with long rows are outside the giant component, say.  The list stays on
the device, and its first :data:`BLOCKS` rows begin at once, however long it is.
"""

from edgewise.device import arrays, device
from edgewise.device.warps import warp_aggregated_add

#: Blocks that go through a list: about as many as run at once on a large GPU.
BLOCKS = 1024


def new_list(csr):
    """Room for all long rows of a graph: an index array, and the number of blocks that go through it.

    They are not counted: each of them has more than ``max_row`` of the entries.
    """
    most = len(csr.neighbours) // (csr.max_row + 1)
    return arrays.empty(most, csr.neighbours.dtype, arrays.device_of(csr.offsets)), min(BLOCKS, most)


@device
def list_row(vertex, listed, counts, which):
    """Append a vertex to a list, whose length is ``counts[which]``."""
    listed[warp_aggregated_add(counts, which)] = vertex
