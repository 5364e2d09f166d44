"""The stopwatch of all experiments: a warm run, the median of timed runs, results compared."""

import math
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic, perf_counter

import edgewise
from edgewise.components import connected_components
from edgewise.device import arrays
from edgewise.errors import VerificationError
from edgewise.workers import DeviceTeam

#: Runs that are timed at most, by the seconds from which the first one takes long.
RUNS_BY_SECONDS = {5.0: 1, 1.0: 3}
#: Number of graphs that are cached.
CACHED = 2
#: Seconds of reading or generation from which a graph is cached for good.
EXPENSIVE_SECONDS = 5.0

#: The moment after which nothing is begun.
_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextmanager
def time_limit(minutes: float | None) -> Iterator[None]:
    """Context in which :func:`edgewise.experiments.run` measures nothing new after so many minutes.

    What has begun is measured to its end; the report says what is missing.  ``None`` is no limit.
    """
    token = _deadline.set(math.inf if minutes is None else monotonic() + 60 * minutes)
    try:
        yield
    finally:
        _deadline.reset(token)


def repeated(run, runs):
    """Seconds of several runs, each returned by ``run()``; fewer where the first one takes long."""
    first = run()
    runs = min(runs, next((most for long, most in RUNS_BY_SECONDS.items() if first > long), runs))
    return [first, *(run() for _ in range(runs - 1))]


class Stopwatch:
    """Generates graphs, on the device of the first worker, and times methods on them.

    Parameters are those of :func:`edgewise.experiments.run`, with ``files`` by name.  ``cache`` holds results
    that several experiments need, ``made`` the vertices and edges of every graph that was read or generated,
    and ``left_out`` what was not begun for lack of time.
    """

    def __init__(self, team, size, runs, report=lambda text: None, without=(), files=None):
        self.team, self.size, self.runs, self.report, self.without = team, size, runs, report, without
        self.files, self.cache = files or {}, {}
        self.device = team[0].device
        self.made, self.left_out = {}, []
        self._graphs, self._expensive, self._first = {}, set(), {}

    def graph(self, name, make):
        """The graph of that name, from the cache, the file of that name, or ``make()``."""
        if name not in self._graphs:
            self.report(f"{'reading' if name in self.files else 'generating'} {name}")
            start = perf_counter()
            with arrays.guard(self.device):
                graph = self._read(name) if name in self.files else make()
            if perf_counter() - start > EXPENSIVE_SECONDS:
                self._expensive.add(name)
            self._graphs[name] = graph
            self.made[name] = {"vertices": graph.n_vertices, "edges": graph.n_edges}
            cheap = [known for known in self._graphs if known not in self._expensive]
            for known in cheap[:-CACHED]:
                del self._graphs[known]
                self._first.pop(known, None)
        return self._graphs[name]

    def _read(self, name):
        """The graph of a file, as an undirected one, on the device."""
        return edgewise.read(self.files[name], directed=False).to(self.device)

    def wanted(self, *names):
        """Give the names, each once, without those of graphs to leave out, until time is up."""
        return (name for name in dict.fromkeys(names) if name not in self.without and self.in_time(name))

    def in_time(self, what):
        """Whether there is time to begin; if not, it is noted what was left out."""
        if monotonic() <= _deadline.get():
            return True
        self.left_out.append(what)
        return False

    def stand_in(self, name, table):
        """The stand-in for a graph of a document."""
        return self.graph(name, lambda: table[name].generate(self.size, self.device))

    def split(self, graph, count, by="edges"):
        """``graph`` split over the first ``count`` workers; itself for one."""
        return graph if count == 1 else graph.split(self.first(count), by=by)

    def first(self, count):
        """The first ``count`` workers."""
        return DeviceTeam(self.team[:count])

    def counts(self):
        """Numbers of workers to measure: 1, 2, ... up to all."""
        return range(1, len(self.team) + 1)

    def components(self, name, graph, **options):
        """Time :func:`edgewise.connected_components` with these options; see :meth:`time`."""
        shown = " ".join(f"{key}={value}" for key, value in options.items())

        def run():
            result = connected_components(graph, **options)
            return result.labels, result.seconds

        return self.time(name, f"connected_components({shown})", run)

    def time(self, name, what, run):
        """Time ``run()``, which returns an array, such as labels, and its seconds.

        The result has ``ms`` (median), ``least``, ``largest`` and ``runs``.  VerificationError if the array
        differs from that of the first run under this name.
        """
        self.report(f"{name}: {what}")
        self._check(name, what, run)
        times = [1e3 * one for one in repeated(lambda: self._check(name, what, run), self.runs)]
        facts = {"ms": statistics.median(times), "least": min(times), "largest": max(times)}
        return facts | {"runs": len(times)}

    def _check(self, name, what, run):
        """Seconds of a run, after its result was compared."""
        labels, seconds = run()
        first, expected = self._first.setdefault(name, (what, labels))
        expected = arrays.move(expected, arrays.device_of(labels))
        if len(expected) != len(labels) or not bool((labels == expected).all()):
            raise VerificationError(f"{name}: {what} gives another result than {first}; report this as a bug")
        return seconds

    def clocked(self, solve, devices=None):
        """``run`` for :meth:`time` from ``solve()``, which returns labels; devices are synchronised."""

        def run():
            self._synchronize(devices)
            start = perf_counter()
            labels = solve()
            self._synchronize(devices)
            return labels, perf_counter() - start

        return run

    def _synchronize(self, devices):
        for device in set(devices or (self.device,)):
            arrays.synchronize(device)
