"""Dense edge lists in random order on CPU cores: join a sample, then skip edges inside the giant component.

*Afforest* (Sutton et al. 2018, see :mod:`edgewise.components.sampling`) on edges rather than rows.  The
sample is joined by plain writes, some of which may be lost.  A byte for every vertex then says whether it is
in the giant component; those of a million vertices fit into the second cache of a core.  Testing the
endpoints of all edges takes little longer than reading them.  Edges with an endpoint outside are joined with
compare-and-swap, which also restores the connections that were lost.  If one endpoint is in the giant, the
other is from then on, too, and its further edges are skipped.

A list that is ordered by an endpoint does without: there Rem's algorithm finds the parents of one endpoint in
a register and those of the other one mostly in a cache.
"""

from functools import partial

import numpy as np

from edgewise.components.rem import shorten_and_splice, union
from edgewise.components.trees import compress, singletons
from edgewise.device import arrays, each
from edgewise.device.prefetch import prefetch
from edgewise.primitives.vote import LABEL, VOTERS, vote

#: Edges of a sample for each vertex, at most, and the largest share of the edges; consecutive ones that are
#: taken together.
SAMPLED, SHARE, RUN = 2, 1 / 3, 16


@partial(each, ascending=True)
def splice_run(run, parent, sources, targets, stride):
    """Join a run of edges by plain writes, and fetch the parents of later ones."""
    first = run * stride
    later = first + stride
    for edge in range(later, min(later + RUN, len(sources))):
        prefetch(parent, sources[edge])
        prefetch(parent, targets[edge])
    for edge in range(first, min(first + RUN, len(sources))):
        shorten_and_splice(parent, sources[edge], targets[edge])


@each
def mark_giant(vertex, parent, winner, inside):
    """Mark a vertex that is in the giant component."""
    inside[vertex] = np.int64(parent[vertex]) == winner[0] & LABEL


@partial(each, ascending=True)
def unite_outside(edge, parent, sources, targets, inside):
    """Join the endpoints of an edge unless both are in the giant component; if one is, mark the other."""
    source, target = sources[edge], targets[edge]
    if inside[source] & inside[target] == 0:
        union(parent, source, target)
        if inside[source] != 0:
            inside[target] = 1
        elif inside[target] != 0:
            inside[source] = 1


def rem_edge_sample(vertices, sources, targets):
    """Rem by plain writes on a sample of the edges, then on those outside the giant component."""
    where = arrays.device_of(sources)
    sources, targets = arrays.move(sources, "cpu"), arrays.move(targets, "cpu")
    parent, edges = singletons(vertices, sources), len(sources)
    stride = RUN * max(int(edges / max(min(SAMPLED * vertices, SHARE * edges), 1)), 1)
    splice_run(-(-edges // stride), parent, sources, targets, stride)
    compress(vertices, parent)
    winner, inside = np.zeros(1, np.int64), np.empty(vertices, np.uint8)
    vote(VOTERS if vertices else 0, parent, vertices, winner)
    mark_giant(vertices, parent, winner, inside)
    unite_outside(edges, parent, sources, targets, inside)
    compress(vertices, parent)
    return arrays.move(parent, where)
