"""The tables of transactions; see :mod:`tables`."""

from functools import partial

from charts import Panel, dots
from record import results, table

from edgewise.experiments.report import Table

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
    """Transfers a second and abort rates by protocol, for three numbers of accounts."""
    rows = _rows(where, "protocols")
    panels = []
    for title, key, scale in (
        ("million transfers a second", "rate", "log"),
        ("abort rate", "abort_rate", "linear"),
    ):
        panel = Panel(title, "", {}, scale)
        for row in rows:
            words = f"{row['case']}: {row['accounts']:,} accounts"
            panel.rows.setdefault(row["protocol"], {})[words] = row.get(key)
        panels.append(panel)
    return dots(f"transactions-{where}", f"Transfers a second on {NAMES[where]}", panels)


def retries(where):
    """Transfers a second and abort rates by the number of slots and by patience."""
    rows = _rows(where, "retries")
    panels = []
    for title, key, scale in (
        ("million transfers a second", "rate", "log"),
        ("abort rate", "abort_rate", "linear"),
    ):
        panel = Panel(title, "", {}, scale)
        for row in rows:
            words = f"{row['slots']:,} slots, patience {row['patience']:,}"
            panel.rows.setdefault(words, {})[f"{row['protocol']}, {row['case']}"] = row.get(key)
        panels.append(panel)
    return dots(f"transactions-retries-{where}", f"Retries on {NAMES[where]}", panels)


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
