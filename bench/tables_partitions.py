"""The tables of partitions; see :mod:`tables`."""

from statistics import geometric_mean, median

from partitions import ARCHIVE, ratios
from record import results, table

METIS = "METIS k-way"
#: Presets, by which our own rows are named.
OURS = ("fast", "default", "strong")
#: Names of the graphs of the tables of large graphs.
NAMES = {
    "stencil100": "27-point grid",
    "stencil200": "27-point grid",
    "rgg20": "random geometric graph",
    "rgg22": "random geometric graph",
    "delaunay22": "Delaunay triangulation",
    "rmat20": "R-MAT",
    "rmat22": "R-MAT",
    "grid2d2400": "grid of 2400 x 2400",
}
#: Phases of the table of a GPU, and their parts in the results; the others run on the CPU.
PHASES = {
    "coarsening, s (M edges/s)": ("cluster", "contract"),
    "refinement": ("refine",),
    "small levels, on the CPU": (
        "cluster, small levels",
        "contract, small levels",
        "divide",
        "refine, small levels",
    ),
    "the rest": ("rest",),
}


def meshes():
    """Cuts over those of METIS, geometric means over the numbers of parts and the seeds."""
    rows = results("partitions-meshes-cpu")["rows"]
    found = ratios(rows)
    graphs = list(dict.fromkeys(row["graph"] for row in rows))
    body = []
    for method in dict.fromkeys(row["method"] for row in rows):
        if method != METIS:
            means = [
                geometric_mean(cut for (g, _, m), (cut, _) in found.items() if (g, m) == (graph, method))
                for graph in graphs
            ]
            name = f"`{method}`" if method in OURS else method
            body.append([name, *(f"{mean:.3f}" for mean in means), f"**{geometric_mean(means):.3f}**"])
    return table(["cut / METIS", *graphs, "all four"], body)


def irregular():
    """Mean cuts on graphs with hubs."""
    rows = results("partitions-irregular-cpu")["rows"]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    body = []
    for graph, k in dict.fromkeys((row["graph"], row["k"]) for row in rows):
        means = [
            geometric_mean(
                row["cut"] for row in rows if (row["graph"], row["k"], row["method"]) == (graph, k, m)
            )
            for m in methods
        ]
        body.append([graph, k, *(f"{mean:,.0f}" for mean in means)])
    names = [m if m in (METIS, "KaMinPar") else f"`{m}`" for m in methods]
    return table(["mean cut", "parts", *names], body)


def walshaw():
    """Cuts into two parts beside those of the archive, least and mean of the seeds."""
    rows = results("partitions-walshaw-cpu")["rows"]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    body, logs = [], {method: [] for method in methods}
    for graph in dict.fromkeys(row["graph"] for row in rows):
        cells = []
        for method in methods:
            cuts = [row["cut"] for row in rows if (row["graph"], row["method"]) == (graph, method)]
            logs[method].append(geometric_mean(cuts) / ARCHIVE[graph])
            cells += [min(cuts), f"{logs[method][-1]:.3f}"]
        body.append([graph, ARCHIVE[graph], *cells])
    means = [cell for method in methods for cell in ("", f"**{geometric_mean(logs[method]):.3f}**")]
    header = [cell for method in methods for cell in (f"`{method}`, best of three", "mean / archive")]
    return table(["graph", "archive", *header], [*body, ["geometric mean", "", *means]])


def large():
    """Seconds on a GPU by phase, beside KaMinPar on the cores of its host: medians of the seeds."""
    found = results("partitions-22-gpu")
    rows, gpu = found["rows"], found["machine"]["gpu"].split()[1]
    body, shares, against = [], [], ratios(rows, "KaMinPar")
    for graph, k in dict.fromkeys((row["graph"], row["k"]) for row in rows):
        ours = [row for row in rows if (row["graph"], row["k"], row["method"]) == (graph, k, "default")]
        edges, whole = ours[0]["edges"] / 1e6, median(row["seconds"] for row in ours)
        seconds = [
            median(sum(row["phases"].get(name, 0) for name in names) for row in ours)
            for names in PHASES.values()
        ]
        cut, share = against[graph, k, "default"]
        shares.append(1 / share)
        body.append(
            [
                f"{NAMES[graph]}, {edges:.1f} M edges",
                k,
                f"**{whole:.3f}**",
                f"{edges / whole:.0f}",
                *(f"{one:.3f} ({edges / one:,.0f})" for one in seconds),
                f"{whole / share:.2f}",
                f"{shares[-1]:.1f}",
                f"{cut:.2f}",
            ]
        )
    means = [""] * (len(body[0]) - 3)
    body.append(["geometric mean", *means, f"**{geometric_mean(shares):.1f}**", ""])
    theirs = ["KaMinPar, 16 cores, s", "its time / ours", "cut / its cut"]
    return table(["graph", "parts", f"{gpu}, s", "M edges/s", *PHASES, *theirs], body)


def cores():
    """Seconds on one core and on 16, beside KaMinPar on 16."""
    rows, body = results("partitions-cores-cpu")["rows"], []
    for row in rows:
        if row["threads"] == 1 or row["method"] not in ("fast", "default"):
            continue
        one = next(
            other
            for other in rows
            if (other["graph"], other["method"], other["threads"]) == (row["graph"], row["method"], 1)
        )
        peer = _same(rows, row, "KaMinPar")
        body.append(
            [
                f"{NAMES[row['graph']]}, {row['edges'] / 1e6:.1f} M edges",
                f"`{row['method']}`",
                f"{one['seconds']:.2f}",
                f"{row['seconds']:.2f}",
                f"{one['seconds'] / row['seconds']:.1f}",
                f"{peer['seconds']:.2f}",
                f"{row['cut'] / peer['cut']:.2f}",
            ]
        )
    theirs = ["KaMinPar, 16 cores, s", "cut / its cut"]
    return table(["graph", "preset", "1 core, s", "16 cores, s", "times as fast", *theirs], body)


def _same(rows, row, method):
    """The row of another method for the same graph and number of parts."""
    wanted = row["graph"], row["k"], method
    return next(other for other in rows if (other["graph"], other["k"], other["method"]) == wanted)


def times():
    """Time and cut over those of METIS on graphs of more than a million edges, on two cores."""
    rows = [*results("partitions-time-cpu")["rows"], *results("partitions-large-cpu-2")["rows"]]
    found, body = ratios(rows), []
    for graph in dict.fromkeys(row["graph"] for row in rows):
        edges = next(row["edges"] for row in rows if row["graph"] == graph)
        cells = []
        for method in ("fast", "KaMinPar"):
            pairs = [pair for (g, _, m), pair in found.items() if (g, m) == (graph, method)]
            means = [f"{geometric_mean(column):.2f}" for column in zip(*pairs)] or ["", ""]
            cells += reversed(means)
        parts = sorted({row["k"] for row in rows if row["graph"] == graph})
        body.append([graph, f"{edges / 1e6:.1f} M", ", ".join(map(str, parts)), *cells])
    names = ["`fast`: time / METIS", "cut / METIS", "KaMinPar: time / METIS", "cut / METIS"]
    return table(["graph", "edges", "parts", *names], body)


TABLES = {
    "partitions-meshes": meshes,
    "partitions-times": times,
    "partitions-irregular": irregular,
    "partitions-walshaw": walshaw,
    "partitions-large": large,
    "partitions-cores": cores,
}
