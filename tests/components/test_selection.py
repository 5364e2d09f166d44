"""What ``auto`` takes: facts of a graph and the outcome, for CPU cores and for GPUs."""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import edgewise as ew
from edgewise import tuning
from edgewise.components import METHODS, selection
from edgewise.components.edge_order import Order
from edgewise.components.selection import Facts, choose_on_cores, choose_on_gpu, select_method

pytestmark = pytest.mark.interpreter
CHOICES = {"cpu": choose_on_cores, "cuda": choose_on_gpu}
MOST_OUTCOMES = 5
GUIDE = Path(__file__).parents[2] / "docs" / "components.md"
RANDOM, CLOSE, IN_SEQUENCE, LOCAL, HUBS, ORDERED_HUBS = (
    Order(in_sequence=False, close=False, skewed=False),
    Order(in_sequence=False, close=True, skewed=False),
    Order(in_sequence=True, close=False, skewed=False),
    Order(in_sequence=True, close=True, skewed=False),
    Order(in_sequence=False, close=False, skewed=True),
    Order(in_sequence=True, close=False, skewed=True),
)
ASKED = None

#: Form, vertices, edges (entries of rows), threads, whether the list is in sequence (ASKED if it must not be
#: judged), and the method.
ON_CORES = [
    ("list", 1_000, 3_000, 16, ASKED, "rem-sequential"),
    ("rows", 1_000, 3_000, 16, ASKED, "rem-sequential"),
    ("rows", 50_000, 100_000, 1, ASKED, "rem-sample"),
    ("rows", 5_000_000, 80_000_000, 16, ASKED, "rem-sample"),
    ("list", 5_000_000, 80_000_000, 1, ASKED, "rem-sequential"),
    ("list", 300_000, 2_000_000, 2, ASKED, "rem-sequential"),
    ("list", 30_000, 60_000, 3, ASKED, "rem"),
    ("list", 300_000, 2_000_000, 16, ASKED, "rem"),
    ("list", 1_000_000, 700_000, 2, ASKED, "rem-ranges"),
    ("list", 1_000_000, 1_500_000, 16, ASKED, "rem-ranges"),
    ("list", 1_000_000, 3_000_000, 16, ASKED, "rem"),
    ("list", 1_000_000, 8_000_000, 2, False, "rem-edge-sample"),
    ("list", 1_000_000, 8_000_000, 16, True, "rem"),
]
ON_GPU = [
    ("rows", 100, 300, ASKED, "afforest"),
    ("rows", 5_000_000, 80_000_000, ASKED, "afforest"),
    ("list", 1_000_000, 15_000_000, ASKED, "rem"),
    ("list", 5_000_000, 80_000_000, LOCAL, "hang-rem"),
    ("list", 30_000_000, 40_000_000, LOCAL, "hang-rem"),
    ("list", 30_000_000, 40_000_000, RANDOM, "rem"),
    ("list", 30_000_000, 40_000_000, HUBS, "rem"),
    ("list", 5_000_000, 80_000_000, HUBS, "edge-reach"),
    ("list", 5_000_000, 80_000_000, ORDERED_HUBS, "edge-reach"),
    ("list", 5_000_000, 80_000_000, IN_SEQUENCE, "rem"),
    ("list", 5_000_000, 80_000_000, RANDOM, "edge-filter"),
    ("list", 5_000_000, 80_000_000, CLOSE, "edge-filter"),
]


def judged(order, questions):
    """A function that answers with an order, and notes that it was asked."""

    def answer():
        questions.append(order)
        return order

    return answer


@pytest.mark.parametrize("form, vertices, edges, threads, order, expected", ON_CORES)
def test_choice_on_cores(form, vertices, edges, threads, order, expected):
    questions = []
    facts = Facts(form == "rows", vertices, edges)
    assert choose_on_cores(facts, threads, judged(order, questions)) == expected
    assert questions == [order] * (order is not ASKED)


@pytest.mark.parametrize("form, vertices, edges, order, expected", ON_GPU)
def test_choice_on_a_gpu(form, vertices, edges, order, expected):
    questions = []
    assert choose_on_gpu(Facts(form == "rows", vertices, edges), judged(order, questions)) == expected
    assert questions == [order] * (order is not ASKED)


def outcomes(kind):
    """The names that a choice returns."""
    tree = ast.parse(inspect.getsource(CHOICES[kind]))
    returned = (node for one in ast.walk(tree) if isinstance(one, ast.Return) for node in ast.walk(one))
    return {node.value for node in returned if isinstance(node, ast.Constant) and isinstance(node.value, str)}


@pytest.mark.parametrize("kind, rows", [("cpu", ON_CORES), ("cuda", ON_GPU)])
def test_outcomes_are_few_methods_and_all_are_shown(kind, rows):
    names = outcomes(kind)
    assert names == {row[-1] for row in rows}
    assert len(names) <= MOST_OUTCOMES
    for name in names:
        assert kind in METHODS[name].devices and not METHODS[name].baseline


def test_every_other_method_is_a_baseline_or_asked_for_by_name():
    """The guide says which methods only a user takes, and has a line for every outcome."""
    guide = GUIDE.read_text()
    by_name = re.search(r"`auto` never takes (.*?), which is asked for by name", guide, re.DOTALL)
    named = set(re.findall(r"`([a-z-]+)`", by_name[1]))
    rest = {name for name, one in METHODS.items() if not one.baseline} - outcomes("cpu") - outcomes("cuda")
    assert named == rest
    for name in outcomes("cpu") | outcomes("cuda"):
        assert f"| `{name}` |" in guide.partition("<!-- auto -->")[2].partition("<!-- /auto -->")[0]


def test_every_limit_of_the_choices_is_a_line_of_the_record():
    """The page that selects has no numbers of its own but counts of threads."""
    tree = ast.parse(Path(selection.__file__).read_text())
    numbers = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert {value for value in numbers if type(value) in (int, float)} == {1, 2}


def test_graphs_have_the_facts_of_their_forms(monkeypatch):
    """A graph of rows is told by its entries; a list on the host is judged; directed rows are lists."""
    asked = []
    monkeypatch.setattr(selection, "choose_on_cores", lambda *given: asked.append(given) or "rem")
    made = ew.generate.paths(300, seed=1)
    of_rows = ew.Graph.from_csr(made.offsets, made.neighbours)
    directed = ew.Graph.from_csr(made.offsets, made.neighbours, directed=True)
    for graph in made, of_rows, ew.generate.paths(300, seed=1).prepare("components"), directed:
        assert select_method(graph) == "rem"
    entries = len(made.neighbours)
    assert [facts for facts, _, _ in asked] == [
        Facts(False, 300, made.n_edges),
        Facts(True, 300, entries),
        Facts(True, 300, entries),
        Facts(False, 300, entries),
    ]
    assert asked[0][2]() is True


def test_a_long_list_is_judged_once(monkeypatch):
    monkeypatch.setattr(tuning, "GPU", tuning.GPULimits(components_judged=10, components_dense=4))
    monkeypatch.setattr(ew.Graph, "device", "cuda:0")
    questions = []
    monkeypatch.setattr(selection, "_judge", lambda _, graph: questions.append(graph) or RANDOM)
    ends = np.random.default_rng(1).integers(0, 100, (2, 900))
    graph = ew.Graph(100, edges=(*ends, None))
    assert [select_method(graph), select_method(graph)] == ["edge-filter"] * 2
    assert questions == [graph]
