"""Checksums of what is written to be read again: saved states, files of tasks, and shards.

A checksum shows damage, which it finds all but once in 2**32 times; it does not show who has written a file
(see :mod:`edgewise.ownership`).  It is the CRC-32 of the CRC-32s of pieces of a fixed length, which threads
compute at the same time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from zlib import crc32

from edgewise.device import threads
from edgewise.files.atomic_write import writing

#: Bytes of a piece.
PIECE = 1 << 23
#: Bytes of a piece that are read at a time, which stay in the caches.
BUFFER = 1 << 18


def of_bytes(parts: Iterable[Any]) -> str:
    """Checksum of bytes-like objects, one behind the other; where one ends is part of it."""
    pieces = [memoryview(part).cast("B") for part in parts]
    cuts = [piece[at : at + PIECE] for piece in pieces for at in range(0, max(len(piece), 1), PIECE)]
    return _joined(crc32, cuts)


def of_file(path: str | os.PathLike) -> str:
    """Checksum of the content of a file."""

    def piece(at):
        found, left, buffer = 0, PIECE, memoryview(bytearray(BUFFER))
        with open(path, "rb", buffering=0) as file:
            file.seek(at)
            while left and (count := file.readinto(buffer[:left])):
                found, left = crc32(buffer[:count], found), left - count
        return found

    return _joined(piece, range(0, max(os.path.getsize(path), 1), PIECE))


class CheckedWriter:
    """A file that is written to ``path``, and the checksum that :func:`of_file` would find there."""

    def __init__(self, path: str | os.PathLike, file: Any):
        self.path, self.file, self.pieces, self.left = path, file, [0], PIECE

    def write(self, content: Any) -> int:
        """Append a bytes-like object; its errors are about this file, also while another one is read."""
        content = memoryview(content).cast("B")
        with writing(self.path):
            self.file.write(content)
        at = 0
        while at < len(content):
            if not self.left:
                self.pieces.append(0)
                self.left = PIECE
            part = content[at : at + self.left]
            self.pieces[-1] = crc32(part, self.pieces[-1])
            at, self.left = at + len(part), self.left - len(part)
        return at

    def checksum(self) -> str:
        """Checksum of what has been written."""
        return _of_pieces(self.pieces)


def _joined(function: Callable[[Any], int], pieces) -> str:
    if len(pieces) == 1:
        return _of_pieces([function(pieces[0])])
    with ThreadPoolExecutor(min(len(pieces), threads.count())) as pool:
        return _of_pieces(list(pool.map(function, pieces)))


def _of_pieces(found: list[int]) -> str:
    return f"{crc32(b''.join(one.to_bytes(4, 'little') for one in found)):08x}"
