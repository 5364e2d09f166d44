"""What edgewise must answer about two graphs that are related, and by all of its methods.

No other library is needed: a graph whose vertices are renamed, whose edges are listed in another order, which
stands beside a copy of itself, or of which only one component is left, has answers that follow from one
another, and every method has the same answer.
"""

import random
from importlib import import_module

from edgewise.torture.asking import Question, edgewise_asked
from edgewise.torture.problems import PROBLEMS


def _draw(case):
    return random.Random(repr(case))


def renamed(case):
    """The vertices have other numbers."""
    at = _draw(case).sample(range(case.n), case.n)
    parts = [0] * case.n
    for vertex, number in enumerate(at):
        parts[number] = case.parts[vertex]
    pairs = [(at[u], at[v]) for u, v in case.pairs]
    start = at[case.start] if case.n else 0
    return case, case._replace(pairs=pairs, start=start, parts=parts), at


def reordered(case):
    """The edges are listed in another order, and those without a direction from their other ends."""
    draw = _draw(case)
    other = case.of_edges(draw.sample(range(len(case.pairs)), len(case.pairs)))
    if not case.directed:
        other = other._replace(pairs=[pair[:: draw.choice((1, -1))] for pair in other.pairs])
    return case, other, list(range(case.n))


def beside_a_copy(case):
    """The graph stands beside a copy of itself."""
    copy = [(u + case.n, v + case.n) for u, v in case.pairs]
    other = case._replace(
        n=2 * case.n, pairs=case.pairs + copy, weights=case.weights * 2, parts=case.parts * 2
    )
    return case, other, list(range(case.n))


def a_component(case):
    """Only the component where searches begin is left."""
    members = sorted(case._replace(directed=False).reached(case.start)) if case.n else []
    return case.of_vertices(members), case, members


#: Relations of any answer, and of answers that a component has alone.
ANYWHERE = {"renamed": renamed, "reordered": reordered}
LOCAL = {"beside a copy": beside_a_copy, "a component": a_component}
#: The functions whose methods are compared, by the page of their table.
METHODS = {
    "components": ("edgewise.components", "connected_components"),
    "strong": ("edgewise.strong", "strongly_connected_components"),
    "bfs": ("edgewise.paths.bfs", "bfs"),
    "shortest-paths": ("edgewise.paths.sssp", "shortest_paths"),
    "all-pairs": ("edgewise.paths.apsp", "all_pairs_shortest_paths"),
    "forest": ("edgewise.forest", "minimum_spanning_forest"),
    "cores": ("edgewise.cores", "core_numbers"),
}
#: The cut, recounted.
RECOUNTED = "sum(weight for (u, v), weight in zip(pairs, weights) if parts[u] != parts[v])"


def questions():
    """The questions that edgewise is asked about related graphs, by method, and by recounting."""
    for name, problem in PROBLEMS.items():
        own = edgewise_asked(problem.asked)
        needs = ("vertices",) if "start" in problem.asked else ()
        if problem.shape != "edges":
            is_local = problem.is_local and problem.shape != "number"
            for relation in (ANYWHERE | LOCAL if is_local else ANYWHERE).values():
                yield Question(name, own, own, needs, problem.kinds, relation)
        if name in METHODS:
            page, function = METHODS[name]
            for method, made in import_module(page).METHODS.items():
                if "cpu" in made.devices:
                    asked = problem.asked.replace(f"{function}(graph", f"{function}(graph, method={method!r}")
                    asked = asked.replace(f"method={method!r}, start", f"start, method={method!r}")
                    yield Question(name, edgewise_asked(asked), own, needs, problem.kinds)
    yield Question("cut", edgewise_asked(RECOUNTED), edgewise_asked(PROBLEMS["cut"].asked), kinds=(False,))
