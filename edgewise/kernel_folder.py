"""Where compiled kernels are kept, found without importing a compiler.

The folder of the kernels of one version is named in :mod:`edgewise.device.cache`, where the versions of the
compilers are known as well.
"""

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

#: Folder of the package.
PACKAGE = Path(__file__).resolve().parent

#: What is told the name of a kernel when this process compiles it or waits for it, and "" when it is there.
listener: Callable[[str], None] | None = None


def root() -> Path:
    """Folder that holds one folder of compiled kernels for each version of the sources."""
    chosen = os.environ.get("EDGEWISE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "edgewise"


@cache
def digest_of_sources() -> str:
    """A digest of all sources of the package."""
    state = hashlib.sha256()
    for source in sorted(PACKAGE.rglob("*.py")):
        state.update(str(source.relative_to(PACKAGE)).encode())
        state.update(source.read_bytes())
    return state.hexdigest()
