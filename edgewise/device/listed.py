"""Kernels by name and types of arguments, so that a process can compile what another one will need.

A line of a list has the target, the name of the kernel, and the types of its arguments:

    cpu edgewise.components.trees.compress int64, int64, int64, int64, int64[], (uint32[])
    cuda edgewise.paths.csr.degrees edgewise.paths.csr.CSR(int64[], uint32[]), uint32[]

``[]`` is a contiguous array (``[]!`` one that is only read); parentheses hold a tuple, after the name of a
class a record.  A line of another version, whose kernel or class is gone, is passed over.
"""

import re
from importlib import import_module

from numba import from_dtype, types

from edgewise.device import cache, launch

CPU, CUDA = "cpu", "cuda"
_TOKEN = re.compile(r"\s*([\w.]+(?:\[\]!?)?|[(),])")


def line_of(target, name, kinds):
    """A line about a kernel; ``kinds`` are Numba's types, or those of :func:`edgewise.device.launch.kind_of`.

    Raises
    ------
    ValueError
        A type that a line cannot express.
    """
    return f"{target} {name} {', '.join(map(_text_of, kinds))}"


def _text_of(kind):
    if isinstance(kind, str):
        return kind
    if isinstance(kind, types.Array) and kind.ndim == 1 and kind.layout == "C":
        return f"{kind.dtype}[]" + "!" * (not kind.mutable)
    if isinstance(kind, (types.Number, types.Boolean)) and not isinstance(kind, types.Literal):
        return str(kind)
    if isinstance(kind, types.BaseTuple):
        kind = getattr(kind, "instance_class", tuple), tuple(kind)
    if isinstance(kind, tuple) and len(kind) == 2 and isinstance(kind[0], type):
        name = "" if kind[0] is tuple else f"{kind[0].__module__}.{kind[0].__qualname__}"
        return f"{name}({', '.join(map(_text_of, kind[1]))})"
    raise ValueError(f"no text for {kind!r}")


def compile_line(line, capability=None):
    """Compile the kernel of a line, unless it is kept already or another process is at it.

    Parameters
    ----------
    line : str
    capability : tuple of int
        Of the GPU, for kernels of the target ``cuda``.

    Raises
    ------
    Exception
        Whatever a line of another version leads to.
    """
    target, name, text = line.split(" ", 2)
    kinds = _parsed(text)
    import_module_of(name)
    try:
        if target == CUDA:
            launch.kernels[name].ptx(kinds, capability)
        else:
            cache.kept[name].compile(tuple(map(_numba_type, kinds)))
    except cache.Claimed:
        return


def import_module_of(name):
    """Import the module of a kernel; what follows its name are names of functions."""
    words = name.split(".")
    for stop in range(len(words) - 1, 0, -1):
        try:
            import_module(".".join(words[:stop]))
        except ModuleNotFoundError:
            continue
        return


def _parsed(text):
    tokens = _TOKEN.findall(text)[::-1]
    kinds = _kinds(tokens)
    if tokens:
        raise ValueError(f"not a list of types: {text}")
    return kinds


def _kinds(tokens):
    """The kinds up to the end or to a closing parenthesis, which is taken as well."""
    found = []
    while tokens and (token := tokens.pop()) != ")":
        if token == ",":
            continue
        if token == "(":
            found.append((tuple, _kinds(tokens)))
        elif tokens and tokens[-1] == "(":
            tokens.pop()
            module, _, name = token.rpartition(".")
            found.append((getattr(import_module(module), name), _kinds(tokens)))
        else:
            found.append(token)
    return tuple(found)


def _numba_type(kind):
    if isinstance(kind, tuple):
        return types.BaseTuple.from_types([_numba_type(one) for one in kind[1]], kind[0])
    if "[" in kind:
        dtype, _, ending = kind.partition("[")
        return types.Array(_scalar(dtype), 1, "C", readonly=ending.endswith("!"))
    return _scalar(kind)


def _scalar(name):
    import numpy as np

    return from_dtype(np.dtype(name))
