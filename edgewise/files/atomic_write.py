"""Writing a file, or a folder of files, whole or not at all.

The content is written to a *part*, a file with a hidden name in the same folder (the same file system, so
that the last step cannot fail half-way), which is renamed when it is complete.  Any interruption, Ctrl-C
included, leaves the folder unchanged.

A process that is killed leaves its part.  Every process holds a lock on its part until the end, so the next
one that writes the same file removes the parts whose locks are free.  A lock is visible on one machine only,
therefore the name of a part says on which machine it is written.
"""

import errno
import os
import re
import shutil
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from zlib import crc32

from edgewise import unfinished
from edgewise.errors import FileError

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

LOCKS = fcntl is not None

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
    errno.ENXIO: "is a pipe that no program reads; start its reader first, or write to a file",
    errno.EPIPE: "is a pipe whose reader has ended; write to a file",
}
#: Seconds that the reader of a pipe may take to open it.
PIPE_SECONDS = 1.0
#: Bytes of a name that its part repeats; file systems allow 255.
NAME_BYTES = 200


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
        if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
            with open(path, "wb", buffering=0, opener=without_hanging):
                yield Path(path)
            return
        with _new(goal) as part:
            yield part
            if goal.exists():
                shutil.copymode(goal, part)
            os.replace(part, goal)


def atomic_folder(goal):
    """Context with an empty folder beside ``goal``, to be renamed to that; it is removed at the end."""
    return _new(goal, is_folder=True)


@contextmanager
def _new(goal, is_folder=False):
    """Context with a new part, which is locked, and removed at the end unless it has another name then."""
    _remove_abandoned(goal)
    part, lock = _locked_part(goal, is_folder)
    try:
        yield part
    finally:
        unfinished.remove(part)
        if lock is not None:
            os.close(lock)


def without_hanging(path, flags):
    """Opener that waits for the reader of a pipe for a moment only, and leaves what is there as it is."""
    end = monotonic() + PIPE_SECONDS
    while True:
        try:
            return os.open(path, flags & ~os.O_TRUNC | getattr(os, "O_NONBLOCK", 0))
        except OSError as error:
            if error.errno != errno.ENXIO or monotonic() > end:
                raise
            sleep(0.01)


def _name_of_part(goal, number):
    machine = crc32(os.uname().nodename.encode()) if hasattr(os, "uname") else 0
    name = goal.name
    while len(os.fsencode(name)) > NAME_BYTES:
        name = name[1:]
    return f".{machine:08x}-{number}-part-{name}"


def _locked_part(goal, is_folder):
    """Create a part and lock it; return its path and the descriptor with the lock, if there are locks."""
    while True:
        part = goal.with_name(_name_of_part(goal, os.urandom(8).hex()))
        with unfinished.beginning(part):
            if is_folder:
                part.mkdir()
            else:
                os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666))
        if not LOCKS:  # an open file cannot be renamed there
            return part, None
        with suppress(OSError):  # another process has removed it before it was locked
            lock = os.open(part, os.O_RDONLY if is_folder else os.O_RDWR)
            with suppress(OSError):  # a file system without locks
                fcntl.flock(lock, fcntl.LOCK_EX)
            with suppress(OSError):
                if os.path.samestat(os.fstat(lock), os.stat(part)):
                    return part, lock
            os.close(lock)
        unfinished.complete(part)


def _remove_abandoned(goal):
    """Remove the parts of a file or folder whose processes have been killed."""
    if not LOCKS:
        return
    pattern = _name_of_part(goal, "*")
    before, _, after = pattern.partition("*")
    names = re.compile(f"{re.escape(before)}[0-9a-f]{{16}}{re.escape(after)}")
    with suppress(OSError), os.scandir(goal.parent) as entries:
        for entry in entries:
            if names.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_unlocked(entry.path)


def _remove_if_unlocked(part):
    is_folder = stat.S_ISDIR(os.lstat(part).st_mode)
    lock = os.open(part, (os.O_RDONLY if is_folder else os.O_RDWR) | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        state = os.fstat(lock)
        if state.st_uid == os.geteuid() and (is_folder or stat.S_ISREG(state.st_mode)):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(part) if is_folder else os.unlink(part)
    finally:
        os.close(lock)


def no_link(path, flags):
    """Opener that follows no symbolic link, and takes nothing but a file of the user with one name."""
    descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o666)
    state = os.fstat(descriptor)
    own = not hasattr(os, "geteuid") or state.st_uid == os.geteuid()
    if not (stat.S_ISREG(state.st_mode) and own and state.st_nlink <= 1):
        os.close(descriptor)
        raise OSError(errno.ELOOP, "is a link or belongs to another user")
    return descriptor


@contextmanager
def writing(path):
    """Turn errors of the system while ``path`` is written into a :class:`FileError` of one line."""
    try:
        yield
    except OSError as error:
        reason = REMEDIES.get(
            error.errno or 0, f"cannot be written ({error.strerror or error}); write elsewhere"
        )
        raise FileError(path, " ".join(reason.split())) from error
