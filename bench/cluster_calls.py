"""Calls with the workers of running Dask clusters, beside one process: on CPU cores, and with a GPU.

    python bench/cluster_calls.py cores --folder DIRECTORY     components of 10 M pairs of strings
    python bench/cluster_calls.py cores --folder DIRECTORY --workers 1 2 --runs 5 --limit 300
    python bench/cluster_calls.py gpu --folder DIRECTORY       cycles and components, one worker with a GPU

``cores`` holds a cluster of each number of workers and one process of all cores, and measures them in turn:
whole calls of ``stream_components``, after first ones that compile, as many as there are workers.  The
workers of a cluster share the cores.  Processor time is that of the caller and of all workers.  Rounds are
left out when ``--limit`` seconds are over.

``gpu`` has one worker that was started with the resource ``GPU=1``, and workers that see no GPU and have more
slots.  The same calls are made by one process on the CPU and on the GPU; labels, ids and counts are compared
bit for bit, and the workers that have loaded CuPy are listed.
"""

import argparse
import json
import os
import statistics
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import record
from cluster import as_text
from streams import make_shards

import edgewise as ew


def seconds_used():
    """Processor time of this process, in seconds."""
    return time.process_time()


def timed(call, client):
    """What a call returns, its seconds, and the processor time of it and of the workers."""

    def used():
        workers = () if client is None else client.run(seconds_used).values()
        return seconds_used() + sum(workers)

    before, start = used(), time.perf_counter()
    found = call({} if client is None else {"client": client})
    seconds = time.perf_counter() - start
    return found, seconds, used() - before


def same_components(one, other):
    """Whether two results have the same labels and ids."""
    one, other = one.on_host(), other.on_host()
    same = np.array_equal(one.labels, other.labels)
    ids, others = one.graph.ids, other.graph.ids
    if ids is None or isinstance(ids, np.ndarray):
        return same and np.array_equal(ids, others)
    return same and ids.equals(others)


def on_cores(arguments):
    """Components of shards of strings by clusters of several sizes, and by one process, in turn."""
    from distributed import Client, LocalCluster

    end, start = time.perf_counter() + arguments.limit, time.perf_counter()
    folder = as_text(make_shards(arguments))
    made = time.perf_counter() - start
    own = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with ExitStack() as stack:
        clients = {0: None}
        for count in arguments.workers:
            cluster = stack.enter_context(LocalCluster(n_workers=count, **own))
            clients[count] = stack.enter_context(Client(cluster, direct_to_workers=True))
        times = {count: [] for count in clients}
        begun = time.perf_counter() - start
        expected = None
        for round_number in range(arguments.runs + 1):
            for count, client in clients.items():
                if time.perf_counter() > end:
                    continue
                first_calls = max(1, count)  # each may be the first one of another worker
                for _ in range(1 if round_number else first_calls):
                    found, *figures = timed(lambda how: ew.stream_components(folder, **how), client)
                if round_number:
                    times[count].append(figures)
                expected = expected or found
                if not same_components(expected, found):
                    raise SystemExit(f"{count} workers: other labels or ids than one process")
                print(json.dumps({"workers": count, "round": round_number, "s, cpu_s": figures}), flush=True)
    rows = []
    for count, figures in times.items():
        if not figures:
            continue
        seconds, used = zip(*figures, strict=True)
        rows.append({"workers": count, "s": statistics.median(seconds), "least_s": min(seconds)})
        rows[-1] |= {"cpu_s": statistics.median(used), "runs": len(seconds)}
        rows[-1]["of_one_process"] = rows[-1]["s"] / rows[0]["s"]
    facts = {"pairs": found.graph.n_edges, "vertices": found.graph.n_vertices, "components": found.count}
    facts |= {"shards": arguments.shards, "s_to_make_shards": made, "s_before_first_call": begun}
    print(record.write(arguments.name or "cluster-strings-cpu", rows, **facts))


