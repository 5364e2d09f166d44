"""Making untidy text regular while it streams: runs of blanks become one, comments disappear.

Table readers want exactly one separator between fields and no comments.  Here both are put right with a few
array operations a block, so that the parallel reader can take even ragged columns.
"""

import io

import numpy as np

BLOCK = 1 << 22
NEWLINE = 10
SPACE = 32


def tidy(text: bytes, blanks: bytes, comments: bytes) -> bytes:
    """Return whole lines with each run of ``blanks`` as one space, none at the ends, and no comment lines.

    Parameters
    ----------
    text : bytes
        Whole lines.
    blanks : bytes
        The characters that count as blank; none leaves blanks alone.
    comments : bytes
        Lines whose first character is one of these are dropped.
    """
    foreign = blanks.replace(b" ", b"")
    if any(text.find(foreign[i : i + 1]) >= 0 for i in range(len(foreign))):
        text = text.translate(bytes.maketrans(foreign, b" " * len(foreign)))
    letters = np.frombuffer(text, np.uint8)
    if blanks:
        letters = _squeezed(letters)
    if any(text.find(comments[i : i + 1]) >= 0 for i in range(len(comments))):
        letters = without_comments(letters, comments)
    return letters.tobytes()


def _squeezed(letters):
    """Drop every space after a space or a line end, then those before a line end."""
    space = letters == SPACE
    gap = space | (letters == NEWLINE)
    space[1:] &= gap[:-1]
    if space.any():
        letters = letters[~space]
    space = letters == SPACE
    space[:-1] &= letters[1:] == NEWLINE
    return letters[~space] if space.any() else letters


def members(characters: bytes) -> np.ndarray:
    """Table of 256 booleans: which bytes are among ``characters``."""
    table = np.zeros(256, bool)
    table[list(characters)] = True
    return table


def without_comments(letters: np.ndarray, comments: bytes) -> np.ndarray:
    """Drop the lines that begin with one of ``comments``."""
    starts = line_starts(letters)
    dropped = members(comments)[letters[starts]]
    if not dropped.any():
        return letters
    return letters[np.repeat(~dropped, np.diff(starts, append=len(letters)))]


def line_starts(letters: np.ndarray) -> np.ndarray:
    """Position of the first byte of each line."""
    starts = np.concatenate([[0], np.flatnonzero(letters == NEWLINE) + 1])
    return starts[: np.searchsorted(starts, len(letters))]


class Lines(io.RawIOBase):
    """A stream that passes whole lines of another through a function.

    Parameters
    ----------
    stream : readable
    change : callable
        Takes and returns bytes: whole lines, and at the end of the file perhaps one without its end.
    skip : int
        So many lines at the beginning are left out.
    """

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


def whole_lines(stream, skip: int = 0):
    """Cut a stream into blocks of whole lines, after ``skip`` lines.

    Yields
    ------
    first : int
        Lines before the block, those skipped included.
    block : bytes
        About 4 MiB of lines; the last may lack its end.
    """
    rest, first = [], 0
    while part := stream.read(BLOCK):
        cut = part.rfind(b"\n") + 1
        if not cut:
            rest.append(part)
            continue
        block, rest = b"".join([*rest, part[:cut]]), [part[cut:]]
        if left := after_lines(block, skip - first):
            yield max(first, skip), left
        first += block.count(b"\n")
    if (last := b"".join(rest)) and first >= skip:
        yield first, last


def after_lines(block: bytes, count: int) -> bytes:
    """What follows the first ``count`` lines of a block."""
    position = 0
    for _ in range(count):
        position = block.find(b"\n", position) + 1
        if not position:
            return b""
    return block[position:]
