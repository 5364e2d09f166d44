"""Making irregular text regular while it streams: runs of blanks become one, comments are removed.

Table parsers need exactly one separator between fields and no comments.  A few array operations per block
achieve both, so that the parallel parser can read even ragged columns.
"""

import io

import numpy as np

from edgewise.files.quotes import UnclosedQuote, members, whole_rows

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
