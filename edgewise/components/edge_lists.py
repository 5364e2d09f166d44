"""Dense edge lists on CPU cores: join a sample of the edges, then skip those inside the giant component.

*Afforest* (Sutton et al. 2018, see :mod:`edgewise.components.sampling`) on edges rather than rows.  The
sample is joined by plain writes, some of which may be lost.  A byte for every vertex then says whether it is
in the giant component; those of a million vertices fit into the second cache of a core.  Testing the
endpoints of all edges takes little longer than reading them.  Edges with an endpoint outside are joined with
compare-and-swap, which also restores the connections that were lost.  If one endpoint is in the giant, the
other is from then on, too, and its further edges are skipped.

Edges outside are rare and come at random.  A branch would be mispredicted, and each join would wait for
memory.  A core therefore writes the numbers of such edges of a block into a list without a branch, starts to
read the parents of their endpoints, and joins them then.

Which edges are the sample depends on their order.  In lists that are ordered by an endpoint, the first and
the last edge of every run with the same endpoint are taken, which reach nearly all vertices; in others, edges
at equal distances.
"""

import numpy as np

from edgewise.components.rem import splice, union
from edgewise.components.sampling import LABEL, VOTERS, vote
from edgewise.components.trees import compress, singletons
from edgewise.device import arrays, device, each, fetch_add, parallel_region
from edgewise.device.prefetch import prefetch
from edgewise.device.regions import workers

#: Edges of a sample for each vertex, and consecutive edges that are taken together.
SAMPLED, RUN = 1, 16
#: Edges of a block.
BLOCK = 512
#: Pairs of neighbouring edges that are looked at to judge the order of a list.
PROBES = 256


@each
def splice_ends(edge, parent, ordered, others):
    """Join an edge by plain writes if it is the first or the last one of its endpoint in an ordered list."""
    here, last = ordered[edge], len(ordered) - 1
    if edge == 0 or edge == last or ordered[edge - 1] != here or ordered[edge + 1] != here:
        splice(parent, here, others[edge])


@each
def splice_run(run, parent, sources, targets, stride):
    """Join a run of edges by plain writes, and fetch the parents of later ones."""
    first = run * stride
    later = first + stride
    for edge in range(later, min(later + RUN, len(sources))):
        prefetch(parent, sources[edge])
        prefetch(parent, targets[edge])
    for edge in range(first, min(first + RUN, len(sources))):
        splice(parent, sources[edge], targets[edge])


@each
def mark_giant(vertex, parent, winner, inside):
    """Mark a vertex that is in the giant component."""
    inside[vertex] = np.int64(parent[vertex]) == winner[0] & LABEL


@parallel_region
def unite_outside(worker, parent, sources, targets, inside, found, next_block):
    """Join all edges but those with both endpoints in the giant component; ``found`` has room for a block."""
    begin = worker.id * 2 * BLOCK
    first = fetch_add(next_block, 0, BLOCK)
    while first < len(sources):
        end = begin
        for edge in range(first, min(first + BLOCK, len(sources))):
            found[end] = edge
            end += 1 - np.int64(inside[sources[edge]] & inside[targets[edge]])
        for slot in range(begin, end):
            prefetch(parent, sources[found[slot]])
            prefetch(parent, targets[found[slot]])
        for slot in range(begin, end):
            unite_unless_inside(parent, sources[found[slot]], targets[found[slot]], inside)
        first = fetch_add(next_block, 0, BLOCK)


@device
def unite_unless_inside(parent, source, target, inside):
    """Join two vertices unless both are in the giant component; if one is, so is the other afterwards."""
    if inside[source] & inside[target] == 0:
        union(parent, source, target)
        if inside[source] | inside[target] != 0:
            inside[source] = inside[target] = 1


def _splice_sample(vertices, parent, sources, targets):
    """Join a sample of the edges by plain writes."""
    edges = len(sources)
    probes = np.arange(PROBES, dtype=np.int64) * (edges - 1) // PROBES
    for ordered, others in ((sources, targets), (targets, sources)):
        if edges > 1 and (ordered[probes] == ordered[probes + 1]).mean() > 0.5:
            splice_ends(edges, parent, ordered, others)
            return
    stride = RUN * max(edges // max(SAMPLED * vertices, 1), 1)
    splice_run(-(-edges // stride), parent, sources, targets, stride)


def rem_edge_sample(vertices, sources, targets):
    """Rem by plain writes on a sample of the edges, then on those outside the giant component."""
    where = arrays.device_of(sources)
    sources, targets = arrays.move(sources, "cpu"), arrays.move(targets, "cpu")
    parent = singletons(vertices, sources)
    _splice_sample(vertices, parent, sources, targets)
    compress(vertices, parent)
    winner, inside = np.zeros(1, np.int64), np.empty(vertices, np.uint8)
    vote(VOTERS if vertices else 0, parent, vertices, winner)
    mark_giant(vertices, parent, winner, inside)
    found = np.empty(workers() * 2 * BLOCK, np.int64)
    unite_outside(parent, sources, targets, inside, found, np.zeros(1, np.int64))
    compress(vertices, parent)
    return arrays.move(parent, where)
