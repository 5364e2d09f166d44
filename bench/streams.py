"""Components of edges that flow past: from Parquet shards on CPU cores, from host memory through GPUs.

    python bench/streams.py cpu --folder DIRECTORY        1 G edges over 100 M vertices in 40 shards
    python bench/streams.py cpu --folder DIRECTORY --edges 40000000 --shards 4 --vertices 10000000
    python bench/streams.py gpu                           1 G and 4 G edges over 2**26 vertices

The shards are written once, by processes of their own, with pyarrow's defaults: two columns of int64 ids
drawn uniformly, every edge drawn once.  They are streamed by ``edgewise components --stream`` in a fresh
process, from the start of Python to the end of the written table; memory is its largest resident set, and
bytes a vertex are what that set has beyond the one of a run over as many rows a row group whose ids are
below 1,000.

On a GPU the yardstick is the rate of plain copies from page-locked memory, and an edge is 8 bytes.  The
labels of the first case are compared with those of the graph resident on the GPU.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import record

RUNS = 7
GPU_VERTICES, GPU_EDGES, MORE_EDGES = 1 << 26, 1 << 30, 1 << 32
BLOCK = 1 << 26


def write_shard(path, edges, vertices, seed):
    """Write one shard, a few row groups at a time."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    draw, part = np.random.default_rng(seed), path.with_suffix(".part")
    schema = pa.schema([("source", pa.int64()), ("target", pa.int64())])
    with parquet.ParquetWriter(part, schema) as writer:
        for start in range(0, edges, 1 << 22):
            size = min(1 << 22, edges - start)
            ends = (draw.integers(0, vertices, size) for _ in range(2))
            writer.write_table(pa.table(list(ends), schema=schema))
    part.rename(path)


def make_shards(arguments):
    """The folder of shards; those that are there are kept."""
    folder = arguments.folder / f"shards-{arguments.vertices}-{arguments.edges}-{arguments.shards}"
    folder.mkdir(parents=True, exist_ok=True)
    each = arguments.edges // arguments.shards
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for number in range(arguments.shards):
            path = folder / f"{number:03d}.parquet"
            if not path.exists():
                pool.submit(write_shard, path, each, arguments.vertices, number)
        pool.submit(write_shard, arguments.folder / "small.parquet", 1 << 23, 1000, 0)
    return folder


def stream(source, target, threads):
    """Run the command in a process of its own; return its facts, seconds and largest resident set."""
    command = [sys.executable, "-m", "edgewise", "components", "--stream", str(source), "-o", str(target)]
    environment = {**os.environ, "EDGEWISE_QUIET": "1", "NUMBA_NUM_THREADS": str(threads)}
    start = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--json", "--device", "cpu"], stdout=subprocess.PIPE, env=environment
    )
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed with status {process.returncode}")
    seconds = time.perf_counter() - start
    cpu = usage.ru_utime + usage.ru_stime
    return {
        **json.loads(output.splitlines()[-1]),
        "total": seconds,
        "cpu": cpu,
        "bytes": usage.ru_maxrss * 1024,
    }


def on_cpu(arguments):
    folder = make_shards(arguments)
    small = arguments.folder / "small.parquet"
    target = arguments.folder / "clusters.parquet"
    stream(small, target, arguments.threads)  # compiles
    buffers = stream(small, target, arguments.threads)["bytes"]
    rows = []
    for _ in range(arguments.runs):
        found = stream(folder, target, arguments.threads)
        rows.append(
            {
                "edges": found["edges"],
                "vertices": found["vertices"],
                "components": found["components"],
                "files": found["files"],
                "seconds": found["total"],
                "cpu_seconds": found["cpu"],
                "stages": found["seconds"],
                "edges_per_s": found["edges"] / found["total"],
                "mb": found["bytes"] / 1e6,
                "buffers_mb": buffers / 1e6,
                "bytes_a_vertex": (found["bytes"] - buffers) / arguments.vertices,
            }
        )
        print(json.dumps(rows[-1], indent=1), flush=True)
    print(record.write("streams-cpu", rows, threads=arguments.threads, ids=arguments.vertices))


