"""Spanning forests against their peers.

    python bench/forest.py gpu                     the five graphs of the GPU table, weights 1 to 1000
    python bench/forest.py cpu road1500 --rounds 3 graphs of the CPU table, three kinds of weights, 2 threads
    python bench/forest.py cores                   graphs of more than ten million edges, 1, 4 and all threads

Times are of the public call, warm, on a graph as it is held; medians.  On a GPU a graph is held as rows, as
by ECL-MST, and as an edge list as well; the forest of either is compared with the other's weight.  On the CPU
igraph, networkit, rustworkx and SciPy run in turn with ours, each on a graph in its own structure, and all
weights of forests are compared; our time includes ``.edges`` and ``.weight``, and is taken on a new graph of
the same arrays as well.  GBBS' figures are of another machine, on which rustworkx was timed as well;
so they are compared as ratios to rustworkx.
"""

import argparse
import sys
import time
from functools import partial
from statistics import geometric_mean

import numpy as np
import record

import edgewise as ew
from edgewise.device import arrays
from edgewise.device import threads as thread_count
from edgewise.forest import METHODS

#: Peers on one H200: the milliseconds of each by graph.
PEERS = {peer["name"]: peer["ms"] for peer in record.peers("gpu-forest")}
#: Streaming floor in ms at 4.3 TB/s: each neighbour and weight of the rows once, and 28 bytes a vertex.
FLOORS = {"rgg21": 0.072, "rmat22": 0.27, "uniform22": 0.28, "road4096": 0.20, "road4096-shuffled": 0.20}
KINDS = ("small integers", "large integers", "floats")
CPU_GRAPHS = ("rmat20", "urand20", "rgg20", "delaunay20", "road1500", "comps2M")
#: Graphs of more than ten million edges: family and sizes.
LARGE = {
    "rmat20": lambda: ew.generate.named("rmat20"),
    "uniform, 16.8 M edges": lambda: ew.generate.uniform(2**20, 2**24),
    "road, 13.5 M edges": lambda: ew.generate.grid(3000, 3000, dropped=0.25),
    "uniform22": lambda: ew.generate.named("uniform22"),
}
RUNS = 9


def timed(action, device="cpu"):
    """Result and milliseconds of an action."""
    arrays.synchronize(device)
    start = time.perf_counter()
    result = action()
    arrays.synchronize(device)
    return result, 1e3 * (time.perf_counter() - start)


def gpu(given):
    rows = []
    for name in given.graphs or FLOORS:
        edges = ew.generate.with_weights(ew.generate.named(name, device="cuda"), 1, 1000, seed=1)
        held = {
            "rows": ew.Graph(edges.n_vertices, rows=(edges.offsets, edges.neighbours, edges.csr_weights)),
            "edges": edges,
        }
        weights = set()
        for form, graph in held.items():
            call = partial(ew.minimum_spanning_forest, graph)
            forest, first = timed(call, "cuda:0")
            weights.add((forest.n_edges, forest.weight))
            ms = record.spread([timed(call, "cuda:0")[1] for _ in range(RUNS)])
            with_edges = record.spread([timed(lambda: call().edges, "cuda:0")[1] for _ in range(RUNS)])  # noqa: B023
            rows.append(
                {
                    "graph": name,
                    "form": form,
                    "vertices": graph.n_vertices,
                    "entries": len(graph.neighbours),
                    "first_ms": first,
                    "ms": ms,
                    "with_edges_ms": with_edges,
                    "x_floor": ms["median"] / FLOORS[name],
                }
            )
            print(
                f"{name:18s} {form:6s} {ms['median']:7.3f} ms, with edges {with_edges['median']:.3f}",
                flush=True,
            )
        if len(weights) != 1:
            sys.exit(f"{name}: the forests of rows and edges differ: {weights}")
    for form in ("rows", "edges"):
        ratios = [PEERS["ECL-MST"][row["graph"]] / row["ms"]["median"] for row in rows if row["form"] == form]
        print(f"{form}: ECL-MST / ours, geometric mean {geometric_mean(ratios):.2f}, least {min(ratios):.2f}")
    record.write("forest-gpu", rows)


def weights_of(kind, graph):
    """The graph with small integers, large integers or floats as weights."""
    if kind == "floats":
        draws = np.random.default_rng(1).random(graph.n_edges)
        ends = graph.sources, graph.targets
        return ew.Graph.from_edges(*ends, weights=draws, n_vertices=graph.n_vertices)
    return ew.generate.with_weights(graph, 1, 255 if kind == "small integers" else 2**31 - 2, seed=1)


