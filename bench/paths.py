"""Breadth-first search and shortest paths against their peers.

    GAPBS=folder python bench/paths.py bfs --threads 1 2      the six graphs of the CPU table
    GAPBS=folder python bench/paths.py sssp road1500          weights 1 to 10, 1 to 255 and 1 to 10,000
    python bench/paths.py gpu                                 the four graphs of the GPU table
    python bench/paths.py tiles                               all pairs by Floyd-Warshall in tiles on one GPU
    python bench/paths.py large                               the same with 100,000 vertices, float32 (40 GB)
    python bench/paths.py several                             on 1, 2, 4 ... GPUs, n = 65,536
    python bench/paths.py lanes                               batched searches: 100,000 vertices, degree 6

On the CPU ours is the whole call, ids and result included; GAP's ``bfs`` and ``sssp`` (in the folder
``$GAPBS``) run in turn from the same sources, with the best ``delta`` of a small set.  Sources lie in the
largest component; in the graph of small components, in components of 19.  Breadth-first search has three,
whose least times are added.  All distances are compared with those of the first method, which are verified.

On a GPU the search is from the vertex of highest degree, weights 1 to 100 (roads 1 to 10,000), timed with
device events, warm, median of nine, the rows resident; making the graph, its rows and the first call
(compiling) are columns of their own.  Contraction hierarchies are measured by ``surface.py --prepared``.

Matrices of all pairs lie on the GPUs, transfers are not timed; times are of the host, least of ``--runs``.
Updates are n^3 / time, also where a symmetric matrix takes half of them.  A sample of distances must be the
least of all ``D[i, k] + D[k, j]``, rows on several GPUs have the sums of those on one, the lanes' rows are
those of SciPy's search.
"""

import operator
import tempfile
from functools import partial
from pathlib import Path

import families
import harness
import numpy as np
import peer_programs
from harness import compared, device_ms, free, groups, in_turn, main, ms_of, part, seconds, spread, timed

import edgewise as ew
from edgewise.device import arrays, threads
from edgewise.experiments.peers import scipy_matrix
from edgewise.paths.apsp import floyd_warshall_gpu, warp_lanes
from edgewise.paths.bfs import METHODS as BFS
from edgewise.paths.bfs import NO_CUTOFF, bfs
from edgewise.paths.csr import adjacency_of, unreached
from edgewise.paths.sssp import METHODS as SSSP
from edgewise.paths.sssp import shortest_paths
from edgewise.paths.sssp.weights import limit_in, rows_in
from edgewise.primitives.min_plus import padded

GRAPHS = ["rmat20", "urand20", "rgg20", "delaunay20", "road1500", "comps2M"]
GPU_GRAPHS = ["rmat22", "uniform22", "rgg21", "road4096-dense"]
#: Largest weights, and the widths that GAP may choose from; the last is for roads only.
DELTAS = {10: (1, 2, 4), 255: (4, 8, 16, 32, 64), 10_000: (512, 2048, 8192)}
#: Methods on the CPU; the others are for GPUs, or look at every vertex in every round.
BFS_METHODS = ["auto", "top-down", "direction-optimising"]
SSSP_METHODS = ["auto", "bellman-ford", "dijkstra"]
#: Number of vertices of a small component.
SMALL = 19
#: Bytes a millisecond; 4 move, or 8 with weights, for each entry of a reached vertex, and 28 for a vertex.
BANDWIDTH = 4.3e9
#: The teaching methods make a pass over all vertices a round: not thousands of them.
SLOW = {("harish", "road4096-dense")}
#: Vertices of all pairs, and from which number on one run must do; random weights are from 1 to this number.
SIZES, LONG, WEIGHTS = [4096, 8192, 16384, 32768], 60_000, 1 << 20


# -- CPU cores -----------------------------------------------------------------------------------------------


