"""A common start, then only the unions made since: the forest edges of every worker.

The first worker joins a sample of its edges and hands the labels to all; each goes on from there with its
own edges.  What it found is then a list of former roots with their new labels: one pair for each union it
made, as many as the edges of a forest over the components of the start.  For a graph with one giant
component the sample finds most of it, and the lists are short.
"""

from edgewise.components.merge.changed import changed, send_pairs, unite_pairs
from edgewise.components.rem import union, unite_edge
from edgewise.components.trees import compress, singletons
from edgewise.device import arrays, each, streams
from edgewise.workers.topology import rounds

#: Edges in the sample, for each vertex, about.
SAMPLED = 1


@each
def unite_sampled(index, parent, sources, targets, stride):
    """Join the ends of every so-manieth edge."""
    edge = index * stride
    union(parent, sources[edge], targets[edge])


def forest(split):
    """Label the components of a graph split by edges.

    Parameters
    ----------
    split : SplitGraph

    Returns
    -------
    (n,) index array
        Compressed labels in the place of the first worker.
    """
    starts = _common_start(split)
    parents = []
    for part, start in zip(split.parts, starts):
        sources, targets = part.graph.sources, part.graph.targets
        with arrays.on(part.worker.device):
            parent = start.copy()
        unite_edge(len(sources), parent, sources, targets)
        compress(len(parent), parent)
        parents.append(parent)
    whole = parents[0]
    for parent, start in zip(parents[1:], starts[1:]):
        unite_pairs(whole, *send_pairs(changed(parent, start), split.device))
    compress(len(whole), whole)
    return whole


def _common_start(split):
    """The same compressed labels in the place of every worker."""
    first = split.parts[0].graph
    sources, targets = first.sources, first.targets
    parent = singletons(split.n_vertices, sources)
    stride = max(len(sources) // max(SAMPLED * split.n_vertices, 1), 1)
    unite_sampled(len(sources) // stride, parent, sources, targets, stride)
    compress(len(parent), parent)
    starts = [parent] + [None] * (len(split.parts) - 1)
    for pairs in reversed(rounds(split.team.devices)):
        for giver, taker in pairs:
            device = split.team[taker].device
            same = device == arrays.device_of(starts[giver])
            starts[taker] = starts[giver] if same else streams.copy_to(starts[giver], device)
    return starts
