"""Values of options, as typer reads them, without what typer imports for them.

Newer versions of typer have all values checked by pydantic, whose import takes longer than that of NumPy.
Most need no check: options that were not given, texts, plain numbers and names within their limits.  All
others are left to typer, which also says what is wrong with them.
"""

import re
from enum import Enum
from functools import partial
from typing import get_args

#: What is a number in every version of typer.
NUMBERS = {int: re.compile("[0-9]{1,15}"), float: re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")}


def without_checks(parameter, function):
    """Read the values of a parameter of ``function`` here where typer would change nothing."""
    if "process_value" not in vars(parameter):
        kind = getattr(function, "__annotations__", {}).get(parameter.name)
        read = partial(_value, parameter.process_value, parameter, *_types_of(kind))
        vars(parameter)["process_value"] = read


def _value(by_typer, parameter, kind, limits, context, value):
    """The value of a parameter of some type; ``by_typer`` is the method that reads it otherwise."""
    if value is None and not parameter.required:
        none = () if parameter.multiple or parameter.nargs == -1 else None
        return none if parameter.callback is None else parameter.callback(context, parameter, none)
    if parameter.callback is None:
        if type(value) is tuple and value is parameter.default:
            return value
        found = _read(kind, limits, value)
        if found is not None:
            return found
    return by_typer(context, value)


def _types_of(kind):
    """The type within ``Annotated[kind | None, limits]``, and its limits."""
    if not hasattr(kind, "__metadata__"):
        return kind, None
    plain, limits = kind.__origin__, kind.__metadata__[0]
    others = [one for one in get_args(plain) if one is not type(None)]
    return others[0] if type(None) in get_args(plain) and len(others) == 1 else plain, limits


def _read(kind, limits, value):
    """A value of a type; ``None`` for typer to read it."""
    if kind == list[str] and value and isinstance(value, (list, tuple)):
        return list(value) if all(type(one) is str for one in value) else None
    if kind is str and type(value) is str:
        return value
    if kind in NUMBERS and (type(value) is kind or (type(value) is str and NUMBERS[kind].fullmatch(value))):
        least, most, number = getattr(limits, "min", None), getattr(limits, "max", None), kind(value)
        return number if (least is None or number >= least) and (most is None or number <= most) else None
    if isinstance(kind, type) and issubclass(kind, Enum) and value in {one.value for one in kind}:
        return kind(value)
    return None
