"""The front: what is asked for, what is refused and in which words; schedules and devices do not matter."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import edgewise as ew
from edgewise import cycles, tuning
from edgewise.cycles import METHODS, SCHEDULES, CycleMethod, planning, schedules
from edgewise.cycles.planning import Tasks
from edgewise.cycles.result import exact_sum
from edgewise.cycles.schedules import Plan
from edgewise.cycles.selection import select_devices, select_method
from edgewise.device import arrays, launch, threads
from edgewise.device.target import SIMULATED
from edgewise.errors import DeviceError, GraphError, OptionError
from tests.oracles import count_by_hand
from tests.zoo import ZOO


def made(name, **more):
    n, sources, targets = ZOO[name]
    return ew.Graph.from_edges(sources, targets, n_vertices=n, **more)


def by_hand(graph, length):
    ends = graph.sources.tolist(), graph.targets.tolist()
    return count_by_hand(graph.n_vertices, *ends, length).tolist()


@pytest.mark.interpreter
@pytest.mark.parametrize("schedule", ("auto", "static", "static-weighted:3", "queue:2"))
@pytest.mark.parametrize("devices", (None, "cpu:0,cpu:1,cpu:2"))
def test_schedules_and_devices_do_not_matter(schedule, devices):
    graph = made("dense")
    for length in (3, 4):
        found = ew.cycle_counts(graph, length, devices=devices, schedule=schedule, method="dfs")
        assert found.counts.tolist() == by_hand(graph, length)
        assert found.total * length == found.counts.sum()
        assert found.schedule == schedule
        assert found.devices == (("cpu:0",) if devices is None else ("cpu:0", "cpu:1", "cpu:2"))


@pytest.mark.gpu
@pytest.mark.simulator
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("devices", ("cuda:0", "cuda:0,cpu:0", "cpu:0,cuda:0"))
def test_gpus_and_the_cpu_together(schedule, devices, monkeypatch):
    monkeypatch.setattr(tuning, "GPU", replace(tuning.GPU, cycles_share=0.0, cycles_joined=0.0))
    graph = made("two cliques and a bridge")
    found = ew.cycle_counts(graph, 4, devices=devices, schedule=schedule, method="dfs")
    assert arrays.move(found.counts, "cpu").tolist() == by_hand(graph, 4)
    assert found.devices == tuple(devices.split(","))
    assert arrays.device_of(found.counts) == found.graph.device == {"cp": "cpu", "cu": "cuda:0"}[devices[:2]]


@pytest.mark.interpreter
@pytest.mark.parametrize("name", ZOO)
def test_auto_on_the_zoo(name):
    graph = made(name)
    for length in (3, 4, 5):
        assert ew.cycle_counts(graph, length).counts.tolist() == by_hand(graph, length)


@pytest.mark.parametrize("form", ("edges", "rows"))
def test_triangles_without_ranking(form):
    made_first = ew.generate.rgg(500, mean_degree=8)
    ranked, other = (ew.Graph(500, edges=(made_first.sources, made_first.targets, None)) for _ in range(2))
    if form == "rows":
        other = ew.Graph.from_csr(other.offsets, other.neighbours)
    counts = ew.cycle_counts(ranked, 3, schedule="static").counts.tolist()
    assert ranked.has_cached("ranked")
    assert ew.cycle_counts(other, 3).counts.tolist() == counts
    assert ew.cycle_counts(other, 3, count_directions=True).counts.tolist() == [2 * c for c in counts]
    assert not other.has_cached("ranked")
    other.prepare("cycles")
    assert other.has_cached("ranked")
    assert ew.cycle_counts(other, 3).counts.tolist() == counts


@pytest.mark.gpu
@pytest.mark.simulator
@pytest.mark.parametrize("length", (3, 4, 5))
def test_auto_gives_gpus_and_the_cpu_methods_that_share_tasks(length, monkeypatch):
    monkeypatch.setattr(tuning, "GPU", replace(tuning.GPU, cycles_share=0.0, cycles_joined=0.0))
    monkeypatch.setattr(schedules, "RUN_SECONDS", 0.0)
    graph = made("two cliques and a bridge")
    found = ew.cycle_counts(graph, length, devices="cuda:0,cpu:0")
    assert found.method == select_method(length)
    assert arrays.move(found.counts, "cpu").tolist() == by_hand(graph, length)


@pytest.mark.gpu
@pytest.mark.simulator
def test_a_count_on_a_gpu_enters_few_pages(monkeypatch):
    """Files of the package with a function that the host enters; kernels do not count, as on a GPU."""
    if not SIMULATED and not arrays.gpu_count():
        pytest.skip("needs a GPU or the simulator")
    home, entered = Path(ew.__file__).parent, set()

    def enter(frame, event, argument):
        page = Path(frame.f_code.co_filename)
        if event == "call" and page.is_relative_to(home):
            entered.add(page.relative_to(home).as_posix())

    def simulate_unseen(*arguments):
        watching = sys.getprofile()
        sys.setprofile(None)
        simulate(*arguments)
        sys.setprofile(watching)

    simulate = launch.simulate
    monkeypatch.setattr(launch, "simulate", simulate_unseen)
    graphs = [ew.generate.rgg(60, mean_degree=6, seed=seed).to("cuda") for seed in (1, 2)]
    ew.cycle_counts(graphs[0], 5)
    sys.setprofile(enter)
    try:
        ew.cycle_counts(graphs[1], 5)
    finally:
        sys.setprofile(None)
    assert "cycles/counting/pentagons.py" in entered and "device/launch.py" in entered
    assert len(entered) <= 18, sorted(entered)


@pytest.mark.interpreter
def test_both_directions():
    graph = made("clique")
    once, twice = (ew.cycle_counts(graph, 4, count_directions=both) for both in (False, True))
    assert (2 * once.counts).tolist() == twice.counts.tolist()
    assert 2 * once.total == twice.total == 420
    assert (once.count_directions, twice.count_directions) == (False, True)


def test_the_total_is_exact_beyond_64_bits():
    counts = np.full(1000, 2**62, np.int64)
    assert exact_sum(counts) == 1000 * 2**62
    assert exact_sum(np.array([-5, 2**40, 3])) == 2**40 - 2
    assert exact_sum(np.zeros(0, np.int64)) == 0


def test_self_loops_and_duplicates_are_ignored_and_counted():
    graph = ew.Graph.from_edges([0, 1, 2, 0, 1, 2], [1, 2, 0, 0, 0, 2], n_vertices=4)
    found = ew.cycle_counts(graph, 3)
    assert found.counts.tolist() == [1, 1, 1, 0]
    assert (found.n_self_loops, found.n_duplicates, found.total, found.max_count) == (2, 1, 1, 1)


def test_directed_graphs():
    graph = made("cycle", directed=True)
    with pytest.raises(GraphError, match=r"use graph.undirected\(\) to take its edges"):
        ew.cycle_counts(graph, 9)
    assert ew.cycle_counts(graph.undirected(), 9).total == 1
    assert graph.undirected().undirected().directed is False


def test_longer_than_the_graph_needs_no_search():
    found = ew.cycle_counts(made("clique"), 10**12, method="dfs")
    assert found.counts.tolist() == [0] * 8 and found.total == 0


@pytest.mark.parametrize("length", (2, 0, -3, 3.0, "3", True, None))
def test_lengths_that_are_none(length):
    with pytest.raises(OptionError, match="must be a whole number, 3 or more"):
        ew.cycle_counts(made("clique"), length)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"method": "guess"}, OptionError, "method='guess' is unknown; use one of auto, "),
        ({"method": "dfs", "depth": 3}, OptionError, "cycle_counts.. has no option 'depth'; it has graph"),
        ({"depth": 3}, OptionError, "cycle_counts.. has no option 'depth'"),
        ({"schedule": "magic"}, OptionError, "schedule='magic' is unknown; use one of auto, static,"),
        ({"schedule": "auto:3"}, OptionError, "schedule auto takes no number; leave out :3"),
        ({"schedule": "queue:0"}, OptionError, "such as queue:64"),
        ({"schedule": 7}, OptionError, "schedule=7 is unknown"),
        ({"device": "cpu", "devices": "cpu:0"}, OptionError, "use one of the two"),
        ({"devices": "tpu"}, DeviceError, "'tpu' is unknown"),
    ],
)
def test_refused(options, error, words):
    with pytest.raises(error, match=words):
        ew.cycle_counts(made("clique"), 3, **options)


def test_no_graph():
    with pytest.raises(OptionError, match=r"a Graph is needed, not list"):
        ew.cycle_counts([(0, 1)], 3)


def test_days_of_work_are_refused_before_they_start(monkeypatch):
    graph = made("clique")
    with pytest.raises(OptionError, match=r"by dfs on cpu should take about .* years; use force=True"):
        ew.cycle_counts(ew.generate.rmat(8), 40, method="dfs")
    monkeypatch.setattr(planning, "MAX_SECONDS", 0.0)
    with pytest.raises(OptionError, match=r"should take about 0 seconds"):
        ew.cycle_counts(graph, 4, method="dfs")
    assert ew.cycle_counts(graph, 4, method="dfs", force=True).total == 210


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "0 seconds"),
        (100, "100 seconds"),
        (7000, "117 minutes"),
        (3 * 86400, "3 days"),
        (1e9, "32 years"),
        (float("inf"), "millions of years"),
    ],
)
def test_times_in_words(seconds, words):
    assert planning.in_words(seconds) == words


def test_work_that_is_not_a_number_is_refused():
    with pytest.raises(OptionError, match="millions of years"):
        planning.check_seconds(float("nan"), ("cpu",), "dfs", 5)
    n, graph = 300, np.triu_indices(300, 1)
    with pytest.raises(OptionError, match="millions of years"):
        ew.cycle_counts(ew.Graph.from_edges(*graph, n_vertices=n), 200)


def test_counts_that_may_not_fit_are_refused_before_they_are_counted(monkeypatch):
    def never(*given, **more):
        raise AssertionError("it was counted")

    bulk = CycleMethod(never, "", "", work=never)
    monkeypatch.setitem(METHODS, "bulk", bulk)
    graph = ew.generate.uniform(3000, 400_000, seed=1)
    with pytest.raises(GraphError, match="64 bits do not hold"):
        ew.cycle_counts(graph, 12, method="bulk")


def test_progress_comes_to_the_end(monkeypatch):
    monkeypatch.setattr(schedules, "RUN_OF_ONE", 1e-9)
    monkeypatch.setattr(schedules, "RUN_SECONDS", 0.0)
    graph, calls = made("dense"), []
    for devices in (None, "cpu:0,cpu:1"):
        calls.clear()
        ew.cycle_counts(graph, 4, method="dfs", devices=devices, progress=lambda *both: calls.append(both))
        assert len(calls) > 1
        assert [done for done, _ in calls] == sorted(done for done, _ in calls)
        assert calls[-1][0] == pytest.approx(calls[-1][1])


class Failing:
    """A solver that fails in the middle."""

    def __init__(self, ranked, order, length):
        self.counts = np.zeros(ranked.n_vertices, np.int64)

    def count(self, first, end):
        raise KeyboardInterrupt


@pytest.mark.parametrize("devices", (None, "cpu:0,cpu:1"))
def test_interrupted(devices, monkeypatch):
    failing = CycleMethod(Failing, "", "", work=METHODS["dfs"].work, enumerates=True)
    monkeypatch.setitem(METHODS, "failing", failing)
    with pytest.raises(KeyboardInterrupt):
        ew.cycle_counts(made("dense"), 4, method="failing", devices=devices)


def runs_of(name, devices, tasks=100, seconds=0.0, loads=None):
    loads = np.ones(tasks) if loads is None else loads
    schedule, number = schedules.parse(name)
    dealt_tasks = Tasks(np.arange(tasks), loads, loads.sum())
    dealer = SCHEDULES[schedule].deal(Plan(dealt_tasks, seconds, devices, number))
    dealt = {worker: [] for worker in range(len(devices))}
    waiting = list(dealt)
    while waiting:
        worker = waiting.pop(0)
        if (run := dealer.take(worker)) is not None:
            dealt[worker].append(run)
            waiting.append(worker)
    return dealt


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize(
    "devices", (("cpu",), ("cuda:0", "cuda:1", "cuda:2"), ("cuda:0", "cpu"), ("cpu", "cpu"))
)
@pytest.mark.parametrize("tasks", (1, 2, 3, 100))
@pytest.mark.parametrize("seconds", (0.0, 1.0, 1000.0))
def test_every_task_is_dealt_once(name, devices, tasks, seconds):
    loads = np.sort(np.random.default_rng(1).pareto(1, tasks))[::-1]
    dealt = runs_of(name, devices, tasks, seconds, loads)
    runs = sorted(run for own in dealt.values() for run in own)
    assert [task for start, stop in runs for task in range(start, stop)] == list(range(tasks))


def test_shares_of_the_cs406_project():
    count = threads.count()
    weighted = runs_of("static-weighted:8", ("cuda:0", "cpu"), 10 * (8 + count))
    assert weighted == {0: [(0, 80)], 1: [(80, 80 + 10 * count)]}
    even = runs_of("static", ("cuda:0", "cpu"))
    assert even == {0: [(0, 50)], 1: [(50, 100)]}
    chunks = runs_of("queue:4", ("cuda:0", "cpu"), 100)
    assert chunks[0][0] == (0, 32) and chunks[1][0] == (32, 32 + 4 * count)


def test_long_work_is_cut_so_that_it_can_be_interrupted():
    assert len(runs_of("auto", ("cpu",), 1000, 0.1)[0]) == 1
    assert len(runs_of("auto", ("cpu",), 1000, 2.5)[0]) == 10
    assert len(runs_of("static", ("cpu", "cpu"), 1000, 1e9)[0]) == 500
    assert len(runs_of("auto", ("cpu",), 200_000, 1e9)[0]) == schedules.RUNS


@pytest.mark.parametrize("seconds", (1000.0, 1e9))
def test_runs_of_several_devices_are_short(seconds):
    devices, loads = ("cuda:0", "cuda:1"), np.full(100_000, seconds * planning.GPU_SPEED * 2 / 100_000)
    runs = [run for own in runs_of("auto", devices, 100_000, seconds, loads).values() for run in own]
    longest = max(stop - start for start, stop in runs) * loads[0] / planning.GPU_SPEED
    assert longest <= max(schedules.RUN_OF_SEVERAL, seconds / schedules.RUNS) * 2


def test_the_cpu_joins_gpus_where_it_pays():
    assert select_devices(("cpu", "cpu"), [1, 1], 0.0) == [0, 1]
    assert select_devices(("cuda:0", "cuda:1"), [1, 1], 0.0) == [0, 1]
    assert select_devices(("cpu", "cuda:0"), [1, 100], 1e6) == [1]
    assert select_devices(("cpu", "cuda:0"), [1, 1], 1e6) == [0, 1]
    assert select_devices(("cpu", "cuda:0"), [1, 1], 1e-3) == [1]


def test_the_order_of_auto_is_by_work_and_kept():
    graph = made("dense")
    cycles.cycle_counts(graph, 4, method="dfs")
    last = graph.cached("cycle-tasks", dict)
    ((key, tasks),) = last.items()
    assert key == ("dfs", 4, True)
    assert (tasks.loads[1:] <= tasks.loads[:-1] * 17 / 16).all()  # sorted by the upper bits
    assert tasks.total == pytest.approx(tasks.loads.sum())
    cycles.cycle_counts(graph, 4, method="dfs")
    assert last[key] is tasks
    cycles.cycle_counts(graph, 4, method="dfs", schedule="static")
    assert list(last) == [("dfs", 4, False)]


@pytest.mark.parametrize("cap", (0, -1, 2.0, True, 2**63))
def test_caps_that_are_none(cap):
    with pytest.raises(OptionError, match=r"must be (a whole number larger than 0|smaller than 2..63)"):
        ew.cycle_counts(made("clique"), 5, method="enumerate", cap=cap)


def test_a_search_gives_up_unless_it_is_forced():
    graph = made("clique")
    with pytest.raises(OptionError, match="gave up after 1 step; use force=True, a larger cap, shorter"):
        ew.cycle_counts(graph, 8, method="enumerate", cap=1)
    assert ew.cycle_counts(graph, 8, method="enumerate", force=True).total == 2520
