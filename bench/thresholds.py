"""Ten thresholds in one run against one threshold, from file to file.

    python bench/thresholds.py                          10 million pairs, 3 rounds, 2 threads
    python bench/thresholds.py --pairs 1000000 --runs 1

The file is that of ``bench/pairs.py``: two columns of 17-character ids and one of scores.  Both programs are
``edgewise components``, run in turn in processes of their own, and write a Parquet file; one takes the lowest
threshold alone.  Seconds are of the whole process, imports included; memory is its largest resident set.  The
clusters at three of the thresholds are compared with those of runs of their own, id by id and name by name.
The kernels are on disk before the clock starts.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pairs
import record

THRESHOLDS = [round(0.5 + 0.05 * number, 2) for number in range(10)]
#: Rules for the names of clusters.  By default one threshold has numbers, and several have the first ids.
NAMES = ("default", "min")
#: The thresholds whose clusters are compared.
COMPARED = (0.5, 0.75, 0.95)


def run(options, source, target, threads):
    """Run ``edgewise components``; return its seconds, CPU seconds and megabytes."""
    command = [sys.executable, "-m", "edgewise", "components", str(source), "-o", str(target), "--quiet"]
    environment = {**os.environ, "NUMBA_NUM_THREADS": str(threads), "EDGEWISE_QUIET": "1"}
    start = time.perf_counter()
    process = subprocess.Popen([*command, "--device", "cpu", *options], env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(options)}: status {process.returncode}")
    return {"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "mb": usage.ru_maxrss / 1024}


def options_of(thresholds, name):
    """The options for one threshold or several."""
    given = ["--threshold", str(thresholds[0])]
    if len(thresholds) > 1:
        given = ["--thresholds", ",".join(map(str, thresholds))]
    return given if name == "default" else [*given, "--name", name]


def are_equal(table, own, threshold):
    """Whether the clusters of a run of its own, by ids and names, are those at a threshold."""
    import pyarrow.compute as pc
    import pyarrow.parquet as parquet

    column = f"cluster_{threshold}"
    found = parquet.read_table(table, columns=["id", column])
    expected = parquet.read_table(own, columns=["id", "cluster"])
    rows = pc.index_in(found["id"], expected["id"])
    names = pc.coalesce(expected["cluster"].take(rows), found["id"])
    return len(expected) == pc.count(rows).as_py() and names.equals(found[column])


def measure(source, folder, arguments):
    """Rows of the result: one for each rule of names and number of thresholds."""
    rows = []
    for name in arguments.names:
        runs = {1: [], len(THRESHOLDS): []}
        for _ in range(arguments.runs):
            for count, found in runs.items():
                target = folder / f"{count}.parquet"
                how = options_of(THRESHOLDS[:count], name)
                found.append(run(how, source, target, arguments.threads))
                print(f"  {count:2d} thresholds, names {name}: {found[-1]}", flush=True)
        for count, found in runs.items():
            columns = {key: record.spread([one[key] for one in found]) for key in ("seconds", "cpu")}
            mb = max(one["mb"] for one in found)
            rows.append({"thresholds": count, "names": name, **columns, "mb": mb})
    return rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--names", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--without", action="store_true", help="Compare no clusters.")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        source, ten = folder / "pairs.parquet", folder / "10.parquet"
        pairs.apart(pairs.make, source, arguments.pairs)
        small = folder / "small.parquet"
        pairs.apart(pairs.make, small, 20_000)
        for name in NAMES:
            for count in (1, len(THRESHOLDS)):
                run(options_of(THRESHOLDS[:count], name), small, ten, arguments.threads)
        rows = measure(source, folder, arguments)
        compared = () if arguments.without else COMPARED
        if arguments.names[-1] != "min" and compared:
            run(options_of(THRESHOLDS, "min"), source, ten, arguments.threads)
        for threshold in compared:
            own = folder / "own.parquet"
            run(options_of([threshold], "min"), source, own, arguments.threads)
            assert pairs.apart(are_equal, ten, own, threshold), f"other clusters at {threshold}"
    ratios = {
        one["names"]: ten["seconds"]["median"] / one["seconds"]["median"]
        for one, ten in zip(rows[::2], rows[1::2])
    }
    print(ratios)
    facts = {"pairs": arguments.pairs, "threads": arguments.threads, "ratios": ratios}
    facts |= {"same_clusters": list(compared)}
    print(record.write("thresholds-cpu", rows, **facts))


if __name__ == "__main__":
    main()
