"""NumPy's structured arrays as Arrow tables: one row per record, one column per field.

A field ``pairs`` of two ids becomes the columns ``source`` and ``target``.  This is how dedupe returns scored
pairs: records of ``("pairs", id_type, 2)`` and ``("score", "f4")``, where the ids are integers or strings of
256 characters.  Records are converted in batches, so such strings take their own length only.
"""

import numpy as np

from edgewise.errors import GraphError

#: Records that are converted at a time.
BATCH_RECORDS = 1 << 16
#: Name of the field with both ids, and the columns that it becomes.
PAIRS, ENDS = "pairs", ("source", "target")
#: Kinds of NumPy types that Arrow has: booleans, integers, floats, bytes and strings.
KINDS = "biufSU"


def schema_of(dtype):
    """Arrow schema of the columns of records.

    Raises
    ------
    GraphError
        The type is not that of records, or a field holds what no column can.
    """
    import pyarrow as pa

    if dtype.names is None:
        raise GraphError(f"an array of {dtype} has no columns; give its columns to Graph.from_edges")
    columns = [(name, kind) for field in dtype.names for name, kind, _ in _columns_of(dtype, field)]
    return pa.schema([(name, pa.array(np.empty(0, kind)).type) for name, kind in columns])


def _columns_of(dtype, field):
    """Name, native type and position in the field, of each column that a field becomes."""
    base, shape = dtype[field].base, dtype[field].shape
    kind = base.newbyteorder("=")
    if base.kind not in KINDS or (base.kind == "f" and base.itemsize > 8):
        raise GraphError(f"the field {field!r} holds {base}; convert it to numbers or strings")
    if (field, shape) == (PAIRS, (2,)):
        return [(name, kind, (slice(None), position)) for position, name in enumerate(ENDS)]
    if shape:
        problem = f"the field {field!r} has the shape {shape} in each record"
        raise GraphError(f"{problem}; only {PAIRS!r} may hold two values, and others one")
    return [(field, kind, slice(None))]


def batches_of(records):
    """Yield record batches of a one-dimensional structured array."""
    import pyarrow as pa

    schema = schema_of(records.dtype)
    if records.ndim != 1:
        raise GraphError(f"the array has {records.ndim} dimensions; give one record for each pair")
    for start in range(0, len(records), BATCH_RECORDS):
        part, columns = records[start : start + BATCH_RECORDS], []
        for field in records.dtype.names:
            for _, kind, position in _columns_of(records.dtype, field):
                columns.append(pa.array(np.ascontiguousarray(part[field][position], kind)))
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
