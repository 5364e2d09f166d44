"""Text in blocks of whole lines: cut from a stream, made regular, and parsed on all cores.

Table parsers need exactly one separator between fields and no comments.  A few array operations per block
achieve both, so that the parallel parser can read even ragged columns.

Arrow's own parallel parser reads ahead on threads that go on after an error, and that free memory after the
last row.  Where such a thread meets a Python object while the interpreter shuts down, the process aborts.  So
no Python object ever reaches Arrow's threads: every block is copied to memory of Arrow, and the threads that
parse have ended when the last block is taken, or when the caller stops.
"""

import io

import numpy as np

from edgewise.device import threads
from edgewise.files.quotes import UnclosedQuote, members, whole_rows
from edgewise.files.read_ahead import in_order
from edgewise.files.streams import has_byte_order_mark
from edgewise.ingest.numerals import has_foreign_numbers

BLOCK = 1 << 22
#: Bytes of the longest line.
LINE_BYTES = 1 << 28
NEWLINE = 10
SPACE = 32


def normalise(text: bytes, blanks: bytes, comments: bytes, quotes=None) -> bytes:
    """Return whole lines with each run of ``blanks`` as one space, none at the ends, and no comment lines.

    If there are no ``blanks``, they are not changed; comment lines begin with one of ``comments``, outside of
    ``quotes`` (:class:`edgewise.files.quotes.Quotes`), if they are given.
    """
    others = blanks.replace(b" ", b"")
    if any(text.find(others[i : i + 1]) >= 0 for i in range(len(others))):
        text = text.translate(bytes.maketrans(others, b" " * len(others)))
    letters = np.frombuffer(text, np.uint8)
    if blanks:
        letters = _squeezed(letters)
    if any(text.find(comments[i : i + 1]) >= 0 for i in range(len(comments))):
        letters = without_comments(letters, comments, quotes)
    return letters.tobytes()


def _squeezed(letters):
    """Remove every space after a space or a line end, then those before a line end."""
    space = letters == SPACE
    gap = space | (letters == NEWLINE)
    space[1:] &= gap[:-1]
    if space.any():
        letters = letters[~space]
    space = letters == SPACE
    space[:-1] &= letters[1:] == NEWLINE
    return letters[~space] if space.any() else letters


class RowCounter:
    """Puts every field on a line of its own and counts the fields of each line."""

    def __init__(self, comments: bytes):
        self.comments, self.ended = comments, True
        self.parts: list = []

    def __call__(self, text: bytes) -> bytes:
        letters = without_comments(np.frombuffer(text, np.uint8), self.comments)
        apart = letters <= SPACE
        begins = ~apart
        begins[1:] &= apart[:-1]
        line_ends = np.flatnonzero(letters == NEWLINE)
        self.ended = len(letters) == 0 or letters[-1] == NEWLINE
        if not self.ended:
            line_ends = np.append(line_ends, len(letters) - 1)
        self.parts.append(np.diff(np.cumsum(begins, dtype=np.int32)[line_ends], prepend=0))
        return np.where(apart, np.uint8(NEWLINE), letters).tobytes()

    def lengths(self) -> np.ndarray:
        """Number of fields of each row so far."""
        return np.concatenate([*self.parts, [0] if self.ended else []]).astype(np.int64)


def without_comments(letters: np.ndarray, comments: bytes, quotes=None) -> np.ndarray:
    """Remove the lines that begin with one of ``comments``, outside of ``quotes``."""
    starts = np.concatenate([[0], np.flatnonzero(letters == NEWLINE) + 1])
    starts = starts[: np.searchsorted(starts, len(letters))]
    removed = members(comments)[letters[starts]]
    if not removed.any():
        return letters
    text = letters.tobytes() if quotes else b""
    if b'"' in text:
        removed &= ~quotes.are_inside(text, starts)
    return letters[np.repeat(~removed, np.diff(starts, append=len(letters)))]


class Lines(io.RawIOBase):
    """A stream that passes whole lines of another, after the first ``skip``, through a function."""

    def __init__(self, stream, change, skip=0):
        self.stream, self.change = stream, change
        self.blocks = whole_lines(stream, skip)
        self.ready = memoryview(b"")

    def readable(self):
        return True

    def read(self, count=-1):
        while not self.ready and (block := next(self.blocks, None)) is not None:
            self.ready = memoryview(self.change(block[1]))
        count = len(self.ready) if count < 0 else count
        part, self.ready = self.ready[:count], self.ready[count:]
        return bytes(part)


