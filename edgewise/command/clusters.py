"""What ``edgewise components`` may be asked of clusters: records, names, updates and views of the result."""

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import edgewise
from edgewise.command import report
from edgewise.command.outputs import is_terminal
from edgewise.components.naming import check_name
from edgewise.errors import GraphError, OptionError
from edgewise.files.atomic_write import atomic_write
from edgewise.files.destinations import goes_to_standard_output
from edgewise.files.inputs import is_local

#: What can become of a cluster, in the order of the closing line.
CHANGES = ("merged", "grown", "new")


@dataclass(frozen=True)
class Clusters:
    """The options about records, names and updates."""

    records: str | None
    id_column: str | None
    name: str | None
    min_size: int
    update: str | None
    changes: str | None

    def check(self, stream):
        """Refuse options that mean nothing together."""
        check_name(self.name)
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
        """The inputs besides the pairs, which no output may replace; an update may."""
        return [] if self.records is None else [self.records]

    def read(self, pairs, reading, progress):
        """The graph, and a function that makes the result of its components."""
        reading = reading | {"progress": progress}
        if self.update is None:
            if self.records is not None:
                reading |= {"vertices": self.records, "vertex_id": self.id_column}
            return edgewise.read(pairs, **reading), lambda result: result
        from edgewise.components.update import read_clusters

        old = read_clusters(self.update, self.name or "min", self.id_column)
        return old.with_pairs(pairs, self.records, reading), old.updated

    def changes_of(self, result):
        """The table of changes, if it is wanted."""
        return None if self.changes is None else result.changes()

    def facts(self, result) -> dict:
        """What the JSON object says of an update."""
        return {} if self.update is None else {"changes": _counted_changes(result), "changed": self.changes}

    def in_words(self, result) -> str:
        """What the closing line says of an update."""
        if self.update is None:
            return ""
        counts = _counted_changes(result)
        return f" ({', '.join(f'{counts[change]:,} {change}' for change in CHANGES)})"


def _counted_changes(result):
    """How many clusters there are now by merging, by growing, and that are new."""
    table = result.changes()
    pairs = set(zip(table["cluster"].to_pylist(), table["change"].to_pylist()))
    counts = Counter(change for _, change in pairs)
    return {change: counts[change] for change in CHANGES}


@dataclass(frozen=True)
class View:
    """What is shown instead of the table: the largest clusters, the sizes, or the members of one."""

    top: int | None
    sizes: bool
    members: str | None
    name: str | None

    def kind(self) -> str | None:
        """The option that was given, or ``None``."""
        given = {"top": self.top is not None, "sizes": self.sizes, "members": self.members is not None}
        asked = [option for option, wanted in given.items() if wanted]
        if len(asked) > 1:
            raise OptionError(f"--{asked[0]} and --{asked[1]} are two views; give one of the two")
        return asked[0] if asked else None

    def of(self, result):
        """The table of the view."""
        import pyarrow as pa

        if self.sizes:
            return result.size_counts()
        if self.top is not None:
            return result.top(self.top, self.name or getattr(result, "naming", "first"))
        from edgewise.ingest.arrow import arrow_array

        return pa.table({"id": arrow_array(result.members(self._id(result.graph)))})

    def _id(self, graph) -> Any:
        """The id in the type that those of the graph have."""
        ids, word = graph.ids, str(self.members)
        if ids is not None and not hasattr(ids, "dtype"):
            return word
        if not word.removeprefix("-").isdecimal():
            raise GraphError(f"vertex {word!r} is not in the graph: its ids are integers")
        return int(word)

    def facts(self, shown) -> dict:
        """What the JSON object says of the view."""
        return {} if shown is None else {self.kind(): shown.to_pylist()}

    def show(self, shown, to):
        """Print the view: all of it, on a terminal as columns, else as text in a format."""
        if is_terminal() and to is None:
            report.table(shown, shown.num_rows)
        else:
            edgewise.write(shown, "-", format=to)


def write_both(table, output, to, changed, changes):
    """Write the clusters and the changes; the file of the changes appears when the clusters are written."""
    with ExitStack() as parts:
        later = changed is not None and (goes_to_standard_output(changes) or not is_local(changes))
        if changed is not None and not later:
            edgewise.write(changed, parts.enter_context(atomic_write(changes)))
        if output is not None:
            edgewise.write(table, output, format=to)
        if later:
            edgewise.write(changed, changes)
