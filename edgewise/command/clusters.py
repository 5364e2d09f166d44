"""``edgewise clusters``: a store of clusters, a subcommand for each thing that is done with it."""

from pathlib import Path
from typing import NamedTuple

import typer

import edgewise
from edgewise.command import help_text, options, report
from edgewise.command.outputs import check_output, on_terminal, or_standard_output
from edgewise.command.stages import seconds, stages
from edgewise.errors import OptionError
from edgewise.files.destinations import name_of
from edgewise.files.store import MANIFEST

DOCUMENTATION = "cluster-store.md"
Store = options.argument(str, "STORE", "Folder of the store.")
Pairs = options.argument(list[str], "FILE", "Pairs: tables, a folder, a pattern; - for standard input.")
Output = options.option(
    str, "Table to write of what has become of clusters.", "--output", "-o", metavar="FILE"
)
Table = options.option(str, "Table to write; - is standard output.", "--output", "-o", metavar="FILE")
To = options.option(
    str, "Format of the table, whatever the suffix.", "--to", metavar="csv|tsv|jsonl|parquet|arrow"
)
Cause = options.option(str, "What the log says of this entry.", metavar="TEXT")

#: Arguments of a batch that are files.
FILES = ("add", "remove", "records", "delete", "must", "cannot", "withdraw")


class Columns(NamedTuple):
    """Columns of the tables."""

    source: options.option(str, "Column of one id: name, or position from 0; or DATASET,ID.") = None
    target: options.option(str, "Column of the other id.") = None
    score: options.option(str, "Column of the scores.") = None


class Batch(NamedTuple):
    """What is changed."""

    add: options.option(str, "Pairs to add, with their scores.", metavar="FILE") = None
    remove: options.option(str, "Pairs to remove.", metavar="FILE") = None
    records: options.option(str, "Records to add, also those without pairs.", metavar="FILE") = None
    delete: options.option(str, "Records to delete.", metavar="FILE") = None
    must: options.option(str, "Pairs of records that must be together.", metavar="FILE") = None
    cannot: options.option(str, "Pairs of records that cannot be together.", metavar="FILE") = None
    withdraw: options.option(str, "Decisions to withdraw: pairs of records.", metavar="FILE") = None
    with_pairs: options.option(bool, "Remove what names deleted records, too.") = False
    vertex_id: options.option(str, "Column of tables of records with the ids.", "--id", metavar="COLUMN") = (
        None
    )


class Settings(NamedTuple):
    """What holds until it is changed."""

    threshold: options.option(float, "Least score of a pair that counts.", metavar="SCORE") = None
    max_size: options.option(
        int, "Cut larger clusters at their weakest pairs, by the score.", min=1, metavar="N"
    ) = None
    one_to_one: options.option(
        str,
        "Datasets of which a cluster has one record at most; ids name them, such as crm-__-17.",
        metavar="all|DATASET,...",
    ) = None

    def given(self):
        """Those that are given, as a store takes them."""
        given = {name: value for name, value in self._asdict().items() if value is not None}
        if given.get("one_to_one", "all") != "all":
            given["one_to_one"] = sorted({word.strip() for word in self.one_to_one.split(",")})
        return given


class Cleared(NamedTuple):
    """Settings that hold no more."""

    no_threshold: options.option(bool, "Count all pairs, whatever their scores.", "--no-threshold") = False
    no_max_size: options.option(bool, "Allow clusters of any size.", "--no-max-size") = False
    no_one_to_one: options.option(bool, "Allow any records in a cluster.", "--no-one-to-one") = False


@options.subcommand(DOCUMENTATION, "edgewise clusters open people --threshold 0.9")
def open_store(store: Store, settings: Settings, shown: options.Shown):
    """Create a store, unless it is there, and show what it holds."""
    given = settings.given()
    if (Path(store) / MANIFEST).exists():
        opened = edgewise.ClusterStore.open(store)
        for name, value in given.items():
            if value != getattr(opened, name):
                option = name.replace("_", "-")
                remedy = f"edgewise clusters apply {store} --{option} {getattr(settings, name)}"
                held = f"the {option} of {store} is {getattr(opened, name)}"
                raise OptionError(f"{held}; change it with {remedy}")
    else:
        opened = edgewise.ClusterStore.create(store, **given)
    facts = _facts(opened)
    if shown.json:
        report.as_json(facts)
    elif not shown.quiet:
        report.lines(facts)


@options.subcommand(DOCUMENTATION, "edgewise clusters add people more.csv --cause monday")
def add_pairs(
    store: Store,
    pairs: Pairs,
    columns: Columns,
    shown: options.Shown,
    cause: Cause = None,
    output: Output = None,
):
    """Add pairs with their scores."""
    _change(store, {"add": list(pairs), "cause": cause, **columns._asdict()}, shown, output)


@options.subcommand(DOCUMENTATION, "edgewise clusters remove people reviewed.csv --cause mistake")
def remove_pairs(
    store: Store,
    pairs: Pairs,
    columns: Columns,
    shown: options.Shown,
    cause: Cause = None,
    output: Output = None,
):
    """Remove pairs, which must be there."""
    _change(store, {"remove": list(pairs), "cause": cause, **columns._asdict()}, shown, output)


