"""Columns of ids out of whatever the caller has: lists, series, arrays of any library.

Python values must be of one kind before they are converted: NumPy and Arrow would take ``True`` for 1 and a
string for its bytes, and so make equal what the caller tells apart.
"""

import datetime
import sys
from decimal import Decimal
from uuid import UUID

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError, argument

#: Kinds of ids by the types of Python values; a type is of the first kind that it derives from.
KINDS = {
    "booleans": (bool, np.bool_),
    "integers": (int, np.integer),
    "strings": (str,),
    "bytes": (bytes, bytearray, memoryview),
    "UUIDs": (UUID,),
    "decimals": (Decimal,),
    "timestamps": (datetime.datetime, np.datetime64),
    "dates": (datetime.date,),
    "times": (datetime.time,),
    "durations": (datetime.timedelta, np.timedelta64),
    "tuples": (tuple,),
}
#: Digits of the largest integers.
DIGITS_OF_64_BITS = 20
#: Names of the types of missing values.
NULLS = ("NoneType", "NAType", "NaTType", "MaskedConstant")
#: Those of them that become Arrow arrays.
TYPED = frozenset(("UUIDs", "decimals", "timestamps", "dates", "times", "durations", "tuples"))
#: Classes of those that Arrow, or some version of it, does not take.
OBJECT_KINDS = (UUID, tuple)
#: Classes among whose values NaN is a missing one, as in pandas; Arrow takes it for a number.
NAN_IS_NULL = (Decimal, datetime.date, datetime.time, datetime.timedelta)
#: Floats hold integers up to this one exactly.
EXACT = 1 << 53
#: Kinds of the types of NumPy that ids may have.
ID_KINDS = "iuUOTMm"


def as_column(values, name):
    """An array of ids out of whatever the caller has: one of NumPy, of CuPy or of Arrow."""
    if hasattr(values, "__cuda_array_interface__"):
        values = arrays.adopt(values)
    elif is_arrow(values):
        return of_arrow(values, name)
    elif not isinstance(values, np.ndarray):
        values = np.from_dlpack(values) if hasattr(values, "__dlpack__") else _of_list(values, name)
        if is_arrow(values):
            return values
    values = unmasked(values, name)
    if values.ndim != 1:
        raise GraphError(f"{name} has {values.ndim} dimensions; give one value for every edge")
    if values.dtype.kind == "O":
        values = _of_objects(values, name)
        if is_arrow(values):
            return values
    if values.size == 0 and values.dtype.kind not in ID_KINDS:
        values = np.empty(0, np.int64)
    if values.dtype.kind not in ID_KINDS:
        raise _wrong_type(values, name)
    return of_times(values, name) if values.dtype.kind in "Mm" else values


def _wrong_type(values, name):
    """The error about an array of a type that is none of ids."""
    kind = values.dtype.kind
    if kind == "f":
        if isinstance(values, np.ndarray) and np.isnan(values).any():
            null = null_error(name, np.isnan(values).argmax())
            keep = (
                "a gap makes floats of integers and rounds those beyond 2**53, so keep them as 'Int64' or str"
            )
            return GraphError(f"{null.message}; {keep}")
        remedy = ".astype('int64') makes integers of floats that are whole, and were not rounded"
        return GraphError(f"{name} has type {values.dtype}; ids are integers or strings, and {remedy}")
    words = {"b": "bool", "S": "bytes of one width, which lose zeros at their end", "c": "complex numbers"}
    held = f"{name} has type {values.dtype}" + (f" ({words[kind]})" if kind in words else "")
    remedy = ".astype(object)" if kind == "S" else "convert them"
    return GraphError(f"{held}; ids are integers or strings, so {remedy}")


