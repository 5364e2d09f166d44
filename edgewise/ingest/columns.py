"""Columns of ids out of whatever the caller has: lists, series, arrays of any library.

Python values must be of one kind before they are converted: NumPy and Arrow would take ``True`` for 1 and a
string for its bytes, and so make equal what the caller tells apart.
"""

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError

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
    if values.ndim != 1:
        raise GraphError(f"{name} has {values.ndim} dimensions; give one value for every edge")
    if values.dtype.kind == "O":
        values = _of_objects(values, name)
    if values.size == 0 and values.dtype == np.float64:
        values = values.astype(np.int64)
    if values.dtype.kind not in "iuUOT":
        raise GraphError(f"{name} has type {values.dtype}; ids are integers or strings")
    return values


def is_arrow(values) -> bool:
    """Whether values are an Arrow array, in chunks or not."""
    return hasattr(values, "chunks") or hasattr(values, "buffers")


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
    array = np.asarray(values, object if kinds & {"strings", "bytes"} else None)
    if array.dtype.kind in "US" or (array.dtype.kind == "f" and kinds == {"integers"}):
        return np.asarray(values, object)  # NumPy's strings end before zeros, its float64 rounds integers
    return array


def _of_objects(values, name):
    """The object array, after a check of its values; integers as an array of 64 bits."""
    kinds = kinds_of(values)
    check_one_kind(kinds, name)
    if kinds != {"integers"}:
        return values
    try:
        return values.astype(np.uint64 if max(values) > 2**63 - 1 and min(values) >= 0 else np.int64)
    except OverflowError:
        raise GraphError(f"{name} do not all fit into 64 bits; give them as strings") from None


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
