"""Which columns of a table hold the pairs, and whether their types can."""

import numpy as np

from edgewise.errors import GraphError, OptionError, argument
from edgewise.ingest.arrow import is_text, value_type

CHOICE = f"{argument('source')} and {argument('target')}"


def choose_id_columns(schema, source=None, target=None):
    """Names of the columns with the two ids of each pair.

    Parameters
    ----------
    schema : pyarrow.Schema
    source, target : str, optional
        Taken as they are, if given.  By default the only two columns, the two columns of strings if there are
        exactly two, or the first two columns if these hold integers and no column strings.

    Raises
    ------
    OptionError
        One was given without the other, or both are the same.
    GraphError
        There is no default for such a table.
    """
    from pyarrow import types

    if (source is None) != (target is None):
        raise OptionError(f"{CHOICE} belong together; give both or neither")
    if source is not None:
        if source == target:
            raise OptionError(f"{CHOICE} are both {source!r}; name two columns")
        return source, target
    if len(schema) < 2:
        raise GraphError(f"only one column ({_listed(schema)}); a table of pairs needs two ids in each row")
    texts = [field.name for field in schema if is_text(field.type)]
    if len(texts) == 2:
        return tuple(texts)
    if len(schema) == 2:
        return tuple(schema.names)
    if not texts and all(types.is_integer(value_type(field.type)) for field in list(schema)[:2]):
        return schema.names[0], schema.names[1]
    raise GraphError(f"which columns hold the ids? choose with {CHOICE} ({_listed(schema)})")


def _listed(schema):
    names = ", ".join(schema.names[:20])
    return f"columns: {names}" + (" ..." if len(schema) > 20 else "")


def _present(schema, name):
    count = schema.names.count(name)
    if count != 1:
        problem = "is not there" if count == 0 else f"is there {count} times"
        raise GraphError(f"column {name!r} {problem} ({_listed(schema)})")


def id_types(schema, id_columns, columns):
    """Types of the two columns of ids, once checked; a column of nulls takes the type of the other."""
    import pyarrow as pa
    from pyarrow import types

    for name in columns:
        _present(schema, name)
    kinds = [value_type(schema.field(name).type) for name in id_columns]
    for name, kind in zip(id_columns, kinds):
        if not (is_text(kind) or types.is_integer(kind) or types.is_null(kind)):
            problem = f"column {name!r} holds {kind}; ids are integers or strings"
            raise GraphError(f"{problem}, so convert it or choose others with {CHOICE}")
    known = [kind for kind in kinds if not types.is_null(kind)] or [pa.string()]
    left, right = (known[0] if types.is_null(kind) else kind for kind in kinds)
    if is_text(left) != is_text(right):
        raise GraphError(
            f"column {id_columns[0]!r} holds {left}, {id_columns[1]!r} holds {right}; "
            "convert one to the other"
        )
    return left, right


def integer_type(kind):
    """NumPy type for a column of integer ids."""
    from pyarrow import types

    return np.uint64 if types.is_uint64(kind) else np.int64


def weight_type(field):
    """NumPy type for a column of weights."""
    from pyarrow import types

    kind = field.type
    if types.is_null(kind):
        return np.float64
    if types.is_integer(kind):
        return np.int64
    if types.is_floating(kind) or types.is_decimal(kind):
        return np.float64 if kind.bit_width > 32 else np.float32
    raise GraphError(f"column {field.name!r} holds {kind}; weights are integers or floats")
