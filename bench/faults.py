"""Workers of a Dask cluster that are killed while they find components, forests and all pairs.

    python bench/faults.py --folder DIRECTORY             20 runs, one kill or more in each
    python bench/faults.py --folder DIRECTORY --rows 2000 --runs 3

Every run has the workers of one cluster of two processes, of which one is killed by SIGKILL at a random time
of the run, measured without kills, and once more for every further such time; the cluster starts another in
its place.  The answers are compared with those of one process bit for bit: ids, labels, edges and positions,
distances, and the bytes of a matrix on the disk.  Kills of both workers at once leave none with the graph.
"""

import hashlib
import os
import signal
import time
from functools import partial
from pathlib import Path
from threading import Event, Thread

import numpy as np
from harness import main, part, seconds, timed

import edgewise as ew
from edgewise.streams import sharded

KINDS = ("integers", "strings", "strings, divided", "forest", "all pairs", "all pairs to a file")
#: Share of a worker's memory for strings; with a share of 0 they are divided among all workers.
MEMORY_SHARE = sharded.MEMORY_SHARE
SHARDS = 12
#: Vertices and edges of the graph of all pairs.
VERTICES, EDGES = 8_000, 40_000


def shards_with_scores(folder, rows):
    """Shards of integers and of strings, with scores of few distinct values."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    for kind in ("integers", "strings"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for number in range(SHARDS):
            draw, path = np.random.default_rng(number), folder / kind / f"{number:02}.parquet"
            columns = [pa.array(draw.integers(0, 4 * rows, rows)) for _ in range(2)]
            if kind == "strings":
                columns = [column.cast(pa.string()) for column in columns]
            table = pa.table([*columns, draw.integers(0, 9, rows)], ["left", "right", "score"])
            if not path.exists():
                parquet.write_table(table, path.with_suffix(".part"))
                path.with_suffix(".part").rename(path)


def answer(folder, kind, **how):
    """Digest of the answer of one job."""
    if kind.startswith("all pairs"):
        return distances(folder, kind, **how)
    if kind == "forest":
        found = ew.stream_forest(folder / "integers", weight="score", maximum=True, **how)
        arrays = [found.edges, found.sources, found.targets, found.weights, found.labels]
    else:
        name, _, is_divided = kind.partition(", ")
        sharded.MEMORY_SHARE = 0 if is_divided else MEMORY_SHARE
        found = ew.stream_components(folder / name, **how)
        arrays = [found.labels]
    state = hashlib.sha256(b"".join(np.ascontiguousarray(array) for array in arrays))
    ids = found.graph.ids
    if ids is not None:
        state.update(ids if isinstance(ids, np.ndarray) else "\n".join(ids.to_pylist()).encode())
    return state.hexdigest()


def distances(folder, kind, **how):
    """Digest of the distances of a graph of random edges with weights, in memory or in a file."""
    draw = np.random.default_rng(7)
    ends, weights = draw.integers(0, VERTICES, (2, EDGES)), draw.random(EDGES, np.float32)
    graph = ew.Graph.from_edges(*ends, weights=weights, n_vertices=VERTICES)
    if kind == "all pairs":
        matrix = ew.all_pairs_shortest_paths(graph, method="sssp", **how).distances
        return hashlib.sha256(matrix.data).hexdigest()
    path = folder / "distances.npy"
    ew.all_pairs_shortest_paths(graph, method="sssp", output=path, **how)
    with open(path, "rb") as file:
        state = hashlib.file_digest(file, "sha256").hexdigest()
    path.unlink()
    return state


def kill_at(cluster, client, delays, done):
    """Kill a worker, or all of them, after each delay in seconds, unless the run has ended; return when.

    Then workers are begun where the cluster does not replace those that were killed.
    """
    kills = []

    def work():
        for delay, which in delays:
            if done.wait(delay):
                return
            pids = sorted(client.run(os.getpid, on_error="ignore").values())
            for pid in pids if which is None else pids[which % len(pids) :][:1]:
                os.kill(pid, signal.SIGKILL)
                kills.append(delay)
        while not done.wait(8):
            if not client.scheduler_info(n_workers=-1)["workers"]:
                cluster.scale(0)
                cluster.scale(2)

    thread = Thread(target=work, daemon=True)
    thread.start()
    return thread, kills


def restore(cluster, client):
    """Wait for two workers; the cluster is begun again where it does not replace one that was killed."""
    looks = 0
    while len(client.scheduler_info(n_workers=-1)["workers"]) < 2:
        looks += 1
        cluster.scale(0 if looks % 8 == 0 else 2)
        time.sleep(1)


def rows(given):
    """Answers of two workers that are killed at random times."""
    import distributed

    given.facts |= {"rows_of_a_shard": given.rows, "shards": SHARDS}
    folder = Path(given.folder)
    shards_with_scores(folder, given.rows)
    expected = {kind: answer(folder, kind) for kind in KINDS}
    draw, whole = np.random.default_rng(1), {}
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        for kind in KINDS * 2:  # the second time everything is compiled
            whole[kind] = seconds(partial(answer, folder, kind, client=client))
        for number in range(given.runs):
            kind, count = KINDS[number % len(KINDS)], 1 + number % 2
            restore(cluster, client)
            times = draw.uniform(0, whole[kind] / count, count).tolist()
            delays = [(one, None if number % 7 == 6 else int(draw.integers(2))) for one in times]
            done = Event()
            thread, kills = kill_at(cluster, client, delays, done)
            found, spent = timed(partial(answer, folder, kind, client=client))
            done.set()
            thread.join()
            same = found == expected[kind]
            row = {"kind": kind, "kills": len(kills), "same": same, "right": same}
            yield row | {"s": spent, "alone_s": whole[kind]}


def kills_of(rows):
    """How many answers are those of one process?"""
    same, kills = sum(row["same"] for row in rows), sum(row["kills"] for row in rows)
    yield f"{same} of {len(rows)} answers are those of one process, with {kills} kills"


PART = part("faults", rows, summary=kills_of, folder="faults", rows=500_000, runs=20)

if __name__ == "__main__":
    os.environ.setdefault("EDGEWISE_QUIET", "1")
    main(__doc__, PART)
