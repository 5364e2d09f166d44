"""Answers and proofs of paths, partitions and cycles with corruptions: their checkers refuse what is wrong.

``python tests/campaigns/corrupted_answers.py --problem distances --cases 10000 --seed 1``

Each case is a small graph whose answer comes from a naive oracle, so that the prover proves somebody else's
result.  The certificate is accepted first.  Then one to three corruptions are made: in numbers of an array,
its length, order or dtype, or in a fact; in a third of the cases the corrupted answer is proved anew.  The
checker must refuse it, or the answer must still be right, as the oracle says.  The last line is one of JSON
with what was *caught*, what was *right* although it was corrupted, what was *missed*, and where a checker
*crashed*.
"""

import argparse
import json
import math
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[0] = str(ROOT)

import edgewise as ew  # noqa: E402
from edgewise.certificates import Certificate, check  # noqa: E402
from edgewise.cycles.certificate import prove as prove_cycles  # noqa: E402
from edgewise.errors import EdgewiseError, VerificationError  # noqa: E402
from edgewise.partitions.certificate import prove as prove_partition  # noqa: E402
from edgewise.paths.certificate import prove as prove_distances  # noqa: E402
from edgewise.paths.route_certificate import prove_pairs, prove_table  # noqa: E402
from edgewise.result import edge_arrays  # noqa: E402
from tests.oracles import count_by_hand  # noqa: E402

#: Corruptions of each graph.
PER_GRAPH = 10
TYPES = ("int32", "int64", "float32", "float64")


class Case(NamedTuple):
    """A graph, a right certificate, how an answer is proved anew, and whether an answer is right."""

    graph: Any
    certificate: Certificate
    prove: Any
    is_right: Any


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
    edges = edge_arrays(graph)
    sources = np.unique(draw.integers(0, graph.n_vertices, draw.integers(1, 3)))
    distances, none = naive_distances(edges, sources, weighted, dtype)
    cutoff = None if negative or draw.random() < 0.6 else draw.choice([0, 1, 2.5, 1e9]).item()
    partial = bool(not negative and draw.random() < 0.2)
    if partial:
        furthest = distances[draw.choice(np.flatnonzero(distances != none))]
        distances[distances > furthest] = none
    if cutoff is not None:
        distances[distances > cutoff] = none

    def prove(certificate):
        answer, facts = certificate.answer, certificate.facts
        how = {name: facts.get(name) for name in ("weighted", "cutoff", "partial")}
        return prove_distances(graph, answer["distances"], answer["sources"], **how)

    def is_right(certificate):
        answer, facts = certificate.answer, certificate.facts
        given = answer["distances"]
        right, none = naive_distances(edges, answer["sources"], facts["weighted"], given.dtype)
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
    return Case(edges, prove_distances(graph, distances, sources, **how), prove, is_right)


def of_partition(draw):
    """Random parts, of vertices with weights or without."""
    dtype = draw.choice([None, "int64", "float64"])
    graph = random_graph(draw, False, dtype)
    if dtype == "float64":
        graph = graph.with_weights(np.where(np.isinf(graph.weights), 0.7, graph.weights))
    edges, k = edge_arrays(graph), int(draw.integers(1, 5))
    sizes = draw.integers(0, 4, graph.n_vertices) if draw.random() < 0.5 else None
    parts = draw.integers(0, k, graph.n_vertices)
    proved = prove_partition(graph, parts, k=k, vertex_weights=sizes)
    proved.answer["limits"] = proved.answer["weights"] + draw.integers(-1, 2, k).clip(
        -proved.answer["weights"]
    )
    over = proved.answer["weights"] > proved.answer["limits"]
    proved.facts["balanced"] = bool(k <= graph.n_vertices and not over.any())

    def prove(certificate):
        answer = certificate.answer
        return prove_partition(graph, answer["parts"], k=k, vertex_weights=answer.get("vertex_weights"))

    def is_right(certificate):
        answer, facts = certificate.answer, certificate.facts
        parts, k = answer["parts"].tolist(), len(answer["weights"])
        weights, cut, beside, size = [0] * k, [], set(), 0
        for vertex, part in enumerate(parts):
            weights[part] += int(answer["vertex_weights"][vertex]) if "vertex_weights" in answer else 1
        for edge, (one, other) in enumerate(zip(edges.sources.tolist(), edges.targets.tolist(), strict=True)):
            weight = 1 if edges.weights is None else edges.weights[edge].item()
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

    return Case(edges, proved, prove, is_right)


