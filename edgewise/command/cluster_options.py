"""What ``edgewise components`` may be asked of clusters: records, names, updates and views of the result."""

from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

import edgewise
from edgewise.command import options, outputs, report
from edgewise.components.naming import check_name
from edgewise.errors import GraphError, OptionError
from edgewise.files import destinations
from edgewise.files.atomic_write import atomic_write
from edgewise.files.inputs import is_local

option = partial(options.option, rich_help_panel="The clusters")
#: What can become of a cluster, in the order of the closing line.
CHANGES = ("merged", "grown", "new")


class Clusters(NamedTuple):
    """Records, names and updates."""

    records: option(str, "Table with one row for each vertex; all of them get a cluster.", metavar="FILE") = (
        None
    )
    vertex_id: option(str, "Column of the records with the ids.", "--id", metavar="COLUMN") = None
    name: option(
        str,
        "What a cluster is called: the id of its first member, its least id, or its first row.",
        metavar="first|min|row",
    ) = None
    min_size: option(int, "Leave out smaller clusters.", min=1, metavar="N") = 1
    update: option(str, "Table of named clusters to add the pairs to.", metavar="FILE") = None
    changes: option(
        str, "With --update: table to write of the clusters that merged, grew or are new.", metavar="FILE"
    ) = None

    conflicts: option(
        str, "With --cannot: table to write of the pairs that were cut, and the decisions.", metavar="FILE"
    ) = None

    @property
    def aside(self):
        """The output beside the table of the clusters, or ``None``."""
        return self.changes if self.conflicts is None else self.conflicts

    def check(self, scores, stream, view):
        """Refuse options that mean nothing together."""
        check_name(self.name)
        if self.conflicts is not None and (scores.cannot is None or scores.thresholds is not None):
            raise OptionError("--conflicts are those of --cannot, at one --threshold; give these")
        if scores.thresholds is not None and (shown := view.kind()):
            raise OptionError(f"--{shown} is of one threshold; give --threshold instead of --thresholds")
        scores.check(stream, self.update)
        if view.needs_pairs and (stream or self.update is not None):
            others = "stream" if stream else "update"
            raise OptionError(f"--{view.kind()} needs all pairs in memory; leave out it or --{others}")
        if self.changes is not None and self.update is None:
            raise OptionError(
                "--changes are those of an update; add --update, the clusters of the run before"
            )
        if self.vertex_id is not None and self.records is None and self.update is None:
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

    def inputs(self, pairs):
        """The inputs that the table may not replace; it may replace the clusters that are updated."""
        return [*pairs, *([] if self.records is None else [self.records])]

    def read(self, pairs, reading):
        """The graph, and a function that makes the result of its components."""
        pairs = pairs[0] if len(pairs) == 1 else pairs
        if self.update is None:
            if self.records is not None:
                reading |= {"vertices": self.records, "vertex_id": self.vertex_id}
            return edgewise.read(pairs, **reading), lambda result: result
        from edgewise.components.update import read_clusters

        old = read_clusters(self.update, self.name or "min", self.vertex_id)
        return old.with_pairs(pairs, self.records, reading), old.updated

    def write(self, stage, result, output, to):
        """Write the table, and the changes, as far as they are wanted; return it unless workers wrote it."""
        if not hasattr(result, "table"):
            return None
        table = result.table(self.name, min_size=self.min_size)
        if output is not None or self.aside is not None:
            with stage("write", f"writing {destinations.name_of(output or self.aside)}"):
                beside = None
                if self.aside is not None:
                    beside = result.changes() if self.conflicts is None else result.conflicts()
                _write_both(table, output, to, beside, self.aside)
        return table

    def facts(self, result, scores) -> dict:
        """What the JSON object says of thresholds, of clusters that were cut, or of an update."""
        if self.update is None:
            return scores.facts(result)
        return {"changes": _counted_changes(result), "changed": self.changes}

    def in_words(self, result, scores) -> str:
        """What the closing line says of an update, or of clusters that were cut."""
        if self.update is None:
            return scores.in_words(result)
        counts = _counted_changes(result)
        return f" ({', '.join(f'{counts[change]:,} {change}' for change in CHANGES)})"


def _counted_changes(result):
    """How many clusters there are now by merging, by growing, and that are new."""
    import pyarrow.compute as pc

    table = result.changes()
    names = {change: table.filter(pc.equal(table["change"], change))["cluster"] for change in CHANGES}
    return {change: pc.count_distinct(column).as_py() for change, column in names.items()}


class View(NamedTuple):
    """What is shown instead of the table: clusters, their sizes, the members of one, or pairs to review."""

    top: option(int, "Show the N largest clusters.", min=1, metavar="N") = None
    sizes: option(bool, "Show how many clusters have each size.") = False
    members: option(str, "Show the ids in the cluster of this one.", metavar="ID") = None
    cohesion: option(
        int, "Show how well clusters hold together: the N that one pair parts the most.", min=1, metavar="N"
    ) = None
    review: option(
        int,
        "Show the N pairs to look at first: the most records are together by each alone.",
        min=1,
        metavar="N",
    ) = None

    @property
    def needs_pairs(self) -> bool:
        """Whether pairs are shown, with their scores, if there are any."""
        return self.cohesion is not None or self.review is not None

    def kind(self, output=None) -> str | None:
        """The option that was given, or ``None``."""
        given = {name: value not in (None, False) for name, value in self._asdict().items()}
        asked = [option for option, wanted in given.items() if wanted]
        if len(asked) > 1:
            raise OptionError(f"--{asked[0]} and --{asked[1]} are two views; give one of the two")
        if asked and output is not None and destinations.goes_to_standard_output(output):
            raise OptionError(f"--{asked[0]} and -o {output} both need standard output; name a file with -o")
        return asked[0] if asked else None

    def of(self, result, name):
        """The table of the view."""
        import pyarrow as pa

        if self.sizes:
            return result.size_counts()
        if self.top is not None:
            return result.top(self.top, name)
        if self.cohesion is not None:
            return result.cohesion(self.cohesion, name)
        if self.review is not None:
            return result.review(self.review, name)
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
