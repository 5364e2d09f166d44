"""CS406, cycles through each vertex: Tables 1 to 5, on threads, a GPU, several, and GPUs beside the CPU.

The CS406 project (Deveci, Giray, Şencan, Yar and Ergin 2021) walks all paths from every vertex (``dfs``).
Its tables deal the vertices to threads, evenly to GPUs, evenly by a guessed weight to GPUs and threads, and
in small chunks from one queue.  Each ``dfs`` is followed by what edgewise chooses by default (``auto``), by
the project's schedule and by its own.

Where ``dfs`` would take long it searches from every second, fourth, eighth ... vertex only, and the time is
scaled up by the estimated work.  The counts of these vertices are compared all the same.

The graphs are those that are given as files, such as com-DBLP, and a stand-in of the size of com-Amazon.
"""

from operator import itemgetter
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from edgewise.cycles import METHODS, SCHEDULES, cycle_counts
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.cycles.planning import Tasks, seconds_of
from edgewise.cycles.schedules import Job, Plan, count_tasks, parse
from edgewise.device import arrays, threads
from edgewise.experiments.graphs import CS406 as STAND_INS
from edgewise.experiments.published import CS406 as PUBLISHED
from edgewise.experiments.report import Figure, Table, curves, headings
from edgewise.workers import DeviceTeam, Worker

LENGTHS = (3, 4, 5)
#: Seconds, estimated, from which ``dfs`` starts from some of the vertices only.
PATIENCE = 3.0

COLUMNS = headings(
    "graph | length: k | devices: on | method | schedule | ms | runs | part: timed from, % | "
    "speedup: over dfs on a thread, x | published: published, ms"
)
NOTE = "of dfs on com-Amazon and com-DBLP, whole; shown beside every graph named after them"
CPU = Worker("cpu:0", "cpu")


class Case(NamedTuple):
    """A graph with its name, and the length of the cycles to count in it."""

    name: str
    graph: Any
    length: int


class Way(NamedTuple):
    """How cycles are counted; with ``threads`` threads if that is given."""

    team: DeviceTeam
    method: str
    schedule: str
    threads: int | None = None


def threaded(watch):
    """Table 1: one thread, two, four and so on."""
    count, rows = threads.count(), []
    numbers = [2**power for power in range(count.bit_length()) if 2**power < count] + [count]
    for case in _cases(watch, "cpu"):
        for number in numbers:
            published = (_published(watch, "threads", case) or {}).get(number)
            for method in ("dfs", "auto"):
                row = _row(watch, case, Way(DeviceTeam([CPU]), method, "auto", number), published)
                devices = f"{number} thread{'s' * (number > 1)}"
                rows.append(row | {"threads": number, "devices": devices})
    key = itemgetter("graph", "length", "method")
    on_one = {key(row): row["ms"] for row in rows if row["threads"] == 1}
    for row in rows:
        row["efficiency"] = 100 * on_one[key(row)] / row["ms"] / row["threads"]
    table = _table("threads", "Cycles on threads", 1, rows, "threads")
    table.columns["efficiency"] = "efficiency, %"
    table.published.insert(0, "dblp, k = 5: 977 s on 32 threads")
    return table


def one_gpu(watch):
    """Table 2: one GPU (the first device)."""
    return _table("gpu", "Cycles on one device", 2, _on(watch, "gpu", watch.first(1), "static"))


def several(watch):
    """Table 3: all GPUs, each an even share."""
    return _table("gpus", "Cycles on several devices", 3, _on(watch, "gpus", watch.team, "static"))


def with_cpu(watch):
    """Table 4: all GPUs and the CPU, shares by a guessed weight."""
    rows = _on(watch, "static", _and_cpu(watch.team), "static-weighted:10")
    return _table("static", "Cycles on all devices and the CPU", 4, rows)


def by_queue(watch):
    """Table 5: the same from one queue in small chunks."""
    return _table("queue", "Cycles from one queue", 5, _on(watch, "queue", _and_cpu(watch.team), "queue:64"))


def _and_cpu(team):
    return team if "cpu" in team.devices else DeviceTeam([*team, CPU])


def _on(watch, key, team, schedule):
    """Rows of all cases on a team: ``dfs`` and ``auto`` by a schedule, and ``auto`` by its own."""
    rows = []
    for case in _cases(watch, team[0].device):
        published = _published(watch, key, case)
        for method, dealt in (("dfs", schedule), ("auto", schedule), ("auto", "auto")):
            row = _row(watch, case, Way(team, method, dealt), published)
            rows.append(row | {"devices": ", ".join(team.names)})
    return rows


