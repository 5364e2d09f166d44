"""Errors that edgewise raises on purpose.

Every message is one line and says three things: what was wrong, where (``file:line``, column, vertex,
edge, device) and what to do about it.  All errors derive from :class:`EdgewiseError`, and from the
built-in class a caller would expect, so ``except ValueError`` works too.
"""


class EdgewiseError(Exception):
    """Base of every error raised by edgewise itself.

    Parameters
    ----------
    message : str
        What was wrong, where, and what to do about it.
    option : str, optional
        Name of the argument that the message is about, as in Python; the command line shows its own option
        of that name.
    """

    def __init__(self, message: str = "", *, option: str | None = None):
        super().__init__(message)
        self.option = option


class GraphError(EdgewiseError, ValueError):
    """The given arrays, table or matrix do not describe a graph."""


class OptionError(EdgewiseError, ValueError):
    """An argument or command-line option has no meaning here."""


class FileError(EdgewiseError, ValueError):
    """A file cannot be read or written, or does not hold what its format promises.

    Parameters
    ----------
    path : path-like
        The file.
    problem : str
        What is wrong and what to do.
    line : int, optional
        One-based number of the offending line.
    """

    def __init__(self, path, problem: str, line: int | None = None):
        where = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {problem}")
        self.path, self.problem, self.line = path, problem, line

    def __reduce__(self):
        return type(self), (self.path, self.problem, self.line)


class DeviceError(EdgewiseError, RuntimeError):
    """The requested device is not there or cannot do what was asked."""


class OutOfMemoryError(DeviceError, MemoryError):
    """A device or the machine has too little memory; the message gives needed and free bytes."""


class VerificationError(EdgewiseError, AssertionError):
    """A result does not hold for its graph: a bug in edgewise, or a graph changed since."""
