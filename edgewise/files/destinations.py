"""What can be written besides files of this machine: standard output, addresses, file objects, folders.

A file at an address is written to a temporary file first, and stored when it is complete.  What goes to
standard output, or to a file object, is written directly.
"""

import codecs
import io
import os
import stat
import sys
from contextlib import contextmanager, nullcontext
from typing import Any

from edgewise.errors import FileError, OptionError, argument
from edgewise.files import remote
from edgewise.files.atomic_write import atomic_write
from edgewise.files.remote import is_address
from edgewise.files.streams import SUFFIXES
from edgewise.printable import printable
from edgewise.unfinished import temporary_file, to_be_completed

#: Paths of standard output, besides the hyphen.
STANDARD_OUTPUT = "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"


def is_open(path) -> bool:
    """Whether an output is a file object rather than a path."""
    return hasattr(path, "write")


def is_standard_output(path) -> bool:
    """Whether a path is a hyphen."""
    return not is_open(path) and os.fspath(path) == "-"


def goes_to_standard_output(path) -> bool:
    """Whether a path is a name of standard output."""
    return not is_open(path) and (is_standard_output(path) or os.fspath(path) in STANDARD_OUTPUT)


def is_folder(path) -> bool:
    """Whether a path ends in a slash: a folder of shards to write."""
    return isinstance(path, str) and path.endswith(("/", os.sep)) and not is_address(path)


def has_default_format(path) -> bool:
    """Whether CSV is written by default: to standard output, and to a pipe without a suffix."""
    if is_open(path) or is_address(path):
        return False
    if goes_to_standard_output(path):
        return True
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode) and not os.path.splitext(os.fspath(path))[1]
    except (OSError, ValueError):
        return False


def name_of(path) -> str:
    """The name of an output in a message."""
    if is_open(path):
        name = getattr(path, "name", None)
        return name if isinstance(name, str) else f"the {type(path).__name__} object"
    return "standard output" if is_standard_output(path) else os.fsdecode(path)


def check_destination(path) -> Any:
    """The path, or stream, after a check that something can be written to it; bytes are decoded."""
    if isinstance(path, io.TextIOBase):
        raise OptionError(f"{name_of(path)} is opened as text; open it in binary mode ('wb')")
    if not (isinstance(path, str | bytes | os.PathLike) or is_open(path)):
        raise OptionError(f"{argument('path')} is a {type(path).__name__}, no path; give the name of a file")
    return os.fsdecode(path) if isinstance(path, bytes) else path


@contextmanager
def destination(path):
    """Give a path, or an open stream, to write the content of ``path`` to."""
    if is_open(path):
        yield path
    elif is_standard_output(path):
        with _standard_output() as stream:
            yield stream
    elif is_address(path):
        with temporary_file() as part:
            yield part
            with to_be_completed():
                remote.store(part, path)
    else:
        with atomic_write(path) as part:
            yield part


@contextmanager
def _standard_output():
    """Standard output for bytes, after the text that has been printed before."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None or sys.stdout.closed:
        raise FileError("standard output", "is closed or takes text only; name a file")
    sys.stdout.flush()
    yield stream
    stream.flush()


def suffixes_of(path) -> tuple[str, str | None]:
    """Lower-case suffix that decides the format of a path, and the compression behind it."""
    stem, suffix = os.path.splitext(os.fspath(path))
    compression = SUFFIXES.get(suffix.lower())
    if compression:
        suffix = os.path.splitext(stem)[1]
    return suffix.lower(), compression


def name_by_suffix(path, formats) -> str:
    """The name of the format, of those by name, that the suffix of an output says; an error if none does."""
    if is_open(path):
        problem = f"{name_of(path)} has no suffix that says the format"
        raise OptionError(f"{problem}; name it, such as {argument('format', 'parquet')}")
    suffix, _ = suffixes_of(path)
    name = next((name for name, form in formats.items() if suffix in form.suffixes), None)
    if name is None:
        known = " ".join(suffix for form in formats.values() for suffix in form.suffixes)
        problem = f"the ending {suffix or 'is missing and'} says no format"
        raise FileError(path, f"{problem}; use one of {known}, or {argument('format')}")
    return name


def _is_terminal(stream) -> bool:
    return bool(getattr(stream, "isatty", bool)())


class Sink(io.RawIOBase):
    """A stream to write to, with the name of the output, and the lower-case suffix of its format."""

    def __init__(self, stream, path):
        self.stream, self.path = stream, name_of(path)
        self.suffix = "" if is_open(path) else suffixes_of(path)[0]

    def error(self, problem):
        """An error of this file."""
        return FileError(self.path, problem)

    def writable(self):
        return True

    def write(self, content):
        content = memoryview(content)
        self.stream.write(content)
        return content.nbytes


class _Terminal(io.RawIOBase):
    """A stream to a terminal, which gets rows and columns as text, and obeys no character in them."""

    def __init__(self, stream):
        self.stream, self.decoder = stream, codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def writable(self):
        return True

    def write(self, content):
        content = memoryview(content)
        self.stream.write(printable(self.decoder.decode(content), kept="\n\t").encode())
        return content.nbytes


def _without_truncating(path, flags):
    return os.open(path, flags & ~os.O_TRUNC, 0o666)


@contextmanager
def sink(part, path, compression):
    """Open ``part`` for writing, compressed, unless it is open; a terminal shows what is written to it.

    Parts are new, so they need not be truncated.  The file system ext4 writes a file to the disk when it is
    closed if it has been truncated.
    """
    with nullcontext(part) if is_open(part) else open(part, "wb", opener=_without_truncating) as file:
        to: Any = _Terminal(file) if _is_terminal(file) else file
        if compression is None:
            yield Sink(to, path)
        elif compression == "xz":
            import lzma

            with lzma.open(to, "wb") as stream:
                yield Sink(stream, path)
        else:
            import pyarrow as pa

            with pa.CompressedOutputStream(pa.PythonFile(to, mode="w"), compression) as stream:
                yield Sink(stream, path)
