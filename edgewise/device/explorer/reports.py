"""What the explorer says: faults, and the lines of code that they are about."""

import linecache
import os
from functools import cache
from itertools import islice

#: A comment at a line, or above it, that documents an intended race.
DOCUMENTED = "# race:"


class Fault(Exception):
    """Something that a kernel must not do: a race, a missed barrier, an access out of range."""


class OutOfRange(Fault, IndexError):
    """An access beyond the end, or before the beginning, of an array."""


class NoProgress(Exception):
    """The threads do not come to an end: they wait for each other, or work for ever."""


def here(frame):
    """Where a frame is: its code and line, from which text is made only if there is something to say."""
    return frame.f_code, frame.f_lineno


def line_at(code, instruction):
    """Where an instruction is, as :func:`here`; to keep its number is faster than to look for its line."""
    return code, next(line for start, end, line in code.co_lines() if start <= instruction < end)


def shown(where):
    """A line as text: file, line and function."""
    code, line = where
    return f"{_short(code.co_filename)}:{line} ({code.co_name})"


def line_of(frame):
    """The line of a frame behind a word, if there is one."""
    return "" if frame is None else f" at {shown(here(frame))}"


@cache
def call_of(code, instruction):
    """Where in the text a call is: newer versions of Python have copies of some of the instructions."""
    return next(islice(code.co_positions(), instruction // 2, None))


@cache
def is_documented(code, line):
    """Whether a comment at a line, or directly above it, says why a race is intended."""
    if DOCUMENTED in linecache.getline(code.co_filename, line):
        return True
    while (text := linecache.getline(code.co_filename, line - 1).strip()).startswith("#"):
        if text.startswith(DOCUMENTED):
            return True
        line -= 1
    return False


@cache
def _short(name):
    """The last parts of the name of a file."""
    return "/".join(name.split(os.sep)[-3:])
