"""Small random graphs, right certificates of them, and naive oracles: cases of ``corrupted_results.py``."""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import edgewise as ew
from edgewise.certificates import Certificate
from edgewise.components.certificate import prove as prove_components
from edgewise.cores.certificate import prove as prove_cores
from edgewise.cycles.certificate import prove as prove_cycles
from edgewise.forest.certificate import prove as prove_forest
from edgewise.partitions.certificate import prove as prove_partition
from edgewise.paths.certificate import prove as prove_distances
from edgewise.paths.route_certificate import prove_pairs, prove_table
from edgewise.strong.certificate import prove as prove_strong
from tests import oracles

TYPES = ("int32", "int64", "float32", "float64")


class Case(NamedTuple):
    """What is corrupted.

    Attributes
    ----------
    graph : Graph
    certificate : Certificate
        A right one.
    prove : function
        ``prove(graph, answer, facts)`` returns the certificate of an answer.
    is_right : function
        ``is_right(graph, answer, facts)`` tells whether an answer that was accepted is right.
    """

    graph: Any
    certificate: Certificate
    prove: Any
    is_right: Any


def small_graph(draw, *, directed=False, weighted=False):
    """A small graph with loops, repeated edges and, if there are weights, many equal ones."""
    n = int(draw.integers(1, 12))
    m = int(draw.integers(0, 2 * n + 1))
    weights = None
    if weighted:
        dtype = draw.choice(["int32", "int64", "float32", "float64"])
        weights = draw.integers(-2, 3, m).astype(dtype)
        if dtype.startswith("float") and m:
            weights[draw.integers(m)] = draw.choice([-0.0, np.inf, -np.inf, 0.5])
    sources, targets = draw.integers(0, n, (2, m))
    return ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=n, directed=directed)


def clusters(draw):
    graph = small_graph(draw)
    certificate = ew.connected_components(graph).certificate()
    return Case(graph, certificate, *labelling(prove_components, oracles.components))


def strong(draw):
    graph = small_graph(draw, directed=True)
    certificate = ew.strongly_connected_components(graph).certificate()
    return Case(graph, certificate, *labelling(prove_strong, oracles.strong_components))


def labelling(prover, oracle):
    """How labels are proved, and whether they are right."""

    def prove(graph, answer, facts):
        return prover(graph, answer["labels"], canonical=facts["canonical"])

    def is_right(graph, answer, facts):
        labels = answer["labels"].tolist()
        expected = oracle(graph.n_vertices, graph.sources.tolist(), graph.targets.tolist())
        pairs = set(zip(labels, expected, strict=True))
        same_classes = len(pairs) == len(set(labels)) == len(set(expected))
        return same_classes and (not facts.get("canonical") or labels == expected)

    return prove, is_right


def cores(draw):
    graph = small_graph(draw)

    def is_right(graph, answer, facts):
        expected = oracles.core_numbers(graph.n_vertices, graph.sources.tolist(), graph.targets.tolist())
        return answer["cores"].tolist() == expected

    def prove(graph, answer, facts):
        return prove_cores(graph, answer["cores"])

    return Case(graph, ew.core_numbers(graph).certificate(), prove, is_right)


def forest(draw):
    graph = small_graph(draw, weighted=True)
    maximum = bool(draw.integers(2))
    certificate = ew.minimum_spanning_forest(graph, maximum=maximum).certificate()
    if draw.integers(2):
        certificate = replace(certificate, facts=certificate.facts | {"by_position": False})

    def is_right(graph, answer, facts):
        given = answer["edges"].tolist()
        is_last = [0 if facts.get("by_position") or edge in given else 1 for edge in range(graph.n_edges)]
        return len(set(given)) == len(given) and set(given) == by_kruskal(
            graph, facts.get("maximum"), is_last
        )

    def prove(graph, answer, facts):
        wanted = {name: bool(facts[name]) for name in ("maximum", "by_position")}
        return prove_forest(graph, answer["edges"], **wanted)

    return Case(graph, certificate, prove, is_right)


def by_kruskal(graph, maximum, is_last):
    """The edges of the forest, those that are not last first among equal weights."""
    label = list(range(graph.n_vertices))
    weights = [-one if maximum else one for one in graph.weights.tolist()]
    kept = set()
    for edge in sorted(range(graph.n_edges), key=lambda edge: (weights[edge], is_last[edge], edge)):
        one, other = label[graph.sources[edge]], label[graph.targets[edge]]
        if one != other:
            kept.add(edge)
            label = [one if name == other else name for name in label]
    return kept


