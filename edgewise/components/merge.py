"""Several devices: every worker labels its share of the edges, then the labels are merged.

*Pairwise* (Hellås 2018, sections 4.2.4 and 5.2.2, with *Rem-merge*, Algorithm 12, or *Hook-merge*): a binary
tree of rounds, in each of which half of the workers send all their labels to the other half.  A received
label is an edge between its vertex and the label.  Labels are sent in chunks, as in Groute, so that a chunk
is joined while the next is copied.  Where most vertices are still roots, only the others are sent, as pairs
(vertex, label).  The merge pays only while a worker has many more edges than the graph has vertices.

*Peer*: the same rounds, in which the receiver reads the sender's labels in the sender's memory, without
copies or buffers, and all pairs of a round run concurrently.  On GPUs linked by NVLink a pair takes as long
as reading the labels over the link does.

*Ranges*: the hierarchical vertex partition of Groute (Ben-Nun et al., PPoPP 2017), for graphs whose ids are
local.  A worker's labels are copied to the first worker as soon as they are computed, while the owners of
each cut edge look up the roots of its two endpoints.  These pairs are then joined in the labels of the whole
graph.  The host does not wait between the steps of *peer* and *ranges*.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from edgewise.components.hook import hook_up
from edgewise.components.rem import union
from edgewise.components.trees import compress
from edgewise.device import arrays, each, streams
from edgewise.errors import OptionError, argument, one_of
from edgewise.method import Method
from edgewise.workers.device_team import DeviceTeam
from edgewise.workers.topology import all_access, check_access, rounds

#: Chunks of a transfer.
CHUNKS = 8
#: Share of vertices that are no roots up to which pairs are sent; a pair is twice as long as a label.
MAX_PAIRS = 0.4


@each.prefetch(lambda vertex, labels, marks: labels[vertex])
def mark_joined(vertex, label, labels, marks):
    """Mark a vertex that is no root."""
    marks[vertex] = label != vertex


@partial(each, ascending=True)
def unite_pair(index, parent, vertices, labels):
    """Join a vertex with its label."""
    union(parent, vertices[index], labels[index])


def unite_pairs(parent, vertices, labels):
    """Join every vertex with its label, on the device of ``parent``."""
    unite_pair(len(vertices), parent, vertices, labels)


def label_pairs(labels, max_count):
    """Vertices that are no roots, and their labels; ``None`` if there are more than ``max_count``."""
    device = arrays.device_of(labels)
    with arrays.on(device):
        marks = arrays.empty(len(labels), bool, device)
        mark_joined(len(labels), labels, marks)
        xp = arrays.namespace(device)
        if int(xp.count_nonzero(marks)) > max_count:
            return None
        vertices = xp.flatnonzero(marks)
        return vertices.astype(labels.dtype), labels[vertices]


def send_pairs(pairs, device):
    """The two arrays of pairs, copied to ``device``."""
    return tuple(streams.copy_to(array, device) for array in pairs)


@each.prefetch(lambda index, parent, first, received: received[index], ascending=True)
def unite_received_by_rem(index, label, parent, first, received):
    """Join a vertex with its label of another worker."""
    if label != first + index:
        union(parent, first + index, label)


@each.prefetch(lambda index, parent, first, received: received[index])
def unite_received_by_hook(index, label, parent, first, received):
    """The same with Hook-atomic."""
    if label != first + index:
        hook_up(parent, first + index, label)


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


@each.prefetch(lambda vertex, labels, first, merged: labels[vertex])
def number_globally(vertex, label, labels, first, merged):
    """Write a label as a vertex number of the whole graph."""
    merged[vertex] = first + label


@each
def look_up(index, labels, endpoints, first, roots):
    """Root of one endpoint of a cut edge, as a vertex number of the whole graph."""
    roots[index] = first + labels[endpoints[index]]


def ranges(split, labels):
    """Merge the labels of every part's own graph."""
    merged = arrays.empty(split.n_vertices, labels[0].dtype, split.device)
    copy_stream = streams.Stream(split.device)
    copy_stream.wait(streams.current(split.device).record())
    sent = [_send(part, own, merged, copy_stream) for part, own in zip(split.parts, labels)]
    pairs = [_roots(split, labels, cut) for cut in split.cuts]
    streams.wait_stream(split.device, copy_stream)
    for one, other in pairs:
        unite_pairs(merged, one, other)
    compress(split.n_vertices, merged)
    for part in split.parts:
        streams.order_after(part.worker.device, split.device)
    del sent  # not freed before the copies are ordered
    return merged


