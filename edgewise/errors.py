"""Errors that edgewise raises on purpose.

Every message is one line and says three things: what was wrong, where (``file:line``, column, vertex,
edge, device) and what to do about it.  All errors derive from :class:`EdgewiseError`, and from the
built-in class a caller would expect, so ``except ValueError`` works too.
"""

import re
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from edgewise.printable import printable

#: Noncharacter before the name of an argument in a message; no text of a user has noncharacters.
_START = "\ufdd0"
#: Noncharacter between the name of an argument and its value.
_VALUE = "\ufdd1"
#: Noncharacter after the value of an argument.
_END = "\ufdd2"
#: A word that is longer than any name of a file or folder.
_LONG_WORD = re.compile(r"[^\s/]{257,}")
#: Characters of such a word that are shown.
_SHOWN = 60
#: Packages whose lines are not those of a caller.
_BETWEEN = ("edgewise", "contextlib", "networkx", "sklearn")
_ARGUMENT = re.compile(f"{_START}(.*?){_VALUE}(.*?){_END}", re.DOTALL)


def argument(name: str, *value: Any) -> str:
    """Name an argument, and a value of it, in the message of an error.

    The message shows ``device='cpu'``, and the command line, which knows what is an argument and what
    merely looks like one, shows ``--device cpu``.

    Parameters
    ----------
    name : str
        As in Python.
    *value : object, optional
        At most one.
    """
    return f"{_START}{name}{_VALUE}{repr(value[0]) if value else ''}{_END}"


def closest(given: Any, known: Iterable[str]) -> str | None:
    """Return the name in ``known`` that ``given`` was probably meant to be, or ``None``.

    It resembles ``given``, whether in capitals or not, or begins with it.

    Examples
    --------
    >>> closest("Rems", ["auto", "rem", "hook"])
    'rem'
    """
    from difflib import get_close_matches

    if not isinstance(given, str) or len(given) < 2:
        return None
    names, word = {name.casefold(): name for name in known}, given.casefold()
    found = get_close_matches(word, names, n=1) or [name for name in names if name.startswith(word)]
    return names[min(found, key=len)] if found else None


def one_of(given: Any, known: Iterable[str]) -> str:
    """What to do about a name that is not in ``known``: the end of an error message.

    Examples
    --------
    >>> one_of("rems", ["auto", "rem", "hook"])
    'did you mean rem? The choices are auto, rem, hook'
    >>> one_of("fastest", ["auto", "rem", "hook"])
    'use one of auto, rem, hook'
    """
    names = list(known)
    meant, listed = closest(given, names), ", ".join(names)
    return f"did you mean {meant}? The choices are {listed}" if meant else f"use one of {listed}"


def check_names(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise :class:`ArgumentError` if the name of an argument is not known, with the one that was meant.

    Parameters
    ----------
    function : str
        Its name.
    given, known : iterable of str
    """
    known = list(dict.fromkeys(known))
    for name in given:
        if name not in known:
            meant = f"did you mean {near}? It has" if (near := closest(name, known)) else "it has"
            raise ArgumentError(f"{function}() has no option {name!r}; {meant} {', '.join(known) or 'none'}")


class EdgewiseError(Exception):
    """Base of every error raised by edgewise itself.

    Parameters
    ----------
    message : str
        What was wrong, where, and what to do about it; arguments in it are made by :func:`argument`.
    """

    def __init__(self, message: str = ""):
        self.message = message
        super().__init__(self.rendered(lambda name, value: f"{name}={value}"))

    def rendered(self, spell: Callable[[str, str], str]) -> str:
        """Return the message with every argument spelled by ``spell(name, repr_of_value)``."""
        text = _ARGUMENT.sub(lambda found: spell(found[1], found[2]), self.message)
        return printable(_LONG_WORD.sub(lambda found: f"{found[0][:_SHOWN]}...", text))

    def __reduce__(self):
        return type(self), (self.message,)


class EdgewiseWarning(UserWarning):
    """A call did what it was asked to, which is probably not what was meant."""


def warn(message: str, category: type[Warning] = EdgewiseWarning) -> None:
    """Warn at the line of the caller: the first one outside of the package and of what calls it for users."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(str(EdgewiseError(message)), category, stacklevel=level)


class ImbalanceWarning(EdgewiseWarning):
    """A partition cannot be, or is not, as balanced as was asked for."""


class GraphError(EdgewiseError, ValueError):
    """The given arrays, table or matrix do not describe a graph."""


class OptionError(EdgewiseError, ValueError):
    """An argument or command-line option has no meaning here."""


class ArgumentError(OptionError, TypeError):
    """A function has no argument of this name."""


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


class WorkerError(EdgewiseError, RuntimeError):
    """A worker of a cluster cannot take part, or tasks could not be finished; the message says which."""


class VerificationError(EdgewiseError, AssertionError):
    """A result does not hold for its graph: a bug in edgewise, or a graph changed since."""
