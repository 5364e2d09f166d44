"""Components at several thresholds of the weights, by one union-find over the edges.

The clusters at a threshold are the components of the edges of at least this weight.  A lower threshold only
adds edges, so its clusters are unions of those of the next higher one.  Each edge is therefore given the
highest threshold that it reaches, its level, and the levels are taken from the highest to the lowest: the
edges of one are joined by Rem's algorithm (:mod:`~edgewise.components.rem`), the vertices that are no roots
any more are noted with their roots (:mod:`~edgewise.components.nested`), and the next level goes on with the
same trees.  Each edge is joined once, and each vertex noted once, however many thresholds there are; no
spanning forest is needed, and no order of the edges of one level.

On the CPU the edges are moved next to the others of their level first, so that a level is a list like any
other; a GPU reads the levels of all edges for each of them.

The roots are the smallest vertices of their trees, so a set of vertices that is a cluster at two thresholds
has the same label at both, and the labels are those of a run for one threshold alone.
"""

from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from edgewise.components.nested import Nested, new_nested, note_joined
from edgewise.components.rem import union, unite_all
from edgewise.components.threshold_limits import MAX_THRESHOLDS, checked, limits_of
from edgewise.components.threshold_result import ThresholdComponents
from edgewise.components.trees import singletons
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


def begins_of_levels(levels):
    """Blocks of edges, their bounds, where they place their edges by level, and where each level begins."""
    m = len(levels.sources)
    blocks = n_blocks_of(m)
    bounds, counts = bounds_of(m, blocks), np.zeros(blocks * N_LEVELS, np.int64)
    count_levels(blocks, bounds, levels, counts)
    return blocks, bounds, *starts_by_key(counts, blocks)


def by_level(levels):
    """Sources and targets of the edges by level, on the host, and (levels + 1,) where each one begins."""
    blocks, bounds, starts, begins = begins_of_levels(levels)
    ends = np.empty_like(levels.sources), np.empty_like(levels.targets)
    move_to_levels(blocks, bounds, levels, starts, *ends)
    return *ends, begins


def unite_levels(n_vertices, count, levels):
    """Yield the levels, the highest first, each with the parents of the vertices and its number of edges.

    The next step changes the parents.
    """
    device, m = arrays.device_of(levels.sources), len(levels.sources)
    parent = singletons(n_vertices, levels.sources)
    if device == "cpu":
        sources, targets, begins = by_level(levels)
    for level in range(count, 0, -1):
        if device == "cpu":
            part = slice(begins[level], begins[level + 1])
            unite_all(parent, sources[part], targets[part])
            yield level, parent, part.stop - part.start
        else:
            unite_level(m, level, parent, levels)
            yield level, parent, n_marked(levels.reached == level)


def nested_components(n_vertices, count, levels) -> tuple[Nested, np.ndarray]:
    """The components at ``count`` thresholds, and the number of edges that reach each of these.

    The numbers are a (count,) int64 array on the host.
    """
    nested = new_nested(n_vertices, levels.sources.dtype, arrays.device_of(levels.sources))
    edges = np.zeros(count, np.int64)
    for level, parent, n_edges in unite_levels(n_vertices, count, levels):
        note_joined(n_vertices, level, parent, nested)
        edges[:level] += n_edges
    return nested, edges


def components_at(graph, thresholds, device=None) -> ThresholdComponents:
    """Components at several thresholds; see :func:`edgewise.connected_components`."""
    thresholds = checked(thresholds)
    if not isinstance(graph, Graph):
        raise OptionError(f"a split graph has no weights; give {argument('thresholds')} to the whole graph")
    graph = on_device(graph, device)
    with arrays.guard(graph.device):
        sources, targets, weights = _weighted_edges(graph)
        arrays.synchronize(graph.device)
        start = perf_counter()
        levels = Levels(arrays.empty(len(sources), np.uint8, graph.device), sources, targets)
        limits = arrays.move(limits_of(thresholds, weights.dtype), graph.device)
        with few_steps(len(thresholds) * graph.n_vertices + len(sources)):
            count_reached(len(sources), weights, limits, levels.reached)
            nested, edge_counts = nested_components(graph.n_vertices, len(thresholds), levels)
        arrays.synchronize(graph.device)
        seconds = perf_counter() - start
    edge_counts.flags.writeable = False
    found = thresholds, edge_counts, *nested, weights
    return ThresholdComponents(graph, "rem", seconds, *found, devices=worker_names(graph.device))


def _weighted_edges(graph):
    """The edge list of the graph, with its weights, if there is memory for their components."""
    if not graph.is_weighted:
        remedy = f"give {argument('weight')} an array with a number for each edge"
        raise GraphError(f"the graph has no weights that {argument('thresholds')} could apply to; {remedy}")
    _check_memory(graph)
    ends, weights = (graph.sources, graph.targets), graph.weights
    check_weights(graph, ends, weights)
    return *ends, weights


def bytes_needed(size, device="cpu") -> int:
    """Bytes of the parents and the nested components, of the level of each edge, and of its copy on the host.

    The number of thresholds does not matter.
    """
    copied = 2 * size.width if device == "cpu" else 0
    return size.vertices * (2 * size.width + 1) + size.edges * (1 + copied)


def _check_memory(graph):
    """Raise OutOfMemoryError unless what is allocated fits, and the edge list if that is not there yet."""
    size, free = size_of(graph), arrays.free_memory(graph.device)
    own = bytes_needed(size, graph.device)
    needed = of_steps("rem", [*steps_to_make(graph, "edges", size), Step("rem", own, own)]).bytes
    if needed > free:
        problem = f"{graph.device} has too little memory for components at several thresholds"
        raise OutOfMemoryError(f"{problem}: {needed:,} bytes needed, {free:,} free; take a smaller graph")
