"""Blanks around ids in text are no part of them, as they are no part of numbers."""

import numpy as np

from edgewise.files.quotes import members

BLANKS = " \t"
IS_BLANK = members(BLANKS.encode())


def without_blanks(table, names):
    """The table with no blanks around the strings of some columns; what is left empty becomes null.

    Raises :class:`pyarrow.ArrowInvalid` if there is a quote behind the blanks, which opens no field.
    """
    import pyarrow as pa

    for name in names:
        column = table.column(name)
        if not any(map(has_blanks, column.chunks)):
            continue
        import pyarrow.compute as pc  # takes as long as a small file

        trimmed = pc.ascii_trim(column, BLANKS)
        moved = pc.not_equal(trimmed, column)
        if pc.any(pc.and_kleene(moved, pc.starts_with(trimmed, '"'))).as_py():
            raise pa.ArrowInvalid("a quote behind a blank")
        trimmed = pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, trimmed.type), trimmed)
        table = table.set_column(table.column_names.index(name), name, trimmed)
    return table


def has_blanks(array) -> bool:
    """Whether one of the strings of an Arrow array begins or ends with a blank."""
    offsets = np.frombuffer(array.buffers()[1] or b"", np.int32)[array.offset :][: len(array) + 1]
    letters = np.frombuffer(array.buffers()[2] or b"", np.uint8)
    starts, ends = offsets[:-1], offsets[1:]
    if len(letters) == 0 or len(array) == 0:
        return False
    found = IS_BLANK[letters[np.minimum(starts, len(letters) - 1)]]
    found |= IS_BLANK[letters[np.maximum(ends, 1) - 1]]
    found &= ends > starts
    return bool(found.any())
