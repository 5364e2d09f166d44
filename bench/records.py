"""Pairs and records in, every record with its cluster out, beside the clusters of the pairs alone.

    python bench/records.py                    10 million pairs, 8 million records, 7 rounds, 2 cores
    python bench/records.py --before FOLDER    also the labels of another state of edgewise

Ids have 17 characters; the records have four columns and come in another order than the pairs.  Every program
runs in a process of its own, in turn with the others, on the cores that ``--cores`` names.  Seconds are of
whole processes, memory is the largest resident set.  The kernels are on disk before the clock starts.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import record

PAIRS, PEOPLE = "pairs.parquet", "people.parquet"
NAMES = ["ann", "bob", "carla", "dmitri", "eve", "farouk", "gwen"]


def make(pairs, records):
    """Write the two files: six of eight records are in pairs, in clusters of at most eight."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    rng = np.random.default_rng(7)
    ids = pa.array([f"R{number:016x}" for number in rng.integers(0, 2**63, records)])
    left = rng.integers(0, records * 3 // 4, pairs)
    right = np.minimum(left + rng.integers(1, 3, pairs), records * 3 // 4 - 1)
    right = np.where(left // 8 == right // 8, right, left)
    columns = {"left_id": ids.take(pa.array(left)), "right_id": ids.take(pa.array(right))}
    parquet.write_table(pa.table(columns | {"score": rng.random(pairs)}), PAIRS)
    columns = {
        "unique_id": ids.take(pa.array(rng.permutation(records))),
        "first_name": pa.array(NAMES).take(pa.array(rng.integers(0, len(NAMES), records))),
        "age": rng.integers(0, 100, records).astype(np.int16),
        "email": [f"user{number}@example.org" for number in rng.integers(0, 10**9, records)],
    }
    parquet.write_table(pa.table(columns), PEOPLE)


def with_pandas():
    """What users write today: SciPy's components, and pandas' merge for the records."""
    import pandas as pd
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs, people = pd.read_parquet(PAIRS, columns=["left_id", "right_id"]), pd.read_parquet(PEOPLE)
    codes, ids = pd.factorize(pd.concat([pairs.left_id, pairs.right_id], ignore_index=True))
    ends = codes[: len(pairs)].astype(np.int32), codes[len(pairs) :].astype(np.int32)
    matrix = coo_array((np.ones(len(pairs), np.int8), ends), shape=(len(ids), len(ids))).tocsr()
    table = pd.DataFrame({"unique_id": ids, "label": connected_components(matrix, directed=False)[1]})
    table["cluster"] = table.groupby("label")["unique_id"].transform("first")
    people = people.merge(table.drop(columns="label"), on="unique_id", how="left")
    people["cluster"] = people["cluster"].fillna(people["unique_id"])
    people["size"] = people.groupby("cluster")["cluster"].transform("size")
    people.to_parquet("pandas.parquet", index=False)


def programs(before):
    """Command lines and changes of the environment, by name."""
    command = [sys.executable, "-m", "edgewise", "components", PAIRS, "--device", "cpu", "--quiet"]
    records = [*command, "--records", PEOPLE]
    found = {
        "labels": ([*command, "-o", "labels.parquet"], {}),
        "records": ([*records, "-o", "records.parquet"], {}),
        "records, least names": ([*records, "--name", "min", "-o", "least.parquet"], {}),
        "ids, least names": ([*command, "--name", "min", "-o", "ids.parquet"], {}),
        "pandas + SciPy": ([sys.executable, __file__, "--pandas"], {}),
    }
    if before:
        columns = ["--source", "left_id", "--target", "right_id"]
        found["labels before"] = ([*found["labels"][0], *columns], {"PYTHONPATH": os.path.abspath(before)})
    return found


def run(command, environment):
    """Seconds and megabytes of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, env=os.environ | environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with status {process.returncode}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def summary(runs):
    """Seconds and memory of several runs."""
    seconds, megabytes = zip(*runs)
    return {"seconds": record.spread(seconds), "mb": max(megabytes)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--records", type=int, default=8_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--before")
    parser.add_argument("--pandas", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.pandas:
        with_pandas()
        return
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.cores])
    os.environ |= {"NUMBA_NUM_THREADS": str(given.cores), "EDGEWISE_QUIET": "1"}
    timed, chosen = {}, programs(given.before)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make(given.pairs, given.records)
        for number in range(given.rounds + 1):
            for name, program in chosen.items():
                found = run(*program)
                if number:  # the first round compiles
                    timed.setdefault(name, []).append(found)
        rows = [
            {
                "program": name,
                "seconds": record.spread([one for one, _ in runs]),
                "mb": max(mb for _, mb in runs),
            }
            for name, runs in timed.items()
        ]
    sizes = {"pairs": given.pairs, "records": given.records, "cores_used": given.cores}
    print(Path(record.write("records-cpu", rows, **sizes)).read_text())


if __name__ == "__main__":
    main()