def has_cupy():
    """Whether this process has loaded CuPy."""
    return "cupy" in sys.modules


def mixed_cluster(cpu_workers):
    """A cluster of one worker with a GPU and others that see none."""
    from distributed import Nanny, Scheduler, SpecCluster

    given = {"nthreads": 1, "resources": {"GPU": 1}}
    spec = {"gpu": {"cls": Nanny, "options": given}}
    for number in range(cpu_workers):
        hidden = {"nthreads": 2, "env": {"CUDA_VISIBLE_DEVICES": ""}}
        spec[f"cpu-{number}"] = {"cls": Nanny, "options": hidden}
    return SpecCluster(spec, {"cls": Scheduler, "options": {"dashboard_address": ":0"}})


def on_gpu(arguments):
    """Cycle counts and components by workers of both kinds, by one process, and by one process with a GPU."""
    from distributed import Client

    shards = make_shards(arguments)
    text = as_text(shards)
    graph = ew.generate.rmat(arguments.scale, simple=True)
    small = ew.generate.rmat(arguments.scale - 4, edge_factor=8, simple=True)
    calls = {
        "triangles": lambda how: ew.cycle_counts(graph, 3, **how),
        "components of integers": lambda how: ew.stream_components(shards, **how),
        "pentagons": lambda how: ew.cycle_counts(small, 5, **how),
        "components of strings": lambda how: ew.stream_components(text, **how),
    }
    rows, end, expected = [], time.perf_counter() + arguments.limit, None
    with mixed_cluster(arguments.cpu_workers) as cluster, Client(cluster) as client:
        client.wait_for_workers(1 + arguments.cpu_workers)
        own, device = {"client": client}, {"device": arguments.device}
        ways = {"one process": {}, "one process, GPU": device, "workers": own, "workers, GPU": own | device}
        for name, call in calls.items():
            for way, how in ways.items():
                if time.perf_counter() > end:
                    continue
                row = {"call": name, "how": way} | three_calls(call, how)
                found = row.pop("found")
                expected = found if way == "one process" else expected
                row["same"] = same_answer(expected, found)
                rows.append(row)
                print(json.dumps(row), flush=True)
        loaded, info = client.run(has_cupy), client.scheduler_info(n_workers=-1)["workers"]
        on_gpus = [one for one in loaded if info[one]["resources"].get("GPU")]
    facts = {"gpu_workers_with_cupy": sum(loaded[one] for one in on_gpus)}
    facts["cpu_workers_with_cupy"] = sum(loaded.values()) - facts["gpu_workers_with_cupy"]
    print(json.dumps(facts))
    print(record.write(arguments.name or "cluster-gpu", rows, cpu_workers=arguments.cpu_workers, **facts))
    raise SystemExit(not all(row["same"] for row in rows))


def three_calls(call, how):
    """Seconds of a first call, and the median of two more."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        found = call(how)
        seconds.append(time.perf_counter() - start)
    facts = {"first_s": seconds[0], "s": statistics.median(seconds[1:]), "devices": list(found.devices)}
    return {"found": found} | facts


def same_answer(one, other):
    """Whether two results are equal: counts, or labels and ids."""
    if hasattr(one, "counts"):
        return bool((one.on_host().counts == other.on_host().counts).all())
    return same_components(one, other)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("where", choices=("cores", "gpu"))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--edges", type=int, default=10**7)
    parser.add_argument("--vertices", type=int, default=4 * 10**6)
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=float, default=600, help="seconds after which no call begins")
    parser.add_argument("--scale", type=int, default=18, help="of the R-MAT graph whose cycles are counted")
    parser.add_argument("--cpu-workers", type=int, default=3)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--name", help="name of the file of results")
    arguments = parser.parse_args()
    (on_cores if arguments.where == "cores" else on_gpu)(arguments)


if __name__ == "__main__":
    os.environ.setdefault("EDGEWISE_QUIET", "1")
    main()
