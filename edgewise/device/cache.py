"""Compiled kernels on disk, so that a second process starts immediately.

The folder is named by a digest of the package's own sources, of the versions of Python, Numba and llvmlite,
and of the settings of Numba that change the compiled code, so stale code never runs.  (Numba's own cache
compares the time of the file that contains the kernel, and misses edits of the functions that it calls.)

There is one file per kernel and signature, written under a temporary name and then renamed.
``EDGEWISE_CACHE_DIR`` names another folder; one that is not writable is only read.
"""

import hashlib
import os
import re
import shutil
import sys
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import llvmlite
import numba
from llvmlite import binding
from numba.core import config

from edgewise import kernel_folder
from edgewise.device import claims, numba_internals
from edgewise.kernel_folder import digest_of_sources, root

__all__ = ["announce", "folder", "is_ours", "keep", "keep_text", "load_text", "root"]

#: Folders of other versions that are left when a new one is opened; only folders of such names are removed.
KEPT_VERSIONS = 3
VERSION = "[0-9a-f]{20}"

#: Compiled functions that are kept, by name.
kept: dict[str, Any] = {}
#: Whether a kernel that another process compiles is waited for; if not, :class:`Claimed` is raised.
waits = True
ANNOUNCEMENT = "edgewise: compiling kernels (first use of this version) ..."
_announcements = [ANNOUNCEMENT]  # those that are still to be made, by whichever thread comes first


class Claimed(Exception):
    """Another process is compiling the kernel."""


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
    versions = sys.version, numba.__version__, llvmlite.__version__
    settings = config.BOUNDSCHECK, int(config.OPT), config.DEBUGINFO_DEFAULT, numba_internals.PUBLIC_ONLY
    state = repr((versions, settings, digest_of_sources()))
    return hashlib.sha256(state.encode()).hexdigest()[:20]


@cache
def _processor() -> str:
    """The processor that kernels are compiled for."""
    features = config.CPU_FEATURES or binding.get_host_cpu_features().flatten()
    return repr((binding.get_process_triple(), config.CPU_NAME or binding.get_host_cpu_name(), features))


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
    if path is not None:
        kept[name] = dispatcher
        read, write = partial(_read_kernel, name), partial(_write_kernel, name)
        numba_internals.keep_compiled(dispatcher, name, path, read, write)
    return dispatcher


def _file_of(name, signature):
    key = hashlib.sha256((signature + _processor()).encode()).hexdigest()[:20]
    return f"{name.replace('<', '').replace('>', '')}-{key}.nbc"


def _read_kernel(name, signature):
    return _read_or_claim(_file_of(name, signature), name)


def _write_kernel(name, signature, data):
    file = _file_of(name, signature)
    _write(file, data)
    _release(file)


def _read_or_claim(file, name):
    """Read a file of the folder; ``None`` if this process is to compile the kernel.

    Raises
    ------
    Claimed
        Another process does, and this one does not wait.
    """
    data = _read(file)
    if data is not None or folder() is None:
        return data
    announce(name)
    if not claims.take(folder() / file, waits) and not waits:
        raise Claimed
    data = _read(file)
    if data is not None:
        _release(file)
    return data


def _release(file):
    """Give up the claim on a kernel, and say that it is there."""
    if folder() is not None:
        claims.release(folder() / file)
    if kernel_folder.listener is not None:
        kernel_folder.listener("")


def announce(name: str = ""):
    """Say that a kernel is compiled: to the listener, or once in words, because it takes seconds."""
    if kernel_folder.listener is not None:
        kernel_folder.listener(name.rpartition(".")[2])
        return
    with suppress(IndexError):  # before the words, since an interrupt may come between them and a note
        words = _announcements.pop()
        if sys.stderr is not None and os.environ.get("EDGEWISE_QUIET", "0") in ("", "0"):
            with suppress(OSError):  # a closed or full standard error does not stop the work
                print(words, file=sys.stderr, flush=True)


def load_text(name: str) -> str | None:
    """Text kept under ``name``, if any; if there is none, this process is to make it."""
    data = _read_or_claim(name, name.partition("-")[0]) if is_ours(name) else None
    with suppress(UnicodeDecodeError):
        return None if data is None else data.decode()
    return None


def keep_text(name: str, text: str):
    """Keep ``text`` under ``name``."""
    if is_ours(name):
        _write(name, text.encode())
        _release(name)


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
