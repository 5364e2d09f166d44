"""Compiled kernels on disk, so that a second process starts immediately.

The folder is named by a digest of the package's own sources and of the versions of Python, Numba and
llvmlite, so stale code never runs.  (Numba's own cache compares the time of the file that contains the
kernel, and misses edits of the functions that it calls.)  The names of the files of CPU kernels depend on
the processor, and on the settings of Numba that change the compiled code.  To load the kernels of a GPU takes
no import of Numba.

There is one file per kernel and signature, written under a temporary name and then renamed.
``EDGEWISE_CACHE_DIR`` names another folder; one that is not writable is only read.  What is not in it may
have come with the package (:mod:`~edgewise.device.shipped`).

Kernels are run, and unpickled, so they are trusted only if nobody else can have written them.  A folder that
another user owns or can write is neither read nor written; a file of that kind is not read.  Every file
begins with a checksum of its name and content; one that is damaged counts as missing, and is compiled again.
"""

import atexit
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from threading import RLock
from uuid import uuid4

from edgewise import notices, unfinished
from edgewise.device import shipped
from edgewise.device.first_use import PUBLIC_ONLY, prepare_cpu_compiler
from edgewise.device.target import INTERPRETED, cpu_compiler
from edgewise.errors import warn
from edgewise.ownership import open_to_others

#: Folders of other versions that are left when a new one is opened; only folders of such names are removed.
KEPT_VERSIONS = 3
VERSION = "[0-9a-f]{20}"
#: Bytes of the checksum at the beginning of a file.
CHECKSUM_BYTES = 16
#: Permissions of folders and files, whatever the umask: what others can write is not read again.
FOLDER_MODE, FILE_MODE = 0o755, 0o644
#: File with the checksums of files that Numba has written by itself.
SUMS = "edgewise.sums"

#: Is called with the name of a kernel while another process compiles it, where processes share the work.
wait_for_other: Callable[[str], None] | None = None
#: Says how many kernels a command compiles, where that is known.
progress: Callable[[], str] | None = None
#: Locks of the kernels that this process compiles, by the name of the file.
_kernel_locks: dict[str, ExitStack] = {}
#: Threads that need their first kernels at the same time read the sources once, and not all of them.
_lock = RLock()
if hasattr(os, "register_at_fork"):
    # a fork waits for the thread that reads; the child would find the lock taken for ever
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)

_unsaid = ["edgewise: compiling kernels (first use of this version) ..."]
_unwarned = ["kernels there are not used; remove it, or set EDGEWISE_CACHE_DIR to a folder of your own"]