def _send(part, labels, merged, copy_stream):
    """Copy the labels of one range into ``merged``; return the array that must outlive the copy."""
    device, vertices = part.worker.device, len(labels)
    target = merged[part.first : part.first + vertices]
    if arrays.device_of(merged) == device:
        number_globally(vertices, labels, part.first, target)
        return target
    numbered = arrays.empty(vertices, merged.dtype, device)
    with arrays.on(device):
        number_globally(vertices, labels, part.first, numbered)
    if "cpu" in (device, copy_stream.device):
        streams.copy_into(target, numbered)
    else:
        copy_stream.wait(streams.current(device).record())
        streams.copy(target, numbered, copy_stream)
    return numbered


def _roots(split, labels, cut):
    """Roots of both endpoints of the edges of one cut, on the device of the merged labels."""
    pair = []
    for number, endpoints in ((cut.one, cut.endpoints), (cut.other, cut.other_endpoints)):
        part = split.parts[number]
        with arrays.on(part.worker.device):
            roots = arrays.empty(len(endpoints), labels[0].dtype, part.worker.device)
            look_up(len(endpoints), labels[number], endpoints, part.first, roots)
        pair.append(streams.copy_to(roots, split.device))
    return pair


@dataclass(frozen=True)
class Merge(Method):
    """One way to merge the labels of a graph that is split ``by`` ``'edges'`` or by ``'range'``.

    ``run(team, labels)`` merges labels that all workers have computed for all vertices, ``run(split,
    labels)`` those of vertex ranges.  ``labels`` is a list of compressed labels, one index array per worker
    on its device, which may be overwritten.  Both return the compressed labels of the whole graph, an (n,)
    index array on the first worker's device.
    """

    by: str = field(default="edges", kw_only=True)


pairwise_rem, pairwise_hook = (
    partial(pairwise, unite=unite) for unite in (unite_received_by_rem, unite_received_by_hook)
)
MERGES = {
    "pairwise-rem": Merge(
        pairwise_rem, "all labels in a tree of rounds, joined by Rem", "Hellås 2018, Alg. 12"
    ),
    "pairwise-hook": Merge(
        pairwise_hook, "the same, joined by Hook-atomic", "Hellås 2018, 5.2.2", baseline=True
    ),
    "peer": Merge(peer, "a tree of rounds, labels read over the link", "direct peer access"),
    "ranges": Merge(
        ranges, "vertex ranges, cut edges contracted to pairs of roots", "Groute, PPoPP 2017", by="range"
    ),
}
#: Names of the merges that need nothing but the labels of all workers.
LABEL_MERGES = tuple(name for name, merge in MERGES.items() if merge.by == "edges")


def choose_merge(split) -> str:
    """Name of the merge for a split graph: a rule read off measurements (``bench/notes/components.md``)."""
    return "ranges" if split.by == "range" else choose_label_merge(split.team)


def choose_label_merge(team: DeviceTeam) -> str:
    """Name of the merge for labels that the members of ``team`` have computed for all vertices."""
    return "peer" if all_access(team) else "pairwise-rem"


def merge_labels(team: DeviceTeam, labels: list, merge: str = "auto"):
    """Merge labels as :class:`Merge` does; ``merge`` is a name in ``LABEL_MERGES``, or ``"auto"``."""
    if len(team) == 1:
        return labels[0]
    name = choose_label_merge(team) if merge == "auto" else merge
    return MERGES[name].run(team, labels)


def check_merge(merge, by=None):
    """Raise :class:`~edgewise.errors.OptionError` unless ``merge`` is known and fits a split ``by``."""
    if merge != "auto" and merge not in MERGES:
        raise OptionError(f"{argument('merge', merge)} is unknown; {one_of(merge, ('auto', *MERGES))}")
    if by is not None and merge != "auto" and MERGES[merge].by != by:
        needed = MERGES[merge].by
        raise OptionError(
            f"{argument('merge', merge)} needs a graph split by {needed}, not by {by}; "
            f"use graph.split(devices, by={needed!r})"
        )


def merge_for(split, merge):
    """Name of the merge for a split graph; ``None`` if it has only one part."""
    if len(split.parts) == 1:
        return None
    return choose_merge(split) if merge == "auto" else merge


def label_split(split, runs, merge):
    """Label the components of a split graph by ``runs``, one for each part's graph, and :func:`merge_for`."""
    labels = label_parts(split, runs)
    if merge is None:
        return labels[0]
    if MERGES[merge].by == "range":
        return MERGES[merge].run(split, labels)
    return merge_labels(split.team, labels, merge)


def label_parts(split, runs):
    """Labels of each part by its own worker; GPUs start first, since launches are asynchronous."""
    labels = [None] * len(runs)
    for number in sorted(range(len(runs)), key=lambda number: split.team[number].device == "cpu"):
        with arrays.guard(split.team[number].device):
            labels[number] = runs[number]()
    return labels
