"""What NetworkX calls: conversion, whether a call can and should run here, and the functions themselves."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache, partial
from importlib import import_module
from typing import Any

from _edgewise_nx import PAGES
from edgewise.networkx.registry import FEW_NODES, FUNCTIONS, LESS, Function, argument_of

#: How NetworkX's functions read a graph; conversion reads the dicts behind these.
READ = frozenset(("__getitem__", "__iter__", "adj", "adjacency", "degree", "edges", "neighbors", "nodes"))


def function_named(name: str) -> Function:
    """A registered function; its page is imported when it is first asked for."""
    if name not in FUNCTIONS:
        import_module(f"edgewise.networkx.{PAGES[name]}")
    return FUNCTIONS[name]


#: Arguments that limit a search, or all searches to that of one node.
LIMITS = ("cutoff", "depth_limit", "u")
#: Arguments that are a node; NetworkX's errors for what is none, such as a list, differ from each other.
ENDS = ("source", "target", "n")


@cache
def changed_by(kind: Any) -> str | None:
    """What a class derived from one of NetworkX's has of its own, so that conversion passes it by."""
    for base in kind.__mro__:
        if base.__module__.startswith(("networkx.classes.", "edgewise.")):
            return None
        if changed := READ.intersection(vars(base)):
            return min(changed)
    return None


class _Backend:
    """The backend as NetworkX's dispatching sees it; its other attributes are the functions."""

    def __getattr__(self, name):
        if name not in PAGES:
            raise AttributeError(f"the edgewise backend has no function {name!r}")
        run = function_named(name).run
        setattr(self, name, run)
        return run

    def __dir__(self):
        return sorted({*super().__dir__(), *PAGES})

    def convert_from_nx(self, graph: Any, **what: Any) -> Any:
        """Convert a NetworkX graph; which attributes are wanted does not matter, they are read later."""
        from edgewise.networkx.graph import Graph

        return graph if isinstance(graph, Graph) else Graph.converted(graph)

    def convert_to_nx(self, result: Any, *, name: str | None = None) -> Any:
        """Convert a graph of this backend to NetworkX; all else is passed through."""
        return result.to_networkx() if getattr(result, "__networkx_backend__", "") == "edgewise" else result

    def can_run(self, name: str, args: tuple, kwargs: dict) -> bool | str:
        """Whether a call can run: ``True``, or why not."""
        function = function_named(name)
        get = partial(argument_of, function, args, kwargs)
        if "G" in function.positions and (changed := changed_by(get("G").__class__)):
            return f"the class of the graph has its own {changed}"
        for end in ENDS:
            if end in function.positions and not isinstance(get(end), Hashable):
                return f"{end} cannot be hashed"
        return (function.why_not and function.why_not(get)) or True

    def should_run(self, name: str, args: tuple, kwargs: dict) -> bool | str:
        """Whether a call with a graph of NetworkX is faster here: ``True``, or why not."""
        function = function_named(name)
        if "G" not in function.positions:
            return True
        get = partial(argument_of, function, args, kwargs)
        is_converted = _is_converted(get("G"))
        least = FEW_NODES if is_converted else function.nodes
        if len(get("G")) < least:
            return f"the graph has fewer than {least} nodes"
        if not is_converted and (function.cost == LESS or _may_end_early(function, get)):
            return "to convert the graph takes longer than the call"
        return True

    def on_start_tests(self, items: list) -> None:
        """Mark the tests of NetworkX that are expected to fail, with the reasons."""
        from edgewise.networkx.expected_failures import mark

        mark(items)


def _may_end_early(function, get):
    """Whether the arguments limit a search, or it is one from both ends."""
    given = {
        name for name in (*LIMITS, "source", "target") if name in function.positions and get(name) is not None
    }
    from_both = {"source", "target"} <= given and function.defaults["source"] is None
    return from_both or not given.isdisjoint(LIMITS)


def _is_converted(graph):
    """Whether NetworkX has cached the graph as one of this backend."""
    cache = getattr(graph, "__networkx_cache__", None) or {}
    return bool(cache.get("backends", {}).get("edgewise"))


BackendInterface = _Backend()
