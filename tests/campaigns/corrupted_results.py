"""Results and proofs with corruptions: their checkers refuse what is wrong.

``python tests/campaigns/corrupted_results.py --problem components --cases 10000 --seed 1``

Each case is a small graph and the certificate of an answer, which is accepted first.  The answers of paths,
partitions and cycles come from a naive oracle, so that the prover proves somebody else's result.  Then one to
three corruptions are made: of numbers in an array of the answer or the proof, of its length, order, dtype or
shape, of a fact, or of the edges of the graph.  In a third of the cases the corrupted answer is proved anew.
The checker must refuse what comes out, or the answer must be right of the graph, as a naive oracle says.  The
last line is one of JSON: what was *caught*, what was *right* although it was corrupted, what was *missed*,
and where a checker *crashed*.
"""

import argparse
import json
import math
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[0] = str(ROOT)

import edgewise as ew  # noqa: E402
from edgewise.certificates import check  # noqa: E402
from edgewise.errors import VerificationError  # noqa: E402
from edgewise.result import edge_arrays  # noqa: E402
from tests.campaigns.corrupted_cases import CASES  # noqa: E402

#: Corruptions of each graph.
PER_GRAPH = 10
TYPES = ("int8", "uint8", "int32", "uint32", "int64", "uint64", "float32", "float64", "bool", "U3")
FACTS = (None, 0, 1, 3, 4, -1, 0.5, 10**400, math.nan, math.inf, "table", "pairs", "x", True, False)


def corrupted(draw, array):
    """An array with other numbers, another length, order, dtype or shape."""
    kind = draw.choice(["one", "one", "one", "copy", "swap", "shift", "length", "order", "dtype", "shape"])
    array = array.ravel().copy()
    size = len(array)
    if kind == "length" or not size:
        cut = array[: draw.integers(0, size + 1)]
        return [array[:-1], np.append(array, array[:1]), np.append(array, array[-1:]), array[1:], cut][
            draw.integers(5)
        ]
    one, other = draw.integers(0, size, 2)
    if kind == "one" and array.dtype.kind in "iufb":
        return with_number(draw, array if array.dtype.kind != "b" else array.astype(np.int64), one)
    if kind == "copy":
        array[one] = array[other]
    elif kind == "swap":
        array[[one, other]] = array[[other, one]]
    elif kind == "shift":
        array[one:] = np.roll(array[one:], 1)
    elif kind == "order":
        draw.shuffle(array)
    elif kind == "dtype":
        with np.errstate(all="ignore"), suppress(OverflowError):  # of a negative number in letters
            array = array.astype(draw.choice(TYPES))
    else:
        array = array.reshape([(1, -1), (-1, 1)][draw.integers(2)])
    return array


def with_number(draw, array, place):
    """An array with another number at a place."""
    is_float, one = array.dtype.kind == "f", array.dtype.type(1)
    limits = np.finfo(array.dtype) if is_float else np.iinfo(array.dtype)
    values = [*range(4), *draw.integers(-2, len(array) + 2, 6).tolist(), 2**62, limits.max, limits.min]
    values += [np.nan, np.inf, -np.inf, -0.0, 0.1, np.nextafter(array[place], array.dtype.type(9))] * is_float
    with np.errstate(all="ignore"):
        values += [array[place] + one, array[place] - one] * 3
    value = values[draw.integers(len(values))]
    array[place] = value if is_float else min(max(int(value), limits.min), limits.max)
    return array


def other_fact(draw, value):
    """Another value of a fact."""
    numbers = [value + 1, value - 1, value * 2] if type(value) in (int, float) else []
    others = [*FACTS, not value, *3 * numbers]
    return others[draw.integers(len(others))]


def corrupt(draw, case):
    """The case with a corruption."""
    kind = draw.choice(["answer", "answer", "proof", "proof", "facts", "graph", "name"])
    certificate, graph = case.certificate, case.graph
    if kind == "graph":
        if graph.n_edges:
            ends = [graph.sources.copy(), graph.targets.copy()]
            ends[draw.integers(2)][draw.integers(graph.n_edges)] = draw.integers(graph.n_vertices)
            given = {"weights": graph.weights, "n_vertices": graph.n_vertices, "directed": graph.directed}
            graph = ew.Graph.from_edges(*ends, **given)
        return case._replace(graph=graph)
    part = draw.choice(["answer", "proof", "facts"]) if kind == "name" else kind
    held = dict(getattr(certificate, part))
    if held:
        name = draw.choice(sorted(held))
        if kind == "name":
            del held[name]
        else:
            held[name] = (other_fact if kind == "facts" else corrupted)(draw, held[name])
    return case._replace(certificate=replace(certificate, **{part: held}))


def outcome_of(draw, case):
    """What the checker says of a corruption of a case, and what was wrong."""
    for _ in range(draw.integers(1, 4)):
        case = corrupt(draw, case)
    graph, certificate = case.graph, case.certificate
    if draw.integers(3) == 0:
        with suppress(Exception):  # what is no answer at all has no proof
            proved = case.prove(graph, certificate.answer, certificate.facts)
            certificate = replace(certificate, proof=proved.proof)
    try:
        check(edge_arrays(graph), certificate)
    except VerificationError as error:
        return ("crashed" if "\n" in str(error) else "caught"), certificate
    except Exception as error:
        return "crashed", f"{error!r} {certificate}"
    is_right = case.is_right(graph, certificate.answer, certificate.facts)
    return "right" if is_right else "missed", certificate


def run(problem, cases, seed):
    """Counts of the outcomes; those that a checker missed, or crashed at, are printed."""
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
    """Run the campaign from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problem", choices=sorted(CASES), action="append")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args(arguments)
    found = {name: dict(run(name, wanted.cases, wanted.seed)) for name in wanted.problem or CASES}
    print(json.dumps({"cases": wanted.cases, "seed": wanted.seed, **found}))
    return found


if __name__ == "__main__":
    main()
