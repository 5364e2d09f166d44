"""Ids such as ``007``, ``-0`` and ``0x1f``, which a parser of integers takes for ``7``, ``0`` and ``31``.

The text is examined on its way to the parser: a field that begins with a zero, perhaps after a minus, and
does not end there may be such an id.  Only where one is found are the ids read once more, as strings, which
shows whether the field is an id at all, and where.
"""

import re

import numpy as np

from edgewise.files.quotes import members

#: Bytes that are examined at a time, so that the temporary arrays stay in the cache.
PIECE = 1 << 18
#: Bytes of which the last ones of a piece may begin a field that goes on in the next.
OVERLAP = 3
ZERO, NINE, MINUS, SPACE = (np.uint8(ord(letter)) for letter in "09- ")
#: Ids that integers would change, without the blanks around them.
NEEDLESS = r"^\s*-?0[0-9xX]|^\s*-0"


class ZeroWatch:
    """Examines blocks of whole lines, on several threads; ``found`` tells whether a field may be such an id.

    >>> watch = ZeroWatch(",")
    >>> watch(b"10,0.5"), watch.found, watch(b"0,00"), watch.found
    (b'10,0.5', False, b'0,00', True)
    """

    def __init__(self, delimiter: str):
        mark = re.escape(delimiter.encode())
        self.before = members(b'\n\r"' + delimiter.encode())
        self.rare = re.compile(rb'(?:^|[\s"]|' + mark + rb")(?:-0(?![.\d])|-?0[xX])")
        self.found = False

    def __call__(self, text: bytes) -> bytes:
        """Return the text, once it is examined."""
        if not self.found and (self._is_suspect(b"\n" + text[:OVERLAP]) or self._is_suspect(text)):
            self.found = True
        return text

    def _is_suspect(self, text):
        letters = np.frombuffer(text, np.uint8)
        pieces = (letters[start : start + PIECE + OVERLAP] for start in range(0, len(letters), PIECE))
        room = np.empty((2, PIECE + OVERLAP), bool)  # for the arrays of every piece
        if any(self._has_zeros(piece, room) for piece in pieces):
            return True
        return any(mark in text for mark in (b"-", b"x", b"X")) and self.rare.search(text) is not None

    def _has_zeros(self, letters, room):
        """Whether a field begins with a zero before a digit, or a minus and a zero before a digit."""
        is_digit, begins = (array[: len(letters)] for array in room)
        np.less_equal(np.subtract(letters, ZERO, out=begins.view(np.uint8)), NINE - ZERO, out=is_digit)
        begins = np.equal(letters[1:-1], ZERO, out=begins[1:-1])
        begins &= is_digit[2:]
        begins &= np.logical_not(is_digit[:-2], out=is_digit[:-2])
        return begins.any() and self._begin_fields(letters, np.flatnonzero(begins) + 1)

    def _begin_fields(self, letters, zeros):
        """Whether one of the zeros at these positions begins a field."""
        zeros = zeros - (letters[zeros - 1] == MINUS)
        before, further = letters[zeros - 1], letters[zeros - 2]
        blank = (before == SPACE) & (self.before[further] | (further == SPACE))
        return bool((self.before[before] | blank).any())


def has_needless_zeros(column) -> bool:
    """Whether one of the strings of an Arrow column is such an id."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(column, NEEDLESS)).as_py())
