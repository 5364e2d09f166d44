"""The methods of graphs on slices: conversions there and back, and graphs that are made of graphs."""

import copy
import pickle

import numpy as np

from tests.campaigns.sliced_cases import edges_of, pairs_of, union


def same(one, other):
    """Whether two graphs have the same vertices in one order, and the same edges as often."""
    return list(one) == list(other) and one.directed == other.directed and edges_of(one) == edges_of(other)


def conversions(case):
    """Copies, rows, and graphs of NetworkX give the graph back; a matrix has the sums of its weights."""
    import edgewise as ew

    graph, ids = case.graph, list(case.graph)
    for other in pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph), graph.to("cpu"):
        yield same(other, graph)
    rows = {"weights": graph.csr_weights, "directed": graph.directed, "ids": graph.ids}
    yield same(ew.Graph.from_csr(graph.offsets, graph.neighbours, **rows), graph)
    weight = "weight" if graph.is_weighted else None
    yield same(ew.Graph.from_networkx(graph.to_networkx(multigraph=True), weight=weight), graph)
    matrix = np.zeros((len(ids), len(ids)))
    for (u, v), km in zip(pairs_of(case), case.weights.tolist(), strict=True):
        matrix[u, v] += km
        matrix[v, u] += km if u != v and not graph.directed else 0
    yield np.array_equal(graph.to_scipy().toarray(), matrix)


def ends(case):
    """Ids are found, and the degrees are the numbers of entries."""
    graph, ids = case.graph, list(case.graph)
    yield graph.vertices_of(ids).tolist() == list(range(len(ids)))
    yield graph.ids_of(np.arange(len(ids))).tolist() == ids == graph.id_column().to_pylist()
    out, into = np.zeros(len(ids), int), np.zeros(len(ids), int)
    for u, v in pairs_of(case):
        out[u] += 1
        into[v] += 1
    loops = np.bincount([u for u, v in pairs_of(case) if u == v], minlength=len(ids))
    both = out + into if graph.directed else out + into - loops
    for direction, wanted in ("out", out), ("in", into), ("both", both):
        wanted = wanted if graph.directed else both
        yield graph.degrees(direction=direction).tolist() == wanted.tolist()
        yield all(graph.degree(one, direction=direction) == wanted[at] for at, one in enumerate(ids))


def derived(case):
    """Other graphs of the same edges: turned, undirected, some of them, without repeats, with weights."""
    graph, ids = case.graph, list(case.graph)
    edges = edges_of(graph)
    turned = edges_of(graph.reverse())
    yield turned == (
        edges if not graph.directed else type(edges)({(v, u, km): n for (u, v, km), n in edges.items()})
    )
    yield edges_of(graph.without_weights()) == edges_of(graph.with_weights(np.ones(graph.n_edges)))
    undirected = graph.undirected()
    pairs = zip(undirected.sources.tolist(), undirected.targets.tolist(), strict=True)
    yield union(len(ids), pairs)[0] == union(len(ids), pairs_of(case))[0] and not undirected.directed
    kept = case.draw.sample(ids, case.draw.randint(0, len(ids)))
    among = set(kept)
    wanted = {edge: count for edge, count in edges.items() if {edge[0], edge[1]} <= among}
    some = graph.subgraph(kept)
    yield set(some) == among and edges_of(some) == wanted
    for repeated, merge in ("first", lambda kms: kms[0]), ("min", min), ("max", max), ("sum", sum):
        found = {}
        for (u, v), km in zip(pairs_of(case), case.weights.tolist(), strict=True):
            if u != v:
                found.setdefault((u, v) if graph.directed else (min(u, v), max(u, v)), []).append(km)
        simple = graph.simplified(repeated=repeated)
        kms = {(ids[u], ids[v]): merge(found[u, v]) if graph.is_weighted else 1 for u, v in found}
        yield edges_of(simple) == {
            (*(pair if graph.directed else sorted(pair)), km): 1 for pair, km in kms.items()
        }


def methods(case):
    """All of these."""
    yield from conversions(case)
    yield from ends(case)
    yield from derived(case)
