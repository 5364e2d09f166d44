"""Harish and Narayanan (2007), as told by Fusi: BFS and SSSP from one vertex, on the CPU and on a GPU.

Figures 4, 5 and 7 of the paper: random graphs of degree 6 to 7, scale-free graphs in which one vertex in a
thousand has a degree of up to 1000, and graphs of 100,000 vertices with growing degree, all with weights from
1 to 10.  The paper's method (``harish``) stands beside what edgewise takes when it is not told, and beside
Dijkstra's on one core.  All pairs are on the next page, :mod:`~edgewise.experiments.harish_pairs`.
"""

from edgewise import generators
from edgewise.experiments.published import HARISH_ON_GPU
from edgewise.experiments.report import Figure, Table, curves
from edgewise.paths.bfs import bfs
from edgewise.paths.sssp import shortest_paths

#: Vertices by size: the paper goes to 10 million.
VERTICES = {
    "paper": (100_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000),
    "small": (10_000, 30_000, 100_000),
    "tiny": (100, 1000),
}
#: Degrees, and the vertices of the graphs that have them.
DEGREES = {
    "paper": (100_000, (6, 12, 25, 50, 100, 200, 400)),
    "small": (5000, (6, 12, 25, 50)),
    "tiny": (100, (6, 12)),
}
LIGHTEST, HEAVIEST = 1, 10
MEAN_DEGREE, HUB_DEGREE = 6.5, 1000
#: A run that should take longer, by the one before it, is left out.
MOST_MS = 30_000

#: Each search: how it is called, and the methods shown.
SEARCHES = {
    "BFS": (bfs, ("harish", "auto")),
    "SSSP": (shortest_paths, ("harish", "dijkstra", "auto")),
}
#: Methods that run on the CPU alone.
ON_CPU = ("dijkstra",)

COLUMNS = {
    "vertices": "vertices",
    "degree": "mean degree",
    "search": "search",
    "method": "method",
    "taken": "taken",
    "device": "on",
    "furthest": "furthest",
    "ms": "ms",
    "runs": "runs",
    "rate": "M edges/s",
    "speedup": "over harish on the CPU, x",
    "published": "published, x",
}


def random_graph(n, degree=MEAN_DEGREE, *, device):
    """A random graph with weights."""
    graph = generators.uniform(n, round(n * degree / 2), seed=1, device=device)
    return generators.with_weights(graph, LIGHTEST, HEAVIEST, seed=1)


def scale_free_graph(n, *, device):
    """A random graph with a few hubs, with weights."""
    graph = generators.scale_free(n, hub_degree=min(HUB_DEGREE, n // 4), seed=1, device=device)
    return generators.with_weights(graph, LIGHTEST, HEAVIEST, seed=1)


def random(watch):
    """Figure 4: BFS and SSSP on random graphs over the number of vertices."""
    graphs = {f"random-{n}": (random_graph, n) for n in VERTICES[watch.size]}
    return _table(
        watch,
        "random",
        "BFS and SSSP on random graphs, weights 1 to 10",
        "Harish 2007, Fig. 4",
        graphs,
        [
            "BFS 20 to 50 times as fast on the GPU as on the CPU, SSSP 70 times on average",
            "SSSP takes about as long as BFS: a light edge hardly ever leads back from far away",
        ],
    )


def scale_free(watch):
    """Figure 5: the same on graphs with a few hubs."""
    graphs = {f"scale-free-{n}": (scale_free_graph, n) for n in VERTICES[watch.size]}
    return _table(
        watch,
        "scale-free",
        "BFS and SSSP on scale-free graphs, weights 1 to 10",
        "Harish 2007, Fig. 5",
        graphs,
        ["slower than random graphs: a thread with a long row keeps the others waiting"],
    )


def degree(watch):
    """Figure 7: BFS and SSSP on graphs with as many vertices and growing degree."""
    n, degrees = DEGREES[watch.size]
    graphs = {f"degree-{degree}": (random_graph, n, degree) for degree in degrees}
    return _table(
        watch,
        "degree",
        "BFS and SSSP over the degree, weights 1 to 10",
        "Harish 2007, Fig. 7",
        graphs,
        [],
        across="degree",
    )


def devices_of(watch):
    """Where searches are measured: on the CPU, and on the first device if it is another."""
    return dict.fromkeys(("cpu", watch.device))


def _table(watch, name, title, source, graphs, published, across="vertices"):
    before = {}
    rows = [row for key in watch.wanted(*graphs) for row in _rows(watch, key, *graphs[key], before=before)]
    series = curves(rows, across, "ms", lambda row: f"{row['search']} {row['method']}, {row['device']}")
    heading = "mean degree" if across == "degree" else across
    return Table(
        name,
        title,
        source,
        COLUMNS,
        rows,
        published,
        [Figure(name, title, heading, "milliseconds", series, steep=True, wide=True)],
    )


def _rows(watch, name, make, *shape, before):
    made = watch.graph(name, lambda: make(*shape, device=watch.device))
    source = int(made.degrees().argmax())
    entries = len(made.neighbours)
    facts = {"vertices": made.n_vertices, "degree": entries / made.n_vertices}
    first = {}
    for where in devices_of(watch):
        graph = made.to(where)
        for search, (call, methods) in SEARCHES.items():
            for method in methods:
                if where != "cpu" and method in ON_CPU:
                    continue
                key, taken = (search, method, where), {}
                if not affordable(before, key, entries):
                    continue
                run = _run(call, graph, source, method, taken)
                found = watch.time(f"{name}, {search}", f"{method} on {where}", run)
                before[key] = entries, found["ms"]
                if (method, where) == ("harish", "cpu"):
                    first[search] = found["ms"]
                row = {"search": search, "method": method, "device": where, **facts, **taken, **found}
                row["rate"] = entries / found["ms"] / 1e3
                row["speedup"] = first[search] / found["ms"] if search in first else None
                row["published"] = HARISH_ON_GPU[search] if where != "cpu" and method == "harish" else None
                yield row


def affordable(before, key, work):
    """Whether a run of so much work should end in time, by what the one before it took."""
    done, ms = before.get(key, (work, 0))
    return ms * work / done <= MOST_MS


def _run(call, graph, source, method, taken):
    """A run for the stopwatch, which notes the method and the furthest distance in ``taken``."""

    def run():
        result = call(graph, source, method=method)
        if not taken:
            taken.update(taken=result.method, furthest=result.eccentricity.item())
        return result.distances, result.seconds

    return run
