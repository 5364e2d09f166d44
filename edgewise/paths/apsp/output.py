"""Rows of distances in a file that grows block by block, whole or not there at all.

A matrix that is larger than memory goes to a NumPy file (``.npy``) or a Zarr array (``.zarr``, a folder of
chunks).  It is written under a hidden name beside the goal and takes the goal's name when it is complete.  A
journal says which job it is and which blocks are on the disk.  An interrupted run leaves both, and the next
run of the same job goes on after the last block; a run of another job is refused, and told what differs.

Blocks are written and not mapped into memory: a full disk is then an error that can be told, and the blocks
before it are kept.
"""

import json
import math
import os
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np

from edgewise.errors import FileError, OptionError
from edgewise.files.whole import writing
from edgewise.paths.apsp.journal import LOCKS, locked, names_beside, read, sync

SUFFIXES = (".npy", ".zarr")
#: Sides of the chunks of a Zarr array; a chunk never holds rows of two blocks.
CHUNK_ROWS, CHUNK_COLUMNS = 64, 4096


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
    if path.suffix not in SUFFIXES:
        raise OptionError(f"output={str(path)!r} must end in .npy or .zarr")
    if path.suffix == ".zarr":
        _zarr()
    _check_replaceable(path)
    return path


def _check_replaceable(path):
    if path.suffix == ".npy" and path.is_dir():
        raise FileError(path, "is a directory; name another output, or remove it")
    if path.suffix == ".zarr" and path.exists() and _opened_zarr(path) is None:
        raise FileError(path, "is there and no Zarr array; name another output, or remove it")


def _zarr():
    try:
        import zarr
    except ImportError:
        raise OptionError("a .zarr output needs the package zarr (3 or newer): pip install zarr") from None
    return zarr


def _opened_zarr(path, mode="r"):
    """The Zarr array in a folder, or ``None`` if it holds none."""
    with suppress(Exception):  # what a damaged array raises is not Zarr's alone
        return _zarr().open_array(path, mode=mode)


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
        self.array = None
        with writing(path):
            self.log = locked(self.journal)
            try:
                self._resume()
                self.array = self._reopened() if self.done else None
                if self.array is None:
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

    def _reopened(self):
        """What an interrupted run has written; ``None`` if it is not what the journal says."""
        if self.path.suffix == ".zarr":
            array = _opened_zarr(self.part, "r+")
            fits = array is not None and (array.shape, array.dtype) == (self.shape, self.dtype)
            return array if fits and array.chunks == self._chunks() else None
        with suppress(ValueError, OSError, EOFError):
            there = np.load(self.part, mmap_mode="r")
            fits = (there.shape, there.dtype) == (self.shape, self.dtype) and there.flags.c_contiguous
            if fits and self.part.stat().st_size == there.offset + there.nbytes:
                self.start = there.offset
                return open(self.part, "r+b", buffering=0)
        return None

    def _begin(self):
        """Begin anew.  What is there is removed, not overwritten: somebody may be reading it."""
        self.done = set()
        _remove(self.part)
        if self.path.suffix == ".zarr":
            self.array = _zarr().create_array(
                self.part, shape=self.shape, chunks=self._chunks(), dtype=self.dtype
            )
        else:
            self.array = open(self.part, "xb", buffering=0)  # noqa: SIM115 - closed with the RowFile
            self._reserve()
        self.log.truncate(0)
        self._note(self.job)

    def _reserve(self):
        """Write the header of a NumPy file and give it its size, if there is room."""
        header = {
            "descr": np.lib.format.dtype_to_descr(self.dtype),
            "fortran_order": False,
            "shape": self.shape,
        }
        np.lib.format.write_array_header_1_0(self.array, header)
        self.start = self.array.tell()
        needed, free = math.prod(self.shape) * self.dtype.itemsize, shutil.disk_usage(self.part.parent).free
        if needed > free:
            raise FileError(
                self.path,
                f"the disk has too little room: {needed:,} bytes needed, {free:,} free; "
                "free some space or write elsewhere",
            )
        self.array.truncate(self.start + needed)

    def _chunks(self):
        sides = math.gcd(self.rows, CHUNK_ROWS), CHUNK_COLUMNS
        return tuple(max(1, min(side, length)) for side, length in zip(sides, self.shape, strict=True))

    def _note(self, what):
        self.log.seek(0, os.SEEK_END)
        self.log.write(json.dumps(what).encode() + b"\n")
        sync(self.log)

    def put(self, block, values):
        """Write the rows of one block; they are on the disk when this returns."""
        first = block * self.rows
        with writing(self.path):
            if self.path.suffix == ".zarr":
                self.array[first : first + len(values)] = values
                self._sync_chunks(first, len(values))
            else:
                values = np.ascontiguousarray(values)
                self.array.seek(self.start + first * self.shape[1] * self.dtype.itemsize)
                left = memoryview(values.reshape(-1).view(np.uint8))
                while len(left):
                    left = left[self.array.write(left) :]
                sync(self.array)
            self._note(block)
        self.done.add(block)

    def _sync_chunks(self, first, height):
        """Wait until the chunks of a block are on the disk."""
        high, wide = self._chunks()
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

    def finish(self):
        """Give the file its name; return the matrix, read from the disk when looked at."""
        self._let_go()
        _check_replaceable(self.path)
        with writing(self.path):
            if self.path.is_dir():
                shutil.rmtree(self.path)
            os.replace(self.part, self.path)
            self.discard()
        if self.path.suffix == ".npy":
            return np.load(self.path, mmap_mode="r" if 0 not in self.shape else None)
        return _zarr().open_array(self.path, mode="r")

    def close(self):
        """Let others have the file.  Without a block that is done nothing is left for the next run."""
        self._let_go()
        if self.log.closed:
            return
        if self.done:
            self.log.close()
        else:
            self.discard()

    def discard(self):
        """Remove what would let the next run go on."""
        self._let_go()
        if not LOCKS:
            self.log.close()
        _remove(self.part)
        _remove(self.journal)  # still locked, where there are locks
        self.log.close()
        self.done = set()

    def _let_go(self):
        if hasattr(self.array, "close"):
            self.array.close()
        self.array = None


def _remove(path):
    with suppress(FileNotFoundError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
