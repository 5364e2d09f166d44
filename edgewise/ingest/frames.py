"""Kinds of tables: which library a table is of, and Arrow tables of these and back.

A library is imported only where a table of it is wanted, and one that came in has imported it already.

NumPy's structured arrays have one row per record and one column per field.  A field ``pairs`` of two ids
becomes the columns ``source`` and ``target``.  This is how dedupe returns scored pairs: records of
``("pairs", id_type, 2)`` and ``("score", "f4")``, where the ids are integers or strings of 256 characters.
Records are converted in batches, so such strings take their own length only.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from edgewise.errors import GraphError, OptionError, argument, one_of
from edgewise.ingest.columns import (
    NAN_IS_NULL,
    OBJECT_KINDS,
    is_arrow,
    is_null,
    is_object_array,
    kinds_of,
    of_python,
)

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    #: A table of any of the three libraries.
    Frame: TypeAlias = pyarrow.Table | pandas.DataFrame | polars.DataFrame

#: Name of a library of tables.
Kind = Literal["arrow", "pandas", "polars"]
KINDS: tuple[Kind, ...] = ("arrow", "pandas", "polars")
#: Records that are converted at a time.
BATCH_RECORDS = 1 << 16
#: Name of the field with both ids.
PAIRS = "pairs"
#: Names of the columns that this field becomes.
ENDS = ("source", "target")
#: Kinds of NumPy types that Arrow has: booleans, integers, floats, bytes and strings.
RECORD_KINDS = "biufSU"


def kind_of(table: Any) -> Kind:
    """The library of a table: ``"arrow"`` for any that is neither pandas nor Polars.

    Examples
    --------
    >>> kind_of({"a": [1]})
    'arrow'
    """
    for kind in KINDS[1:]:
        library = sys.modules.get(kind)
        if library is not None and isinstance(table, library.DataFrame):
            return kind
    return "arrow"


def as_kind(table: pyarrow.Table, kind: Kind) -> Frame:
    """An Arrow table as one of a library.

    Raises
    ------
    OptionError
        The kind is unknown, or its library is not installed.
    """
    if kind not in KINDS:
        raise OptionError(f"{argument('kind', kind)} is unknown; {one_of(kind, KINDS)}")
    if kind == "arrow":
        return table
    try:
        if kind == "pandas":
            return _as_pandas(table)
        import polars
    except ImportError:
        remedy = f"install it, or use {argument('kind', 'arrow')}"
        raise OptionError(
            f"{argument('kind', kind)} needs {kind}, which is not installed; {remedy}"
        ) from None
    return polars.from_arrow(_for_polars(table))


def _as_pandas(table):
    """A table of pandas, in which UUIDs and tuples are objects of Python."""
    from edgewise.ingest.id_types import is_plain

    frame = table.to_pandas()
    for name, column in zip(table.column_names, table.columns):
        if hasattr(column.type, "extension_name") and not is_plain(column.type):
            values = np.empty(len(column), object)
            values[:] = column.to_pylist()
            frame[name] = values
    return frame


def _for_polars(table):
    """The table without the types that Polars does not have: wide decimals."""
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        if pa.types.is_decimal256(field.type) and field.type.scale == 0:
            table = table.set_column(at, field.name, table.column(at).cast(pa.decimal128(38, 0)))
    return table


def arrow_table(frame):
    """The Arrow table of anything with ``__arrow_c_stream__``, or of a dict of columns."""
    import pyarrow as pa

    if isinstance(frame, pa.Table):  # other ways lose the sizes of its buffers, which are checked
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if isinstance(frame, np.ndarray) and frame.dtype.names and not isinstance(frame, np.ma.MaskedArray):
        return pa.Table.from_batches(batches_of(frame), schema_of(frame.dtype))
    reader = isinstance(frame, pa.RecordBatchReader)
    if not (reader or hasattr(frame, "__arrow_c_stream__") or isinstance(frame, dict)):
        kind = type(frame).__name__
        hints = {"LazyFrame": "call .collect() first", "list": "a list of pairs is for Graph.from_edges"}
        hint = hints.get(kind, "pandas, polars and Arrow tables do")
        raise GraphError(
            f"{kind} is no table: it needs __arrow_c_stream__ or to be a dict of columns; {hint}"
        )
    try:
        return frame.read_all() if reader else _with_objects(frame)
    except GraphError:  # of ids that say what is wrong themselves
        raise
    except (pa.ArrowException, ArithmeticError, OSError, TypeError, ValueError) as error:
        problem = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise GraphError(f"the table cannot be read as Arrow: {problem}") from None


def columns_of_objects(frame) -> list:
    """Names of the columns of a table that hold Python objects."""
    if kind_of(frame) == "polars":
        return [name for name, kind in frame.schema.items() if str(kind) == "Object"]
    if not isinstance(frame, dict) and not hasattr(frame, "iloc"):
        return []
    objects = np.dtype(object)
    return [
        name
        for name in list(frame.keys())
        if not is_arrow(frame[name]) and getattr(frame[name], "dtype", objects) == objects
    ]


def _with_objects(frame):
    """The Arrow table of a table whose columns may hold objects of Python that Arrow does not know."""
    import pyarrow as pa

    if kind_of(frame) == "polars":
        return _of_polars(frame)
    if isinstance(frame, dict):
        return pa.table({name: _column(values) for name, values in frame.items()})
    if kind_of(frame) != "pandas" or not frame.columns.is_unique:
        return pa.table(frame)
    found = {}
    for at, name in enumerate(frame.columns):
        if is_object_array(frame[name]) and (column := _column(values := frame[name])) is not values:
            found[at] = name, column
    table = pa.table(frame.drop(columns=[name for name, _ in found.values()]) if found else frame)
    for at, (name, column) in found.items():
        table = table.add_column(at, str(name), column)
    return table


def _column(values):
    """Values of Python that only edgewise makes an Arrow array of, as one; other columns as they are."""
    import pyarrow as pa

    if is_arrow(values) or not (isinstance(values, list | tuple) or is_object_array(values)):
        return values
    first = next((one for one in values if not is_null(one)), None)
    if isinstance(first, int) and not isinstance(first, bool):
        return _of_integers(values)
    if isinstance(first, NAN_IS_NULL):
        return pa.array(list(values), from_pandas=True)
    if not isinstance(first, OBJECT_KINDS):
        return values
    listed = list(values)
    here = [at for at, one in enumerate(listed) if not is_null(one)]
    known = [listed[at] for at in here]
    column = of_python(known, kinds_of(known), "a column")
    if len(known) == len(listed):
        return column
    positions = np.full(len(listed), -1)
    positions[here] = np.arange(len(here))
    return column.take(pa.array(positions, mask=positions < 0))


def _of_integers(values):
    """A list of integers as an Arrow array, also of those beyond int64."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except OverflowError:
        if kinds_of(values) == {"integers"} and min(values) >= 0 and max(values) < 2**64:
            return pa.array(values, pa.uint64())
        raise OverflowError("integers do not all fit into 64 bits; give them as strings") from None


def _of_polars(frame):
    """The Arrow table of a frame of Polars, which exports addresses in the place of Python objects."""
    import pyarrow as pa

    objects = columns_of_objects(frame)
    table = pa.table(_in_64_bits(frame.drop(objects)))
    for name in objects:
        column = _column(frame[name].to_list())
        table = table.add_column(frame.columns.index(name), name, pa.array(column))
    return table


def _in_64_bits(frame):
    """A frame of Polars whose integers of 128 bits, which Arrow does not have, are of 64 bits."""
    import polars

    wide = [name for name, kind in frame.schema.items() if str(kind) in ("Int128", "UInt128")]
    for name in wide:
        least, most = frame[name].min(), frame[name].max()
        if least is not None and (least < -(2**63) or most >= 2**64 or (least < 0 and most >= 2**63)):
            raise GraphError(f"column {name!r} holds Int128 beyond 64 bits; cast it to strings")
        kind = polars.UInt64 if most is not None and most >= 2**63 else polars.Int64
        frame = frame.with_columns(polars.col(name).cast(kind))
    return frame


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
    if base.kind not in RECORD_KINDS or (base.kind == "f" and base.itemsize > 8):
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
