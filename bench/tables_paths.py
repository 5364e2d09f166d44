"""The tables of shortest paths; see :mod:`tables`."""

from functools import partial
from statistics import geometric_mean

from charts import Panel, dots, lines
from record import peers, results, table

#: The graph in which a search reaches 19 vertices.
SMALL = "comps2M"


def searches(problem):
    """Milliseconds of every method of a search on the GPU graphs, and the peers' best."""
    rows = [row for row in results("paths-gpu")["rows"] if row["problem"] == problem]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    body = []
    for graph in dict.fromkeys(row["graph"] for row in rows):
        found = {row["method"]: row for row in rows if row["graph"] == graph}
        best = min(found.values(), key=lambda row: row["ms"]["median"])
        cells = [_ms(found[method]["ms"]["median"], best) if method in found else "" for method in methods]
        body.append(
            [
                graph,
                *cells,
                f"{_fastest_peer(problem, graph)['ms'][graph]:g}",
                f"{best['floor_ms']:.2f}",
                f"{best['first_s']:.1f}",
            ]
        )
    return table(["graph", *(f"`{m}`" for m in methods), "best peer", "bytes' floor", "first call, s"], body)


def _fastest_peer(problem, graph):
    mine = [peer for peer in peers("gpu-searches") if peer["problem"] == problem and graph in peer["ms"]]
    return min(mine, key=lambda one: one["ms"][graph])


def beside_peer(problem, graph):
    """Least milliseconds of any method of a search of ``graph``, and the fastest peer."""
    rows = [row for row in results("paths-gpu")["rows"] if (row["problem"], row["graph"]) == (problem, graph)]
    return min(row["ms"]["median"] for row in rows), _fastest_peer(problem, graph)


def _ms(value, best):
    text = f"{value:.3g}" if value >= 100 else f"{value:.2f}"
    return f"**{text}**" if value == best["ms"]["median"] else text


def hierarchies(graphs=None):
    """Milliseconds of searches by levels and by a contraction hierarchy, on a new graph and on a warm one."""
    header = ["graph", "search", "rounds", "core", "elimination", "by levels, new", "warm"]
    header += ["by a hierarchy, new", "warm"]
    body = []
    for row in results("hierarchy-gpu")["rows"]:
        if graphs and row["graph"] not in graphs:
            continue
        cells = [row["graph"], row["problem"].upper(), row["rounds"], f"{row['core']:,}"]
        cells.append(f"{row['elimination_ms']['median']:.2f}")
        for spent in row["calls"].values():
            warm = ", ".join(f"{one['median']:.2f}" for one in spent["warm"])
            cells += [f"{spent['fresh']['median']:.2f}", warm]
        body.append(cells)
    return table(header, body)


def floyd_warshall():
    """Updates a second of Floyd and Warshall's method in tiles, on one GPU."""
    rates = {}
    for row in results("apsp-gpu-tiles")["rows"] + results("apsp-gpu-large")["rows"]:
        case = f"{row['type']}, {'half of' if row['symmetric'] else 'all'} the tiles"
        done = row["updates_per_second"] / (2 if row["symmetric"] else 1) / 1e12
        rates.setdefault(case, {})[row["vertices"]] = done
    panel = Panel("", "vertices", rates, "linear")
    return lines("floyd-warshall-gpu", "Updates a second by number of vertices", [panel], "T updates/s done")


