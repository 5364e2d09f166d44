"""Standard output and standard error, whatever the shell has made of them.

What cannot be written to standard output is an error that names it.  Messages that cannot be written are
lost, because the work matters more.  All words pass through :func:`say`, so that a terminal shows names of
users rather than obey them.
"""

import errno
import io
import os
import sys
from contextlib import suppress

from edgewise.errors import FileError
from edgewise.printable import printable


def say(words, file=None, *, kept=""):
    """Print words for people, to standard output unless a file is given; escaped, but for those ``kept``."""
    print(printable(words, kept), file=file, flush=file is not None)


class _Output(io.FileIO):
    """Standard output."""

    failed = False

    def write(self, content):
        if self.failed:
            return len(content)  # flushed once more at the end of the process
        try:
            return super().write(content)
        except BrokenPipeError:
            raise
        except OSError as error:
            self.failed = True
            reason = "is closed" if error.errno == errno.EBADF else f"cannot be written ({error.strerror})"
            problem = f"{reason}; send it to a pipe, or to a file on a disk with free space"
            raise FileError("standard output", problem) from error


class _Messages(io.FileIO):
    """Standard error."""

    def write(self, content):
        with suppress(OSError):
            return super().write(content)
        return len(content)


def prepare():
    """Replace the two streams."""
    if os.name == "nt":  # the console there is no file
        return
    sys.stdout = _text(_Output(1, "wb", closefd=False), sys.stdout)
    sys.stderr = _text(_Messages(2, "wb", closefd=False), sys.stderr, "backslashreplace")


def _text(raw, before, errors=None):
    """A text stream over ``raw`` as the one before it, which is missing if its descriptor was closed."""
    encoding = getattr(before, "encoding", "utf-8")
    if errors is None:
        errors = "surrogateescape" if encoding.lower().replace("-", "") == "utf8" else "backslashreplace"
    through = getattr(before, "write_through", False)
    lines = raw.isatty() or errors == "backslashreplace"
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding, errors, line_buffering=lines, write_through=through
    )
