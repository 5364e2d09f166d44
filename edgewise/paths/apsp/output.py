"""Rows of distances in a file that grows block by block, whole or not there at all.

A matrix that is larger than memory goes to a NumPy file (``.npy``) or a Zarr array (``.zarr``, a folder of
chunks).  It is written under a hidden name beside the goal and takes the goal's name when it is complete.  A
journal says which job it is and which blocks are on the disk.  An interrupted run leaves both, and the next
run of the same job goes on after the last block; a run of another job is refused, and told what differs.
"""

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np

from edgewise.errors import FileError, OptionError
from edgewise.files.whole import writing

SUFFIXES = (".npy", ".zarr")
#: Sides of the chunks of a Zarr array; blocks are multiples of them.
CHUNK_ROWS, CHUNK_COLUMNS = 64, 4096


def check_path(path):
    """Return the path of an output, whose suffix names a format that can be written.

    Raises
    ------
    OptionError
        Another suffix, or Zarr is not installed.
    """
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise OptionError(f"output={str(path)!r} must end in .npy or .zarr")
    if path.suffix == ".zarr":
        _zarr()
    return path


def _zarr():
    try:
        import zarr
    except ImportError:
        raise OptionError("a .zarr output needs the package zarr (3 or newer): pip install zarr") from None
    return zarr


class RowFile:
    """A matrix on disk that takes blocks of rows.

    Parameters
    ----------
    path : path-like
        The goal.
    shape : (int, int)
    dtype : dtype
    rows : int
        Rows of a block; the last may have fewer.
    job : dict
        What the distances depend on, in words and numbers.
    """

    def __init__(self, path, shape, dtype, rows, job):
        self.path = Path(os.path.realpath(path))
        self.shape, self.dtype, self.rows = tuple(shape), np.dtype(dtype), rows
        self.job = {**job, "shape": list(shape), "type": self.dtype.name, "rows of a block": rows}
        self.part = self.path.with_name(f".{self.path.stem}.part{self.path.suffix}")
        self.journal = self.path.with_name(f".{self.path.name}.journal")
        with writing(path):
            self.done = self._resumed()
            self.array = self._opened()
            if not self.done:
                self._note(self.job, "w")

    @property
    def blocks(self):
        """Number of blocks."""
        return -(-self.shape[0] // self.rows)

    def _resumed(self):
        """Numbers of the blocks that an interrupted run has left."""
        if not (self.journal.exists() and self.part.exists()):
            return set()
        lines = self.journal.read_text().splitlines()
        try:
            job, done = json.loads(lines[0]), {int(line) for line in lines[1:] if line.endswith(".") or line}
        except (ValueError, IndexError):
            return set()
        if not done:
            return set()
        for name, now in self.job.items():
            if job.get(name) != now:
                raise FileError(
                    self.journal,
                    f"belongs to another run: {name} was {job.get(name)!r} and is {now!r} now; "
                    "remove it to begin anew, or name another output",
                )
        return done

    def _opened(self):
        if self.path.suffix == ".npy":
            mode = "r+" if self.done else "w+"
            if 0 in self.shape:
                np.save(self.part, np.empty(self.shape, self.dtype))
                return np.empty(self.shape, self.dtype)
            return np.lib.format.open_memmap(self.part, mode, self.dtype, self.shape)
        if self.done:
            return _zarr().open_array(self.part, mode="r+")
        shutil.rmtree(self.part, ignore_errors=True)
        columns = max(1, min(CHUNK_COLUMNS, self.shape[1]))
        chunks = max(1, min(CHUNK_ROWS, self.shape[0])), columns
        return _zarr().create_array(self.part, shape=self.shape, chunks=chunks, dtype=self.dtype)

    def _note(self, what, mode="a"):
        with open(self.journal, mode) as journal:
            journal.write(json.dumps(what) + "\n")
            journal.flush()
            os.fsync(journal.fileno())

    def put(self, block, values):
        """Write the rows of one block; they are on the disk when this returns."""
        first = block * self.rows
        with writing(self.path):
            self.array[first : first + len(values)] = values
            if hasattr(self.array, "flush"):
                self.array.flush()
            self._note(block)
        self.done.add(block)

    def finish(self):
        """Give the file its name; return the matrix, read from the disk when looked at."""
        self.array = None
        with writing(self.path):
            if self.path.is_dir():
                shutil.rmtree(self.path)
            os.replace(self.part, self.path)
            self.discard()
        if self.path.suffix == ".npy":
            return np.load(self.path, mmap_mode="r" if 0 not in self.shape else None)
        return _zarr().open_array(self.path, mode="r")

    def discard(self):
        """Remove what would let the next run go on."""
        self.array = None
        for left in (self.journal, self.part):
            with suppress(FileNotFoundError):
                left.unlink() if left.is_file() else shutil.rmtree(left)
