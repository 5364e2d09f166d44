"""Spanning forests against their peers.

    python bench/forest.py gpu                     the five graphs of the GPU table, weights 1 to 1000
    python bench/forest.py cpu road1500 --rounds 3 graphs of the CPU table, three kinds of weights, 2 threads
    python bench/forest.py several                 1 G edges on one GPU, and shared with others

Times are of the public call, warm, on a graph as it is held; medians.  On a GPU a graph is held as rows, as
by ECL-MST, and as an edge list as well; the forest of either is compared with the other's weight.  On the CPU
igraph, networkit, rustworkx and SciPy run in turn with ours, each on a graph in its own structure, and all
weights of forests are compared; our time includes ``.edges`` and ``.weight``, and is taken on a new graph of
the same arrays as well.

The billion edges of ``several`` are drawn uniformly on the GPU, with weights 1 to 1000 (int32), and lie on
the first GPU or in page-locked memory; all teams must find the same edges.
"""

import operator
from functools import partial
from importlib.util import find_spec

import families
import harness
import numpy as np
from harness import free, groups, in_turn, main, median_of, ms_of, part, repeated, seconds, spread, timed

import edgewise as ew
from edgewise.device import arrays, streams, threads
from edgewise.experiments.peers import PEERS as LIBRARIES
from edgewise.experiments.peers import networkit_graph

#: Peers on one H200: the milliseconds of each by graph.
PEERS = {peer["name"]: peer["ms"] for peer in harness.peers("gpu-forest")}
#: Streaming floor in ms at 4.3 TB/s: each neighbour and weight of the rows once, and 28 bytes a vertex.
FLOORS = {"rgg21": 0.072, "rmat22": 0.27, "uniform22": 0.28, "road4096": 0.20, "road4096-shuffled": 0.20}
KINDS = ["small integers", "large integers", "floats"]
CPU_GRAPHS = ["rmat20", "urand20", "rgg20", "delaunay20", "road1500", "comps2M"]
#: Edges that are drawn at a time, and their types.
BLOCK, KINDS_OF_COLUMNS = 1 << 26, (np.uint32, np.uint32, np.int32)


def gpu(given):
    """The public call on one GPU, on rows and on an edge list."""
    for name in given.graphs:
        edges = ew.generate.with_weights(families.graph(name, "cuda"), 1, 1000, seed=1)
        rows = ew.Graph(edges.n_vertices, rows=(edges.offsets, edges.neighbours, edges.csr_weights))
        weights = set()
        for form, graph in {"rows": rows, "edges": edges}.items():
            call = partial(ew.minimum_spanning_forest, graph)
            forest, first = timed(call)
            weights.add((forest.n_edges, forest.weight))
            ms, with_edges = repeated(call), repeated(lambda call=call: call().edges)
            row = {
                "graph": name,
                "form": form,
                "vertices": graph.n_vertices,
                "entries": len(graph.neighbours),
            }
            row |= {
                "right": len(weights) == 1,
                "first_ms": 1e3 * first,
                "ms": ms,
                "with_edges_ms": with_edges,
            }
            yield row | {"x_floor": ms["median"] / FLOORS[name] if name in FLOORS else None}


def beside_ecl(rows):
    """Ratios of ours to ECL-MST."""
    for form, mine in groups(rows, "form"):
        pairs = [(row["graph"], median_of(row), PEERS["ECL-MST"].get(row["graph"])) for row in mine]
        yield from harness.compared(f"{form}: ours / ECL-MST", pairs)


# -- CPU cores -----------------------------------------------------------------------------------------------


def with_weights(kind, graph):
    """The graph with small integers, large integers or floats as weights."""
    if kind == "floats":
        draws = np.random.default_rng(1).random(graph.n_edges)
        ends = graph.sources, graph.targets
        return ew.Graph.from_edges(*ends, weights=draws, n_vertices=graph.n_vertices)
    return ew.generate.with_weights(graph, 1, 255 if kind == "small integers" else 2**31 - 2, seed=1)


def cpu(given):
    """The public call on CPU cores, beside other libraries, for three kinds of weights."""
    threads.use(given.threads)
    for name in given.graphs:
        plain = families.graph(name).simplified()  # SciPy adds up the weights of repeated edges
        for kind in given.weights:
            graph = with_weights(kind, plain)
            times = in_turn(cpu_ways(graph, given), given.rounds, same=is_close, once=("igraph", "networkx"))
            row = {"graph": name, "weights": kind, "threads": given.threads, "edges": graph.n_edges}
            yield row | {"ms": {program: ms_of(spent) for program, spent in times.items()}}


def cpu_ways(graph, given):
    """What runs in turn, and reads the weights of forests: their sum, or each of them."""
    n, ends = graph.n_vertices, (graph.sources, graph.targets)
    new = partial(ew.Graph.from_edges, *ends, weights=graph.weights, n_vertices=n)
    ways = {"edgewise": (partial(solved, lambda: graph), operator.itemgetter(2))}
    ways["edgewise, new graph"] = partial(solved, new), operator.itemgetter(2)
    for peer in LIBRARIES:
        make = of_networkit if peer.module == "networkit" else peer.calls.get("forest")
        is_wanted = peer.module not in given.without and graph.n_edges <= peer.max_edges
        if make and is_wanted and find_spec(peer.module):
            ways[peer.module] = make(graph, given.threads)
    return ways


