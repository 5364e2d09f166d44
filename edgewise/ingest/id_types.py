"""Types of ids, and what ids of each type are numbered as.

Integers and strings are numbered as they are.  Ids of other types are made *plain* before, that is integers
or strings that are equal if and only if the ids are, and *restored* after, so that they come out as they came
in:

=======================================  ==============================  ==================
in Python                                in Arrow                        numbered as
=======================================  ==============================  ==================
``int``, NumPy integers                  integers                        themselves
``str``                                  strings, in all three layouts   themselves
``bytes``                                binary, in all four layouts     themselves
``uuid.UUID``                            ``arrow.uuid``                  bytes
``decimal.Decimal`` of whole numbers     decimals without a scale        int64
``datetime.date``                        dates                           int64
``datetime.datetime``, ``datetime64``    timestamps                      int64
``datetime.time``                        times                           int64
``datetime.timedelta``, ``timedelta64``  durations                       int64
tuples of these, all of one length       ``edgewise.tuple``              bytes
=======================================  ==============================  ==================

Dictionaries (categories) of any of these are ids, and so are extension types over one of them.
"""

import json
from datetime import time
from uuid import UUID

import numpy as np

from edgewise.errors import GraphError
from edgewise.ingest.arrow import SIGN, arrow_array, is_text, numpy_array, value_type, without_views

#: Digits of the decimals of 128 bits, which have room for every int64.
DIGITS = 38
#: Units of times, from the coarsest on.
UNITS = ("s", "ms", "us", "ns")


def is_plain(kind) -> bool:
    """Whether ids of an Arrow type are numbered as they are."""
    from pyarrow import types

    kind = value_type(kind)
    text = is_text(kind) and not types.is_fixed_size_binary(kind)
    return text or types.is_integer(kind) or types.is_null(kind)


def plain_type(kind):
    """The Arrow type as which ids of an Arrow type are numbered; ``None`` if these are no ids."""
    import pyarrow as pa
    from pyarrow import types

    kind = value_type(kind)
    if is_plain(kind):
        return kind
    if is_tuple_type(kind):
        return pa.large_binary()
    if types.is_fixed_size_binary(kind):
        return pa.binary()
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if types.is_decimal(kind):
        return pa.int64() if kind.scale <= 0 else None
    return pa.int64() if types.is_temporal(kind) and not types.is_interval(kind) else None


def is_tuple_type(kind) -> bool:
    """Whether an Arrow type is that of tuples."""
    return getattr(kind, "extension_name", None) == "edgewise.tuple"


def _is_decimal(kind):
    from pyarrow import types

    return types.is_decimal(value_type(kind))


def _family(kind):
    """What two columns of ids must have in common, in words."""
    import pyarrow as pa
    from pyarrow import types

    if isinstance(kind, pa.BaseExtensionType):
        return describe(kind)
    if types.is_integer(kind) or types.is_decimal(kind):
        return "integers"
    if types.is_timestamp(kind):
        return "timestamps without a zone" if kind.tz is None else "timestamps with a zone"
    tests = {"dates": types.is_date, "times": types.is_time, "durations": types.is_duration, "text": is_text}
    return next((name for name, test in tests.items() if test(kind)), str(kind))


def joint_type(left, right):
    """The Arrow type that holds the ids of two columns.

    Raises
    ------
    ValueError
        Ids of the two types are not comparable.
    """
    import pyarrow as pa
    from pyarrow import types

    left, right = value_type(left), value_type(right)
    if left == right or types.is_null(right):
        return left
    if types.is_null(left):
        return right
    if _family(left) != _family(right):
        raise ValueError(f"{describe(left)} and {describe(right)}")
    if types.is_decimal(left) and types.is_decimal(right):
        return max(left, right, key=lambda kind: kind.precision)
    if types.is_date(left):
        return pa.date64()
    if types.is_time(left):
        return pa.time64("ns")
    if types.is_timestamp(left) or types.is_duration(left):
        unit = max(left.unit, right.unit, key=UNITS.index)
        return pa.timestamp(unit, left.tz) if types.is_timestamp(left) else pa.duration(unit)
    plain = next((kind for kind in (left, right) if is_plain(kind)), None)
    return plain or plain_type(left)


