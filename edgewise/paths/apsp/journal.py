"""The journal of an output: which job writes it, and which blocks are on the disk.

Its first line is the job, every other one the number of a block.  A line counts when its end is there: of
``12`` a crash may leave ``1``.  A run holds a lock on the journal, so that there is one at a time; where the
platform or the file system has no locks, that is left to the user.
"""

import json
import os
from contextlib import suppress
from pathlib import Path

from edgewise.errors import FileError

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

LOCKS = fcntl is not None


def names_beside(path):
    """Hidden names of an output that is being written: its part and its journal."""
    path = Path(os.path.realpath(path))
    return path.with_name(f".{path.stem}.part{path.suffix}"), path.with_name(f".{path.name}.journal")


def type_begun(path, job):
    """Name of the type in which an interrupted run of the same job was writing, or ``None``.

    Parameters
    ----------
    path : path-like
        The goal.
    job : dict
        As that of :class:`~edgewise.paths.apsp.output.RowFile`.
    """
    with suppress(OSError, ValueError):
        begun, done = read(names_beside(path)[1].read_bytes())
        if done and all(begun.get(name) == now for name, now in job.items()):
            return begun.get("type")
    return None


def read(journal):
    """The job in a journal's bytes and the blocks that are done.  A line without its end does not count.

    Raises
    ------
    ValueError
        It is no journal.
    """
    first, *lines = journal[: journal.rfind(b"\n") + 1].splitlines() or [b""]
    job = json.loads(first)
    if not isinstance(job, dict):
        raise ValueError("no job")
    return job, {int(line) for line in lines}


def locked(path):
    """Open a journal that no other run has open, and keep others from it until it is closed."""
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


def sync(file):
    """Wait until what was written is on the disk."""
    file.flush()
    os.fsync(file.fileno())
