"""Results and proofs of components, cores and forests with corruptions: their checkers refuse what is wrong.

``python tests/campaigns/corrupted_results.py --problem components --cases 10000 --seed 1``

Each case is a small graph and the certificate of an answer, which is accepted first.  Then one to three
corruptions are made: of numbers in an array of the answer or the proof, of its length, order or dtype, of a
fact, or of the edges of the graph.  In a third of the cases the corrupted answer is proved anew.  The checker
must refuse what comes out, or the answer must be right of the graph, as a naive oracle says.  The last line
is one of JSON: what was *caught*, what was *right* although it was corrupted, what was *missed*, and where a
checker *crashed*.
"""

import argparse
import json
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[0] = str(ROOT)

import edgewise as ew  # noqa: E402
from edgewise.certificates import check  # noqa: E402
from edgewise.components.certificate import prove as prove_components  # noqa: E402
from edgewise.cores.certificate import prove as prove_cores  # noqa: E402
from edgewise.errors import EdgewiseError, VerificationError  # noqa: E402
from edgewise.forest.certificate import prove as prove_forest  # noqa: E402
from edgewise.result import edge_arrays  # noqa: E402
from edgewise.strong.certificate import prove as prove_strong  # noqa: E402
from tests.oracles import components as components_by_search  # noqa: E402
from tests.oracles import core_numbers as cores_by_removal  # noqa: E402
from tests.oracles import strong_components as strong_by_search  # noqa: E402

#: Corruptions of each graph.
PER_GRAPH = 10
TYPES = ("int8", "uint8", "int32", "uint32", "int64", "uint64", "float64", "bool")


class Case(NamedTuple):
    """What is corrupted: the graph, the certificate; ``prove(graph, answer, facts)`` proves anew."""

    graph: Any
    certificate: Any
    prove: Any
    is_right: Any


def random_graph(draw, *, directed=False, weighted=False):
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


def with_edges(graph, sources, targets):
    """The graph with other ends of its edges."""
    given = {"weights": graph.weights, "n_vertices": graph.n_vertices, "directed": graph.directed}
    return ew.Graph.from_edges(sources, targets, **given)


def clusters(draw):
    graph = random_graph(draw)
    certificate = ew.connected_components(graph).certificate()
    return Case(graph, certificate, *labelling(prove_components, components_by_search))


def strong(draw):
    graph = random_graph(draw, directed=True)
    certificate = ew.strongly_connected_components(graph).certificate()
    return Case(graph, certificate, *labelling(prove_strong, strong_by_search))


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
    graph = random_graph(draw)

    def is_right(graph, answer, facts):
        expected = cores_by_removal(graph.n_vertices, graph.sources.tolist(), graph.targets.tolist())
        return answer["cores"].tolist() == expected

    def prove(graph, answer, facts):
        return prove_cores(graph, answer["cores"])

    return Case(graph, ew.core_numbers(graph).certificate(), prove, is_right)


def forest(draw):
    graph = random_graph(draw, weighted=True)
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


CASES = {"components": clusters, "strong": strong, "cores": cores, "forest": forest}


def corrupted(draw, array):
    """An array with other numbers, another length, order, dtype or shape."""
    kind = draw.choice(["one", "one", "one", "copy", "swap", "shift", "length", "order", "dtype", "shape"])
    array = array.ravel().copy()
    size = len(array)
    if kind == "length" or not size:
        return [array[:-1], np.append(array, array[-1:] if size else 0), array[1:]][draw.integers(3)]
    one, other = draw.integers(0, size, 2)
    if kind == "one":
        old = int(array[one]) if array.dtype.kind in "iub" else 0
        value = [int(draw.integers(-2, size + 2)), old + 1, old - 1, 2**62][draw.integers(4)]
        array = array if array.dtype.kind in "iu" else array.astype(np.int64)
        info = np.iinfo(array.dtype)
        array[one] = min(max(value, info.min), info.max)
    elif kind == "copy":
        array[one] = array[other]
    elif kind == "swap":
        array[[one, other]] = array[[other, one]]
    elif kind == "shift":
        array = np.roll(array, 1)
    elif kind == "order":
        draw.shuffle(array)
    elif kind == "dtype":
        array = array.astype(draw.choice(TYPES))
    else:
        array = array.reshape(1, -1)
    return array


def corrupt(draw, case):
    """The case with a corruption."""
    kind = draw.choice(["answer", "answer", "proof", "proof", "fact", "graph", "name"])
    certificate = case.certificate
    if kind in ("answer", "proof"):
        part = dict(getattr(certificate, kind))
        if part:
            name = draw.choice(sorted(part))
            part[name] = corrupted(draw, part[name])
        return case._replace(certificate=replace(certificate, **{kind: part}))
    if kind == "fact":
        facts = dict(certificate.facts)
        name = draw.choice(sorted(facts))
        facts[name] = [not facts[name], None, "x", -1][draw.integers(4)]
        return case._replace(certificate=replace(certificate, facts=facts))
    if kind == "name":
        part = dict(certificate.proof)
        if part:
            del part[draw.choice(sorted(part))]
        return case._replace(certificate=replace(certificate, proof=part))
    graph = case.graph
    if graph.n_edges:
        ends = [graph.sources.copy(), graph.targets.copy()]
        ends[draw.integers(2)][draw.integers(graph.n_edges)] = draw.integers(graph.n_vertices)
        graph = with_edges(graph, *ends)
    return case._replace(graph=graph)


def outcome_of(draw, case):
    """What the checker says of a corruption of a case, and what was wrong."""
    for _ in range(draw.integers(1, 4)):
        case = corrupt(draw, case)
    graph, certificate = case.graph, case.certificate
    if draw.integers(3) == 0:
        with suppress(EdgewiseError, KeyError):  # what is no answer at all has no proof
            certificate = case.prove(graph, certificate.answer, certificate.facts)
    try:
        check(edge_arrays(graph), certificate)
    except VerificationError:
        return "caught", certificate
    except Exception as error:
        return "crashed", f"{error!r} {certificate}"
    answer = {name: array.astype(np.int64) for name, array in certificate.answer.items()}
    is_right = case.is_right(graph, answer, certificate.facts)
    return "right" if is_right else "missed", certificate


def run(problem, cases, seed):
    """Counts of the outcomes."""
    outcomes = Counter()
    for number in range(-(-cases // PER_GRAPH)):
        draw = np.random.default_rng([seed, number, *problem.encode()])
        case = CASES[problem](draw)
        check(edge_arrays(case.graph), case.certificate)
        for _ in range(min(PER_GRAPH, cases - number * PER_GRAPH)):
            outcome, what = outcome_of(draw, case)
            outcomes[outcome] += 1
            if outcome in ("missed", "crashed"):
                print(f"{outcome}: {problem}, seed {seed}, graph {number}: {what}", flush=True)
    return outcomes


def main(arguments=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--problem", choices=sorted(CASES), action="append")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args(arguments)
    found = {name: dict(run(name, wanted.cases, wanted.seed)) for name in wanted.problem or CASES}
    print(json.dumps({"cases": wanted.cases, "seed": wanted.seed, **found}))
    return found


if __name__ == "__main__":
    main()
