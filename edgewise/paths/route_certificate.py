"""Proofs of tables of distances and of routes: trees of sources that are drawn, and the paths of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.certificates.record import certify
from edgewise.certificates.routes import roots_of
from edgewise.device import arrays
from edgewise.paths.bfs import bfs
from edgewise.paths.certificate import tight_tree
from edgewise.paths.csr import unreached
from edgewise.paths.hierarchy import kept
from edgewise.paths.hierarchy.queries import path_between
from edgewise.paths.sssp import shortest_paths
from edgewise.result import edge_arrays

if TYPE_CHECKING:
    from edgewise.certificates import Certificate
    from edgewise.graph import Graph


def prove_table(graph: Graph, sources: Any, targets: Any, distances: Any, *, weighted: bool) -> Certificate:
    """Return the certificate of a table of distances.

    Parameters
    ----------
    graph : Graph
    sources : (k,) integer array
        Vertex numbers of the rows.
    targets : (t,) integer array, or None
        Vertex numbers of the columns; None if there is one for every vertex.
    distances : (k, t) array
        As of :class:`~edgewise.paths.tables.DistanceTable`.
    weighted : bool
        Whether the weights of the edges count.
    """
    flat = np.ascontiguousarray(arrays.move(distances, "cpu")).reshape(-1)
    answer = {"sources": np.asarray(sources), "distances": flat}
    if targets is not None:
        answer["targets"] = np.asarray(targets)
    proof, _ = _trees(graph, answer, weighted)
    return certify("routes", edge_arrays(graph), answer, proof, kind="table", weighted=weighted)


def prove_pairs(graph: Graph, sources: Any, targets: Any, distances: Any, *, weighted: bool) -> Certificate:
    """Return the certificate of the distances between pairs of vertices, with a path of each.

    Parameters
    ----------
    graph : Graph
    sources, targets : (k,) integer array
        Vertex numbers.
    distances : (k,) array
        As of :class:`~edgewise.paths.hierarchy.routes.Routes`.
    weighted : bool
        Whether the weights of the edges count.
    """
    distances = arrays.move(distances, "cpu")
    answer = {"sources": np.asarray(sources), "targets": np.asarray(targets), "distances": distances}
    proof, trees = _trees(graph, answer, weighted)
    paths = _paths(graph, answer, weighted, trees)
    proof |= _steps(edge_arrays(graph), paths, weighted)
    return certify("routes", edge_arrays(graph), answer, proof, kind="pairs", weighted=weighted)


def _trees(graph, answer, weighted):
    """The part of the proof that trees are, and for each root the edges of its tree."""
    edges = edge_arrays(graph)
    roots = roots_of(answer, edges.n_vertices, len(edges.sources))
    found = [_tree(graph, edges, root, answer["distances"].dtype, weighted) for root in roots.tolist()]
    proof: dict[str, Any] = {"roots": roots}
    proof["lengths"] = np.concatenate([tree["lengths"] for tree in found] or [answer["distances"][:0]])
    for name in ("edges", "places"):
        proof[name] = np.concatenate([tree[name] for tree in found] or [np.empty(0, np.int64)])
    return proof, {root: tree["edges"] for root, tree in zip(roots.tolist(), found, strict=True)}


def _tree(graph, edges, root, dtype, weighted):
    """Distances of a type from a vertex to all, and the tight edges."""
    source = graph.ids_of(np.array([root]))
    found = shortest_paths(graph, source, dtype=dtype.name) if weighted else bfs(graph, source)
    lengths = arrays.move(found.distances, "cpu")
    if lengths.dtype != dtype:
        lengths = np.where(lengths == found.unreached, unreached(dtype), lengths).astype(dtype)
    return {"lengths": lengths} | tight_tree(edges, lengths, np.array([root]), weighted)


def _paths(graph, answer, weighted, trees):
    """The vertices along a path of each pair, along the hierarchy if there is one."""
    edges, hierarchy = edge_arrays(graph), kept(graph)
    sources, targets, distances = (answer[name] for name in ("sources", "targets", "distances"))
    paths = [np.empty(0, np.int64)] * len(sources)
    reached = distances != unreached(distances.dtype)
    for root in np.unique(sources).tolist():
        pairs = np.flatnonzero((sources == root) & reached)
        if hierarchy is None and root not in trees:
            trees = {root: _tree(graph, edges, root, distances.dtype, weighted)["edges"]}
        for pair in pairs.tolist():
            if root in trees:
                paths[pair] = _back(edges, trees[root], targets[pair])
            else:
                paths[pair] = path_between(hierarchy, root, targets[pair])
    return paths


def _back(edges, tree, vertex):
    """The vertices of the path to a vertex along the edges of a tree."""
    path = [int(vertex)]
    while (edge := tree[path[-1]]) >= 0:
        ends = int(edges.sources[edge]), int(edges.targets[edge])
        path.append(ends[0] if edges.directed or ends[1] == path[-1] else ends[1])
    return np.array(path[::-1], np.int64)


def _steps(edges, paths, weighted):
    """The proof that paths are: hops, vertices, and the lightest edge between each two of them."""
    hops = np.array([len(path) - 1 for path in paths], np.int64)
    stops = np.concatenate([np.empty(0, np.int64), *paths])
    owners = np.repeat(np.arange(len(paths)), hops + 1)
    inside = np.flatnonzero(owners[1:] == owners[:-1])
    one, other = edges.sources.astype(np.int64), edges.targets.astype(np.int64)
    numbers, n = np.arange(len(one)), edges.n_vertices
    if not edges.directed:
        one, other, numbers = np.concatenate([one, other]), np.concatenate([other, one]), np.tile(numbers, 2)
    keys = one * n + other
    order = np.lexsort((edges.weights[numbers], keys)) if weighted else np.argsort(keys, kind="stable")
    wanted = stops[inside] * n + stops[inside + 1]
    place = np.minimum(np.searchsorted(keys[order], wanted), max(len(order) - 1, 0))
    return {"hops": hops, "stops": stops, "steps": numbers[order[place]]}
