"""Breadth-first search and shortest paths against their peers.

    GAPBS=folder python bench/paths.py bfs --threads 1 2      the six graphs of the CPU table
    GAPBS=folder python bench/paths.py sssp road1500          weights 1 to 10, 1 to 255 and 1 to 10,000
    python bench/paths.py gpu                                 the four graphs of the GPU table
    python bench/paths.py hierarchy                           by a contraction hierarchy and by levels

On the CPU ours is the whole call, ids and result included; GAP's ``bfs`` and ``sssp`` (in the folder
``$GAPBS``) run in turn from the same sources, with the best ``delta`` of a small set.  Sources lie in the
largest component; in the graph of small components, in components of 19.  Breadth-first search has three,
whose least times are added.  All distances are compared with those of the first method, which are verified.

On a GPU the search is from the vertex of highest degree, weights 1 to 100 (roads 1 to 10,000), timed with
device events, warm, median of nine, the rows resident; making the graph, its rows and the first call
(compiling) are columns of their own.  Contraction hierarchies are prepared once for each graph: their calls
are whole public calls, on a new graph over the same arrays, which eliminates first, and on a warm one, from
two sources.
"""

import tempfile
from functools import partial
from pathlib import Path

import families
import numpy as np
import peer_programs
from harness import (
    ROOT,
    compared,
    device_ms,
    equal_to,
    groups,
    in_turn,
    main,
    ms_of,
    part,
    peers,
    repeated,
    timed,
)

import edgewise as ew
from edgewise.device import threads
from edgewise.paths.bfs import METHODS as BFS
from edgewise.paths.bfs import NO_CUTOFF, bfs
from edgewise.paths.csr import adjacency_of, unreached
from edgewise.paths.sssp import METHODS as SSSP
from edgewise.paths.sssp import shortest_paths
from edgewise.paths.sssp.weights import limit_in, rows_in

GRAPHS = ["rmat20", "urand20", "rgg20", "delaunay20", "road1500", "comps2M"]
GPU_GRAPHS = ["rmat22", "uniform22", "rgg21", "road4096-dense"]
#: Largest weights, and the widths that GAP may choose from; the last is for roads only.
DELTAS = {10: (1, 2, 4), 255: (4, 8, 16, 32, 64), 10_000: (512, 2048, 8192)}
#: Methods on the CPU; the others are for GPUs, or look at every vertex in every round.
BFS_METHODS = ["auto", "top-down", "direction-optimising"]
SSSP_METHODS = ["auto", "bellman-ford", "dijkstra"]
#: Number of vertices of a small component.
SMALL = 19
#: What is to be reached on one H200, in ms.
BARS = {
    "bfs": {"rmat22": 2.0, "uniform22": 1.5, "rgg21": 5, "road4096-dense": 25},
    "sssp": {"rmat22": 8, "uniform22": 8, "rgg21": 12, "road4096-dense": 60},
}
#: Bytes a millisecond; 4 move, or 8 with weights, for each entry of a reached vertex, and 28 for a vertex.
BANDWIDTH = 4.3e9
#: The teaching methods make a pass over all vertices a round: not thousands of them.
SLOW = {("harish", "road4096-dense")}
ROADS = ROOT.parent / "shared" / "data" / "luxembourg_osm" / "luxembourg_osm.mtx.gz"


# -- CPU cores -----------------------------------------------------------------------------------------------


def breadth_first(given):
    """Breadth-first search on CPU cores, beside GAP's program."""
    with tempfile.TemporaryDirectory() as folder:
        for name in given.graphs:
            graph = families.graph(name)
            graph.offsets  # noqa: B018  rows are there before anything is timed
            sources, file = sources_of(graph, 3), file_of(graph, folder, ".sg")
            for count in given.threads:
                threads.use(count)
                found = {one: times_of(bfs, graph, one, file, given) for one in sources}
                least = {
                    side: 1e3 * sum(min(times[side]) for times in found.values())
                    for side in found[sources[0]]
                }
                theirs = least.pop("gapbs", 0.0)
                for method, ms in least.items():
                    chosen = bfs(graph, sources[0], method=method).method
                    row = {"graph": name, "threads": count, "method": method, "chosen": chosen, "ms": ms}
                    yield row | {"gapbs_ms": theirs, "ratio": ms / theirs if theirs else None}


def weighted(given):
    """Shortest paths along weights on CPU cores, beside GAP's program."""
    with tempfile.TemporaryDirectory() as folder:
        for name in given.graphs:
            plain = families.graph(name)
            (source,) = sources_of(plain, 1)
            for largest in [*DELTAS][: 3 if name.startswith("road") else 2]:
                graph = ew.generate.with_weights(plain, 1, largest)
                file = file_of(graph, folder, ".wsg")
                for count in given.threads:
                    yield from weighted_rows(
                        {"graph": name, "weights": largest, "threads": count}, graph, source, file, given
                    )


def weighted_rows(facts, graph, source, file, given):
    """A row for every method on a number of threads, and for GAP's program."""
    threads.use(facts["threads"])
    delta = None
    if peer_programs.gapbs_is_there():
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
    first = search(graph, source, method=given.methods[-1]).verify()
    ways = {method: partial(distances_by, search, graph, source, method) for method in given.methods}
    if peer_programs.gapbs_is_there():
        call, count = search.__name__.replace("shortest_paths", "sssp"), threads.count()
        more = {"threads": count, "trials": given.runs, "source": source, "delta": delta}
        ways = {"gapbs": partial(peer_programs.gapbs, call, file, **more)} | ways
    return in_turn(ways, given.rounds, runs=given.runs, check=equal_to(first.distances))


