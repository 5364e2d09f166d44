"""Every worker joins what all know of one range of the vertices; then the ranges are put together.

All links are busy at once, in both directions, and each worker reads and joins about as many labels as
there are vertices, whatever the number of workers (a tree of rounds does so once a round).

Why nothing is lost: the components are those of the pairs (vertex, label) of all workers.  Owner ``o``
joins all pairs of its range into its own trees.  For a vertex of the range its new label goes to the first
worker.  A vertex outside may have been joined too, as somebody's label; if it was a root in ``o``'s trees
that is sent as a pair, and otherwise its own old pair is with *its* owner and names a root.
"""

from edgewise.components.merge.changed import changed, send_pairs, unite_pairs
from edgewise.components.merge.pairwise import unite_received_by_rem
from edgewise.components.trees import compress
from edgewise.device import arrays, each, streams


@each
def copy_label(index, labels, kept):
    """Keep the label of a vertex."""
    kept[index] = labels[index]


def exchange(team, parents):
    """Merge labels by ranges of vertices.

    Parameters
    ----------
    team : Team
    parents : list of (n,) index arrays
        Compressed labels, one array a worker, in its place.  They are overwritten.

    Returns
    -------
    (n,) index array
        Compressed labels in the place of the first worker.
    """
    vertices = len(parents[0])
    marks = [vertices * number // len(team) for number in range(len(team) + 1)]
    found = [_kept(parent) for parent in parents]
    for owner, (parent, start, stop) in enumerate(zip(parents, marks, marks[1:])):
        for turn in range(1, len(team)):
            _join_range(parent, found[(owner + turn) % len(team)], start, stop)
        compress(vertices, parent)
    lists = [changed(parent, before) for parent, before in zip(parents, found)]
    whole = parents[0]
    for parent, start, stop in zip(parents[1:], marks[1:], marks[2:]):
        streams.bring_into(whole[start:stop], parent[start:stop])
    for pairs in lists:
        unite_pairs(whole, *send_pairs(pairs, team[0].place))
    compress(vertices, whole)
    return whole


def _kept(labels):
    """A copy: what a worker found is read by the others while it joins what they found."""
    place = arrays.place_of(labels)
    kept = arrays.empty(len(labels), labels.dtype, place)
    copy_label(len(labels), labels, kept)
    return kept


def _join_range(parent, found, start, stop):
    """Join what another worker found for the vertices ``start .. stop - 1``."""
    here, there = arrays.place_of(parent), arrays.place_of(found)
    if streams.peer_access(here, there):
        streams.follow(here, there)
        labels = streams.seen_from(here, found[start:stop])
    else:
        labels = streams.bring(found[start:stop], here)
    unite_received_by_rem(stop - start, parent, start, labels)
    streams.follow(there, here)
