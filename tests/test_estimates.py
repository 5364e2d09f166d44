"""What every method is said to need: no term of an estimate changes unless ``tests/estimates.txt`` does.

``python tests/test_estimates.py`` writes that file: bytes by problem, form of the graph and method.  A line
that changes is to be measured, too (``python bench/memory.py``).
"""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import edgewise as ew
from edgewise.device import threads
from edgewise.errors import EdgewiseError
from edgewise.needs import PROBLEMS

LIST = Path(__file__).resolve().parent / "estimates.txt"
OPTIONS = {"cycles": {"length": 4}, "partition": {"parts": 3}, "apsp": {"sources": [0, 5]}}


def forms():
    """Graphs with repeated edges and loops, by what there is of them."""
    random = np.random.default_rng(1)
    ends = random.integers(0, 900, (2, 5000))
    edges = ew.Graph.from_edges(*ends, n_vertices=1000)
    weights = random.integers(1, 9, 5000).astype(np.int32)
    rows = edges.with_weights(weights)
    rows.offsets  # noqa: B018 - which makes the rows
    return {
        "edges": edges,
        "directed edges": ew.Graph.from_edges(*ends, n_vertices=1000, directed=True),
        "edges and float weights": edges.with_weights(weights.astype(float)),
        "edges, rows and integer weights": rows,
    }


def estimates():
    """The lines of the file."""
    lines = []
    for name, graph in forms().items():
        for problem, place in PROBLEMS.items():
            module = import_module(place.partition(":")[0])
            for method in ("auto", *module.METHODS):
                try:
                    with threads.limited(1):
                        found = graph.estimate(problem, method=method, **OPTIONS.get(problem, {}))
                except EdgewiseError:
                    continue
                steps = " ".join(f"{step.name}={step.bytes}/{step.kept}" for step in found.steps)
                lines.append(f"{problem}, {name}, {method}: {found.bytes} {found.disk_bytes} {steps}")
    return lines


@pytest.mark.interpreter
def test_no_estimate_changes_unseen():
    assert estimates() == LIST.read_text().splitlines()


if __name__ == "__main__":
    LIST.write_text("".join(f"{line}\n" for line in estimates()))
