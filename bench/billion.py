"""Integer pairs in Parquet shards to clusters in Parquet: edgewise beside what others would run.

    python bench/billion.py                                       R-MAT 20, two threads
    python bench/billion.py --scale 24 --factor 16 --threads 4 --folder graphs --limit 900
    python bench/billion.py --scale 26 --programs edgewise --folder graphs

The graphs are R-MAT with the probabilities of Graph500 and ids in random order, as LDBC's graph500-24 and
graph500-26 are.  Every program runs in a process of its own on as many cores as it may use threads, reads two
columns of int64 and writes columns ``id`` and ``component``; a program that takes longer than the limit is
stopped.  Seconds are of the whole process, memory is its largest resident set, and disk traffic is what the
system counted for the process (files that are in the page cache are not read again).  Partitions
are compared by the least id of each component.  Kernels of edgewise are on disk before the clock starts.

Published figures for graphs of this kind, not measured here: graphframes-rs 0.1 on four virtual cores needs
320 s and 21.8 GB for graph500-24, and 1,518 s, 29.5 GB and 41 GB of disk for graph500-26 (results in its
repository, August 2026); GoldenMatch needs 266 s for 200 million edges on five machines of 16 cores (its
issue 844).
"""

import os
import signal
import subprocess
import sys
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from harness import main, part, process, spread
from streams import make_shards

COLUMNS = ["source", "target"]


# -- Programs ------------------------------------------------------------------------------------------------


def edgewise(source, target, *options):
    command = [sys.executable, "-m", "edgewise", "components", source, "-o", target, "--device", "cpu"]
    os.execv(sys.executable, [*command, *options])


def streamed(source, target):
    edgewise(source, target, "--stream")


def numbered(source):
    """The ends of the pairs as numbers, and the distinct ids in ascending order."""
    import pandas as pd

    pairs = pd.read_parquet(source, columns=COLUMNS)
    count = len(pairs)
    codes, ids = pd.factorize(np.concatenate([pairs[name].to_numpy() for name in COLUMNS]), sort=True)
    return codes[:count], codes[count:], ids


def written(ids, labels, target):
    import pyarrow as pa
    import pyarrow.parquet as parquet

    parquet.write_table(pa.table({"id": ids, "component": labels}), target)


def pandas_scipy(source, target):
    import scipy.sparse as sparse
    from scipy.sparse.csgraph import connected_components

    left, right, ids = numbered(source)
    ends = left.astype(np.int32), right.astype(np.int32)
    del left, right
    shape = len(ids), len(ids)
    graph = sparse.coo_array((np.ones(len(ends[0]), np.int8), ends), shape=shape).tocsr()
    del ends
    written(ids, connected_components(graph, directed=False)[1], target)


def pandas_igraph(source, target):
    import igraph

    left, right, ids = numbered(source)
    graph = igraph.Graph(n=len(ids), edges=np.column_stack([left, right]))
    del left, right
    written(ids, np.array(graph.connected_components("weak").membership, np.int32), target)


def pandas_networkit(source, target):
    import networkit

    left, right, ids = numbered(source)
    networkit.setNumberOfThreads(int(os.environ["OMP_NUM_THREADS"]))
    graph = networkit.GraphFromCoo((left, right), n=len(ids))
    del left, right
    found = networkit.components.ParallelConnectedComponents(graph)
    found.run()
    written(ids, np.asarray(found.getPartition().getVector()), target)


def polars(source, target):
    import polars as pl

    pairs = pl.read_parquet(source, columns=COLUMNS)
    both = pl.concat([pairs, pairs.select(source="target", target="source")])
    del pairs
    labels = both.group_by(id="source").agg(component=pl.min_horizontal(pl.first("source"), pl.min("target")))
    while True:
        reached = both.join(labels, left_on="source", right_on="id").group_by(id="target")
        reached = reached.agg(least=pl.min("component"))
        least = labels.join(reached, on="id").select("id", component=pl.min_horizontal("component", "least"))
        ends = least.rename({"id": "component", "component": "end"})
        least = least.join(ends, on="component").select("id", component="end")  # the label of the label
        if least.sort("id").equals(labels.sort("id")):
            break
        labels = least
    labels.write_parquet(target)


def duckdb(source, target):
    import duckdb

    database = duckdb.connect(str(Path(target).with_suffix(".duckdb")))
    database.execute(f"set threads = {os.environ['OMP_NUM_THREADS']}")
    database.execute(
        f"""create table edges as select source, target from '{source}/*.parquet'
        union all select target, source from '{source}/*.parquet'"""
    )
    database.execute(
        f"""copy (
            with recursive labels(id, component) using key (id) as (
                select distinct source, source from edges
                union
                select edges.target, min(labels.component)
                from labels join edges on edges.source = labels.id
                join recurring.labels as known on known.id = edges.target
                where labels.component < known.component group by edges.target
            ) select id, component from labels
        ) to '{target}' (format parquet)"""
    )


