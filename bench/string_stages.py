"""What the stages of clustering pairs of strings take, one after the other and in one run.

Each stage is run by itself over all row groups: reading bytes, decoding, numbering with its loops, joining,
labels, making the table of names, encoding and writing.  Rows tell the seconds of the clock and of the
processor, nanoseconds a pair, and page faults.  The last rows are of the whole work in one process, by
:mod:`edgewise.timer`, and how many cores were busy in each tenth of a second.

    python bench/string_stages.py --folder graphs --edges 100000000 --shards 32 --threads 16
    python bench/string_stages.py --folder graphs --edges 100000000 --whole --runs 4     only the whole work
    python bench/string_stages.py --folder graphs --edges 100000000 --thresholds --runs 4

With ``--thresholds`` the pairs have scores, and the whole work finds the clusters at five thresholds, the
lowest of which all pairs reach.
"""

import os
import resource
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread
from types import SimpleNamespace

import numpy as np
from harness import main, part
from streams import make_shards

#: Seconds between two looks at the time of the processor.
PERIOD = 0.1
#: Of the scores of pairs, which begin at the first one.
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
#: Loops and steps of numbering that are timed by themselves.
LOOPS = ("look_up", "count_new", "number_new", "number_copies", "rehash", "_empty_slots")


class Clock:
    """Rows of what stages take of the clock, the processor and the kernel."""

    def __init__(self, pairs):
        self.pairs, self.rows, self.inside = pairs, [], {}

    @staticmethod
    def _now():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return np.array([time.perf_counter(), usage.ru_utime, usage.ru_stime, usage.ru_minflt])

    def _row(self, name, spent):
        seconds, user, system, faults = map(float, spent)
        row = {"stage": name, "seconds": seconds, "cpu_seconds": user + system, "system_seconds": system}
        row |= {"busy": (user + system) / seconds, "ns_a_pair": 1e9 * (user + system) / self.pairs}
        self.rows.append(row | {"faults": int(faults)})

    @contextmanager
    def stage(self, name):
        """Context of a stage; the loops that were called in it follow its row."""
        self.inside, start = {}, self._now()
        yield
        self._row(name, self._now() - start)
        for loop, spent in self.inside.items():
            self._row(f"  {loop}", spent)

    def watch(self, module, name):
        """Time a function of a module by itself."""
        function = getattr(module, name)

        def timed(*arguments):
            start = self._now()
            found = function(*arguments)
            self.inside[name] = self.inside.get(name, 0) + self._now() - start
            return found

        setattr(module, name, timed)


@contextmanager
def busy_cores(found):
    """Context that appends the number of busy cores in each :data:`PERIOD` to a list."""
    ended = Event()

    def watch():
        at, spent = time.perf_counter(), time.process_time()
        while not ended.wait(PERIOD):
            now, total = time.perf_counter(), time.process_time()
            found.append(round((total - spent) / (now - at), 1))
            at, spent = now, total

    thread = Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def read_bytes(path):
    """Read a file and keep nothing."""
    room = bytearray(1 << 22)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(room):
            pass


def decoded(keep, read):
    """The batches of a row group as the stream decodes them, if they are kept."""
    batches = read()
    return list(batches) if keep else [len(batch) for batch in batches]


def row_groups(paths):
    """Functions that decode a row group each."""
    from edgewise.files.streams import Source
    from edgewise.files.typed_tables import ParquetTable

    for path in paths:
        table = ParquetTable(Source(path))
        table.settle(["source", "target"])
        yield from (read for *_, read in table.pieces(["source", "target"]))


def numbered(batches, numbers):
    """Columns of vertex numbers of batches."""
    found = []
    for batch in batches:
        columns = np.empty(len(batch), np.uint32), np.empty(len(batch), np.uint32)
        numbers.add(batch.column(0), batch.column(1), *columns)
        found.append(columns)
    return found


