"""What a process has begun: the files to remove, and the processes to end, if it ends at once.

A signal ends a command even while a kernel or a library runs that knows nothing of signals: another thread
calls :func:`abandon`, and then ends the process.  So files are noted here before they are there, and under a
lock that :func:`abandon` keeps, behind which nothing is begun any more.
"""

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir
from threading import RLock, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subprocess import Popen

#: Seconds that a process which is to end may take.
PATIENCE = 1.0
#: Seconds between two looks at such a process.
PAUSE = 0.002
#: How often it is tried to remove what there is.
TRIES = 3

#: Held while something is begun.
_beginning = RLock()
#: Files and folders that are neither complete nor removed.
_paths: set[Path] = set()
#: Processes that are the first ones of their sessions.
_leaders: "set[Popen]" = set()
#: How many steps are to be completed.
_steps = 0


@contextmanager
def beginning(path: Path) -> Iterator[None]:
    """Context in which a file or folder is created, to be removed unless :func:`complete` is called."""
    with _beginning:
        _paths.add(path)
        try:
            yield
        except OSError:  # it was not created
            _paths.discard(path)
            raise


def begin(path: Path) -> None:
    """Have a file or folder removed at the end that is to be created, or was just now."""
    with _beginning:
        _paths.add(path)


def complete(path: Path) -> None:
    """Let a file or folder stay."""
    _paths.discard(path)


def remove(path: Path) -> bool:
    """Remove a file or folder if it is there; say whether it is there still, to be removed at the end."""
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        path.unlink()
    is_there = os.path.lexists(path)
    if not is_there:
        _paths.discard(path)
    return is_there


@contextmanager
def temporary_file(suffix: str = "") -> Iterator[Path]:
    """Give the path of a new empty file in the folder for temporary files, which is removed at the end."""
    path = _temporary_path(suffix)
    with beginning(path):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield path
    finally:
        remove(path)


@contextmanager
def temporary_folder(parent: str | None = None) -> Iterator[Path]:
    """The same for a folder, which may be in another folder."""
    path = _temporary_path("", parent)
    with beginning(path):
        path.mkdir(0o700)
    try:
        yield path
    finally:
        end = monotonic() + PATIENCE
        while remove(path) and monotonic() < end:  # a process that is ending has just written to it
            sleep(PAUSE)


def _temporary_path(suffix, parent=None):
    return Path(parent or gettempdir(), f"edgewise-{os.urandom(8).hex()}{suffix}")


@contextmanager
def session(words: list[str], quiet: bool = False) -> "Iterator[Popen]":
    """Start a process in a session of its own, which is out of reach of the terminal, and end that session.

    The sessions that other parts of the program have started then end as well.

    The process has pipes for its standard input, which is closed if this process is killed, and its output.
    What a ``quiet`` one writes to its standard error is lost.
    """
    import subprocess

    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    pipes |= {"stderr": subprocess.DEVNULL} if quiet else {}
    apart = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0), "start_new_session": True}
    with _beginning:
        leader = subprocess.Popen(words, **pipes, **apart)  # type: ignore[call-overload]
        _leaders.add(leader)
    try:
        yield leader
    finally:
        end_sessions()
        leader.stdin.close()
        leader.stdout.close()
        _leaders.discard(leader)


def end_with_caller() -> None:
    """End this process, which :func:`session` has started, and its session when the caller ends."""

    def wait():
        while os.read(0, 1):  # the other end of standard input is closed then
            pass
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGTERM)
        os._exit(0)

    Thread(target=wait, daemon=True).start()


def end_sessions(patience: float = PATIENCE) -> None:
    """End all processes of the sessions, and wait for their leaders as long as ``patience`` says."""
    for leader in list(_leaders):
        if leader.returncode is None:  # so its number has not been given to another process
            with suppress(OSError):
                os.killpg(leader.pid, signal.SIGTERM) if hasattr(os, "killpg") else leader.terminate()
    end = monotonic() + patience
    while any(leader.poll() is None for leader in list(_leaders)) and monotonic() < end:
        sleep(PAUSE)


@contextmanager
def to_be_completed(is_needed: bool = True) -> Iterator[None]:
    """Context of a step that a command completes after a signal, before it ends, if it ``is_needed``."""
    global _steps
    _steps += is_needed
    try:
        yield
    finally:
        _steps -= is_needed


def must_complete() -> bool:
    """Whether a step runs that is to be completed."""
    return _steps > 0


def _forget() -> None:
    """Leave to the parent what it has begun."""
    global _beginning, _steps
    _beginning, _steps = RLock(), 0
    _paths.clear()
    _leaders.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def abandon() -> None:
    """End the processes and remove the files that there are; the process has to end after this."""
    _beginning.acquire(timeout=PATIENCE)  # never released
    end_sessions()
    for _ in range(TRIES):  # other threads may be writing to a folder
        for path in list(_paths):
            remove(path)
