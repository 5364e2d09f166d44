"""Ids that are joined from several columns of a table, such as Splink's ``dataset-__-id``.

A name such as ``source_dataset_l-__-unique_id_l``, where no column has it, stands for the text of the columns
in it, with the same joint between them.  The text is null where one of them is.  A value that has a joint of
its own is refused, because two ids could become one text.
"""

from edgewise.errors import GraphError
from edgewise.ingest.arrow import is_text, value_type, with_plain_nulls, without_views
from edgewise.ingest.default_columns import JOINT, joined_names
from edgewise.ingest.id_types import DIGITS, are_comparable, as_text, describe, plain_type, refusal

#: Zeros at the end of the fraction of a second, and what remains of them.
ZEROS_OF_FRACTIONS = (r"\.0+(Z?)$", r"\1"), (r"(\.[0-9]*[1-9])0+(Z?)$", r"\1\2")


class JoinedColumns:
    """The columns that names among ``wanted`` join, of a table with the columns ``names``."""

    def __init__(self, wanted, names):
        found = {name: joined_names(name, names) for name in wanted}
        #: Names of the columns that each name joins.
        self.parts = {name: parts for name, parts in found.items() if parts}

    def stored(self, columns):
        """Names of the columns of the table from which ``columns`` are made."""
        return list(dict.fromkeys(part for name in columns for part in self.parts.get(name, [name])))

    def schema(self, schema):
        """The schema of a table, with the joined columns behind the others."""
        import pyarrow as pa

        for name in self.parts:
            schema = schema.append(pa.field(name, pa.string()))
        return schema

    def add_to(self, batch):
        """A record batch with the joined columns, as far as it has what they join."""
        import pyarrow as pa

        names, columns = list(batch.schema.names), list(batch.columns)
        if len(self.parts) > 1:
            _check_kinds(batch.schema, *self.parts.values())
        for name, parts in self.parts.items():
            if set(parts) <= set(names):
                names.append(name)
                columns.append(_joined([(part, batch.column(part)) for part in parts]))
        return pa.RecordBatch.from_arrays(columns, names)


def _check_kinds(schema, source, target):
    """Raise if a part of one id is text and that of the other a number, whose text may be the same."""
    for left, right in zip(source, target):
        if left in schema.names and right in schema.names:
            kinds = [schema.field(name).type for name in (left, right)]
            if None not in map(plain_type, kinds) and not are_comparable(*kinds):
                held = f"column {left!r} holds {describe(kinds[0])}, {right!r} holds {describe(kinds[1])}"
                raise GraphError(f"{held}; convert one to the other")


def _joined(named):
    """The text of several columns, given with their names, in one."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    texts = []
    for name, column in named:
        column = without_views(with_plain_nulls(column))
        kind = value_type(column.type)
        if plain_type(kind) is None:
            raise GraphError(f"column {name!r} holds {refusal(kind)}")
        try:
            if is_text(kind):
                _check_joint(name, column.dictionary if types.is_dictionary(column.type) else column)
            texts.append(_as_text(column, kind))
        except pa.ArrowException as error:
            problem = f"column {name!r} cannot be part of an id ({' '.join(str(error).split())})"
            raise GraphError(f"{problem}; write it as UTF-8 text") from error
    return pc.binary_join_element_wise(*texts, JOINT)


def _as_text(column, kind):
    """The text of a column of ids; equal ids of two types, such as times of two units, have the same."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    if hasattr(kind, "extension_name"):
        return as_text(column)
    column = column.cast(kind)
    if types.is_decimal(kind) and kind.scale < 0:
        column = column.cast(pa.decimal128(DIGITS, 0))
    elif types.is_duration(kind):
        column = column.cast(pa.duration("ns"))
    elif types.is_timestamp(kind) and kind.tz is not None:
        column = column.cast(pa.timestamp(kind.unit, "UTC"))
    text = column.cast(pa.string())
    if types.is_timestamp(kind) or types.is_time(kind):
        for zeros, rest in ZEROS_OF_FRACTIONS:
            text = pc.replace_substring_regex(text, zeros, rest)
    return text


def _check_joint(name, column):
    """Raise if a value of a column could be taken for two, or its end for a part of the joint."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = column.cast(pa.string())
    found = pc.match_substring(texts, JOINT)
    for test, part in (pc.ends_with, JOINT[:-1]), (pc.starts_with, JOINT[1:]):
        found = pc.or_(found, test(texts, part))
    row = found.index(True).as_py()
    if row >= 0:
        held = f"column {name!r} holds {texts[row].as_py()!r}"
        problem = f"{held}, and ids of several columns are joined by {JOINT!r}"
        raise GraphError(f"{problem}; rename such values, or join the columns yourself")