def by_themselves(given, folder):
    """Rows of the stages, each of them over all pairs."""
    import pyarrow as pa

    import edgewise.ingest.strings as loops
    from edgewise.components.result import Components
    from edgewise.ingest.arrow import ColumnNumbers
    from edgewise.streams.graph import StreamedGraph
    from edgewise.streams.union import UnionReducer
    from edgewise.workers import device_team

    paths = sorted(folder.glob("*.parquet"))
    jobs = list(row_groups(paths))
    clock, pool = Clock(given.edges), ThreadPoolExecutor(given.threads)
    numbers, reducer = ColumnNumbers(pa.string(), pa.string(), given.edges), UnionReducer(device_team("cpu"))
    numbers.strings.prepare()
    reducer.join((np.zeros(1, np.uint32),) * 2, 0)
    with clock.stage("read bytes"):
        list(pool.map(read_bytes, paths))
    with clock.stage("decode, keep nothing"):
        list(pool.map(partial(decoded, False), jobs))
    with clock.stage("decode"):
        batches = [batch for some in pool.map(partial(decoded, True), jobs) for batch in some]
    for name in LOOPS:
        clock.watch(loops, name)
    with clock.stage("number"):
        columns = numbered(batches, numbers)
    with clock.stage("free"):
        del batches
    with clock.stage("join"):
        for pair in columns:
            reducer.join(pair, numbers.strings.count - 1)
    del columns
    with clock.stage("labels"):
        labels = reducer.labels(last=True)
    graph = StreamedGraph(len(labels), given.edges, ids=numbers.ids(), files=len(paths))
    result = Components(graph, "rem, streamed", 0.0, labels)
    with clock.stage("count"):
        facts = {"components": result.count, "largest": result.largest}
    with clock.stage("make the table"):
        for _ in result.to_reader():
            pass
    with clock.stage("make the table and write"):
        result.write(_new_output(folder))
    clock.rows[-1] |= facts
    return clock.rows


def _new_output(folder):
    """Path of the table, which is not there: to rename a file onto another one waits for the disk."""
    path = folder.parent / "stages.parquet"
    path.unlink(missing_ok=True)
    return path


def in_one_run(given, folder):
    """Rows of the whole work, as the command does it."""
    import edgewise as ew
    from edgewise.timer import recording

    clock, busy, output = Clock(given.edges), [], _new_output(folder)
    with busy_cores(busy), recording() as tree:
        with clock.stage("stream"):
            result = ew.stream_components(folder)
        with clock.stage("count and write"):
            facts = {"components": result.count, "largest": result.largest}
            result.write(output)
    print(tree)
    clock.rows[-1] |= facts | {"busy_cores": busy}
    return clock.rows


def at_thresholds(given, folder):
    """Rows of the whole work at several thresholds, as the command does it."""
    import edgewise as ew
    from edgewise.timer import recording

    clock, busy, output = Clock(given.edges), [], _new_output(folder)
    with busy_cores(busy), recording() as tree:
        with clock.stage("read"):
            graph = ew.read(folder, weight=True, threshold=THRESHOLDS[0])
        with clock.stage("components"):
            result = ew.connected_components(graph, thresholds=THRESHOLDS)
        with clock.stage("count and write"):
            facts = {"components": result.counts.tolist(), "pairs": graph.n_edges}
            result.write(output)
    print(tree)
    clock.rows[-1] |= facts | {"busy_cores": busy}
    total = np.sum([[row["seconds"], row["cpu_seconds"]] for row in clock.rows], axis=0).tolist()
    return [*clock.rows, {"stage": "all", "seconds": total[0], "cpu_seconds": total[1]}]


def stages(given):
    """Stages of clustering pairs of strings."""
    given.vertices = given.vertices or given.edges // 2
    os.environ["NUMBA_NUM_THREADS"] = str(given.threads)
    folder = make_shards(SimpleNamespace(**vars(given)), of_strings=True, scored=given.thresholds)
    from edgewise.device import threads

    threads.use(given.threads)
    for run in range(given.runs):
        parts = (in_one_run,) if given.whole else (by_themselves, in_one_run)
        for found in (at_thresholds,) if given.thresholds else parts:
            for row in found(given, folder):
                yield {"run": run, "threads": given.threads, "edges": given.edges} | row


PART = part(
    "string-stages",
    stages,
    key=("threads", "edges", "run", "stage"),
    folder="shards",
    edges=10**8,
    vertices=0,
    shards=32,
    threads=16,
    whole=False,
    thresholds=False,
    runs=1,
)

if __name__ == "__main__":
    main(__doc__, PART)
