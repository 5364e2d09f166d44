"""The tables of cycles; see :mod:`tables`."""

from charts import Panel, dots
from record import peers, results, table

#: Names that methods had when the results were written, and have now.
RENAMED = {"triangles-warps": "triangles", "squares-tables": "squares", "pentagons-tables": "pentagons"}


def on_one_gpu():
    """Milliseconds of counting alone on one GPU, what comes before, and a whole call."""
    body = []
    for row in results("cycles-gpu")["rows"]:
        ms, bar = row["ms"], row["g2miner_ms"]
        body.append(
            [
                row["graph"],
                row["length"],
                f"`{RENAMED.get(row['method'], row['method'])}`",
                f"{row['total']:,}",
                f"**{_three(ms['median'])}**",
                f"{_three(ms['least'])} to {_three(ms['largest'])}",
                bar or "",
                f"{ms['median'] / row['floor_ms']:.0f}",
                _three(row["ready_ms"]),
                _three(row["ranking_ms"]),
            ]
        )
    header = ["graph", "k", "method", "cycles", "ms", "spread", "G2Miner, total only", "x floor"]
    return table([*header, "preparing, ms", "ranking, ms"], body)


def beside_g2miner(length):
    """Milliseconds of counting through every vertex of com-DBLP, and of G2Miner's total."""
    rows = [row for row in results("cycles-gpu")["rows"] if row["graph"] == "com-DBLP"]
    (ms,) = (row["ms"]["median"] for row in rows if row["length"] == length)
    return ms, peers("gpu-cycles")[0]["ms"][str(length)]


def on_several():
    """Seconds on one GPU, two, and with the CPU beside."""
    rows = results("cycles-several-gpu")["rows"]
    header = ["graph", "k", "devices", "seconds", "x one GPU"]
    return table(
        header,
        [
            [
                row["graph"],
                row["length"],
                ", ".join(row["taking_part"]),
                _three(row["seconds"]["median"]),
                f"{row['speedup']:.2f}",
            ]
            for row in rows
        ],
    )


def triangles_on_cpu():
    """Milliseconds of the whole call beside other libraries, the least of all runs."""
    rows = results("cycles-cpu-triangles")["rows"]
    peers = [way for way in rows[0]["ms"] if way not in ("rows", "ranked")]
    header = ["graph", "threads", "edgewise", *peers, "over the fastest"]
    return table(
        header,
        [
            [
                row["graph"],
                row["threads"],
                f"**{_three(row['ms']['rows'])}**",
                *(_three(row["ms"][peer]) if peer in row["ms"] else "" for peer in peers),
                f"{row['ratio']:.2f}",
            ]
            for row in rows
        ],
    )


def lengths_on_cpu():
    """Seconds of counting alone for com-DBLP by method and threads."""
    rows = [row for row in results("cycles-cpu-lengths")["rows"] if row["method"] != "command"]
    panel = Panel("", "seconds", {})
    for row in sorted(rows, key=lambda row: (row["length"], row["seconds"])):
        times = panel.rows.setdefault(f"{row['method']}, {row['length']}: {row['total']:,} cycles", {})
        times[f"{row['threads']} thread" + "s" * (row["threads"] > 1)] = row["seconds"]
    return dots("cycles-cpu", "Seconds of counting the cycles of com-DBLP", [panel])


def _three(value):
    """A number in three digits or so."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


TABLES = {
    "cycles-gpu": on_one_gpu,
    "cycles-several-gpu": on_several,
    "cycles-cpu-triangles": triangles_on_cpu,
    "cycles-cpu-lengths": lengths_on_cpu,
}
