"""Output paths are checked before the work starts, not after an hour of it."""

import os
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from edgewise import plots
from edgewise.errors import FileError, OptionError
from edgewise.files import remote
from edgewise.files.atomic_write import without_hanging, writing
from edgewise.files.destinations import (
    goes_to_standard_output,
    has_default_format,
    is_folder,
    is_standard_output,
    suffixes_of,
)
from edgewise.files.formats import is_part
from edgewise.files.inputs import is_local
from edgewise.files.store import check_new

#: Formats that a terminal cannot show.
BINARY = "parquet", "arrow", "npz", "gap"
_pipes: list = []


def or_standard_output(output, to=None, *, shown=True):
    """The output, or a hyphen for standard output if none is given.

    That is wanted where a format ``to`` is given, or where what is ``shown`` goes to a pipe or a file, which
    gets the whole table.
    """
    whole = to is not None or (shown and not is_terminal())
    return "-" if output is None and whole else output


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def on_terminal(output) -> bool:
    """Whether the output is shown on a terminal, where nothing else should move then."""
    return output is not None and goes_to_standard_output(output) and is_terminal()


def check_output(path, *, sources: Iterable = (), table=False, to: str | None = None, json=False):
    """Raise an error if ``path`` has no known suffix, cannot be written or is one of the ``sources``.

    The format ``to`` is that of any suffix; only tables are written if ``table``, and ``json`` needs standard
    output for itself.
    """
    from edgewise.files.formats import ALIASES, FORMATS

    known = {name: one for name, one in FORMATS.items() if one.writer and not (table and one.graphs_only)}
    if json and goes_to_standard_output(path):
        raise OptionError(f"--json and -o {path} both need standard output; give one of the two")
    if to is not None and ALIASES.get(to.lower(), to.lower()) not in known:
        raise OptionError(f"the format {to!r} is none to write; use one of {', '.join(known)}")
    if is_folder(path):
        check_folder(path, sources, to)
        return
    if to is None and not has_default_format(path):
        endings = [ending for form in known.values() for ending in form.suffixes]
        if suffixes_of(path)[0] not in endings:
            raise FileError(path, f"the suffix is of no format to write; use one of {' '.join(endings)}")
    if to is not None and ALIASES.get(to.lower(), to.lower()) in BINARY and on_terminal(path):
        raise OptionError(f"{to} is binary, which a terminal does not show; send it to a pipe or a file")
    check_writable(path, sources)


def check_folder(output: str, sources: Iterable = (), to: str | None = None):
    """Raise an error unless a new folder of shards can be written, outside of the ``sources``."""
    if to is not None and to.lower() != "parquet":
        raise OptionError(f"--to {to} is not for a folder, which has shards in Parquet; leave it out")
    path = Path(output)
    with writing(path):
        check_new(path)
    if not path.exists():
        check_writable(path)
    for source in map(Path, filter(is_local, sources)):
        if source.is_dir() and path.resolve().is_relative_to(source.resolve()):
            raise FileError(path, f"would be in one of the inputs ({source}); choose another folder")


def check_outputs(output, plot: Path | None, sources: Iterable, *, to: str | None = None, json=False):
    """Check the table and the picture of a result, as far as they are wanted."""
    if output is not None:
        check_output(output, sources=sources, table=True, to=to, json=json)
    if plot is not None:
        plots.check(plot)
        check_writable(plot, sources)


def check_writable(output, sources: Iterable = ()):
    """Raise an error if ``output`` cannot be written or is, or would become, one of ``sources``."""
    if is_standard_output(output):
        return
    if remote.is_address(output):
        remote.check_storable(output)
        return
    path = Path(output)
    folder = path.parent
    if path.is_dir():
        raise FileError(path, "is a folder; name a file in it, or end a new one with / for shards")
    if not folder.is_dir():
        raise FileError(path, f"the folder {folder} does not exist; create it first")
    if not path.exists() and not os.access(folder, os.W_OK):
        raise FileError(path, f"the folder {folder} cannot be written; choose another")
    if path.is_fifo():  # open to the end of the process, so that its reader waits for the result
        with writing(path):
            _pipes.append(open(path, "wb", 0, opener=without_hanging))  # noqa: SIM115
    for source in map(Path, filter(is_local, sources)):
        if source.exists() and path.exists() and path.samefile(source):
            raise FileError(path, "is the input itself; name another file")
        if _among(path.resolve(), source):
            raise FileError(path, f"would be one of the inputs ({source}); choose another folder")


def _among(path, source):
    """Whether a file of this name would be an input too."""
    if source.is_dir():
        return is_part(path) and path.is_relative_to(source.resolve())
    return not source.exists() and fnmatchcase(str(path), os.path.abspath(source))