def distances_by(search, graph, source, method):
    """What a method computes."""
    return search(graph, source, method=method).distances


def sources_of(graph, count):
    """Fixed vertices of the largest component, or of components of 19 where all are small."""
    result = ew.connected_components(graph)
    if result.largest > graph.n_vertices // 4:
        chosen = np.flatnonzero(result.labels == result.roots[result.sizes().argmax()])
    else:
        chosen = result.roots[result.sizes() == SMALL]
    return np.random.default_rng(1).choice(chosen, count, replace=False).tolist()


def file_of(graph, folder, suffix):
    """A file for GAP's programs."""
    file = Path(folder) / f"graph{suffix}"
    if peer_programs.gapbs_is_there():
        ew.write(graph, file)
    return file


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
    theirs = [peer["ms"] for peer in peers("gpu-searches") if peer["problem"] == problem]
    return {
        "right": is_right(view, found, source),
        "reached": int(reached.sum()),
        "furthest": int(found[reached].max()),
        "ms": device_ms(act),
        "first_s": first,
        "floor_ms": (moved + 28 * len(found)) / BANDWIDTH,
        "bar_ms": BARS[problem].get(name),
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


# -- Contraction hierarchies ---------------------------------------------------------------------------------

#: By problem: the call, the method that searches by levels, and the rows that it reads.
SEARCHES = {
    "bfs": (ew.bfs, "cooperative", adjacency_of),
    "sssp": (ew.shortest_paths, "near-far", rows_in),
}


def with_long_paths(given):
    """Name and maker of paths, grids and streets with a vertex at every bend, on the GPU."""
    make, file = ew.generate, Path(given.file)
    for k in (16, 19, 22):
        yield f"paths, 2^{k}", lambda k=k: make.paths(2**k, device="cuda")
    yield "paths, 2^22, random ids", lambda: make.paths(2**22, shuffle=True, device="cuda")
    yield "one path, 2^16", lambda: make.paths(2**16, mean_length=2.0**32, branches=0, device="cuda")
    if file.exists():
        yield "Luxembourg", lambda: without_ids(ew.read(file)).to("cuda")
        yield "Luxembourg, 16 copies", lambda: make.replicate(without_ids(ew.read(file)), 16).to("cuda")
    for k in (16, 20, 22, 24):
        yield f"grid, 2^{k}", lambda k=k: make.grid(2 ** (k // 2), dropped=0.25, device="cuda")


def without_ids(graph):
    """The graph with its vertices as numbers."""
    return ew.Graph(graph.n_vertices, edges=(graph.sources, graph.targets, None))


def hierarchy(given):
    """Searches by a contraction hierarchy and by levels, on one GPU."""
    for name, make in with_long_paths(given):
        if given.graphs and name not in given.graphs:
            continue
        graph = ew.generate.with_weights(make(), 1, families.HEAVIEST)
        held = graph.offsets, graph.neighbours, graph.csr_weights
        for problem in SEARCHES:
            yield {"graph": name, **hierarchy_row(held, problem, given.runs)}


def hierarchy_row(held, problem, runs):
    """A row of one graph, of which rows and weights are held, and one problem."""
    from edgewise.paths.sssp.contraction_hierarchy import hierarchy_of

    call, levels, rows_of = SEARCHES[problem]
    n = len(held[0]) - 1

    def new():
        return ew.Graph(n, rows=(*held[:2], held[2] if problem == "sssp" else None))

    warm, found = new(), {}
    hierarchy = hierarchy_of(rows_of(warm))
    row = {"vertices": n, "entries": len(held[1]), "problem": problem}
    row |= {"auto": call(new().prepare("searches"), 0).method, "rounds": hierarchy.n_rounds}
    row |= {"core": hierarchy.core_size, "calls": {}}
    row["elimination_ms"] = repeated(lambda: hierarchy_of(rows_of(warm)), runs, warm=0)
    for method in (levels, "contraction-hierarchy"):

        def searched(graph, source, method=method):
            found[source, method] = call(graph, source, method=method).distances

        fresh = repeated(lambda search=searched: search(new(), n // 2), runs)
        spent = [repeated(partial(searched, warm, source), runs, 0) for source in (n // 2, n // 3)]
        row["calls"][method] = {"fresh": fresh, "warm": spent}
    same = (found[source, levels] == found[source, "contraction-hierarchy"] for source in (n // 2, n // 3))
    return row | {"right": all(bool(one.all()) for one in same)}


CPU = {"key": ("graph", "weights", "threads", "method"), "summary": beside_gapbs, "graphs": GRAPHS}
PARTS = {
    "bfs": part("bfs-cpu", breadth_first, **CPU, threads=[2], methods=BFS_METHODS, rounds=5, runs=5),
    "sssp": part("sssp-cpu", weighted, **CPU, threads=[1, 2], methods=SSSP_METHODS, rounds=8, runs=3),
    "gpu": part("paths-gpu", gpu, key=("graph", "problem", "method"), graphs=GPU_GRAPHS),
    "hierarchy": part(
        "hierarchy-gpu", hierarchy, key=("graph", "problem"), graphs=str, file=str(ROADS), runs=9
    ),
}

if __name__ == "__main__":
    main(__doc__, PARTS)
