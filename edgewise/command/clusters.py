"""What ``edgewise components`` may be asked of clusters: records, names, updates and views of the result."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Annotated, Any

import typer

import edgewise
from edgewise.command import outputs, report
from edgewise.command.scores import Scores
from edgewise.components.naming import check_name
from edgewise.errors import GraphError, OptionError
from edgewise.files import destinations
from edgewise.files.atomic_write import atomic_write
from edgewise.files.inputs import is_local, name_of

_PANEL = "The clusters"
Records = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Table with one row for each vertex; all of them get a cluster.",
        rich_help_panel=_PANEL,
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COLUMN", help="Column of the records with the ids.", rich_help_panel=_PANEL
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        metavar="first|min|row",
        help="What a cluster is called: the id of its first member, its least id, or its first row.",
        rich_help_panel=_PANEL,
    ),
]
MinSize = Annotated[
    int, typer.Option(min=1, metavar="N", help="Leave out smaller clusters.", rich_help_panel=_PANEL)
]
Top = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Show the N largest clusters.", rich_help_panel=_PANEL),
]
Sizes = Annotated[
    bool, typer.Option("--sizes", help="Show how many clusters have each size.", rich_help_panel=_PANEL)
]
Members = Annotated[
    str | None,
    typer.Option(metavar="ID", help="Show the ids in the cluster of this one.", rich_help_panel=_PANEL),
]
Update = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Table of named clusters to add the pairs to.", rich_help_panel=_PANEL),
]
Changes = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="With --update: table to write of the clusters that merged, grew or are new.",
        rich_help_panel=_PANEL,
    ),
]
Thresholds = Annotated[
    str | None,
    typer.Option(
        metavar="T,T,...",
        help="Clusters at several thresholds of the score, such as 0.8,0.9,0.95, in one table.",
        rich_help_panel=_PANEL,
    ),
]
MaxSize = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Cut larger clusters at their weakest pairs, by the score.",
        rich_help_panel=_PANEL,
    ),
]

OneToOne = Annotated[
    str | None,
    typer.Option(
        "--one-to-one",
        metavar="all|DATASET,...",
        help="Join clusters by their best pairs, with one record at most of each of these datasets: of "
        "source_dataset, of ids of two columns, or left and right.",
        rich_help_panel=_PANEL,
    ),
]
Ties = Annotated[
    str | None,
    typer.Option(
        metavar="lowest_id|drop",
        help="With --one-to-one: of pairs of equal score take the lowest ids, or none.",
        rich_help_panel=_PANEL,
    ),
]

#: What can become of a cluster, in the order of the closing line.
CHANGES = ("merged", "grown", "new")


@dataclass(frozen=True)
class Clusters:
    """The options about pairs, records, names and updates."""

    pairs: list[str]
    records: str | None
    id_column: str | None
    name: str | None
    min_size: int
    update: str | None
    changes: str | None
    scores: Scores

    def check(self, stream, view):
        """Refuse options that mean nothing together."""
        check_name(self.name)
        if self.scores.thresholds is not None and (shown := view.kind()):
            raise OptionError(f"--{shown} is of one threshold; give --threshold instead of --thresholds")
        self.scores.check(stream, self.update)
        if self.changes is not None and self.update is None:
            raise OptionError(
                "--changes are those of an update; add --update, the clusters of the run before"
            )
        if self.id_column is not None and self.records is None and self.update is None:
            raise OptionError("--id is a column of --records; give that too")
        for option, given in (("records", self.records), ("update", self.update)):
            if stream and given is not None:
                raise OptionError(
                    f"--{option} keeps the ids of all pairs in memory; leave out it or --stream"
                )
        if self.update is not None and self.min_size > 1:
            raise OptionError(
                "--min-size would lose clusters that later updates need; leave out it or --update"
            )

    def inputs(self):
        """The inputs that the table may not replace; it may replace the clusters that are updated."""
        return [*self.pairs, *([] if self.records is None else [self.records])]

    def in_messages(self):
        """What messages call the pairs."""
        return name_of(self.pairs[0]) if len(self.pairs) == 1 else f"{len(self.pairs)} files"

    def read(self, reading, progress):
        """The graph, and a function that makes the result of its components."""
        reading = self.scores.reading(reading, self.pairs) | {"progress": progress}
        pairs = self.pairs[0] if len(self.pairs) == 1 else self.pairs
        if self.update is None:
            if self.records is not None:
                reading |= {"vertices": self.records, "vertex_id": self.id_column}
            return edgewise.read(pairs, **reading), lambda result: result
        from edgewise.components.update import read_clusters

        old = read_clusters(self.update, self.name or "min", self.id_column)
        return old.with_pairs(pairs, self.records, reading), old.updated

    def write(self, stage, result, output, to):
        """Write the table, and the changes, as far as they are wanted; return it unless workers wrote it."""
        if not hasattr(result, "table"):
            return None
        table = result.table(self.name, min_size=self.min_size)
        if output is not None or self.changes is not None:
            with stage("write", f"writing {destinations.name_of(output or self.changes)}"):
                changed = None if self.changes is None else result.changes()
                _write_both(table, output, to, changed, self.changes)
        return table

    def facts(self, result) -> dict:
        """What the JSON object says of thresholds, of clusters that were cut, or of an update."""
        if self.update is None:
            return self.scores.facts(result)
        return {"changes": _counted_changes(result), "changed": self.changes}

    def in_words(self, result) -> str:
        """What the closing line says of an update, or of clusters that were cut."""
        if self.update is None:
            return self.scores.in_words(result)
        counts = _counted_changes(result)
        return f" ({', '.join(f'{counts[change]:,} {change}' for change in CHANGES)})"


def _counted_changes(result):
    """How many clusters there are now by merging, by growing, and that are new."""
    import pyarrow.compute as pc

    table = result.changes()
    names = {change: table.filter(pc.equal(table["change"], change))["cluster"] for change in CHANGES}
    return {change: pc.count_distinct(column).as_py() for change, column in names.items()}


@dataclass(frozen=True)
class View:
    """What is shown instead of the table: the largest clusters, the sizes, or the members of one."""

    top: int | None
    sizes: bool
    members: str | None
    name: str | None

    def kind(self, output=None) -> str | None:
        """The option that was given, or ``None``."""
        given = {"top": self.top is not None, "sizes": self.sizes, "members": self.members is not None}
        asked = [option for option, wanted in given.items() if wanted]
        if len(asked) > 1:
            raise OptionError(f"--{asked[0]} and --{asked[1]} are two views; give one of the two")
        if asked and output is not None and destinations.goes_to_standard_output(output):
            raise OptionError(f"--{asked[0]} and -o {output} both need standard output; name a file with -o")
        return asked[0] if asked else None

    def of(self, result):
        """The table of the view."""
        import pyarrow as pa

        if self.sizes:
            return result.size_counts()
        if self.top is not None:
            return result.top(self.top, self.name)
        from edgewise.ingest.arrow import arrow_array

        return pa.table({"id": arrow_array(result.members(id_of(result.graph, str(self.members))))})

    def facts(self, shown) -> dict:
        """What the JSON object says of the view."""
        return {} if shown is None else {self.kind(): shown.to_pylist()}

    def show(self, shown, to):
        """Print the view: all of it, on a terminal as columns, else as text in a format."""
        if outputs.is_terminal() and to is None:
            report.table(shown, shown.num_rows)
        else:
            edgewise.write(shown, "-", format=to)


def id_of(graph, word) -> Any:
    """An id that comes as text, in the type that those of the graph have."""
    from edgewise.ingest.id_types import describe, is_plain, of_word

    ids = graph.ids
    if ids is not None and not hasattr(ids, "dtype"):
        try:
            return word if is_plain(ids.type) else of_word(word, ids.type)
        except ValueError:  # those of Arrow are among them
            problem = f"vertex {word!r} is not in the graph: its ids are of type {describe(ids.type)}"
            raise GraphError(problem) from None
    if not word.removeprefix("-").isdecimal():
        raise GraphError(f"vertex {word!r} is not in the graph: its ids are integers")
    return int(word)


def _write_both(table, output, to, changed, changes):
    """Write the clusters and the changes; the file of the changes appears when the clusters are written."""
    with ExitStack() as parts:
        file = changed is not None and _is_file(changes)
        if file:
            edgewise.write(changed, parts.enter_context(atomic_write(changes)))
        if output is not None:
            edgewise.write(table, output, format=to)
        if changed is not None and not file:
            edgewise.write(changed, changes)


def _is_file(path):
    """Whether an output is a file of this machine, rather than standard output, a pipe or an address."""
    return not destinations.goes_to_standard_output(path) and is_local(path)
