"""Pairs file in, clusters file out, against what Python users write today.

    python bench/pairs.py                          10 million pairs, 3 rounds, 2 threads
    python bench/pairs.py --pairs 1000000 --runs 1

The file has two columns of 17-character ids and one of scores, written by pyarrow with its defaults.  Every
program runs in a process of its own, in turn with the others, and writes a Parquet file with columns ``id``
and ``component``.  Seconds are of the whole process, from its start to its end, imports included; memory is
its largest resident set.  All partitions are compared with the first one.  The kernels of edgewise are on
disk before the clock starts; what a first run after installing adds is measured apart.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import record

LEFT, RIGHT = "left_id", "right_id"


def edgewise(source, target, stage):
    command = [sys.executable, "-m", "edgewise", "components", source, "-o", target, "--json"]
    os.execv(sys.executable, [*command, "--source", LEFT, "--target", RIGHT, "--device", "cpu"])


def pandas_scipy(source, target, stage):
    import pandas as pd
    import scipy.sparse as sparse
    from scipy.sparse.csgraph import connected_components

    stage("import")
    pairs = pd.read_parquet(source, columns=[LEFT, RIGHT])
    count = len(pairs)
    stage("read")
    codes, ids = pd.factorize(pd.concat([pairs[LEFT], pairs[RIGHT]], ignore_index=True))
    del pairs
    stage("ids")
    ends = codes[:count].astype(np.int32), codes[count:].astype(np.int32)
    del codes
    shape = len(ids), len(ids)
    graph = sparse.coo_array((np.ones(count, np.int8), ends), shape=shape).tocsr()
    del ends
    _, labels = connected_components(graph, directed=False)
    stage("components")
    pd.DataFrame({"id": ids, "component": labels}).to_parquet(target, index=False)
    stage("write")


def polars_networkit(source, target, stage):
    import networkit
    import polars as pl

    stage("import")
    pairs = pl.read_parquet(source, columns=[LEFT, RIGHT])
    stage("read")
    ids = pl.concat([pairs[LEFT], pairs[RIGHT]]).unique().to_frame("id").with_row_index("number")
    numbered = [
        pairs.select(side).join(ids, left_on=side, right_on="id", how="left", maintain_order="left")["number"]
        for side in (LEFT, RIGHT)
    ]
    del pairs
    stage("ids")
    networkit.setNumberOfThreads(int(os.environ["OMP_NUM_THREADS"]))
    ends = tuple(numbers.to_numpy().astype(np.int64) for numbers in numbered)
    del numbered
    graph = networkit.GraphFromCoo(ends, n=len(ids))
    del ends
    components = networkit.components.ConnectedComponents(graph)
    components.run()
    labels = np.asarray(components.getPartition().getVector())
    stage("components")
    pl.DataFrame({"id": ids["id"], "component": labels}).write_parquet(target)
    stage("write")


def pyarrow_igraph(source, target, stage):
    import igraph
    import pyarrow as pa
    import pyarrow.parquet as parquet

    stage("import")
    pairs = parquet.read_table(source, columns=[LEFT, RIGHT])
    count = len(pairs)
    stage("read")
    column = pa.chunked_array(pairs[LEFT].chunks + pairs[RIGHT].chunks)
    del pairs
    encoded = column.dictionary_encode()
    del column
    ids = encoded.chunk(0).dictionary
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in encoded.chunks])
    del encoded
    stage("ids")
    edges = np.column_stack([codes[:count], codes[count:]])
    del codes
    graph = igraph.Graph(n=len(ids), edges=edges)
    labels = np.array(graph.connected_components("weak").membership, np.int32)
    stage("components")
    parquet.write_table(pa.table({"id": ids, "component": labels}), target)
    stage("write")


PROGRAMS = {
    "edgewise": edgewise,
    "pandas + SciPy": pandas_scipy,
    "polars + networkit": polars_networkit,
    "pyarrow + igraph": pyarrow_igraph,
}


def child(name, source, target):
    """Run one program and print the seconds of its stages."""
    seconds, last = {}, time.perf_counter()

    def stage(name):
        nonlocal last
        now = time.perf_counter()
        seconds[name], last = now - last, now

    PROGRAMS[name](source, target, stage)
    print(json.dumps({"seconds": seconds}))


def run(name, source, target, environment):
    """Run a program in a process of its own; return its seconds, megabytes and stages."""
    command = [sys.executable, __file__, "--child", name, str(source), str(target)]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{name} failed with status {process.returncode}")
    stages = json.loads(output.splitlines()[-1])["seconds"]
    return {
        "seconds": seconds,
        "cpu": usage.ru_utime + usage.ru_stime,
        "mb": usage.ru_maxrss / 1024,
        "stages": {name: value for name, value in stages.items() if name != "total"},
    }


def compare(path, expected):
    """Put the result at ``path`` into a canonical form and hold it against the one kept at ``expected``.

    Returns the numbers of ids and of components.
    """
    ids, labels = partition(path)
    if not expected.exists():
        np.savez(expected, ids=ids, labels=labels)
    known = np.load(expected)
    assert np.array_equal(ids, known["ids"]), f"{path}: other ids"
    assert np.array_equal(labels, known["labels"]), f"{path}: other components"
    return len(ids), len(np.unique(labels))


def partition(path):
    """Ids in ascending order and, for each, the least place of its component."""
    import pyarrow.parquet as parquet

    table = parquet.read_table(path, columns=["id", "component"])
    ids = table["id"].to_numpy().astype("S")
    order = np.argsort(ids, kind="stable")
    _, first, inverse = np.unique(
        table["component"].to_numpy()[order], return_index=True, return_inverse=True
    )
    return ids[order], first[inverse]


def make(path, pairs):
    import pyarrow.parquet as parquet

    from edgewise.generators import pairs as generated

    parquet.write_table(generated(pairs), path)


def apart(function, *arguments):
    """Call ``function`` in a process of its own, so that this one stays small: a child's memory counts it."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def environment_for(threads, folder):
    names = "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"
    return {**os.environ, **dict.fromkeys(names, str(threads)), "EDGEWISE_QUIET": "1"}