def random_graph(draw, directed, dtype, *, negative=False):
    """A small graph; with negative weights it has no negative cycle, since they are those of a potential."""
    n, m = int(draw.integers(1, 9)), int(draw.integers(0, 16))
    sources, targets = draw.integers(0, n, (2, m))
    weights = draw.integers(0, 4, m)
    if dtype is not None and dtype.startswith("float"):
        weights = draw.choice([0, 0.1, 0.2, 0.3, 1, 1e-9, 1e9, np.inf], m)
    if negative:
        potential = draw.integers(0, 5, n)
        weights = weights + potential[targets] - potential[sources]
    weights = None if dtype is None else weights.astype(dtype)
    return ew.Graph.from_edges(sources, targets, weights=weights, n_vertices=n, directed=directed)


def naive_distances(graph, sources, weighted, dtype):
    """The least sums along walks from sources, in a type; as many rounds over the edges as vertices."""
    dtype = np.dtype(dtype)
    none = dtype.type(np.inf) if dtype.kind == "f" else dtype.type(np.iinfo(dtype).max)
    found = np.full(graph.n_vertices, none)
    found[sources] = 0
    edges = list(zip(graph.sources.tolist(), graph.targets.tolist(), range(len(graph.sources)), strict=True))
    edges += [] if graph.directed else [(target, source, edge) for source, target, edge in edges]
    for _ in range(graph.n_vertices):
        for source, target, edge in edges:
            weight = graph.weights[edge] if weighted else 1
            if found[source] != none and weight != np.inf:
                found[target] = min(found[target], found[source] + dtype.type(weight))
    return found, none


def of_distances(draw):
    """Distances from one source or two, now and then with a cutoff, or only up to the furthest of a few."""
    dtype, directed = draw.choice(TYPES), bool(draw.random() < 0.5)
    negative = bool(directed and dtype.startswith("int") and draw.random() < 0.4)
    weighted = bool(negative or draw.random() < 0.75)
    graph = random_graph(draw, directed, dtype if weighted else None, negative=negative)
    sources = np.unique(draw.integers(0, graph.n_vertices, draw.integers(1, 3)))
    distances, none = naive_distances(graph, sources, weighted, dtype)
    cutoff = None if negative or draw.random() < 0.6 else draw.choice([0, 1, 2.5, 1e9]).item()
    partial = bool(not negative and draw.random() < 0.2)
    if partial:
        furthest = distances[draw.choice(np.flatnonzero(distances != none))]
        distances[distances > furthest] = none
    if cutoff is not None:
        distances[distances > cutoff] = none

    def prove(graph, answer, facts):
        how = {name: facts.get(name) for name in ("weighted", "cutoff", "partial")}
        return prove_distances(graph, answer["distances"], answer["sources"], **how)

    def is_right(graph, answer, facts):
        given = answer["distances"]
        right, none = naive_distances(graph, answer["sources"], facts["weighted"], given.dtype)
        limit = math.inf if facts.get("cutoff") is None else facts["cutoff"]
        reached = given != none
        ends = given[reached].max(initial=0) if facts.get("partial") else math.inf
        for vertex in range(graph.n_vertices):
            if reached[vertex]:
                if given[vertex] != right[vertex] or given[vertex].item() > limit:
                    return False
            elif right[vertex] != none and right[vertex].item() <= limit and right[vertex] < ends:
                return False
        return True

    how = {"weighted": weighted, "cutoff": cutoff, "partial": partial}
    return Case(graph, prove_distances(graph, distances, sources, **how), prove, is_right)


