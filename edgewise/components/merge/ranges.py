"""Ranges of vertices: each worker labels its own; the cut edges are left, contracted to pairs of roots.

The hierarchical vertex partition of Groute (Ben-Nun et al., PPoPP 2017), for graphs whose ids are local.  A
worker's arrays are as long as its range.  Its labels go to the first worker as soon as they are there,
while the owners of each cut edge look up the roots of its two ends; these pairs are joined among all
labels, and one pass of compression gives every vertex its final label.  The host waits for nothing in
between.
"""

from edgewise.components.merge.changed import unite_pairs
from edgewise.components.trees import compress
from edgewise.device import arrays, each, streams


@each.prefetch(lambda vertex, labels, first, whole: labels[vertex])
def number_in_whole(vertex, label, labels, first, whole):
    """A label by its number in the whole graph."""
    whole[vertex] = first + label


@each
def look_up(index, labels, ends, first, roots):
    """Root of one end of a cut edge, by its number in the whole graph."""
    roots[index] = first + labels[ends[index]]


def ranges(split, labels):
    """Label the components of a graph split by ranges.

    Parameters
    ----------
    split : SplitGraph
    labels : list of index arrays
        Compressed labels of every part's own graph, in its place.

    Returns
    -------
    (n,) index array
        Compressed labels in the place of the first worker.
    """
    whole = arrays.empty(split.n_vertices, labels[0].dtype, split.device)
    copy_stream = streams.Stream(split.device)
    copy_stream.wait(streams.current(split.device).record())
    told = [_send(part, found, whole, copy_stream) for part, found in zip(split.parts, labels)]
    pairs = [_roots(split, labels, cut) for cut in split.cuts]
    streams.wait_stream(split.device, copy_stream)
    for one, other in pairs:
        unite_pairs(whole, one, other)
    compress(split.n_vertices, whole)
    for part in split.parts:
        streams.order_after(part.worker.device, split.device)
    del told
    return whole


def _send(part, labels, whole, copy_stream):
    """Bring the labels of one range to the whole, on a stream of its own; return what must be kept."""
    device, vertices = part.worker.device, len(labels)
    goal = whole[part.first : part.first + vertices]
    if arrays.device_of(whole) == device:
        number_in_whole(vertices, labels, part.first, goal)
        return goal
    numbered = arrays.empty(vertices, whole.dtype, device)
    with arrays.on(device):
        number_in_whole(vertices, labels, part.first, numbered)
    if "cpu" in (device, copy_stream.device):
        streams.copy_into(goal, numbered)
    else:
        copy_stream.wait(streams.current(device).record())
        streams.copy(goal, numbered, copy_stream)
    return numbered


def _roots(split, labels, cut):
    """Roots of both ends of the edges of one cut, where the whole is."""
    found = []
    for number, ends in ((cut.one, cut.ends), (cut.other, cut.other_ends)):
        part = split.parts[number]
        with arrays.on(part.worker.device):
            roots = arrays.empty(len(ends), labels[0].dtype, part.worker.device)
            look_up(len(ends), labels[number], ends, part.first, roots)
        found.append(streams.copy_to(roots, split.device))
    return found
