"""What searches from a source have in common: how a method is described, and what may be asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from edgewise.errors import OptionError
from edgewise.graph import Graph


class Method(NamedTuple):
    """One way to search: what it is, where it comes from, what it can do; the fronts say how it is called."""

    run: Callable
    summary: str
    source: str
    weights: str = "none"  # every edge counts one; or "not negative", or "any"
    options: tuple[str, ...] = ()
    devices: tuple[str, ...] = ("cpu", "cuda")
    needs_incoming: bool = False  # reads the rows that come in
    stops: bool = False  # ends with its targets
    whole: bool = False  # keeps the distances of all pairs, whatever sources are asked for


def check_asked(graph, method, methods):
    """Refuse what is no graph, and a method that is not one of ``methods``."""
    if not isinstance(graph, Graph):
        raise OptionError(
            f"a Graph is needed, not {type(graph).__name__}; see Graph.from_edges and from_frame"
        )
    if method != "auto" and method not in methods:
        raise OptionError(f"method {method!r} is unknown; use auto or one of {', '.join(methods)}")


def check_options(method, options, methods, whole):
    """Refuse options that the method does not have, and all but (``whole``) numbers larger than 0."""
    if method == "auto" and options:
        raise OptionError(
            f"auto has no option {next(iter(options))!r}; name the method it belongs to, if any"
        )
    for option, value in options.items():
        known = methods[method].options
        if option not in known:
            raise OptionError(
                f"method {method} has no option {option!r} (it has: {', '.join(known) or 'none'})"
            )
        if not _is_number(value, whole) or not value > 0:
            raise OptionError(f"{option}={value!r} must be a {'whole ' * whole}number larger than 0")
        if whole and value >= 2**31:
            raise OptionError(f"{option}={value} must be smaller than 2**31")


def check_device(method, where, methods):
    """Refuse a method that does not run in the place of the graph."""
    if method != "auto" and where.partition(":")[0] not in methods[method].devices:
        (needed,) = methods[method].devices
        where = {"cpu": "the CPU", "cuda": "a GPU"}[needed]
        raise OptionError(f"method {method} runs on {where} only; use device={needed!r} or another method")


def flat(ids, name):
    """``ids``, which must be an id or a flat collection of them."""
    first = ids[0] if isinstance(ids, (list, tuple)) and ids else None
    table = len(getattr(ids, "shape", ())) > 1 or isinstance(ids, dict)
    if table or len(getattr(first, "shape", ())) or isinstance(first, (list, tuple)):
        raise OptionError(f"{name} is a table of ids; give one id, or a flat list of them")
    return ids


def vertices_in(graph, ids, name, instead):
    """Distinct vertex numbers, ascending, of an id or of a flat collection that is not empty."""
    vertices = graph.vertices_of(flat(ids, name))
    if not len(vertices):
        raise OptionError(f"{name} is empty; {instead}")
    return vertices if len(vertices) == 1 else np.unique(vertices)


def sources_in(graph, source):
    """Vertex numbers of the sources of a search, distinct and ascending."""
    return vertices_in(graph, source, "source", "give the id of a vertex, or several")


def bound(cutoff, whole):
    """The largest distance that counts; ``None`` if all do."""
    if cutoff is None or (isinstance(cutoff, (float, np.floating)) and cutoff == np.inf):
        return None
    if not _is_number(cutoff, whole) or not cutoff >= 0:
        kind = "whole number of edges" if whole else "number"
        raise OptionError(f"cutoff={cutoff!r} must be a {kind}, 0 or more")
    return cutoff


def _is_number(value, whole):
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool)
