"""The first worker reads everybody's labels where they lie, over the link between the GPUs.

No rounds and no buffers, but all labels come to one GPU: with ``P`` workers it reads and joins ``P - 1``
times as many labels as there are vertices.  Against a tree of rounds that pays for few workers.
"""

from edgewise.components.merge.pairwise import unite_received_by_rem
from edgewise.components.trees import compress
from edgewise.device import arrays, streams
from edgewise.workers.topology import check_access


def peer(team, parents):
    """Merge labels by reading them from the first worker.

    Parameters
    ----------
    team : Team
    parents : list of (n,) index arrays
        Compressed labels, one array a worker, in its place; the first is overwritten.

    Returns
    -------
    (n,) index array
        Compressed labels in the place of the first worker.

    Raises
    ------
    DeviceError
        The first worker has no access to another's memory.
    """
    check_access(team, team[0])
    parent, here = parents[0], team[0].place
    for labels in parents[1:]:
        there = arrays.place_of(labels)
        streams.follow(here, there)
        unite_received_by_rem(len(parent), parent, 0, streams.seen_from(here, labels))
        streams.follow(there, here)
    compress(len(parent), parent)
    return parent
