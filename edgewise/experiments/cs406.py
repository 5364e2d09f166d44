"""CS406, cycles through each vertex: Tables 1 to 5, on threads, a GPU, several, and GPUs beside the CPU.

The document walks all paths from every vertex (``dfs``).  Its tables deal the vertices out to threads, evenly
to GPUs, evenly by a guessed weight to GPUs and threads, and in small chunks from one queue.  Beside it stands
what edgewise takes when it is not told (``auto``), by the document's schedule and by its own.

Where ``dfs`` would take long it searches from every second, fourth, eighth ... vertex only, and the time is
scaled up by the estimated work.  Counts are compared all the same.

The graphs are those that are given as files, such as com-DBLP, and a stand-in of the size of com-Amazon.
"""

from contextlib import contextmanager
from time import perf_counter

import numpy as np

import edgewise
from edgewise.cycles import METHODS, SCHEDULES, cycle_counts
from edgewise.cycles.counting.ranked import ranked_of
from edgewise.cycles.planning import cost_model
from edgewise.cycles.planning.schedules import Plan, parse
from edgewise.cycles.planning.several import Job, count
from edgewise.device import arrays, threads
from edgewise.experiments.graphs import CS406 as STAND_INS
from edgewise.experiments.published import CS406 as PUBLISHED
from edgewise.experiments.report import Figure, Table, curves
from edgewise.workers import DeviceTeam, Worker

LENGTHS = (3, 4, 5)
#: Seconds, estimated, from which the document's search starts from some of the vertices only.
PATIENCE = 3.0

COLUMNS = {
    "graph": "graph",
    "length": "k",
    "devices": "on",
    "method": "method",
    "schedule": "schedule",
    "ms": "ms",
    "runs": "runs",
    "part": "timed from, %",
    "speedup": "over dfs on a thread, x",
    "published": "published, ms",
}
NOTE = "of dfs on com-Amazon and com-DBLP, whole; shown beside every graph named after them"


def threaded(watch):
    """Table 1: one thread, two, four and so on."""
    most, rows = threads.count(), []
    numbers = [2**power for power in range(most.bit_length()) if 2**power < most] + [most]
    team = DeviceTeam([Worker("cpu:0", "cpu")])
    for name, graph in _graphs(watch, "cpu"):
        for length in LENGTHS:
            for number in numbers:
                published = (_published(watch, "threads", name, length) or {}).get(number)
                for method in ("dfs", "auto"):
                    row = _row(watch, name, graph, length, team, method, "auto", published, number)
                    rows.append(row | {"threads": number, "devices": _counted(number)})
    for row in rows:
        first = next(
            other
            for other in rows
            if (other["threads"], *_key(other)) == (1, *_key(row)) and other["method"] == row["method"]
        )
        row["efficiency"] = 100 * first["ms"] / row["ms"] / row["threads"]
    columns = {**COLUMNS, "efficiency": "efficiency, %"}
    return _table(
        "threads", "Cycles on threads", 1, rows, columns, "threads", ["dblp, k = 5: 977 s on 32 threads"]
    )


def one_gpu(watch):
    """Table 2: one GPU (the first device)."""
    return _on(watch, "gpu", "Cycles on one device", 2, watch.first(1), "static")


def several(watch):
    """Table 3: all GPUs, each an even share."""
    return _on(watch, "gpus", "Cycles on several devices", 3, watch.team, "static")


def with_cpu(watch):
    """Table 4: all GPUs and the CPU, shares by a guessed weight."""
    return _on(watch, "static", "Cycles on all devices and the CPU", 4, _joined(watch), "static-weighted:10")


def by_queue(watch):
    """Table 5: the same from one queue in small chunks."""
    return _on(watch, "queue", "Cycles from one queue", 5, _joined(watch), "queue:64")


def _joined(watch):
    """The devices, and the CPU if it is not among them."""
    more = [] if "cpu" in watch.team.devices else [Worker("cpu:0", "cpu")]
    return DeviceTeam([*watch.team, *more])


def _on(watch, key, title, number, team, schedule):
    rows = []
    for name, graph in _graphs(watch, team[0].device):
        for length in LENGTHS:
            published = _published(watch, key, name, length)
            for method, dealt in (("dfs", schedule), ("auto", schedule), ("auto", "auto")):
                row = _row(watch, name, graph, length, team, method, dealt, published)
                rows.append(row | {"devices": ", ".join(team.names)})
    return _table(key, title, number, rows, COLUMNS, "length")


def _table(name, title, number, rows, columns, across, published=()):
    def label(row):
        k = f", k = {row['length']}" if across == "threads" else ""
        return f"{row['graph']}{k}, {row['method']} {row['schedule']}"

    figure = Figure(
        f"cs406-{name}", title, across, "milliseconds", curves(rows, across, "ms", label), steep=True
    )
    return Table(name, title, f"CS406, Table {number}", columns, rows, [*published, NOTE], [figure])


