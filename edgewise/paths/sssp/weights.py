"""Weights of a search and the type of its distances: what is refused, what is converted, what overflows.

Distances come in the type of the graph's weights, one of int32, int64, float32 and float64, and in the next
wider one where a distance is too large for int32 or float32.

Distances of floats are sums in their own type, rounded after every edge.  Rounding is monotone, so where no
weight is negative there is one fixpoint ``distance[v] = min(distance[u] + weight)``, and every method, device
and number of threads finds it, bit for bit.  With negative weights a cycle that sums up to zero may sum up to
a little less (-0.1 - 0.2 + 0.3 is -5.6e-17).  Then either it is followed until another lap lowers nothing
more, or it is reported as a negative cycle.
"""

import math
from functools import cache

import numpy as np

from edgewise.device import arrays, each, fetch_max
from edgewise.errors import GraphError, OptionError, argument
from edgewise.graph import Graph
from edgewise.paths.csr import adjacency_of, spread_of, unreached
from edgewise.paths.hierarchy import kept
from edgewise.primitives import count
from edgewise.weights import SIMILARITY

#: Types of distances, and the next wider one that a distance may need.
TYPES = ("int32", "int64", "float32", "float64")
WIDER = {"int32": "int64", "float32": "float64"}


def type_named(dtype):
    """Name of a type of distances, given as NumPy takes it: ``"int32"``, ``np.int32`` ..."""
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = None
    if name not in TYPES:
        raise OptionError(f"{argument('dtype', dtype)} is unknown; use one of {', '.join(TYPES)}")
    return name


def wider_than(name, requested=False, passes="passes"):
    """Name of the type to search in again, where a distance passes (or may pass) the end of type ``name``."""
    if not requested and name in WIDER:
        return WIDER[name]
    wider = WIDER.get(name) or ("float64" if name == "int64" else None)
    remedy = f"use {argument('dtype', wider)}" if wider else "use smaller weights"
    raise GraphError(f"a distance {passes} the largest number of {name}; {remedy}")


def rows_in(graph, name=None):
    """The rows of ``graph`` with weights of type ``name``, by default their own; checked and made once.

    Entries of infinite weight are not among them.
    """
    spread, hierarchy = spread_in(graph), kept(graph)
    graph, name = passable(graph), name or graph.csr_weights.dtype.name
    rows = adjacency_of(graph, name, lambda: _converted(graph.csr_weights, name, spread))
    rows.spread = spread
    rows.routes = rows.routes or hierarchy
    return rows


def spread_in(graph):
    """Least, largest and mean weight of the graph, infinity excepted; the weights are checked once."""
    weights = graph.csr_weights
    if weights is None:
        raise GraphError("the graph has no weights; use edgewise.bfs, where every edge counts one")
    if (name := graph.assumed_weights) and SIMILARITY.search(name):
        problem = f"the weights are the column {name!r}, which sounds like a similarity"
        raise GraphError(f"{problem}; if it is a distance, use {argument('weight', name)}")

    return graph.cached("spread", lambda: spread_of(passable(graph).csr_weights))


def passable(graph):
    """The graph without its edges of infinite weight, over which no path leads; itself if it has none.

    Raises
    ------
    GraphError
        A weight is NaN or minus infinity.
    """
    weights = graph.csr_weights
    if weights is None or weights.dtype.kind != "f" or not len(weights):
        return graph
    finite = graph.cached("edges of finite weight", lambda: _with_finite_weights(graph, weights))
    return graph if finite is None else finite


