"""Ids that are joined from several columns of a table, such as Splink's ``dataset-__-id``.

A name such as ``source_dataset_l-__-unique_id_l``, where no column has it, stands for the text of the columns
in it, with the same joint between them.  The text is null where one of them is.
"""

from edgewise.errors import GraphError
from edgewise.ingest.arrow import is_text, value_type, with_plain_nulls, without_views
from edgewise.ingest.default_columns import JOINT, joined_names


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
        for name, parts in self.parts.items():
            if set(parts) <= set(names):
                names.append(name)
                columns.append(_joined([(part, batch.column(part)) for part in parts]))
        return pa.RecordBatch.from_arrays(columns, names)


def _joined(named):
    """The text of several columns, given with their names, in one."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    texts = []
    for name, column in named:
        column = without_views(with_plain_nulls(column))
        kind = value_type(column.type)
        if not (is_text(kind) or types.is_integer(kind) or types.is_null(kind)):
            raise GraphError(f"column {name!r} holds {kind}; ids are integers or strings, so convert it")
        try:
            texts.append(column.cast(kind).cast(pa.string()))
        except pa.ArrowException as error:
            problem = f"column {name!r} cannot be part of an id ({' '.join(str(error).split())})"
            raise GraphError(f"{problem}; write it as UTF-8 text") from error
    return pc.binary_join_element_wise(*texts, JOINT)
