"""Compiled kernels on disk, so that a second process starts immediately.

The folder is named by a digest of the package's own sources and of the versions of Python, Numba and
llvmlite, so stale code never runs.  (Numba's own cache compares the time of the file that contains the
kernel, and misses edits of the functions that it calls.)  The names of the files of CPU kernels depend on
the processor, and on the settings of Numba that change the compiled code.  To load the kernels of a GPU takes
no import of Numba.

There is one file per kernel and signature, written under a temporary name and then renamed.
``EDGEWISE_CACHE_DIR`` names another folder; one that is not writable is only read.
"""

import hashlib
import os
import re
import shutil
import sys
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from uuid import uuid4

from edgewise import notices
from edgewise.device.target import PUBLIC_ONLY, cpu_compiler, prepare_cpu_compiler

#: Folders of other versions that are left when a new one is opened; only folders of such names are removed.
KEPT_VERSIONS = 3
VERSION = "[0-9a-f]{20}"

_unsaid = ["edgewise: compiling kernels (first use of this version) ..."]


def root() -> Path:
    """Folder that holds one folder of compiled kernels for each version of the sources."""
    chosen = os.environ.get("EDGEWISE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "edgewise"


@cache
def folder() -> Path | None:
    """Folder for the present sources; ``None`` if there is none and none can be made."""
    try:
        path = root() / "kernels" / _digest()
        if not path.exists():
            path.mkdir(parents=True, exist_ok=True)
            _forget_old_versions(path)
    except (OSError, RuntimeError):  # not writable, or no home folder
        return None
    return path


def _digest() -> str:
    package = os.fspath(Path(__file__).resolve().parent.parent)
    versions = sys.version, *map(version, ("numba", "llvmlite"))
    state = hashlib.sha256(repr((versions, PUBLIC_ONLY)).encode())
    files = [os.path.join(place, name) for place, _, names in os.walk(package) for name in names]
    for file in sorted(file for file in files if file.endswith(".py")):
        state.update(os.path.relpath(file, package).encode())
        with open(file, "rb", buffering=0) as source:  # every process does this: Path takes twice the time
            state.update(source.readall())
    return state.hexdigest()[:20]


def _target() -> str:
    """The processor and the settings of Numba that CPU kernels are compiled for."""
    from numba.core import config

    return repr((_processor(), config.BOUNDSCHECK, int(config.OPT), config.DEBUGINFO_DEFAULT))


@cache
def _processor():
    from llvmlite import binding
    from numba.core import config

    features = config.CPU_FEATURES or binding.get_host_cpu_features().flatten()
    return binding.get_process_triple(), config.CPU_NAME or binding.get_host_cpu_name(), features


def _forget_old_versions(current: Path):
    others = [
        path for path in current.parent.iterdir() if re.fullmatch(VERSION, path.name) and path != current
    ]
    try:
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:  # another process removes them at the same time
        return
    for path in others[KEPT_VERSIONS:]:
        shutil.rmtree(path, ignore_errors=True)


def is_ours(name: str) -> bool:
    """Whether the sources of a kernel are in the digest; the kernels of other packages are not kept."""
    return name.startswith("edgewise.")


def keep(dispatcher, name: str):
    """Keep what ``dispatcher`` (an ``njit`` function) compiles; ``name`` must be unique to it."""
    path = folder() if is_ours(name) else None
    if path is None:
        prepare_cpu_compiler()
    else:
        read, write = partial(_read_kernel, name), partial(_write_kernel, name)
        cpu_compiler().keep_compiled(dispatcher, name, path, read, write)
    return dispatcher


def _file_of(name, signature):
    key = hashlib.sha256((signature + _target()).encode()).hexdigest()[:20]
    return f"{name.replace('<', '').replace('>', '')}-{key}.nbc"


def _read_kernel(name, signature):
    data = _read(_file_of(name, signature))
    if data is None:
        announce(name)
    return data


def _write_kernel(name, signature, data):
    _write(_file_of(name, signature), data)
    announce_end()


def announce(name: str = ""):
    """Say that a kernel is compiled: to the listener, or once in words, because it takes seconds."""
    if notices.listener is not None:
        notices.listener(name.rpartition(".")[2])
        return
    with suppress(IndexError):  # taken by the first of several threads
        words = _unsaid.pop()
        if sys.stderr is not None and os.environ.get("EDGEWISE_QUIET", "0") in ("", "0"):
            with suppress(OSError):  # a closed or full standard error does not stop the work
                print(words, file=sys.stderr, flush=True)


def announce_end():
    """Say to the listener that the kernel is there."""
    if notices.listener is not None:
        notices.listener("")


def load_text(name: str) -> str | None:
    """Text kept under ``name``, if any."""
    data = load_bytes(name)
    with suppress(UnicodeDecodeError):
        return None if data is None else data.decode()
    return None


def keep_text(name: str, text: str):
    """Keep ``text`` under ``name``."""
    keep_bytes(name, text.encode())


def load_bytes(name: str) -> bytes | None:
    """Bytes kept under ``name``, if any."""
    return _read(name) if is_ours(name) else None


def keep_bytes(name: str, data: bytes):
    """Keep ``data`` under ``name``."""
    if is_ours(name):
        _write(name, data)


def begin(name: str) -> bool:
    """Whether this process is the first to begin ``name``, which is done once for every version."""
    path = folder()
    with suppress(OSError):
        if path is not None:
            (path / f"{name}.begun").touch(exist_ok=False)
            return True
    return False


@contextmanager
def sole(name: str, wait: bool = True):
    """Context in which no other process is in the context of ``name``; it yields whether that is so.

    Without ``wait`` it yields ``False`` where another process is.  Where files cannot be locked, nothing is
    waited for.
    """
    path = folder() if is_ours(name) else None
    if path is None:
        yield False
        return
    file, lock, is_mine = path / f"{name}.lock", None, False
    try:
        with suppress(ImportError, OSError):
            import fcntl

            lock = os.open(file, os.O_CREAT | os.O_RDWR)
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_mine = True
        yield is_mine
    finally:
        if is_mine:  # whoever waits for it finds what was made under it
            with suppress(OSError):
                file.unlink()
        if lock is not None:
            os.close(lock)


def _read(file):
    path = folder()
    with suppress(OSError):
        return None if path is None else (path / file).read_bytes()
    return None


def _write(file, data):
    """Write a file of the folder completely or not at all."""
    path = folder()
    if path is None:
        return
    with suppress(OSError):
        draft = path / f"{uuid4().hex}.draft"
        try:
            draft.write_bytes(data)
            os.replace(draft, path / file)
        finally:
            draft.unlink(missing_ok=True)
