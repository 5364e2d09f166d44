"""The two columns of a batch: vertex numbers or strings, out of whatever the caller has.

Vertex numbers are NumPy arrays of integers, or arrays on a GPU.  Strings and bytes are Arrow arrays, all of
which is checked here, so that numbering them cannot fail half-way.  Ids of other types become bytes, except
decimals, which are integers.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError
from edgewise.ingest.arrow import is_text, is_utf8, value_type, without_views
from edgewise.ingest.columns import (
    KINDS,
    TYPED,
    as_column,
    host_column,
    is_arrow,
    is_null,
    is_object_array,
    unmasked,
)
from edgewise.ingest.id_types import (
    are_comparable,
    describe,
    is_integer_column,
    is_plain,
    joint_type,
    plain_type,
    to_plain,
)
from edgewise.ingest.ordered_bytes import as_ordered_bytes
from edgewise.method import is_number

#: Attributes of arrays of other libraries, which NumPy would copy or reject.
FOREIGN = ("__cuda_array_interface__", "__dlpack__", "chunks", "buffers")
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

    >>> batch_columns(np.array([1, 2]), [3, 4], ("sources", "targets")).kind
    'integers'
    """
    if any(map(_is_typed, (left, right))):
        return _typed_columns((left, right), names)
    columns, kinds = [], []
    for values, name in zip((left, right), names):
        values, text = _recognised(values, name)
        column = strings_of(values, name) if text else integers_of(values, name)
        columns.append(column)
        kinds.append(_kind_of(column) if len(column) else None)
    if None not in kinds and kinds[0] != kinds[1]:
        held = " and ".join(f"{name} are {kind}" for name, kind in zip(names, kinds))
        raise GraphError(f"{held}; convert one of them to the other")
    return BatchColumns(columns[0], columns[1], kinds[0] or kinds[1])


def is_single(value) -> bool:
    """Whether a value is one id and no column of ids."""
    return isinstance(value, TEXTS + OBJECTS) or is_number(value, whole=True)


def _is_typed(values):
    """Whether values are ids of a type that is numbered as another."""
    if is_arrow(values):
        return plain_type(values.type) is not None and not is_plain(values.type)
    if isinstance(values, np.ndarray) and values.dtype.kind in "Mm":
        return True
    if not (isinstance(values, list | tuple) or is_object_array(values)):
        return False
    first = next((one for one in values if not is_null(one)), None)
    return isinstance(first, OBJECTS + KINDS["tuples"])


def _typed_columns(columns, names):
    """Columns of which one at least holds ids of another type."""
    import pyarrow as pa

    found = [host_column(values, name) for values, name in zip(columns, names)]
    types = [pa.int64() if isinstance(column, np.ndarray) else column.type for column in found]
    full = [type for type, column in zip(types, found) if len(column)] or types
    if not are_comparable(full[0], full[-1]):
        held = " and ".join(f"{name} are {describe(type)}" for name, type in zip(names, types))
        raise GraphError(f"{held}; convert one of them to the other")
    joint = joint_type(full[0], full[-1])
    plain = [
        column if isinstance(column, np.ndarray) else to_plain(column, joint if len(column) else None, name)
        for column, name in zip(found, names)
    ]
    if pa.types.is_decimal(joint) or pa.types.is_integer(joint):
        whole = (np.asarray(one) if is_integer_column(one) else one for one in plain)
        left, right = map(np.ascontiguousarray, whole)
        return BatchColumns(left, right, "integers")
    left, right = map(as_ordered_bytes, plain)
    return BatchColumns(left, right, describe(joint), joint)


def _kind_of(column):
    if not is_arrow(column):
        return "integers"
    return "strings" if is_utf8(value_type(column.type)) else "bytes"


def _recognised(values, name):
    """The values, as an array if they are of another library's type, and whether they hold strings."""
    if is_arrow(values):
        return values, is_text(values.type)
    if isinstance(values, list | tuple):
        return values, _begins_with_text(values)
    if not isinstance(values, np.ndarray):
        if any(hasattr(values, attribute) for attribute in FOREIGN) or not hasattr(values, "__len__"):
            return values, False
        values = unmasked(values, name)
        array = np.asarray(values)
        return (array, True) if _holds_text(array) else (values, False)
    return values, _holds_text(values)


def _holds_text(array):
    if array.ndim != 1 or array.dtype.kind in "UT":
        return array.ndim == 1
    return array.dtype.kind == "O" and _begins_with_text(array)


def _begins_with_text(values):
    """Whether the first of Python's values that is not missing is a string."""
    missing = type(None), float  # nan among them
    return isinstance(next((one for one in values if not isinstance(one, missing)), None), TEXTS)


def strings_of(values, name):
    """An Arrow array of strings or bytes, without nulls and views, from the caller's values."""
    from pyarrow import ArrowInvalid

    column = without_views(host_column(values, name))
    if is_utf8(value_type(column.type)):
        try:
            column.validate(full=True)
        except ArrowInvalid:
            remedy = "convert the column to UTF-8, or give bytes"
            raise GraphError(f"{name} hold text that is not UTF-8; {remedy}") from None
    return column


def integers_of(values, name):
    """A contiguous array of integers from the caller's values."""
    column = as_column(_listed(values, name), name)
    if getattr(getattr(column, "dtype", None), "kind", None) not in ("i", "u"):
        raise GraphError(f"{name} are no integers; vertex numbers are")
    with arrays.on(arrays.device_of(column)):
        native = column if column.dtype.isnative else column.astype(column.dtype.newbyteorder("="))
        return arrays.contiguous(native)


def _listed(values, name):
    """Values for :func:`as_column`, which accepts any ids; values that are not integers are refused."""
    if not isinstance(values, np.ndarray) and any(hasattr(values, kind) for kind in FOREIGN):
        return values
    values = unmasked(values, name)
    try:
        column = np.asarray(values)
    except (TypeError, ValueError):
        raise GraphError(f"{name} cannot be made an array; give one whole number for each edge") from None
    if not isinstance(values, np.ndarray) and column.ndim == 0:
        raise GraphError(f"{name} is of type {type(values).__name__}; ids come as arrays or lists")
    if column.dtype.kind in "iu" or column.ndim != 1 or len(column) == 0:
        return values if isinstance(values, list | tuple) and len(values) else column
    listed = values if isinstance(values, list | tuple) else column.tolist()
    for position, value in enumerate(listed):
        if not is_number(value, whole=True):
            raise GraphError(f"{name}[{position}] is {value!r}; vertex numbers are integers")
    return list(listed)