@options.subcommand(DOCUMENTATION, "edgewise clusters apply people --add more.csv --cannot reviewed.csv")
def apply_batch(
    store: Store,
    batch: Batch,
    columns: Columns,
    settings: Settings,
    cleared: Cleared,
    shown: options.Shown,
    cause: Cause = None,
    output: Output = None,
):
    """Apply changes of several kinds as one entry."""
    given = {**batch._asdict(), **columns._asdict(), **settings.given(), "cause": cause}
    for name, clears in zip(settings._fields, cleared):
        if clears and name in given:
            one, other = (f"--{option}".replace("_", "-") for option in (name, f"no_{name}"))
            raise OptionError(f"{one} and {other} contradict each other; give one of the two")
        if clears:
            given[name] = None
    _change(store, given, shown, output)


@options.subcommand(DOCUMENTATION, "edgewise clusters log people -o log.csv")
def show_log(
    store: Store,
    cluster: options.option(int, "Only what has become of this one.", metavar="NAME") = None,
    output: Table = None,
    to: To = None,
):
    """Show what has become of clusters, a row for each change."""
    _show(edgewise.ClusterStore.open(store).log(cluster=cluster), output, to)


@options.subcommand(DOCUMENTATION, "edgewise clusters at people --entry 1 -o clusters.parquet")
def show_clusters(
    store: Store,
    entry: options.option(int, "As it was after this entry; the last one by default.", metavar="N") = None,
    thresholds: options.option(
        str, "As they would be at several higher thresholds, such as 0.95,0.99.", metavar="T,T,..."
    ) = None,
    output: Table = None,
    to: To = None,
):
    """Show the records with their clusters, now, after an entry, or at higher thresholds."""
    from edgewise.command.scores import numbers_of

    opened = edgewise.ClusterStore.open(store)
    numbers = None if thresholds is None else numbers_of(thresholds)
    _show(opened.at(entry, thresholds=numbers), output, to)


class Judged(NamedTuple):
    """Clusters to look at."""

    count: options.option(int, "Only the first N.", "--top", min=1, metavar="N") = None
    cluster: options.option(int, "Only of this one.", metavar="NAME") = None
    changed: options.option(bool, "Only of clusters that the last entry has changed.") = False

    def of(self, store):
        """The arguments of a method of a store."""
        if self.cluster is not None and self.changed:
            raise OptionError("--cluster and --changed are two choices; give one of the two")
        log = store.log() if self.changed else None
        names = None if self.cluster is None else [self.cluster]
        if log is not None:
            names = log.filter(log["entry"].to_numpy() == store.entry)["cluster"]
        return {"count": self.count, "clusters": names}


@options.subcommand(DOCUMENTATION, "edgewise clusters review people --top 20 --changed")
def show_review(store: Store, judged: Judged, output: Table = None, to: To = None):
    """Show the pairs to look at first: the most records are together by each alone."""
    opened = edgewise.ClusterStore.open(store)
    _show(opened.review(**judged.of(opened)), output, to)


@options.subcommand(DOCUMENTATION, "edgewise clusters cohesion people --top 20")
def show_cohesion(store: Store, judged: Judged, output: Table = None, to: To = None):
    """Show how well clusters hold together, those first that one pair parts the most."""
    opened = edgewise.ClusterStore.open(store)
    _show(opened.cohesion(**judged.of(opened)), output, to)


SUBCOMMANDS = {
    "open": open_store,
    "add": add_pairs,
    "remove": remove_pairs,
    "apply": apply_batch,
    "log": show_log,
    "at": show_clusters,
    "review": show_review,
    "cohesion": show_cohesion,
}


def add(app, name, summary):
    """Put the subcommand, with one subcommand for each thing to do, into ``app``."""
    few = [function.examples[0] for function in SUBCOMMANDS.values()]
    group = typer.Typer(
        cls=help_text.Group, epilog=help_text.ending(few, DOCUMENTATION), suggest_commands=False
    )
    for word, function in SUBCOMMANDS.items():
        how = {"help": function.__doc__, "epilog": help_text.ending(function.examples, DOCUMENTATION)}
        group.command(word, cls=help_text.Command, **how)(function)
    app.add_typer(group, name=name, help=summary)


def _facts(store):
    """What a store holds."""
    facts = {"entry": store.entry, "threshold": store.threshold, "max_size": store.max_size}
    facts |= {"one_to_one": store.one_to_one, "records": store.n_records}
    return facts | {"pairs": store.n_pairs, "clusters": store.n_clusters}


def _change(path, given, shown, output):
    """Apply a batch, and write and print what has become of clusters."""
    import pyarrow.compute as pc

    asked = (given[name] for name in FILES if given.get(name) is not None)
    files = [one for value in asked for one in (value if isinstance(value, list) else [value])]
    if output is not None:
        check_output(output, sources=files, table=True, json=shown.json)
    with stages(shown.quiet or shown.json or on_terminal(output)) as (stage, clock):
        with stage("open", f"opening {path}"):
            store = edgewise.ClusterStore.open(path)
        with stage("apply", f"changing {path}"):
            log = store.apply(**given)
        if output is not None:
            with stage("write", f"writing {name_of(output)}"):
                edgewise.write(log, output)
    counts = {row["values"]: row["counts"] for row in pc.value_counts(log["change"]).to_pylist()}
    if shown.json:
        report.as_json(_facts(store) | {"changes": counts, "seconds": seconds(clock), "output": output})
    elif not shown.quiet:
        changes = ", ".join(f"{count:,} {change}" for change, count in counts.items()) or "no change"
        report.close(f"entry {store.entry} of {path}: {changes}; {report.times(clock)}", output)
    if shown.profile:
        report.profile(clock)


def _show(table, output, to):
    """Write a table, or show its first rows on a terminal."""
    output = or_standard_output(output, to)
    if output is None:
        report.table(table)
    else:
        check_output(output, table=True, to=to)
        edgewise.write(table, output, format=to)
