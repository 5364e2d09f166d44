"""The kit: cases, questions, differences that become small, planted faults, children, and the command."""

import io
import json
import math
import random
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from edgewise.command import run as command
from edgewise.errors import OptionError
from edgewise.torture import campaign, cases, faults, peers, problems, relations, run, shrinking, worker
from edgewise.torture.asking import (
    Difference,
    Question,
    asked_again,
    difference,
    edgewise_asked,
    reproducer,
)
from edgewise.torture.batches import in_children

pytestmark = [pytest.mark.interpreter, pytest.mark.interpreted]

CASE = cases.Case(3, [(0, 1), (1, 0), (2, 2)], [2.0, 1.0, 5.0], False, 1, [0, 1, 1])
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "torture.md"
#: A line of Python for a child that ends in a case, and what is said of it.
ENDS = {"crash": "os.abort()", "hang": "time.sleep(99)"}
CHILD = """import json, os, sys, time
first, count = int(sys.argv[2]), int(sys.argv[4])
for number in range(first, first + count):
    if number == 2:
        {}
    print(json.dumps([number, []]), flush=True)
"""


def test_every_small_graph_is_met():
    assert len(cases.SMALL) == 1 + 1 + 2 + 2 + 8 + 16 + 64 + 512
    met = {cases.case_of(random.Random(at), at, (False,), ("ones",)).n for at in range(1, 200, 2)}
    assert met == {0, 1, 2, 3}


def test_the_lightest_of_repeated_edges_is_kept():
    pairs, weights = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2)], [3.0, 2.0, 4.0, 4.0, 1.0]
    case = cases.Case(3, pairs, weights, False, 0, [0, 1, 1])
    assert cases.without_repeats(case).pairs == [(1, 0), (0, 2), (1, 2)]
    assert cases.without_repeats(case._replace(directed=True)).pairs == pairs


@pytest.mark.parametrize("number", range(40))
def test_cases_are_graphs(number):
    case = cases.case_of(random.Random(number), number, (False, True), list(cases.WEIGHTS))
    assert len(case.pairs) == len(case.weights) and len(case.parts) == case.n <= cases.LARGEST
    assert all(0 <= u < case.n and 0 <= v < case.n for u, v in case.pairs)
    assert 0 <= case.start < max(case.n, 1)
    simple = cases.as_needed(case, peers.SIMPLE)
    keys = {cases_key(simple, pair) for pair in simple.pairs}
    assert len(keys) == len(simple.pairs) and all(u != v for u, v in simple.pairs)


def cases_key(case, pair):
    return pair if case.directed else tuple(sorted(pair))


def test_a_graph_is_made_what_a_question_needs():
    assert cases.as_needed(CASE, ("no repeated edges",)).weights == [1.0, 5.0]
    assert cases.as_needed(CASE, ("no loops", "connected")).n == 2
    assert cases.as_needed(CASE._replace(n=0, pairs=[], weights=[], parts=[]), ("vertices",)) is None


def test_answers_are_the_same_but_for_labels_infinities_and_rounding():
    labels = problems.canonical([7, 7, 3], "sets", CASE)
    assert labels == problems.canonical([{0, 1}, {2}], "sets", CASE) == [0, 0, 2]
    assert problems.canonical([{0, 1}, {1, 2}], "sets", CASE) != [0, 0, 1]
    far = problems.canonical({0: 1, 1: 0}, "vertices", CASE)
    assert problems.same(far, problems.canonical([1, 0, 2**31 - 1], "vertices", CASE))
    assert problems.same([[0.1 + 0.2]], [[0.3]]) and not problems.same([1.0], [1.0, 1.0])
    assert not problems.same([float("nan")], [0.0])


def test_tables_name_what_there_is():
    for peer in peers.PEERS.values():
        for call in peer.calls:
            assert call.problem in problems.PROBLEMS and set(call.needs) <= set(cases.NEEDS)
            assert "|" not in call.asked + call.convention
            assert call.convention != peers._MERGED or call.needs == ("no repeated edges",)
            compile(call.asked, "", "eval")
    assert {one.problem for one in relations.questions()} >= set(problems.PROBLEMS) - {"edge-betweenness"}


def test_edgewise_agrees_with_networkx_and_with_itself():
    job = worker.Job(["networkx", "edgewise"], 3)
    asked = 0
    for _, answered, found in worker.run(job, 0, 6):
        asked += sum(answered.values())
        assert not found
    assert asked > 60


def test_a_difference_becomes_small_and_is_shown_as_lines_that_run():
    own = edgewise_asked(problems.PROBLEMS["shortest-paths"].asked)
    fault = next(one for one in faults.FAULTS if one.summary == "edges of weight 0 are no edges")
    question = Question("shortest-paths", own._replace(fault=fault), own)
    large = cases.Case(5, [(0, 1), (1, 2), (2, 3), (3, 4)], [1.0, 0.0, 2.0, 1.5], True, 0, [0] * 5)
    assert difference(question, large).kind == "differs"
    small = shrinking.shrunk(large, lambda case: asked_again(question, case, "differs") is not None)
    assert (small.n, small.weights, small.start) == (2, [0.0], 0)
    lines = reproducer(question, small, asked_again(question, small, "differs"))
    said = io.StringIO()
    with redirect_stdout(said):
        exec(lines, {})
    assert said.getvalue().count("edgewise: [0.0, 0.0]") == 2