def _graphs(watch, device):
    """Name and graph of each that is wanted, in a place."""
    for name in watch.wanted(*watch.files, *STAND_INS):
        if name in watch.files:
            file = watch.files[name]
            graph = watch.graph(name, lambda file=file: edgewise.read(file, directed=False))
        else:
            graph = watch.stand_in(name, STAND_INS)
        yield name, graph.to(device)


def _counted(number):
    """Threads in words."""
    return f"{number} thread{'s' * (number > 1)}"


def _published(watch, table, name, length):
    """What the document says of a graph; nothing of one that was made smaller."""
    if name not in watch.files and watch.size != "paper":
        return None
    told = next((known for known in ("amazon", "dblp") if known in name.lower()), None)
    return PUBLISHED[table].get((told, length))


def _key(row):
    return row["graph"], row["length"]


def _row(watch, name, graph, length, team, method, schedule, published, number=None):
    """A row of a table; ``number`` threads if given."""
    alone = _alone(watch, name, graph, length)
    if (method, number) == ("dfs", 1):
        found = alone
    else:
        with _threads(number):
            found = _timed(watch, name, graph, length, team, method, schedule)
    return {
        "graph": name,
        "length": length,
        "method": method,
        "schedule": schedule,
        **found,
        "speedup": alone["ms"] / found["ms"],
        "published": 1e3 * published if published and method == "dfs" else None,
    }


@contextmanager
def _threads(number):
    """Context in which loops use ``number`` threads, if that is given."""
    before = threads.count()
    threads.use(number)
    try:
        yield
    finally:
        threads.use(before)


def _alone(watch, name, graph, length):
    """How long the document's search takes on one thread; measured once."""
    key = "dfs on a thread", name, length
    if key not in watch.kept:
        team = DeviceTeam([Worker("cpu:0", "cpu")])
        with _threads(1):
            watch.kept[key] = _timed(watch, name, graph.to("cpu"), length, team, "dfs", "auto")
    return watch.kept[key]


def _timed(watch, name, graph, length, team, method, schedule):
    asked = {"devices": team, "schedule": schedule, "force": True}
    key, what = f"{name}, k = {length}", f"{method} by {schedule} on {', '.join(team.names)}"
    if method == "auto":

        def run():
            found = cycle_counts(graph, length, **asked)
            return found.counts, found.seconds

        return {**watch.time(key, what, run), "part": 100.0}
    if key not in watch.kept:
        watch.kept[key] = arrays.move(
            cycle_counts(graph, length, **asked | {"schedule": "auto"}).counts, "cpu"
        )
    part = Part(graph, length, team, schedule, watch.kept[key])
    found = watch.time(key, what, part.run)
    scaled = {name: found[name] / part.share for name in ("ms", "least", "largest")}
    return {**found, **scaled, "part": 100 * part.share}


class Part:
    """The document's search from every vertex, or from some where all would take long.

    Attributes
    ----------
    share : float
        Of the estimated work that is done.
    """

    def __init__(self, graph, length, team, schedule, expected):
        self.length, self.team, self.expected = length, team, expected
        self.ranked, (name, self.number) = ranked_of(graph), parse(schedule)
        self.schedule, method = SCHEDULES[name], METHODS["dfs"]
        work = arrays.move(method.work(self.ranked, length), "cpu")
        rank = arrays.move(self.ranked.rank, "cpu").astype(np.int64)
        cost, stride = METHODS["dfs"].cost / sum(map(cost_model.speed_of, team.devices)), 1
        while stride < len(rank) and cost * work[rank[::stride]].sum() > PATIENCE:
            stride *= 2
        self.vertices = np.arange(0, len(rank), stride)
        order = rank[self.vertices]
        if self.schedule.by_work:
            order = order[np.argsort(-work[order], kind="stable")]
        self.loads, self.rank = work[order], rank
        self.order = arrays.move(order, self.ranked.device)
        self.share = float(self.loads.sum() / work.sum()) if work.any() else 1.0
        self.seconds = cost * float(self.loads.sum())

    def run(self):
        """Counts, those that were expected where it did not search, and the seconds."""
        start, devices = perf_counter(), self.team.devices
        plan = Plan(len(self.order), lambda: self.loads, self.seconds, devices, self.number)
        job = Job(self._start, self.ranked, len(self.order), self.order, self.schedule.deal(plan), self._told)
        counts = count(job, devices)
        arrays.synchronize(devices[0])
        seconds = perf_counter() - start
        found = self.expected.copy()
        found[self.vertices] = arrays.move(counts, "cpu")[self.rank[self.vertices]]
        return arrays.move(found, devices[0]), seconds

    def _start(self, ranked, order):
        return METHODS["dfs"].start(ranked, order, self.length)

    def _told(self, run):
        """Nobody listens."""
