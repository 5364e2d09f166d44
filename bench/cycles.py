"""Cycles through every vertex on CPU threads, beside Python's other graph libraries where they count them.

    python bench/cycles.py triangles                  the six graphs of the CPU table, 2 threads
    python bench/cycles.py triangles rmat20 --rounds 1
    python bench/cycles.py lengths --file com-dblp.ungraph.txt.gz

Triangles per vertex: every library holds the graph in its own form before anything is timed, and all are
called in turn; a time is the least of all rounds.  Ours is the whole call, from rows as they are (``rows``)
and from rows by rank that are there already (``ranked``); what making either takes is told beside.
igraph: ``transitivity_local_undirected``, on one thread.  networkit: ``LocalClusteringCoefficient`` (turbo),
``TriangleEdgeScore``.  python-graphblas: ``plus_pair(A @ A)`` masked by ``A``, and the same by halves.

Lengths: counting alone for a graph from a file, by every method that is fast enough, ranking, and the command
from the file to a file.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import record

import edgewise as ew
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.cycles.counting.triangles import triangle_counts, whole
from edgewise.device import threads as thread_count
from edgewise.graph import Graph

GRAPHS = ("rmat20", "urand20", "rgg20", "delaunay20", "road1500", "comps2M")
#: Seconds from which on one run is enough, and seconds of ours in a round at least.
LONG, SPAN = 8, 0.5
#: Length, method and most runs; the totals of com-DBLP.
WAYS = (3, "auto"), (4, "auto"), (5, "auto"), (6, "auto")
DBLP = {3: 2_224_385, 4: 55_107_655, 5: 3_449_276_253, 6: 281_926_360_540}


def igraph_triangles(n, sources, targets, threads):
    import igraph

    graph = igraph.Graph(n=n, edges=np.column_stack([sources, targets]))
    degree = np.array(graph.degree())

    def counts(coefficients):
        return np.rint(np.array(coefficients) * (degree * (degree - 1) // 2)).astype(np.int64)

    return {"igraph": (lambda: graph.transitivity_local_undirected(mode="zero"), counts)}


def networkit_triangles(n, sources, targets, threads):
    import networkit

    networkit.setNumberOfThreads(threads)
    ends = sources.astype(np.uint64), targets.astype(np.uint64)  # of others it makes nonsense
    graph = networkit.GraphFromCoo(ends, n=n)
    graph.indexEdges()
    degree = np.bincount(sources, minlength=n) + np.bincount(targets, minlength=n)

    def of_vertices():
        return networkit.centrality.LocalClusteringCoefficient(graph, True).run().scores()

    def of_edges():
        return networkit.sparsification.TriangleEdgeScore(graph).run().scores()

    def counts(coefficients):
        return np.rint(np.array(coefficients) * (degree * (degree - 1) // 2)).astype(np.int64)

    return {"networkit": (of_vertices, counts), "networkit (edges)": (of_edges, None)}


def graphblas_triangles(n, sources, targets, threads):
    import graphblas
    from graphblas.semiring import plus_pair

    graphblas.ss.config["nthreads"] = threads
    ends = np.concatenate([sources, targets]), np.concatenate([targets, sources])
    whole_matrix = graphblas.Matrix.from_coo(*ends, True, nrows=n, ncols=n)
    low = graphblas.select.tril(whole_matrix, -1).new()
    high = graphblas.select.triu(whole_matrix, 1).new()

    def at_once():
        found = plus_pair(whole_matrix @ whole_matrix).new(mask=whole_matrix.S)
        return found.reduce_rowwise().new()

    def by_halves():
        below = plus_pair(low @ low.T).new(mask=low.S)
        above = plus_pair(high @ high.T).new(mask=high.S)
        sums = below.reduce_rowwise().new()
        sums(graphblas.binary.plus) << below.reduce_columnwise()
        sums(graphblas.binary.plus) << above.reduce_rowwise()
        return sums

    def counts(vector, divisor):
        return vector.to_dense(fill_value=0) // divisor

    return {
        "graphblas": (at_once, lambda vector: counts(vector, 2)),
        "graphblas (halves)": (by_halves, lambda vector: counts(vector, 1)),
    }


PEERS = (igraph_triangles, networkit_triangles, graphblas_triangles)


def triangles(names, threads, rounds):
    rows = []
    for name in names or GRAPHS:
        graph = ew.generate.named(name)
        rows += [beside_peers(name, graph, count, rounds) for count in threads]
    record.write("cycles-cpu-triangles", rows)


def beside_peers(name, graph, threads, rounds):
    thread_count.use(threads)
    as_rows = Graph(graph.n_vertices, rows=(graph.offsets, graph.neighbours, None))
    whole(as_rows, float("inf")).solve()  # compiled
    as_rows._cache.clear()
    ranked, ranking = timed(lambda: ranked_of(graph))
    expected = triangle_counts(ranked)[ranked.rank]
    simple = graph.simplified()

    def from_rows():
        as_rows._cache.clear()  # ranks that the call before has left
        return ew.cycle_counts(as_rows, 3).counts

    ways = {
        "rows": (from_rows, lambda counts: counts),
        "ranked": (lambda: triangle_counts(ranked)[ranked.rank], lambda counts: counts),
    }
    for peer in PEERS:
        ways |= peer(graph.n_vertices, simple.sources, simple.targets, threads)
    times, spent = {way: [] for way in ways}, {way: [] for way in ways}
    for _ in range(rounds):
        for way, (call, counts) in ways.items():
            if times[way] and min(times[way]) > LONG:
                continue
            measure(call, counts, expected, times[way], spent[way])
    return told(name, threads, times, spent, ranking)


def measure(call, counts, expected, times, spent):
    """Run until half a second has passed; the first result is checked."""
    first = not times
    total = 0.0
    while total < SPAN:
        before = time.process_time()
        result, seconds = timed(call)
        spent.append(time.process_time() - before)
        times.append(seconds)
        total += seconds
        if first and counts is not None:
            assert np.array_equal(counts(result), expected)
        first = False


def told(name, threads, times, spent, ranking):
    least = {way: 1e3 * min(found) for way, found in times.items()}
    ours = least["rows"]
    peer = min((way for way in least if way not in ("rows", "ranked")), key=least.get)
    print(
        f"{name}, {threads} threads: {ours / least[peer]:.2f} of {peer};",
        ", ".join(f"{way} {least[way]:.1f}" for way in sorted(least, key=least.get)),
        f"(ranking {1e3 * ranking:.0f})",
        flush=True,
    )
    return {
        "graph": name,
        "threads": threads,
        "ms": least,
        "cpu_ms": {way: 1e3 * min(found) for way, found in spent.items()},
        "ranking_ms": 1e3 * ranking,
        "fastest_peer": peer,
        "ratio": ours / least[peer],
    }


def timed(call):
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def lengths(file, threads, rounds):
    graph, reading = timed(lambda: ew.read(file))
    rows = []
    for count in threads:
        thread_count.use(count)
        rows += [of_length(graph, length, method, count, rounds) for length, method in WAYS]
    graph._cache.clear()
    ranking = min(ranking_of(graph) for _ in range(rounds))
    print(f"reading {reading:.2f} s, ranking {ranking:.3f} s")
    rows += [from_file_to_file(file, length, rounds) for length in (3, 4, 5)]
    record.write("cycles-cpu-lengths", rows, file=Path(file).name, reading=reading, ranking=ranking)


def ranking_of(graph):
    graph._cache.clear()
    return timed(lambda: ranked_of(graph))[1]


def of_length(graph, length, method, threads, rounds):
    ranked_of(graph)
    spent, times = [], []
    ew.cycle_counts(graph, length, method=method)
    for _ in range(rounds):
        before = time.process_time()
        result = ew.cycle_counts(graph, length, method=method)
        spent.append(time.process_time() - before)
        times.append(result.seconds)
        if result.seconds > LONG:
            break
    if graph.n_vertices == 317_080:
        assert result.total == DBLP[length]
    seconds, cpu = min(times), min(spent)
    print(
        f"k = {length}, {result.method}, {threads} threads: {seconds:.3f} s, {cpu:.3f} s of CPU", flush=True
    )
    named = {"length": length, "method": result.method, "threads": threads, "total": result.total}
    return {**named, "seconds": seconds, "cpu_seconds": cpu}


def from_file_to_file(file, length, rounds):
    """Seconds of the command; the least, and only those that compile nothing."""
    with tempfile.TemporaryDirectory() as folder:
        target = str(Path(folder) / "counts.parquet")
        words = ["cycles", file, "--length", str(length), "-o", target, "--quiet"]
        command = [sys.executable, "-m", "edgewise", *words]
        runs = [timed(lambda: subprocess.run(command, check=True))[1] for _ in range(rounds + 1)]
    print(f"k = {length}, from file to file: {min(runs):.2f} s", flush=True)
    return {"length": length, "method": "command", "seconds": min(runs)}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("triangles", "lengths"))
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--file")
    parser.add_argument("--threads", type=int, nargs="*", default=[2])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.what == "triangles":
        triangles(options.graphs, options.threads, options.rounds)
    else:
        lengths(options.file, options.threads, options.rounds)


if __name__ == "__main__":
    main()
