"""Files of one number a line, as gpmetis has them: the part of each vertex, or the share of each part."""

import re

import numpy as np

from edgewise.errors import FileError

#: Names of files with one part a line.
PLAIN = re.compile(r"\.part(\.\d+)?$")


def is_plain(path) -> bool:
    """Whether a file of this name has one part a line."""
    return isinstance(path, str) and PLAIN.search(path) is not None


def read_numbers(path, count, *, whole):
    """Read ``count`` numbers, one a line: (count,) int64 or float64 array.

    Raises
    ------
    FileError
        The file cannot be read, a line is no number, or there are more or fewer lines.
    """
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}; name another file") from error
    while lines and not lines[-1].strip():
        lines.pop()
    numbers = np.empty(len(lines), np.int64 if whole else np.float64)
    for number, line in enumerate(lines):
        try:
            numbers[number] = int(line) if whole else float(line)
        except (ValueError, OverflowError):
            wanted = "a whole number" if whole else "a number"
            raise FileError(
                path, f"{line.strip()[:40]!r} is not {wanted}; give one a line", number + 1
            ) from None
    if len(lines) != count:
        raise FileError(path, f"has {len(lines)} numbers, one a line; {count} are needed")
    return numbers
