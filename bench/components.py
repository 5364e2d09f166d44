"""Connected components against their peers.

    GAPBS=folder python bench/components.py cpu         the six graphs of the CPU table, 1 and 2 threads
    python bench/components.py cpu rmat-12 --peers      a small graph, beside Python's libraries too
    python bench/components.py edges                    edge lists alone on a GPU, in two orders
    python bench/components.py several                  several GPUs, every merge
    python bench/components.py choices --threads 2 16   `auto` beside every method that it could take
    python bench/components.py choices --device cuda
    python bench/components.py choices --show bench/results/choices-cpu.json          the ratios of a result

Every graph is generated, and all labels are compared.  CPU times are of the algorithm alone, the graph in the
form that each peer wants; GAP's ``cc`` (in the folder ``$GAPBS``) runs in turn with ours.  GPU times of
methods are taken with device events, warm, median of nine, the edges resident; those of calls are of the
host, on new graphs and on warm ones.

On several GPUs the edges lie as ``graph.split`` spreads them, and the labels end up on the first; times are
of the host.  ``local`` is the time until every GPU has labelled its share; the rest is the merge.

The choices are measured by public calls on graphs that nothing has been derived of, and ``judging`` is the
choice alone.  Vertices are numbered as the generator does, or at random (``permuted``), and the edges of a
list come as they are made, or at random (``mixed``).  A size is a binary logarithm.
"""

import math
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

import families
import harness
import numpy as np
import peer_programs
from harness import device_ms, free, groups, in_turn, main, median_of, ms_of, part, repeated, seconds, timed

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
#: Methods that are left out: those for the other kind of device, which every device can run.
OTHERS = {
    "cpu": ("edge-filter", "edge-reach", "hang-rem"),
    "cuda": ("rem-sequential", "rem-ranges", "rem-edge-sample"),
}
FORMS = {"edges": ("natural", "permuted", "natural mixed", "permuted mixed"), "rows": families.ORDERS}
SIZES = {"cpu": (10, 14, 16, 18, 20), "cuda": (12, 16, 18, 20, 21, 22)}
#: Runs of a method, at least and at most, and seconds that it may take in all after the least number.
LEAST, MOST, ENOUGH = 5, 25, 0.06
#: Limits: a new graph against the plain method and against the best, and judging against the call; all beyond
#: so many milliseconds.
PLAIN, SLOWER, FAR, JUDGING, BEYOND_MS = "rem", 1.05, 1.10, 0.03, 0.005
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
            if peer_programs.is_there("GAPBS"):
                ew.write(graph, file)
            for count in given.threads:
                yield from cpu_rows(name, graph, count, file, given)


def cpu_rows(name, graph, count, file, given):
    """A row for every way on a number of threads."""
    threads.use(count)
    ways = {method: (partial(run, method, graph), np.asarray) for method in TIMED}
    if peer_programs.is_there("GAPBS"):
        program = partial(peer_programs.gapbs, "components rows", file, threads=count, trials=3)
        ways = {"gapbs": program} | ways
    for peer in installed("components", graph.n_edges) if given.peers else ():
        if count == 1 or peer.module == "networkit":
            make = parallel if peer.module == "networkit" else peer.calls["components"]
            ways[peer.module] = make(graph, count)
    times = in_turn(ways, given.rounds, runs=3, once=("igraph",))  # igraph keeps what it has found
    chosen, least = select_method(graph), min(times.get("gapbs", [0]))
    for method, spent in times.items():
        ratio = min(spent) / least if least else None
        row = {"graph": name, "threads": count, "method": method, "auto": method == chosen}
        yield row | {"ms": ms_of(spent), "ratio": ratio}


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
        yield from harness.compared(f"{count} threads: auto / gapbs", pairs)


# -- The choice of a method ----------------------------------------------------------------------------------


def mixed(ends):
    """The edges of a list in random order."""
    module = np
    if not isinstance(ends[0], np.ndarray):
        import cupy as module
    module.random.seed(1)
    turn = module.random.permutation(len(ends[0]))
    return tuple(module.ascontiguousarray(end[turn]) for end in ends)


def makers(name, size, device):
    """Pairs of a form and order, and of what makes new graphs of it."""
    made = families.FAMILIES[name](size, device) if size else edge_list(name, device)
    for order in families.ORDERS:
        graph = families.permuted(made) if order == "permuted" else made
        n, ends, rows = graph.n_vertices, (graph.sources, graph.targets), (graph.offsets, graph.neighbours)
        yield ("rows", order), partial(ew.Graph, n, rows=(*rows, None))
        yield ("edges", order), partial(ew.Graph, n, edges=(*ends, None))
        yield ("edges", f"{order} mixed"), partial(ew.Graph, n, edges=(*mixed(ends), None))


def choices(given):
    """Calls of `auto` on new graphs, beside every method that it could take."""
    given.facts["device"] = given.device
    end, sizes = time.monotonic() + given.limit, given.sizes or SIZES[given.device]
    names = given.names or [*families.FAMILIES, *(("road4096", *RMATS) if given.device == "cuda" else ())]
    points = [(name, size) for size in sizes for name in names if name in families.FAMILIES]
    for name, size in [*points, *((name, 0) for name in names if name not in families.FAMILIES)]:
        for (form, order), make in makers(name, size, given.device) if time.monotonic() < end else ():
            if form not in given.forms or order not in given.orders:
                continue
            for count in given.threads if given.device == "cpu" else (0,):
                threads.use(count or None)
                row = {"name": name, "size": size, "order": order, "form": form, "threads": count}
                yield row | choice(form, make, given.device)


