"""A binary tree of rounds, in each of which half of the workers send all their labels to the other half.

Hellås (2018), sections 4.2.4 and 5.2.2, with *Rem-merge* (Algorithm 12) or *Hook-merge*: a received label is
an edge between its vertex and the label.  Labels are sent in chunks, as in Groute, so that a chunk is joined
while the next is copied.  Where most vertices are still roots, only the others are sent, as pairs.

Every round copies and joins as many labels as there are vertices, whatever the number of workers.  The merge
therefore pays only while a worker has many more edges than the graph has vertices.
"""

from edgewise.components.hook import hook_up
from edgewise.components.merge.label_pairs import label_pairs, send_pairs, unite_pairs
from edgewise.components.rem import union
from edgewise.components.trees import compress
from edgewise.device import arrays, each, streams
from edgewise.workers.topology import rounds

#: Chunks of a transfer.
CHUNKS = 8
#: Share of vertices that are no roots up to which pairs are sent; a pair is twice as long as a label.
MAX_PAIRS = 0.4


@each.prefetch(lambda index, parent, first, received: received[index])
def unite_received_by_rem(index, label, parent, first, received):
    """Join a vertex with its label of another worker."""
    if label != first + index:
        union(parent, first + index, label)


@each.prefetch(lambda index, parent, first, received: received[index])
def unite_received_by_hook(index, label, parent, first, received):
    """The same with Hook-atomic."""
    if label != first + index:
        hook_up(parent, first + index, label)


def pairwise_rem(team, labels):
    """Merge labels round by round with Rem's algorithm; see :func:`pairwise`."""
    return pairwise(team, labels, unite_received_by_rem)


def pairwise_hook(team, labels):
    """Merge labels round by round with Hook-atomic; see :func:`pairwise`."""
    return pairwise(team, labels, unite_received_by_hook)


def pairwise(team, labels, unite):
    """Merge labels round by round; ``unite`` is the loop that joins a chunk of received labels."""
    max_pairs = int(MAX_PAIRS * len(labels[0]))
    for meetings in rounds(team.devices):
        short_lists = [label_pairs(labels[sender], max_pairs) for _, sender in meetings]
        for (receiver, sender), short_list in zip(meetings, short_lists):
            parent = labels[receiver]
            if short_list is not None:
                unite_pairs(parent, *send_pairs(short_list, team[receiver].device))
            else:
                _stream(parent, labels[sender], unite)
            compress(len(parent), parent)
    return labels[0]


def _stream(parent, sent, unite):
    """Join all labels of another device, chunk by chunk."""
    here, there = arrays.device_of(parent), arrays.device_of(sent)
    vertices = len(parent)
    if here == there:
        unite(vertices, parent, 0, sent)
        return
    received = arrays.empty(vertices, sent.dtype, here)
    copy_stream = streams.Stream(here if here != "cpu" else there)
    copy_stream.wait(streams.current(there).record())
    copy_stream.wait(streams.current(here).record())
    for chunk in range(CHUNKS):
        start, stop = vertices * chunk // CHUNKS, vertices * (chunk + 1) // CHUNKS
        if start == stop:
            continue
        streams.copy(received[start:stop], sent[start:stop], copy_stream)
        streams.wait_stream(here, copy_stream)
        unite(stop - start, parent, start, received[start:stop])
    streams.current(there).wait(copy_stream.record())
