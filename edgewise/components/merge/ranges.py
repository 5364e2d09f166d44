"""Ranges of vertices: each worker labels its own, then the cut edges are contracted to pairs of roots.

The hierarchical vertex partition of Groute (Ben-Nun et al., PPoPP 2017), for graphs whose ids are local.  A
worker's arrays are as long as its range.  Its labels are copied to the first worker as soon as they are
computed, while the owners of each cut edge look up the roots of its two endpoints.  These pairs are joined in
the labels of the whole graph, and one compression gives every vertex its final label.  The host does not wait
in between.
"""

from edgewise.components.merge.label_pairs import unite_pairs
from edgewise.components.trees import compress
from edgewise.device import arrays, each, streams


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
