"""All pairs shortest paths on GPUs.

    python bench/apsp_gpu.py             everything but the matrix of 100,000 vertices
    python bench/apsp_gpu.py tiles       Floyd-Warshall in tiles on one GPU
    python bench/apsp_gpu.py large       the same with 100,000 vertices, float32 (40 GB)
    python bench/apsp_gpu.py several     on 1, 2, 4 ... GPUs, n = 65,536 (or --vertices)
    python bench/apsp_gpu.py lanes       batched search: 100,000 vertices, mean degree 6, weights 1-10

Matrices lie on the GPU, transfers are not timed; times are of the host with all GPUs synchronised before and
after, the least of ``--runs``.  ``T updates/s`` is n^3 / time, also where a symmetric matrix takes half of
the updates.  Results are checked: a sample of distances must be the least of all ``D[i, k] + D[k, j]``, rows
on several GPUs have the sums of those on one, the lanes' rows are those of Dijkstra's search.
"""

import argparse
import heapq
import sys
import time

import cupy
import numpy as np
import record

import edgewise as ew
from edgewise.paths.apsp import floyd_warshall_gpu, warp_lanes
from edgewise.paths.csr import adjacency_of
from edgewise.primitives.min_plus import padded

SIZES = (4096, 8192, 16384, 32768)
WEIGHTS = 1 << 20


def settle():
    for number in range(cupy.cuda.runtime.getDeviceCount()):
        with cupy.cuda.Device(number):
            cupy.cuda.runtime.deviceSynchronize()


def empty():
    settle()
    for number in range(cupy.cuda.runtime.getDeviceCount()):
        with cupy.cuda.Device(number):
            cupy.get_default_memory_pool().free_all_blocks()


def fill(rows, first, stride, kind, symmetric=False, at_once=128):
    """Random weights between all pairs, for ``rows`` rows from ``first`` on; a function of the pair alone."""
    matrix = cupy.empty((rows, stride), kind)
    columns = cupy.arange(stride, dtype=np.uint64)
    for begin in range(0, rows, at_once):
        numbers = cupy.arange(first + begin, first + min(begin + at_once, rows), dtype=np.uint64)[:, None]
        low, high = numbers, columns
        if symmetric:
            low, high = cupy.minimum(numbers, columns), cupy.maximum(numbers, columns)
        key = low << np.uint64(32) | high
        for shift, factor in ((29, 0xBF58476D1CE4E5B9), (32, 0x94D049BB133111EB)):
            key = (key ^ (key >> np.uint64(shift))) * np.uint64(factor)
        matrix[begin : begin + at_once] = (key >> np.uint64(40)) % np.uint64(WEIGHTS) + np.uint64(1)
    matrix = matrix.reshape(-1)
    matrix[first :: stride + 1] = 0
    return matrix


def closed(matrix, stride, pairs=64):
    """Whether a sample of entries is the least over all ways through a third vertex."""
    rng = np.random.default_rng(3)
    for i, j in rng.integers(0, stride, (pairs, 2)).tolist():
        best = (matrix[i * stride : (i + 1) * stride] + matrix[j::stride]).min()
        if not cupy.allclose(best, matrix[i * stride + j], rtol=1e-5):
            return False
    return True


def timed(make, act, runs):
    """Seconds of ``act(make())`` in some runs, and what was made last."""
    times = []
    for _ in range(runs):
        thing = None
        empty()
        thing = make()
        settle()
        start = time.perf_counter()
        act(thing)
        settle()
        times.append(time.perf_counter() - start)
    return record.spread(times), thing


def tiles(sizes, runs, kinds=(np.int32, np.float32), shapes=(False, True)):
    rows = []
    for kind in kinds:
        for symmetric in shapes:
            floyd_warshall_gpu.solve(fill(256, 0, 256, kind, symmetric), 256, 256, symmetric=symmetric)
            rows += [tell(on_one(n, kind, symmetric, 1 if n > 60000 else runs)) for n in sizes]
    empty()
    return rows


def on_one(n, kind, symmetric, runs):
    stride = padded(n)
    seconds, matrix = timed(
        lambda: fill(stride, 0, stride, kind, symmetric),
        lambda made: floyd_warshall_gpu.solve(made, n, stride, symmetric=symmetric),
        runs,
    )
    return {
        "method": "floyd-warshall",
        "type": kind.__name__,
        "symmetric": symmetric,
        "vertices": stride,
        "gpus": 1,
        "seconds": seconds,
        "updates_per_second": stride**3 / seconds["least"],
        "right": closed(matrix, stride),
    }


