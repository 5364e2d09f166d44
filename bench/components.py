"""Connected components against their peers.

    GAPBS=folder python bench/components.py cpu         the six graphs of the CPU table, 1 and 2 threads
    python bench/components.py cpu rmat-12 --peers      a small graph, beside Python's libraries too
    python bench/components.py edges                    edge lists alone on a GPU, in two orders
    python bench/components.py several                  several GPUs, every merge

Every graph is generated, and all labels are compared.  CPU times are of the algorithm alone, the graph in the
form that each peer wants; GAP's ``cc`` (in the folder ``$GAPBS``) runs in turn with ours.  GPU times of
methods are taken with device events, warm, median of nine, the edges resident; those of calls are of the
host, on new graphs and on warm ones.

On several GPUs the edges lie as ``graph.split`` spreads them, and the labels end up on the first; times are
of the host.  ``local`` is the time until every GPU has labelled its share; the rest is the merge.
"""

import tempfile
from functools import partial
from pathlib import Path

import families
import peer_programs
from harness import (
    compared,
    device_ms,
    equal_to,
    free,
    groups,
    in_turn,
    main,
    median_of,
    ms_of,
    part,
    repeated,
    timed,
)

import edgewise as ew
from edgewise import primitives
from edgewise.components import MERGES, METHODS
from edgewise.components.merge import choose_merge, label_parts
from edgewise.components.selection import select_method
from edgewise.device import arrays, threads
from edgewise.experiments.peers import installed, networkit_graph, smallest_labels

#: Edge lists alone on a GPU, each as it is made and in random order, and the methods for them.
RMATS = {"rmat20, 16 edges": (20, 16), "rmat20, 64 edges": (20, 64), "rmat24, 8 edges": (24, 8)}
LISTS = ["rmat22", "uniform22", "rgg21", "road4096", *RMATS, "scale-free, 2^22"]
FOR_LISTS = ("rem", "hang-rem", "edge-filter", "edge-reach")
CPU_GRAPHS = ["rmat20", "urand20", "rgg20", "delaunay20", "road1500", "comps2M"]
#: Label propagation takes rounds without number.
TIMED = [method for method in METHODS if method != "propagate"]
#: Graphs for several GPUs: more than a billion edges each, and copies of geometric ones as in Hellås (2018).
LARGE = {
    "rmat24": lambda: ew.generate.rmat(24, edge_factor=64, seed=1, device="cuda"),
    "rmat26": lambda: ew.generate.rmat(26, edge_factor=16, seed=1, device="cuda"),
    "rgg24 x 10": lambda: copies(24, 10),
}


def run(method, graph):
    """Labels by a method."""
    found = METHODS[method]
    return found.run(graph.n_vertices, *found.form_of(graph))


# -- CPU cores -----------------------------------------------------------------------------------------------


def cpu(given):
    """Every method on CPU cores, beside GAP's program and Python's libraries."""
    with tempfile.TemporaryDirectory() as folder:
        for name in given.graphs:
            graph = families.graph(name).prepare("components")  # before anything is timed
            file = Path(folder) / "graph.sg"
            if peer_programs.gapbs_is_there():
                ew.write(graph, file)
            for count in given.threads:
                yield from cpu_rows(name, graph, count, file, given)


def cpu_rows(name, graph, count, file, given):
    """A row for every way on a number of threads."""
    threads.use(count)
    ways = {method: partial(run, method, graph) for method in TIMED}
    if peer_programs.gapbs_is_there():
        program = partial(peer_programs.gapbs, "components rows", file, threads=count, trials=3)
        ways = {"gapbs": program} | ways
    check = equal_to(run("rem-sequential", graph))
    times = in_turn(ways, given.rounds, runs=3, check=check)
    for peer in installed("components", graph.n_edges) if given.peers else ():
        if count == 1 or peer.module == "networkit":
            make = parallel if peer.module == "networkit" else peer.calls["components"]
            times |= beside(peer.module, *make(graph, count), check)
    chosen, least = select_method(graph), min(times.get("gapbs", [0]))
    for method, spent in times.items():
        ratio = min(spent) / least if least else None
        row = {"graph": name, "threads": count, "method": method, "auto": method == chosen}
        yield row | {"ms": ms_of(spent), "ratio": ratio}


def beside(name, solve, read, check):
    """Times of a library; igraph keeps whether a graph is connected, so that it runs once."""
    rounds = 1 if name == "igraph" else 3
    return in_turn({name: solve}, rounds, check=lambda name, found: check(name, read(found)))


def parallel(graph, count):
    """networkit's components by several threads."""
    import networkit

    networkit.setNumberOfThreads(count)
    _, made = networkit_graph(graph, False)
    find = networkit.components.ParallelConnectedComponents
    return lambda: find(made, False).run(), lambda found: smallest_labels(found.getPartition().getVector())


def beside_gapbs(rows):
    """Ratios of `auto` to GAP's program."""
    for count, mine in groups(rows, "threads"):
        ours = [row for row in mine if row["auto"]]
        theirs = {row["graph"]: median_of(row) for row in mine if row["method"] == "gapbs"}
        pairs = [(row["graph"], median_of(row), theirs.get(row["graph"])) for row in ours]
        yield from compared(f"{count} threads: auto / gapbs", pairs)


# -- GPUs --------------------------------------------------------------------------------------------------


