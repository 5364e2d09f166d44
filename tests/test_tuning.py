"""The record of limits: each says what it separates and where it was measured, and is read somewhere."""

import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

import edgewise as ew
from edgewise import tuning
from edgewise.command import run
from edgewise.device import arrays
from edgewise.device.target import SIMULATED

PACKAGE = Path(tuning.__file__).parent
ROOMS = {folder.name for folder in PACKAGE.iterdir() if folder.is_dir()}
LIMITS = tuning.described()
#: The parts of a partition depend on the method.
OF_PARTS = {"partitions_small"}
pytestmark = pytest.mark.interpreter


def test_a_limit_says_what_it_separates_where_and_when():
    for _, name, value, limit in LIMITS:
        assert value > 0, name
        assert limit.unit and limit.measured, name
        assert re.fullmatch(r"\S.* \| .*\S", limit.separates), name
        assert date.fromisoformat(limit.date), name


def test_a_limit_is_named_by_its_room_and_read_there():
    for kind, name, _, _ in LIMITS:
        room, record = name.partition("_")[0], {"cpu": "CPU", "cuda": "GPU"}[kind]
        assert room in ROOMS, name
        pages = [page.read_text() for page in (PACKAGE / room).rglob("*.py")]
        assert any(f"tuning.{record}" in page and f".{name}" in page for page in pages), name


def test_another_record_takes_the_place(monkeypatch):
    kind, name, value, _ = LIMITS[0]
    assert kind == "cpu"
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, **{name: value + 1}))
    assert tuning.described()[0][:3] == (kind, name, value + 1)


def test_info_shows_the_limits_in_force(monkeypatch, capsys):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, paths_alone=12345))
    assert run(["info"]) == 0
    words = re.escape("12,345 n + m: sequential | parallel")
    assert re.search(rf"^paths_alone +{words}$", capsys.readouterr().out, re.MULTILINE)
    assert run(["info", "--json"]) == 0
    limits = {one["name"]: one for one in json.loads(capsys.readouterr().out)["limits"]}
    assert limits["paths_alone"] == {
        "device": "cpu",
        "name": "paths_alone",
        "value": 12345,
        "unit": "n + m",
        "separates": "sequential | parallel",
    }


def answers(device):
    """What calls that compare limits return, on new graphs of 60 vertices."""
    random = np.random.default_rng(1)
    ends, weights = random.integers(0, 60, (2, 200)), random.integers(1, 255, 200)

    def graph(directed=False):
        return ew.Graph.from_edges(*ends, weights=weights, directed=directed).to(device)

    yield ew.connected_components(graph()).labels
    yield ew.connected_components(ew.Graph.from_csr(graph().offsets, graph().neighbours)).labels
    yield ew.minimum_spanning_forest(graph()).edges
    yield ew.shortest_paths(graph(), 0).distances
    yield ew.all_pairs_shortest_paths(graph()).distances
    yield ew.cycle_counts(graph(), 3).counts
    if device == "cpu":
        yield ew.strongly_connected_components(graph(directed=True)).labels


def check_both_sides(monkeypatch, record, name, device):
    """The smallest and the largest value of a limit give the same answers."""
    found = []
    for value in (0, 1 << 40):
        monkeypatch.setattr(tuning, record, replace(getattr(tuning, record), **{name: value}))
        found.append([arrays.move(one, "cpu") for one in answers(device)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "name", [name for kind, name, *_ in LIMITS if kind == "cpu" and name not in OF_PARTS]
)
def test_a_limit_changes_no_result(name, monkeypatch):
    check_both_sides(monkeypatch, "CPU", name, "cpu")


@pytest.mark.simulator
@pytest.mark.parametrize("name", ["paths_matrix", "paths_pairs"])
def test_a_limit_of_gpus_changes_no_result(name, monkeypatch):
    if not SIMULATED:
        pytest.skip("needs the simulator")
    check_both_sides(monkeypatch, "GPU", name, "cuda")
