"""A kernel is compiled by one process, and the others that need it wait for it.

A claim is a lock on a file beside that of the kernel, which the system releases when the process ends,
however it ends.  Without such locks, in a folder that is only read, or when another process takes too long,
every process compiles for itself, which costs time and is never wrong.
"""

import os
import time
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: Seconds between two looks at the claim of another process, and seconds after which it is passed over.
POLL, PATIENCE = 0.005, 30.0
SUFFIX = ".claim"

_held: dict[Path, int] = {}


def take(path: Path, wait: bool = True) -> bool:
    """Claim the kernel of a file, if need be after another process; return whether this one has the claim."""
    if fcntl is None or path in _held:
        return True
    end = time.monotonic() + PATIENCE
    while (lock := _lock(path)) is None:
        if not wait or time.monotonic() > end:
            return False
        time.sleep(POLL)
    if lock >= 0:
        _held[path] = lock
    return True


def _lock(path):
    """The open file of the lock, None if another process has it, or -1 if there can be none."""
    try:
        lock = os.open(f"{path}{SUFFIX}", os.O_CREAT | os.O_RDWR, 0o600)
    except OSError:
        return -1
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    except OSError:  # a file system without locks
        os.close(lock)
        return -1
    return lock


def release(path: Path):
    """Give up a claim, after the file of the kernel has been written."""
    lock = _held.pop(path, None)
    if lock is not None:
        with suppress(OSError):
            os.unlink(f"{path}{SUFFIX}")
        os.close(lock)


def _forget():
    """The child of a fork has none of the claims of its parent."""
    for lock in _held.values():
        os.close(lock)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
