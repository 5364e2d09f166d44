"""Ids that are joined from several columns of a table, such as Splink's ``dataset-__-id``.

A name such as ``source_dataset_l-__-unique_id_l``, where no column has it, stands for the text of the columns
in it, with the same joint between them.  The text is null where one of them is.
"""

from edgewise.ingest.arrow import value_type, with_plain_nulls, without_views
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

    def add_to(self, table):
        """A table or record batch with the joined columns, as far as it has what they join."""
        for name, parts in self.parts.items():
            if set(parts) <= set(table.schema.names):
                table = table.append_column(name, _joined([table.column(part) for part in parts]))
        return table


def _joined(columns):
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [without_views(with_plain_nulls(column)) for column in columns]
    texts = [text.cast(value_type(text.type)) for text in texts]
    return pc.binary_join_element_wise(*(text.cast(pa.string()) for text in texts), JOINT)
