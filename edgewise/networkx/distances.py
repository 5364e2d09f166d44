"""Eccentricity, diameter, radius, center and periphery.

Where all eccentricities are wanted, edgewise searches from every node, many at a time.  For one number of an
undirected graph, searches from few nodes bound the eccentricities of all others
(:mod:`~edgewise.paths.measures.diameter`).
"""

from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

import edgewise
from edgewise.errors import GraphError
from edgewise.networkx.breadth_first import Search
from edgewise.networkx.components import labels_of
from edgewise.networkx.nearest_first import NearestFirst
from edgewise.networkx.registry import implements, without_callable
from edgewise.networkx.unweighted import one
from edgewise.networkx.weighted import rows_by
from edgewise.paths.measures import distance_measures
from edgewise.paths.measures.diameter import Bounds, may_be_diameter
from edgewise.primitives.thread_pool import ThreadPool

#: Searches without an answer after which all nodes are searched from.
MAX_SEARCHES = 2000
#: Memory of a search, in bytes per node.
BYTES_PER_NODE = 25
#: Memory of a search, in bytes per entry of the rows.
BYTES_PER_ENTRY = 24
UNBOUNDED = "Cannot compute metric because graph is not connected."
INFINITE = "Found infinite path length because the {} connected"


def _no_nodes(get):
    return without_callable("weight")(get) if len(get("G")) else "the graph has no nodes"


def _cannot_bound(get):
    is_weighted = get("usebounds") is True and get("weight") is not None
    return "bounds of weighted distances are wanted" if is_weighted else _no_nodes(get)


def measures_of(G, weight):
    """Eccentricities and average distance, computed once."""

    def measure():
        if weight is None:
            return distance_measures(without_weights(G))
        if not np.isfinite(_not_negative(G, weight).weights).all():
            raise NotImplementedError("a weight is infinite")
        try:
            return distance_measures(G.weighted(weight))
        except GraphError as error:
            raise NotImplementedError(str(error)) from error  # a distance is not a float64

    return G.cached(("measures", weight), measure)


def _not_negative(G, weight):
    """The rows with weights, along which the vertex that is settled last is the farthest."""
    rows = rows_by(G, weight)
    if rows.weights.min(initial=0) < 0:
        raise NotImplementedError("a weight is negative")
    return rows


def without_weights(G):
    """The graph without weights."""
    if G.graph.csr_weights is None:
        return G.graph

    def make():
        return edgewise.Graph(G.n, rows=(*G.outgoing(), None), directed=G.is_directed())

    return G.cached("plain", make)


def eccentricities(G, weight):
    """Eccentricity of every node: (n,) int64 array, or float64 where weights are floats."""
    rows = None if weight is None else _not_negative(G, weight)
    if rows is not None and rows.weights.dtype.kind == "f":
        return G.cached(("eccentricities", weight), lambda: _of_floats(G, rows))
    found = measures_of(G, weight).eccentricities
    if not np.isfinite(found).all():
        raise _infinite(G)
    return found.astype(np.int64)


def _of_floats(G, rows):
    """Eccentricities by searches whose sums are rounded as NetworkX's, along the paths; on all cores."""
    found = np.empty(G.n)

    def search_from(begin, end):
        search = NearestFirst(rows)
        for vertex in range(begin, end):
            run = search.run(one(vertex))
            if len(run.order) < G.n:
                raise _infinite(G)
            found[vertex] = run.distances[run.order[-1]]

    pool = ThreadPool(G.n, BYTES_PER_NODE * G.n + BYTES_PER_ENTRY * len(rows.weights))
    ends = np.linspace(0, G.n, pool.n_workers + 1).astype(np.int64).tolist()
    pool.starmap(search_from, list(pairwise(ends)))
    return found


def _infinite(G):
    kind = "digraph is not strongly" if G.is_directed() else "graph is not"
    return nx.NetworkXError(INFINITE.format(kind))


@implements(why_not=lambda get: "sp is given" if get("sp") is not None else _no_nodes(get))
def eccentricity(G, v=None, sp=None, weight=None):
    vertices, single = G.wanted(v)
    if vertices is None:
        return dict(zip(G, _as_numbers(eccentricities(G, weight))))
    found = _of_some(G, vertices, weight)
    return found[0] if single else dict(zip(map(G.name, vertices), found))


def _of_some(G, vertices, weight):
    """Eccentricities of some vertices."""
    search: Any = Search(G.outgoing()) if weight is None else NearestFirst(_not_negative(G, weight))
    found = []
    for vertex in vertices:
        run = search.run(one(vertex))
        if len(run.order) < G.n:
            raise _infinite(G)
        found.append((run.levels if weight is None else run.distances)[run.order[-1]])
    return _as_numbers(np.array(found))


def _as_numbers(found):
    """Eccentricities as a list; NetworkX's largest of zeros is that of the source, an integer."""
    return [value or 0 for value in found.tolist()]


def _undecided_radius(lower, upper):
    return lower < upper.min()


def _undecided_periphery(lower, upper):
    return upper >= lower.max()


def _undecided_center(lower, upper):
    return lower <= upper.min()


def _bounded(G, undecided, usebounds):
    """Bounds that decide a question, or ``None`` if all eccentricities are quicker."""
    if labels_of(G)[1] > 1:
        raise nx.NetworkXError(UNBOUNDED) if usebounds is True else _infinite(G)
    search = Search(G.outgoing())

    def levels_from(vertex):
        return search.run(one(vertex)).levels

    bounds = Bounds(np.diff(G.outgoing()[0]), levels_from)
    return bounds if bounds.tighten(undecided, MAX_SEARCHES) else None


def _can_bound(G, weight):
    return weight is None and not G.is_directed() and G.n > 0


@implements(why_not=_cannot_bound)
def diameter(G, e=None, usebounds=False, weight=None):
    if e is not None:
        return max(e.values())
    if _can_bound(G, weight) and (bounds := _bounded(G, may_be_diameter, usebounds)) is not None:
        return int(bounds.lower.max())
    return max(_as_numbers(eccentricities(G, weight)))


@implements(why_not=_cannot_bound)
def radius(G, e=None, usebounds=False, weight=None):
    if e is not None:
        return min(e.values())
    if _can_bound(G, weight) and (bounds := _bounded(G, _undecided_radius, usebounds)) is not None:
        return int(bounds.upper.min())
    return min(_as_numbers(eccentricities(G, weight)))


@implements(why_not=_cannot_bound)
def periphery(G, e=None, usebounds=False, weight=None):
    if e is not None:
        return [node for node, value in e.items() if value == max(e.values())]
    if _can_bound(G, weight) and (bounds := _bounded(G, _undecided_periphery, usebounds)) is not None:
        return G.names(np.flatnonzero(bounds.lower == bounds.lower.max()))
    found = eccentricities(G, weight)
    return G.names(np.flatnonzero(found == found.max()))


@implements(why_not=_cannot_bound)
def center(G, e=None, usebounds=False, weight=None):
    if e is not None:
        return [node for node, value in e.items() if value == min(e.values())]
    if _can_bound(G, weight) and (bounds := _bounded(G, _undecided_center, usebounds)) is not None:
        return G.names(np.flatnonzero(bounds.upper == bounds.upper.min()))
    found = eccentricities(G, weight)
    return G.names(np.flatnonzero(found == found.min()))
