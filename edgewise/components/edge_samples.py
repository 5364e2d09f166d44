"""Samples of an edge list on a GPU: blocks of edges that are hung, hooked or joined, round by round.

Every second, fourth ... block of edges is read whole, so that a sample costs its share of the memory traffic.
Every round takes other blocks.  The rounds that write plainly lose connections, and none of them makes a
wrong one: a parent is always a smaller vertex of the same component.  A pass over all edges follows, which
joins what is not in one tree.

*Hanging* writes the smaller endpoint over the parent of the larger one, and reads nothing first.  *Hooking*
writes the smaller of two roots over the parent of the larger one (Hellås 2018, Hook-non-atomic); if the least
of all writes to a root wins, few rounds leave one giant tree.

``hang-rem`` is for lists whose ids, or whose order, are local: there the trees of two plain rounds are nearly
the components, and Rem's algorithm finds few edges whose ends have different parents.  Half of the edges of a
geometric graph hang nearly as many vertices as all of them, so of a list with many edges for each vertex a
part is hung and another part hooked.
"""

from typing import NamedTuple

from edgewise.components.rem import union
from edgewise.components.trees import compress, singletons
from edgewise.device import device, each, fetch_min

#: Edges that are side by side in a sample: 128 bytes of either endpoint.
BLOCK = 32


class Sample(NamedTuple):
    """Blocks of edges at equal distances: block ``b`` begins at edge ``b * step + shift``.

    Both are multiples of BLOCK.  Blocks that begin elsewhere touch two lines of memory for each of theirs,
    which cost a geometric graph a fifth of the time of ``hang-rem``.
    """

    step: int
    shift: int


@device
def edge_of(index, sample):
    """Edge at an index of a sample."""
    return index // BLOCK * sample.step + sample.shift + index % BLOCK


@device
def ends_of(index, sample, parent, sources, targets):
    """Endpoints of an edge of a sample."""
    edge = edge_of(index, sample)
    return sources[edge], targets[edge]


@device
def parents_of(index, sample, parent, sources, targets):
    """Parents of the endpoints of an edge of a sample."""
    edge = edge_of(index, sample)
    return parent[sources[edge]], parent[targets[edge]]


@device
def hang_below(one, other, parent):
    """Write the smaller of two roots over the parent of the larger."""
    if other < one:
        parent[one] = other  # race: of two writes one is lost, whose edge is joined again
    elif one < other:
        parent[other] = one  # race: as above


@each.prefetch(ends_of)
def hang(index, ends, sample, parent, sources, targets):
    """Write the smaller endpoint of an edge over the parent of the larger; all vertices were roots."""
    hang_below(ends[0], ends[1], parent)


@each.prefetch(parents_of)
def hook(index, parents, sample, parent, sources, targets):
    """Write the smaller parent over the parent of the larger; all trees were stars."""
    hang_below(parents[0], parents[1], parent)


@each.prefetch(parents_of)
def hook_least(index, parents, sample, parent, sources, targets):
    """The same, and of several parents that are written over one the least remains."""
    if parents[1] < parents[0]:
        fetch_min(parent, parents[0], parents[1])
    elif parents[0] < parents[1]:
        fetch_min(parent, parents[1], parents[0])


@each.prefetch(parents_of)
def unite(index, parents, sample, parent, sources, targets):
    """Join the endpoints of an edge of a sample by Rem's algorithm."""
    if parents[0] != parents[1]:
        edge = edge_of(index, sample)
        union(parent, sources[edge], targets[edge])


@each.prefetch(lambda edge, parent, sources, targets: (parent[sources[edge]], parent[targets[edge]]))
def unite_unequal(edge, parents, parent, sources, targets):
    """Join the endpoints of any edge unless they have the same parent."""
    if parents[0] != parents[1]:
        union(parent, sources[edge], targets[edge])


def join_samples(plan, vertices, sources, targets):
    """Compressed trees after the rounds of a plan: what is done with about how many edges for each vertex."""
    parent, blocks = singletons(vertices, sources), len(sources) // BLOCK
    for turn, (join, per_vertex) in enumerate(plan):
        every = max(round(len(sources) / max(per_vertex * vertices, 1)), 1)
        shift = turn % every
        n_blocks = max(blocks - shift + every - 1, 0) // every
        if n_blocks:
            sample = Sample(every * BLOCK, shift * BLOCK)
            join(n_blocks * BLOCK, sample, parent, sources, targets)
            compress(vertices, parent)
    return parent


#: The sample of ``hang-rem``: about how many edges for each vertex are hung, and how many are hooked.
PLAN = ((hang, 4), (hook, 2))


def hang_rem(vertices, sources, targets):
    """Two rounds of plain writes, then Rem."""
    parent = join_samples(PLAN, vertices, sources, targets)
    unite_unequal(len(sources), parent, sources, targets)
    compress(vertices, parent)
    return parent