def are_comparable(left, right) -> bool:
    """Whether ids of two Arrow types can be equal."""
    try:
        joint_type(left, right)
    except ValueError:
        return False
    return True


def unless_plain(kind):
    """An Arrow type in which ids are restored, or ``None`` where they come out as they are numbered."""
    return None if is_plain(kind) else value_type(kind)


def describe(kind) -> str:
    """An Arrow type in words of Python and SQL.

    Examples
    --------
    >>> import pyarrow as pa
    >>> describe(pa.float64()), describe(pa.decimal128(10, 2)), describe(pa.date32())
    ('double (float, DOUBLE)', 'DECIMAL(10, 2)', 'DATE')
    """
    import pyarrow as pa
    from pyarrow import types

    kind = value_type(kind)
    if types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if is_tuple_type(kind):
        return f"tuples ({', '.join(describe(field.type) for field in kind.storage_type)})"
    if isinstance(kind, pa.BaseExtensionType):
        return (
            "UUID" if kind.extension_name == "arrow.uuid" else f"{kind.extension_name} ({kind.storage_type})"
        )
    if types.is_date(kind):
        return "DATE"
    words = {
        types.is_floating: "float, DOUBLE",
        types.is_boolean: "bool, BOOLEAN",
        types.is_struct: "dict, STRUCT",
        types.is_map: "dict, MAP",
        types.is_nested: "list, ARRAY",
        types.is_timestamp: "datetime, TIMESTAMP",
        types.is_time: "time, TIME",
        types.is_duration: "timedelta, INTERVAL",
    }
    named = next((words[test] for test in words if test(kind)), None)
    return str(kind) if named is None else f"{kind} ({named})"


def refusal(kind) -> str:
    """What to say of a column of a type that ids cannot have: the type, what ids are, and the remedy."""
    from pyarrow import types

    kind = value_type(kind)
    held = f"{describe(kind)}; ids are integers or strings"
    if types.is_floating(kind):
        gap = "a gap makes floats of integers, so read them as 'Int64' or str, or CAST(... AS BIGINT)"
        return f"{held}, and {gap}"
    held += " (or UUIDs, whole decimals, dates, times, tuples)"
    if types.is_decimal(kind):
        return f"{held}, so CAST(... AS DECIMAL({kind.precision}, 0)), or convert it to text"
    return (
        f"{held}, so give its fields as several columns"
        if types.is_struct(kind)
        else f"{held}, so convert it"
    )


def plain_columns(columns, names):
    """The type in which one or two columns of ids come out, or ``None``, and the columns to be numbered.

    A column is a NumPy array of integers, or an Arrow column without nulls.
    """
    import pyarrow as pa

    if all(isinstance(column, np.ndarray) or is_plain(column.type) for column in columns):
        return None, columns
    kinds = [pa.int64() if isinstance(column, np.ndarray) else column.type for column in columns]
    try:
        kind = unless_plain(joint_type(kinds[0], kinds[-1]))
    except ValueError:
        held = ", ".join(f"{name} are {describe(one)}" for name, one in zip(names, kinds))
        raise GraphError(f"{held}; convert one of them to the other") from None
    plain = (
        column if isinstance(column, np.ndarray) else to_plain(column, kind, name)
        for column, name in zip(columns, names)
    )
    return kind, tuple(numpy_array(one) if is_integer_column(one) else one for one in plain)


def is_integer_column(column) -> bool:
    """Whether a column is an Arrow column of integers."""
    from pyarrow import types

    return not isinstance(column, np.ndarray) and types.is_integer(column.type)


def to_plain(column, kind, name):
    """An Arrow column of ids as integers or strings; ``kind`` is what :func:`restored` gets."""
    from pyarrow import ArrowException

    if is_plain(column.type):
        return column
    try:
        column = _decoded(column)
        if kind is not None and column.type != kind and not _is_decimal(kind):
            column = column.cast(kind)
        return _storage(column)
    except (ArrowException, ValueError) as error:
        remedy = "give them as strings" if _is_decimal(column.type) else "convert it"
        fit = "has numbers beyond 64 bits" if _is_decimal(column.type) else "cannot be ids"
        raise GraphError(f"{name} {fit} ({' '.join(str(error).split())}); {remedy}") from error


