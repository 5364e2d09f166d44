"""Columns of ids out of whatever the caller has: lists, series, arrays of any library.

Python values must be of one kind before they are converted: NumPy and Arrow would take ``True`` for 1 and a
string for its bytes, and so make equal what the caller tells apart.
"""

import sys

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError, argument

#: Kinds of ids by the types of Python values; a type is of the first kind that it derives from.
KINDS = {
    "booleans": (bool, np.bool_),
    "integers": (int, np.integer),
    "strings": (str,),
    "bytes": (bytes, bytearray, memoryview),
}


def as_column(values, name):
    """An array of integers or strings out of whatever the caller has."""
    if hasattr(values, "__cuda_array_interface__"):
        values = arrays.adopt(values)
    elif is_arrow(values):
        return of_arrow(values, name)
    elif not isinstance(values, np.ndarray):
        values = np.from_dlpack(values) if hasattr(values, "__dlpack__") else _of_list(values, name)
    values = unmasked(values, name)
    if values.ndim != 1:
        raise GraphError(f"{name} has {values.ndim} dimensions; give one value for every edge")
    if values.dtype.kind == "O":
        values = _of_objects(values, name)
    if values.size == 0 and values.dtype == np.float64:
        values = values.astype(np.int64)
    if values.dtype.kind not in "iuUOT":
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and np.isnan(values).any():
            raise null_error(name, np.isnan(values).argmax())
        raise GraphError(f"{name} has type {values.dtype}; ids are integers or strings")
    return values


def is_arrow(values) -> bool:
    """Whether values are an Arrow array, in chunks or not."""
    return _is_of(values, "pyarrow", "Array", "ChunkedArray")


def _is_of(values, module, *names):
    """Whether values are of a class of a module, which is not imported for this: then there are none."""
    loaded = sys.modules.get(module)
    return isinstance(values, tuple(getattr(loaded, name, ()) for name in names))


def unmasked(values, name):
    """The values; those of a masked array if no entry is masked."""
    if not _is_of(values, "numpy.ma", "MaskedArray"):
        return values
    if (masked := np.ma.getmaskarray(values)).any():
        position = ", ".join(map(str, np.argwhere(masked)[0]))
        raise GraphError(f"{name}[{position}] is masked; drop such edges first, or fill the array")
    return np.ma.getdata(values)


def check_no_nulls(values, name):
    """Raise if an Arrow array has nulls."""
    if values.null_count:
        raise null_error(name, values.is_null().index(True).as_py())


def null_error(name, position):
    """The error about a null among the values of a column."""
    return GraphError(f"{name}[{position}] is null; drop such edges first")


def of_arrow(values, name):
    """The Arrow column, after a check of its memory; integers without nulls as a NumPy array."""
    import pyarrow as pa

    from edgewise.ingest.arrow import check_column

    check_column(values, name)
    return np.asarray(values) if pa.types.is_integer(values.type) and not values.null_count else values


def _of_list(values, name):
    """An array of a list or series; an object array where another would change strings or integers."""
    kinds = kinds_of(values) if isinstance(values, list | tuple) else set()
    check_one_kind(kinds, name)
    array = as_array(values, name, object if kinds & {"strings", "bytes"} else None)
    if array.dtype.kind in "US" or (array.dtype.kind == "f" and kinds == {"integers"}):
        return np.asarray(values, object)  # NumPy's strings end before zeros, its float64 rounds integers
    return array


def as_array(values, name, dtype=None):
    """NumPy array of values of any library."""
    try:
        return np.asarray(values, dtype)
    except (TypeError, ValueError, RuntimeError):
        raise GraphError(f"{name} cannot be made an array; give one value for every edge") from None


def _of_objects(values, name):
    """The object array, after a check of its values; integers as an array of 64 bits."""
    kinds = kinds_of(values)
    check_one_kind(kinds, name)
    if (
        "others" in kinds
        and (null := next((i for i, value in enumerate(values) if _is_null(value)), -1)) >= 0
    ):
        raise null_error(name, null)
    if kinds != {"integers"}:
        return values
    try:
        return values.astype(np.uint64 if max(values) > 2**63 - 1 and min(values) >= 0 else np.int64)
    except OverflowError:
        raise GraphError(f"{name} do not all fit into 64 bits; give them as strings") from None


def _is_null(value):
    """Whether a Python value stands for a missing one, in one of the libraries that have such values."""
    missing = type(value).__name__ in ("NoneType", "NAType", "NaTType", "MaskedConstant")
    return missing or (isinstance(value, float | np.floating) and value != value)


def kinds_of(values) -> set[str]:
    """Which of :data:`KINDS` are among Python values; nulls and all other types count as ``"others"``."""
    return {
        next((name for name, types in KINDS.items() if issubclass(kind, types)), "others")
        for kind in set(map(type, values))
    }


def check_one_kind(kinds, name):
    """Raise unless there are no booleans among the ids and no two kinds, whose values could be equal."""
    mixed = " and ".join(sorted(kinds - {"others"}))
    if "booleans" in kinds:
        raise GraphError(f"{mixed} in {name}; ids are integers or strings, so convert them")
    if len(kinds - {"others"}) > 1:
        raise GraphError(f"{mixed} are mixed in {name}; convert them to one")


def weight_type(field):
    """NumPy type for a column of weights."""
    from pyarrow import types

    kind = field.type
    if types.is_integer(kind):
        return np.int64
    if types.is_floating(kind) and kind.bit_width <= 32:
        return np.float32
    if types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        return np.float64
    problem = f"column {field.name!r} holds {kind}; weights are integers or floats"
    if types.is_string(kind) or types.is_large_string(kind):
        problem += f" (numbers with a decimal comma are read with {argument('decimal', ',')})"
    raise GraphError(problem)
