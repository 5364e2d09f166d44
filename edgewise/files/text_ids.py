"""Ids in text: those that a parser of integers would change, and blanks around them.

A parser of integers takes ``007``, ``-0`` and ``0x1f`` for ``7``, ``0`` and ``31``. Therefore the text is
examined on its way to the parser: a field that begins with a zero, perhaps after a minus, and does not end
there may be such an id. Only where one is found are the ids read once more, as strings, which shows whether
the field is an id at all, and where.
"""

import re

import numpy as np

from edgewise import tuning
from edgewise.device import compiled, device
from edgewise.device.target import cpu_compiler_is_loaded
from edgewise.files.quotes import members

#: Blanks around ids in text, which are no part of them, as they are no part of numbers.
BLANKS = " \t"
IS_BLANK = members(BLANKS.encode())
#: What is before the first bytes of a text.
LINE_ENDS = np.full(2, 10, np.uint8)
#: Bytes that NumPy examines in the time of a call.
SMALL = 1 << 16
#: Ids that integers would change, without the blanks around them.
NEEDLESS = r"^\s*-?0[0-9xX]|^\s*-0"


@device
def examine(first, second, letter, digit, delimiter):
    """Whether ``letter`` is a zero that begins a field before a digit, and whether it is a minus or an x.

    ``first``, ``second``, ``letter`` and ``digit`` are neighbouring bytes, or arrays of such.  Spaces and
    minuses begin a field at its beginning, or after a space; a tab always does.
    """
    begins = (second == delimiter) | (second < 14) | (second == 34)
    begun = (first == delimiter) | (first < 14) | (first == 34) | (first == 32)
    begins = begins | (((second == 32) | (second == 45)) & begun)
    found = (letter == 48) & (digit >= 48) & (digit <= 57) & begins
    return found, (letter == 45) | (letter == 88) | (letter == 120)


@compiled
def examine_all(further, before, letters, after, delimiter):
    """Whether there is such a zero, and whether such a letter.

    The arrays are the same text, each from the next byte on, so that a pass takes many bytes at a time.
    """
    found, rare = False, False
    for index in range(len(letters)):
        is_zero, is_rare = examine(further[index], before[index], letters[index], after[index], delimiter)
        found, rare = found | is_zero, rare | is_rare
    return found, rare


class ZeroWatch:
    """Examines blocks of whole lines, on several threads; ``found`` tells whether a field may be such an id.

    ``columns`` are the names of those with ids.

    >>> watch = ZeroWatch(",")
    >>> watch(np.frombuffer(b"10,0.5", np.uint8)), watch.found
    (None, False)
    >>> watch(np.frombuffer(b"0,00", np.uint8)), watch.found
    (None, True)
    """

    def __init__(self, delimiter: str, columns=()):
        self.columns = frozenset(columns)
        mark = re.escape(delimiter.encode())
        self.delimiter = np.uint8(ord(delimiter))
        self.rare = re.compile(rb'(?:^|[\s"]|' + mark + rb")(?:-0(?![.\d])|-?0[xX])")
        self.n_bytes, self.found = 0, False

    def __call__(self, letters: np.ndarray) -> None:
        """Examine the bytes of a block."""
        if not self.found and self._is_suspect(letters):
            self.found = True

    def _is_suspect(self, letters):
        begin = np.concatenate([LINE_ENDS, letters[:3]])
        found, rare = map(any, zip(self._examined(begin), self._examined(letters)))
        return found or (rare and self.rare.search(letters.data) is not None)

    def _examined(self, text):
        neighbours = text[:-3], text[1:-2], text[2:-1], text[3:]
        self.n_bytes += len(text)
        if len(text) > SMALL and (cpu_compiler_is_loaded() or self.n_bytes > tuning.CPU.files_zeros):
            return examine_all(*neighbours, self.delimiter)
        return [flags.any() for flags in examine(*neighbours, self.delimiter)]


def has_needless_zeros(column) -> bool:
    """Whether one of the strings of an Arrow column is such an id."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(column, NEEDLESS)).as_py())


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
