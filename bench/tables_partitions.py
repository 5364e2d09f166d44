"""The tables of partitions; see :mod:`tables`."""

from statistics import geometric_mean

from partitions import ARCHIVE, ratios
from record import results, table

METIS = "METIS k-way"
#: Names of the graphs of the large table.
LARGE = {"stencil100": "27-point grid", "rgg20": "random geometric graph", "rmat20": "R-MAT"}


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
            name = method if method == "KaMinPar" else f"`{method}`"
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
    """Seconds on an H200 and on 16 cores, and cuts, on graphs of millions of edges."""
    gpu, cpu = (results(f"partitions-{where}")["rows"] for where in ("gpu", "cpu-16"))
    body = []
    for row in gpu:
        if (row["method"], row["seed"]) != ("default", 1):
            continue
        same = {one["method"]: one for one in cpu if (one["graph"], one["k"]) == (row["graph"], row["k"])}
        mine, others = same.get("default"), [same.get(name) for name in ("KaMinPar", METIS)]
        seconds = [f"{one['seconds']:.2f}" if one else "" for one in (row, mine, *others)]
        shares = [f"{row['cut'] / one['cut']:.2f}" if one else "" for one in others]
        name = f"{LARGE[row['graph']]}, {row['edges'] / 1e6:.1f} M edges"
        body.append([name, row["k"], *seconds, f"{row['cut']:,}", *shares])
    places = ["H200, s", "16 cores, s", "KaMinPar, 16 cores, s", "METIS, s"]
    return table(["graph", "parts", *places, "cut", "of KaMinPar's cut", "of METIS's cut"], body)


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
}
