"""Rows of distances in a file that grows block by block, whole or not there at all.

A NumPy file (``.npy``) or a Zarr array (``.zarr``, a folder of chunks) is written under a hidden name beside
the goal and takes the goal's name when it is complete.

A *journal* records which job writes it and which blocks are on the disk.  Its first line is the job, every
other one the number of a block and its checksum.  A line counts when its end is there.  The next run of the
same job continues with the blocks that are missing, or are not what was written; a run of another job is
refused.  A run holds a lock on the journal, where the platform and the file system have locks.

Blocks are written, not mapped into memory: a full disk is then an error that can be reported.

A format is a class with ``check(path)`` (refuse what an output may not replace), ``read(path, shape)``,
``reopen()`` (whether an interrupted run has left such a matrix), ``create()``, ``put(first, values)``,
``rows_from(first, count)`` and ``close()``.
"""

import errno
import json
import math
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from edgewise import unfinished
from edgewise.errors import FileError, OptionError, argument
from edgewise.files import checksum
from edgewise.files.atomic_write import LOCKS, no_link, writing
from edgewise.ownership import check_owner
from edgewise.paths.apsp.search import rows_of_a_block

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

#: Rows of a chunk of a Zarr array, at most; a chunk never holds rows of two blocks.
CHUNK_ROWS = 64
#: Columns of a chunk of a Zarr array.
CHUNK_COLUMNS = 4096


def sync(file):
    """Wait until everything written to a file is on the disk."""
    file.flush()
    os.fsync(file.fileno())


class NpyMatrix:
    """A NumPy file at ``part``, later at ``goal``; the ``rows`` of a block do not matter here."""

    def __init__(self, goal, part, shape, dtype, rows):
        self.goal, self.part, self.shape, self.dtype = goal, part, shape, dtype
        self.file: Any = None
        self.start = 0

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
        with suppress(Exception):  # a damaged header, which NumPy reads as text of Python, raises anything
            there = np.load(self.part, mmap_mode="r")
            fits = (there.shape, there.dtype) == (self.shape, self.dtype) and there.flags.c_contiguous
            if fits and self.part.stat().st_size == there.offset + there.nbytes:
                self.file, self.start = open(self.part, "r+b", 0, opener=no_link), there.offset  # noqa: SIM115
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

    def rows_from(self, first, count):
        """Rows that have been written."""
        row = self.shape[1] * self.dtype.itemsize
        self.file.seek(self.start + first * row)
        content = np.fromfile(self.file, self.dtype, count * self.shape[1])
        return content.reshape(-1, self.shape[1])

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
        self.array: Any = None

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
        array = None if self.part.is_symlink() else _opened(self.part, "r+")
        wanted = self.shape, self.dtype, self.chunks
        if array is not None and (array.shape, array.dtype, array.chunks) == wanted:
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

    def rows_from(self, first, count):
        """Rows that have been written."""
        return self.array[first : first + count]

    def close(self):
        """Release the array."""
        self.array = None


FORMATS: dict[str, Any] = {".npy": NpyMatrix, ".zarr": ZarrMatrix}


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


def check_path(path):
    """Return the path of an output, unless its suffix is unknown or it may not replace a file."""
    path = Path(os.fsdecode(path))
    if path.suffix not in FORMATS:
        raise OptionError(f"{argument('output', str(path))} must end in {' or '.join(FORMATS)}")
    FORMATS[path.suffix].check(path)
    return path


def write(path, matrix):
    """Write a matrix that exists, on the host or in a file, whole or not at all."""
    (height, width), job = matrix.shape, {"method": "a matrix that exists"}
    rows = rows_of_a_block(height, width, matrix.dtype)
    with RowFile(check_path(path), matrix.shape, matrix.dtype, rows, job) as file:
        file.lasts = False
        for block in range(file.blocks):
            file.put(block, np.asarray(matrix[block * rows : (block + 1) * rows]))
        file.finish()