def choice(form, make, device):
    """What `auto` takes, how long it judges, and the times of every method on new graphs."""
    found = [name for name, one in METHODS.items() if form in one.reads and not one.baseline]
    methods = ["auto", *dict.fromkeys([PLAIN, *(name for name in found if name not in OTHERS[device])])]
    times, graph = measured(make, methods), make()
    judging = [seconds(partial(select_method, make())) for _ in range(9)]
    row = {"vertices": graph.n_vertices, "edges": graph.n_edges, "taken": select_method(graph)}
    row["judging_ms"] = 1e3 * statistics.median(judging)
    return row | {"fresh_ms": {name: ms_of(spent) for name, spent in times.items()}}


def measured(make, methods):
    """Times of all methods in turn by name, each on new graphs, in seconds; slow ones run less often."""
    times = {method: [] for method in methods}
    for method in methods:
        on_new(make, method)  # compiles, if it is the first
    for turn in range(MOST):
        first = turn % len(methods)  # what runs before changes what is in the caches
        for method in (*methods[first:], *methods[:first]):
            spent = times[method]
            if turn < LEAST or sum(spent) < ENOUGH:
                spent.append(on_new(make, method))
    return times


def on_new(make, method):
    """Seconds of a call on a new graph."""
    return seconds(partial(ew.connected_components, make(), method=method))


def ms(row, method):
    """Milliseconds of a method on new graphs."""
    return row["fresh_ms"][method]["median"]


def name_of(row):
    """A graph, its order and its form in words."""
    size = f"2^{row['size']}" if row["size"] else ""
    return f"{row['name']:12s} {size:5s}{row['order']:15s} {row['form']:6s}"


def report(rows):
    """Lines about the limits, and about what each method gains over all others."""
    for (form, count), found in groups(rows, "form", "threads"):
        yield f"--- {form}{f', {count} threads' if count else ''}: {len(found)} graphs"
        pairs = [(f"{name_of(row)} {row['taken']}; {best_of(row)}", ms(row, "auto"), row) for row in found]
        plain = [(name, spent, ms(row, PLAIN)) for name, spent, row in pairs]
        yield from harness.compared(f"auto / {PLAIN}", plain, SLOWER, BEYOND_MS)
        best = [(name, spent, ms(row, best_of(row))) for name, spent, row in pairs]
        yield from harness.compared("auto / the best", best, FAR, BEYOND_MS)
        late = [row for row in found if row["judging_ms"] > max(JUDGING * ms(row, "auto"), BEYOND_MS)]
        yield f"judging takes more than {100 * JUDGING:.0f} %: {len(late)}"
        for row in late:
            share = 100 * row["judging_ms"] / ms(row, "auto")
            yield f"    {share:4.0f} % of {ms(row, 'auto'):.3f} ms  {name_of(row)}"
        yield from without_each(found)


def best_of(row, without=()):
    """The fastest method of a row, apart from some."""
    return min((name for name in row["fresh_ms"] if name not in ("auto", *without)), key=partial(ms, row))


def without_each(rows):
    """Lines about every method: where it is the best, and how much longer the next best takes."""
    for method in dict.fromkeys(name for row in rows for name in row["fresh_ms"] if name != "auto"):
        gains = [
            (ms(row, best_of(row, {method})) / ms(row, method), row) for row in rows if best_of(row) == method
        ]
        most = max(gains, key=lambda pair: pair[0], default=None)
        text = f"; the next best takes up to {most[0]:.2f} ({name_of(most[1]).strip()})" if most else ""
        far = sum(ratio > FAR for ratio, _ in gains)
        yield f"{method}: the best of {len(gains)} graphs, of {far} by more than 10 %{text}"


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


def edge_list(name, device="cuda"):
    """A graph of the lists of a GPU."""
    if name in RMATS:
        scale, factor = RMATS[name]
        return ew.generate.rmat(scale, edge_factor=factor, simple=True, device=device)
    if name.startswith("scale-free"):
        return ew.generate.scale_free(1 << 22, device=device)
    return families.graph(name, device)


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
    """Rows of one GPU and of all teams."""
    base, expected = on_one(name, graph)
    yield base
    for team in teams()[1:]:
        yield from on_team(name, graph, team, expected, base, ("edges", "range"))


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
    "choices": part(
        "choices-{kind}",
        choices,
        key=("name", "size", "order", "form", "threads"),
        summary=report,
        device="cpu",
        threads=[2],
        names=str,
        sizes=int,
        forms=[*FORMS],
        orders=[*FORMS["edges"]],
        limit=math.inf,
    ),
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
    "several": part("several-gpu", several, key=("part", "graph", "form", "gpus", "merge"), graphs=SEVERAL),
}

if __name__ == "__main__":
    main(__doc__, PARTS)
