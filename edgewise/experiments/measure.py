"""One stopwatch for all experiments: warm runs, the median, devices settled, results compared."""

import statistics
from time import perf_counter

from edgewise.components import connected_components
from edgewise.device import arrays
from edgewise.errors import VerificationError
from edgewise.workers import DeviceTeam

#: Runs are fewer where one takes longer than so many seconds: three, and one.
LONG, VERY_LONG = 1.0, 5.0
#: Graphs kept at hand, and the seconds of making from which a graph is kept for good.
KEPT, DEAR = 2, 5.0


class Stopwatch:
    """Makes graphs and times labellings of them and searches in them.

    Parameters
    ----------
    team : edgewise.workers.DeviceTeam
        Graphs lie with its first worker.
    size : str
    runs : int
        Timed runs, after a warm one.
    tell : callable
        Told in a few words what is being done.
    without : sequence of str
        Graphs to leave out.
    files : dict of str to path
        Files of graphs that were given, by name.

    Attributes
    ----------
    kept : dict
        What experiments want to know of each other.
    made : dict
        Vertices and edges of every graph that was made.
    """

    def __init__(self, team, size, runs, tell=lambda words: None, without=(), files=None):
        self.team, self.size, self.runs, self.tell, self.without = team, size, runs, tell, without
        self.files, self.kept = files or {}, {}
        self.device = team[0].device
        self.made = {}
        self._graphs, self._dear, self._first = {}, set(), {}

    def graph(self, name, make):
        """The graph of that name, made by ``make()`` unless at hand."""
        if name not in self._graphs:
            self.tell(f"making {name}")
            start = perf_counter()
            with arrays.guard(self.device):
                graph = make()
            if perf_counter() - start > DEAR:
                self._dear.add(name)
            self._graphs[name] = graph
            self.made[name] = {"vertices": graph.n_vertices, "edges": graph.n_edges}
            self._make_room()
        return self._graphs[name]

    def wanted(self, *names):
        """The names, each once, less those of graphs to leave out."""
        return [name for name in dict.fromkeys(names) if name not in self.without]

    def stand_in(self, name, table):
        """The stand-in for a graph of a document."""
        return self.graph(name, lambda: table[name].made(self.size, self.device))

    def _make_room(self):
        cheap = [name for name in self._graphs if name not in self._dear]
        for name in cheap[:-KEPT]:
            del self._graphs[name]
            self._first.pop(name, None)

    def split(self, graph, count, by="edges"):
        """``graph`` over the first ``count`` workers; itself for one."""
        return graph if count == 1 else graph.split(self.first(count), by=by)

    def first(self, count):
        """The first ``count`` workers."""
        return DeviceTeam(self.team[:count])

    def counts(self):
        """Numbers of workers to measure: 1, 2, ... up to all."""
        return range(1, len(self.team) + 1)

    def components(self, name, graph, **options):
        """Time :func:`edgewise.connected_components` with these options; see :meth:`time`."""
        said = " ".join(f"{key}={value}" for key, value in options.items())

        def run():
            result = connected_components(graph, **options)
            return result.labels, result.seconds

        return self.time(name, f"connected_components({said})", run)

    def time(self, name, what, run):
        """Time ``run()``, which returns an array, such as labels, and the seconds it took.

        Parameters
        ----------
        name : str
            Name of the graph, or of a search in it, to compare results by.
        what : str
        run : callable

        Returns
        -------
        dict
            ``ms`` (median), ``least``, ``largest`` and ``runs``.

        Raises
        ------
        VerificationError
            The array is not that of the first run under this name.
        """
        self.tell(f"{name}: {what}")
        self._checked(name, what, run)
        first = self._checked(name, what, run)
        runs = 1 if first > VERY_LONG else min(self.runs, 3) if first > LONG else self.runs
        times = [1e3 * first, *(1e3 * self._checked(name, what, run) for _ in range(runs - 1))]
        return {"ms": statistics.median(times), "least": min(times), "largest": max(times), "runs": runs}

    def _checked(self, name, what, run):
        """Seconds of a run whose result is right."""
        labels, seconds = run()
        first, expected = self._first.setdefault(name, (what, labels))
        expected = arrays.move(expected, arrays.device_of(labels))
        if len(expected) != len(labels) or not bool((labels == expected).all()):
            raise VerificationError(f"{name}: {what} gives another result than {first}; report this as a bug")
        return seconds

    def clocked(self, solve, devices=None):
        """``run`` for :meth:`time` out of ``solve()``, which returns labels, timed from outside."""

        def run():
            self._settle(devices)
            start = perf_counter()
            labels = solve()
            self._settle(devices)
            return labels, perf_counter() - start

        return run

    def _settle(self, devices):
        for device in set(devices or (self.device,)):
            arrays.synchronize(device)
