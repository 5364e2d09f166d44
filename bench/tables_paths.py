"""The tables of shortest paths; see :mod:`tables`."""

from functools import partial

from record import peers, results, table


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
            [graph, *cells, best["best_peer_ms"], f"{best['floor_ms']:.2f}", f"{best['first_s']:.1f}"]
        )
    return table(["graph", *(f"`{m}`" for m in methods), "best peer", "bytes' floor", "first call, s"], body)


def beside_peers():
    """Milliseconds of the fastest method of each search, and of the fastest peer."""
    rows, fastest = results("paths-gpu")["rows"], {}
    for row in rows:
        key = row["problem"], row["graph"]
        if key not in fastest or row["ms"]["median"] < fastest[key]["ms"]["median"]:
            fastest[key] = row
    body = []
    for (problem, graph), row in fastest.items():
        mine = [peer for peer in peers("gpu-searches") if peer["problem"] == problem and graph in peer["ms"]]
        peer = min(mine, key=lambda one: one["ms"][graph])
        cells = f"**{row['ms']['median']:.2f}**", f"{peer['ms'][graph]:g} ({peer['name']})"
        body.append([problem.upper(), graph, f"`{row['method']}`", *cells])
    return table(["search", "graph", "method", "edgewise", "fastest peer"], body)


def _ms(value, best):
    text = f"{value:.3g}" if value >= 100 else f"{value:.2f}"
    return f"**{text}**" if value == best["ms"]["median"] else text


def floyd_warshall():
    """Updates a second of Floyd and Warshall's method in tiles, on one GPU."""
    rows = results("apsp-gpu-tiles")["rows"] + results("apsp-gpu-large")["rows"]
    body = [
        [
            f"{row['vertices']:,}",
            row["type"],
            "half" if row["symmetric"] else "all",
            f"{row['seconds']['least']:.3g}",
            f"{row['updates_per_second'] / (2 if row['symmetric'] else 1) / 1e12:.1f}",
        ]
        for row in rows
    ]
    return table(["vertices", "type", "tiles", "seconds", "T updates/s done"], body)


TABLES = {
    "paths-bfs-gpu": partial(searches, "bfs"),
    "paths-sssp-gpu": partial(searches, "sssp"),
    "apsp-gpu": floyd_warshall,
    "searches-beside-peers": beside_peers,
}
