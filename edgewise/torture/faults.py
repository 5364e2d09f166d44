"""Faults that the kit must find: each is planted into edgewise, as if it were a library that has it.

A fault is in what a solver sees of a graph, such as an edge of weight 0 that a sparse matrix loses, or in
what it says, such as 0 for a vertex that is not reached.  All are like faults that libraries have had.
"""

import math
import random
from collections import Counter
from typing import Any, NamedTuple

from edgewise.torture.asking import Question, asked_again, difference, edgewise_asked, reproducer
from edgewise.torture.cases import as_needed, case_of, connected
from edgewise.torture.problems import PROBLEMS
from edgewise.torture.shrinking import shrunk


def _as_it_is(case):
    return case


def _unchanged(answer, case):
    return answer


class Fault(NamedTuple):
    """A fault.

    Attributes
    ----------
    summary : str
        What is wrong.
    problem : str
        The problem about which edgewise is asked.
    sees : callable
        What the solver sees of a case.
    says : callable
        What it says instead of an answer about a case.
    """

    summary: str
    problem: str
    sees: Any = _as_it_is
    says: Any = _unchanged


class Found(NamedTuple):
    """How a fault was found.

    Attributes
    ----------
    summary, problem : str
        The fault.
    cases : int
        Cases that were asked, the one that showed it included; all of them if ``reproducer`` is ``None``.
    vertices, edges : int
        Those of the smallest case.
    reproducer : str or None
        Lines of Python that show it; ``None`` if it was not found.
    """

    summary: str
    problem: str
    cases: int
    vertices: int
    edges: int
    reproducer: str | None


def _weighing(change):
    """What is seen: changed weights."""
    return lambda case: case._replace(weights=[change(weight) for weight in case.weights])


def _key(case, pair):
    return pair if case.directed else tuple(sorted(pair))


def _last_of_repeated(case):
    last = {_key(case, pair): at for at, pair in enumerate(case.pairs)}
    return case.of_edges(sorted(last.values()))


def _summed(case):
    sums: Counter = Counter()
    for pair, weight in zip(case.pairs, case.weights, strict=True):
        sums[_key(case, pair)] += weight
    return case._replace(pairs=list(sums), weights=list(sums.values()))


def _single_precision(weight):
    from numpy import float32

    return float(float32(weight))


def _isolated_together(labels, case):
    ends = {vertex for pair in case.pairs for vertex in pair}
    alone = [vertex for vertex in range(case.n) if vertex not in ends]
    return [alone[0] if vertex in alone else label for vertex, label in enumerate(labels)]


def _third_lost(labels, case):
    """The third set is taken for the second."""
    sets = sorted(set(labels))
    return [sets[1] if len(sets) > 2 and label == sets[2] else label for label in labels]


def _last_wrong(answer, case):
    return [*answer[:-1], answer[-1] + 1] if answer else answer


def _more_at_loops(answer, case):
    loops = Counter(u for u, v in case.pairs if u == v)
    return [value + loops[vertex] for vertex, value in enumerate(answer)]


def _repeated_counted(answer, case):
    repeated = Counter(_key(case, pair) for pair in case.pairs)
    most: Counter = Counter()
    for pair, count in repeated.items():
        for vertex in set(pair):
            most[vertex] = max(most[vertex], count)
    return [value * max(most[vertex], 1) for vertex, value in enumerate(answer)]


def _refuses_nothing(answer, case):
    if not case.n:
        raise ValueError("a graph needs vertices")
    return answer


def _four_in_a_core(answer, case):
    """Four vertices whose cores are all 2 have cores of 3; no other graph is wrong."""
    return [3.0] * 4 if answer == [2.0] * 4 else answer


def _not_reached_is_0(answer, case):
    return [0.0 if math.isinf(value) else value for value in answer]


def _set_loses_its_last(labels, case):
    return [vertex if case.n > 2 and vertex == case.n - 1 else label for vertex, label in enumerate(labels)]


def _loops_on_the_diagonal(rows, case):
    loops = {u: weight for (u, v), weight in zip(case.pairs, case.weights, strict=True) if u == v}
    return [
        [loops.get(u, value) if u == v else value for v, value in enumerate(row)]
        for u, row in enumerate(rows)
    ]


def _nan_alone(answer, case):
    return [math.nan] if case.n == 1 else answer


def _1_with_one_neighbour(answer, case):
    simple = {_key(case, (u, v)) for u, v in case.pairs if u != v}
    degrees = Counter(vertex for pair in simple for vertex in pair)
    return [1.0 if degrees[vertex] == 1 else value for vertex, value in enumerate(answer)]


def _loops_cut(answer, case):
    return answer + sum(w for (u, v), w in zip(case.pairs, case.weights, strict=True) if u == v)


