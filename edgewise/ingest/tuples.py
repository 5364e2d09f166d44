"""Tuples as ids: an extension type of Arrow over structs, and bytes that are equal if and only if tuples are.

The bytes of a tuple are those of its values one after the other, and their order is that of the tuples: an
integer is eight bytes, the highest first, with its sign turned; strings end with two zeros, and a zero within
them is followed by 255.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from edgewise.errors import GraphError
from edgewise.ingest.arrow import SIGN, as_ordered_bytes, is_text, is_utf8

#: Bytes that end a string in the code of a tuple.
END = b"\0\0"
#: Byte of a string that its code replaces, so that it has no end inside.
ZERO = b"\0"
#: Bytes that replace it.
ESCAPED = b"\0\xff"


class TupleScalar(pa.ExtensionScalar):
    """One tuple in an Arrow array."""

    def as_py(self, **options: Any) -> tuple | None:
        """The tuple of Python."""
        return None if self.value is None else tuple(one.as_py() for one in self.value.values())


class TupleType(pa.ExtensionType):
    """Tuples of one length, stored as structs.

    Parameters
    ----------
    kinds : list of Arrow types
        Those of the values.
    """

    def __init__(self, kinds: list[Any]):
        super().__init__(pa.struct([(str(at), kind) for at, kind in enumerate(kinds)]), "edgewise.tuple")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: Any, serialized: bytes) -> "TupleType":
        return cls([field.type for field in storage_type])

    def __arrow_ext_scalar_class__(self) -> type:
        return TupleScalar


pa.register_extension_type(TupleType([pa.int64()]))


def of_columns(columns: list[Any]) -> pa.ExtensionArray:
    """Tuples of the values of Arrow arrays of one length, without nulls."""
    kind = TupleType([column.type for column in columns])
    storage = pa.StructArray.from_arrays(columns, fields=list(kind.storage_type))
    return pa.ExtensionArray.from_storage(kind, storage)


def encoded(array: pa.ExtensionArray, stored: Callable) -> pa.Array:
    """The bytes of tuples; ``stored`` makes integers or strings of a column of their values."""
    import pyarrow.compute as pc

    if array.null_count:
        raise GraphError(f"tuple {array.is_null().index(True).as_py()} is null; drop such rows first")
    parts = []
    for column in array.storage.flatten():
        column = stored(column)
        if column.null_count:
            raise GraphError(f"a tuple has a null ({array[column.is_null().index(True).as_py()].as_py()!r})")
        if is_text(column.type):
            escaped = pc.replace_substring(column.cast(pa.large_binary()), ZERO, ESCAPED)
            parts += [escaped, pa.scalar(END, pa.large_binary())]
        else:
            parts.append(as_ordered_bytes(column).cast(pa.large_binary()))
    return pc.binary_join_element_wise(*parts, pa.scalar(b"", pa.large_binary()))


def decoded(ids: Any, kind: TupleType, texts: list, restored: Callable) -> pa.ExtensionArray:
    """The tuples of a type, given their bytes.

    ``texts`` are the types as which values are numbered, and ``restored`` makes a column of a type of them.
    """
    kinds = [field.type for field in kind.storage_type]
    plain: list[list] = [[] for _ in kinds]
    for code in ids.to_pylist():
        position = 0
        for values, text in zip(plain, texts):
            if is_text(text):
                end = code.index(END, position)
                values.append(code[position:end].replace(ESCAPED, ZERO))
                position = end + 2
            else:
                number = int.from_bytes(code[position : position + 8], "big")
                values.append(number if str(text).startswith("u") else number - SIGN)
                position += 8
    columns = []
    for values, text, one in zip(plain, texts, kinds):
        column = pa.array(values, pa.large_binary() if is_text(text) else text)
        if is_utf8(text):
            column = column.cast(pa.large_string())
        column = column.cast(text) if column.type != text else column
        columns.append(column if column.type == one else restored(column, one))
    return pa.ExtensionArray.from_storage(
        kind, pa.StructArray.from_arrays(columns, fields=list(kind.storage_type))
    )
