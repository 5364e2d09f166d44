"""Cycles through every vertex, beside other libraries where they count them.

    python bench/cycles.py triangles                        the six graphs of the CPU table, 2 threads
    python bench/cycles.py lengths --file com-dblp.ungraph.txt.gz
    python bench/cycles.py gpu [GRAPH ...] [--file com-dblp.ungraph.txt.gz]          one GPU: k = 3, 4, 5

Triangles per vertex: every library holds the graph in its own form before anything is timed, and all are
called in turn; a time is the least of all rounds.  Ours is the whole call, from rows as they are (``rows``)
and from rows by rank that are there already (``ranked``); what making either takes is told beside.
igraph: ``transitivity_local_undirected``, on one thread.  networkit: ``LocalClusteringCoefficient`` (turbo),
``TriangleEdgeScore``.  python-graphblas: ``plus_pair(A @ A)`` masked by ``A``, and the same by halves.

Lengths: counting alone for a graph from a file, and ranking.

On a GPU counting only is timed with device events, warm, median of nine, from scratch memory to the sums;
ranking the graph, making ready (tasks in order, tables), the first call (compiling), and whole public calls
on the same graph and on a new one of the same rows are columns of their own.  Every result is verified, or
its total is the published one.
"""

import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import families
import numpy as np
from harness import device_ms, in_turn, main, part, peers, seconds, spread, timed

import edgewise as ew
from edgewise.cycles import METHODS
from edgewise.cycles.counting.apex import wedges_of
from edgewise.cycles.counting.ranking import ranked_of
from edgewise.cycles.counting.triangles import triangle_counts
from edgewise.cycles.planning import heaviest_first
from edgewise.cycles.selection import select_method
from edgewise.device import threads
from edgewise.experiments.peers import igraph_graph, networkit_graph

GRAPHS = ["rmat20", "urand20", "rgg20", "delaunay20", "road1500", "comps2M"]
GPU_GRAPHS = ["rmat20", "uniform22", "rgg21"]
#: Seconds from which on one run is enough.
LONG = 8
#: Cycles of com-DBLP by length, and milliseconds that G2Miner takes on an H200 for each total.
DBLP = {3: 2_224_385, 4: 55_107_655, 5: 3_449_276_253, 6: 281_926_360_540}
G2MINER = {int(length): ms for length, ms in peers("gpu-cycles")[0]["ms"].items()}
#: Bytes a millisecond, and wedges a millisecond (an entry read and one more in a counter).
BANDWIDTH, WEDGES = 4.3e9, 1.07e9


# -- Triangles on CPU cores, beside other libraries ----------------------------------------------------------


def of_coefficients(graph):
    """What turns clustering coefficients of vertices into triangles."""
    ends = np.concatenate([graph.sources, graph.targets])
    pairs = np.bincount(ends, minlength=graph.n_vertices)
    pairs = pairs * (pairs - 1) // 2
    return lambda found: np.rint(np.array(found) * pairs).astype(np.int64)


def of_igraph(graph, count):
    made = igraph_graph(graph, False)
    find = partial(made.transitivity_local_undirected, mode="zero")
    return {"igraph": (find, of_coefficients(graph))}


def of_networkit(graph, count):
    nk, made = networkit_graph(graph, False)
    nk.setNumberOfThreads(count)
    made.indexEdges()
    vertices = partial(nk.centrality.LocalClusteringCoefficient, made, True)
    edges = partial(nk.sparsification.TriangleEdgeScore, made)
    return {
        "networkit": (lambda: vertices().run().scores(), of_coefficients(graph)),
        "networkit (edges)": (lambda: edges().run().scores(), None),
    }