def _backwards(case):
    return case._replace(pairs=[(v, u) for u, v in case.pairs])


def _both_ways(case):
    return case._replace(pairs=case.pairs + _backwards(case).pairs, weights=case.weights * 2)


def _all_but_the_last(case):
    return case.of_edges(range(len(case.pairs) - 1))


def _without_0(case):
    return case.of_edges([at for at, weight in enumerate(case.weights) if weight])


def _times(factor):
    return lambda answer, case: [value * factor(case) for value in answer]


FAULTS = (
    Fault("vertices without edges are one component", "components", says=_isolated_together),
    Fault("a third component is taken for the second", "components", says=_third_lost),
    Fault("the last edge is not read", "components", _all_but_the_last),
    Fault("directions are ignored", "strong", _both_ways),
    Fault("the last of three or more vertices is alone", "strong", says=_set_loses_its_last),
    Fault("edges are followed backwards", "bfs", _backwards),
    Fault("vertices that are not reached are at 0", "bfs", says=_not_reached_is_0),
    Fault("searches begin at the first vertex", "bfs", lambda case: case._replace(start=0)),
    Fault("edges of weight 0 are no edges", "shortest-paths", _without_0),
    Fault("weights lose their fractions", "shortest-paths", _weighing(math.floor)),
    Fault("weights have 32 bits", "shortest-paths", _weighing(_single_precision)),
    Fault("the last of repeated edges counts", "shortest-paths", _last_of_repeated),
    Fault("weights of repeated edges are added", "all-pairs", _summed),
    Fault("a loop is the distance of a vertex to itself", "all-pairs", says=_loops_on_the_diagonal),
    Fault("negative weights count as positive ones", "forest", _weighing(abs)),
    Fault("the last of repeated edges counts", "forest", _last_of_repeated),
    Fault("weights are rounded to six digits", "forest", _weighing(lambda weight: round(weight, 6))),
    Fault("a loop counts as a neighbour", "cores", says=_more_at_loops),
    Fault("four vertices with cores of 2 have cores of 3", "cores", says=_four_in_a_core),
    Fault("each of repeated edges makes a triangle", "triangles", says=_repeated_counted),
    Fault("the last vertex has a square more", "squares", says=_last_wrong),
    Fault("sums are divided by n, not n - 1", "closeness", says=_times(lambda case: (case.n - 1) / case.n)),
    Fault("edges are followed the other way", "harmonic", _backwards),
    Fault("the diameter is that of the first component", "diameter", lambda case: connected(case) or case),
    Fault("a graph without vertices is refused", "diameter", says=_refuses_nothing),
    Fault("both directions of a pair count", "betweenness", says=_times(lambda case: 2 - case.directed)),
    Fault("a single vertex has NaN", "betweenness", says=_nan_alone),
    Fault("a vertex with one neighbour has 1", "clustering", says=_1_with_one_neighbour),
    Fault("loops count as cut", "cut", says=_loops_cut),
    Fault("weights do not count", "cut", _weighing(lambda weight: 1.0)),
)


def find(fault, cases, seed=1):
    """Ask edgewise with and without a fault until the answers differ.

    Parameters
    ----------
    fault : Fault
        What is planted.
    cases : int
        Most cases.
    seed : int
        Seed of the cases.

    Returns
    -------
    Found
        How it was found, if it was.
    """
    problem = PROBLEMS[fault.problem]
    own, needs = edgewise_asked(problem.asked), ("vertices",) if "start" in problem.asked else ()
    question = Question(fault.problem, own._replace(fault=fault), own, needs, problem.kinds)
    for number in range(cases):
        draw = random.Random(f"{seed} {number}")
        case = as_needed(case_of(draw, number, problem.kinds, problem.weights), needs)
        differs = case and difference(question, case)
        if differs:
            small = shrunk(case, lambda one, kind=differs.kind: asked_again(question, one, kind) is not None)
            shown = reproducer(question, small, asked_again(question, small, differs.kind) or differs)
            return Found(fault.summary, fault.problem, number + 1, small.n, len(small.pairs), shown)
    return Found(fault.summary, fault.problem, cases, 0, 0, None)


def self_test(cases=1_000, seed=1, report=None):
    """Plant every fault; return how each was found.

    Parameters
    ----------
    cases : int
        Most cases for a fault.
    seed : int
        Seed of the cases.
    report : callable, optional
        Called with the number of faults that are done, their number, and words.

    Returns
    -------
    list of Found
        One for each fault.
    """
    found = []
    for number, fault in enumerate(FAULTS):
        found.append(find(fault, cases, seed))
        if report is not None:
            report(number + 1, len(FAULTS), fault.summary)
    return found