def all_pairs_gpu():
    """Seconds of all pairs on GPUs: a dense matrix on one and on two, a sparse graph, and a peer."""
    peer = peers("gpu-all-pairs")[0]
    body = [
        [f"`floyd-warshall`, int32, {row['vertices']:,} vertices", row["gpus"], *_seconds_and_rate(row)]
        for row in results("apsp-gpu-tiles")["rows"]
        if (row["type"], row["vertices"], row["symmetric"]) == ("int32", 32768, False)
    ]
    body.append([f"{peer['name']}, {peer['vertices']:,} vertices", 1, "", peer["updates_per_second"] / 1e12])
    body += [
        [f"`floyd-warshall`, int32, {row['vertices']:,} vertices", row["gpus"], *_seconds_and_rate(row)]
        for row in results("apsp-gpu-several")["rows"]
    ]
    body += [
        [
            f"`sssp`, {row['vertices']:,} vertices, {row['edges']:,} edges",
            row["gpus"],
            f"{row['seconds']['median']:.2f}",
            "",
        ]
        for row in results("apsp-gpu-lanes")["rows"]
    ]
    return table(["all pairs", "GPUs", "seconds", "T updates/s"], body)


def _seconds_and_rate(row):
    return f"{row['seconds']['median']:.2f}", f"{row['updates_per_second'] / 1e12:.1f}"


def times_beside_gapbs():
    """Least milliseconds of `auto` and of GAP's program on two threads, by graph and search."""
    times = {
        (row["graph"], "BFS"): (row["ms"], row["gapbs_ms"])
        for row in results("bfs-cpu")["rows"]
        if row["method"] == "auto"
    }
    rows = results("sssp-cpu")["rows"]
    least = {(row["graph"], row["weights"], row["method"]): row["ms"]["least"] for row in rows}
    for graph, weights, method in least:
        if method == "auto" and weights in (10, 255):
            both = least[graph, weights, "auto"], least[graph, weights, "gapbs"]
            times[graph, f"weights 1-{weights}"] = both
    return times


def ratios_to_gapbs():
    """Ratios of the times by search, and by graph."""
    names = {
        "BFS": "breadth-first search, GAP's `bfs` (least times)",
        "weights 1-10": "shortest paths, weights 1 to 10, GAP's `sssp` (least times)",
        "weights 1-255": "shortest paths, weights 1 to 255, GAP's `sssp` (least times)",
    }
    ratios = {name: {} for name in names.values()}
    for (graph, search), (mine, theirs) in times_beside_gapbs().items():
        ratios[names[search]][graph] = mine / theirs
    return ratios


def searches_cpu():
    """Milliseconds of `auto` over those of GAP's programs, and the geometric means of the ratios."""
    times = times_beside_gapbs()
    searches = list(dict.fromkeys(search for _, search in times))
    body = []
    for graph in dict.fromkeys(graph for graph, _ in times):
        both = [times[graph, search] for search in searches]
        body.append([graph, *(f"{mine:.3g} / {theirs:.3g} = {mine / theirs:.2g}" for mine, theirs in both)])
    for name, without in (("geometric mean", ""), (f"geometric mean without {SMALL}", SMALL)):
        means = [
            geometric_mean(ratio for graph, ratio in by_graph.items() if graph != without)
            for by_graph in ratios_to_gapbs().values()
        ]
        body.append([name, *(f"{mean:.2f}" for mean in means)])
    return table(["graph", *searches], body)


def all_pairs_cpu():
    """Seconds (medians) of all pairs on two threads, beside other libraries."""
    rows = [row for row in results("apsp-cpu")["rows"] if "inferred" not in row["way"]]
    panel = Panel("", "seconds", {})
    for row in rows:
        way = row["way"] if " " in row["way"] else f"edgewise, {row['way']}"
        panel.rows.setdefault(f"{row['graph']}, {row['vertices']:,}", {})[way] = row["s"]["median"]
    return dots("all-pairs-cpu", "Seconds of all pairs beside other libraries", [panel])


TABLES = {
    "paths-bfs-gpu": partial(searches, "bfs"),
    "hierarchies": hierarchies,
    "hierarchies-few": partial(hierarchies, ("paths, 2^22", "one path, 2^16", "Luxembourg", "grid, 2^22")),
    "paths-sssp-gpu": partial(searches, "sssp"),
    "apsp-gpu": floyd_warshall,
    "searches-cpu": searches_cpu,
    "all-pairs-gpu": all_pairs_gpu,
    "all-pairs-cpu": all_pairs_cpu,
}
