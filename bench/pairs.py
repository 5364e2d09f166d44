"""Pairs file in, clusters file out, against what Python users write today.

    python bench/pairs.py                          10 million pairs, 3 rounds, 2 threads
    python bench/pairs.py --pairs 20000 --runs 1

The file has two columns of 17-character ids and one of scores, written by pyarrow with its defaults.  Every
program runs in a process of its own, in turn with the others, and writes a Parquet file with columns ``id``
and ``component``.  Seconds are of the whole process, from its start to its end, imports included; memory is
its largest resident set.  All partitions are compared with the first one.  The kernels of edgewise are on
disk before the clock starts.
"""

import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from harness import main, part, process, spread

LEFT, RIGHT = "left_id", "right_id"


def edgewise(source, target):
    command = [sys.executable, "-m", "edgewise", "components", source, "-o", target, "--json"]
    os.execv(sys.executable, [*command, "--source", LEFT, "--target", RIGHT, "--device", "cpu"])


def pandas_scipy(source, target):
    import pandas as pd
    import scipy.sparse as sparse
    from scipy.sparse.csgraph import connected_components

    pairs = pd.read_parquet(source, columns=[LEFT, RIGHT])
    count = len(pairs)
    codes, ids = pd.factorize(pd.concat([pairs[LEFT], pairs[RIGHT]], ignore_index=True))
    del pairs
    ends = codes[:count].astype(np.int32), codes[count:].astype(np.int32)
    del codes
    shape = len(ids), len(ids)
    graph = sparse.coo_array((np.ones(count, np.int8), ends), shape=shape).tocsr()
    del ends
    _, labels = connected_components(graph, directed=False)
    pd.DataFrame({"id": ids, "component": labels}).to_parquet(target, index=False)


def polars_networkit(source, target):
    import networkit
    import polars as pl

    pairs = pl.read_parquet(source, columns=[LEFT, RIGHT])
    ids = pl.concat([pairs[LEFT], pairs[RIGHT]]).unique().to_frame("id").with_row_index("number")
    numbered = [
        pairs.select(side).join(ids, left_on=side, right_on="id", how="left", maintain_order="left")["number"]
        for side in (LEFT, RIGHT)
    ]
    del pairs
    networkit.setNumberOfThreads(int(os.environ["OMP_NUM_THREADS"]))
    ends = tuple(numbers.to_numpy().astype(np.int64) for numbers in numbered)
    del numbered
    graph = networkit.GraphFromCoo(ends, n=len(ids))
    del ends
    components = networkit.components.ConnectedComponents(graph)
    components.run()
    labels = np.asarray(components.getPartition().getVector())
    pl.DataFrame({"id": ids["id"], "component": labels}).write_parquet(target)


def pyarrow_igraph(source, target):
    import igraph
    import pyarrow as pa
    import pyarrow.parquet as parquet

    pairs = parquet.read_table(source, columns=[LEFT, RIGHT])
    count = len(pairs)
    column = pa.chunked_array(pairs[LEFT].chunks + pairs[RIGHT].chunks)
    del pairs
    encoded = column.dictionary_encode()
    del column
    ids = encoded.chunk(0).dictionary
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in encoded.chunks])
    del encoded
    edges = np.column_stack([codes[:count], codes[count:]])
    del codes
    graph = igraph.Graph(n=len(ids), edges=edges)
    labels = np.array(graph.connected_components("weak").membership, np.int32)
    parquet.write_table(pa.table({"id": ids, "component": labels}), target)


#: Programs by name, each with the modules that it needs.
PROGRAMS = {
    "edgewise": (edgewise, ()),
    "pandas + SciPy": (pandas_scipy, ("pandas",)),
    "polars + networkit": (polars_networkit, ("polars", "networkit")),
    "pyarrow + igraph": (pyarrow_igraph, ("igraph",)),
}


def run(name, source, target, threads):
    """What a program takes in a process of its own."""
    names = "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"
    environment = dict.fromkeys(names, str(threads))
    return process([sys.executable, __file__, "--child", name, source, target], **environment)


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


def rows(given):
    """A row for each program, all run in turn; the first round also compares their results."""
    chosen = [name for name, (_, needs) in PROGRAMS.items() if all(map(find_spec, needs))]
    runs = {name: [] for name in chosen}
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        folder = Path(folder)
        source, target = folder / "pairs.parquet", folder / "clusters.parquet"
        apart(make, source, given.pairs)
        run("edgewise", source, target, given.threads)  # compiles
        for number in range(given.runs):
            for name in chosen:
                runs[name].append(run(name, source, target, given.threads))
                if number == 0:
                    counts = apart(compare, target, folder / "expected.npz")
        given.facts |= {"pairs": given.pairs, "threads": given.threads}
        given.facts |= dict(zip(("ids", "components"), counts))
    given.facts["peer_versions"] = {name: version(name) for name in ("pandas", "polars") if find_spec(name)}
    for name, found in runs.items():
        row = {"program": name, "mb": max(one["mb"] for one in found)}
        row |= {"seconds": spread([one["seconds"] for one in found])}
        yield row | {"cpu_seconds": spread([one["cpu"] for one in found])}


def beside_peers(rows):
    """How many times as fast as the fastest peer is ours, and the share of its memory?"""
    ours, *others = rows
    if others:
        peer = min(others, key=lambda row: row["seconds"]["median"])
        times = peer["seconds"]["median"] / ours["seconds"]["median"]
        yield f"{times:.1f} times as fast as {peer['program']}, {ours['mb'] / peer['mb']:.0%} of its memory"


PART = part("pairs-cpu", rows, summary=beside_peers, pairs=10_000_000, runs=3, threads=2, folder=None)

if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        PROGRAMS[sys.argv[2]][0](*sys.argv[3:])
    else:
        main(__doc__, PART)