def of_times(values, name):
    """An Arrow array of NumPy's dates, times or durations."""
    import pyarrow as pa

    missing = np.isnat(values)
    if missing.any():
        raise null_error(name, missing.argmax())
    unit, count = np.datetime_data(values.dtype)
    known = ("s", "ms", "us", "ns") if values.dtype.kind == "m" else ("D", "s", "ms", "us", "ns")
    if unit not in known or count != 1:
        wanted = "D" if unit in ("Y", "M", "W") and values.dtype.kind == "M" else "s"
        values = _converted(values, f"{values.dtype.kind}8[{wanted}]", name)
    return pa.array(values.astype(values.dtype.newbyteorder("=")))


def _converted(values, dtype, name):
    """Times in another unit, if it holds them exactly."""
    converted = values.astype(dtype)
    if (converted.astype(values.dtype) != values).any() or np.isnat(converted).any():
        raise GraphError(f"{name} has type {values.dtype}, and {dtype} does not hold it; convert it")
    return converted


def is_arrow(values) -> bool:
    """Whether values are an Arrow array, in chunks or not."""
    return _is_of(values, "pyarrow", "Array", "ChunkedArray")


def is_object_array(values) -> bool:
    """Whether values are an array, or a series, of Python objects."""
    return getattr(values, "dtype", None) == np.dtype(object)


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


def check_lengths(sources, targets):
    """Raise unless two columns have one length."""
    if len(sources) != len(targets):
        problem = f"{len(sources)} sources but {len(targets)} targets"
        raise GraphError(f"{problem}; give one of each for every edge")


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
    if kinds & TYPED:
        return of_python(list(values), kinds, name)
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
    if "others" in kinds and (null := next((i for i, value in enumerate(values) if is_null(value)), -1)) >= 0:
        raise null_error(name, null)
    if kinds & TYPED:
        return of_python(values.tolist(), kinds, name)
    if kinds != {"integers"}:
        return values
    try:
        return values.astype(np.uint64 if max(values) > 2**63 - 1 and min(values) >= 0 else np.int64)
    except OverflowError:
        raise GraphError(f"{name} do not all fit into 64 bits; give them as strings") from None


def of_python(values, kinds, name):
    """An Arrow array of a list of Python values of one of the kinds that are :data:`TYPED`."""
    import pyarrow as pa

    null = next((i for i, value in enumerate(values) if is_null(value)), -1)
    if null >= 0:
        raise null_error(name, null)
    if "others" in kinds:
        other = next(value for value in values if kinds_of([value]) == {"others"})
        raise GraphError(
            f"{name} hold {type(other).__name__} among {min(kinds & TYPED)}; convert them to one"
        )
    (kind,) = kinds
    if kind == "UUIDs":
        storage = pa.array([value.bytes for value in values], pa.binary(16))
        return pa.ExtensionArray.from_storage(pa.uuid(), storage)
    if kind == "decimals":
        return _of_decimals(values, name)
    if kind == "tuples":
        return _of_tuples(values, name)
    if len({getattr(value, "tzinfo", None) is None for value in values}) > 1:
        raise GraphError(f"{name} hold times with and without a time zone; convert them to one")
    if all(isinstance(value, np.datetime64 | np.timedelta64) for value in values):
        return of_times(np.array(values), name)
    try:
        return pa.array(values, _type_of_times(values))
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError) as error:
        raise GraphError(f"{name} cannot be ids ({' '.join(str(error).split())}); convert them") from error


def _type_of_times(values):
    """The Arrow type of times of pandas that have nanoseconds, which Arrow would cut off; else ``None``."""
    import pyarrow as pa

    if any(getattr(value, "nanosecond", 0) for value in values):
        return pa.timestamp("ns", "UTC" if values[0].tzinfo else None)
    return pa.duration("ns") if any(getattr(value, "nanoseconds", 0) for value in values) else None


def _is_whole(value):
    """Whether a decimal is a whole number."""
    return value.is_finite() and (value.as_tuple().exponent >= 0 or value == value.to_integral_value())


