"""Comparisons and arithmetic of Arrow columns and Python constants, exact for integers of any size.

Arrow compares integers with floats as doubles, and short floats with the double of a decimal fraction.  A
constant therefore takes the type of its column first where that holds floats, dates or integers; whole
numbers outside the type of a column of integers become infinite, which leaves all comparisons as they are.
Every function takes columns and constants on either side; the result for a null is null.
"""

import operator
import re
from functools import reduce

import pyarrow.compute as pc
from pyarrow import types

from edgewise.ingest.arrow import arrow_scalar, with_plain_nulls, without_views
from edgewise.ingest.numerals import about_number

#: Arithmetic of columns, and of two constants.  A quotient by 0 is infinite or nan and stops no other row.
ARITHMETIC = {
    "+": (pc.add_checked, operator.add),
    "-": (pc.subtract_checked, operator.sub),
    "*": (pc.multiply_checked, operator.mul),
    "/": (pc.divide, operator.truediv),
}

#: Arrow's functions for the signs of comparisons.
COMPARISONS = {
    "=": pc.equal,
    "==": pc.equal,
    "!=": pc.not_equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def is_number(value) -> bool:
    """Whether a value is a number of Python's, not a column."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def column_of(table, name):
    """Column of a table, its dictionary decoded."""
    column = without_views(with_plain_nulls(table.column(name)))
    return column.cast(column.type.value_type) if types.is_dictionary(column.type) else column


def negated(value):
    """A column or constant with the opposite sign."""
    return -value if is_number(value) else pc.negate_checked(value)


def calculated(sign, left, right):
    """Sum, difference, product or quotient of two values."""
    of_columns, of_constants = ARITHMETIC[sign]
    if is_number(left) and is_number(right):
        return of_constants(left, right)
    pair = _as_type_of(left, right), _as_type_of(right, left)
    if sign == "/":  # Arrow's quotient of integers is an integer
        return of_columns(*(_as_double(value) if hasattr(value, "type") else float(value) for value in pair))
    return of_columns(*pair)


def compared(compare, left, right):
    """Result of one of Arrow's comparisons, such as ``pc.less``.

    >>> import pyarrow as pa
    >>> compared(pc.less, pa.array([2**53, 2**53 + 1]), float(2**53 + 2)).to_pylist()
    [True, True]
    """
    left, right = (_as_integer(_as_type_of(*pair), pair[1]) for pair in ((left, right), (right, left)))
    if isinstance(left, float):
        right = _as_double(right)
    elif isinstance(right, float):
        left = _as_double(left)
    return compare(*(value if hasattr(value, "type") else arrow_scalar(value) for value in (left, right)))


def is_member(column, values):
    """Whether each value of a column is one of several constants."""
    return reduce(pc.or_kleene, [compared(pc.equal, column, value) for value in values])


def is_between(value, least, most):
    """Whether each value is at least ``least`` and at most ``most``."""
    return pc.and_kleene(compared(pc.greater_equal, value, least), compared(pc.less_equal, value, most))


def is_true(values, constant):
    """Whether each boolean is the constant; never null."""
    return pc.fill_null(compared(pc.equal, values, constant), arrow_scalar(False))


def regex_of_like(pattern, escape=""):
    """Regular expression for a pattern of SQL's LIKE; ``escape`` is the letter before plain ``%`` and ``_``.

    Arrow's ``match_like`` finds nothing where a pattern ends with an escaped backslash (PyArrow 26).
    ValueError if the escape is before another letter.

    >>> import pyarrow as pa
    >>> pc.match_substring_regex(pa.array(["ab", "a%b", "xab", None]), regex_of_like("a!%%", "!")).to_pylist()
    [False, True, False, None]
    """
    letters, parts = iter(pattern), []
    for letter in letters:
        if escape and letter == escape:
            letter = next(letters, "")
            if letter not in ("%", "_", escape):
                raise ValueError(f"{escape!r} in the pattern {pattern!r} is not before '%', '_' or itself")
            parts.append(re.escape(letter))
        else:
            parts.append({"%": ".*", "_": "."}.get(letter) or re.escape(letter))
    return rf"(?s)\A{''.join(parts)}\z"


def _as_double(value):
    """A column of doubles; rounding moves no large integer past a fraction."""
    return pc.cast(value, "double", safe=False) if hasattr(value, "type") else value


def _as_type_of(value, other):
    """A constant in the type of the column that it is compared with, if that holds dates or floats."""
    if hasattr(value, "type") or not hasattr(other, "type"):
        return value
    if types.is_floating(other.type) and is_number(value):
        return arrow_scalar(float(value)).cast(other.type)
    if types.is_floating(other.type) and isinstance(value, str) and (problem := about_number(value.strip())):
        raise ValueError(problem)
    if types.is_floating(other.type) or types.is_temporal(other.type):
        return arrow_scalar(value).cast(other.type)
    return value


def _as_integer(value, other):
    """A whole number in the type of the column of integers; infinite if it is outside that type."""
    if not (is_number(value) and hasattr(other, "type") and types.is_integer(other.type)):
        return value
    if isinstance(value, float) and not value.is_integer():
        return value
    bits = other.type.bit_width - types.is_signed_integer(other.type)
    lowest = -(1 << bits) if types.is_signed_integer(other.type) else 0
    if lowest <= value < 1 << bits:
        return arrow_scalar(int(value)).cast(other.type)
    return float("inf" if value > 0 else "-inf")
