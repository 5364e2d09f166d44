"""The tables of transactions; see :mod:`tables`."""

from functools import partial

from charts import Panel, dots
from record import results, table

from edgewise.experiments.report import Table
from edgewise.transactions import PROTOCOLS

#: Tables of forests, which are measured apart.
FORESTS = ("forests", "denser", "sparser")
NAMES = {"gpu": "an H200", "cpu": "16 cores"}
#: Words of the histories, from hot to cold.
WORDS = {1: "4 accounts", 64: "64", 200_000: "200,000"}


def of_experiment(where, name):
    """One table of forests of the preset."""
    found = next(t for t in results(f"transactional-forests-{where}")["tables"] if t["name"] == name)
    columns = {
        key: words
        for key, words in found["columns"].items()
        if any(row.get(key) is not None for row in found["rows"])
    }
    return Table(found["name"], found["title"], found["source"], columns, found["rows"]).markdown()


def protocols(where):
    """Transfers a second and abort rates by protocol, for three numbers of accounts: a chart and a table."""
    rows = _rows(where, "protocols")
    words = [(row["protocol"], f"{row['case']}: {row['accounts']:,} accounts", row) for row in rows]
    chart = dots(f"transactions-{where}", f"Transfers a second on {NAMES[where]}", _rates(words))
    cases = list(dict.fromkeys(row["case"] for row in rows))
    cells = {(row["protocol"], row["case"]): _rate_and_aborts(row) for row in rows}
    body = [
        [f"`{name}`" if name in PROTOCOLS else name, *(cells.get((name, case), "") for case in cases)]
        for name in dict.fromkeys(row["protocol"] for row in rows)
    ]
    heads = [f"{case}, million a second (abort rate)" for case in cases]
    return f"{chart}\n\n{table(['protocol', *heads], body)}"


def _rate_and_aborts(row):
    """Million transfers a second, and in brackets the share of attempts that failed."""
    rate = f"{row['rate']:,.1f}" if row["rate"] < 100 else f"{row['rate']:,.0f}"
    return rate if row.get("abort_rate") is None else f"{rate} ({row['abort_rate']:.2f})"


def retries(where):
    """Transfers a second and abort rates by the number of slots and by patience."""
    words = [
        (
            f"{row['slots']:,} slots, patience {row['patience']:,}",
            f"{row['protocol']}, {row['case']}",
            row,
        )
        for row in _rows(where, "retries")
    ]
    return dots(f"transactions-retries-{where}", f"Retries on {NAMES[where]}", _rates(words))


def _rates(words):
    """Panels of rates and of abort rates; ``words`` are the names of a row and of a dot, and the row."""
    panels = []
    for title, key, scale in (
        ("million transfers a second", "rate", "log"),
        ("abort rate", "abort_rate", "linear"),
    ):
        panel = Panel(title, "", {}, scale)
        for label, dot, row in words:
            panel.rows.setdefault(label, {})[dot] = row.get(key)
        panels.append(panel)
    return panels


def _rows(where, name):
    return next(t for t in results(f"transactions-{where}")["tables"] if t["name"] == name)["rows"]


def histories():
    """Commits whose histories have passed, by protocol and device, and how often attempts failed."""
    body = []
    for where, words in NAMES.items():
        for row in results(f"histories-{where}")["rows"]:
            rates = [
                next((f"{run['abort_rate']:.2f}" for run in reversed(row["runs"]) if is_of(run, kind)), "")
                for kind in WORDS
            ]
            counts = f"{row['commits']:,}", f"{row['attempts']:,}", row["violations"]
            body.append([f"`{row['protocol']}`", words, *counts, *rates])
    abort_rates = [f"abort rate of the bank, {kind}" for kind in WORDS.values()]
    return table(["protocol", "on", "commits", "attempts", "violations", *abort_rates], body)


def is_of(run, words):
    """Whether a run is of the bank with so many accounts."""
    return (run["workload"], run["words"]) == ("bank of 4", words)


def broken():
    """What the history test says of protocols that are broken on purpose."""
    body = []
    for where, words in NAMES.items():
        for row in results(f"broken-protocols-{where}")["rows"]:
            body.append([row["protocol"], words, row["workload"], row["runs"], row["caught"] or "not caught"])
    return table(["broken protocol", "on", "workload", "runs", "the history test says"], body)


def segments():
    """The primitives on segments beside NumPy."""
    body = [
        [
            f"`{row['name']}`",
            f"{row['ms']['median']:.0f}",
            f"{row['numpy_ms']['median']:.0f}",
            f"{row['ratio']:.2f}",
        ]
        for row in results("segments-cpu")["rows"]
    ]
    return table(["function", "ms", "NumPy, ms", "ratio"], body)


TABLES = {
    **{
        f"transactions-{name}-{where}": partial(of_experiment, where, name)
        for name in FORESTS
        for where in NAMES
    },
    **{f"transactions-protocols-{where}": partial(protocols, where) for where in NAMES},
    **{f"transactions-retries-{where}": partial(retries, where) for where in NAMES},
    "transactions-segments": segments,
    "transactions-histories": histories,
    "transactions-broken": broken,
}