class RowFile:
    """A matrix on disk that takes blocks of ``rows`` rows, the last of which may have fewer; a context.

    ``job`` is what the distances depend on, as text and numbers.  Raises FileError if another run is writing
    the file, if an interrupted run was of another job, or if the system refuses to write.
    """

    #: Whether the blocks that are there stay after an interrupt.
    lasts = True

    def __init__(self, path, shape, dtype, rows, job):
        self.path = Path(os.path.realpath(path))
        self.shape, self.dtype, self.rows = tuple(shape), np.dtype(dtype), rows
        self.job = {**job, "shape": list(shape), "type": self.dtype.name, "rows of a block": rows}
        self.part, self.journal = hidden_names(path)
        self.done: dict[int, str] = {}  # checksums by blocks
        self.matrix = FORMATS[self.path.suffix](self.path, self.part, self.shape, self.dtype, rows)
        with writing(path):
            self.log = _locked(self.journal)
            try:
                self._resume()
                if self.done and self.matrix.reopen():
                    self.done = {block: one for block, one in self.done.items() if self._is_right(block, one)}
                else:
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
        except (ValueError, RecursionError):
            return
        if not self.part.exists():
            return
        check_owner(self.part, self.part, "remove it to begin anew, or name another output")
        self.done = done
        for name, value in self.job.items() if done else ():
            if job.get(name) != value:
                raise FileError(
                    self.journal,
                    f"belongs to another run: {name} was {job.get(name)!r} and is {value!r} now; "
                    "remove it to begin anew, or name another output",
                )
        if not all(0 <= block < self.blocks for block in done):
            self.done = {}
        self.log.truncate(journal.rfind(b"\n") + 1)

    def _is_right(self, block, written):
        """Whether the rows of a block are those that were written."""
        with suppress(Exception):  # what a damaged array raises is not Zarr's alone
            rows = self.matrix.rows_from(block * self.rows, self.rows)
            return checksum.of_bytes([np.ascontiguousarray(rows)]) == written
        return False

    def _begin(self):
        """Begin anew.  An existing part is removed, not overwritten: another process may be reading it."""
        self.done = {}
        unfinished.remove(self.part)
        for path in (self.part, self.journal):
            unfinished.begin(path)
        self.matrix.create()
        self.log.truncate(0)
        self._append(self.job)

    def _append(self, entry):
        self.log.seek(0, os.SEEK_END)
        self.log.write(json.dumps(entry).encode() + b"\n")
        sync(self.log)

    def put(self, block, values):
        """Write the rows of one block; they are on the disk when this returns."""
        found = checksum.of_bytes([np.ascontiguousarray(values)])
        with writing(self.path):
            self.matrix.put(block * self.rows, values)
            self._append([block, found])
        self.done[block] = found
        for path in (self.part, self.journal) if self.lasts else ():
            unfinished.complete(path)

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
        if self.done and self.lasts:
            self.log.close()
        else:
            self.discard()

    def discard(self):
        """Remove what would let the next run continue."""
        self.matrix.close()
        if not LOCKS:
            self.log.close()
        unfinished.remove(self.part)
        unfinished.remove(self.journal)  # still locked, where there are locks
        self.log.close()
        self.done = {}


def hidden_names(path):
    """Names beside an output that is being written: of its part and its journal."""
    path = Path(os.path.realpath(path))
    return path.with_name(f".{path.stem}.part{path.suffix}"), path.with_name(f".{path.name}.journal")


def type_begun(path, job):
    """Name of the type in which an interrupted run of the same job was writing, or ``None``."""
    with suppress(OSError, ValueError, RecursionError):
        with open(hidden_names(path)[1], "rb", opener=no_link) as journal:
            begun, done = read_journal(journal.read())
        if done and all(begun.get(name) == value for name, value in job.items()):
            return begun.get("type")
    return None


def read_journal(journal):
    """The job in a journal's bytes, and the blocks that are done with their checksums; else ValueError.

    A line without its end does not count.
    """
    first, *lines = journal[: journal.rfind(b"\n") + 1].splitlines() or [b""]
    job = json.loads(first)
    if not isinstance(job, dict):
        raise ValueError("no job")
    done = {}
    for line in map(json.loads, lines):
        if not (isinstance(line, list) and [type(one) for one in line] == [int, str]):
            raise ValueError("no block")
        done[line[0]] = line[1]
    return job, done


def _locked(path):
    """Open a journal that no other run has open, and lock it until it is closed."""
    while True:
        try:
            journal = open(path, "a+b", opener=no_link)  # noqa: SIM115 - the lock lasts as long as it is open
        except OSError as error:
            if error.errno == errno.ELOOP:
                problem = "is no journal but a link or the file of another user; remove it"
                raise FileError(path, problem) from None
            raise
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
