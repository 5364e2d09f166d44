"""Ranges of vertices: each worker labels its own; the cut edges are left, contracted to pairs of roots.

The hierarchical vertex partition of Groute (Ben-Nun et al., PPoPP 2017), for graphs whose ids are local: a
worker's arrays are as long as its range, what is exchanged is as long as the list of cut edges, and the
last pass over the vertices, which gives every root its final label, is shared out as well.
"""

import numpy as np

from edgewise.components.rem import rem
from edgewise.device import arrays, each, streams
from edgewise.primitives import unique


@each
def look_up(index, labels, ends, first, roots):
    """Root of one end of a cut edge, by its number in the whole graph."""
    roots[index] = first + labels[ends[index]]


@each.ahead(lambda vertex, first, final: vertex)
def start_final(vertex, itself, first, final):
    """Every vertex of the range by its number in the whole graph."""
    final[vertex] = first + itself


@each
def set_final(index, final, first, roots, labels):
    """Give a root the label it has in the whole graph."""
    final[roots[index] - first] = labels[index]


@each.ahead(lambda vertex, labels, final, whole: final[labels[vertex]])
def take_final(vertex, label, labels, final, whole):
    """Give a vertex its root's final label."""
    whole[vertex] = label


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
    roots, tops = _contracted(split, labels)
    borders = [part.first for part in split.parts[1:]]
    marks = [0, *_places(roots, borders), len(roots)]
    kind = labels[0].dtype
    whole = arrays.empty(split.n_vertices, kind, split.place)
    for part, found, start, stop in zip(split.parts, labels, marks, marks[1:]):
        mine = [streams.bring(array[start:stop], part.worker.place) for array in (roots, tops)]
        _finish(part, found, *mine, whole)
    return whole


def _contracted(split, labels):
    """Roots that cut edges touch, ascending, and the smallest root each of them is joined with."""
    kind = labels[0].dtype
    lists = ([], [])
    for cut in split.cuts:
        for number, ends, pieces in ((cut.one, cut.ends, lists[0]), (cut.other, cut.other_ends, lists[1])):
            part = split.parts[number]
            found = arrays.empty(len(ends), kind, part.worker.place)
            look_up(len(ends), labels[number], ends, part.first, found)
            pieces.append(streams.bring(found, split.place))
    with arrays.on(split.place):
        xp = arrays.namespace(split.place)
        if not lists[0]:
            none = arrays.empty(0, kind, split.place)
            return none, none
        both = xp.concatenate([*lists[0], *lists[1]])
        roots, places = unique(both)
        half = len(both) // 2
        tops = rem(
            len(roots), *(xp.ascontiguousarray(p.astype(kind)) for p in (places[:half], places[half:]))
        )
        return roots, roots[tops]


def _places(roots, borders):
    """Where the borders fall among the ascending roots."""
    host = arrays.move(roots, "cpu") if len(borders) else np.empty(0)
    return np.searchsorted(host, borders).tolist()


def _finish(part, labels, roots, tops, whole):
    """Write the final labels of one range into the whole."""
    place, vertices = part.worker.place, len(labels)
    final = arrays.empty(vertices, whole.dtype, place)
    start_final(vertices, part.first, final)
    set_final(len(roots), final, part.first, roots, tops)
    goal = whole[part.first : part.first + vertices]
    if arrays.place_of(whole) == place:
        take_final(vertices, labels, final, goal)
        return
    told = arrays.empty(vertices, whole.dtype, place)
    take_final(vertices, labels, final, told)
    streams.bring_into(goal, told)
