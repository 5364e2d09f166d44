"""Rows of distances in a file that grows block by block, whole or not there at all.

A matrix that is larger than memory goes to a NumPy file (``.npy``) or a Zarr array (``.zarr``, a folder of
chunks).  It is written under a hidden name beside the goal and takes the goal's name when it is complete.

A *journal* records which job writes it and which blocks are on the disk.  Its first line is the job, every
other one the number of a block.  A line counts when its end is there: of ``12`` a crash may leave ``1``.  An
interrupted run leaves both files, and the next run of the same job continues after the last block; a run of
another job is refused with a message that names the difference.  A run holds a lock on the journal, so that
there is one at a time; where the platform or the file system has no locks, that is left to the user.

Blocks are written, not mapped into memory: a full disk is then an error that can be reported, and the blocks
before it are kept.
"""

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np

from edgewise.errors import FileError, OptionError, argument
from edgewise.files.atomic_write import writing
from edgewise.paths.apsp.matrix_files import FORMATS, sync
from edgewise.paths.apsp.search import rows_of_a_block

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

LOCKS = fcntl is not None


def check_path(path):
    """Return the path of an output, unless its suffix is unknown or it may not replace a file."""
    path = Path(path)
    if path.suffix not in FORMATS:
        raise OptionError(f"{argument('output', str(path))} must end in {' or '.join(FORMATS)}")
    FORMATS[path.suffix].check(path)
    return path


def write(path, matrix):
    """Write a matrix that exists, on the host or in a file, whole or not at all."""
    (height, width), job = matrix.shape, {"method": "a matrix that exists"}
    rows = rows_of_a_block(height, width, matrix.dtype)
    with RowFile(check_path(path), matrix.shape, matrix.dtype, rows, job) as file:
        try:
            for block in range(file.blocks):
                file.put(block, np.asarray(matrix[block * rows : (block + 1) * rows]))
            file.finish()
        except BaseException:
            file.discard()
            raise


class RowFile:
    """A matrix on disk that takes blocks of ``rows`` rows, the last of which may have fewer; a context.

    ``job`` is what the distances depend on, as text and numbers.  Raises FileError if another run is writing
    the file, if an interrupted run was of another job, or if the system refuses to write.
    """

    def __init__(self, path, shape, dtype, rows, job):
        self.path = Path(os.path.realpath(path))
        self.shape, self.dtype, self.rows = tuple(shape), np.dtype(dtype), rows
        self.job = {**job, "shape": list(shape), "type": self.dtype.name, "rows of a block": rows}
        self.part, self.journal = hidden_names(path)
        self.done: set[int] = set()
        self.matrix = FORMATS[self.path.suffix](self.path, self.part, self.shape, self.dtype, rows)
        with writing(path):
            self.log = _locked(self.journal)
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
        """Read from the journal which blocks an interrupted run has left."""
        self.log.seek(0)
        journal = self.log.read()
        try:
            job, done = read_journal(journal)
        except ValueError:
            return
        if not self.part.exists():
            return
        self.done = done
        for name, value in self.job.items() if done else ():
            if job.get(name) != value:
                raise FileError(
                    self.journal,
                    f"belongs to another run: {name} was {job.get(name)!r} and is {value!r} now; "
                    "remove it to begin anew, or name another output",
                )
        if not all(0 <= block < self.blocks for block in done):
            self.done = set()
        self.log.truncate(journal.rfind(b"\n") + 1)

    def _begin(self):
        """Begin anew.  An existing part is removed, not overwritten: another process may be reading it."""
        self.done = set()
        _remove(self.part)
        self.matrix.create()
        self.log.truncate(0)
        self._append(self.job)

    def _append(self, entry):
        self.log.seek(0, os.SEEK_END)
        self.log.write(json.dumps(entry).encode() + b"\n")
        sync(self.log)

    def put(self, block, values):
        """Write the rows of one block; they are on the disk when this returns."""
        with writing(self.path):
            self.matrix.put(block * self.rows, values)
            self._append(block)
        self.done.add(block)

    def finish(self):
        """Give the file its name; return the matrix, read from the disk when it is indexed."""
        self.matrix.close()
        self.matrix.check(self.path)
        with writing(self.path):
            if self.path.is_dir():
                shutil.rmtree(self.path)
            os.replace(self.part, self.path)
            self.discard()
        return self.matrix.read(self.path, self.shape)

    def close(self):
        """Release the file.  Without a finished block nothing is left for the next run."""
        self.matrix.close()
        if self.log.closed:
            return
        if self.done:
            self.log.close()
        else:
            self.discard()

    def discard(self):
        """Remove what would let the next run continue."""
        self.matrix.close()
        if not LOCKS:
            self.log.close()
        _remove(self.part)
        _remove(self.journal)  # still locked, where there are locks
        self.log.close()
        self.done = set()


def hidden_names(path):
    """Names beside an output that is being written: of its part and its journal."""
    path = Path(os.path.realpath(path))
    return path.with_name(f".{path.stem}.part{path.suffix}"), path.with_name(f".{path.name}.journal")


def type_begun(path, job):
    """Name of the type in which an interrupted run of the same job was writing, or ``None``."""
    with suppress(OSError, ValueError):
        begun, done = read_journal(hidden_names(path)[1].read_bytes())
        if done and all(begun.get(name) == value for name, value in job.items()):
            return begun.get("type")
    return None


def read_journal(journal):
    """The job in a journal's bytes and the blocks that are done; ValueError if it is no journal.

    A line without its end does not count.
    """
    first, *lines = journal[: journal.rfind(b"\n") + 1].splitlines() or [b""]
    job = json.loads(first)
    if not isinstance(job, dict):
        raise ValueError("no job")
    return job, {int(line) for line in lines}


def _locked(path):
    """Open a journal that no other run has open, and lock it until it is closed."""
    while True:
        journal = open(path, "a+b")  # noqa: SIM115 - the lock lasts as long as the file is open
        if not LOCKS:
            return journal
        try:
            fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            journal.close()
            raise FileError(
                path, "another run is writing it; wait for its end, or name another output"
            ) from None
        except OSError:  # a file system without locks
            return journal
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(journal.fileno()), os.stat(path)):
                return journal
        journal.close()  # the other run has just removed it


def _remove(path):
    with suppress(FileNotFoundError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