def _table(name, title, number, rows, across="length"):
    def label(row):
        k = f", k = {row['length']}" if across == "threads" else ""
        return f"{row['graph']}{k}, {row['method']} {row['schedule']}"

    series = curves(rows, across, "ms", label)
    figure = Figure(f"cs406-{name}", title, across, "milliseconds", series, steep=True)
    return Table(name, title, f"CS406, Table {number}", dict(COLUMNS), rows, [NOTE], [figure])


def _cases(watch, device):
    """Every wanted graph on a device, with every length."""
    for name in watch.wanted(*watch.files, *STAND_INS):
        graph = watch.stand_in(name, STAND_INS).to(device)
        for length in LENGTHS:
            if watch.in_time(f"{name}, k = {length}"):
                yield Case(name, graph, length)


def _published(watch, table, case):
    """What the project reports of a graph; nothing of one that was made smaller."""
    if case.name not in watch.files and watch.size != "paper":
        return None
    known = next((known for known in ("amazon", "dblp") if known in case.name.lower()), None)
    return PUBLISHED[table].get(known or "", {}).get(case.length)


def _row(watch, case, way, published):
    key = "dfs on a thread", case.name, case.length
    if key not in watch.cache:
        on_cpu = case._replace(graph=case.graph.to("cpu"))
        watch.cache[key] = _timed(watch, on_cpu, Way(DeviceTeam([CPU]), "dfs", "auto", 1))
    alone = watch.cache[key]
    timed = alone if (way.method, way.threads) == ("dfs", 1) else _timed(watch, case, way)
    return {
        "graph": case.name,
        "length": case.length,
        "method": way.method,
        "schedule": way.schedule,
        **timed,
        "speedup": alone["ms"] / timed["ms"],
        "published": 1e3 * published if published and way.method == "dfs" else None,
    }


def _timed(watch, case, way):
    key = f"{case.name}, k = {case.length}"
    what = f"{way.method} by {way.schedule} on {', '.join(way.team.names)}"
    options = {"devices": way.team, "force": True}
    with threads.limited(way.threads):
        if way.method == "auto":

            def run():
                cycles = cycle_counts(case.graph, case.length, schedule=way.schedule, **options)
                return cycles.counts, cycles.seconds

            return {**watch.time(key, what, run), "part": 100.0}
        if key not in watch.cache:
            counts = cycle_counts(case.graph, case.length, **options).counts
            watch.cache[key] = arrays.move(counts, "cpu")
        part = Part(case, way, watch.cache[key])
        timed = watch.time(key, what, part.run)
    scaled = {name: timed[name] / part.share for name in ("ms", "least", "largest")}
    return {**timed, **scaled, "part": 100 * part.share}


class Part:
    """The search ``dfs`` from every vertex, or from some where all would take long: ``share`` of the work."""

    def __init__(self, case, way, expected):
        self.length, self.devices, self.expected = case.length, way.team.devices, expected
        self.ranked, (name, self.number) = ranked_of(case.graph), parse(way.schedule)
        self.schedule, method = SCHEDULES[name], METHODS["dfs"]
        by_rank = method.work(self.ranked, case.length)
        work, rank = arrays.move(by_rank, "cpu"), arrays.move(self.ranked.rank, "cpu").astype(np.int64)
        cost, stride = method.cost * seconds_of(1.0, self.devices), 1
        while stride < len(rank) and cost * work[rank[::stride]].sum() > PATIENCE:
            stride *= 2
        self.vertices = np.arange(0, len(rank), stride)
        self.ranks = order = rank[self.vertices]
        if self.schedule.by_work:
            order = order[np.argsort(-work[order], kind="stable")]
        done = float(work[order].sum())
        self.tasks = Tasks(arrays.move(order, self.ranked.device), by_rank, done or 1.0)
        self.share, self.seconds = done / float(work.sum()) if work.any() else 1.0, cost * done

    def run(self):
        """Counts, the expected ones where it did not search, and the seconds."""
        start = perf_counter()
        dealer = self.schedule.deal(Plan(self.tasks, self.seconds, self.devices, self.number))
        counts = count_tasks(Job(self._start, self.ranked, self.tasks, dealer), self.devices)
        arrays.synchronize(self.devices[0])
        seconds = perf_counter() - start
        merged = self.expected.copy()
        merged[self.vertices] = arrays.move(counts, "cpu")[self.ranks]
        return arrays.move(merged, self.devices[0]), seconds

    def _start(self, ranked, order):
        return METHODS["dfs"].run(ranked, order, self.length)
