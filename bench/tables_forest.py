"""The tables of spanning forests; see :mod:`tables`."""

from statistics import geometric_mean

import forest
import record
from charts import Panel, dots
from record import results, table

PEERS = ("rustworkx", "networkit", "scipy", "igraph")


def gpu():
    """The public call beside ECL-MST."""
    rows = results("forest-gpu")["rows"]
    eclmst, body, ratios = forest.PEERS["ECL-MST"], [], []
    for graph in dict.fromkeys(row["graph"] for row in rows):
        found = {row["form"]: row for row in rows if row["graph"] == graph}
        ms = found["rows"]["ms"]["median"]
        ratios.append(eclmst[graph] / ms)
        cells = [f"{found[form][kind]['median']:.2f}" for form, kind in CELLS]
        body.append(
            [
                graph,
                f"**{ms:.2f}**",
                *cells,
                eclmst[graph],
                f"{ratios[-1]:.1f}",
                f"{found['rows']['x_floor']:.0f}",
            ]
        )
    body.append(["geometric mean", "", "", "", "", f"{geometric_mean(ratios):.2f}", ""])
    header = ["graph", "rows, ms", "and `.edges`", "edge list, ms", "ECL-MST, ms", "ratio", "call / floor"]
    return table(header, body)


CELLS = (("rows", "with_edges_ms"), ("edges", "ms"))


def cpu():
    """The public call beside other libraries of Python: milliseconds, and the means of the ratios."""
    rows = results("forest-cpu")["rows"]
    panels = [
        Panel(weights, "ms", {row["graph"]: _medians(row["ms"]) for row in rows if row["weights"] == weights})
        for weights in dict.fromkeys(row["weights"] for row in rows)
    ]
    picture = dots("forest-cpu", "Milliseconds of spanning forests beside other libraries", panels)
    ours = [row["ms"]["edgewise"]["median"] for row in rows]
    means = (
        f"{geometric_mean(row['ms'][peer]['median'] / ms for row, ms in zip(rows, ours)):.1f} times ({peer})"
        for peer in PEERS
    )
    return f"{picture}\n\nThe geometric means of their times over ours: {', '.join(means)}."


def _medians(ms):
    return {way: times["median"] for way, times in ms.items() if way in ("edgewise", *PEERS)}


def gbbs():
    """Ratios of GBBS and of the public call to rustworkx, each on one machine."""
    then = {peer["name"]: peer["ms"] for peer in record.peers("cpu-forest")}
    rows = [row for row in results("forest-cpu")["rows"] if row["weights"] == "small integers"]
    body, ratios = [], []
    for row in rows:
        graph, ms = row["graph"], row["ms"]
        theirs = then["GBBS, 2 threads, weights 1 to 255"][graph] / then["rustworkx"][graph]
        ours = ms["edgewise"]["median"] / ms["rustworkx"]["median"]
        ratios.append(theirs / ours)
        body.append([graph, f"{theirs:.2f}", f"{ours:.2f}", f"{ratios[-1]:.1f}"])
    body.append(["geometric mean", "", "", f"{geometric_mean(ratios):.1f}"])
    return table(["graph", "GBBS / rustworkx", "edgewise / rustworkx", "GBBS / edgewise"], body)


def cores():
    """Milliseconds by number of threads."""
    rows, body = results("forest-cores")["rows"], []
    counts = sorted({row["threads"] for row in rows})
    for graph in dict.fromkeys(row["graph"] for row in rows):
        for method in ("auto", "kruskal", "boruvka"):
            ms = {
                row["threads"]: row["ms"]["median"]
                for row in rows
                if (row["graph"], row["method"]) == (graph, method)
            }
            cells = (f"{ms[count]:.0f}" for count in counts)
            body.append([graph, method, *cells, f"{ms[counts[0]] / ms[counts[-1]]:.1f}"])
    return table(["graph", "method", *(f"{count} threads, ms" for count in counts), "speed-up"], body)


TABLES = {"forest-gpu": gpu, "forest-cpu": cpu, "forest-gbbs": gbbs, "forest-cores": cores}