def of_cycles(draw):
    """Cycles of a length through each vertex."""
    graph, length = random_graph(draw, False, None), int(draw.integers(3, 7))
    edges, twice = edge_arrays(graph), bool(draw.random() < 0.3)
    found: dict[int, np.ndarray] = {}

    def right_counts(length):
        if length not in found:
            ends = edges.sources.tolist(), edges.targets.tolist()
            found[length] = count_by_hand(graph.n_vertices, *ends, length)
        return found[length]

    def prove(certificate):
        return certificate  # there is no proof

    def is_right(certificate):
        facts = certificate.facts
        right = right_counts(facts["length"]) * (2 if facts.get("count_directions", False) else 1)
        return right.tolist() == certificate.answer["counts"].tolist()

    counts = right_counts(length) * (2 if twice else 1)
    return Case(edges, prove_cycles(graph, counts, length, count_directions=twice), prove, is_right)


def of_routes(draw):
    """A table of distances, or pairs with their paths."""
    dtype, weighted = draw.choice(TYPES), bool(draw.random() < 0.75)
    graph = random_graph(draw, bool(draw.random() < 0.5), dtype if weighted else None)
    dtype = dtype if weighted else "int32"
    edges, n = edge_arrays(graph), graph.n_vertices
    kind = draw.choice(["table", "pairs"])
    count = int(draw.integers(1, 5))
    sources = draw.integers(0, n, count)
    targets = draw.integers(0, n, count if kind == "pairs" else draw.integers(1, 4))
    whole = kind == "table" and draw.random() < 0.3

    def rows(sources, weighted, dtype):
        return np.array([naive_distances(edges, [source], weighted, dtype)[0] for source in sources])

    def pick(matrix, targets, kind):
        return matrix[np.arange(len(matrix)), targets] if kind == "pairs" else matrix[:, targets].ravel()

    def prove(certificate):
        answer, weighted = certificate.answer, certificate.facts["weighted"]
        ends = answer["sources"], answer.get("targets")
        prover = prove_pairs if certificate.facts["kind"] == "pairs" else prove_table
        return prover(graph, *ends, answer["distances"], weighted=weighted)

    def is_right(certificate):
        answer, facts = certificate.answer, certificate.facts
        given = answer["distances"]
        matrix = rows(answer["sources"], facts["weighted"], given.dtype)
        right = pick(matrix, answer.get("targets", np.arange(n)), facts["kind"])
        if right.dtype.kind != "f":
            return right.tolist() == given.tolist()
        same = right == given
        with np.errstate(invalid="ignore"):
            near = abs(right - given) <= abs(right) * 2**12 * np.finfo(right.dtype).eps
        return bool((same | (np.isfinite(right) & near)).all())

    columns = np.arange(n) if whole else targets
    distances = pick(rows(sources, weighted, dtype), columns, kind)
    prover = prove_pairs if kind == "pairs" else prove_table
    proved = prover(graph, sources, None if whole else targets, distances, weighted=weighted)
    return Case(edges, proved, prove, is_right)


CASES = {"distances": of_distances, "partition": of_partition, "cycles": of_cycles, "routes": of_routes}