def test_an_error_is_a_difference_unless_a_method_declines():
    own = edgewise_asked("ew.bfs(graph, start).distances.tolist()")
    raises = Question("bfs", own._replace(name="other", expression="1 / 0"), own)
    assert difference(raises, CASE).kind == "other raises ZeroDivisionError"
    unsure = raises._replace(peer=own._replace(name="other", expression="[float('nan')] * n"))
    assert difference(unsure, CASE).kind == "other says NaN"
    declines = Question("bfs", edgewise_asked("ew.bfs(graph, start, method='no such')"), own)
    assert difference(declines, CASE) is None
    assert difference(raises._replace(own=raises.peer), CASE) is None


def test_relations_hold_between_the_right_vertices():
    for name, relation in (relations.ANYWHERE | relations.LOCAL).items():
        one, other, at = relation(CASE)
        assert len(at) == one.n and max(at, default=-1) < other.n, name
        for u, v in one.pairs:
            assert (at[u], at[v]) in other.pairs or (at[v], at[u]) in other.pairs


def test_every_planted_fault_is_found(monkeypatch):
    monkeypatch.setattr(faults, "shrunk", lambda case, shows: case)
    found = faults.self_test(cases=100)
    assert len(found) == 30 and [one.summary for one in found if one.reproducer is None] == []


def test_a_fault_that_is_not_found_has_no_case(monkeypatch):
    monkeypatch.setattr(faults, "FAULTS", faults.FAULTS[:1])
    (found,) = faults.self_test(cases=0)
    assert found[2:] == (0, 0, 0, None)


@pytest.mark.parametrize("far", [-1, 2**31 - 1, 2**63 - 1, sys.float_info.max, math.inf])
def test_libraries_say_in_many_ways_that_a_vertex_is_not_reached(far):
    number = problems._numbers([far, 3], 2)
    assert number == [math.inf, 3]


@pytest.mark.parametrize("kind", ENDS)
def test_a_child_that_ends_costs_one_case(kind):
    child = [sys.executable, "-c", CHILD.format(ENDS[kind])]
    found = list(in_children(child, 0, 4, silence=3))
    assert [number for number, _ in found] == [0, 1, 2, 3]
    assert [what[0][0] for _, what in found if what] == [kind]


def test_a_crash_is_attributed_to_a_question(monkeypatch):
    job = worker.Job(["networkx"], 1, "bfs")
    made = campaign._Campaign(job, 10, None, None)
    monkeypatch.setattr(made, "ends_process", lambda at, case: case.n > 0)
    for number in range(1, 40, 2):
        made.ended(number, ["crash", "", "status -6"])
    found = made.findings()
    assert [(one.kind, one.n_cases) for one in found] == [("crash", campaign.CRASHES)]
    assert "n, pairs, weights, directed, start = 1, []" in found[0].reproducer
    assert "edgewise" not in found[0].reproducer and list(made.crashing()) == [0]


def test_a_reproducer_says_if_answers_change_from_run_to_run():
    made = campaign._Campaign(worker.Job(["networkx"], 1, "bfs"), 1, None, None)
    made.answered({"networkx": 1}, [[0, "differs", list(CASE)]])
    assert "from run to run" in made.findings()[0].reproducer and made.done == 1
    assert isinstance(Difference("differs", ([], [])), tuple)


def test_weak_components_are_asked_of_directed_graphs():
    calls = [one for one in peers.NETWORKIT.calls if one.problem == "components" and "Weakly" in one.asked]
    assert [one.kinds for one in calls] == [(True,)]


def test_libraries_and_problems_are_checked(monkeypatch):
    with pytest.raises(OptionError, match="did you mean networkx"):
        run(["networks"])
    with pytest.raises(OptionError, match="did you mean forest"):
        run(problem="forrest")
    monkeypatch.setattr("edgewise.torture.find_spec", lambda name: None)
    with pytest.raises(OptionError, match="igraph is not installed; pip install igraph"):
        run("igraph")


def test_the_python_of_the_guide_runs(capsys):
    for block in re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL):
        exec(block, {})
    said = capsys.readouterr().out
    assert said.startswith("{'scipy': ") and "Negative cycle detected on node 1" in said


def test_the_command(capsys):
    words = ["torture", "--against", "networkx", "--problem", "components"]
    assert command([*words, "--cases", "8", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["graphs"] == 8 and found["findings"] == [] and found["cases"]["networkx"] >= 8
    assert command([*words, "--cases", "0"]) == 0
    assert "0 graphs: answers differ in no way" in capsys.readouterr().out
    assert command(["torture", "--against", "nothing"]) == 2


def test_the_command_shows_what_differs(capsys, monkeypatch):
    finding = campaign.Finding("scipy", "forest", "csgraph", "differs", 2, "import scipy\nprint(1)")
    monkeypatch.setattr("edgewise.torture.campaign.run", lambda *given: ({"scipy": 9}, [finding], 5, 1.0))
    assert command(["torture", "--against", "scipy"]) == 1
    said = capsys.readouterr().out
    assert "# scipy, forest: differs in 2 cases\nimport scipy\nprint(1)\n" in said
    assert "5 graphs: answers differ in 1 way; compared 9 of scipy" in said


def test_the_command_shows_planted_faults(capsys, monkeypatch):
    monkeypatch.setattr(faults, "FAULTS", faults.FAULTS[:1])
    assert command(["torture", "--self-test", "--cases", "20"]) == 0
    assert "1 of 1 planted faults found" in capsys.readouterr().out
    assert command(["torture", "--self-test", "--cases", "0"]) == 1
    assert "0 of 1 planted faults found" in capsys.readouterr().out