def of_graphblas(graph, count):
    import graphblas
    from graphblas.semiring import plus_pair

    graphblas.ss.config["nthreads"] = count
    ends = (graph.sources, graph.targets), (graph.targets, graph.sources)
    whole = graphblas.Matrix.from_coo(*map(np.concatenate, ends), True, nrows=graph.n_vertices)
    low, high = graphblas.select.tril(whole, -1).new(), graphblas.select.triu(whole, 1).new()

    def at_once():
        return plus_pair(whole @ whole).new(mask=whole.S).reduce_rowwise().new()

    def by_halves():
        below = plus_pair(low @ low.T).new(mask=low.S)
        above = plus_pair(high @ high.T).new(mask=high.S)
        sums = below.reduce_rowwise().new()
        sums(graphblas.binary.plus) << below.reduce_columnwise()
        sums(graphblas.binary.plus) << above.reduce_rowwise()
        return sums

    return {
        "graphblas": (at_once, lambda vector: vector.to_dense(fill_value=0) // 2),
        "graphblas (halves)": (by_halves, lambda vector: vector.to_dense(fill_value=0)),
    }


PEERS = {"igraph": of_igraph, "networkit": of_networkit, "graphblas": of_graphblas}


def triangles(given):
    """Triangles through every vertex on CPU cores, beside other libraries."""
    for name in given.graphs:
        graph = families.graph(name)
        for count in given.threads:
            threads.use(count)
            yield {"graph": name, "threads": count} | triangles_row(graph, count, given)


def triangles_row(graph, count, given):
    """Least times of every way, and the ratio to the fastest peer."""
    held = ew.Graph(graph.n_vertices, rows=(graph.offsets, graph.neighbours, None))
    ranked, simple = ranked_of(graph), graph.simplified()
    ranking = ranking_of(graph)

    def from_rows():
        held._cache.clear()  # ranks that the call before has left
        return ew.cycle_counts(held, 3).counts

    ways = {
        "rows": (from_rows, np.asarray),
        "ranked": (lambda: triangle_counts(ranked)[ranked.rank], np.asarray),
    }
    for peer, make in PEERS.items():
        ways |= make(simple, count) if find_spec(peer) and peer not in given.without else {}
    times = in_turn(ways, given.rounds, runs=given.runs, long=LONG)
    spent = in_turn(ways, 1, clock=time.process_time)
    least = {way: 1e3 * min(found) for way, found in times.items()}
    peer = min((way for way in least if way not in ("rows", "ranked")), key=least.get, default=None)
    row = {"ms": least, "cpu_ms": {way: 1e3 * min(found) for way, found in spent.items()}}
    row |= {"ranking_ms": 1e3 * ranking, "fastest_peer": peer}
    return row | {"ratio": least["rows"] / least[peer] if peer else None}


def ranking_of(graph):
    """Seconds of ranking a graph."""
    graph._cache.clear()
    return seconds(partial(ranked_of, graph))


# -- Lengths of cycles on CPU cores --------------------------------------------------------------------------


def lengths(given):
    """Cycles of several lengths of a graph from a file, on CPU cores."""
    graph, reading = timed(partial(ew.read, given.file))
    ranking = min(ranking_of(graph) for _ in range(1 + given.rounds))
    given.facts |= {"file": Path(given.file).name, "reading": reading, "ranking": ranking}
    for count in given.threads:
        threads.use(count)
        for length in given.lengths:
            yield length_row(graph, length, count, given.rounds)


def length_row(graph, length, count, rounds):
    """Least seconds of counting, and of the processor."""
    spent, times = [], []
    for _ in range(rounds + 1):
        before = time.process_time()
        result = ew.cycle_counts(graph, length)
        spent.append(time.process_time() - before)
        times.append(result.seconds)
        if len(times) > 1 and result.seconds > LONG:
            break
    row = {"length": length, "method": result.method, "threads": count, "total": result.total}
    row |= {"right": graph.n_vertices != 317_080 or result.total == DBLP[length]}
    return row | {"seconds": min(times[1:]), "cpu_seconds": min(spent[1:])}


# -- GPUs ----------------------------------------------------------------------------------------------------


def gpu(given):
    """Cycles of three to five vertices on one GPU."""
    named = {"com-DBLP": lambda: ew.read(given.file).to("cuda")} if given.file else {}
    named |= {name: partial(families.graph, name, "cuda") for name in given.graphs}
    for name, make in named.items():
        graph = make()
        ranked_of(graph)  # compiles
        ranking = ranking_of(graph)
        ranked = ranked_of(graph)
        wedges = int(wedges_of(ranked)[1].sum())
        facts = {"graph": name, "vertices": graph.n_vertices, "edges": len(ranked.neighbours) // 2}
        for length in (3, 4, 5):
            published = DBLP[length] if name == "com-DBLP" else None
            row = gpu_row(graph, ranked, wedges, length, published)
            yield {**facts, "wedges": wedges, "length": length, "ranking_ms": 1e3 * ranking, **row}


def gpu_row(graph, ranked, wedges, length, published):
    """Figures of a length: counting, what comes before, and whole calls."""
    method = select_method(length)
    found = METHODS[method]

    def ready():
        order = heaviest_first(found.work(ranked, length))
        return order, found.run(ranked, order, length)

    order, solver = ready()
    first = seconds(lambda: solver.count(0, len(order)))
    (order, solver), making_ready = timed(ready)

    def act():
        solver.begin()
        solver.count(0, len(order))
        return solver.counts

    ms = device_ms(act)
    result, whole = timed(partial(ew.cycle_counts, graph, length))
    moved = 4 * len(ranked.neighbours) + 16 * ranked.n_vertices
    rows = graph.offsets, graph.neighbours, None
    return {
        "method": method,
        "total": result.total,
        "right": result.total == published if published else bool(result.verify()),
        "ms": ms,
        "ready_ms": 1e3 * making_ready,
        "first_s": first,
        "call_ms": 1e3 * whole,
        "warm_call_ms": calls_ms(lambda: graph, length),
        "fresh_call_ms": calls_ms(lambda: ew.Graph(graph.n_vertices, rows=rows), length),
        "floor_ms": max(moved / BANDWIDTH, 0 if length == 3 else wedges / WEDGES),
        "g2miner_ms": G2MINER[length] if published else None,
    }


def calls_ms(make, length):
    """Milliseconds of the whole public call on a graph that ``make()`` returns, median of seven."""
    return 1e3 * spread([seconds(partial(ew.cycle_counts, make(), length)) for _ in range(7)])["median"]


TIMES = {"threads": [2], "rounds": 3}
PARTS = {
    "triangles": part(
        "cycles-cpu-triangles",
        triangles,
        key=("graph", "threads"),
        graphs=GRAPHS,
        runs=5,
        without=str,
        **TIMES,
    ),
    "lengths": part("cycles-cpu-lengths", lengths, file="", lengths=[3, 4, 5, 6], **TIMES),
    "gpu": part("cycles-gpu", gpu, key=("graph", "length"), graphs=GPU_GRAPHS, file=""),
}

if __name__ == "__main__":
    main(__doc__, PARTS)
