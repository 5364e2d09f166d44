"""Core numbers of undirected graphs, and the subgraphs that they select."""

import networkx as nx
import numpy as np

import edgewise
from edgewise.cores.peel import Rows, peel
from edgewise.networkx.registry import implements
from edgewise.networkx.small import is_small

SELF_LOOPS = (
    "Input graph has self loops which is not permitted; "
    "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
)


def _directed(get):
    return "the graph is directed" if get("G").is_directed() else None


def _cannot_select(get):
    if hasattr(get("G"), "_NODE_OK"):
        return "the graph is a view, whose subgraphs have the order of another graph"
    if not (get("k") is None or isinstance(get("k"), (int, float))):
        return "k is no number"
    return None if get("core_number") is not None else _directed(get)


def _cannot_select_corona(get):
    return "k is no number" if get("k") is None else _cannot_select(get)


def cores_of(G):
    """Core number of each node: (n,) integer array."""

    def find():
        if (G.rows() == G.outgoing()[1]).any():
            raise nx.NetworkXNotImplemented(SELF_LOOPS)
        return peel(Rows(*G.outgoing())) if is_small(G) else edgewise.core_numbers(G.graph).cores

    return G.cached("core numbers", find)


def _numbers(G, given):
    """Core numbers that are given as a dict, or else computed: (n,) array."""
    if given is None:
        return cores_of(G)
    if list(given) != list(G):
        raise NotImplementedError("core_number has not all nodes, or in another order")
    try:
        numbers = np.array([given[node] for node in G], np.int64)
    except (KeyError, TypeError, ValueError, OverflowError):
        numbers = np.zeros(0, np.int64)
    if not len(given) == len(numbers) == G.n:
        raise NotImplementedError("core_number has no integer for each node")
    return numbers


@implements(why_not=_directed)
def core_number(G):
    return G.by_node(cores_of(G))


@implements(why_not=_cannot_select)
def k_core(G, k=None, core_number=None):
    numbers = _numbers(G, core_number)
    return G.part(numbers >= (max(numbers.tolist()) if k is None else k))


@implements(why_not=_cannot_select)
def k_shell(G, k=None, core_number=None):
    numbers = _numbers(G, core_number)
    return G.part(numbers == (max(numbers.tolist()) if k is None else k))


@implements(why_not=_cannot_select)
def k_crust(G, k=None, core_number=None):
    numbers = _numbers(G, core_number)
    return G.part(numbers <= (max(numbers.tolist()) - 1 if k is None else k))


@implements(why_not=_cannot_select_corona)
def k_corona(G, k, core_number=None):
    numbers = _numbers(G, core_number)
    _, neighbours = G.outgoing()
    deep = numbers[neighbours] >= k
    once = np.unique(G.rows()[deep].astype(np.int64) * G.n + neighbours[deep])  # no repeated edges
    return G.part((numbers == k) & (np.bincount(once // max(G.n, 1), minlength=G.n) == k))
