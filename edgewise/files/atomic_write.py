"""Writing a file whole or not at all.

The content is written to a temporary name in the same folder (the same file system, so that the last step
cannot fail half-way), which is renamed when it is complete.  Any interruption, Ctrl-C included, leaves the
folder unchanged.
"""

import errno
import os
import shutil
import stat
from contextlib import contextmanager, suppress
from pathlib import Path

from edgewise.errors import FileError

REMEDIES = {
    errno.ENOSPC: "the disk is full; free some space or write elsewhere",
    errno.EDQUOT: "the disk quota is used up; free some space or write elsewhere",
    errno.EFBIG: "the file grew larger than the system allows; write elsewhere or compress it",
    errno.EACCES: "may not be written; check the permissions of the folder",
    errno.EPERM: "may not be written; check the permissions of the folder",
    errno.EROFS: "the file system is read-only; write elsewhere",
    errno.ENOENT: "the folder does not exist; create it first",
    errno.ENOTDIR: "the folder is a file; choose another path",
    errno.EISDIR: "is a directory; name a file in it",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
}


@contextmanager
def atomic_write(path):
    """Give a temporary path to write to; it becomes ``path`` when the block ends without an error.

    It is in the same folder and has the same suffixes.  An existing file is replaced (through a symbolic link
    too), and its permissions are kept.  A device or a pipe such as ``/dev/stdout`` is written directly.
    """
    with writing(path):
        goal = Path(os.path.realpath(path))
        if goal.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a directory")
        if goal.exists() and not stat.S_ISREG(goal.stat().st_mode):
            yield goal
            return
        part = goal.with_name(f".{os.urandom(4).hex()}-part-{goal.name[-200:]}")
        try:
            part.touch(exist_ok=False)
            yield part
            if goal.exists():
                shutil.copymode(goal, part)
            os.replace(part, goal)
        finally:
            with suppress(OSError):
                part.unlink()


@contextmanager
def writing(path):
    """Turn errors of the system while ``path`` is written into a :class:`FileError` of one line."""
    try:
        yield
    except OSError as error:
        reason = REMEDIES.get(error.errno, f"cannot be written ({error.strerror or error}); write elsewhere")
        raise FileError(path, " ".join(reason.split())) from error
