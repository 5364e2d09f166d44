"""Output paths are looked at before the work starts, not after an hour of it."""

import os
from pathlib import Path

from edgewise.errors import FileError


def check_output(path: Path | None, source: Path | None = None):
    """Raise :class:`~edgewise.errors.FileError` if ``path`` cannot be written or is the input itself."""
    if path is None:
        return
    folder = path.parent
    if path.is_dir():
        raise FileError(path, "is a folder; name a file in it")
    if path.exists() and not path.is_file():  # a device or a pipe
        return
    if not folder.is_dir():
        raise FileError(path, f"the folder {folder} is not there; make it first")
    if not os.access(folder, os.W_OK):
        raise FileError(path, f"the folder {folder} cannot be written; choose another")
    if source is not None and path.exists() and source.exists() and path.samefile(source):
        raise FileError(path, "is the input itself; name another file")