def _with_finite_weights(graph, weights):
    """The graph without edges of infinite weight; ``None`` where all weights are finite."""
    least, largest = weights.min().item(), weights.max().item()
    if math.isfinite(least) and math.isfinite(largest):
        return None
    xp = arrays.namespace(weights)
    wrong = xp.isnan(weights) | (weights == -np.inf)
    if count(wrong):
        entry = int(wrong.argmax())
        problem = f"the edge {edge_at(graph, entry)} weighs {weights[entry]}"
        raise GraphError(f"{problem}; weights are numbers, and infinity means that there is no edge")
    keep = weights != np.inf
    before = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(keep, dtype=np.int64)])
    rows = before[graph.offsets], graph.neighbours[keep], weights[keep]
    return Graph(graph.n_vertices, rows=rows, directed=graph.directed)


def edge_at(graph, entry):
    """The ids of the endpoints of an entry, as text for a message."""
    source = int(arrays.namespace(graph.device).searchsorted(graph.offsets, entry, side="right")) - 1
    one, other = graph.ids_of(np.array([source, int(graph.neighbours[entry])])).tolist()
    return f"from {one!r} to {other!r}"


@np.errstate(over="ignore")
def _converted(weights, name, spread):
    if weights.dtype.name == name:
        return weights
    dtype = np.dtype(name)
    if dtype.kind == "f":
        if weights.dtype.kind == "f":
            fits = max(abs(spread.least), abs(spread.largest)) <= np.finfo(dtype).max
        else:  # if the extremes survive the conversion, all between them can be converted back
            fits = all(int(dtype.type(end)) == end for end in (spread.least, spread.largest))
            fits = fits and not count(weights.astype(dtype).astype(weights.dtype) != weights)
    else:
        limits = np.iinfo(dtype)
        fits = limits.min <= spread.least and spread.largest < limits.max
        if fits and weights.dtype.kind == "f":
            fits = not count(weights != weights.astype(dtype))
    if not fits:
        raise OptionError(
            f"weights from {spread.least} to {spread.largest} do not fit {argument('dtype', name)} exactly"
        )
    return weights.astype(dtype)


def limit_in(cutoff, dtype):
    """The largest distance that counts, in the type of the distances."""
    largest = _largest(dtype)
    if cutoff is None or cutoff >= largest:
        return largest
    dtype = largest.dtype
    return dtype.type(cutoff if dtype.kind == "f" else math.floor(cutoff))


@cache
def _largest(dtype):
    """The largest distance of a type, in that type."""
    dtype = np.dtype(dtype)
    return dtype.type(np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max - 1)


def least_in(dtype):
    """The least distance, in the type of the distances."""
    dtype = np.dtype(dtype)
    return np.finfo(dtype).min if dtype.kind == "f" else dtype.type(np.iinfo(dtype).min)


def just_beyond(limit):
    """The least distance larger than ``limit``, in its type."""
    if limit.dtype.kind == "f":
        return np.nextafter(limit, limit.dtype.type(np.inf))
    return limit.dtype.type(int(limit) + 1)


def past_the_end(rows, distances, cutoff, largest=None):
    """Whether a vertex is unreached only because its distance would pass the end of its type.

    No edge lowers any of the ``distances``, and those beyond the ``cutoff`` are not missed.  ``largest`` is
    an upper bound of the distances, which saves computing it.
    """
    dtype, heaviest = distances.dtype, rows.spread.largest
    end = limit_in(None, dtype).item()
    if 2 * heaviest * len(distances) <= end or cutoff < end or not len(rows.weights):
        return False
    none = dtype.type(unreached(dtype))
    if largest is None:
        largest = arrays.namespace(distances).where(distances == none, 0, distances).max().item()
    if largest + heaviest <= end:
        return False
    missed = arrays.zeros(1, np.int32, arrays.device_of(distances))
    with np.errstate(over="ignore"):
        _mark_missed(rows.n_vertices, rows.offsets, rows.neighbours, distances, none, missed)
    return bool(missed[0])


@each
def _mark_missed(vertex, offsets, neighbours, distances, none, missed):
    """Record an edge from a reached vertex to an unreached one: its sum is too large."""
    if distances[vertex] != none:
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            if distances[neighbours[entry]] == none:
                fetch_max(missed, 0, 1)