def on_cores(search, given):
    """Searches on CPU cores, beside GAP's program."""
    with tempfile.TemporaryDirectory() as folder:
        for name in given.graphs:
            plain, is_bfs = families.graph(name), search is bfs
            sources = sources_of(plain, 3 if is_bfs else 1)
            for largest in (0,) if is_bfs else [*DELTAS][: 3 if name.startswith("road") else 2]:
                graph = ew.generate.with_weights(plain, 1, largest) if largest else plain
                graph.offsets  # noqa: B018  rows are there before anything is timed
                file = Path(folder) / ("graph.wsg" if largest else "graph.sg")
                if peer_programs.is_there("GAPBS"):
                    ew.write(graph, file)
                for count in given.threads:
                    threads.use(count)
                    if is_bfs:
                        yield from bfs_rows({"graph": name, "threads": count}, graph, sources, file, given)
                    else:
                        facts = {"graph": name, "weights": largest, "threads": count}
                        yield from weighted_rows(facts, graph, *sources, file, given)


def bfs_rows(facts, graph, sources, file, given):
    """A row for every method, with the sum of the least times from each source."""
    found = [times_of(bfs, graph, one, file, given) for one in sources]
    least = {side: 1e3 * sum(min(times[side]) for times in found) for side in found[0]}
    theirs = least.pop("gapbs", 0.0)
    for method, ms in least.items():
        chosen = bfs(graph, sources[0], method=method).method
        row = {**facts, "method": method, "chosen": chosen, "ms": ms, "gapbs_ms": theirs}
        yield row | {"ratio": ms / theirs if theirs else None}


def weighted_rows(facts, graph, source, file, given):
    """A row for every method, and for GAP's program."""
    delta = None
    if peer_programs.is_there("GAPBS"):
        trial = partial(peer_programs.gapbs, "sssp", file, threads=facts["threads"], trials=3, source=source)
        delta = min(DELTAS[facts["weights"]], key=lambda one: min(trial(delta=one)))
    times = times_of(shortest_paths, graph, source, file, given, delta)
    least = min(times.get("gapbs", [0]))
    for method, spent in times.items():
        ratio = min(spent) / least if least and method != "gapbs" else None
        row = {**facts, "gapbs_delta": delta, "method": method, "auto": method == "auto"}
        yield row | {"ms": ms_of(spent), "ratio": ratio}


def times_of(search, graph, source, file, given, delta=None):
    """Seconds of every method, and of GAP's program, from one source."""
    search(graph, source, method=given.methods[-1]).verify()
    read = operator.attrgetter("distances")
    ways = {method: (partial(search, graph, source, method=method), read) for method in given.methods}
    if peer_programs.is_there("GAPBS"):
        call, count = search.__name__.replace("shortest_paths", "sssp"), threads.count()
        more = {"threads": count, "trials": given.runs, "source": source, "delta": delta}
        ways = {"gapbs": partial(peer_programs.gapbs, call, file, **more)} | ways
    return in_turn(ways, given.rounds, runs=given.runs)


def sources_of(graph, count):
    """Fixed vertices of the largest component, or of components of 19 where all are small."""
    result = ew.connected_components(graph)
    if result.largest > graph.n_vertices // 4:
        chosen = np.flatnonzero(result.labels == result.roots[result.sizes().argmax()])
    else:
        chosen = result.roots[result.sizes() == SMALL]
    return np.random.default_rng(1).choice(chosen, count, replace=False).tolist()


def beside_gapbs(rows):
    """Ratios of `auto` to GAP's program."""
    for count, mine in groups(rows, "threads"):
        auto = [row for row in mine if row["method"] == "auto"]
        yield from compared(
            f"{count} threads: auto / gapbs", [(row["graph"], row["ratio"], 1) for row in auto]
        )


# -- One GPU -------------------------------------------------------------------------------------------------


def gpu(given):
    """Every method of both searches on one GPU."""
    import cupy

    for name in given.graphs:
        heaviest = 10_000 if name.startswith("road") else 100
        graph, made = timed(lambda: ew.generate.with_weights(families.graph(name, "cuda"), 1, heaviest))  # noqa: B023
        _, built = timed(lambda: graph.offsets)  # noqa: B023
        source = int(cupy.diff(graph.offsets).argmax())
        facts = {"graph": name, "vertices": graph.n_vertices, "entries": len(graph.neighbours)}
        facts |= {"source": source, "generate_s": made, "rows_s": built}
        views = {"bfs": (BFS, adjacency_of(graph), NO_CUTOFF)}
        views["sssp"] = SSSP, rows_in(graph, "int32"), limit_in(None, np.int32)
        for problem, (methods, view, limit) in views.items():
            for method, found in methods.items():
                if "cuda" in found.devices and found.directed and (method, name) not in SLOW:
                    act = partial(distances, found.run, view, np.array([source]), limit)
                    yield {
                        **facts,
                        "problem": problem,
                        "method": method,
                        **gpu_row(problem, name, view, source, act),
                    }


