"""Compiled kernels kept on disk, so that a second process starts at once.

The folder is keyed by a digest of the package's own sources, by the versions of Python, Numba and LLVM's
wrapper, and by the settings of Numba that change what is compiled.  So any edit, even in a function that a
kernel merely calls, opens a fresh folder, and stale code never runs.
``EDGEWISE_CACHE_DIR`` names another place; an unwritable one only means that nothing is kept.
"""

import hashlib
import os
import re
import shutil
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import llvmlite
import numba
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator

#: Folders of other versions that are left when a new one is opened; only folders of such names are removed.
KEPT_VERSIONS = 3
VERSION = "[0-9a-f]{20}"


def root() -> Path:
    """Folder that holds one folder of compiled kernels for each version of the sources."""
    chosen = os.environ.get("EDGEWISE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "edgewise"


@cache
def folder() -> Path | None:
    """Writable folder for the sources as they are now; ``None`` where nothing can be written."""
    try:
        place = root() / "kernels" / _digest()
        if not place.exists():
            place.mkdir(parents=True, exist_ok=True)
            _forget_old_versions(place)
        tempfile.TemporaryFile(dir=place).close()
    except (OSError, RuntimeError):  # nowhere to write, or no home
        return None
    return place


def _digest() -> str:
    package = Path(__file__).resolve().parent.parent
    versions = sys.version, numba.__version__, llvmlite.__version__
    settings = config.BOUNDSCHECK, int(config.OPT), config.DEBUGINFO_DEFAULT
    state = hashlib.sha256(repr((versions, settings)).encode())
    for source in sorted(package.rglob("*.py")):
        state.update(str(source.relative_to(package)).encode())
        state.update(source.read_bytes())
    return state.hexdigest()[:20]


def _forget_old_versions(current: Path):
    ours = [
        place for place in current.parent.iterdir() if re.fullmatch(VERSION, place.name) and place != current
    ]
    try:
        ours.sort(key=lambda place: place.stat().st_mtime, reverse=True)
    except OSError:  # another process is forgetting too
        return
    for place in ours[KEPT_VERSIONS:]:
        shutil.rmtree(place, ignore_errors=True)


class _InOurFolder(_CacheLocator):
    """Tell Numba to keep everything in :func:`folder`; the digest already stands for freshness."""

    def get_cache_path(self):
        return str(folder())

    def get_source_stamp(self):
        return "digest"

    def get_disambiguator(self):
        return None

    @classmethod
    def from_function(cls, py_func, py_file):
        return cls()


class _Contents(CompileResultCacheImpl):
    _locator_classes = (_InOurFolder,)

    @property
    def filename_base(self):
        return self.file_name


class _Files(IndexDataCacheFile):
    """Data files named by their signature, so that two processes never write two kernels to one name."""

    def save(self, key, data):
        name = self._data_name_pattern.replace(
            "{number:d}", hashlib.sha256(repr(key).encode()).hexdigest()[:20]
        )
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})


class _KernelCache(FunctionCache):
    """One kernel's compiled forms, filed under its full name; a fault only means that it is compiled anew."""

    def __init__(self, function, name):
        self._impl_class = lambda f: _named(_Contents(f), name)
        super().__init__(function)
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, "digest")

    def load_overload(self, sig, target_context):
        try:
            kept = super().load_overload(sig, target_context)
        except Exception:
            kept = None
        if kept is None:
            announce()
        return kept

    def save_overload(self, sig, data):
        with suppress(Exception):
            super().save_overload(sig, data)

    def _index_key(self, sig, codegen):
        return sig, codegen.magic_tuple()


def _named(contents, name):
    contents.file_name = name.replace("<", "").replace(">", "")
    return contents


def is_ours(name: str) -> bool:
    """Whether a kernel's sources are in the digest; others may change without notice and are not kept."""
    return name.startswith("edgewise.")


def keep(dispatcher, name: str):
    """Keep what ``dispatcher`` (an ``njit`` function) compiles; ``name`` must be unique to it."""
    if is_ours(name) and folder() is not None and hasattr(dispatcher, "_cache"):
        dispatcher._cache = _KernelCache(dispatcher.py_func, name)
    return dispatcher


@cache
def announce():
    """Say once that compiling is under way, since the first use of a version takes seconds."""
    if sys.stderr is not None and os.environ.get("EDGEWISE_QUIET", "0") in ("", "0"):
        print("edgewise: compiling kernels (first use of this version) ...", file=sys.stderr, flush=True)


def load_text(name: str) -> str | None:
    """Text kept under ``name``, if any."""
    place = folder() if is_ours(name) else None
    try:
        return (place / name).read_text() if place else None
    except (OSError, UnicodeDecodeError):
        return None


def keep_text(name: str, text: str):
    """Keep ``text`` under ``name``; whole or not at all."""
    place = folder() if is_ours(name) else None
    if place is None:
        return
    try:
        with tempfile.NamedTemporaryFile("w", dir=place, delete=False) as draft:
            draft.write(text)
        os.replace(draft.name, place / name)
    except OSError:
        pass