def _of_decimals(values, name):
    """Whole decimals of 64 bits as an Arrow array."""
    import pyarrow as pa

    wrong = next((i for i, value in enumerate(values) if not _is_whole(value)), -1)
    if wrong >= 0:
        raise GraphError(f"{name}[{wrong}] is {values[wrong]}, no whole number; give ids as strings")
    try:
        if any(value and value.adjusted() > DIGITS_OF_64_BITS for value in values):
            raise OverflowError  # before Python makes an integer of millions of digits
        return pa.array(list(map(int, values)), pa.int64()).cast(pa.decimal128(38, 0))
    except (OverflowError, pa.ArrowException):
        raise GraphError(f"{name} do not all fit into 64 bits; give them as strings") from None


def _of_tuples(values, name):
    """Tuples of one length as an Arrow array."""
    from edgewise.ingest.arrow import arrow_array
    from edgewise.ingest.tuples import of_columns

    lengths = set(map(len, values))
    if lengths == {0} or len(lengths) > 1:
        wrong = next(i for i, value in enumerate(values) if len(value) != len(values[0]) or not value)
        held = f"{name}[{wrong}] is {values[wrong]!r}, {name}[0] is {values[0]!r}"
        hint = f"; weights are given as {argument('weights')}" if lengths == {2, 3} else ""
        raise GraphError(f"{held}; tuples that are ids have one length, 1 or more{hint}")
    columns = (host_column(list(part), f"{name}[][{at}]") for at, part in enumerate(zip(*values)))
    return of_columns([arrow_array(column) for column in columns])


def id_column(values, name):
    """A NumPy array of integers, or an Arrow array of another type of ids, out of a column of ids."""
    import pyarrow as pa

    from edgewise.ingest.arrow import is_text, value_type, with_plain_nulls
    from edgewise.ingest.id_types import is_plain, plain_type, refusal

    if isinstance(values, np.ndarray) and values.dtype.kind not in "iu":
        values = _arrow(values, name)
    if isinstance(values, np.ndarray):
        return values
    values = with_plain_nulls(values)
    check_no_nulls(values, name)
    if is_text(values.type):
        return values
    if pa.types.is_null(value_type(values.type)):
        return pa.array([], pa.string())
    if pa.types.is_dictionary(values.type) and is_plain(values.type):
        return id_column(values.cast(values.type.value_type), name)
    if pa.types.is_integer(values.type):
        return np.asarray(values)
    if plain_type(values.type) is not None:
        return values
    if not len(values):
        return pa.array([], pa.string())
    raise GraphError(f"{name} hold {refusal(values.type)}")


def _arrow(values, name):
    """Arrow array of a NumPy array of strings or of Python objects."""
    import pyarrow as pa

    try:
        return pa.array(values.astype(object) if values.dtype.kind == "T" else values)
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError) as error:
        problem = f"{name} cannot be ids ({' '.join(str(error).split())})"
        raise GraphError(f"{problem}; give integers only or strings only") from error


def host_column(values, name):
    """A column of ids on the host out of whatever the caller has: integers in NumPy, others in Arrow."""
    values = as_column(values, name)
    return id_column(arrays.move(values, "cpu") if hasattr(values, "dtype") else values, name)


def is_null(value) -> bool:
    """Whether a Python value stands for a missing one, in one of the libraries that have such values."""
    missing = type(value).__name__ in NULLS or (isinstance(value, float | np.floating) and value != value)
    return missing or (isinstance(value, np.datetime64 | np.timedelta64) and bool(np.isnat(value)))


def kinds_of(values) -> set[str]:
    """Which of :data:`KINDS` are among Python values; nulls and all other types count as ``"others"``."""
    return {
        next((name for name, types in KINDS.items() if issubclass(kind, types)), "others")
        if kind.__name__ not in NULLS
        else "others"
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
        problem += f" (those of files with a decimal comma are read with {argument('decimal', ',')})"
    raise GraphError(problem)
