"""Connected components: which vertices hang together.

Every method labels each vertex with the smallest vertex number of its component, so all methods, devices
and thread counts give the same labels bit for bit.  Edges count in both directions, also in a directed graph
(weakly connected components).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from edgewise.components.afforest import afforest
from edgewise.components.choose import choose
from edgewise.components.hook import hook
from edgewise.components.hook_sample import hook_sample
from edgewise.components.neighbour import first_neighbour
from edgewise.components.rem import rem
from edgewise.components.rem_sample import rem_sample
from edgewise.components.rem_sequential import rem_sequential
from edgewise.components.rows import rows_of
from edgewise.device import arrays
from edgewise.errors import OptionError
from edgewise.graph import Graph
from edgewise.result import Components

__all__ = ["METHODS", "Method", "connected_components"]


@dataclass(frozen=True)
class Method:
    """One way to find the components: what it reads, what it is, where it comes from."""

    run: Callable
    reads: str  # "edges": (vertices, sources, targets); "rows": (vertices, rows), symmetric
    summary: str
    source: str
    options: tuple[str, ...] = ()


METHODS = {
    "rem": Method(rem, "edges", "splicing union-find with compare-and-swap", "Hellås 2018, Alg. 2"),
    "rem-sequential": Method(rem_sequential, "edges", "the same on one core", "Hellås 2018, Alg. 1"),
    "hook": Method(
        hook, "edges", "plain hooks, then atomic hooks, compressing", "Hellås 2018, Alg. 3-7", ("iterations",)
    ),
    "afforest": Method(
        afforest, "rows", "join a few neighbours, then skip the giant", "Sutton et al. 2018", ("rounds",)
    ),
    "rem-sample": Method(
        rem_sample,
        "rows",
        "Rem by plain writes as the sample, then skip the giant",
        "after Alg. 1",
        ("rounds",),
    ),
    "hook-sample": Method(
        hook_sample,
        "rows",
        "plain hooks as the sample, then skip the giant",
        "after Hellås 2018, 4.2.1",
        ("rounds",),
    ),
    "first-neighbour": Method(
        first_neighbour, "rows", "hang below a smaller neighbour, then every edge once", "ECL-CC, 2018"
    ),
}


def connected_components(
    graph: Graph, *, method: str = "auto", device: str | None = None, **options: int
) -> Components:
    """Find the (weakly) connected components of a graph.

    Parameters
    ----------
    graph : Graph
    method : str
        A name in ``METHODS``, or ``"auto"``: chosen by density, locality of the ids and device.
    device : str, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default where the
        graph lies.
    **options : int
        Options of the method: ``iterations`` of ``hook``, ``rounds`` of the methods that sample.

    Returns
    -------
    Components
        Its ``labels`` are the smallest vertex number of each vertex's component.

    Raises
    ------
    OptionError
        An unknown method or option.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "b", "d"], ["b", "c", "e"])
    >>> result = ew.connected_components(graph)
    >>> result.count, result.labels.tolist()
    (2, [0, 0, 0, 3, 3])
    """
    if not isinstance(graph, Graph):
        raise OptionError(
            f"a Graph is needed, not {type(graph).__name__}; see Graph.from_edges and from_frame"
        )
    if method != "auto" and method not in METHODS:
        raise OptionError(f"method {method!r} is unknown; use auto or one of {', '.join(METHODS)}")
    if method == "auto" and options:
        raise OptionError(
            f"auto has no option {next(iter(options))!r}; name the method it belongs to, if any"
        )
    if device is not None:
        graph = graph.to(device)
    with arrays.guard(graph.place):
        name = choose(graph) if method == "auto" else method
        labels, seconds = _timed(METHODS[name], name, graph, options)
    return Components(graph, name, seconds, labels)


def _timed(method, name, graph, options):
    for option, value in options.items():
        if option not in method.options:
            known = ", ".join(method.options) or "none"
            raise OptionError(f"method {name} has no option {option!r} (it has: {known})")
        if not isinstance(value, (int, np.integer)) or not 0 <= value < 2**31:
            raise OptionError(f"{option}={value!r} must be a whole number, 0 or more")
    views = (graph.sources, graph.targets) if method.reads == "edges" else (rows_of(graph),)
    arrays.synchronize(graph.place)
    start = perf_counter()
    labels = method.run(graph.n_vertices, *views, **options)
    arrays.synchronize(graph.place)
    return labels, perf_counter() - start