def edges(given):
    """Methods for edge lists on a GPU, and the public call on a fresh and on a warm list."""
    import cupy

    for name in given.graphs:
        made = edge_list(name)
        cupy.random.seed(1)
        orders = {"as made": slice(None), "random": cupy.random.permutation(made.n_edges)}
        for order, turn in orders.items():
            ends = [cupy.ascontiguousarray(end[turn]) for end in (made.sources, made.targets)]
            yield {"graph": name, "order": order} | edges_row(made.n_vertices, ends)


def edge_list(name):
    """A graph made of edges alone, on a GPU."""
    if name in RMATS:
        scale, factor = RMATS[name]
        return ew.generate.rmat(scale, edge_factor=factor, simple=True, device="cuda")
    if name.startswith("scale-free"):
        return ew.generate.scale_free(1 << 22, device="cuda")
    return families.graph(name, "cuda")


def edges_row(n, ends):
    """Figures of a list with its edges in an order."""
    graphs = [ew.Graph.from_edges(*ends, n_vertices=n) for _ in range(10)]  # the first one warms up
    calls = {
        state: [timed(lambda: ew.connected_components(graph).labels)[1] for graph in graphs]  # noqa: B023
        for state in ("fresh", "warm")
    }
    expected, graph = METHODS["rem"].run(n, *ends), graphs[0]
    row = {"vertices": n, "edges": graph.n_edges, "method": select_method(graph)}
    row["right"] = all(not primitives.count(run(method, graph) != expected) for method in FOR_LISTS)
    row["ms"] = {method: device_ms(partial(run, method, graph)) for method in FOR_LISTS}
    return row | {"call_ms": {state: ms_of(times[1:]) for state, times in calls.items()}}


def copies(scale, count):
    """Copies of one random geometric graph."""
    graph = ew.generate.rgg(1 << scale, mean_degree=15.8, seed=1, device="cuda")
    return ew.generate.replicate(graph, count)


def teams():
    """One GPU, two, and so on."""
    return [
        [f"cuda:{number}" for number in range(size)] for size in (1, 2, 3, 4, 8) if size <= arrays.gpu_count()
    ]


def several(given):
    """Speed-up by several GPUs of every merge."""
    given.facts["gpus"] = arrays.gpu_count()
    for name in given.graphs:
        graph = LARGE[name]() if name in LARGE else families.graph(name, "cuda")
        yield from ({"part": "speedup", **row} for row in speedup(name, graph))
        del graph
        free()


def speedup(name, graph):
    """Rows of one GPU and of all teams; large graphs with rows built everywhere too, which sampling needs."""
    base, expected = on_one(name, graph)
    yield base
    for team in teams()[1:]:
        yield from on_team(name, graph, team, expected, base, ("edges", "range"))
    if name in LARGE:
        prepared = graph.prepare("components")
        base, labels = on_one(name, prepared)
        yield base | {"right": bool((labels == expected).all())}
        split = prepared.split(teams()[-1])
        split.parts = [one._replace(graph=one.graph.prepare("components")) for one in split.parts]
        merge = "ranges" if split.by == "range" else "peer"
        yield {"graph": name, "gpus": len(teams()[-1]), **merged(split, merge, expected, base)}


def on_one(name, graph):
    """A row and the labels of one GPU."""
    result = ew.connected_components(graph)
    row = {"graph": name, "form": "rows" if "rows" in graph.made_of else "edges"}
    row |= {"vertices": graph.n_vertices, "edges": graph.n_edges, "components": result.count, "gpus": 1}
    ms = repeated(partial(ew.connected_components, graph), warm=2)
    return row | {"merge": None, "method": result.method, "ms": ms}, result._labels


def on_team(name, graph, team, expected, base, ways):
    """A row for every merge of the ways to split a graph."""
    chosen = graph.split(team)
    auto = chosen.by, choose_merge(chosen)
    for by in ways:
        split, spent = timed(partial(graph.split, team, by=by))
        facts = {"graph": name, "gpus": len(team), "split_s": spent}
        for merge in (merge for merge, found in MERGES.items() if found.by == by):
            yield {**facts, **merged(split, merge, expected, base), "auto": (by, merge) == auto}


def merged(split, merge, expected, base):
    """Figures of a merge: the whole call, and the workers' own shares."""
    result = ew.connected_components(split, merge=merge)
    ms = repeated(partial(ew.connected_components, split, merge=merge), warm=2)
    local = repeated(lambda: label_parts(split, [partial(label, one.graph) for one in split.parts]), 3, 2)
    row = {"form": "rows" if "rows" in split.parts[0].graph.made_of else "edges", "merge": merge}
    row |= {"method": result.method, "ms": ms, "local_ms": local["median"]}
    row["speedup"] = base["ms"]["median"] / ms["median"]
    return row | {"right": bool((result._labels == expected).all())}


def label(graph):
    """Label one share without waiting for the device."""
    return run(select_method(graph), graph)


SEVERAL = [*LARGE, "rmat22", "road4096", "road4096-shuffled", "uniform22", "rgg21"]
PARTS = {
    "cpu": part(
        "components-cpu",
        cpu,
        key=("graph", "threads", "method"),
        summary=beside_gapbs,
        graphs=CPU_GRAPHS,
        threads=[1, 2],
        rounds=10,
        peers=False,
    ),
    "edges": part("components-gpu-edges", edges, key=("graph", "order"), graphs=LISTS),
    "several": part(
        "several-gpu",
        several,
        key=("part", "graph", "form", "gpus", "merge"),
        graphs=SEVERAL,
    ),
}

if __name__ == "__main__":
    main(__doc__, PARTS)
