"""A matrix of distances that grows as a Zarr array; see :mod:`edgewise.paths.apsp.output`."""

import math
import os
from contextlib import suppress

from edgewise.errors import FileError, OptionError
from edgewise.paths.apsp.journal import sync

#: Sides of the chunks; a chunk never holds rows of two blocks.
CHUNK_ROWS, CHUNK_COLUMNS = 64, 4096


class ZarrMatrix:
    """A Zarr array, a folder of chunks, that takes blocks of rows; as :class:`~.npy.NpyMatrix`."""

    def __init__(self, goal, part, shape, dtype, rows):
        self.part, self.shape, self.dtype = part, shape, dtype
        sides = math.gcd(rows, CHUNK_ROWS), CHUNK_COLUMNS
        self.chunks = tuple(max(1, min(side, length)) for side, length in zip(sides, shape, strict=True))
        self.array = None

    @staticmethod
    def check(path):
        """Refuse what an output may not replace."""
        _package()
        if path.exists() and _opened(path) is None:
            raise FileError(path, "is there and no Zarr array; name another output, or remove it")

    @staticmethod
    def read(path, shape):
        """The matrix, read from the disk when looked at."""
        return _package().open_array(path, mode="r")

    def reopen(self):
        """Open what an interrupted run has left: whether it is such a matrix."""
        array = _opened(self.part, "r+")
        fits = array is not None and (array.shape, array.dtype) == (self.shape, self.dtype)
        if fits and array.chunks == self.chunks:
            self.array = array
        return self.array is not None

    def create(self):
        """Begin anew."""
        self.array = _package().create_array(
            self.part, shape=self.shape, chunks=self.chunks, dtype=self.dtype
        )

    def put(self, first, values):
        """Write rows from ``first`` on; they are on the disk when this returns."""
        self.array[first : first + len(values)] = values
        self._sync(first, len(values))

    def _sync(self, first, height):
        """Wait until the chunks of some rows are on the disk."""
        high, wide = self.chunks
        folders = set()
        for row in range(first // high, -(-(first + height) // high)):
            for column in range(-(-self.shape[1] // wide)):
                chunk = self.part / self.array.metadata.encode_chunk_key((row, column))
                with suppress(FileNotFoundError):  # of nothing but zeros
                    with open(chunk, "r+b") as file:
                        sync(file)
                    folders |= {chunk.parent, chunk.parent.parent}
        for folder in folders:
            with suppress(OSError):  # a platform where folders cannot be opened
                opened = os.open(folder, os.O_RDONLY)
                try:
                    os.fsync(opened)
                finally:
                    os.close(opened)

    def close(self):
        """Let go of the array."""
        self.array = None


def _package():
    try:
        import zarr
    except ImportError:
        raise OptionError("a .zarr output needs the package zarr (3 or newer): pip install zarr") from None
    return zarr


def _opened(path, mode="r"):
    """The array in a folder, or ``None`` if it holds none."""
    with suppress(Exception):  # what a damaged array raises is not Zarr's alone
        return _package().open_array(path, mode=mode)
