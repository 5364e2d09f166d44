"""Several workers label as one does, whatever the split, the merge and the method."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise.components import MERGES, METHODS, segments
from edgewise.components.merge import LABEL_MERGES, merge_labels
from edgewise.device.target import SIMULATED
from edgewise.errors import DeviceError, OptionError, OutOfMemoryError
from edgewise.workers import DeviceTeam, device_team
from edgewise.workers.topology import all_access
from tests.oracles import components as oracle
from tests.workers.test_workers import TEAMS
from tests.zoo import ZOO

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
FEW = ("empty", "isolated", "path, reversed ids", "two cliques and a bridge", "sparse")
SHAPES = FEW if SIMULATED else ZOO


@pytest.mark.parametrize("team", TEAMS, ids=str)
@pytest.mark.parametrize("merge", ["auto", *MERGES])
def test_every_merge_gives_the_oracles_labels(team, merge):
    for shape in SHAPES:
        vertices, sources, targets = ZOO[shape]
        graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices)
        if merge == "peer" and not all_access(device_team(team)):
            with pytest.raises(DeviceError, match="cannot read the memory of"):
                ew.connected_components(graph, devices=team, merge=merge)
            continue
        result = ew.connected_components(graph, devices=team, merge=merge).on_host()
        assert result.labels.tolist() == oracle(vertices, sources, targets), shape


@pytest.mark.parametrize("method", ("rem", "propagate") if SIMULATED else METHODS)
def test_every_method_on_shares_and_ranges(method):
    for shape in ("sparse", "grid"):
        vertices, sources, targets = ZOO[shape]
        graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices)
        for by in ("edges", "range"):
            split = graph.split(TEAMS[1], by=by)
            result = ew.connected_components(split, method=method)
            assert result.on_host().labels.tolist() == oracle(vertices, sources, targets)
            assert (result.devices, result.method) == (split.team.names, method)
            assert result.merge in MERGES
            result.verify()


@given(st.data())
def test_made_up_graphs_in_made_up_shares(data):
    if SIMULATED:
        pytest.skip("a minute of Python threads would add nothing to the zoo")
    vertices = data.draw(st.integers(1, 40))
    ends = data.draw(st.lists(st.tuples(*[st.integers(0, vertices - 1)] * 2), max_size=80))
    sources, targets = np.array(ends, np.int64).reshape(-1, 2).T
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices)
    team = [f"cpu:{number}" for number in range(data.draw(st.integers(2, 5)))]
    expected = oracle(vertices, sources, targets)
    for merge in MERGES:
        assert ew.connected_components(graph, devices=team, merge=merge).labels.tolist() == expected, merge


def test_labels_of_workers_are_merged():
    team = DeviceTeam(device_team(TEAMS[1])[:2])
    merges = ["auto", *LABEL_MERGES]
    for merge in merges if all_access(team) else (name for name in merges if name != "peer"):
        parents = [
            ew.connected_components(ew.Graph.from_edges(*ends, n_vertices=6).to(device))._labels.copy()
            for device, *ends in zip(team.devices, ([1, 4], [0, 2]), ([2, 5], [3, 1]))
        ]
        merged = merge_labels(team, parents, merge)
        assert [int(label) for label in merged] == [0, 1, 1, 0, 4, 4] or len(team) == 1


def test_merge_wants_the_split_it_is_for():
    graph = ew.Graph.from_edges([0], [1], n_vertices=2)
    split = graph.split("cpu:0,cpu:1", by="edges")
    for arguments, complaint in (
        ({"merge": "pairwise"}, "merge='pairwise' is unknown; did you mean pairwise-rem?"),
        ({"merge": "best"}, "merge='best' is unknown; use one of auto, pairwise-rem"),
        ({"merge": "ranges"}, "needs a graph split by range, not by edges"),
        ({"device": "cpu"}, "split over its devices already; leave out device="),
    ):
        with pytest.raises(OptionError, match=complaint):
            ew.connected_components(split, **arguments)
    with pytest.raises(OptionError, match="is for several devices; add devices="):
        ew.connected_components(graph, merge="peer")
    with pytest.raises(OptionError, match="needs a graph split by edges, not by range"):
        ew.connected_components(graph.split("cpu:0,cpu:1", by="range"), merge="peer")


def test_the_devices_of_a_result_are_named():
    graph = ew.Graph.from_edges([0], [1], n_vertices=2)
    for one, name in (
        (ew.connected_components(graph), "cpu:0"),
        (ew.connected_components(graph, device="cpu"), "cpu:0"),
        (ew.connected_components(graph, devices="cpu"), "cpu:0"),
        (ew.connected_components(graph, devices="cpu:3", merge="pairwise-rem"), "cpu:3"),
        (ew.connected_components(graph.split("cpu:1")), "cpu:1"),
        (ew.connected_components(graph.split("cpu:1", by="edges"), merge="pairwise-rem"), "cpu:1"),
    ):
        assert (one.devices, one.merge, one.labels.tolist()) == ((name,), None, [0, 0])


def test_edges_too_many_for_the_devices_flow_past_in_segments(monkeypatch):
    """Parents fit the simulated device, edges do not."""

    def too_large(self, where):
        raise OutOfMemoryError(f"{where} has too little memory: 9 bytes needed, 8 free")

    def split_too_large(self, devices, by):
        raise OutOfMemoryError("cpu has too little memory: 9 bytes needed, 8 free")

    vertices, sources, targets = ZOO["grid"]
    graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices)
    expected = oracle(vertices, sources, targets)
    monkeypatch.setattr(ew.Graph, "to", too_large)
    monkeypatch.setattr(ew.Graph, "split", split_too_large)
    monkeypatch.setattr(segments, "SEGMENT_EDGES", 16)
    monkeypatch.setattr(segments, "MIN_SEGMENT_EDGES", 4)
    one = ew.connected_components(graph, device="cpu")
    assert (one._labels.tolist(), one.method) == (expected, "rem, in 4 segments")
    for merge in ("auto", "pairwise-rem", "ranges"):
        several = ew.connected_components(graph, devices="cpu:0,cpu:1", merge=merge)
        assert several._labels.tolist() == expected
        assert several.devices == ("cpu:0", "cpu:1")
    with pytest.raises(OutOfMemoryError, match="9 bytes needed"):
        ew.connected_components(graph, device="cpu", method="hook")
    monkeypatch.setattr(segments, "segment_for", lambda vertices, team: 0)
    with pytest.raises(OutOfMemoryError, match=r"cpu has too little memory: \d+ bytes needed"):
        ew.connected_components(graph, device="cpu")
