"""A matrix of distances that grows as a NumPy file; see :mod:`edgewise.paths.apsp.output`."""

import math
import shutil
from contextlib import suppress

import numpy as np

from edgewise.errors import FileError
from edgewise.paths.apsp.journal import sync


class NpyMatrix:
    """A NumPy file that takes blocks of rows.

    Parameters
    ----------
    goal : Path
        The name that it will have, for messages.
    part : Path
        The name that it has until then.
    shape : (int, int)
    dtype : dtype
    rows : int
        Rows of a block; of no matter here.
    """

    def __init__(self, goal, part, shape, dtype, rows):
        self.goal, self.part, self.shape, self.dtype = goal, part, shape, dtype
        self.file, self.start = None, 0

    @staticmethod
    def check(path):
        """Refuse what an output may not replace."""
        if path.is_dir():
            raise FileError(path, "is a directory; name another output, or remove it")

    @staticmethod
    def read(path, shape):
        """The matrix, read from the disk when looked at."""
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
        """Begin anew: write the header and give the file its size, if there is room."""
        self.file = open(self.part, "xb", buffering=0)  # noqa: SIM115 - closed with the RowFile
        header = {
            "descr": np.lib.format.dtype_to_descr(self.dtype),
            "fortran_order": False,
            "shape": self.shape,
        }
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
        left = memoryview(values.reshape(-1).view(np.uint8))
        while len(left):
            left = left[self.file.write(left) :]
        sync(self.file)

    def close(self):
        """Let go of the file."""
        if self.file is not None:
            self.file.close()
        self.file = None