def corrupt_array(draw, array):
    """A copy of an array with a corruption."""
    array, how = array.copy(), draw.integers(0, 9)
    if how == 0:
        return array[: draw.integers(0, len(array) + 1)]
    if how == 1:
        return np.concatenate([array, array[:1]])
    if how == 2:
        with np.errstate(all="ignore"):
            return array.astype(draw.choice(["int8", "uint8", "int32", "uint64", "float32", "float64", "U3"]))
    if how == 3:
        return array.reshape(-1, 1)
    if not len(array):
        return array
    at, other = draw.integers(0, len(array), 2)
    if how == 4:
        array[[at, other]] = array[[other, at]]
    elif how == 5:
        array[at] = array[other]
    elif how == 6:
        array[at:] = np.roll(array[at:], 1)
    else:
        is_float = array.dtype.kind == "f"
        limits = np.finfo(array.dtype) if is_float else np.iinfo(array.dtype)
        values = [0, 1, 2, 3, -1, limits.max, limits.min]
        values += [np.nan, np.inf, -np.inf, -0.0, 0.1] if is_float else []
        one = array.dtype.type(1)
        with np.errstate(all="ignore"):
            values += [array[at] + one, array[at] - one] * 3 + [np.nextafter(array[at], 9)] * is_float
            array[at] = np.asarray(values[draw.integers(0, len(values))]).astype(array.dtype)
    return array


def corrupted(draw, certificate):
    """A copy of a certificate with one to three corruptions."""
    parts: dict[str, dict[str, Any]] = {
        "answer": dict(certificate.answer),
        "proof": dict(certificate.proof),
        "facts": dict(certificate.facts),
    }
    for _ in range(draw.integers(1, 4)):
        held = parts[draw.choice(["answer", "answer", "proof", "facts"])]
        if not held:
            continue
        name = draw.choice(sorted(held))
        if draw.random() < 0.03:
            del held[name]
        elif held is parts["facts"]:
            value = held[name]
            numbers = [value + 1, value - 1, value * 2] if type(value) in (int, float) else []
            others = [None, 0, 1, 3, 4, -1, 0.5, 10**400, math.nan, math.inf, "table", "pairs", True, False]
            held[name] = (others + 3 * numbers)[draw.integers(0, len(others) + 3 * len(numbers))]
        elif isinstance(held[name], np.ndarray) and held[name].dtype.kind != "U" and held[name].ndim == 1:
            held[name] = corrupt_array(draw, held[name])
    return Certificate(certificate.problem, *parts.values())


def outcome(draw, case):
    """What becomes of one corruption, and the certificate."""
    bad = corrupted(draw, case.certificate)
    if draw.random() < 0.35:
        try:
            proved = case.prove(bad)
            bad = Certificate(bad.problem, bad.answer, proved.proof, bad.facts)
        except Exception:
            pass
    try:
        check(case.graph, bad)
    except VerificationError as error:
        return ("crashed" if "\n" in str(error) else "caught"), bad
    except Exception:
        return "crashed", bad
    return ("right" if case.is_right(bad) else "missed"), bad


def run(problem, cases, seed):
    """Outcomes of so many corruptions; those that a checker missed, or crashed at, are printed."""
    outcomes: Counter = Counter(caught=0, right=0, missed=0, crashed=0)
    for number in range(-(-cases // PER_GRAPH)):
        draw = np.random.default_rng([seed, number])
        try:
            case = CASES[problem](draw)
            check(case.graph, case.certificate)
        except EdgewiseError as error:
            raise AssertionError(
                f"a right answer of {problem} is refused, number {number}: {error}"
            ) from error
        for _ in range(min(PER_GRAPH, cases - number * PER_GRAPH)):
            found, bad = outcome(draw, case)
            outcomes[found] += 1
            if found in ("missed", "crashed"):
                print(found, seed, number, case.graph, bad)
    return dict(outcomes)


def main(arguments=None):
    """Run the campaign from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problem", choices=sorted(CASES), action="append")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    found = {problem: run(problem, given.cases, given.seed) for problem in given.problem or sorted(CASES)}
    print(json.dumps(found))
    return found


if __name__ == "__main__":
    main()
