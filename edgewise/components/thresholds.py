"""Components at several thresholds of the weights, by one union-find over the edges.

The clusters at a threshold are the components of the edges of at least this weight.  A lower threshold only
adds edges, so its clusters are unions of those of the next higher one.  Each edge is therefore given the
highest threshold that it reaches, and the thresholds are taken from the highest to the lowest: the trees of
one are copied, the edges that reach no higher one are joined by Rem's algorithm
(:mod:`~edgewise.components.rem`), and the trees are compressed, which makes them the labels of the next.
Each edge is joined once, however many thresholds there are; no spanning forest is needed.

The roots are the smallest vertices of their trees, so a set of vertices that is a cluster at two thresholds
has the same label at both, and the labels are those of a run for one threshold alone.
"""

from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from edgewise import tuning
from edgewise.components.rem import AHEAD, union
from edgewise.components.threshold_limits import checked, limits_of
from edgewise.components.threshold_result import ThresholdComponents
from edgewise.components.trees import compress, make_singletons
from edgewise.device import arrays, each
from edgewise.device.prefetch import prefetch
from edgewise.errors import GraphError, OptionError, OutOfMemoryError, argument
from edgewise.graph import Graph
from edgewise.method import check_weights, on_device, worker_names
from edgewise.needs import size_of


class Levels(NamedTuple):
    """Edges, and how many thresholds each one reaches.

    Attributes
    ----------
    reached : (m,) uint8 array
    sources, targets : (m,) index arrays
    """

    reached: Any
    sources: Any
    targets: Any


@each
def count_reached(edge, weights, thresholds, reached):
    """Count the thresholds, which ascend, that the weight of an edge reaches."""
    low, high = np.int64(0), np.int64(len(thresholds))
    while low < high:
        middle = (low + high) // 2
        if thresholds[middle] <= weights[edge]:
            low = middle + 1
        else:
            high = middle
    reached[edge] = low


@partial(each, ascending=True)
def unite_level(edge, level, parent, levels):
    """Join the ends of one edge if it reaches exactly so many thresholds."""
    if levels.reached[edge] == level:
        union(parent, levels.sources[edge], levels.targets[edge])


@partial(each, ascending=True)
def unite_level_scattered(edge, level, parent, levels):
    """The same on the CPU where the parents do not fit its caches: those of a later edge are fetched."""
    soon = min(edge + AHEAD, len(levels.sources) - 1)
    if levels.reached[soon] == level:
        prefetch(parent, levels.sources[soon])
        prefetch(parent, levels.targets[soon])
    if levels.reached[edge] == level:
        union(parent, levels.sources[edge], levels.targets[edge])


@each
def copy_parent(vertex, parent, copied):
    """Start the trees of a threshold from those of the next higher one."""
    copied[vertex] = parent[vertex]


def labels_at(n_vertices, count, levels):
    """Smallest vertex of each vertex's component at ``count`` thresholds: (count, n_vertices) index array."""
    device, m = arrays.device_of(levels.sources), len(levels.sources)
    labels = arrays.empty(count * n_vertices, levels.sources.dtype, device).reshape(count, n_vertices)
    unite = (
        unite_level_scattered
        if device == "cpu" and n_vertices >= tuning.CPU.components_cached
        else unite_level
    )
    for level in range(count, 0, -1):
        parent = labels[level - 1]
        if level == count:
            make_singletons(n_vertices, parent)
        else:
            copy_parent(n_vertices, labels[level], parent)
        unite(m, level, parent, levels)
        compress(n_vertices, parent)
    return labels


def components_at(graph, thresholds, device=None) -> ThresholdComponents:
    """Components at several thresholds; see :func:`edgewise.connected_components`."""
    thresholds = checked(thresholds)
    if not isinstance(graph, Graph):
        raise OptionError(f"a split graph has no weights; give {argument('thresholds')} to the whole graph")
    graph = on_device(graph, device)
    with arrays.guard(graph.device):
        sources, targets, weights = _weighted_edges(graph)
        _check_memory(graph, len(thresholds))
        arrays.synchronize(graph.device)
        start = perf_counter()
        levels = Levels(arrays.empty(len(sources), np.uint8, graph.device), sources, targets)
        limits = arrays.move(limits_of(thresholds, weights.dtype), graph.device)
        count_reached(len(sources), weights, limits, levels.reached)
        labels = labels_at(graph.n_vertices, len(thresholds), levels)
        arrays.synchronize(graph.device)
        seconds = perf_counter() - start
    found = thresholds, labels, weights
    return ThresholdComponents(graph, "rem", seconds, *found, devices=worker_names(graph.device))


def _weighted_edges(graph):
    """The edge list of the graph, with its weights."""
    ends, weights = (graph.sources, graph.targets), graph.weights
    if weights is None:
        remedy = f"give {argument('weight')} an array with a number for each edge"
        raise GraphError(f"the graph has no weights that {argument('thresholds')} could apply to; {remedy}")
    check_weights(graph, ends, weights)
    return *ends, weights


def bytes_needed(count, size) -> int:
    """Bytes of the labels of so many thresholds, and a byte for each edge."""
    return count * size.vertices * size.width + size.edges


def _check_memory(graph, count):
    """Raise OutOfMemoryError unless the labels of all thresholds, and a byte for each edge, fit."""
    needed, free = bytes_needed(count, size_of(graph)), arrays.free_memory(graph.device)
    if needed > free:
        problem = f"{graph.device} has too little memory for the labels of {count} thresholds"
        sizes = f"{needed:,} bytes needed, {free:,} free"
        raise OutOfMemoryError(f"{problem}: {sizes}; give fewer {argument('thresholds')}")