def cpu(given):
    thread_count.use(2)
    rows = record.results("forest-cpu")["rows"] if given.add else []
    for name in given.graphs or CPU_GRAPHS:
        plain = ew.generate.named(name).simplified()  # SciPy adds up the weights of repeated edges
        for kind in given.weights or KINDS:
            graph = weights_of(kind, plain)
            actions = {"edgewise": partial(solved, graph), "edgewise, new graph": solved}
            expected = actions["edgewise"]()[2]
            actions |= {peer: make(graph) for peer, make in PYTHON_PEERS.items() if peer not in given.without}
            spent = {program: [] for program in actions}
            for _ in range(given.rounds):
                for program, action in actions.items():
                    if program == "igraph" and spent[program]:
                        continue  # it takes half a minute on some graphs, so it runs once
                    if program == "edgewise, new graph":
                        action = partial(solved, renewed(graph))
                    found, ms = timed(action)
                    spent[program].append(ms)
                    check(name, program, weight_of(program, found, graph), expected)
            row = {"graph": name, "weights": kind, "threads": 2, "edges": graph.n_edges}
            rows = [one for one in rows if (one["graph"], one["weights"]) != (name, kind)]
            rows.append(row | {"ms": {program: record.spread(ms) for program, ms in spent.items()}})
            rows.sort(key=lambda one: (CPU_GRAPHS.index(one["graph"]), KINDS.index(one["weights"])))
            print(
                name,
                kind,
                {program: round(float(np.median(ms)), 1) for program, ms in spent.items()},
                flush=True,
            )
            record.write("forest-cpu", rows)
    for peer in ("igraph", "networkit", "rustworkx", "scipy"):
        ratios = [
            row["ms"][peer]["median"] / row["ms"]["edgewise"]["median"] for row in rows if peer in row["ms"]
        ]
        if ratios:
            print(f"{peer} / ours: geometric mean {geometric_mean(ratios):.1f}, least {min(ratios):.2f}")


def solved(graph):
    """The forest of a graph, of which the edges and the weight are asked for."""
    forest = ew.minimum_spanning_forest(graph)
    return forest, forest.edges, forest.weight


def renewed(graph):
    """A new graph of the same arrays."""
    ends = graph.sources, graph.targets
    return ew.Graph.from_edges(*ends, weights=graph.weights, n_vertices=graph.n_vertices)


def check(name, program, weight, expected):
    """Exit if a peer's forest has another weight."""
    if abs(weight - expected) > 1e-9 * abs(expected):
        sys.exit(f"{name}: {program} finds a forest of weight {weight}, ours weighs {expected}")


def weight_of(program, found, graph):
    """The weight of what a program has found."""
    if program.startswith("edgewise"):
        return found[2]
    if program == "scipy":
        return float(found.data.sum(dtype=np.float64))
    if program == "igraph":
        return float(graph.weights[np.array(found)].sum(dtype=np.float64))
    if program == "networkit":
        return found.getTotalWeight()
    return float(sum(weight for _, _, weight in found))


def scipy(graph):
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    ends = graph.sources.astype(np.int32), graph.targets.astype(np.int32)
    shape = (graph.n_vertices, graph.n_vertices)
    matrix = coo_array((graph.weights.astype(np.float64), ends), shape=shape).tocsr()
    return partial(minimum_spanning_tree, matrix)


def igraph(graph):
    import igraph

    ends = np.column_stack([graph.sources, graph.targets]).astype(np.int64)
    made, weights = igraph.Graph(n=graph.n_vertices, edges=ends), graph.weights.tolist()
    return partial(made.spanning_tree, weights=weights, return_tree=False)


def networkit(graph):
    import networkit

    networkit.setNumberOfThreads(2)
    ends = graph.sources.astype(np.uint64), graph.targets.astype(np.uint64)
    made = networkit.GraphFromCoo((graph.weights.astype(np.float64), ends), n=graph.n_vertices, weighted=True)

    return partial(_run, networkit.graph.KruskalMSF, made)


def _run(algorithm, graph):
    return algorithm(graph).run()


def rustworkx(graph):
    import rustworkx

    made = rustworkx.PyGraph()
    made.add_nodes_from(range(graph.n_vertices))
    columns = graph.sources.tolist(), graph.targets.tolist(), graph.weights.astype(np.float64).tolist()
    made.add_edges_from(list(zip(*columns, strict=True)))
    return partial(rustworkx.minimum_spanning_edges, made, weight_fn=float)


PYTHON_PEERS = {"rustworkx": rustworkx, "networkit": networkit, "scipy": scipy, "igraph": igraph}


def cores(given):
    counts, rows = sorted({1, 4, thread_count.count()}), []
    methods = ["auto", *(name for name, method in METHODS.items() if not method.baseline)]
    for name in given.graphs or LARGE:
        graph = ew.generate.with_weights(LARGE[name](), 1, 255, seed=1)
        spent = {(method, count): [] for method in methods for count in counts}
        for _ in range(given.rounds + 1):
            for (method, count), times in spent.items():
                thread_count.use(count)
                times.append(timed(partial(ew.minimum_spanning_forest, graph, method=method))[1])
        rows += [
            {
                "graph": name,
                "edges": graph.n_edges,
                "method": method,
                "threads": count,
                "ms": record.spread(ms[1:]),
            }
            for (method, count), ms in spent.items()
        ]
        one, most = (np.median(spent["auto", count][1:]) for count in (1, counts[-1]))
        print(
            f"{name}: auto {one:.1f} ms by one core, {most:.1f} by {counts[-1]}: {one / most:.2f} times",
            flush=True,
        )
        record.write("forest-cores", rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=("gpu", "cpu", "cores"))
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--weights", action="append", help="one kind of weights of the CPU table")
    parser.add_argument("--add", action="store_true", help="keep the other rows of the CPU table")
    parser.add_argument("--without", action="append", default=[], help="a peer that is left out")
    given = parser.parse_args()
    {"gpu": gpu, "cpu": cpu, "cores": cores}[given.part](given)


if __name__ == "__main__":
    main()
