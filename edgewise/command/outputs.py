"""Output paths are looked at before the work starts, not after an hour of it."""

import os
from pathlib import Path

from edgewise.errors import FileError


def check_output(path: Path, *, source: Path | None = None, table: bool = False):
    """Raise an error if ``path`` has no known ending, cannot be written or is the input itself.

    Parameters
    ----------
    path : Path
    source : Path, optional
        The input.
    table : bool
        The output is a table, not a graph.
    """
    from edgewise.files.formats import FORMATS, suffixes_of

    forms = [form for form in FORMATS.values() if form.writer and not (table and form.graphs_only)]
    endings = [ending for form in forms for ending in form.suffixes]
    if suffixes_of(path)[0] not in endings:
        raise FileError(path, f"the ending names no format to write; use one of {' '.join(endings)}")
    check_place(path, source)


def check_place(path: Path, source: Path | None = None):
    """Raise an error if ``path`` cannot be written or is ``source`` itself."""
    folder = path.parent
    if path.is_dir():
        raise FileError(path, "is a folder; name a file in it")
    if not folder.is_dir():
        raise FileError(path, f"the folder {folder} is not there; make it first")
    if not path.exists() and not os.access(folder, os.W_OK):
        raise FileError(path, f"the folder {folder} cannot be written; choose another")
    if source is not None and path.exists() and source.exists() and path.samefile(source):
        raise FileError(path, "is the input itself; name another file")
