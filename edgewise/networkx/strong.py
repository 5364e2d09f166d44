"""Strongly connected components, in the order in which NetworkX's depth-first search finishes them.

Both searches take nodes and neighbours in the order of the graph, so they finish the same component first.
"""

import networkx as nx
import numpy as np

from edgewise.networkx.components import NULL_GRAPH, sets_of
from edgewise.networkx.registry import LESS, SOME_NODES, implements
from edgewise.strong.tarjan import components_in_order


def ranks_of(G):
    """Position of each node's component in the order of the search, and the number of components."""

    def find():
        labels, firsts = components_in_order(G.n, *G.outgoing())
        ranks = np.empty(G.n, np.int64)
        ranks[firsts] = np.arange(len(firsts))
        return ranks[labels], len(firsts)

    return G.cached("strong components", find)


@implements(nodes=SOME_NODES)
def strongly_connected_components(G):
    return sets_of(G, *ranks_of(G))


@implements(nodes=SOME_NODES)
def number_strongly_connected_components(G):
    return ranks_of(G)[1]


@implements(cost=LESS)
def is_strongly_connected(G):
    if not G.n:
        raise nx.NetworkXPointlessConcept(NULL_GRAPH)
    ends_here = G.n > 1 and bool((np.diff(G.outgoing()[0]) == 0).any())
    return not ends_here and ranks_of(G)[1] == 1


def _given(get):
    return "scc is given" if get("scc") is not None else None


@implements(nodes=SOME_NODES, why_not=_given, note="the nodes of a component are in another order")
def condensation(G, scc=None):
    made = nx.DiGraph()
    made.graph["mapping"] = mapping = {}
    if not G.n:
        return made
    ranks, count = ranks_of(G)
    members = list(sets_of(G, ranks, count))
    for rank, component in enumerate(members):
        mapping.update(dict.fromkeys(component, rank))
    made.add_nodes_from((rank, {"members": component}) for rank, component in enumerate(members))
    made.add_edges_from(_edges_between(G, ranks, count))
    return made


def _edges_between(G, ranks, count):
    """Ends of the edges between components, each once, in the order of the graph's edges."""
    offsets, neighbours = G.outgoing()
    sources, targets = np.repeat(ranks, np.diff(offsets)), ranks[neighbours]
    between = np.flatnonzero(sources != targets)
    sources, targets = sources[between], targets[between]
    _, first = np.unique(sources * count + targets, return_index=True)
    first.sort()
    return zip(sources[first].tolist(), targets[first].tolist())
