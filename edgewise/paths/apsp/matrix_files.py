"""The formats of matrices of distances: a NumPy file, or a Zarr array; each written block by block and read.

A format is a class with ``check(path)`` (refuse what an output may not replace), ``read(path, shape)``,
``reopen()`` (whether an interrupted run has left such a matrix), ``create()``, ``put(first, values)`` and
``close()``; see :mod:`edgewise.paths.apsp.output`.
"""

import math
import os
import shutil
from contextlib import suppress

import numpy as np

from edgewise.errors import FileError, OptionError

#: Sides of the chunks of a Zarr array; a chunk never holds rows of two blocks.
CHUNK_ROWS, CHUNK_COLUMNS = 64, 4096


def sync(file):
    """Wait until everything written to a file is on the disk."""
    file.flush()
    os.fsync(file.fileno())


class NpyMatrix:
    """A NumPy file at ``part``, later at ``goal``; the ``rows`` of a block do not matter here."""

    def __init__(self, goal, part, shape, dtype, rows):
        self.goal, self.part, self.shape, self.dtype = goal, part, shape, dtype
        self.file, self.start = None, 0

    @staticmethod
    def check(path):
        """Refuse a directory."""
        if path.is_dir():
            raise FileError(path, "is a directory; name another output, or remove it")

    @staticmethod
    def read(path, shape):
        """The matrix, read from the disk when it is indexed."""
        return np.load(path, mmap_mode="r" if 0 not in shape else None)

    def reopen(self):
        """Open what an interrupted run has left: whether it is such a matrix."""
        with suppress(ValueError, OSError, EOFError):
            there = np.load(self.part, mmap_mode="r")
            fits = (there.shape, there.dtype) == (self.shape, self.dtype) and there.flags.c_contiguous
            if fits and self.part.stat().st_size == there.offset + there.nbytes:
                self.file, self.start = open(self.part, "r+b", buffering=0), there.offset  # noqa: SIM115
        return self.file is not None

    def create(self):
        """Write the header and give the file its size, if there is room."""
        self.file = open(self.part, "xb", buffering=0)  # noqa: SIM115 - closed with the RowFile
        descr = np.lib.format.dtype_to_descr(self.dtype)
        header = {"descr": descr, "fortran_order": False, "shape": self.shape}
        np.lib.format.write_array_header_1_0(self.file, header)
        self.start = self.file.tell()
        needed, free = math.prod(self.shape) * self.dtype.itemsize, shutil.disk_usage(self.part.parent).free
        if needed > free:
            raise FileError(
                self.goal,
                f"the disk has too little room: {needed:,} bytes needed, {free:,} free; "
                "free some space or write elsewhere",
            )
        self.file.truncate(self.start + needed)

    def put(self, first, values):
        """Write rows from ``first`` on; they are on the disk when this returns."""
        values = np.ascontiguousarray(values)
        self.file.seek(self.start + first * self.shape[1] * self.dtype.itemsize)
        rest = memoryview(values.reshape(-1).view(np.uint8))
        while len(rest):
            rest = rest[self.file.write(rest) :]
        sync(self.file)

    def close(self):
        """Close the file."""
        if self.file is not None:
            self.file.close()
        self.file = None


class ZarrMatrix:
    """A Zarr array, a folder of chunks, that takes blocks of rows; parameters as for :class:`NpyMatrix`."""

    def __init__(self, goal, part, shape, dtype, rows):
        self.part, self.shape, self.dtype = part, shape, dtype
        sides = math.gcd(rows, CHUNK_ROWS), CHUNK_COLUMNS
        self.chunks = tuple(max(1, min(side, length)) for side, length in zip(sides, shape, strict=True))
        self.array = None

    @staticmethod
    def check(path):
        """Refuse what is not a Zarr array."""
        _package()
        if path.exists() and _opened(path) is None:
            raise FileError(path, "is there and no Zarr array; name another output, or remove it")

    @staticmethod
    def read(path, shape):
        """The matrix, read from the disk when it is indexed."""
        return _package().open_array(path, mode="r")

    def reopen(self):
        """Open what an interrupted run has left: whether it is such a matrix."""
        array = _opened(self.part, "r+")
        fits = array is not None and (array.shape, array.dtype) == (self.shape, self.dtype)
        if fits and array.chunks == self.chunks:
            self.array = array
        return self.array is not None

    def create(self):
        """Make an empty array."""
        options = {"shape": self.shape, "chunks": self.chunks, "dtype": self.dtype}
        self.array = _package().create_array(self.part, **options)

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
                with suppress(FileNotFoundError):  # a chunk of zeros has no file
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
        """Release the array."""
        self.array = None


FORMATS = {".npy": NpyMatrix, ".zarr": ZarrMatrix}


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
