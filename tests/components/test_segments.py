"""Edges that flow past in segments give the labels of the oracle, whoever joins them."""

from functools import partial

import numpy as np
import pytest

import edgewise as ew
from edgewise.components import segments
from edgewise.components.hook import join_by_hook
from edgewise.components.segments import components_by_segments, segment_for, solve_by_segments
from edgewise.device import arrays
from edgewise.device.target import SIMULATED
from edgewise.errors import OutOfMemoryError
from edgewise.workers import device_team
from tests.oracles import components as oracle
from tests.zoo import ZOO

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
TEAMS = ["cuda:0"] if SIMULATED else ["cpu:0", "cpu:0,cpu:1", "cpu:0,cpu:1,cpu:2"]


@pytest.mark.parametrize("devices", TEAMS)
@pytest.mark.parametrize("shape", ZOO)
def test_labels_are_the_oracles(shape, devices):
    vertices, sources, targets = ZOO[shape]
    for kind in (np.int64, np.uint32):
        labels, count = components_by_segments(
            vertices, sources.astype(kind), targets.astype(kind), device_team(devices), 7
        )
        assert labels.tolist() == oracle(vertices, sources.tolist(), targets.tolist())
        assert count == -(-len(sources) // 7)


@pytest.mark.parametrize("devices", TEAMS)
@pytest.mark.parametrize("shape", ZOO)
def test_hook_joins_segments(shape, devices):
    """Algorithm 3 of Hellås, with 0 and with 2 rounds of plain hooks before the atomic ones."""
    vertices, *columns = ZOO[shape]
    sources, targets = (column.astype(np.int64) for column in columns)
    for iterations in (0, 2):
        join = partial(join_by_hook, iterations=iterations)
        labels, _ = components_by_segments(vertices, sources, targets, device_team(devices), 7, join=join)
        assert labels.tolist() == oracle(vertices, sources.tolist(), targets.tolist())


@pytest.mark.parametrize("devices", TEAMS)
def test_mapped_files(devices, tmp_path):
    vertices, sources, targets = ZOO["dense"]
    for name, column in (("s", sources), ("t", targets)):
        column.astype(np.int32).tofile(tmp_path / name)
    mapped = (np.memmap(tmp_path / name, np.int32, "r") for name in "st")
    labels, _ = components_by_segments(vertices, *mapped, device_team(devices), 16)
    assert labels.tolist() == oracle(vertices, sources, targets)


def test_segments_that_fit(monkeypatch):
    team = device_team(TEAMS[0])
    assert segment_for(1000, team) == segments.SEGMENT_EDGES
    needed = segments.bytes_needed(1000, 1 << 20)
    monkeypatch.setattr(arrays, "free_memory", lambda device: needed * 1.06)
    assert segment_for(1000, team) == 1 << 20
    assert segment_for(1000, team)
    monkeypatch.setattr(arrays, "free_memory", lambda device: 5000)
    assert not segment_for(1000, team)
    graph = ew.Graph.from_edges([0], [1], n_vertices=1000)
    with pytest.raises(OutOfMemoryError, match=r"[\d,]+ bytes needed, 5,000 free"):
        solve_by_segments(graph, team)


def test_solving_a_graph():
    vertices, sources, targets = ZOO["grid"]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices)
    labels, count = solve_by_segments(graph, device_team(TEAMS[-1]))
    assert (labels.tolist(), count) == (oracle(vertices, sources, targets), 1)


def test_an_error_of_one_worker_ends_all(monkeypatch):
    def fail(*_):
        raise MemoryError("no more")

    monkeypatch.setattr(segments, "_label_segments", fail)
    with pytest.raises(OutOfMemoryError, match="no more"):
        components_by_segments(9, np.arange(8), np.arange(1, 9), device_team(TEAMS[-1]), 2)
