"""Components at several thresholds of the weights, by one union-find over the edges.

The clusters at a threshold are the components of the edges of at least this weight.  A lower threshold only
adds edges, so its clusters are unions of those of the next higher one.  Each edge is therefore given the
highest threshold that it reaches, its level, and the levels are taken from the highest to the lowest: the
edges of one are joined by Rem's algorithm (:mod:`~edgewise.components.rem`), the trees are compressed and
copied, which makes them the labels of that threshold, and the next level goes on with the same trees.  Each
edge is joined once, however many thresholds there are; no spanning forest is needed, and no order of the
edges of one level.

On the CPU the edges are moved next to the others of their level first, so that a level is a list like any
other; a GPU reads the levels of all edges for each of them.

The roots are the smallest vertices of their trees, so a set of vertices that is a cluster at two thresholds
has the same label at both, and the labels are those of a run for one threshold alone.
"""

from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from edgewise.components.rem import union, unite_all
from edgewise.components.threshold_limits import MAX_THRESHOLDS, checked, limits_of
from edgewise.components.threshold_result import ThresholdComponents
from edgewise.components.trees import compress, make_singletons, put_below_root
from edgewise.device import arrays, each
from edgewise.device.threads import few_steps
from edgewise.errors import GraphError, OptionError, OutOfMemoryError, argument
from edgewise.graph import Graph
from edgewise.method import check_weights, on_device, worker_names
from edgewise.needs import Step, of_steps, size_of, steps_to_make
from edgewise.primitives import count as n_marked
from edgewise.primitives.counting_sort import bounds_of, n_blocks_of, starts_by_key

#: Levels, of which the lowest has the edges that reach no threshold; the counters of a block are far apart.
N_LEVELS = MAX_THRESHOLDS + 1


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
    """Join the ends of one edge if it reaches exactly so many thresholds: on a GPU."""
    if levels.reached[edge] == level:
        union(parent, levels.sources[edge], levels.targets[edge])


@partial(each, least_chunk=1)
def count_levels(block, bounds, levels, counts):
    """Count the edges of a block by level."""
    for edge in range(bounds[block], bounds[block + 1]):
        counts[block * N_LEVELS + levels.reached[edge]] += 1


@partial(each, least_chunk=1)
def move_to_levels(block, bounds, levels, starts, sources, targets):
    """Move the edges of a block to the starts of their levels, which move on."""
    for edge in range(bounds[block], bounds[block + 1]):
        counter = block * N_LEVELS + levels.reached[edge]
        place = starts[counter]
        sources[place], targets[place] = levels.sources[edge], levels.targets[edge]
        starts[counter] = place + 1


@each.prefetch(lambda vertex, parent, labels: (parent[vertex], parent[parent[vertex]]), ascending=True)
def compress_into(vertex, seen, parent, labels):
    """Point a vertex at its root, and note that."""
    labels[vertex] = put_below_root(vertex, seen[0], seen[1], parent)


def begins_of_levels(levels):
    """Blocks of edges, their bounds, where they place their edges by level, and where each level begins."""
    m = len(levels.sources)
    blocks = n_blocks_of(m)
    bounds, counts = bounds_of(m, blocks), np.zeros(blocks * N_LEVELS, np.int64)
    count_levels(blocks, bounds, levels, counts)
    return blocks, bounds, *starts_by_key(counts, blocks)


def edge_counts_of(count, levels):
    """How many edges reach each of ``count`` thresholds: (count,) int64 array on the host."""
    if arrays.device_of(levels.reached) == "cpu":
        begins = begins_of_levels(levels)[-1]
        return begins[-1] - begins[1 : count + 1]
    return np.array([n_marked(levels.reached > level) for level in range(count)], np.int64)


def by_level(levels):
    """Sources and targets of the edges by level, on the host, and (levels + 1,) where each one begins."""
    blocks, bounds, starts, begins = begins_of_levels(levels)
    ends = np.empty_like(levels.sources), np.empty_like(levels.targets)
    move_to_levels(blocks, bounds, levels, starts, *ends)
    return *ends, begins


def labels_at(n_vertices, count, levels):
    """Smallest vertex of each vertex's component at ``count`` thresholds: (count, n_vertices) index array."""
    device, m = arrays.device_of(levels.sources), len(levels.sources)
    labels = arrays.empty(count * n_vertices, levels.sources.dtype, device).reshape(count, n_vertices)
    parent = labels[0]  # of all levels in turn
    make_singletons(n_vertices, parent)
    if device == "cpu":
        sources, targets, begins = by_level(levels)
    for level in range(count, 0, -1):
        if device == "cpu":
            part = slice(begins[level], begins[level + 1])
            unite_all(parent, sources[part], targets[part])
        else:
            unite_level(m, level, parent, levels)
        if level > 1:
            compress_into(n_vertices, parent, labels[level - 1])
    compress(n_vertices, parent)
    return labels


def components_at(graph, thresholds, device=None) -> ThresholdComponents:
    """Components at several thresholds; see :func:`edgewise.connected_components`."""
    thresholds = checked(thresholds)
    if not isinstance(graph, Graph):
        raise OptionError(f"a split graph has no weights; give {argument('thresholds')} to the whole graph")
    graph = on_device(graph, device)
    with arrays.guard(graph.device):
        sources, targets, weights = _weighted_edges(graph, len(thresholds))
        arrays.synchronize(graph.device)
        start = perf_counter()
        levels = Levels(arrays.empty(len(sources), np.uint8, graph.device), sources, targets)
        limits = arrays.move(limits_of(thresholds, weights.dtype), graph.device)
        with few_steps(len(thresholds) * graph.n_vertices + len(sources)):
            count_reached(len(sources), weights, limits, levels.reached)
            labels = labels_at(graph.n_vertices, len(thresholds), levels)
            edge_counts = edge_counts_of(len(thresholds), levels)
        arrays.synchronize(graph.device)
        seconds = perf_counter() - start
    edge_counts.flags.writeable = False
    found = thresholds, edge_counts, labels, weights
    return ThresholdComponents(graph, "rem", seconds, *found, devices=worker_names(graph.device))


def _weighted_edges(graph, count):
    """The edge list of the graph, with its weights, if there is memory for so many thresholds."""
    if not graph.is_weighted:
        remedy = f"give {argument('weight')} an array with a number for each edge"
        raise GraphError(f"the graph has no weights that {argument('thresholds')} could apply to; {remedy}")
    _check_memory(graph, count)
    ends, weights = (graph.sources, graph.targets), graph.weights
    check_weights(graph, ends, weights)
    return *ends, weights


def bytes_needed(count, size, device="cpu") -> int:
    """Bytes of the labels of so many thresholds, of the level of each edge, and of its copy on the host."""
    copied = 2 * size.width if device == "cpu" else 0
    return count * size.vertices * size.width + size.edges * (1 + copied)


def _check_memory(graph, count):
    """Raise OutOfMemoryError unless what is allocated fits, and the edge list if that is not there yet."""
    size, free = size_of(graph), arrays.free_memory(graph.device)
    labels = bytes_needed(count, size, graph.device)
    needed = of_steps("rem", [*steps_to_make(graph, "edges", size), Step("rem", labels, labels)]).bytes
    if needed > free:
        problem = f"{graph.device} has too little memory for the labels of {count} thresholds"
        sizes = f"{needed:,} bytes needed, {free:,} free"
        raise OutOfMemoryError(f"{problem}: {sizes}; give fewer {argument('thresholds')}")
