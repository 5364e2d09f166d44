"""Presets where kernels are interpreted or simulated; a part of each is enough.

Compiled presets are those of ``test_experiments.py``; the kernels of the others are compiled by the tests of
their folders.
"""

import os

import pytest

from edgewise import experiments
from edgewise.device.target import INTERPRETED, SIMULATED
from edgewise.experiments import cs406, manoochehri

pytestmark = [
    pytest.mark.interpreter,
    pytest.mark.skipif(not (INTERPRETED or SIMULATED), reason="compiled by tests of the kernels"),
]
DEVICES = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if SIMULATED else "cpu:0")


def test_widths():
    (table,) = experiments.run("baltzakis", size="tiny", devices="cpu:0", runs=1).tables
    assert {row["rows"] for row in table.rows} == {"thread", "warp", "block", "auto", "not by labels"}


@pytest.mark.simulator
@pytest.mark.parametrize("name", ["compress", "weak"])
def test_experiments_of_the_thesis(name):
    (table,) = experiments.run("hellas-2018", size="tiny", devices=DEVICES, runs=1, only=[name]).tables
    assert table.rows


def test_all_pairs():
    options = {"devices": "cpu:0", "runs": 1, "only": ["all-pairs"], "without": ["pairs-48"]}
    (table,) = experiments.run("harish", size="tiny", **options).tables
    assert len(table.rows) == 6


@pytest.mark.simulator
def test_searches_on_a_device():
    options = {"devices": DEVICES, "runs": 1, "only": ["random"], "without": ["random-1000"]}
    (table,) = experiments.run("harish", size="tiny", **options).tables
    published = {row["search"]: row["published"] for row in table.rows if row["method"] == "harish"}
    assert published == ({"BFS": "20-50", "SSSP": "70"} if "cuda" in DEVICES else {"BFS": None, "SSSP": None})


def test_cycles_from_a_queue(monkeypatch):
    monkeypatch.setattr(cs406, "LENGTHS", (3,))
    (table,) = experiments.run("cs406", size="tiny", devices="cpu:0", runs=1, only=["queue"]).tables
    assert [row["method"] for row in table.rows] == ["dfs", "auto", "auto"]


def test_protocols_and_forests():
    without = ["USA", "W", "RND1", "R-MAT1", "RND2", "cold"]
    options = {"devices": "cpu:0", "runs": 1, "only": ["forests", "protocols"], "without": without}
    forests, protocols = experiments.run("manoochehri-2017", size="tiny", **options).tables
    assert {row["published_rate"] for row in forests.rows} == {None}  # of larger graphs
    names = [row["protocol"] for row in protocols.rows if row["case"] == "warm"]
    assert names[:3] == ["atomics", "sorted locks", "wound-wait"] and len(names) == 10


def test_series_of_forests(monkeypatch):
    """Figures 3.4 and 3.5 of the thesis, with the smallest graphs of each."""
    monkeypatch.setattr(manoochehri, "DENSER", manoochehri.DENSER[:1])
    monkeypatch.setattr(manoochehri, "SPARSER", manoochehri.SPARSER[:1])
    options = {"devices": "cpu:0", "runs": 1, "only": ["denser", "sparser"]}
    tables = experiments.run("manoochehri-2017", size="tiny", **options).tables
    assert [(table.name, len(table.rows)) for table in tables] == [("denser", 1), ("sparser", 2)]
    assert {row["kind"] for row in tables[1].rows} == {"random", "R-MAT"}
    for table in tables:
        assert all(row["transactional"] > 0 and 0 <= row["abort_rate"] < 1 for row in table.rows)
        assert [figure.name for figure in table.figures] == [table.name]


@pytest.mark.simulator
def test_forests_on_a_device():
    without = ["USA", "W", "E", "FLA", "RND1", "R-MAT1", "RND2", "R-MAT2"]
    options = {"devices": DEVICES, "runs": 1, "only": ["forests"], "without": without}
    (table,) = experiments.run("manoochehri-2017", size="tiny", **options).tables
    assert [row["graph"] for row in table.rows] == ["NY"]


@pytest.mark.skipif(SIMULATED, reason="takes long")
def test_partitions_with_transactions():
    options = {"devices": "cpu:0", "runs": 1, "only": ["partitions"], "without": ["parts-rgg", "parts-rmat"]}
    (table,) = experiments.run("manoochehri-2017", size="tiny", **options).tables
    assert [(row["graph"], row["parts"]) for row in table.rows] == [("parts-grid", k) for k in (2, 8, 64)]
    for row in table.rows:
        assert row["cut"] > 0 and row["bound"] > 0
        assert row["levels"] >= 1 or row["parts"] == row["vertices"]
        assert row["ratio"] == row["cut"] / row["default_cut"]
    assert len(table.text().splitlines()) == 3 + 3 + 1
