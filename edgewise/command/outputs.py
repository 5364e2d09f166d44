"""Output paths are checked before the work starts, not after an hour of it."""

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from edgewise import plots
from edgewise.errors import FileError
from edgewise.files.atomic_write import without_hanging, writing
from edgewise.files.pair_tables import is_part

_pipes: list = []


def check_output(path: Path, *, sources: Iterable[Path] = (), table: bool = False):
    """Raise an error if ``path`` has no known suffix, cannot be written or is one of the ``sources``."""
    from edgewise.files.formats import FORMATS, suffixes_of

    forms = [form for form in FORMATS.values() if form.writer and not (table and form.graphs_only)]
    endings = [ending for form in forms for ending in form.suffixes]
    if suffixes_of(path)[0] not in endings:
        raise FileError(path, f"the suffix is of no format to write; use one of {' '.join(endings)}")
    check_writable(path, sources)


def check_outputs(output: Path | None, plot: Path | None, sources: Iterable[Path]):
    """Check the table and the picture of a result, as far as they are wanted."""
    if output is not None:
        check_output(output, sources=sources, table=True)
    if plot is not None:
        plots.check(plot)
        check_writable(plot, sources)


def check_writable(path: Path, sources: Iterable[Path] = ()):
    """Raise an error if ``path`` cannot be written or is, or would become, one of ``sources``."""
    folder = path.parent
    if path.is_dir():
        raise FileError(path, "is a folder; name a file in it")
    if not folder.is_dir():
        raise FileError(path, f"the folder {folder} does not exist; create it first")
    if not path.exists() and not os.access(folder, os.W_OK):
        raise FileError(path, f"the folder {folder} cannot be written; choose another")
    if path.is_fifo():  # open to the end of the process, so that its reader waits for the result
        with writing(path):
            _pipes.append(open(path, "wb", 0, opener=without_hanging))  # noqa: SIM115
    for source in sources:
        if source.exists() and path.exists() and path.samefile(source):
            raise FileError(path, "is the input itself; name another file")
        if _among(path.resolve(), source):
            raise FileError(path, f"would be one of the inputs ({source}); choose another folder")


def _among(path, source):
    """Whether a file of this name would be an input too."""
    if source.is_dir():
        return is_part(path) and path.is_relative_to(source.resolve())
    return not source.exists() and fnmatchcase(str(path), os.path.abspath(source))
