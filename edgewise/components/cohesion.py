"""How well clusters hold together, and which pair of theirs to look at first.

The pairs of a cluster are those of the graph between its members that count, each once, and not only those
that a spanning forest needs.  Its *weakest* score is the largest threshold at which it is still one cluster:
that of the last pair that joins two parts, when pairs come in order of their scores.  A *bridge* is a pair
without which the cluster falls into two parts.  If these have ``a`` and ``b`` members, ``a * b`` pairs of
records are together by this pair alone, and are parted if it is wrong.

One depth-first search finds all bridges (R. Tarjan, "A note on finding the bridges of a graph", 1974): the
edge by which a vertex was reached is one if no other edge leads from what was reached through this vertex to
a vertex that was reached before it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.components.cluster_table import ClusterTable
from edgewise.components.naming import check_name
from edgewise.components.threshold_limits import strongest
from edgewise.device import arrays, compiled
from edgewise.graph import Graph
from edgewise.ingest.arrow import arrow_array
from edgewise.ingest.csr import rows_from_edges
from edgewise.method import check_weights, check_whole


class Search(NamedTuple):
    """A depth-first search: (n,) int64 arrays.

    Attributes
    ----------
    reached : array
        The number of a vertex in the order in which they are reached; -1 before.
    lowest : array
        The least number of a vertex at one end of an edge, other than that by which the vertex was reached,
        whose other end was reached through it.
    through : array
        The edge by which a vertex was reached; -1 for the first one of a component.
    above : array
        The other end of that edge.
    sizes : array
        How many vertices were reached through a vertex, itself among them.
    entries : array
        The next entry of a row.
    """

    reached: Any
    lowest: Any
    through: Any
    above: Any
    sizes: Any
    entries: Any


@compiled
def search_depth_first(offsets, neighbours, edges, search):
    """Go through all components, each from its first vertex on; the rows have no entry twice."""
    reached, lowest, through, above, sizes, entries = search
    count = 0
    for start in range(len(reached)):
        vertex, edge, source = np.int64(start), np.int64(-1), np.int64(-1)
        if reached[vertex] >= 0:
            continue
        while vertex >= 0:
            if reached[vertex] < 0:
                reached[vertex], lowest[vertex], entries[vertex] = count, count, offsets[vertex]
                through[vertex], above[vertex], sizes[vertex] = edge, source, 1
                count += 1
            entry = entries[vertex]
            if entry < offsets[vertex + 1]:
                entries[vertex] = entry + 1
                other = np.int64(neighbours[entry])
                if reached[other] < 0:
                    vertex, edge, source = other, edges[entry], vertex
                elif edges[entry] != through[vertex]:
                    lowest[vertex] = min(lowest[vertex], reached[other])
            else:
                source = above[vertex]
                if source >= 0:
                    sizes[source] += sizes[vertex]
                    lowest[source] = min(lowest[source], lowest[vertex])
                vertex = source


@compiled
def note_joining(sources, targets, parent, joining):
    """Note for each cluster, at its root, the last edge in order that joins two parts of it.

    ``parent`` becomes the forest of the clusters.
    """
    for edge in range(len(sources)):
        one, other = np.int64(sources[edge]), np.int64(targets[edge])
        while parent[one] != one:
            parent[one] = parent[parent[one]]
            one = np.int64(parent[one])
        while parent[other] != other:
            parent[other] = parent[parent[other]]
            other = np.int64(parent[other])
        if one != other:
            root, joined = min(one, other), max(one, other)
            parent[joined] = root
            joining[root] = edge


class Pairs(NamedTuple):
    """The pairs inside the clusters, each once: (m,) arrays on the host.

    Attributes
    ----------
    sources, targets : integers
    weights : array or None
    strength : int64 array
        Their order by weight, the strongest first: 0, 1, ...; of equal ones the last.
    parted : int64 array
        How many pairs of records a pair parts if it is left out; 0 unless it is a bridge.
    """

    sources: Any
    targets: Any
    weights: Any
    strength: Any
    parted: Any


def pairs_inside(clusters) -> Pairs:
    """The pairs inside clusters, and what each of them parts."""
    labels = arrays.move(clusters.labels, "cpu")
    sources, targets, weights = clusters._counting_pairs()
    inside = (labels[sources] == labels[targets]) & (sources != targets)
    sources, targets = sources[inside], targets[inside]
    if weights is not None:
        weights = weights[inside]
        check_weights(clusters.graph, (sources, targets), weights)
    graph = Graph(len(labels), edges=(sources, targets, weights))
    graph = graph.simplified(repeated="max" if clusters.maximum else "min")
    sources, targets, weights = graph.sources, graph.targets, graph.weights
    last = len(sources) - 1
    if weights is None:
        order = np.arange(last, -1, -1)
    elif clusters.maximum:
        order = np.argsort(weights, kind="stable")[::-1]
    else:
        order = last - np.argsort(weights[::-1], kind="stable")
    strength = np.empty(len(order), np.int64)
    strength[order] = np.arange(len(order))
    return Pairs(sources, targets, weights, strength, _parted(len(labels), sources, targets))


def _parted(n, sources, targets):
    """How many pairs of vertices each edge parts if it is left out."""
    rows = rows_from_edges(n, sources, targets, True, True)
    search = Search(np.full(n, -1), *(np.empty(n, np.int64) for _ in range(5)))
    search_depth_first.with_steps(n + 2 * len(sources), *rows, search)
    bridges = np.flatnonzero((search.through >= 0) & (search.lowest == search.reached))
    ordered = np.argsort(search.reached)
    first = np.flatnonzero(search.through[ordered] < 0)
    component = np.empty(n, np.int64)
    component[ordered] = np.repeat(search.sizes[ordered[first]], np.diff(np.append(first, n)))
    parted = np.zeros(len(sources), np.int64)
    beyond = search.sizes[bridges]
    parted[search.through[bridges]] = beyond * (component[bridges] - beyond)
    return parted


def cohesion(clusters, count, name, min_size):
    """Table of clusters; see :meth:`Components.cohesion`."""
    import pyarrow as pa

    check_name(name)
    if count is not None:
        check_whole("count", count, 0)
    table, pairs = ClusterTable(clusters, name, min_size), pairs_inside(clusters)
    labels, n = table.labels, len(table.labels)
    roots = np.flatnonzero((labels == np.arange(n)) & (table.sizes >= table.min_size))
    of_pairs = labels[pairs.sources]
    numbers, bridges = (
        np.bincount(one, minlength=n)[roots] for one in (of_pairs, of_pairs[pairs.parted > 0])
    )
    most = np.zeros(n, np.int64)
    np.maximum.at(most, of_pairs, pairs.parted)
    order = np.argsort(-most[roots], kind="stable")[:count]
    roots, numbers, bridges = roots[order], numbers[order], bridges[order]
    sizes = table.sizes[roots]
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.where(sizes > 1, numbers / (sizes * (sizes - 1) / 2), np.nan)
    columns = {"cluster": table.names_of(roots), "size": arrow_array(sizes), "pairs": arrow_array(numbers)}
    columns["density"] = arrow_array(density, np.isnan(density))
    if pairs.weights is not None:
        columns["weakest"] = _weakest(n, pairs, roots)
    columns |= {"bridges": arrow_array(bridges), "parted": arrow_array(most[roots])}
    return pa.table(columns)


def _weakest(n, pairs, roots):
    """The weight of the last pair that joins two parts of each cluster; null for a single record."""
    ordered = np.empty(len(pairs.strength), np.int64)
    ordered[pairs.strength] = np.arange(len(ordered))
    parent, joining = np.arange(n), np.full(n, -1)
    note_joining.with_steps(n + len(ordered), pairs.sources[ordered], pairs.targets[ordered], parent, joining)
    last = joining[roots]
    alone = last < 0
    if not len(ordered):
        return arrow_array(np.zeros(len(roots), pairs.weights.dtype), alone)
    return arrow_array(pairs.weights[ordered[last]], alone)


def review(clusters, count, name):
    """Table of bridges; see :meth:`Components.review`."""
    import pyarrow as pa

    check_name(name)
    if count is not None:
        check_whole("count", count, 0)
    table, pairs = ClusterTable(clusters, name), pairs_inside(clusters)
    listed = pairs.parted > 0
    if pairs.weights is not None:
        listed &= pairs.weights != strongest(pairs.weights.dtype, clusters.maximum)
    bridges = np.flatnonzero(listed)
    bridges = bridges[np.lexsort((-pairs.strength[bridges], -pairs.parted[bridges]))][:count]
    roots = table.labels[pairs.sources[bridges]]
    columns = {
        name: arrow_array(clusters.graph.ids_of(ends[bridges]))
        for name, ends in (("source", pairs.sources), ("target", pairs.targets))
    }
    if pairs.weights is not None:
        columns["weight"] = arrow_array(pairs.weights[bridges])
    columns |= {"cluster": table.names_of(roots), "size": arrow_array(table.sizes[roots])}
    return pa.table(columns | {"parted": arrow_array(pairs.parted[bridges])})
