"""Several devices that continue from a common start, and merge only the unions made since.

The first worker joins a sample of its edges and copies the labels to all; each continues from there with its
own edges.  Among its labels only former roots count: a former root with another label is one union, and all
other vertices follow their former root.  The pairs (former root, label) are as many as the edges of a forest
over the components of the start, after ConnectIt (Dhulipala, Hong & Shun 2020).

By far the fewest labels are sent, but on GPUs the sample and its copy take longer than merging all labels: of
the merges in ``bench/results/several-gpu.json`` it was the fastest in none of 27 configurations.
"""

from edgewise.components.merge import send_pairs, unite_pairs
from edgewise.components.rem import union, unite_edge
from edgewise.components.trees import compress, singletons
from edgewise.device import arrays, each, streams
from edgewise.workers.topology import rounds

#: Edges in the sample per vertex, about.
SAMPLED = 1


@each
def unite_sampled(index, parent, sources, targets, stride):
    """Join the endpoints of every ``stride``-th edge."""
    edge = index * stride
    union(parent, sources[edge], targets[edge])


@each.prefetch(lambda vertex, labels, start, marks: (labels[vertex], start[vertex]))
def mark_joined_roots(vertex, seen, labels, start, marks):
    """Mark a vertex that was a root at the start and is none now."""
    label, start_label = seen
    marks[vertex] = start_label == vertex and label != vertex


def components_from_common_start(split):
    """Compressed labels of a graph split by edges, on the first worker's device."""
    starts = _common_start(split)
    parents = []
    for part, start in zip(split.parts, starts):
        sources, targets = part.graph.sources, part.graph.targets
        with arrays.on(part.worker.device):
            parent = start.copy()
        unite_edge(len(sources), parent, sources, targets)
        compress(len(parent), parent)
        parents.append(parent)
    merged = parents[0]
    for parent, start in zip(parents[1:], starts[1:]):
        unite_pairs(merged, *send_pairs(_unions_since(start, parent), split.device))
    compress(len(merged), merged)
    return merged


def _unions_since(start, labels):
    """Former roots that have been joined, and their labels."""
    device = arrays.device_of(labels)
    with arrays.on(device):
        marks = arrays.empty(len(labels), bool, device)
        mark_joined_roots(len(labels), labels, start, marks)
        roots = arrays.namespace(device).flatnonzero(marks)
        return roots.astype(labels.dtype), labels[roots]


def _common_start(split):
    """The same compressed labels on every worker's device."""
    first = split.parts[0].graph
    sources, targets = first.sources, first.targets
    parent = singletons(split.n_vertices, sources)
    stride = max(len(sources) // max(SAMPLED * split.n_vertices, 1), 1)
    unite_sampled(len(sources) // stride, parent, sources, targets, stride)
    compress(len(parent), parent)
    starts = [parent] + [None] * (len(split.parts) - 1)
    for pairs in reversed(rounds(split.team.devices)):
        for sender, receiver in pairs:
            starts[receiver] = streams.copy_to(starts[sender], split.team[receiver].device)
    return starts