def of_partition(draw):
    """Random parts, of vertices with weights or without."""
    dtype = draw.choice([None, "int64", "float64"])
    graph = random_graph(draw, False, dtype)
    if dtype == "float64":
        graph = graph.with_weights(np.where(np.isinf(graph.weights), 0.7, graph.weights))
    k = int(draw.integers(1, 5))
    sizes = draw.integers(0, 4, graph.n_vertices) if draw.random() < 0.5 else None
    parts = draw.integers(0, k, graph.n_vertices)
    proved = prove_partition(graph, parts, k=k, vertex_weights=sizes)
    proved.answer["limits"] = proved.answer["weights"] + draw.integers(-1, 2, k).clip(
        -proved.answer["weights"]
    )
    over = proved.answer["weights"] > proved.answer["limits"]
    proved.facts["balanced"] = bool(k <= graph.n_vertices and not over.any())

    def prove(graph, answer, facts):
        own = {"k": len(answer["weights"]), "vertex_weights": answer.get("vertex_weights")}
        return prove_partition(graph, answer["parts"], **own)

    def is_right(graph, answer, facts):
        parts, k = answer["parts"].tolist(), len(answer["weights"])
        weights, cut, beside, size = [0] * k, [], set(), 0
        for vertex, part in enumerate(parts):
            weights[part] += int(answer["vertex_weights"][vertex]) if "vertex_weights" in answer else 1
        for edge, (one, other) in enumerate(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)):
            weight = 1 if graph.weights is None else graph.weights[edge].item()
            if parts[one] != parts[other]:
                cut.append(weight)
                beside |= {(one, parts[other]), (other, parts[one])}
        total, size = sum(weights), math.fsum(cut)
        share = (-(-total // k) if total >= k else total / k) if total else 1
        imbalance = max(weights) / share - 1 if total else 0
        right = weights == answer["weights"].tolist() and abs(facts["edge_cut"] - size) <= 1e-14 * size
        right &= facts.get("communication_volume", len(beside)) == len(beside)
        right &= abs(facts.get("imbalance", imbalance) - imbalance) <= 2e-12 * (1 + imbalance)
        if "balanced" in facts:
            limits = answer["limits"].tolist()
            fits = all(weight <= limit for weight, limit in zip(weights, limits, strict=True))
            right &= facts["balanced"] == (k <= len(parts) and fits)
        return right

    return Case(graph, proved, prove, is_right)


def of_cycles(draw):
    """Cycles of a length through each vertex."""
    graph, length = random_graph(draw, False, None), int(draw.integers(3, 7))

    def right_counts(graph, facts):
        ends = graph.sources.tolist(), graph.targets.tolist()
        counts = oracles.count_by_hand(graph.n_vertices, *ends, facts["length"])
        return counts * (2 if facts.get("count_directions", False) else 1)

    def prove(graph, answer, facts):
        return prove_cycles(graph, answer["counts"], **facts)

    def is_right(graph, answer, facts):
        return right_counts(graph, facts).tolist() == answer["counts"].tolist()

    facts = {"length": length, "count_directions": bool(draw.random() < 0.3)}
    return Case(graph, prove(graph, {"counts": right_counts(graph, facts)}, facts), prove, is_right)


def of_routes(draw):
    """A table of distances, or pairs with their paths."""
    dtype, weighted = draw.choice(TYPES), bool(draw.random() < 0.75)
    graph = random_graph(draw, bool(draw.random() < 0.5), dtype if weighted else None)
    dtype = dtype if weighted else "int32"
    n = graph.n_vertices
    kind = draw.choice(["table", "pairs"])
    count = int(draw.integers(1, 5))
    sources = draw.integers(0, n, count)
    targets = draw.integers(0, n, count if kind == "pairs" else draw.integers(1, 4))
    whole = kind == "table" and draw.random() < 0.3

    def rows(graph, sources, weighted, dtype):
        return np.array([naive_distances(graph, [source], weighted, dtype)[0] for source in sources])

    def pick(matrix, targets, kind):
        return matrix[np.arange(len(matrix)), targets] if kind == "pairs" else matrix[:, targets].ravel()

    def prove(graph, answer, facts):
        ends = answer["sources"], answer.get("targets")
        prover = prove_pairs if facts["kind"] == "pairs" else prove_table
        return prover(graph, *ends, answer["distances"], weighted=facts["weighted"])

    def is_right(graph, answer, facts):
        given = answer["distances"]
        matrix = rows(graph, answer["sources"], facts["weighted"], given.dtype)
        right = pick(matrix, answer.get("targets", np.arange(n)), facts["kind"])
        if right.dtype.kind != "f":
            return right.tolist() == given.tolist()
        same = right == given
        with np.errstate(invalid="ignore"):
            near = abs(right - given) <= abs(right) * 2**12 * np.finfo(right.dtype).eps
        return bool((same | (np.isfinite(right) & near)).all())

    columns = np.arange(n) if whole else targets
    distances = pick(rows(graph, sources, weighted, dtype), columns, kind)
    prover = prove_pairs if kind == "pairs" else prove_table
    proved = prover(graph, sources, None if whole else targets, distances, weighted=weighted)
    return Case(graph, proved, prove, is_right)


CASES = {
    "components": clusters,
    "strong": strong,
    "cores": cores,
    "forest": forest,
    "distances": of_distances,
    "partition": of_partition,
    "cycles": of_cycles,
    "routes": of_routes,
}
