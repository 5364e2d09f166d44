"""Components of sharded Parquet: one process that streams, and the worker processes of a Dask cluster.

    python bench/cluster.py --folder DIRECTORY            1 G edges over 100 M vertices in 40 shards
    python bench/cluster.py --folder DIRECTORY --edges 10000000 --vertices 8000000 --strings --runs 3

The shards are those of ``bench/streams.py``; with ``--strings`` their ids are text.  Every run is a command
line of its own, ``--stream`` and then ``--scheduler local:N`` in turn, from the start of Python to the end of
the written table.  Memory is the largest sum over all its processes of the proportional set size, in which a
shared page counts once; bytes are those that the processes read and wrote, from the page cache too.  The
tables are compared, row by row.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from threading import Event, Thread

import numpy as np
import record
from streams import make_shards

INTERVAL = 0.25


class Watch:
    """Memory and traffic of a process and all its descendants, while it runs."""

    def __init__(self, pid):
        self.memory, self.largest = 0, 0
        self.traffic = {}
        self._root, self._done = pid, Event()
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self):
        import psutil

        root = psutil.Process(self._root)
        while not self._done.wait(INTERVAL):
            sizes = []
            try:
                processes = [root, *root.children(recursive=True)]
            except psutil.Error:
                return
            for process in processes:
                try:
                    sizes.append(process.memory_full_info().pss)
                    counters = process.io_counters()
                except (psutil.Error, OSError):
                    continue
                self.traffic[process.pid] = (counters.read_chars, counters.write_chars)
            self.memory = max(self.memory, sum(sizes))
            self.largest = max(self.largest, *sizes, 0)

    def end(self):
        self._done.set()
        self._thread.join()
        return [sum(counts) for counts in zip(*self.traffic.values(), strict=True)]


def run(source, target, how):
    """One command, with what it took."""
    command = [sys.executable, "-m", "edgewise", "components", str(source), *how, "-o", str(target)]
    start = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--json", "--device", "cpu"],
        stdout=subprocess.PIPE,
        env={**os.environ, "EDGEWISE_QUIET": "1"},
    )
    watch = Watch(process.pid)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    read, written = watch.end()
    if process.returncode:
        raise SystemExit(f"{' '.join(how)} failed with status {process.returncode}")
    found = json.loads(output.splitlines()[-1])
    return {
        "how": " ".join(how),
        "edges": found["edges"],
        "vertices": found["vertices"],
        "components": found["components"],
        "seconds": seconds,
        "edges_per_s": found["edges"] / seconds,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "mb": watch.memory / 1e6,
        "mb_of_one_process": watch.largest / 1e6,
        "gb_read": read / 1e9,
        "gb_written": written / 1e9,
    }


def as_text(folder):
    """The same shards with ids that are text, as those of records are."""
    copy = folder.with_name(f"{folder.name}-text")
    copy.mkdir(exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(copy_as_text, sorted(folder.glob("*.parquet")), repeat(copy)))
    return copy


def copy_as_text(path, folder):
    """Write one shard with ids that are text, unless it is there."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as parquet

    if (folder / path.name).exists():
        return
    table = parquet.read_table(path)
    columns = [pc.binary_join_element_wise("r-", column.cast(pa.string()), "") for column in table.columns]
    parquet.write_table(pa.table(columns, table.column_names), folder / f"{path.name}.part")
    (folder / f"{path.name}.part").rename(folder / path.name)


def equal(one, other):
    """Whether two tables have the same rows, in the same order."""
    import pyarrow.parquet as parquet

    one, other = (parquet.ParquetFile(path) for path in (one, other))
    batches = zip(one.iter_batches(1 << 20), other.iter_batches(1 << 20), strict=True)
    return all(first.equals(second) for first, second in batches)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--edges", type=int, default=10**9)
    parser.add_argument("--vertices", type=int, default=10**8)
    parser.add_argument("--shards", type=int, default=40)
    parser.add_argument("--strings", action="store_true")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--name", default="cluster-cpu", help="name of the file of results")
    arguments = parser.parse_args()

    folder = make_shards(arguments)
    ways = [("--stream",), *(("--scheduler", f"local:{count}") for count in arguments.workers)]
    if arguments.strings:
        folder, ways[0] = as_text(folder), ()
    targets = [arguments.folder / f"clusters-{number}.parquet" for number in range(len(ways))]
    found = [[] for _ in ways]
    for _ in range(arguments.runs):
        for way, target, rows in zip(ways, targets, found, strict=True):
            rows.append(run(folder, target, way))
            print(json.dumps(rows[-1]), flush=True)
    rows = []
    for way, target, of_one in zip(ways, targets, found, strict=True):
        if not equal(targets[0], target):
            raise SystemExit(f"{' '.join(way)}: other labels than {' '.join(ways[0])}")
        seconds = [row["seconds"] for row in of_one]
        median = of_one[int(np.argsort(seconds)[len(seconds) // 2])]
        rows.append(
            median | {"median_s": statistics.median(seconds), "least_s": min(seconds), "runs": len(seconds)}
        )
    print(record.write(arguments.name, rows, strings=arguments.strings, shards=arguments.shards))


if __name__ == "__main__":
    main()
