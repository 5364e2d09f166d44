"""All pairs shortest paths against their peers.

    python bench/all_pairs.py cpu             n = 4000 of mean degree 6, weights 1-10; dense n = 1024 to 4096
    python bench/all_pairs.py tiles           Floyd-Warshall in tiles on one GPU
    python bench/all_pairs.py large           the same with 100,000 vertices, float32 (40 GB)
    python bench/all_pairs.py several         on 1, 2, 4 ... GPUs, n = 65,536
    python bench/all_pairs.py lanes           batched search: 100,000 vertices, mean degree 6, weights 1-10

On the CPU ours, SciPy and networkit run in turn, and all distances are compared.

On GPUs matrices lie there, transfers are not timed; times are of the host with all GPUs synchronised before
and after, the least of ``--runs``.  ``T updates/s`` is n^3 / time, also where a symmetric matrix takes half
of the updates.  Results are checked: a sample of distances must be the least of all ``D[i, k] + D[k, j]``,
rows on several GPUs have the sums of those on one, the lanes' rows are those of Dijkstra's search.
"""

import time
from functools import partial
from importlib.util import find_spec

import numpy as np
from harness import free, in_turn, main, part, seconds, spread

import edgewise as ew
from edgewise.device import arrays, threads
from edgewise.experiments.peers import networkit_graph, scipy_matrix
from edgewise.paths.apsp import floyd_warshall_gpu, warp_lanes
from edgewise.paths.csr import adjacency_of
from edgewise.primitives.min_plus import padded

SIZES = [4096, 8192, 16384, 32768]
#: Random weights of matrices on GPUs are from 1 to this number.
WEIGHTS = 1 << 20
#: Vertices of a matrix from which on one run must do, and of the largest that SciPy closes several times.
LONG, SHORT = 60_000, 1024


# -- CPU cores -----------------------------------------------------------------------------------------------


def cpu(given):
    """A sparse graph and matrices of dense ones on CPU cores, beside SciPy and networkit."""
    given.facts["threads"] = threads.count()
    yield from cpu_rows(f"random, degree {given.degree}", *sparse(given), given.runs)
    for vertices in given.dense:
        yield from cpu_rows("dense", *dense(vertices), given.runs, vertices**3)


def sparse(given):
    """A sparse graph and the ways of all pairs: random ends, weights 1 to 10, nothing repeated."""
    from scipy.sparse.csgraph import dijkstra, johnson

    rng = np.random.default_rng(0)
    ends = rng.integers(0, given.vertices, (2, given.vertices * given.degree // 2))
    weights = rng.integers(1, 11, ends.shape[1], dtype=np.int32)
    graph = ew.Graph.from_edges(*ends, weights=weights, n_vertices=given.vertices).simplified(repeated="min")
    matrix = scipy_matrix(graph, True)
    ways = {method: partial(solved, graph, method) for method in ("sssp", "johnson", "floyd-warshall")}
    ways |= {"scipy dijkstra": partial(dijkstra, matrix), "scipy johnson": partial(johnson, matrix)}
    if find_spec("networkit"):
        for count in {threads.count(), 1}:
            name = f"networkit, {count} thread" + "s" * (count > 1)
            ways[name] = partial(by_networkit, networkit_graph(graph, True)[1], count)
    return graph, ways


def dense(vertices):
    """A complete graph with random weights, and the ways of its closure."""
    from scipy.sparse.csgraph import floyd_warshall

    matrix = np.random.default_rng(1).integers(1, 1000, (vertices, vertices)).astype(np.int32)
    np.fill_diagonal(matrix, 0)
    targets, offsets = np.tile(np.arange(vertices), vertices), np.arange(vertices + 1) * vertices
    graph = ew.Graph.from_csr(offsets, targets, weights=matrix.ravel(), directed=True)
    ways = {"floyd-warshall": partial(solved, graph, "floyd-warshall")}
    if vertices <= SHORT:
        ways["floyd-warshall-simple"] = partial(solved, graph, "floyd-warshall-simple")
    return graph, ways | {"scipy floyd_warshall": partial(floyd_warshall, matrix.astype(float))}


def solved(graph, method):
    """Distances by a method of ours."""
    return ew.all_pairs_shortest_paths(graph, method=method)


def by_networkit(graph, count):
    """networkit's search from all vertices."""
    import networkit

    networkit.setNumberOfThreads(count)
    return networkit.distance.APSP(graph).run()


def distances_of(found):
    """Distances of any way, infinite where there is no path."""
    if hasattr(found, "unreached"):
        return np.where(found.distances == found.unreached, np.inf, found.distances.astype(float))
    found = np.array(found.getDistances()) if hasattr(found, "getDistances") else found
    return np.where(found > 1e300, np.inf, found)


def cpu_rows(kind, graph, ways, runs, updates=None):
    """A row for each way, with the time of the best peer in units of ours."""
    expected = distances_of(next(reversed(ways.values()))())

    def check(name, found):
        assert (distances_of(found) == expected).all(), name

    once = ("scipy floyd_warshall",) if graph.n_vertices > SHORT else ()
    times = in_turn(ways, runs, check=check, once=once)
    best = min(min(spent) for name, spent in times.items() if " " in name)
    for name, spent in times.items():
        row = {"graph": kind, "vertices": graph.n_vertices, "way": name, "s": spread(spent)}
        if " " not in name:
            row |= {"speedup": best / min(spent)}
            row |= {"g_updates_s": updates / min(spent) / 1e9} if updates else {}
        yield row


# -- GPUs ----------------------------------------------------------------------------------------------------


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
    "cpu": part("apsp-cpu", cpu, vertices=4000, degree=6, dense=[1024, 2048, 4096], runs=5),
    "tiles": part("apsp-gpu-tiles", partial(tiles, BOTH), key=KEY, vertices=SIZES, runs=3),
    "large": part("apsp-gpu-large", partial(tiles, ONE), key=KEY, vertices=[100_000], runs=1),
    "several": part("apsp-gpu-several", several, key=KEY, vertices=[65536], runs=2),
    "lanes": part("apsp-gpu-lanes", lanes, key=KEY, vertices=[100_000], runs=3),
}

if __name__ == "__main__":
    main(__doc__, PARTS)
