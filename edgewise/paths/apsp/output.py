"""Rows of distances in a file that grows block by block, whole or not there at all.

A matrix that is larger than memory goes to a NumPy file (``.npy``) or a Zarr array (``.zarr``, a folder of
chunks).  It is written under a hidden name beside the goal and takes the goal's name when it is complete.  A
journal says which job it is and which blocks are on the disk.  An interrupted run leaves both, and the next
run of the same job goes on after the last block; a run of another job is refused, and told what differs.

Blocks are written and not mapped into memory: a full disk is then an error that can be told, and the blocks
before it are kept.
"""

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np

from edgewise.errors import FileError, OptionError
from edgewise.files.atomic_write import writing
from edgewise.paths.apsp.journal import LOCKS, locked, names_beside, read, sync
from edgewise.paths.apsp.npy import NpyMatrix
from edgewise.paths.apsp.zarr import ZarrMatrix

FORMATS = {".npy": NpyMatrix, ".zarr": ZarrMatrix}


def check_path(path):
    """Return the path of an output, whose suffix names a format that can be written.

    Raises
    ------
    OptionError
        Another suffix, or Zarr is not installed.
    FileError
        What is there now is nothing that an output may replace.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise OptionError(f"output={str(path)!r} must end in {' or '.join(FORMATS)}")
    FORMATS[path.suffix].check(path)
    return path


class RowFile:
    """A matrix on disk that takes blocks of rows; to be used in a ``with`` statement.

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

    Raises
    ------
    FileError
        Another run is writing it, an interrupted run was of another job, or the system refuses to write.
    """

    def __init__(self, path, shape, dtype, rows, job):
        self.path = Path(os.path.realpath(path))
        self.shape, self.dtype, self.rows = tuple(shape), np.dtype(dtype), rows
        self.job = {**job, "shape": list(shape), "type": self.dtype.name, "rows of a block": rows}
        self.part, self.journal = names_beside(path)
        self.done: set[int] = set()
        self.matrix = FORMATS[self.path.suffix](self.path, self.part, self.shape, self.dtype, rows)
        with writing(path):
            self.log = locked(self.journal)
            try:
                self._resume()
                if not (self.done and self.matrix.reopen()):
                    self._begin()
            except BaseException:
                self.close()
                raise

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    @property
    def blocks(self):
        """Number of blocks."""
        return -(-self.shape[0] // self.rows)

    def _resume(self):
        """Learn from the journal which blocks an interrupted run has left."""
        self.log.seek(0)
        journal = self.log.read()
        try:
            job, done = read(journal)
        except ValueError:
            return
        if not self.part.exists():
            return
        self.done = done
        for name, now in self.job.items() if done else ():
            if job.get(name) != now:
                raise FileError(
                    self.journal,
                    f"belongs to another run: {name} was {job.get(name)!r} and is {now!r} now; "
                    "remove it to begin anew, or name another output",
                )
        if not all(0 <= block < self.blocks for block in done):
            self.done = set()
        self.log.truncate(journal.rfind(b"\n") + 1)

    def _begin(self):
        """Begin anew.  What is there is removed, not overwritten: somebody may be reading it."""
        self.done = set()
        _remove(self.part)
        self.matrix.create()
        self.log.truncate(0)
        self._note(self.job)

    def _note(self, what):
        self.log.seek(0, os.SEEK_END)
        self.log.write(json.dumps(what).encode() + b"\n")
        sync(self.log)

    def put(self, block, values):
        """Write the rows of one block; they are on the disk when this returns."""
        with writing(self.path):
            self.matrix.put(block * self.rows, values)
            self._note(block)
        self.done.add(block)

    def finish(self):
        """Give the file its name; return the matrix, read from the disk when looked at."""
        self.matrix.close()
        self.matrix.check(self.path)
        with writing(self.path):
            if self.path.is_dir():
                shutil.rmtree(self.path)
            os.replace(self.part, self.path)
            self.discard()
        return self.matrix.read(self.path, self.shape)

    def close(self):
        """Let others have the file.  Without a block that is done nothing is left for the next run."""
        self.matrix.close()
        if self.log.closed:
            return
        if self.done:
            self.log.close()
        else:
            self.discard()

    def discard(self):
        """Remove what would let the next run go on."""
        self.matrix.close()
        if not LOCKS:
            self.log.close()
        _remove(self.part)
        _remove(self.journal)  # still locked, where there are locks
        self.log.close()
        self.done = set()


def _remove(path):
    with suppress(FileNotFoundError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
