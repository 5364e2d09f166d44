"""Tables of records: one row for each vertex, with its id in one of the columns.

The ids are read when pairs are numbered, and all columns when a result is written, so that a table in a file
is never in memory as a whole.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from edgewise.errors import GraphError, argument
from edgewise.ingest.arrow import BATCH_ROWS, check_column, is_text, is_utf8
from edgewise.ingest.default_columns import listing
from edgewise.ingest.id_types import plain_type, refusal
from edgewise.ingest.known_ids import known_ids

#: Names of the column of ids that are looked for if none is given, in this order.
USUAL = ("id", "unique_id")


@dataclass(frozen=True)
class Records:
    """A table of records.

    Attributes
    ----------
    schema : pyarrow.Schema
    id_column : str
    batches : callable
        ``batches(columns)`` returns an iterable of record batches with the columns of these names.
    name : str
        What messages call the table.
    rows : int or None
        Number of records, if it is known.
    grow : bool
        Whether pairs may have ids without a record, which become vertices after those with one.
    """

    schema: Any
    id_column: str
    batches: Callable[[list[str]], Iterable[Any]]
    name: str
    rows: int | None = None
    grow: bool = False

    def holds_text(self) -> bool:
        """Whether the ids are strings."""
        return is_text(self.schema.field(self.id_column).type)

    def known_ids(self):
        """The ids, which pairs are numbered by (:class:`~edgewise.ingest.known_ids.KnownIds`)."""
        kind = self.schema.field(self.id_column).type
        name = f"column {self.id_column!r} of {self.name}"
        known = known_ids(kind, name, self.grow, self.rows or 0)
        for batch in self.batches([self.id_column]):
            for start in range(0, batch.num_rows, BATCH_ROWS):
                known.extend(batch.column(0).slice(start, BATCH_ROWS))
        return known


def records_of_table(table, id_column=None, name="the records") -> Records:
    """The records of an Arrow table."""
    id_column = id_column_of(table.schema, id_column, name)
    check_column(table.column(id_column), f"column {id_column!r} of {name}")

    def batches(columns):
        return map(with_valid_text, table.select(columns).to_batches())

    return Records(table.schema, id_column, batches, name, table.num_rows)


def with_valid_text(batch):
    """A record batch, after a check that its strings are UTF-8, which readers of Arrow do not make."""
    for name, column in zip(batch.schema.names, batch.columns):
        text = column.dictionary if hasattr(column, "dictionary") else column
        if is_utf8(text.type):
            try:
                text.validate(full=True)
            except ValueError:
                raise GraphError(f"column {name!r} has text that is not UTF-8; write it again") from None
    return batch


def id_column_of(schema, given, name) -> str:
    """Name of the column with the ids of records: the one given, or the usual one, or the only one."""
    from pyarrow import types

    names, listed = schema.names, listing(schema.names)
    choice = argument("vertex_id", *([] if given is None else [given]))
    if given is None:
        given = next((one for one in USUAL if one in names), names[0] if len(names) == 1 else None)
        if given is None:
            raise GraphError(
                f"which column of {name} holds the ids? choose with {choice} (columns: {listed})"
            )
    if given not in names:
        raise GraphError(f"column {given!r} of {name} is not there (columns: {listed}); choose with {choice}")
    if len(set(names)) < len(names):
        copy = next(one for one in names if names.count(one) > 1)
        raise GraphError(f"column {copy!r} of {name} is there {names.count(copy)} times; rename one")
    kind = schema.field(given).type
    if plain_type(kind) is None or types.is_null(kind):
        problem = f"column {given!r} of {name} holds {refusal(kind)}"
        raise GraphError(f"{problem}, or choose another with {choice}")
    return given
