"""All pairs shortest paths on GPUs.

    python bench/all_pairs.py tiles           Floyd-Warshall in tiles on one GPU
    python bench/all_pairs.py large           the same with 100,000 vertices, float32 (40 GB)
    python bench/all_pairs.py several         on 1, 2, 4 ... GPUs, n = 65,536
    python bench/all_pairs.py lanes           batched search: 100,000 vertices, mean degree 6, weights 1-10

Matrices lie on the GPUs, transfers are not timed; times are of the host with all GPUs synchronised before
and after, the least of ``--runs``.  ``T updates/s`` is n^3 / time, also where a symmetric matrix takes half
of the updates.  Results are checked: a sample of distances must be the least of all ``D[i, k] + D[k, j]``,
rows on several GPUs have the sums of those on one, the lanes' rows are those of Dijkstra's search.
"""

import time
from functools import partial

import numpy as np
from harness import free, main, part, seconds, spread

import edgewise as ew
from edgewise.device import arrays
from edgewise.experiments.peers import scipy_matrix
from edgewise.paths.apsp import floyd_warshall_gpu, warp_lanes
from edgewise.paths.csr import adjacency_of
from edgewise.primitives.min_plus import padded

SIZES = [4096, 8192, 16384, 32768]
#: Random weights of matrices on GPUs are from 1 to this number.
WEIGHTS = 1 << 20
#: Vertices of a matrix from which on one run must do.
LONG = 60_000


def fill(rows, first, stride, kind, symmetric=False, at_once=128):
    """Random weights between all pairs, for ``rows`` rows from ``first`` on; a function of the pair alone."""
    import cupy

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


def is_closed(matrix, stride, pairs=64):
    """Whether a sample of entries is the least over all ways through a third vertex."""
    import cupy

    for i, j in np.random.default_rng(3).integers(0, stride, (pairs, 2)).tolist():
        best = (matrix[i * stride : (i + 1) * stride] + matrix[j::stride]).min()
        if not cupy.allclose(best, matrix[i * stride + j], rtol=1e-5):
            return False
    return True


def of_new(make, act, runs):
    """Spread of the seconds of ``act(make())``, and what was made last."""
    times, made = [], None
    for _ in range(runs):
        made = None
        free()
        made = make()
        times.append(seconds(partial(act, made)))
    return spread(times), made


def tiles(kinds, given):
    """Floyd-Warshall in tiles on one GPU."""
    given.facts["gpus"] = arrays.gpu_count()
    for kind in kinds:
        for symmetric in (False, True):
            how = {"symmetric": symmetric}
            floyd_warshall_gpu.solve(fill(256, 0, 256, kind, symmetric), 256, 256, **how)  # compiles
            for n in given.vertices:
                stride = padded(n)
                solve = partial(floyd_warshall_gpu.solve, n=n, stride=stride, **how)
                make = partial(fill, stride, 0, stride, kind, symmetric)
                spent, matrix = of_new(make, solve, 1 if n > LONG else given.runs)
                row = {"method": "floyd-warshall", "type": kind.__name__, "symmetric": symmetric}
                row |= {"vertices": stride, "gpus": 1, "seconds": spent}
                row["updates_per_second"] = stride**3 / spent["least"]
                yield row | {"right": is_closed(matrix, stride)}
                del matrix


def several(given):
    """The same matrix on more and more GPUs; efficiency against one."""
    given.facts["gpus"] = arrays.gpu_count()
    for n in given.vertices:
        one = sums = None
        for gpus in [size for size in (1, 2, 4, 8) if size <= arrays.gpu_count()]:
            spent, found = on_gpus(n, gpus, given.runs)
            one, sums = one or spent["least"], sums or found
            row = {"method": "floyd-warshall, rows split", "type": "int32", "vertices": n, "gpus": gpus}
            row |= {"seconds": spent, "updates_per_second": n**3 / spent["least"]}
            yield row | {"efficiency": one / spent["least"] / gpus, "right": found == sums}


def on_gpus(n, gpus, runs):
    """Spread of the seconds on some GPUs, and the sums of all rows."""
    import cupy

    stride = padded(n)
    shares = floyd_warshall_gpu.split_rows(stride, gpus)

    def make():
        parts, first = [], 0
        for number, high in enumerate(shares):
            with cupy.cuda.Device(number):
                parts.append(fill(high, first, stride, np.int32))
            first += high
        return parts

    for number in range(gpus):  # compiled on each before the clock runs
        with cupy.cuda.Device(number):
            floyd_warshall_gpu.solve_in_parts([fill(256, 0, 256, np.int32)], 256, 256)
    spent, parts = of_new(make, lambda made: floyd_warshall_gpu.solve_in_parts(made, n, stride), runs)
    sums = []
    for number, one in enumerate(parts):
        with cupy.cuda.Device(number):
            sums += one.reshape(-1, stride).sum(axis=1).tolist()
    return spent, sums


def lanes(given):
    """All pairs of a sparse graph by batched searches, the result on the GPU."""
    import cupy
    from scipy.sparse.csgraph import dijkstra

    given.facts["gpus"] = arrays.gpu_count()
    rng = np.random.default_rng(1)
    for n in given.vertices:
        ends, weights = rng.integers(0, n, (2, 3 * n)), rng.integers(1, 11, 3 * n).astype(np.int32)
        graph = ew.Graph.from_edges(*ends, weights=weights, n_vertices=n)
        there = graph.to("cuda")
        rows = adjacency_of(there, "int32", lambda there=there: there.csr_weights)
        sources = np.arange(n)
        warp_lanes.solve(rows, sources[:64], cupy.empty(64 * n, np.int32))
        solve = partial(warp_lanes.solve, rows, sources)
        spent, into = of_new(partial(cupy.empty, n * n, np.int32), solve, given.runs)
        some = [0, n // 3, n - 1]
        expected = dijkstra(least_matrix(graph), indices=some)
        none = np.iinfo(np.int32).max
        expected = np.where(np.isinf(expected), none, expected)
        right = all(np.array_equal(into[s * n : (s + 1) * n].get(), row) for s, row in zip(some, expected))
        row = {"method": "sssp, lanes", "type": "int32", "vertices": n, "edges": 3 * n, "gpus": 1}
        row |= {"seconds": spent, "distances_per_second": n * n / spent["least"]}
        yield row | {"to_the_host": copied(into), "right": right}
        del into


def least_matrix(graph):
    """SciPy's matrix of a graph, of which the least of repeated weights counts."""
    return scipy_matrix(graph.simplified(repeated="min"), True)


def copied(values):
    """Seconds to copy all values to the host, through a page-locked buffer of 1 GB."""
    import cupy

    buffer = np.frombuffer(cupy.cuda.alloc_pinned_memory(1 << 30), values.dtype)
    start = time.perf_counter()
    for first in range(0, len(values), len(buffer)):
        piece = values[first : first + len(buffer)]
        piece.get(out=buffer[: len(piece)])
    return time.perf_counter() - start


BOTH, ONE = (np.int32, np.float32), (np.float32,)
KEY = ("type", "symmetric", "vertices", "gpus")
PARTS = {
    "tiles": part("apsp-gpu-tiles", partial(tiles, BOTH), key=KEY, vertices=SIZES, runs=3),
    "large": part("apsp-gpu-large", partial(tiles, ONE), key=KEY, vertices=[100_000], runs=1),
    "several": part("apsp-gpu-several", several, key=KEY, vertices=[65536], runs=2),
    "lanes": part("apsp-gpu-lanes", lanes, key=KEY, vertices=[100_000], runs=3),
}

if __name__ == "__main__":
    main(__doc__, PARTS)
