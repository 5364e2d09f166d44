"""Components at several thresholds of the weights, by one union-find over the edges.

The clusters at a threshold are the components of the edges of at least this weight.  A lower threshold only
adds edges, so its clusters are unions of those of the next higher one.  Each edge is therefore given the
number of thresholds that it reaches, its level, and is joined once, in any order and however many thresholds
there are, into one forest (:mod:`~edgewise.components.nested`); no spanning forest is needed.

The roots are the smallest vertices of their trees, so a set of vertices that is a cluster at two thresholds
has the same label at both, and the labels are those of a run for one threshold alone.
"""

from functools import partial
from time import perf_counter

import numpy as np

from edgewise.components.nested import join_edge, settle
from edgewise.components.threshold_limits import MAX_THRESHOLDS, checked, limits_of
from edgewise.components.threshold_result import ThresholdComponents
from edgewise.device import arrays, device, each
from edgewise.device.threads import few_steps
from edgewise.errors import GraphError, OptionError, OutOfMemoryError, argument
from edgewise.graph import Graph
from edgewise.method import check_weights, on_device, worker_names
from edgewise.needs import Step, of_steps, size_of, steps_to_make
from edgewise.primitives import count as n_marked
from edgewise.primitives.counting_sort import bounds_of, n_blocks_of

#: Levels, of which the lowest has the edges that reach no threshold; the counters of a block are far apart.
N_LEVELS = MAX_THRESHOLDS + 1
#: Bytes of a word of the nested components.
WORD = 8


@device
def level_of(weight, thresholds):
    """How many thresholds, which ascend, a weight reaches.

    The steps of the bisection depend on the number of thresholds alone: a branch would be predicted wrongly.
    """
    reached, left = np.int64(0), np.int64(len(thresholds))
    while left > 0:
        step = (left + 1) // 2
        left -= step
        reached += step * np.int64(thresholds[reached + step - 1] <= weight)
    return reached


@each
def count_reached(edge, weights, thresholds, levels):
    """Count the thresholds that the weight of an edge reaches."""
    levels[edge] = level_of(weights[edge], thresholds)


@partial(each, least_chunk=1)
def count_levels(block, bounds, levels, counts):
    """Count the edges of a block by level."""
    for edge in range(bounds[block], bounds[block + 1]):
        counts[block * N_LEVELS + levels[edge]] += 1


def edges_reaching(levels, count):
    """The number of edges that reach each of ``count`` thresholds: (count,) int64 array on the host."""
    if arrays.device_of(levels) != "cpu":
        return np.array([n_marked(levels >= level) for level in range(1, count + 1)], np.int64)
    blocks = n_blocks_of(len(levels))
    counts = np.zeros(blocks * N_LEVELS, np.int64)
    count_levels(blocks, bounds_of(len(levels), blocks), levels, counts)
    by_level = counts.reshape(blocks, N_LEVELS).sum(axis=0)
    return by_level[::-1].cumsum()[::-1][1 : count + 1].copy()


def nested_components(n_vertices, sources, targets, levels):
    """The components of edges with levels, as words of :mod:`~edgewise.components.nested`."""
    nested = arrays.zeros(n_vertices, np.uint64, arrays.device_of(levels))
    join_edge(len(levels), nested, sources, targets, levels)
    settle(n_vertices, nested)
    return nested


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
        levels = arrays.empty(len(sources), np.uint8, graph.device)
        limits = arrays.move(limits_of(thresholds, weights.dtype), graph.device)
        with few_steps(len(thresholds) * graph.n_vertices + len(sources)):
            count_reached(len(sources), weights, limits, levels)
            edge_counts = edges_reaching(levels, len(thresholds))
            nested = nested_components(graph.n_vertices, sources, targets, levels)
        arrays.synchronize(graph.device)
        seconds = perf_counter() - start
    edge_counts.flags.writeable = False
    found = thresholds, edge_counts, nested, weights
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


def bytes_needed(size) -> int:
    """Bytes of the nested components, and of the levels of the edges, however many thresholds there are."""
    return size.vertices * WORD + size.edges


def _check_memory(graph):
    """Raise OutOfMemoryError unless what is allocated fits, and the edge list if that is not there yet."""
    size, free = size_of(graph), arrays.free_memory(graph.device)
    own = bytes_needed(size)
    needed = of_steps("rem", [*steps_to_make(graph, "edges", size), Step("rem", own, own)]).bytes
    if needed > free:
        problem = f"{graph.device} has too little memory for components at several thresholds"
        raise OutOfMemoryError(f"{problem}: {needed:,} bytes needed, {free:,} free; take a smaller graph")
