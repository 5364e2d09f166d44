"""A binary tree of rounds in which the receiver reads the sender's labels in the sender's memory.

There are no copies and no buffers, and the host does not wait: one kernel reads the other GPU's labels over
the link and joins them.  All pairs of a round run concurrently.  On GPUs linked by NVLink a pair takes as
long as reading the labels over the link does.
"""

from edgewise.components.merge.pairwise import unite_received_by_rem
from edgewise.components.trees import compress
from edgewise.device import streams
from edgewise.workers.topology import check_access, rounds


def peer(team, labels):
    """Merge labels round by round; DeviceError if a receiver has no access to its sender's memory."""
    vertices = len(labels[0])
    for pairs in rounds(team.devices):
        for receiver, sender in pairs:
            here, there = team[receiver], team[sender]
            check_access(here, there)
            streams.order_after(here.device, there.device)
            received = streams.peer_view(here.device, labels[sender])
            unite_received_by_rem(vertices, labels[receiver], 0, received)
            streams.order_after(there.device, here.device)
    compress(vertices, labels[0])
    return labels[0]