def on_gpu(arguments):
    """Edges of host memory through GPUs."""
    import cupy

    from edgewise.device import arrays, streams
    from edgewise.workers import device_team

    gpus = arrays.gpu_count()
    rate = pinned_rate(cupy, streams)
    print(f"page-locked memory to the GPU: {rate / 1e9:.1f} GB/s")
    sources, targets = (streams.pinned(arguments.more, np.uint32, "cuda:0") for _ in range(2))
    start = time.perf_counter()
    fill(cupy, streams, (sources, targets))
    print(f"{arguments.more:,} edges made in {time.perf_counter() - start:.1f} s", flush=True)
    few = tuple(column[: arguments.edges] for column in (sources, targets))
    expected = resident_labels(cupy, few)
    one = device_team("cuda:0")
    rows = [case("page-locked", few, one, rate, RUNS, expected)]
    ordinary = tuple(copied(column) for column in few)
    rows.append(case("pageable", ordinary, one, rate, RUNS, expected))
    del ordinary
    rows.append(case("page-locked", (sources, targets), one, rate, 3))
    for count in (2, 4, 8):
        if count <= gpus:
            team = device_team([f"cuda:{number}" for number in range(count)])
            rows.append(case("page-locked", (sources, targets), team, rate, 3))
    print(record.write("streams-gpu", rows, gb_per_s=rate / 1e9, vertices=GPU_VERTICES, gpus=gpus))


def pinned_rate(cupy, streams):
    """Bytes a second of copies from page-locked memory, the median."""
    host, there = streams.pinned(1 << 28, np.uint32, "cuda:0"), cupy.empty(1 << 28, np.uint32)
    host.fill(1)
    rates = []
    for _ in range(9):
        cupy.cuda.get_current_stream().synchronize()
        start = time.perf_counter()
        streams.copy(there, host)
        cupy.cuda.get_current_stream().synchronize()
        rates.append(host.nbytes / (time.perf_counter() - start))
    return sorted(rates)[len(rates) // 2]


def fill(cupy, streams, columns):
    """Draw vertices uniformly on the GPU and bring them to the host."""
    draw = cupy.random.default_rng(1)
    for column in columns:
        for start in range(0, len(column), BLOCK):
            part = column[start : start + BLOCK]
            streams.copy(part, draw.integers(0, GPU_VERTICES, len(part), dtype=np.uint32))
            cupy.cuda.get_current_stream().synchronize()
    cupy.get_default_memory_pool().free_all_blocks()


def copied(column):
    """The same in ordinary memory, by several threads, since that is touched for the first time."""
    array = np.empty(len(column), column.dtype)
    with ThreadPoolExecutor() as pool:
        for start in range(0, len(column), BLOCK):
            part = slice(start, start + BLOCK)
            pool.submit(np.copyto, array[part], column[part])
    return array


def resident_labels(cupy, columns):
    """Labels by the method ``rem`` with all edges on the GPU."""
    import edgewise as ew

    graph = ew.Graph(GPU_VERTICES, edges=(*columns, None)).to("cuda")
    labels = ew.connected_components(graph, method="rem").labels.get()
    del graph
    cupy.get_default_memory_pool().free_all_blocks()
    return labels


def case(memory, columns, team, rate, runs, expected=None):
    """Measure one way, the first run apart; print and return a row."""
    import cupy

    from edgewise.components.segments import components_by_segments
    from edgewise.device import arrays

    pool, times, segments = cupy.get_default_memory_pool(), [], 0
    peaks = []
    for run in range(runs + 1):
        for device in team.devices:
            with arrays.on(device):
                pool.free_all_blocks()
                arrays.synchronize(device)
        start = time.perf_counter()
        labels, segments = components_by_segments(GPU_VERTICES, *columns, team)
        arrays.synchronize(team[0].device)
        if run:
            times.append(time.perf_counter() - start)
        elif expected is not None:
            assert np.array_equal(arrays.move(labels, "cpu").view(expected.dtype), expected)
        with arrays.on(team[0].device):
            peaks.append(pool.total_bytes())
        del labels
    edges, seconds = len(columns[0]), record.spread(times)
    row = {
        "memory": memory,
        "edges": edges,
        "devices": list(team.names),
        "segments": segments,
        "seconds": seconds,
        "gb_per_s": 8 * edges / seconds["median"] / 1e9,
        "share_of_link": 8 * edges / seconds["median"] / rate,
        "device_gb": max(peaks) / 1e9,
    }
    print(json.dumps(row), flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("where", choices=("cpu", "gpu"))
    parser.add_argument("--folder", type=Path, help="Where the shards go, about 13 bytes an edge.")
    parser.add_argument("--edges", type=int, default=None)
    parser.add_argument("--vertices", type=int, default=100_000_000)
    parser.add_argument("--shards", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--more", type=int, default=MORE_EDGES, help="Edges of the larger case on a GPU.")
    arguments = parser.parse_args()
    if arguments.where == "gpu":
        arguments.edges = arguments.edges or GPU_EDGES
        on_gpu(arguments)
        return
    if arguments.folder is None:
        parser.error("--folder is needed")
    arguments.edges = arguments.edges or 1_000_000_000
    on_cpu(arguments)


if __name__ == "__main__":
    main()
