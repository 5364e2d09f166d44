"""Checks of the arguments of generators: sizes, fractions, seeds, devices and the memory needed."""

import inspect
import operator
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from edgewise.device import arrays
from edgewise.errors import OptionError, argument, check_names
from edgewise.index_type import MAX_UINT32

P = ParamSpec("P")
R = TypeVar("R")

#: Seeds are int64 in kernels.
MAX_SEED = 2**63 - 1
#: Arguments that are given by position.
SIZES = ("n", "m", "rows", "nx", "scale", "copies", "low", "high")
#: Parameters that several families have, with the text for the docstring of each.
SHARED_PARAMETERS = {
    "simple": "bool\n    Drop self-loops and merge repeated edges; fewer edges than drawn are left.",
    "shuffle": "bool\n    Put the vertex ids in random order; else they follow the structure of the graph.",
    "directed": "bool\n    Give the edges a direction.",
    "seed": "int\n    The same seed gives the same result on every device.",
    "device": 'str\n    Device of the result: "cpu", "cuda", "cuda:N", or "auto" for a GPU if there is one.',
}
#: The docstring of a family: its beginning, the parameters it shares, what it returns, and its examples.
DOCSTRING = """{}
{}

Returns
-------
{}

Raises
------
OptionError
    A number out of range, or options that exclude each other.

Examples
{}"""


def family(make: Callable[P, R]) -> Callable[P, R]:
    """Check ``seed`` and ``device`` of a generator, run it on the device, and complete its docstring."""
    names = inspect.signature(make).parameters
    is_open = any(one.kind is one.VAR_KEYWORD for one in names.values())

    @wraps(make)
    def checked(*arguments: P.args, **options: P.kwargs) -> R:
        if not is_open:
            check_names(make.__name__, options, names)
        options["seed"] = check_whole("seed", options.get("seed", 0), most=MAX_SEED)
        options["device"] = where = arrays.resolve(str(options.get("device", "cpu")))
        with arrays.on(where):
            return make(*arguments, **options)

    beginning, _, examples = (inspect.getdoc(make) or "").partition("\n\nExamples\n")
    beginning, _, returned = beginning.partition("\n\nReturns\n-------\n")
    shared = [f"{name} : {text}" for name, text in SHARED_PARAMETERS.items() if name in names]
    checked.__doc__ = DOCSTRING.format(beginning, "\n".join(shared), returned or "Graph", examples)
    return checked


def check_whole(name: str, value, least: int = 0, most: int | None = None) -> int:
    """``value`` as an int in ``least .. most``."""
    try:
        number = operator.index(value)
    except TypeError:
        raise OptionError(f"{_named(name, value)} is not a whole number") from None
    if number < least or (most is not None and number > most):
        span = f"{least} to {most}" if most is not None else f"{least} or more"
        raise OptionError(f"{_named(name, number)} is out of range; give {span}")
    return number


def _named(name, value):
    """The argument in a message; sizes are no options of the command line."""
    return f"{name}={value!r}" if name in SIZES or not name.isidentifier() else argument(name, value)


def check_vertices(name: str, value) -> int:
    """``value`` as a number of vertices; generated graphs number them by uint32."""
    return check_whole(name, value, most=MAX_UINT32)


def check_fraction(name: str, value, least: float = 0.0, most: float = 1.0) -> float:
    """``value`` as a float in ``least .. most``."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise OptionError(f"{argument(name, value)} is not a number") from None
    if not least <= number <= most:
        raise OptionError(f"{argument(name, value)} is out of range; give {least:g} to {most:g}")
    return number


def check_memory(needed: int, device: str) -> None:
    """Raise :class:`~edgewise.errors.OutOfMemoryError` unless ``needed`` bytes are free on ``device``."""
    if needed > arrays.free_memory(device):
        raise arrays.out_of_memory(needed, device)