#: Programs by name, each with the modules that it needs.
PROGRAMS = {
    "edgewise": (edgewise, ()),
    "edgewise --stream": (streamed, ()),
    "pandas + SciPy": (pandas_scipy, ("pandas",)),
    "pandas + igraph": (pandas_igraph, ("pandas", "igraph")),
    "pandas + networkit": (pandas_networkit, ("pandas", "networkit")),
    "polars": (polars, ("polars",)),
    "DuckDB": (duckdb, ("duckdb",)),
}
PACKAGES = {"pandas": "pandas", "polars": "polars", "duckdb": "duckdb", "igraph": "igraph"}


def child(name, source, target, threads, limit):
    """Run a program in this process, on some of the cores, until a limit in seconds."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(threads)])
    signal.alarm(int(limit))
    PROGRAMS[name][0](source, target)


def run(name, source, target, threads, limit):
    """What a program takes in a process of its own; without seconds if it failed or was stopped."""
    names = "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"
    environment = dict.fromkeys(names, str(threads))
    command = [sys.executable, __file__, "--child", name, source, target, threads, limit]
    try:
        return process(command, **environment)
    except subprocess.CalledProcessError as error:
        stopped = error.returncode == -signal.SIGALRM
        return {"failed": f"longer than {limit} s" if stopped else f"status {error.returncode}"}


# -- Answers -------------------------------------------------------------------------------------------------


def partition(path):
    """Ids in ascending order and, for each, the least id of its component."""
    import pyarrow.parquet as parquet

    table = parquet.read_table(path, columns=["id", "component"])
    ids, labels = (table[name].to_numpy() for name in ("id", "component"))
    order = np.argsort(ids)
    ids, labels = ids[order], labels[order]
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return ids, ids[first][inverse]


def same(found, expected):
    return all(map(np.array_equal, found, expected))


# -- Rows ----------------------------------------------------------------------------------------------------


def rows(given):
    """A row for each program."""
    chosen = given.programs or [name for name, (_, needs) in PROGRAMS.items() if all(map(find_spec, needs))]
    edges = given.factor << given.scale
    given.facts |= {"threads": given.threads, "scale": given.scale, "edges": edges}
    given.facts["peer_versions"] = {name: version(name) for name in PACKAGES if find_spec(name)}
    shards = {"rmat": given.scale, "edges": edges, "shards": given.shards, "vertices": 0}
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        source = make_shards(SimpleNamespace(folder=given.folder or folder, **shards))
        target, expected = Path(folder) / "clusters.parquet", None
        run("edgewise", source, target, given.threads, given.limit)  # compiles
        run("edgewise --stream", source, target, given.threads, given.limit)
        for name in chosen:
            target.unlink(missing_ok=True)
            found = [run(name, source, target, given.threads, given.limit) for _ in range(given.runs)]
            row = {"program": name}
            if "failed" in found[-1]:
                yield row | found[-1]
                continue
            expected = expected or partition(target)
            row |= {"seconds": spread([one["seconds"] for one in found])}
            row |= {"cpu_seconds": spread([one["cpu"] for one in found])}
            row |= {key: max(one[key] for one in found) for key in ("mb", "read_mb", "written_mb")}
            ids, labels = partition(target)
            row |= {"ids": len(ids), "components": int((ids == labels).sum())}
            yield row | {"right": same((ids, labels), expected)}


def beside_peers(rows):
    """How many times as fast as the fastest peer is ours, and the share of the least memory of a peer?"""
    done = [row for row in rows if "seconds" in row]
    ours = [row for row in done if row["program"].startswith("edgewise")]
    peers = [row for row in done if row not in ours]
    for row in ours if peers else ():
        fastest = min(peers, key=lambda one: one["seconds"]["median"])
        times = fastest["seconds"]["median"] / row["seconds"]["median"]
        least = min(one["mb"] for one in peers)
        line = f"{row['program']}: {times:.1f} times as fast as {fastest['program']}"
        yield f"{line}, {row['mb'] / least:.0%} of the least memory of a peer"


PART = part(
    "billion-cpu",
    rows,
    key=("program",),
    summary=beside_peers,
    scale=20,
    factor=16,
    shards=16,
    threads=2,
    limit=600,
    runs=1,
    programs=str,
    folder=None,
)

if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main(__doc__, PART)
