"""Every method on a graph of the user's, beside other libraries."""

import numpy as np
import pytest

import edgewise as ew
from edgewise import components
from edgewise.errors import OptionError, VerificationError
from edgewise.experiments import own_graph, peers
from edgewise.experiments.own_graph import compare
from edgewise.experiments.report import Figure, Report, Table
from edgewise.experiments.web_page import page

CLOSE = {"runs": 1, "only": ("components",)}


def weighted():
    """Two components, one vertex alone, weights without ties: every library finds the same forest."""
    sources, targets = [0, 1, 2, 3, 5], [1, 2, 3, 0, 6]
    return ew.Graph.from_edges(sources, targets, weights=[1, 2, 3, 4, 5], n_vertices=8)


@pytest.fixture(scope="module")
def found():
    return compare(weighted(), "small", runs=1)


def test_every_call_and_every_method_is_measured(found):
    assert [table.name for table in found.tables] == list(map(_hyphenated, own_graph.CALLS))
    rows = found.tables[0].rows
    methods = [name for name, method in components.METHODS.items() if not method.baseline]
    assert [row["method"] for row in rows if row["code"] == "edgewise"] == ["auto", *methods]
    assert all(row["ms"] > 0 and row["fresh"] > 0 for row in rows if row["code"] == "edgewise")
    assert min(row["slower"] for row in rows) == 1


def test_other_libraries_find_the_same(found):
    for table in found.tables:
        assert {row["note"] for row in table.rows} == {""}
    assert {"SciPy", "NetworkX"} <= {row["code"] for row in found.tables[3].rows}


def test_directed_graphs_without_weights():
    graph = ew.Graph.from_edges([0, 1], [1, 2], n_vertices=4, directed=True)
    found = compare(graph, runs=1)
    assert [table.name for table in found.tables] == ["components", "bfs"]
    assert {row["note"] for table in found.tables for row in table.rows} == {""}


def test_ids_are_kept():
    graph = ew.Graph.from_edges(["a", "b"], ["b", "c"])
    assert compare(graph, runs=1, only=("bfs",), peers=False).tables[0].rows[0]["ms"] > 0


def test_large_graphs_spare_slow_libraries():
    names = [peer.name for peer in peers.installed("components", 1 << 26)]
    assert "NetworkX" not in names and "SciPy" in names


def test_another_result_of_a_library_is_marked(monkeypatch):
    broken = peers.Peer(
        "broken", "scipy", {"components": lambda graph, _: (lambda: 0, lambda _: np.zeros(8))}
    )
    fails = peers.Peer("fails", "scipy", {"components": lambda graph, _: 1 / 0})
    monkeypatch.setattr(peers, "PEERS", (broken, fails))
    *_, other, failed = compare(weighted(), **CLOSE).tables[0].rows
    assert other["note"] == "finds another result"
    assert failed["note"] == "ZeroDivisionError: division by zero" and failed["ms"] is None


def test_methods_that_disagree_are_an_error(monkeypatch):
    def solve(graph, source, method):
        return np.zeros(3) if method == "rem" else np.ones(3)

    call = own_graph.Call("Components", solve, components.METHODS)
    monkeypatch.setitem(own_graph.CALLS, "components", call)
    with pytest.raises(VerificationError, match="rem gives another result than auto"):
        compare(weighted(), **CLOSE)


def test_mistakes():
    with pytest.raises(OptionError, match="'cc' is unknown; use one of components, bfs"):
        compare(weighted(), only=("cc",))
    with pytest.raises(OptionError, match="runs"):
        compare(weighted(), runs=0)
    with pytest.raises(OptionError, match="need weights"):
        compare(ew.Graph.from_edges([0], [1], n_vertices=2), "plain", only=("forest",))


def test_page(found):
    text = page("One <graph>", {"CPU": "2 cores & more"}, [found])
    assert text.startswith("<!DOCTYPE html>") and "One &lt;graph&gt;" in text and "2 cores &amp; more" in text
    assert text.count("<table>") == len(found.tables)
    assert "Minimum spanning forest" in text and "data:image/svg+xml;base64," in text


def _hyphenated(name):
    return name.replace(" ", "-")


def test_a_curve_without_points_hides_no_picture():
    series = {"nothing": [], "something": [("a", 1.0), ("b", 2.0)]}
    figures = [Figure("one", "One", "x", "y", series), Figure("none", "None", "x", "y", {"nothing": []})]
    table = Table("t", "T", "", {"a": "A"}, [{"a": 1}], figures=figures)
    report = Report("own", "tiny", ("cpu:0",), 1, {}, [table])
    assert page("Title", {}, [report]).count("data:image/svg+xml;base64,") == 1
