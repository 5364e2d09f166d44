"""Workers of a Dask cluster that are killed while they find components, forests and all pairs.

    python bench/faults.py --folder DIRECTORY             20 runs, one kill or more in each
    python bench/faults.py --folder DIRECTORY --rows 1000000 --runs 60

Every run has the workers of one cluster of two processes, of which one is killed by SIGKILL at a random time
of the run, measured without kills, and once more for every further such time; the cluster starts another in
its place.  The answers are compared with those of one process bit for bit: ids, labels, edges and positions,
distances, and the bytes of a matrix on the disk.  Kills of "both" workers at once leave none with the graph.
The seconds are with the kill, and those of the same run without one.
"""

import argparse
import hashlib
import json
import os
import signal
import time
from pathlib import Path
from threading import Event, Thread

import numpy as np
import record

import edgewise as ew
from edgewise.streams import sharded

SHARDS = 12
KINDS = ("integers", "strings", "strings, divided", "forest", "all pairs", "all pairs to a file")
#: Share of a worker's memory for strings; with a share of 0 they are divided among all workers.
MEMORY_SHARE = sharded.MEMORY_SHARE
#: Vertices and edges of the graph of all pairs.
VERTICES, EDGES = 8_000, 40_000


def make_shards(folder, rows):
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


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=500_000, help="Rows of each shard.")
    parser.add_argument("--runs", type=int, default=20)
    arguments = parser.parse_args()
    import distributed

    make_shards(arguments.folder, arguments.rows)
    expected = {kind: answer(arguments.folder, kind) for kind in KINDS}
    draw, rows = np.random.default_rng(1), []
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        whole = {}
        for kind in KINDS * 2:  # the second time everything is compiled
            start = time.perf_counter()
            assert answer(arguments.folder, kind, client=client) == expected[kind]
            whole[kind] = time.perf_counter() - start
        print(json.dumps(whole), flush=True)
        for number in range(arguments.runs):
            kind = KINDS[number % len(KINDS)]
            restore(cluster, client)
            count = 1 + number % 2
            times = draw.uniform(0, whole[kind] / count, count).tolist()
            delays = [(one, None if number % 7 == 6 else int(draw.integers(2))) for one in times]
            done, start = Event(), time.perf_counter()
            thread, kills = kill_at(cluster, client, delays, done)
            same = answer(arguments.folder, kind, client=client) == expected[kind]
            done.set()
            thread.join()
            seconds = time.perf_counter() - start
            rows.append(
                {"kind": kind, "kills": len(kills), "same": same, "s": seconds, "alone_s": whole[kind]}
            )
            print(json.dumps(rows[-1]), flush=True)
    same, kills = sum(row["same"] for row in rows), sum(row["kills"] for row in rows)
    print(f"{same} of {len(rows)} answers are those of one process, with {kills} kills")
    print(record.write("faults", rows, rows_of_a_shard=arguments.rows, shards=SHARDS))
    raise SystemExit(same != len(rows))


if __name__ == "__main__":
    main()
