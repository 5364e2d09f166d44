"""Fields in double quotes, which may hold delimiters and line ends: where the rows of a quoted text end.

As in Arrow's parser, a quote opens a field only where the field starts, two quotes in quoted text stand for
one, and any other quote is a letter.  Nearly always, every second quote of a block opens a field; a few array
operations on the quotes tell.  Only where one does not, or where comments may hold quotes, they are examined
one by one.  A quoted field over several lines that has no end, or goes on behind its closing quote, is
refused: most likely one stray quote has opened it, and it holds the rows up to the next one.
"""

from typing import Any, NamedTuple

import numpy as np

QUOTE = ord('"')
#: What to do about a quoted field without an end.
REMEDY = "write a quote inside a field twice, and the field in quotes, or remove the quote"


class UnclosedQuote(ValueError):
    """A quoted field has no end, or goes on behind it; ``line`` is where it begins, from 1 on."""

    def __init__(self, line: int):
        self.line = line
        super().__init__(f"the quoted field that begins here is not closed as it should be; {REMEDY}")


class Quotes(NamedTuple):
    """Where quotes have a meaning.

    Attributes
    ----------
    delimiter : str, one character
    comments : bytes, first characters of lines whose quotes have none
    """

    delimiter: str
    comments: bytes = b""

    def marks(self, text: bytes, inside: bool = False) -> np.ndarray:
        """Positions of the quotes between text outside and inside quotes, in turn; ``text`` begins a line.

        Two quotes that stand for one are two marks.

        >>> Quotes(",").marks(b'5" pipe,"x ""y"" z"').tolist()
        [8, 11, 12, 14, 15, 18]
        """
        letters = np.frombuffer(text, np.uint8)
        found = np.flatnonzero(letters == QUOTE)
        opening = found[int(inside) :: 2]
        may_open = members(b'\n\r"' + self.delimiter.encode())[letters[opening - 1]]
        may_open[:1] |= opening[:1] == 0
        if may_open.all() and not self._has_comments(text):
            return found
        return self._examined(text, found, inside)

    def _has_comments(self, text):
        marks = [self.comments[i : i + 1] for i in range(len(self.comments))]
        return any(text.startswith(mark) or b"\n" + mark in text for mark in marks)

    def _examined(self, text, found, inside):
        """The marks among the quotes that were found, one by one."""
        before, marks, closed = b"\n\r" + self.delimiter.encode(), [], 0
        for position in found.tolist():
            if inside:
                inside, closed = False, position + 1
                marks.append(position)
            elif position == closed or (
                text[position - 1] in before and not self._is_comment(text, closed, position)
            ):
                inside = True
                marks.append(position)
        return np.array(marks, np.int64)

    def _is_comment(self, text, closed, position):
        """Whether the line at ``position`` is a comment; the last quoted field ends at ``closed``."""
        start = text.rfind(b"\n", closed, position) + 1
        return (start > 0 or closed == 0) and text[start] in self.comments

    def rows(self, text: bytes) -> list[bytes]:
        """Split a text at the line ends outside quotes."""
        lines = text.split(b"\n")
        if b'"' not in text:
            return lines
        line_ends = np.cumsum([len(line) + 1 for line in lines])[:-1] - 1
        apart = line_ends[~self.are_inside(text, line_ends)].tolist()
        return [text[begin:end] for begin, end in zip([0, *(end + 1 for end in apart)], [*apart, len(text)])]

    def are_inside(self, text: bytes, positions: np.ndarray) -> np.ndarray:
        """Which positions of a text of whole rows are inside quotes."""
        return np.searchsorted(self.marks(text), positions) % 2 == 1


def members(characters: bytes) -> np.ndarray:
    """Table of 256 booleans: which bytes are among ``characters``."""
    table = np.zeros(256, bool)
    table[list(characters)] = True
    return table


def whole_rows(blocks, quotes: Quotes, longest: int):
    """Cut blocks of whole lines into blocks of whole rows; a row may be ``longest`` bytes long.

    A block is a list of pieces: bytes, or a view of the first ones of a bytes object.
    """
    held: list = []  # begins a row, and ends inside quotes
    for pieces in blocks:
        if not (held or any(map(_has_quote, pieces))):
            yield pieces
            continue
        text, inside = b"".join(pieces), bool(held)
        marks = quotes.marks(text, inside)
        if _fault(text, marks, inside, quotes.delimiter) is not None:
            raise UnclosedQuote(_line_of_fault(b"".join([*held, text]), quotes))
        cut = _end_of_rows(text, marks) if (len(marks) + inside) % 2 else len(text)
        if cut:
            yield [*held, memoryview(text)[:cut]]
            held = [text[cut:]] if cut < len(text) else []
        else:
            held.append(text)
        if sum(map(len, held)) > longest:
            break
    if held:
        raise UnclosedQuote(_line_of_fault(b"".join(held), quotes))


def _has_quote(piece):
    text: Any = piece.obj if isinstance(piece, memoryview) else piece
    return text.find(b'"', 0, len(piece)) >= 0


def _end_of_rows(text, marks):
    """Where the last whole row of a text ends that ends inside quotes."""
    for number in range(len(marks) - 1, -1, -2):
        closed = marks[number - 1] + 1 if number else 0
        if end := text.rfind(b"\n", closed, marks[number]) + 1:
            return end
    return 0


def _fault(text, marks, inside, delimiter):
    """Number of the first mark that closes a field over several lines which goes on, or ``None``."""
    first = int(not inside)
    closing = marks[first::2]
    closing = closing[: np.searchsorted(closing, len(text) - 1)]
    may_follow = members(b'\n\r \t"' + delimiter.encode())
    odd = np.flatnonzero(~may_follow[np.frombuffer(text, np.uint8)[closing + 1]])
    for number in (2 * odd + first).tolist():
        begin = _opening(marks, number)
        if begin < 0 or text.find(b"\n", begin, marks[number]) >= 0:
            return number
    return None


def _opening(marks, number):
    """Position of the quote that opens the field which mark ``number`` closes; -1 if it is further up."""
    number -= 1
    while number > 0 and marks[number] == marks[number - 1] + 1:
        number -= 2
    return int(marks[number]) if number >= 0 else -1


def _line_of_fault(text, quotes):
    """Line of the field that goes on behind its end, or else of the last one."""
    marks = quotes.marks(text)
    number = _fault(text, marks, False, quotes.delimiter)
    return text.count(b"\n", 0, _opening(marks, len(marks) if number is None else number)) + 1