def _decoded(column):
    """The column without a dictionary."""
    import pyarrow as pa
    from pyarrow import types

    if not types.is_dictionary(column.type):
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([_decoded(chunk) for chunk in column.chunks], column.type.value_type)
    return column.dictionary.take(column.indices)


def _storage(column):
    """Integers or strings that stand for ids."""
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([_storage(chunk) for chunk in column.chunks], plain_type(kind))
    if is_tuple_type(kind):
        from edgewise.ingest.tuples import encoded

        return encoded(column, _storage)
    if isinstance(kind, pa.BaseExtensionType):
        return _storage(column.storage)
    if is_plain(kind):
        return without_views(column)
    if types.is_fixed_size_binary(kind):
        return column.cast(pa.binary())
    if types.is_date32(kind) or types.is_time32(kind):
        column = column.cast(pa.int32())
    elif types.is_decimal(kind) and kind.precision < DIGITS:  # narrow decimals have no cast, or a wrong one
        column = column.cast(pa.decimal128(DIGITS, kind.scale))
    return column.cast(pa.int64())


def restored(ids, kind, count):
    """Ids of the type ``kind``, out of those that were numbered; as they are if that is ``None``.

    ``ids`` are ``None`` if they are the numbers from 0 to ``count - 1``.
    """
    if kind is None:
        return ids
    return _restored(np.arange(count, dtype=np.int64) if ids is None else ids, kind)


def _restored(ids, kind):
    import pyarrow as pa
    from pyarrow import types

    if is_tuple_type(kind):
        from edgewise.ingest.tuples import decoded

        return decoded(ids, kind, [plain_type(field.type) for field in kind.storage_type], _restored)
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _restored(ids, kind.storage_type))
    ids = arrow_array(ids)
    if types.is_decimal(kind):
        wide = ids.cast(pa.decimal128(DIGITS, 0))
        try:
            return wide.cast(kind)
        except pa.ArrowInvalid:  # ids of other columns have more digits
            return wide
    elif types.is_date32(kind) or types.is_time32(kind):
        ids = ids.cast(pa.int32())
    return ids if ids.type == kind else ids.cast(kind)


def plain_ids(ids):
    """What ids as :attr:`edgewise.Graph.ids` were numbered as: integers in NumPy, or strings in Arrow."""
    if ids is None or isinstance(ids, np.ndarray) or is_plain(ids.type):
        return ids
    plain = _storage(ids)
    return numpy_array(plain) if is_integer_column(plain) else plain


def of_word(word, kind):
    """An id that is given as text, as one of an Arrow type; ValueError if it is none."""
    import pyarrow as pa
    from pyarrow import types

    if is_tuple_type(kind):
        return tuple(one if isinstance(one, int | str) else str(one) for one in json.loads(word))
    if describe(kind) == "UUID":
        return UUID(word)
    if types.is_time(kind):
        return time.fromisoformat(word)
    if types.is_duration(kind):
        return pa.array([int(word)]).cast(kind)[0].as_py()
    return pa.array([word], pa.string()).cast(kind)[0].as_py()


def as_text(column):
    """An Arrow column as text where a file of text cannot hold its type: UUIDs and tuples; else itself."""
    import pyarrow as pa

    kind = value_type(column.type)
    if not (is_tuple_type(kind) or describe(kind) == "UUID"):
        return column

    def written(value):
        return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, tuple) else str(value)

    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([as_text(chunk) for chunk in column.chunks], pa.large_string())
    values = _decoded(column).to_pylist()
    return pa.array([None if one is None else written(one) for one in values], pa.large_string())


def of_ordered_bytes(column, kind):
    """Ids of an Arrow type, out of what :func:`as_ordered_bytes` returned of them."""
    import pyarrow as pa

    if is_text(plain_type(kind)):
        return _restored(column, kind)
    column = pa.concat_arrays([column.cast(pa.binary(8))])
    data = np.frombuffer(column.buffers()[1] or b"", ">u8")[column.offset : column.offset + len(column)]
    return _restored((data.astype(np.uint64) ^ np.uint64(SIGN)).view(np.int64), kind)
