"""What is asked, how edgewise is asked, and when two answers are the same.

A question is a Python expression over ``graph`` and the fields of a case.  The kit evaluates it, and prints
it in reproducers, so what is shown is what ran.
"""

import math
import sys
from collections.abc import Mapping
from typing import NamedTuple

#: How edgewise makes the graph of a case.
MADE = """graph = ew.Graph.from_edges(
    [u for u, v in pairs], [v for u, v in pairs], weights=weights, n_vertices=n, directed=directed
)"""
#: Distances by which libraries say that a vertex is not reached, besides infinity and missing ones.
UNREACHED = {-1, 2**31 - 1, 2**63 - 1, sys.float_info.max}
#: Relative difference of two floats that are rounded in another order, and a difference that is none.
RELATIVE, ABSOLUTE = 1e-9, 1e-12


class Problem(NamedTuple):
    """A question.

    Attributes
    ----------
    summary : str
        What is asked.
    asked : str
        The expression that asks edgewise.
    shape : str
        What an answer is: ``"sets"`` of vertices, or a label for each; a number or a distance for each of the
        ``"vertices"``; ``"distances"`` from each vertex to each; a value for each of the ``"edges"``; or a
        ``"number"``.
    kinds : tuple of bool
        Whether graphs are directed.
    weights : tuple of str
        Kinds of weights.
    is_local : bool
        Whether a component has alone what it has in a larger graph.
    """

    summary: str
    asked: str
    shape: str
    kinds: tuple = (False, True)
    weights: tuple = ("ones",)
    is_local: bool = True


UNDIRECTED = (False,)
DISTANCES = ("ties", "halves", "powers", "rounded")
_MEASURES = "ew.distance_measures(graph, weight=False)"

PROBLEMS = {
    "components": Problem(
        "connected components; of a directed graph the weak ones",
        "ew.connected_components(graph).labels.tolist()",
        "sets",
    ),
    "strong": Problem(
        "strongly connected components",
        "ew.strongly_connected_components(graph).labels.tolist()",
        "sets",
        (True,),
    ),
    "bfs": Problem("edges to each vertex from one", "ew.bfs(graph, start).distances.tolist()", "vertices"),
    "shortest-paths": Problem(
        "distances along weights from one vertex; weights may be 0, and tie",
        "ew.shortest_paths(graph, start).distances.tolist()",
        "vertices",
        weights=DISTANCES,
    ),
    "all-pairs": Problem(
        "distances along weights between all vertices",
        "ew.all_pairs_shortest_paths(graph).distances.tolist()",
        "distances",
        weights=DISTANCES,
    ),
    "forest": Problem(
        "weight of a minimum spanning forest; weights may be negative, and tie",
        "float(ew.minimum_spanning_forest(graph).weight)",
        "number",
        UNDIRECTED,
        ("ties", "halves", "rounded", "negative"),
    ),
    "cores": Problem("core numbers", "ew.core_numbers(graph).cores.tolist()", "vertices", UNDIRECTED),
    "triangles": Problem(
        "triangles through each vertex", "ew.cycle_counts(graph, 3).counts.tolist()", "vertices", UNDIRECTED
    ),
    "squares": Problem(
        "cycles of four edges through each vertex",
        "ew.cycle_counts(graph, 4).counts.tolist()",
        "vertices",
        UNDIRECTED,
    ),
    "pentagons": Problem(
        "cycles of five edges through each vertex",
        "ew.cycle_counts(graph, 5).counts.tolist()",
        "vertices",
        UNDIRECTED,
    ),
    "closeness": Problem(
        "closeness by numbers of edges", f"{_MEASURES}.closeness.tolist()", "vertices", is_local=False
    ),
    "weighted-closeness": Problem(
        "closeness along weights larger than 0",
        "ew.distance_measures(graph).closeness.tolist()",
        "vertices",
        weights=("positive",),
        is_local=False,
    ),
    "harmonic": Problem(
        "harmonic closeness by numbers of edges", f"{_MEASURES}.harmonic.tolist()", "vertices"
    ),
    "eccentricity": Problem(
        "largest distance from each vertex, by numbers of edges",
        f"{_MEASURES}.eccentricities.tolist()",
        "vertices",
        is_local=False,
    ),
    "diameter": Problem(
        "largest distance, by numbers of edges", "ew.diameter(graph, weight=False)", "number", UNDIRECTED
    ),
    "betweenness": Problem(
        "betweenness of vertices by numbers of edges, not normalised",
        "ew.betweenness(graph, weight=False, normalized=False).scores.tolist()",
        "vertices",
    ),
    "weighted-betweenness": Problem(
        "betweenness of vertices along weights larger than 0, not normalised",
        "ew.betweenness(graph, normalized=False).scores.tolist()",
        "vertices",
        weights=("positive",),
    ),
    "edge-betweenness": Problem(
        "betweenness of edges by numbers of edges, not normalised",
        "ew.betweenness(graph, weight=False, normalized=False, edges=True).edge_scores.tolist()",
        "edges",
    ),
    "clustering": Problem(
        "clustering coefficient of each vertex",
        "ew.clustering(graph).coefficients.tolist()",
        "vertices",
        UNDIRECTED,
    ),
    "transitivity": Problem(
        "share of paths of two edges that are closed to triangles",
        "float(ew.clustering(graph).transitivity)",
        "number",
        UNDIRECTED,
    ),
    "cut": Problem(
        "weight of the edges between two parts",
        "float(ew.evaluate_partition(graph, parts, k=2).edge_cut)",
        "number",
        UNDIRECTED,
        ("ones", "whole"),
    ),
}


def canonical(answer, shape, case):
    """An answer as it is compared: labels as the first vertices of sets, and distances with infinity.

    What is no answer of the shape, such as a list that is too short, is left as it is.
    """
    if shape == "sets":
        return _labels(answer, case.n)
    if shape == "distances":
        rows = [answer[v] for v in range(case.n)] if isinstance(answer, Mapping) else answer
        return [_numbers(row, case.n) for row in rows]
    if shape == "number":
        return _number(answer)
    return _numbers(answer, case.n)


def _labels(answer, n):
    """The smallest vertex of the set of each, by labels or by sets."""
    found = list(answer)
    first: dict = {}
    if found and not hasattr(found[0], "__index__"):
        labels: list = [None] * n
        for members in found:
            for vertex in members:
                labels[vertex] = min(members) if labels[vertex] is None else "in two sets"
        return labels
    for vertex, label in enumerate(found):
        first.setdefault(label, vertex)
    return [first[label] for label in found]


def _numbers(answer, n):
    if isinstance(answer, Mapping):
        answer = [answer.get(vertex, math.inf) for vertex in range(n)]
    return [_number(value) for value in answer]


def _number(value):
    return math.inf if value in UNREACHED else float(value)


def same(one, other):
    """Whether two canonical answers are the same, but for the rounding of floats."""
    if one == other:
        return True
    if isinstance(one, list):
        same_length = isinstance(other, list) and len(one) == len(other)
        return same_length and all(map(same, one, other))
    if not isinstance(one, float) or not isinstance(other, float):
        return False
    return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def has_nan(answer):
    """Whether a canonical answer has a value that is no number."""
    return any(map(has_nan, answer)) if isinstance(answer, list) else answer != answer
