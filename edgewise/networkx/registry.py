"""The functions of the backend: from this registry come dispatching, metadata, documentation and tests.

A function has the name under which NetworkX dispatches it, and NetworkX's parameters; further ones are
keyword-only and follow them.  It raises ``NotImplementedError`` with the reason where NetworkX is to run the
function itself, before it returns: an iterator would raise it too late.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, NamedTuple

import networkx as nx

#: Whether NetworkX is of version 3.7 or newer, which changed some functions.
IS_3_7 = tuple(map(int, nx.__version__.split(".")[:2])) >= (3, 7)

#: What a call costs NetworkX, beside what it takes to convert a graph.  LESS: no more than the conversion, or
#: it may end early, so the backend is faster only with a converted graph.  MORE: more than it, from a number
#: of nodes on.
LESS, MORE = "less", "more"
#: Nodes from which on the backend is faster, for functions that take much longer than to read the graph
#: (measured, as the next two, with ten entries for each node, November 2026).
FEW_NODES = 50
#: Nodes from which on the backend is faster, for Dijkstra's algorithm.
SOME_NODES = 500
#: Nodes from which on the backend is faster, for functions that read every edge once.
MANY_NODES = 5000


class Function(NamedTuple):
    """A registered function.

    Attributes
    ----------
    name : str
        As in NetworkX's dispatching.
    run : callable
        Takes NetworkX's parameters.
    page : str
        Name of its page in this package.
    cost : str
        ``LESS`` or ``MORE``.
    nodes : int
        Number of nodes from which on it is faster than NetworkX, the conversion included.
    note : str
        What differs from NetworkX, for the documentation.
    positions : dict
        Position of each parameter.
    why_not : callable or None
        ``why_not(get)`` returns a reason why the backend cannot run, or ``None``; ``get(name)`` is the
        argument of a call.
    """

    name: str
    run: Callable[..., Any]
    page: str
    cost: str
    nodes: int
    note: str
    positions: dict[str, int]
    defaults: dict[str, Any]
    why_not: Callable[..., str | None] | None


#: All functions by name.
FUNCTIONS: dict[str, Function] = {}


def implements(
    *,
    cost: str = MORE,
    nodes: int = FEW_NODES,
    note: str = "",
    why_not: Callable[..., str | None] | None = None,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function; the parameters are the attributes of :class:`Function`."""

    def register(run):
        parameters = signature(run).parameters
        positions = {name: at for at, name in enumerate(parameters)}
        defaults = {name: parameter.default for name, parameter in parameters.items()}
        page, known = run.__module__.rpartition(".")[2], name or run.__name__
        FUNCTIONS[known] = Function(known, run, page, cost, nodes, note, positions, defaults, why_not)
        return run

    return register


def argument_of(function: Function, args: tuple, kwargs: dict, name: str) -> Any:
    """The argument of a call for a parameter of a function."""
    if name in kwargs:
        return kwargs[name]
    at = function.positions[name]
    return args[at] if at < len(args) else function.defaults[name]


def without_callable(name: str) -> Callable[..., str | None]:
    """A rule that refuses a callable for a parameter."""

    def why_not(get):
        return f"{name} is a callable" if callable(get(name)) else None

    return why_not
