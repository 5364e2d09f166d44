"""Numbers in text: what is one, and what to do about those that are written in another way.

A number is decimal: an optional sign, ASCII digits, perhaps a decimal point and a power of ten; or ``inf``,
``infinity`` or ``nan`` in any case.  Whole numbers have digits alone.  Arrow's parsers also take the
hexadecimal numbers and the ``nan(...)`` of C, and read what is beyond float64 as infinite; Python's take
``1_000`` and the digits of every script.  So that one rule holds for all formats, blocks in which Arrow may
have done so are examined, and Python's ``int`` and ``float`` are called for nothing else.
"""

import math
import re

import numpy as np

from edgewise.errors import argument
from edgewise.ingest.arrow import numpy_array

INTEGER = re.compile(r"-?[0-9]+")
FINITE = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?"
NOT_FINITE = r"[-+]?(inf(inity)?|nan)"
NUMBER = re.compile(f"{FINITE}|{NOT_FINITE}", re.IGNORECASE)
#: Fields for numbers that are not finite, as regular expressions of Arrow.
NAMED = rf"(?i)^[ \t]*{NOT_FINITE}[ \t]*$"
NUMBER_OF_ARROW = f"(?i)^({FINITE}|{NOT_FINITE})$"
HEXADECIMAL = r"^[ \t]*-?0[xX]"
#: Numbers as they are written in other places: with a decimal comma, perhaps with thousands, and in percent.
COMMA = r"(?i)[-+]?([0-9]+|[0-9]{1,3}([. '\u00a0\u202f][0-9]{3})+)?,[0-9]+(e[-+]?[0-9]+)?"
PERCENT = r"[-+]?[0-9]+([.,][0-9]+)?[ \u00a0\u202f]?%"
#: Numbers in groups of digits, in hexadecimal digits, or with a power of ten as Fortran writes it.
GROUPED = r"[-+]?([0-9]{1,3}([,' \u00a0\u202f][0-9]{3})+|[0-9]+(_[0-9]+)+)(\.[0-9]*)?"
HEXADECIMAL_NUMBER = r"[-+]?0x[0-9a-f.]+(p[-+]?[0-9]+)?"
FORTRAN = r"[-+]?[0-9]*\.?[0-9]*d[-+]?[0-9]+"
OTHERS = f"(?i){GROUPED}|{HEXADECIMAL_NUMBER}|{FORTRAN}"
#: Characters of a field that a message shows.
SHOWN = 60
#: Digits and points, which names of columns hardly are.
DIGITS = re.compile(r"-?[0-9.]+(e[-+]?[0-9]+)?", re.IGNORECASE)


def is_integer(field: str) -> bool:
    """Whether a field is a whole number."""
    return INTEGER.fullmatch(field) is not None


def is_number(field: str, decimal: str = ".") -> bool:
    """Whether a field is a number with the decimal mark ``decimal``.

    >>> [is_number(field) for field in ("0.5", "-3", "1e5", "NaN", "0,5", "0x1f", "1_000", "", "١")]
    [True, True, True, True, False, False, False, False, False]
    >>> is_number("0,5", ","), is_number("0.5", ","), is_number("5", ",")
    (True, False, True)
    """
    if decimal != ".":
        field = field.translate({ord(decimal): ".", ord("."): decimal})
    return NUMBER.fullmatch(field) is not None


def is_foreign(field: str) -> bool:
    """Whether a field is a number as it is written elsewhere, and none by the rule.

    >>> [is_foreign(field) for field in ("0.5", "0,5", "95%", "0x1f", "1_000", "nan", "ann", "2026.01.31")]
    [False, True, True, True, True, False, False, False]
    """
    return any(re.fullmatch(form, field) for form in (COMMA, PERCENT, OTHERS))


def looks_numeric(field: str) -> bool:
    """Whether a field is hardly a name.

    >>> [looks_numeric(field) for field in ("0.5", "0,5", "95%", "2026.01", "nan", "ann", "score")]
    [True, True, True, True, False, False, False]
    """
    return DIGITS.fullmatch(field) is not None or is_foreign(field)


def about_number(field: str, decimal: str | None = None) -> str:
    """What is wrong with a field that should be a number, and what to do; nothing if it is one.

    ``decimal`` is the decimal mark, or ``None`` for formats that always have a point.
    """
    mark, shown = decimal or ".", repr(field if len(field) < SHOWN else field[: SHOWN - 3] + "...")
    if is_number(field, mark):
        finite = "n" in field.lower() or math.isfinite(float(field.replace(mark, ".")))
        return "" if finite else f"{shown} is beyond float64; correct it"
    if re.fullmatch(PERCENT, field):
        remedy = f"write a fraction (0{mark}95 for 95%)"
    elif mark == "." and re.fullmatch(COMMA, field):
        choice = f"pass {argument('decimal', ',')} if the comma is the decimal mark"
        remedy = choice if decimal else "write the decimal mark as a point"
    elif mark != "." and is_number(field):
        remedy = f"leave {argument('decimal')} out if the point is the decimal mark"
    elif re.fullmatch(OTHERS, field):
        remedy = f"write it in decimal digits, such as 1000 or 0{mark}5"
    else:
        remedy = "correct it"
    return f"{shown} is not a number; {remedy}"


def has_foreign_numbers(text, table, types, as_text) -> bool:
    """Whether Arrow has read a field of a block of text as a number that is none by the rule.

    Parameters
    ----------
    text : bytes
        The block.
    table : pyarrow.Table
        What has been read.
    types : dict
        The types of the columns that were asked for, by name.
    as_text : function
        Returns some of the columns as strings.
    """
    from pyarrow import types as kinds

    floats = [name for name, kind in types.items() if kinds.is_floating(kind)]
    odd = [name for name in floats if _not_finite(table.column(name)) > table.column(name).null_count]
    whole = [name for name, kind in types.items() if kinds.is_integer(kind)]
    if not (odd or (whole and _holds_hexadecimal(text))):
        return False
    import pyarrow.compute as pc

    fields = as_text([*odd, *whole])
    found = [pc.match_substring_regex(fields.column(name), HEXADECIMAL) for name in whole]
    for name in odd:
        named = pc.match_substring_regex(fields.column(name), NAMED)
        found.append(pc.greater(pc.invert(pc.is_finite(table.column(name))), named))
    return any(pc.any(one).as_py() for one in found)


def _holds_hexadecimal(text: bytes) -> bool:
    """Whether there is a zero before an x; to look for the letter alone is several times as fast."""
    return any(text.find(letter) >= 0 and text.find(b"0" + letter) >= 0 for letter in (b"x", b"X"))


def _not_finite(column) -> int:
    """Number of values that are infinite, NaN or null."""
    return len(column) - int(np.count_nonzero(np.isfinite(numpy_array(column))))
