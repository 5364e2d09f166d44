"""Shortest paths and traversals along unweighted edges."""

import math

import networkx as nx
import numpy as np

from edgewise.errors import warn
from edgewise.garbage_collection import collection_paused
from edgewise.networkx.breadth_first import NO_LIMIT, Search, TwoSearches
from edgewise.networkx.registry import IS_3_7, LESS, MANY_NODES, implements


def limit_of(cutoff):
    """Number of levels up to a cutoff; ``None`` without a cutoff."""
    if cutoff is None:
        return None
    if not isinstance(cutoff, (int, float, np.integer)) or cutoff != cutoff:
        raise NotImplementedError("the cutoff is no number")
    return min(max(0, math.ceil(cutoff)), NO_LIMIT) if cutoff < NO_LIMIT else NO_LIMIT


def vertex_of(G, node, message):
    """Position of a node that must be in the graph."""
    vertex = G.find(node)
    if vertex is None:
        raise nx.NodeNotFound(message.format(node))
    return vertex


def one(vertex):
    return np.array([vertex], np.int64)


def _lengths(G, rows, vertex, cutoff):
    found = Search(rows).run(one(vertex), limit_of(cutoff))
    return lengths_in_order(G, found)


def lengths_in_order(G, found):
    """Dict of the distances that a search found."""
    return dict(zip(G.names(found.order), found.levels[found.order].tolist()))


@collection_paused()
def paths_in_order(G, found, *, turned=False):
    """Dict of the paths that a search found, from its source, or to it if ``turned``."""
    names, before = G.names(found.order), found.parents[found.order]
    first = int((before < 0).sum())
    paths, parents = {name: [name] for name in names[:first]}, G.names(before[first:])
    if turned:
        for name, parent in zip(names[first:], parents):
            paths[name] = [name, *paths[parent]]
    else:
        for name, parent in zip(names[first:], parents):
            paths[name] = [*paths[parent], name]
    return paths


@implements(nodes=MANY_NODES)
def single_source_shortest_path_length(G, source, cutoff=None):
    return _lengths(G, G.outgoing(), vertex_of(G, source, "Source {} is not in G"), cutoff)


@implements(nodes=MANY_NODES)
def single_target_shortest_path_length(G, target, cutoff=None):
    return _lengths(G, G.incoming(), vertex_of(G, target, "Target {} is not in G"), cutoff)


@implements()
def all_pairs_shortest_path_length(G, cutoff=None):
    search, limit = Search(G.outgoing()), limit_of(cutoff)
    runs = ((node, search.run(one(vertex), limit)) for vertex, node in enumerate(G))
    return ((node, lengths_in_order(G, found)) for node, found in runs)


@implements(nodes=MANY_NODES)
def single_source_shortest_path(G, source, cutoff=None):
    vertex = vertex_of(G, source, "Source {} not in G")
    return paths_in_order(G, Search(G.outgoing()).run(one(vertex), limit_of(cutoff)))


@implements(nodes=MANY_NODES)
def single_target_shortest_path(G, target, cutoff=None):
    vertex = vertex_of(G, target, "Target {} not in G")
    return paths_in_order(G, Search(G.incoming()).run(one(vertex), limit_of(cutoff)), turned=True)


@implements()
def all_pairs_shortest_path(G, cutoff=None):
    search, limit = Search(G.outgoing()), limit_of(cutoff)
    runs = ((node, search.run(one(vertex), limit)) for vertex, node in enumerate(G))
    return ((node, paths_in_order(G, found)) for node, found in runs)


def _meeting_path(G, source, target):
    ends = (vertex_of(G, source, "Source {} is not in G"), vertex_of(G, target, "Target {} is not in G"))
    with G.lent("two searches", lambda: TwoSearches(G.n)) as searches:
        path = searches.path(G.outgoing(), G.incoming(), *ends)
    if not path:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return [G.name(vertex) for vertex in path]


@implements(cost=LESS)
def bidirectional_shortest_path(G, source, target):
    return _meeting_path(G, source, target)


def _no_ends(get):
    return "an end is None" if None in (get("source"), get("target")) else None


@implements(cost=LESS, why_not=_no_ends)
def has_path(G, source, target):
    try:
        _meeting_path(G, source, target)
    except nx.NetworkXNoPath:
        return False
    return True


@implements(nodes=MANY_NODES)
def predecessor(G, source, target=None, cutoff=None, return_seen=None):
    vertex = vertex_of(G, source, "Source {} not in G")
    limit = limit_of(cutoff) if cutoff else None
    if limit is not None:
        limit = max(limit, 1)
    found = Search(G.outgoing()).run(one(vertex), limit)
    pred = _predecessors(G, found, NO_LIMIT if limit is None else limit)
    if target is None:
        return (pred, lengths_in_order(G, found)) if return_seen else pred
    if target not in pred:
        return ([], -1) if return_seen else []
    before = pred[target]
    return (before, int(found.levels[G.find(target)])) if return_seen else before


