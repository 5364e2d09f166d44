"""Compiled kernels kept on disk, so that a second process starts at once.

The folder is keyed by a digest of the package's own sources and by the versions of Python and Numba:
any edit, even in a function that a kernel merely calls, opens a fresh folder, and stale code never runs.
``EDGEWISE_CACHE_DIR`` names another place; an unwritable one only means that nothing is kept.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

#: Folders of other versions that are left when a new one is opened.
KEPT_VERSIONS = 3


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
    place = root() / _digest()
    try:
        if not place.exists():
            place.mkdir(parents=True, exist_ok=True)
            _forget_old_versions(place)
        tempfile.TemporaryFile(dir=place).close()
    except OSError:
        return None
    return place


def _digest() -> str:
    package = Path(__file__).resolve().parent.parent
    state = hashlib.sha256(f"{sys.version} {numba.__version__}".encode())
    for source in sorted(package.rglob("*.py")):
        state.update(str(source.relative_to(package)).encode())
        state.update(source.read_bytes())
    return state.hexdigest()[:20]


def _forget_old_versions(current: Path):
    others = [place for place in current.parent.iterdir() if place.is_dir() and place != current]
    others.sort(key=lambda place: place.stat().st_mtime, reverse=True)
    for place in others[KEPT_VERSIONS:]:
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


class _KernelCache(FunctionCache):
    """One kernel's compiled forms, filed under its full name."""

    def __init__(self, function, name):
        self._impl_class = lambda f: _named(_Contents(f), name)
        super().__init__(function)

    def load_overload(self, sig, target_context):
        kept = super().load_overload(sig, target_context)
        if kept is None:
            announce()
        return kept

    def _index_key(self, sig, codegen):
        return sig, codegen.magic_tuple()


def _named(contents, name):
    contents.file_name = name.replace("<", "").replace(">", "")
    return contents


def keep(dispatcher, name: str):
    """Keep what ``dispatcher`` (an ``njit`` function) compiles; ``name`` must be unique to it."""
    if folder() is not None and hasattr(dispatcher, "_cache"):
        dispatcher._cache = _KernelCache(dispatcher.py_func, name)
    return dispatcher


@cache
def announce():
    """Say once that compiling is under way, since the first use of a version takes seconds."""
    if sys.stderr is not None and os.environ.get("EDGEWISE_QUIET", "0") in ("", "0"):
        print("edgewise: compiling kernels (first use of this version) ...", file=sys.stderr, flush=True)


def load_text(name: str) -> str | None:
    """Text kept under ``name``, if any."""
    place = folder()
    try:
        return (place / name).read_text() if place else None
    except OSError:
        return None


def keep_text(name: str, text: str):
    """Keep ``text`` under ``name``; whole or not at all."""
    place = folder()
    if place is None:
        return
    try:
        with tempfile.NamedTemporaryFile("w", dir=place, delete=False) as draft:
            draft.write(text)
        os.replace(draft.name, place / name)
    except OSError:
        pass
