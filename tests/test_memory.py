"""The limit of memory: who says so, what is free of it, and what a call that does not fit is told."""

import os
import sys

import numpy as np
import pytest

import edgewise as ew
from edgewise import memory
from edgewise.command import run
from edgewise.device import arrays
from edgewise.errors import OptionError, OutOfMemoryError
from edgewise.needs import PROBLEMS, check_call

pytestmark = pytest.mark.interpreter
GB = 10**9


def groups(root, text, files):
    """A tree of system files with a process in some control groups; its limits."""
    for path, content in {"proc/self/cgroup": text, **files}.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return memory.container_limits(root)


@pytest.mark.parametrize(
    ("text", "files", "limits"),
    [
        (
            "0::/a/b\n",
            {
                "sys/fs/cgroup/a/b/memory.max": "4000\n",
                "sys/fs/cgroup/a/b/memory.current": "1500\n",
                "sys/fs/cgroup/a/b/memory.stat": "anon 900\ninactive_file 300\nactive_file 200\n",
                "sys/fs/cgroup/a/memory.max": "3000\n",
                "sys/fs/cgroup/a/memory.current": "2500\n",
            },
            [(4000, 1000), (3000, 2500)],
        ),
        ("0::/\n", {"sys/fs/cgroup/memory.max": "max\n", "sys/fs/cgroup/memory.current": "1\n"}, []),
        (
            "4:memory:/docker/1\n0::/\n",
            {
                "sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": "5000",
                "sys/fs/cgroup/memory/docker/1/memory.usage_in_bytes": "2000",
                "sys/fs/cgroup/memory/docker/1/memory.stat": "cache 5\ntotal_inactive_file 1500\nnonsense",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": "2000\n",
            },
            [(5000, 500)],
        ),
        ("0::/of/the/host\n", {"sys/fs/cgroup/memory.max": "7", "sys/fs/cgroup/memory.current": "x"}, []),
        ("", {}, []),
    ],
)
def test_limits_of_containers(tmp_path, text, files, limits):
    assert groups(tmp_path, text, files) == limits


def test_the_least_limit_is_in_force(monkeypatch):
    monkeypatch.setattr(memory, "container_limits", lambda: [(8 * GB, 6 * GB), (3 * GB, 3 * GB - 5000)])
    assert memory.limit() == (3 * GB, 3 * GB - 5000, "the limit of the container")
    assert arrays.free_memory("cpu") == 5000
    with memory.limited(1000):
        assert memory.limit().free == 0 and memory.limit().is_given
        with memory.limited(None):
            assert memory.given() == 1000
    assert memory.given() is None


def test_a_call_that_does_not_fit_is_refused():
    most = memory.held() + 2 * GB
    with memory.limited(most):
        memory.check(GB, "this")
        with pytest.raises(OutOfMemoryError, match=r"this needs \S+ GB in all, and memory= is \S+ GB; gi"):
            memory.check(5 * GB, "this")
    memory.check(1 << 20, "this")


@pytest.mark.parametrize(
    "given", ["much", "4 XB", "", "0", 0, -1, True, None, "1e3", float("inf"), float("nan")]
)
def test_what_is_no_size(given):
    with pytest.raises(OptionError, match="must be a number of bytes, or such as '4GB'"):
        memory.bytes_of(given)


def test_every_call_has_a_limit():
    graph = ew.Graph.from_edges([0, 1], [1, 2])
    assert ew.connected_components(graph, memory="1 TB").count == 1
    with pytest.raises(OptionError, match="memory='x' must be a number of bytes"):
        ew.bfs(graph, 0, memory="x")


OF_GRID = r"\(\) of 1,600 vertices needs .* in all, and memory= is 1 KB; give "
CALLS = {
    "components": ew.connected_components,
    "forest": ew.minimum_spanning_forest,
    "cores": ew.core_numbers,
    "bfs": lambda graph, **given: ew.bfs(graph, 0, **given),
    "sssp": lambda graph, **given: ew.shortest_paths(graph, 0, **given),
    "apsp": lambda graph, **given: ew.all_pairs_shortest_paths(graph, sources=[0, 1], **given),
    "betweenness": lambda graph, **given: ew.betweenness(graph, weight=False, samples=2, **given),
    "cycles": lambda graph, **given: ew.cycle_counts(graph, 3, **given),
    "partition": lambda graph, **given: ew.partition(graph, 2, **given),
    "strong": lambda graph, **given: ew.strongly_connected_components(directed(graph), **given),
}