def rounds(source, folder, arguments):
    """Run all programs in turn; the first round also compares their results."""
    environment = environment_for(arguments.threads, folder)
    run("edgewise", source, folder / "warm.parquet", environment)
    runs, counts = {name: [] for name in PROGRAMS}, None
    for number in range(arguments.runs):
        for name in PROGRAMS:
            target = folder / "clusters.parquet"
            last = run(name, source, target, environment)
            runs[name].append(last)
            print(f"  {number + 1} {name:20s} {last['seconds']:7.2f} s {last['mb']:7.0f} MB", flush=True)
            if number == 0:
                counts = apart(compare, target, folder / "expected.npz")
    return runs, *counts


def first_use(folder, environment):
    """Seconds of CPU that compiling adds to a first run, on a small file."""
    small = folder / "small.parquet"
    apart(make, small, 20_000)
    environment = {**environment, "EDGEWISE_CACHE_DIR": str(folder / "kernels")}
    first, second = (run("edgewise", small, folder / "small-out.parquet", environment) for _ in range(2))
    return {
        "compiling_cpu_s": first["cpu"] - second["cpu"],
        "second_run_s": second["seconds"],
        "second_run_cpu_s": second["cpu"],
    }


def table(runs):
    rows = []
    for name, found in runs.items():
        stages = {stage: min(one["stages"][stage] for one in found) for stage in found[0]["stages"]}
        rows.append(
            {
                "program": name,
                "seconds": record.spread([one["seconds"] for one in found]),
                "cpu_seconds": record.spread([one["cpu"] for one in found]),
                "mb": max(one["mb"] for one in found),
                "stages": stages,
            }
        )
    return rows


def show(rows):
    print(f"{'program':20s} {'s':>7s} {'least':>7s} {'CPU s':>7s} {'MB':>6s}  stages (least)")
    for row in rows:
        stages = "  ".join(f"{stage} {seconds:.2f}" for stage, seconds in row["stages"].items())
        figures = row["seconds"]["median"], row["seconds"]["least"], row["cpu_seconds"]["median"]
        print(f"{row['program']:20s}", *(f"{one:7.2f}" for one in figures), f"{row['mb']:6.0f}  {stages}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="Where the files go; a temporary folder if left out.")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(*arguments.child)
        return
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        measure(Path(folder), arguments)


def measure(folder, arguments):
    source = folder / "pairs.parquet"
    apart(make, source, arguments.pairs)
    runs, ids, components = rounds(source, folder, arguments)
    rows = table(runs)
    show(rows)
    ours, peer = rows[0], min(rows[1:], key=lambda row: row["seconds"]["median"])
    facts = {
        "pairs": arguments.pairs,
        "ids": ids,
        "components": components,
        "threads": arguments.threads,
        "peer_versions": {name: version(name) for name in ("pandas", "polars")},
        "fastest_peer": peer["program"],
        "times_faster": peer["seconds"]["median"] / ours["seconds"]["median"],
        "share_of_memory": ours["mb"] / peer["mb"],
        "first_use": first_use(folder, environment_for(arguments.threads, folder)),
    }
    print(json.dumps(facts, indent=1))
    if arguments.pairs == 10_000_000:
        print(record.write("pairs-cpu", rows, **facts))


if __name__ == "__main__":
    main()
