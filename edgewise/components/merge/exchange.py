"""Every worker joins what all know of one range of the vertices; then the ranges are put together.

All links are busy at once, in both directions, and each worker reads and joins about as many labels as
there are vertices, whatever the number of workers; a tree of rounds does so once a round, and a single
reader once for every worker.  The host waits for nothing in between.

Why nothing is lost: the components are those of the pairs (vertex, label) of all workers.  Owner ``o``
joins all pairs of its range into its own trees.  The parents of the range go to the first worker as they
are.  A vertex outside may have got another parent too: if it was a root in what ``o`` had found, the pair
is listed and sent; if not, its pair is with *its* owner and names such a root.  So from every vertex steps
to smaller ones lead down to the smallest of its component.
"""

from itertools import pairwise

import numpy as np

from edgewise.components.merge.pairwise import unite_received_by_rem
from edgewise.components.rem import union
from edgewise.components.trees import compress
from edgewise.device import arrays, each, each_row, fetch_add, streams

#: Vertices that share a stretch of the list of changed roots, and its counter.
TILE = 1024


@each
def copy_label(index, labels, kept):
    """Keep the label of a vertex."""
    kept[index] = labels[index]


@each.ahead(
    lambda vertex, parent, found, start, stop, counts, roots, parents: (parent[vertex], found[vertex])
)
def list_changed_root(vertex, seen, parent, found, start, stop, counts, roots, parents):
    """List a vertex outside the range that was a root and has a parent now."""
    above, label = seen
    if label == vertex and above != vertex and (vertex < start or vertex >= stop):
        tile = vertex // TILE
        slot = tile * TILE + fetch_add(counts, tile, 1)
        roots[slot] = vertex
        parents[slot] = above


@each_row
def unite_listed(tile, lane, lanes, parent, counts, roots, parents):
    """Join the changed roots of one tile with their parents."""
    first = tile * TILE
    for slot in range(first + lane, first + counts[tile], lanes):
        union(parent, roots[slot], parents[slot])


def exchange(team, labels):
    """Merge labels by ranges of vertices.

    Parameters
    ----------
    team : Team
    labels : list of (n,) index arrays
        Compressed, one array a worker, in its place.  They are overwritten.

    Returns
    -------
    (n,) index array
        Compressed labels in the place of the first worker.
    """
    vertices = len(labels[0])
    marks = [vertices * number // len(team) for number in range(len(team) + 1)]
    ranges = list(pairwise(marks))
    found = [_kept(parent) for parent in labels]
    for owner, (parent, (start, stop)) in enumerate(zip(labels, ranges)):
        with arrays.on(team[owner].place):
            for turn in range(1, len(team)):
                _join_range(parent, found[(owner + turn) % len(team)], start, stop)
    lists = [_changed_roots(*work) for work in zip(labels, found, ranges)]
    whole = labels[0]
    for parent, (start, stop) in zip(labels[1:], ranges[1:]):
        streams.bring_into(whole[start:stop], parent[start:stop])
    for counts, roots, parents in lists:
        _unite_list(whole, counts, roots, parents)
    compress(vertices, whole)
    for place in team.places:
        streams.follow(place, team[0].place)
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
        unite_received_by_rem(stop - start, parent, start, streams.seen_from(here, found[start:stop]))
    else:
        unite_received_by_rem(stop - start, parent, start, streams.bring(found[start:stop], here))


def _changed_roots(parent, found, span):
    """Counters of the tiles, and the changed roots outside a range with their parents."""
    place, vertices = arrays.place_of(parent), len(parent)
    tiles = -(-vertices // TILE)
    with arrays.on(place):
        counts = arrays.zeros(tiles, np.uint32, place)
        roots, parents = (arrays.empty(vertices, parent.dtype, place) for _ in range(2))
        list_changed_root(vertices, parent, found, *span, counts, roots, parents)
    return counts, roots, parents


def _unite_list(whole, *lists):
    """Join changed roots with their parents, read where they lie if that can be."""
    here, there = arrays.place_of(whole), arrays.place_of(lists[0])
    if streams.peer_access(here, there):
        streams.follow(here, there)
        seen = [streams.seen_from(here, array) for array in lists]
    else:
        seen = [streams.bring(array, here) for array in lists]
    unite_listed(len(lists[0]), whole, *seen, width="warp")