def cut_rows(stream, skip: int = 0, quotes=None):
    """Cut a stream into blocks of whole lines, or of whole rows where fields may be in ``quotes``."""
    blocks = cut_lines(stream, skip)
    return blocks if quotes is None else whole_rows(blocks, quotes, LINE_BYTES)


def cut_lines(stream, skip: int = 0):
    """Cut a stream into blocks of whole lines, after ``skip`` lines; the last line may lack its end.

    Yields a list of the pieces of each block, which together hold about 4 MiB.
    """
    rest, held = [], 0
    while part := stream.read(BLOCK):
        cut = part.rfind(b"\n") + 1
        if not cut:
            rest.append(part)
            held += len(part)
            if held > LINE_BYTES:
                raise ValueError(f"a line is longer than {LINE_BYTES:,} bytes; is this a graph?")
            continue
        block, rest = [*rest, memoryview(part)[:cut]], [part[cut:]] if cut < len(part) else []
        held = len(part) - cut
        if skip > 0:
            text = b"".join(block)
            block, skip = [_after_lines(text, skip)], skip - text.count(b"\n")
        if block[0]:
            yield block
    if rest and skip <= 0:
        yield rest


def whole_lines(stream, skip: int = 0, quotes=None):
    """Yield the blocks of :func:`cut_rows`, each with the number of lines before it, skipped ones too."""
    first = skip
    try:
        for pieces in cut_rows(stream, skip, quotes):
            block = b"".join(pieces)
            yield first, block
            first += block.count(b"\n")
    except UnclosedQuote as error:
        raise UnclosedQuote(first + error.line) from None


def _after_lines(block: bytes, count: int) -> bytes:
    """What follows the first ``count`` lines of a block."""
    position = 0
    for _ in range(count):
        position = block.find(b"\n", position) + 1
        if not position:
            return b""
    return block[position:]


def lines_of(stream):
    """Yield the lines of a stream."""
    for _, block in whole_lines(stream):
        lines = block.split(b"\n")
        yield from lines[:-1] if block.endswith(b"\n") else lines


def parse_text(stream, options, skip=0, *, quotes=None, change=None, watch=None):
    """Yield the table of each block of lines of a stream, in order.

    Parameters
    ----------
    stream : object with ``read(count)``
    options : tuple of pyarrow's read, parse and convert options
    skip : int
        Lines before the first row.
    quotes : Quotes, optional
        Where fields may be in quotes.
    change : function, optional
        Called with the bytes of each block, on several threads; what it returns is parsed.
    watch : ZeroWatch, optional
        Called with an array of the bytes of each block that is parsed, on several threads; it looks for
        hexadecimal numbers in its own columns.
    """

    def table_of(pieces):
        return parse_block(pieces, options, change, watch)

    blocks = cut_rows(stream, skip, quotes)
    tables = in_order(table_of, blocks, threads.count(), "edgewise-parse")
    return (table for table in tables if table is not None)


def parse_block(pieces, options, change=None, watch=None):
    """Return the table of a block of lines in one or more pieces; ``None`` if all lines are empty."""
    import pyarrow as pa
    import pyarrow.csv as csv

    if change is not None:
        pieces = [change(b"".join(pieces))]
    if _is_blank(pieces):  # an error to Arrow
        return None
    memory = pa.allocate_buffer(sum(map(len, pieces)))
    letters = room = np.frombuffer(memory, np.uint8)
    for piece in pieces:
        room[: len(piece)] = np.frombuffer(piece, np.uint8)
        room = room[len(piece) :]
    exact = frozenset() if watch is None else watch.columns
    if watch is not None:
        watch(letters)
    text = letters.tobytes()
    if has_byte_order_mark(text):  # Arrow would take it away from the first line
        raise pa.ArrowInvalid("a byte order mark within the text")
    names, size = options[0].column_names, min(memory.size + 1, np.iinfo(np.int32).max)
    reading = csv.ReadOptions(use_threads=False, column_names=names, block_size=size)
    table = csv.read_csv(pa.BufferReader(memory), reading, *options[1:])

    def as_text(names):
        types = dict.fromkeys(names, pa.string())
        how = csv.ConvertOptions(include_columns=names, column_types=types, null_values=[])
        return csv.read_csv(pa.BufferReader(memory), reading, options[1], how)

    types = {name: kind for name, kind in options[2].column_types.items() if name not in exact}
    if has_foreign_numbers(text, table, types, as_text):
        raise pa.ArrowInvalid("a number that is not decimal")
    return table


def _is_blank(pieces):
    text = pieces[0]
    return not text or (text[0] in b"\r\n" and not b"".join(pieces).strip(b"\r\n"))
