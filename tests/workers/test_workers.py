"""Teams, queues, rounds of meetings, and graphs spread over workers."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import edgewise as ew
from edgewise.device import streams
from edgewise.device.target import SIMULATED
from edgewise.errors import DeviceError, OptionError
from edgewise.workers import WorkQueue, device_team
from edgewise.workers.topology import check_access, groups, rounds
from tests.zoo import ZOO

pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]
#: Teams that need no GPU; the simulator has one.
TEAMS = [["cpu:0"], ["cpu:0", "cpu:1"], "cpu:0,cpu:1,cpu:2", ["cpu", "cpu:1", "cpu:2", "cpu:3"]]
if SIMULATED:
    TEAMS = ["all", "cpu+cuda", ["cpu:0", "cuda:0"], ["cpu:0", "cuda", "cpu:1"]]
if os.environ.get("EDGEWISE_TEST_PLACE", "cpu") != "cpu":
    TEAMS = ["all", "cpu+cuda"]


def test_names_of_a_team():
    assert device_team("cpu").names == ("cpu:0",)
    assert device_team(" cpu:0, cpu:3").names == ("cpu:0", "cpu:3")
    assert device_team(["cpu", "cpu:1"]).devices == ("cpu", "cpu")
    assert device_team(device_team(["cpu:7"])).names == ("cpu:7",)


@pytest.mark.parametrize(
    "devices, complaint",
    [
        (["cpu:0", "cpu"], "device 'cpu:0' is given twice"),
        (["cuda:97"], r"device 'cuda:97' is not there \(.*\); name devices that are, such as cpu:0"),
        ("cpu:0,", "device '' is unknown; use one of all"),
        ("cpu:256", "device 'cpu:256' is"),
        ("cpu:0,tpu", "device 'tpu' is unknown"),
        ("gpu:97", r"device '(gpu|cuda):97' is not there"),
        ("gpux", "device 'gpux' is unknown"),
        ("cpu:x", "device 'cpu:x' is unknown"),
        ("cpu:²", "device 'cpu:²' is unknown"),
        ([], "names no device"),
        (3, "neither a string nor a list"),
        ([3], "device 3 is unknown"),
    ],
)
def test_bad_teams_are_refused(devices, complaint):
    with pytest.raises(DeviceError, match=complaint):
        device_team(devices)


def test_all_gpus_without_one():
    from edgewise.device import arrays

    if arrays.gpu_count():
        pytest.skip("there is one")
    with pytest.raises(DeviceError, match=r"devices='all' needs a GPU \(.*\); use 'cpu:0,cpu:1'"):
        device_team("all")


def test_everything_is_taken_once_from_a_queue():
    with ThreadPoolExecutor(4) as pool:
        taken = [run for runs in pool.map(list, [WorkQueue(1000, 7)] * 4) for run in runs]
    assert sorted(i for start, stop in taken for i in range(start, stop)) == list(range(1000))


def test_several_chunks_at_once():
    queue = WorkQueue(10, 3)
    assert [queue.take(2), queue.take(), queue.take(2), queue.take()] == [(0, 6), (6, 9), (9, 10), None]
    assert list(WorkQueue(2, 1)) == [(0, 1), (1, 2)]


def test_queue_refuses_nonsense():
    for total, chunk in ((-1, 2), (3, 0)):
        with pytest.raises(OptionError, match="makes no sense"):
            WorkQueue(total, chunk)


def test_a_closed_queue_is_empty():
    queue = WorkQueue(10, 3)
    assert queue.take() == (0, 3)
    queue.close()
    assert queue.take() is None


@pytest.mark.parametrize("count", range(1, 10))
def test_everybody_is_heard_after_the_rounds(count):
    heard = {worker: {worker} for worker in range(count)}
    meetings = rounds(("cpu",) * count)
    for pairs in meetings:
        busy = [worker for pair in pairs for worker in pair]
        assert len(busy) == len(set(busy)), "a worker meets two at a time"
        for receiver, sender in pairs:
            heard[receiver] |= heard.pop(sender)
    assert heard == {0: set(range(count))}
    assert len(meetings) == (count - 1).bit_length()


def test_meetings_keep_within_groups(monkeypatch):
    def linked(one, other):
        return one[0] == other[0]

    monkeypatch.setattr(streams, "peer_access", linked)
    devices = ("a0", "b0", "a1", "b1", "b2")
    assert groups(devices) == [[0, 2], [1, 3, 4]]
    *within, last = rounds(devices)
    assert all(linked(devices[one], devices[other]) for pairs in within for one, other in pairs)
    assert last == [(0, 1)]
    with pytest.raises(DeviceError, match="cpu:0 cannot read the memory of cpu:1"):
        monkeypatch.setattr(streams, "peer_access", lambda one, other: False)
        check_access(*device_team("cpu:0,cpu:1"))


def edges_of(graph):
    ends = graph.sources.tolist(), graph.targets.tolist()
    return sorted((min(pair), max(pair)) for pair in zip(*ends))


@pytest.mark.parametrize("team", TEAMS, ids=str)
@pytest.mark.parametrize("by", ["auto", "edges", "range"])
def test_split_graphs_hold_every_edge_once(team, by):
    for vertices, sources, targets in ZOO.values():
        graph = ew.Graph.from_edges(sources, targets, n_vertices=vertices)
        split = graph.split(team, by=by)
        assert split.n_edges == graph.n_edges
        assert edges_of(split.to("cpu")) == edges_of(graph)
        assert [part.graph.device for part in split.parts] == list(split.team.devices)


def test_shares_are_even_and_ranges_cut_little():
    graph = ew.generate.grid(40, seed=1)
    by_edges = graph.split(["cpu:0", "cpu:1", "cpu:2"], by="edges")
    assert max(part.graph.n_edges for part in by_edges.parts) <= graph.n_edges // 3 + 1
    by_range = graph.split(["cpu:0", "cpu:1", "cpu:2"])
    assert by_range.by == "edges", "a small grid is cut too much"
    by_range = ew.generate.grid(200, seed=1).split(["cpu:0", "cpu:1", "cpu:2"])
    assert by_range.by == "range"
    counts = [part.graph.n_edges for part in by_range.parts]
    assert max(counts) < 1.1 * min(counts)
    assert "by range on cpu:0, cpu:1, cpu:2" in repr(by_range)


def test_bad_splits_are_refused():
    graph = ew.Graph.from_edges([0], [1], n_vertices=2)
    with pytest.raises(OptionError, match="by='rows' is unknown; use one of auto, edges, range"):
        graph.split("cpu:0", by="rows")
    with pytest.raises(OptionError, match="split over its devices already"):
        ew.connected_components(graph.split("cpu:0,cpu:1"), devices="cpu:0")


def test_ids_of_a_split_graph():
    graph = ew.Graph.from_edges(np.array([10, 30]), np.array([20, 40])).split("cpu:0,cpu:1")
    assert graph.ids_of([3]).tolist() == [40]
    table = ew.connected_components(graph).to_frame()
    assert table.to_pydict() == {"id": [10, 20, 30, 40], "component": [0, 0, 2, 2]}