def root() -> Path:
    """Folder that holds one folder of compiled kernels for each version of the sources."""
    chosen = os.environ.get("EDGEWISE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "edgewise"


@cache
def folder() -> Path | None:
    """Folder for the present sources; ``None`` if there is none that is safe, and none can be made."""
    try:
        base = root()
        path = base / "kernels" / digest()
        is_new = not path.exists()
        base.parent.mkdir(parents=True, exist_ok=True)
        for one in (base, path.parent, path):
            one.mkdir(FOLDER_MODE, exist_ok=True)
            if not _is_safe(one, one):
                return None
        if is_new:
            _forget_old_versions(path)
    except (OSError, RuntimeError):  # not writable, or no home folder
        return None
    return path


def _is_safe(file, path):
    """Whether nobody else can have written a file, given as its descriptor or path; the first is named."""
    problem = open_to_others(file)
    if problem is not None:
        with suppress(IndexError):
            warn(f"{path} {problem}: {_unwarned.pop()}")
    return problem is None


@cache
def digest() -> str:
    """Name of the folder of kernels: of the package's sources, of Python and of the compiler."""
    from importlib.metadata import version  # takes a tenth of the time of a small command

    package = os.fspath(shipped.PACKAGE)
    python = sys.implementation.cache_tag, getattr(sys, "abiflags", "")
    versions = *python, *map(version, ("numba", "llvmlite"))
    state = hashlib.sha256(repr((versions, PUBLIC_ONLY)).encode())
    files = [os.path.join(place, name) for place, _, names in os.walk(package) for name in names]
    for file in sorted(file for file in files if file.endswith(".py")):
        state.update(os.path.relpath(file, package).encode())
        with open(file, "rb", buffering=0) as source:  # every process does this: Path takes twice the time
            state.update(source.readall())
    return state.hexdigest()[:20]


def _targets() -> list[str]:
    """Processors and settings of Numba that CPU kernels may be compiled for, this processor first.

    The others are what kernels of the package are compiled for, and run on this processor as well.
    """
    from numba.core import config

    settings = config.BOUNDSCHECK, int(config.OPT), config.DEBUGINFO_DEFAULT
    vectors = config.ENABLE_AVX, config.LOOP_VECTORIZE, config.SLP_VECTORIZE
    return [repr((processor, *settings, *vectors)) for processor in _processors()]


@cache
def _processors():
    from llvmlite import binding
    from numba.core import config

    triple, features = binding.get_process_triple(), binding.get_host_cpu_features()
    if config.CPU_NAME is None and config.CPU_FEATURES is None and shipped_folder() is not None:
        others = [(triple, level, "") for level in shipped.levels(triple, features)]
    else:
        others = []
    name = config.CPU_NAME or binding.get_host_cpu_name()
    wanted = features.flatten() if config.CPU_FEATURES is None else config.CPU_FEATURES
    return [(triple, name, wanted), *others]


@cache
def shipped_folder() -> Path | None:
    """Folder of the package's kernels for the present sources and versions; ``None`` if there is none."""
    path = shipped.FOLDER / digest()
    return path if path.is_dir() else None


def keeps_of_all_processes() -> bool:
    """Whether the kernels that several processes compile at once are all kept."""
    return folder() is not None and not INTERPRETED and cpu_compiler().HAS_CACHE


def names_of_kernels() -> list[str]:
    """Full names of the kernels for CPU cores that the user's folder has, one for each file."""
    path = folder()
    with suppress(OSError):  # another process may remove it
        files = [] if path is None else os.listdir(path)
        return [file.rpartition("-")[0] for file in files if file.endswith(".nbc")]
    return []


def package_level() -> str | None:
    """The level of processors whose kernels came with the package and are used here; ``None`` without any."""
    with suppress(ImportError, RuntimeError):  # Numba may be broken, or know nothing of the processor
        return None if shipped_folder() is None else next((name for _, name, _ in _processors()[1:]), None)
    return None


def came_with_package(label: str) -> bool:
    """Whether the package came with GPU kernels of a label, a capability and a version of the compiler."""
    path = shipped_folder()
    return path is not None and any(name.endswith(f"-{label}.ptx") for name in os.listdir(path))


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
    cpu_compiler().share_with_readonly(dispatcher)
    with _lock:
        path = folder() if is_ours(name) else None
        is_kept = is_ours(name) and (path is not None or shipped_folder() is not None)
    if not is_kept:
        prepare_cpu_compiler()
        return dispatcher
    read, write = partial(_read_kernel, name), partial(_write_kernel, name)
    if not cpu_compiler().keep_compiled(dispatcher, read, write):
        prepare_cpu_compiler()
        if path is not None and _owns(path):
            cpu_compiler().keep_by_numba(dispatcher, name, path)
    return dispatcher


def _files_of(name, signature):
    """Names of the files of a kernel, one for each of the targets."""
    for target in _targets():
        key = hashlib.sha256((signature + target).encode()).hexdigest()[:20]
        yield f"{name.replace('<', '').replace('>', '')}-{key}.nbc"


def _read_kernel(name, signature):
    data = _kept_kernel(name, signature)
    if data is None:
        begin, notices.first_kernel = notices.first_kernel, None
        if begin is not None and not begin(name, signature):
            notices.first_kernel = begin  # the next kernel may say more
        announce(name)
        data = _compiled_by_other(name, signature)
        if data is not None:
            announce_end()
    return data


def _kept_kernel(name, signature):
    return next((data for data in map(_read, _files_of(name, signature)) if data is not None), None)


def _compiled_by_other(name, signature):
    """A kernel that another process has compiled meanwhile; ``None`` once this process is to compile it."""
    file = next(_files_of(name, signature))
    while wait_for_other is not None:
        is_mine = _lock_kernel(file)
        data = _kept_kernel(name, signature)
        if data is not None:
            _unlock_kernel(file)
        if is_mine or data is not None:
            return data
        wait_for_other(name)
    return None


def _lock_kernel(file):
    """Lock the kernel of a file until :func:`_unlock_kernel`; return whether no other process compiles it."""
    if file not in _kernel_locks:  # where it is, its compilation has failed in this process before
        stack = ExitStack()
        if not stack.enter_context(sole(file, wait=False)):
            stack.close()
            return False
        _kernel_locks[file] = stack
    return True


def _unlock_kernel(file):
    if file in _kernel_locks:
        _kernel_locks.pop(file).close()


def unlock_kernels():
    """Let other processes compile what this one has begun to compile, and has not kept."""
    for file in list(_kernel_locks):
        _unlock_kernel(file)


def _write_kernel(name, signature, data):
    file = next(_files_of(name, signature))
    if data is not None:
        _write(file, data)
    _unlock_kernel(file)
    announce_end()


def announce(name: str = ""):
    """Say that a kernel is compiled: to the listener, or once in words, because it takes seconds."""
    if notices.listener is not None:
        count = progress() if name and progress is not None else ""
        notices.listener(name.rpartition(".")[2] + count)
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


def load_shipped_text(name: str) -> str | None:
    """Text that the package came with under ``name``, if any."""
    data = _content(shipped_folder(), name, shipped.is_as_safe_as_sources)
    return None if data is None else data.decode()


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

            lock = os.open(file, os.O_CREAT | os.O_RDWR, FILE_MODE)
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_mine = True
        yield is_mine
    finally:
        if is_mine:  # whoever waits for it finds what was made under it
            with suppress(OSError):
                file.unlink()
        if lock is not None:
            os.close(lock)


def remove_locks():
    """Remove the locks that no process has, which killed processes leave behind."""
    path = folder()
    for file in [] if path is None else path.glob("*.lock"):
        with sole(file.stem, wait=False):
            pass


def _read(file):
    """Content of a file of the folder or of the package's; ``None`` if missing, damaged, or not safe."""
    content = _content(folder(), file, _is_safe)
    return _content(shipped_folder(), file, shipped.is_as_safe_as_sources) if content is None else content


def _content(path, file, is_safe):
    if path is None:
        return None
    try:
        with open(path / file, "rb", buffering=0) as entry:
            data = entry.readall() if is_safe(entry.fileno(), path / file) else b""
    except OSError:
        return None
    content = memoryview(data)[CHECKSUM_BYTES:]
    return content.tobytes() if data[:CHECKSUM_BYTES] == _checksum(file, content) else None


def _checksum(name, content):
    state = hashlib.blake2b(name.encode() + b"\n", digest_size=CHECKSUM_BYTES)
    state.update(content)
    return state.digest()


def _write(file, data):
    """Write a file of the folder completely or not at all."""
    path = folder()
    if path is None:
        return
    with suppress(OSError):
        draft = path / f"{uuid4().hex}.draft"
        with unfinished.beginning(draft):
            entry = open(draft, "xb", opener=_for_this_user)  # noqa: SIM115 - closed below
        try:
            with entry:
                entry.write(_checksum(file, data))
                entry.write(data)
            os.replace(draft, path / file)
        finally:
            unfinished.remove(draft)


def _for_this_user(path, flags):
    return os.open(path, flags, FILE_MODE)


# -- files that Numba writes by itself -----------------------------------------------------------------------

_locks: dict = {}


def _owns(path):
    """Whether this process may let Numba use a folder: it holds its lock, which it keeps to its end.

    What Numba has written there is listed with checksums when a process ends.  Whatever is not as in the list
    is removed first.
    """
    if path not in _locks:
        _locks[path] = _lock_of(path)
    return _locks[path] is not None


def _lock_of(path):
    with suppress(ImportError, OSError):
        import fcntl

        lock = os.open(path / "lock", os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, FILE_MODE)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if all(_is_safe(one, one) for one in _files_of_numba(path)):
                _remove_unlisted(path)
                atexit.register(_list_files, path)
                return lock
        except OSError:  # another process has it, or the folder is not writable
            pass
        os.close(lock)
    return None


def _files_of_numba(path):
    """Folders and files below ``path``, without our own."""
    return [one for one in path.rglob("*") if one.is_dir() or one.suffix in (".nbi", ".nbc")]


def _sums(path):
    files = {os.fspath(one.relative_to(path)): one for one in _files_of_numba(path) if one.is_file()}
    return {name: _checksum(name, one.read_bytes()).hex() for name, one in files.items()}


def _remove_unlisted(path):
    try:
        listed = json.loads(load_text(SUMS) or "{}")
    except ValueError:
        listed = {}
    for name, checksum in _sums(path).items():
        if listed.get(name) != checksum:
            (path / name).unlink()


def _list_files(path):
    with suppress(OSError):
        keep_text(SUMS, json.dumps(_sums(path)))
