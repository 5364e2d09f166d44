"""Connected and weakly connected components."""

import networkx as nx
import numpy as np

import edgewise
from edgewise.networkx.registry import LESS, MANY_NODES, implements
from edgewise.networkx.small import components

#: Entries up to which one core finds components in the rows: 20 ms, as two cores take with their start.
MAX_ENTRIES = 1 << 21
NULL_GRAPH = "Connectivity is undefined for the null graph."


def labels_of(G):
    """Smallest position of each node's component, and the number of components."""

    def find():
        if len(G.outgoing()[1]) <= MAX_ENTRIES:
            labels = components(G)
            return labels, int((labels == np.arange(G.n)).sum())
        found = edgewise.connected_components(G.undirected())
        return found.labels, found.count

    return G.cached("components", find)


def sets_of(G, labels, count):
    """The components as sets, in the order of their labels."""
    if count == G.n:
        return ({name} for name in G.names(np.argsort(labels)))
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.unique(labels, return_counts=True)[1]).tolist()
    names = G.names(order)
    return (set(names[begin:end]) for begin, end in zip([0, *ends], ends))


def _is_one(G):
    if not G.n:
        raise nx.NetworkXPointlessConcept(NULL_GRAPH)
    return labels_of(G)[1] == 1


@implements(nodes=MANY_NODES)
def connected_components(G):
    return sets_of(G, *labels_of(G))


@implements(nodes=MANY_NODES)
def number_connected_components(G):
    return labels_of(G)[1]


@implements(nodes=MANY_NODES)
def is_connected(G):
    return _is_one(G)


def _is_view(get):
    return "the graph is a view, whose errors are others" if hasattr(get("G"), "_NODE_OK") else None


@implements(cost=LESS, why_not=_is_view)
def node_connected_component(G, n):
    vertex = G.find(n)
    if vertex is None:
        raise KeyError(n)
    labels, _ = labels_of(G)
    return set(G.names(np.flatnonzero(labels == labels[vertex])))


@implements(nodes=MANY_NODES)
def weakly_connected_components(G):
    return sets_of(G, *labels_of(G))


@implements(nodes=MANY_NODES)
def number_weakly_connected_components(G):
    return labels_of(G)[1]


@implements(nodes=MANY_NODES)
def is_weakly_connected(G):
    return _is_one(G)


@implements(cost=LESS)
def isolates(G):
    offsets, neighbours = G.outgoing()
    is_isolated = np.diff(offsets) == 0
    if G.is_directed():
        is_isolated[neighbours] = False
    return iter(G.names(np.flatnonzero(is_isolated)))


@implements(cost=LESS)
def number_of_isolates(G):
    return sum(1 for _ in isolates(G))