def _predecessors(G, found, limit):
    """Dict of the neighbours of every vertex that are one level nearer, in the order of the search."""
    offsets, neighbours = G.outgoing()
    order, levels = found.order, found.levels
    entries = entries_of_rows(offsets, order)
    rows = np.repeat(order, offsets[order + 1] - offsets[order])
    others = neighbours[entries].astype(np.int64)
    nearer = levels[others] == levels[rows] + 1
    return lists_by_vertex(G, order, others[nearer], rows[nearer])


def entries_of_rows(offsets, order):
    """Entries of the rows of vertices, one row behind the other: int64."""
    lengths = offsets[order + 1] - offsets[order]
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(offsets[order] - (ends - lengths), lengths)


def lists_by_vertex(G, order, keys, values):
    """Dict from the vertices in ``order`` to lists of the ``values`` beside it in ``keys``."""
    by_key = np.argsort(keys, kind="stable")
    names = G.names(values[by_key])
    ends = np.cumsum(np.bincount(keys, minlength=G.n))
    begins = np.concatenate([[0], ends[:-1]])[order].tolist()
    spans = zip(G.names(order), begins, ends[order].tolist())
    return {name: names[begin:end] for name, begin, end in spans}


def _missing(G, node):
    kind = "digraph" if G.is_directed() else "graph"
    return nx.NetworkXError(f"The node {node} is not in the {kind}.")


def _raised(error):
    """An iterator that raises when its first item is taken, as those of NetworkX do."""
    raise error
    yield


def _has_order(get):
    return "sort_neighbors is a function" if get("sort_neighbors") is not None else None


def _has_neighbors(get):
    return "neighbors is a function" if get("neighbors") is not None else None


def _tree_edges(G, source, reverse=False, depth_limit=None):
    """Names of the parents and children of a search."""
    vertex = G.find(source)
    if vertex is None:
        raise _missing(G, source)
    found = Search(G.incoming() if reverse else G.outgoing()).run(one(vertex), limit_of(depth_limit))
    children = found.order[1:]
    return G.names(found.parents[children]), G.names(children)


@implements(cost=LESS, why_not=_has_order)
def bfs_edges(G, source, reverse=False, depth_limit=None, sort_neighbors=None):
    if source not in G:
        return _raised(_missing(G, source))
    return zip(*_tree_edges(G, source, reverse, depth_limit))


@implements(cost=LESS, why_not=_has_neighbors)
def generic_bfs_edges(G, source, neighbors=None, depth_limit=None):
    return bfs_edges(G, source, False, depth_limit)


@implements(cost=LESS, why_not=_has_order)
def bfs_predecessors(G, source, depth_limit=None, sort_neighbors=None):
    if IS_3_7:
        message = "bfs_predecessors is deprecated in NetworkX 3.7 and leaves it in 3.9; use bfs_edges instead"
        warn(message, DeprecationWarning)
    return ((child, parent) for parent, child in bfs_edges(G, source, False, depth_limit))


@implements(cost=LESS, why_not=_has_order)
def bfs_successors(G, source, depth_limit=None, sort_neighbors=None):
    if source not in G:
        return _raised(_missing(G, source))
    found: dict = {source: []}
    for parent, child in bfs_edges(G, source, False, depth_limit):
        found.setdefault(parent, []).append(child)
    return iter(found.items())


@implements(nodes=MANY_NODES, why_not=_has_order)
def bfs_tree(G, source, reverse=False, depth_limit=None, sort_neighbors=None):
    tree = nx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(bfs_edges(G, source, reverse, depth_limit))
    return tree


@implements(cost=LESS)
def bfs_layers(G, sources):
    given = [sources] if sources in G else list(set(sources))
    vertices = [G.find(source) for source in given]
    if None in vertices:
        return _raised(nx.NetworkXError(f"The node {given[vertices.index(None)]} is not in the graph."))
    found = Search(G.outgoing()).run(np.array(vertices, np.int64))
    ends = np.cumsum(np.bincount(found.levels[found.order])).tolist()
    names = G.names(found.order)
    return iter([names[begin:end] for begin, end in zip([0, *ends], ends)])


@implements(cost=LESS)
def descendants_at_distance(G, source, distance):
    vertex = G.find(source)
    if vertex is None:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    limit = limit_of(distance)
    if distance != limit:
        return set()
    found = Search(G.outgoing()).run(one(vertex), limit)
    return set(G.names(found.order[found.levels[found.order] == limit]))


def _reached(G, rows, source):
    vertex = G.find(source)
    if vertex is None:
        raise _missing(G, source)
    return set(G.names(Search(rows).run(one(vertex)).order[1:]))


@implements(cost=LESS)
def descendants(G, source):
    return _reached(G, G.outgoing(), source)


@implements(cost=LESS)
def ancestors(G, source):
    return _reached(G, G.turned(), source)