def directed(graph):
    """The same edges with directions."""
    return ew.Graph.from_edges(graph.sources, graph.targets, n_vertices=graph.n_vertices, directed=True)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_problem_has_an_estimate_and_is_refused_before_it_begins(problem):
    graph = ew.generate.grid(40, 40)
    graph = graph.with_weights(np.arange(graph.n_edges, dtype=np.int32))
    own = directed(graph) if problem == "strong" else graph
    options = {"length": 3} if problem == "cycles" else {}
    needed = own.estimate(problem, **options)
    assert needed.bytes >= 4 * graph.n_vertices and needed.disk_bytes == 0
    assert needed.method == needed.steps[-1].name
    assert needed.bytes == max(
        sum(step.kept for step in needed.steps[:number]) + step.bytes
        for number, step in enumerate(needed.steps)
    )
    with pytest.raises(OutOfMemoryError, match=OF_GRID):
        CALLS[problem](graph, memory="1 KB", method="auto", device="cpu")
    assert not graph.has_rows
    CALLS[problem](graph, memory="1 TB")


def test_what_other_machines_or_devices_hold_is_not_refused():
    graph = ew.generate.grid(40, 40)
    with memory.limited(1000):
        with pytest.raises(OutOfMemoryError, match="connected_components"):
            check_call("connected_components", (graph,), {"device": "cpu"})
        for options in ({"device": "cuda:0"}, {"devices": "cpu:0,cpu:1"}, {"client": "127.0.0.1:8786"}):
            assert check_call("connected_components", (graph,), options) is None


def test_estimates_depend_on_what_is_there():
    graph = ew.generate.grid(100, 100)
    before = graph.estimate("bfs")
    assert [step.name for step in before.steps] == ["rows", before.method]
    ew.bfs(graph, 0)
    after = graph.estimate("bfs")
    assert len(after.steps) == 1 and after.bytes < before.bytes
    assert graph.estimate("components", method="rem").bytes == 40_000
    weighted = graph.with_weights(graph.sources.astype(float))
    assert weighted.estimate("components", thresholds=[1, 2]).bytes == 80_000 + graph.n_edges


def test_what_has_no_estimate():
    graph = ew.generate.grid(10, 10)
    with pytest.raises(OptionError, match="problem='colour' is unknown"):
        graph.estimate("colour")
    with pytest.raises(OptionError, match=r"what method contraction-hierarchy needs is not known; name"):
        graph.estimate("bfs", method="contraction-hierarchy")


def test_info_says_what_the_limit_is(capsys, monkeypatch):
    monkeypatch.setattr(memory, "container_limits", lambda: [(3_000_000, 1_000_000)])
    assert run(["info"]) == 0
    assert (
        "memory limit        3 MB (the limit of the container), of which 1 MB are held\n"
        in capsys.readouterr().out
    )


def test_addresses_without_memory_behind_them_are_taken(monkeypatch):
    monkeypatch.setattr(memory, "container_limits", lambda: [])
    monkeypatch.setattr(memory, "address_limit", lambda: 10**12)
    most = next(one for one in memory._limits() if one.source == "the limit of ulimit -v")
    assert most.bytes == 10**12 and most.held > memory.held()
    monkeypatch.delitem(sys.modules, "llvmlite", raising=False)
    most = next(one for one in memory._limits() if one.source == "the limit of ulimit -v")
    assert most.held >= memory.held() + memory.ADDRESSES - 10**7
    monkeypatch.delenv("MIMALLOC_ARENA_RESERVE", raising=False)
    memory.use_few_addresses()
    assert os.environ["MIMALLOC_ARENA_RESERVE"] == "0"
    monkeypatch.setattr(memory, "address_limit", lambda: None)
    assert not any(one.source == "the limit of ulimit -v" for one in memory._limits())