def several(n, runs, kind=np.int32):
    """The same matrix on more and more GPUs; efficiency against one."""
    rows, stride, one, sums = [], padded(n), None, None
    count = cupy.cuda.runtime.getDeviceCount()
    for gpus in [size for size in (1, 2, 4, 8) if size <= count]:
        shares = floyd_warshall_gpu.split_rows(stride, gpus)

        def make(shares=shares):
            parts, first = [], 0
            for number, high in enumerate(shares):
                with cupy.cuda.Device(number):
                    parts.append(fill(high, first, stride, kind))
                first += high
            return parts

        for number in range(gpus):  # compiled on each before the clock runs
            with cupy.cuda.Device(number):
                floyd_warshall_gpu.solve_in_parts([fill(256, 0, 256, kind)], 256, 256)
        seconds, parts = timed(make, lambda made: floyd_warshall_gpu.solve_in_parts(made, n, stride), runs)
        found = []
        for number, part in enumerate(parts):
            with cupy.cuda.Device(number):
                found += part.reshape(-1, stride).sum(axis=1).tolist()
        one, sums = one or seconds["least"], sums or found
        row = {
            "method": "floyd-warshall, rows split",
            "type": kind.__name__,
            "vertices": n,
            "gpus": gpus,
            "seconds": seconds,
            "updates_per_second": n**3 / seconds["least"],
            "efficiency": one / seconds["least"] / gpus,
            "right": found == sums,
        }
        del parts
        rows.append(tell(row))
    empty()
    return rows


def dijkstra(offsets, neighbours, weights, source):
    best, heap = np.full(len(offsets) - 1, np.iinfo(np.int32).max), [(0, source)]
    done = np.zeros(len(best), bool)
    while heap:
        distance, vertex = heapq.heappop(heap)
        if done[vertex]:
            continue
        done[vertex], best[vertex] = True, distance
        for entry in range(offsets[vertex], offsets[vertex + 1]):
            heapq.heappush(heap, (distance + int(weights[entry]), int(neighbours[entry])))
    return best


def batched(n, runs):
    """The document's largest graph: all pairs by searches, the result on the GPU."""
    rng = np.random.default_rng(1)
    ends, weights = rng.integers(0, n, (2, 3 * n)), rng.integers(1, 11, 3 * n).astype(np.int32)
    graph = ew.Graph.from_edges(*ends, weights=weights, n_vertices=n)
    host = graph.offsets, graph.neighbours, graph.csr_weights
    there = graph.to("cuda")
    rows = adjacency_of(there, "int32", lambda: there.csr_weights)
    sources = np.arange(n)
    warp_lanes.solve(rows, sources[:64], cupy.empty(64 * n, np.int32))
    seconds, into = timed(
        lambda: cupy.empty(n * n, np.int32), lambda made: warp_lanes.solve(rows, sources, made), runs
    )
    some = (0, n // 3, n - 1)
    right = all(np.array_equal(into[s * n : (s + 1) * n].get(), dijkstra(*host, s)) for s in some)
    row = {
        "method": "sssp, lanes",
        "type": "int32",
        "vertices": n,
        "edges": 3 * n,
        "gpus": 1,
        "seconds": seconds,
        "distances_per_second": n * n / seconds["least"],
        "to_the_host": copied(into),
        "right": right,
    }
    del into
    return [tell(row)]


def copied(values):
    """Seconds to copy all values to the host, through a page-locked buffer of 1 GB."""
    buffer = np.frombuffer(cupy.cuda.alloc_pinned_memory(1 << 30), values.dtype)
    start = time.perf_counter()
    for first in range(0, len(values), len(buffer)):
        piece = values[first : first + len(buffer)]
        piece.get(out=buffer[: len(piece)])
    return time.perf_counter() - start


def tell(row):
    rate = row.get("updates_per_second") or row["distances_per_second"]
    extra = f"  efficiency {row['efficiency']:.0%}" if "efficiency" in row else ""
    extra += f"  to the host {row['to_the_host']:.2f} s" if "to_the_host" in row else ""
    print(
        f"{row['method']:28s} {row['type']:8s} {'half ' if row.get('symmetric') else '     '}"
        f"n {row['vertices']:7d} {row['gpus']} GPUs {row['seconds']['least']:9.4f} s {rate / 1e12:8.3f} T/s  "
        f"{'right' if row['right'] else 'WRONG'}{extra}",
        flush=True,
    )
    return row


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = ["all", "tiles", "large", "several", "lanes"]
    parser.add_argument("part", nargs="?", choices=parts, default="all")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--vertices", type=int)
    options = parser.parse_args()
    rows, n, runs = [], options.vertices, options.runs
    if options.part in ("all", "tiles"):
        rows += tiles((n,) if n else SIZES, runs)
    if options.part == "large":
        rows += tiles((n or 100_000,), 1, (np.float32,))
    if options.part in ("all", "several"):
        rows += several(n or 65536, min(runs, 2))
    if options.part in ("all", "lanes"):
        rows += batched(n or 100_000, runs)
    name = "apsp-gpu" if options.part == "all" else f"apsp-gpu-{options.part}"
    record.write(name, rows, gpus=cupy.cuda.runtime.getDeviceCount())
    if not all(row["right"] for row in rows):
        sys.exit("some distances are WRONG")


if __name__ == "__main__":
    main()
