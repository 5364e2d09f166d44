"""The tables of parts, which tasks write and read."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np

from edgewise.ingest.arrow import arrow_array

#: Columns of the ids in a part.
ENDS = ("source", "target")


def part_file(part: str) -> str:
    """Name of the file with the table of a part."""
    return f"{part}.pairs.arrow"


@contextmanager
def table_writer(folder, name, kinds):
    """Context with a function that appends columns of the types ``kinds`` to the table of a task."""
    import pyarrow as pa

    types = [pa.from_numpy_dtype(np.dtype(kind)) for kind in kinds.values()]
    schema = pa.schema(list(zip(kinds, types)))
    with folder.written(part_file(name)) as path, pa.ipc.new_file(str(path), schema) as writer:

        def write(*columns):
            if not len(columns[0]):
                return
            given = zip(columns, kinds.values())
            values = [arrow_array(column.astype(kind, copy=False)) for column, kind in given]
            writer.write_batch(pa.record_batch(values, schema=schema))

        yield write
