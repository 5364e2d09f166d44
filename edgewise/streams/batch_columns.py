"""The two columns of a batch: vertex numbers or strings, out of whatever the caller has.

Vertex numbers are NumPy arrays of integers, or arrays on a GPU.  Strings and bytes are Arrow arrays, all of
which is checked here, so that numbering them cannot fail half-way.  Ids of other types become bytes, except
decimals, which are integers.
"""

from typing import Any, NamedTuple

from edgewise.device import arrays
from edgewise.errors import GraphError
from edgewise.ingest.arrow import as_ordered_bytes, is_utf8, numpy_array, value_type, without_views
from edgewise.ingest.columns import KINDS, TYPED, as_column, id_column
from edgewise.ingest.id_types import are_comparable, describe, is_plain, joint_type, to_plain
from edgewise.method import is_number

#: What columns have one of, and single values, generators and None have not.
OF_COLUMNS = ("__len__", "__array__", "__dlpack__", "__cuda_array_interface__")
#: Python values that are one id, which is no number.
TEXTS = (str, bytes, bytearray, memoryview)
#: Those that are of none of the types that NumPy has, but tuples, which may be several ids.
OBJECTS = tuple(kind for name in sorted(TYPED - {"tuples"}) for kind in KINDS[name])


class BatchColumns(NamedTuple):
    """Two columns; ``kind`` is ``"integers"``, ``"strings"``, ``"bytes"``, or ``None`` if both are empty.

    For ids that have become bytes, ``type`` is that of Arrow that they had, and ``kind`` its name.
    """

    left: Any
    right: Any
    kind: str | None
    type: Any = None


def batch_columns(left, right, names):
    """Columns of a batch, which may differ in length; GraphError if they hold no ids, or different kinds.

    >>> batch_columns([1, 2], [3, 4], ("sources", "targets")).kind
    'integers'
    """
    left, right = (_column(values, name) for values, name in zip((left, right), names))
    if not len(left) and not len(right):
        return BatchColumns(left, right, None)
    left, right = (left if len(left) else right[:0], right if len(right) else left[:0])
    kinds = _kind_of(left), _kind_of(right)
    if None in kinds:
        return _typed_columns((left, right), names)
    if kinds[0] != kinds[1]:
        raise _unlike(names, kinds)
    return BatchColumns(left, right, kinds[0])


def is_single(value) -> bool:
    """Whether a value is one id and no column of ids."""
    return isinstance(value, TEXTS + OBJECTS) or is_number(value, whole=True)


def _column(values, name):
    """An array of integers, where it is, or an Arrow array of other ids, without nulls and views."""
    if isinstance(values, TEXTS) or not any(hasattr(values, one) for one in OF_COLUMNS):
        raise GraphError(f"{name} is of type {type(values).__name__}; ids come as arrays or lists")
    column = as_column(values, name)
    if getattr(column, "dtype", None) is None or column.dtype.kind not in "iu":
        column = id_column(column, name)
    if hasattr(column, "dtype"):
        with arrays.on(arrays.device_of(column)):
            native = column if column.dtype.isnative else column.astype(column.dtype.newbyteorder("="))
            return arrays.contiguous(native)
    from pyarrow import ArrowInvalid

    column = without_views(column)
    if is_utf8(value_type(column.type)):
        try:
            column.validate(full=True)
        except ArrowInvalid:
            remedy = "convert the column to UTF-8, or give bytes"
            raise GraphError(f"{name} hold text that is not UTF-8; {remedy}") from None
    return column


def _kind_of(column):
    """Kind of the ids of a column; ``None`` for ids of a type that is numbered as another."""
    if hasattr(column, "dtype"):
        return "integers"
    if not is_plain(column.type):
        return None
    return "strings" if is_utf8(value_type(column.type)) else "bytes"


def _unlike(names, kinds):
    """The error about columns of different kinds."""
    held = " and ".join(f"{name} are {kind}" for name, kind in zip(names, kinds))
    return GraphError(f"{held}; convert one of them to the other")


def _typed_columns(columns, names):
    """Columns of which one at least holds ids of another type."""
    import pyarrow as pa

    columns = [pa.array(arrays.move(one, "cpu")) if hasattr(one, "dtype") else one for one in columns]
    types = [column.type for column in columns]
    if not are_comparable(*types):
        raise _unlike(names, map(describe, types))
    joint = joint_type(*types)
    plain = [to_plain(column, joint, name) for column, name in zip(columns, names)]
    if pa.types.is_decimal(joint) or pa.types.is_integer(joint):
        left, right = (numpy_array(column) for column in plain)
        return BatchColumns(left, right, "integers")
    left, right = map(as_ordered_bytes, plain)
    return BatchColumns(left, right, describe(joint), joint)