def distances(run, view, sources, limit):
    """Distances by a method on a GPU."""
    found = run(view, sources, limit)
    return found[0] if isinstance(found, tuple) else found


def gpu_row(problem, name, view, source, act):
    """Figures of a method, beside the bytes that must move and the fastest peer."""
    import cupy

    found, first = timed(act)
    reached = found != unreached(np.int32)
    moved = float((cupy.diff(view.offsets) * reached).sum()) * (4 if problem == "bfs" else 8)
    theirs = [peer["ms"] for peer in harness.peers("gpu-searches") if peer["problem"] == problem]
    return {
        "right": is_right(view, found, source),
        "reached": int(reached.sum()),
        "furthest": int(found[reached].max()),
        "ms": device_ms(act),
        "first_s": first,
        "floor_ms": (moved + 28 * len(found)) / BANDWIDTH,
        "best_peer_ms": min((ms[name] for ms in theirs if name in ms), default=None),
    }


def is_right(view, distances, source, at_once=1 << 20):
    """Whether every distance is the least that the neighbours offer; the rows go both ways."""
    import cupy
    import cupyx

    none, n = int(unreached(np.int32)), len(distances)
    least = cupy.full(n, none, np.int64)
    for first in range(0, n, at_once):
        begin, end = (int(view.offsets[v]) for v in (first, min(first + at_once, n)))
        if begin == end:
            continue
        row = cupy.searchsorted(view.offsets, cupy.arange(begin, end), side="right") - 1
        offered = distances[view.neighbours[begin:end]].astype(np.int64)
        step = view.weights[begin:end] if len(view.weights) else 1
        cupyx.scatter_min(least, row, cupy.where(offered == none, none, offered + step))
    least[source] = 0
    return bool((least == distances).all())


# -- All pairs on GPUs --------------------------------------------------------------------------------------


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
        least = graph.simplified(repeated="min")
        expected = dijkstra(scipy_matrix(least, True), indices=some)
        none = np.iinfo(np.int32).max
        expected = np.where(np.isinf(expected), none, expected)
        right = all(np.array_equal(into[s * n : (s + 1) * n].get(), row) for s, row in zip(some, expected))
        row = {"method": "sssp, lanes", "type": "int32", "vertices": n, "edges": 3 * n, "gpus": 1}
        row |= {"seconds": spent, "distances_per_second": n * n / spent["least"]}
        yield row | {"right": right}
        del into


KEY = ("type", "symmetric", "vertices", "gpus")
BOTH = partial(tiles, (np.int32, np.float32))
CPU = {"key": ("graph", "weights", "threads", "method"), "summary": beside_gapbs, "graphs": GRAPHS}
PARTS = {
    "bfs": part("bfs-cpu", partial(on_cores, bfs), **CPU, threads=[2], methods=BFS_METHODS, rounds=5, runs=5),
    "sssp": part(
        "sssp-cpu",
        partial(on_cores, shortest_paths),
        **CPU,
        threads=[1, 2],
        methods=SSSP_METHODS,
        rounds=8,
        runs=3,
    ),
    "gpu": part("paths-gpu", gpu, key=("graph", "problem", "method"), graphs=GPU_GRAPHS),
    "tiles": part("apsp-gpu-tiles", BOTH, key=KEY, vertices=SIZES, runs=3),
    "large": part("apsp-gpu-large", partial(tiles, (np.float32,)), key=KEY, vertices=[100_000], runs=1),
    "several": part("apsp-gpu-several", several, key=KEY, vertices=[65536], runs=2),
    "lanes": part("apsp-gpu-lanes", lanes, key=KEY, vertices=[100_000], runs=3),
}

if __name__ == "__main__":
    main(__doc__, PARTS)
