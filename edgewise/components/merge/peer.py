"""A binary tree of meetings in which the receiver reads the sender's labels where they lie.

No copy, no buffer and no waiting of the host: one kernel a meeting reads the other GPU's labels over the
link and joins them.  All meetings of a round run at once.  On GPUs linked by NVLink a meeting takes as long
as reading the labels over the link does.
"""

from edgewise.components.merge.pairwise import unite_received_by_rem
from edgewise.components.trees import compress
from edgewise.device import streams
from edgewise.workers.topology import check_access, rounds


def peer(team, labels):
    """Merge labels round by round, reading them over the link.

    Parameters
    ----------
    team : DeviceTeam
    labels : list of (n,) index arrays
        Compressed, one array a worker, in its place.  They are overwritten.

    Returns
    -------
    (n,) index array
        Compressed labels in the place of the first worker.

    Raises
    ------
    DeviceError
        A receiver has no access to the memory of its sender.
    """
    vertices = len(labels[0])
    for pairs in rounds(team.devices):
        for receiver, sender in pairs:
            here, there = team[receiver], team[sender]
            check_access(here, there)
            streams.order_after(here.device, there.device)
            seen = streams.peer_view(here.device, labels[sender])
            unite_received_by_rem(vertices, labels[receiver], 0, seen)
            streams.order_after(there.device, here.device)
    compress(vertices, labels[0])
    return labels[0]
