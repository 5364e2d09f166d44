"""The charts of the preset hellas-2018; see :mod:`tables`."""

from charts import Panel, dots, lines
from record import results


def _rows(name):
    return next(found for found in results("hellas-2018")["tables"] if found["name"] == name)["rows"]


def iterations():
    """Rounds of plain hooks before Hook and before Rem, in percent of the best number of rounds."""
    panels = [
        Panel(
            {"hook": "Hook", "rem": "Rem"}[method],
            "rounds of plain hooks before",
            {
                row["graph"]: {count: row[f"percent_{count}"] for count in range(5)}
                for row in _rows("iterations")
                if row["method"] == method
            },
            "linear",
        )
        for method in ("hook", "rem")
    ]
    return lines(
        "hellas-iterations", "Speed of Hook and Rem by rounds of plain hooks", panels, "% of the best"
    )


def hook_or_rem():
    """How many times as long as Rem does Hook take, on one, two and four devices, and as published."""
    ratios = {}
    for row in _rows("hook-rem"):
        if row["devices"] in (1, 2, 4):
            name = "one GPU" if row["devices"] == 1 else f"{row['devices']} GPUs"
            times = ratios.setdefault(row["graph"], dict.fromkeys(("one GPU", "2 GPUs", "4 GPUs")))
            times[name] = row["hook"] / row["rem"]
            if row["devices"] == 1 and row["published"] is not None:
                times["published, one GPU"] = 1 + row["published"] / 100
    panel = Panel("", "time of Hook / time of Rem", ratios, mark=1)
    return dots("hellas-hook-rem", "Hook takes longer than Rem on every graph", [panel])


def strong():
    """Speed-up by the number of GPUs, with the merge of the thesis and with the one that is selected."""
    rows = _rows("strong")
    panels = [
        Panel(
            title,
            "GPUs",
            {
                graph: {row["devices"]: row[key] for row in rows if row["graph"] == graph}
                for graph in dict.fromkeys(row["graph"] for row in rows)
            },
            "linear",
            mark=1,
        )
        for title, key in (
            ("the merge of the thesis", "speedup"),
            ("the merge that is selected", "auto_speedup"),
        )
    ]
    return lines("hellas-strong", "Speed-up by number of GPUs", panels, "times as fast as one GPU")


def host_link():
    """Rates of edges that are read from the host, by the number of GPUs."""
    rows = _rows("host-link")
    graphs = dict.fromkeys(row["graph"] for row in rows)
    rates = {
        graph: {row["devices"]: row["rate"] for row in rows if row["graph"] == graph} for graph in graphs
    }
    slower = {
        row["graph"]: {"from the host": row["host"], "resident": row["resident"]}
        for row in rows
        if row["devices"] == 1
    }
    one = dots(
        "hellas-host", "Milliseconds on one GPU, edges on the host or on the GPU", [Panel("", "ms", slower)]
    )
    panel = Panel("edges on the host", "GPUs", rates, "linear")
    return f"{one}\n\n" + lines("hellas-host-link", "Rate of edges from the host", [panel], "GB/s")


def streets():
    """What one round of plain hooks gains, with the ids as they are and at random."""
    panels = []
    for method, title in (("rem", "before Rem"), ("hook", "before Hook")):
        gains = {}
        for row in _rows("streets"):
            gains.setdefault(row["graph"], {})[f"ids {row['order']}"] = row[f"{method}_gain"]
        panels.append(Panel(title, "time without / time with one round", gains, mark=1))
    return dots("hellas-streets", "Gain by one round of plain hooks", panels)


TABLES = {
    "hellas-2018-iterations": iterations,
    "hellas-2018-hook-rem": hook_or_rem,
    "hellas-2018-strong": strong,
    "hellas-2018-host-link": host_link,
    "hellas-2018-streets": streets,
}