def is_close(one, other):
    """Whether two sums of weights, added in any order, are the same."""
    return np.isclose(np.sum(one, dtype=float), np.sum(other, dtype=float), rtol=1e-9, atol=0)


def solved(make):
    """The forest of a graph, of which the edges and the weight are asked for."""
    forest = ew.minimum_spanning_forest(make())
    return forest, forest.edges, forest.weight


def of_networkit(graph, count):
    nk, made = networkit_graph(graph, True)
    nk.setNumberOfThreads(count)
    return lambda: nk.graph.KruskalMSF(made).run(), lambda found: found.getTotalWeight()


def beside_libraries(rows):
    """Ratios of ours to each library."""
    for peer in LIBRARIES:
        both = [(row["graph"], row["ms"]["edgewise"], row["ms"].get(peer.module)) for row in rows]
        pairs = [(name, ours["median"], theirs["median"]) for name, ours, theirs in both if theirs]
        yield from harness.compared(f"ours / {peer.name}", pairs)


# -- Billions of edges ---------------------------------------------------------------------------------------


def draw(n_vertices, n_edges, room=None):
    """A graph of edges that are drawn on the GPU, or copied into the arrays of ``room``."""
    import cupy

    generator = cupy.random.default_rng(1)
    columns = room or [cupy.empty(n_edges, kind) for kind in KINDS_OF_COLUMNS]
    limits = (0, n_vertices), (0, n_vertices), (1, 1001)
    for start in range(0, n_edges, BLOCK):
        for column, (low, high), kind in zip(columns, limits, KINDS_OF_COLUMNS):
            part = column[start : min(start + BLOCK, n_edges)]
            streams.copy(part, generator.integers(low, high, len(part), dtype=kind))
            cupy.cuda.get_current_stream().synchronize()
    free()
    return ew.Graph(n_vertices, edges=tuple(columns))


def room_for(n_edges):
    """Columns in page-locked memory."""
    return [streams.pinned(n_edges, kind, "cuda:0") for kind in KINDS_OF_COLUMNS]


def large_row(case, call, runs, **more):
    """The result of a call that is warm, and its row."""
    import cupy

    call()
    times = []
    for _ in range(runs):
        found, spent = timed(call)
        times.append(spent)
    graph = found.graph
    row = {"case": case, "vertices": graph.n_vertices, "edges": graph.n_edges, "method": found.method}
    row |= {"devices": list(found.devices), "seconds": spread(times), "trees": found.count}
    row |= {"weight": found.weight, "edges_per_s": graph.n_edges / spread(times)["median"], **more}
    return found, row | {"gb": cupy.get_default_memory_pool().total_bytes() / 1e9}


def link_rate():
    """Bytes a second of copies from page-locked memory, the median."""
    import cupy

    there = cupy.empty(1 << 28, np.uint32)
    here = streams.pinned(len(there), np.uint32, "cuda:0")
    here.fill(1)
    return here.nbytes / spread([seconds(partial(streams.copy, there, here)) for _ in range(9)])["median"]


def several(given):
    """Forests on one GPU and on several, of edges on the first one or in page-locked memory."""
    n_edges = given.edges[0]
    room = room_for(n_edges)
    for n_vertices in (given.vertices >> 3, given.vertices):
        for place, columns in {"cuda:0": None, "cpu": room}.items():
            graph = draw(n_vertices, n_edges, columns)
            call = partial(ew.minimum_spanning_forest, graph)
            found, one = large_row("one GPU", partial(call, device="cuda:0"), given.runs, place=place)
            edges = arrays.move(found.edges, "cpu")
            yield one
            for count in range(2, 1 + arrays.gpu_count()):
                team = [f"cuda:{number}" for number in range(count)]
                found, row = large_row(f"{count} GPUs", partial(call, devices=team), given.runs, place=place)
                row["speedup"] = one["seconds"]["median"] / row["seconds"]["median"]
                yield row | {"right": np.array_equal(arrays.move(found.edges, "cpu"), edges)}
            del graph, found
            free()


PARTS = {
    "gpu": part("forest-gpu", gpu, key=("graph", "form"), summary=beside_ecl, graphs=[*FLOORS]),
    "cpu": part(
        "forest-cpu",
        cpu,
        key=("graph", "weights"),
        summary=beside_libraries,
        graphs=CPU_GRAPHS,
        weights=KINDS,
        threads=2,
        rounds=5,
        without=str,
    ),
    "several": part(
        "forest-large-several",
        several,
        key=("case", "vertices", "edges", "place"),
        edges=[1 << 30],
        vertices=1 << 26,
        runs=3,
    ),
}

if __name__ == "__main__":
    main(__doc__, PARTS)
