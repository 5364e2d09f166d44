"""Connected components: which vertices hang together.

Every method labels each vertex with the smallest vertex number of its component, so all methods, devices
and thread counts give the same labels bit for bit.  Edges count in both directions, also in a directed graph
(weakly connected components).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter

import numpy as np

from edgewise.components.afforest import afforest
from edgewise.components.ecl_cc import first_neighbour
from edgewise.components.hook import hook
from edgewise.components.hook_rem import hook_rem
from edgewise.components.hook_sample import hook_sample
from edgewise.components.merge import LABEL_MERGES, MERGES, Merge, choose_label_merge
from edgewise.components.propagate import ROWS, propagate
from edgewise.components.rem import rem
from edgewise.components.rem_sample import rem_sample
from edgewise.components.rem_sequential import rem_sequential
from edgewise.components.result import Components
from edgewise.components.segments import solve_by_segments
from edgewise.components.selection import choose
from edgewise.components.several_devices import check_forest, check_merge, label_split, merge_for, placed
from edgewise.components.symmetric_csr import rows_of
from edgewise.device import arrays
from edgewise.errors import OptionError, OutOfMemoryError
from edgewise.graph import Graph
from edgewise.workers import SplitGraph, device_team

__all__ = ["MERGES", "METHODS", "Merge", "Method", "connected_components"]


@dataclass(frozen=True)
class Method:
    """One way to find the components: what it reads, what it is, where it comes from."""

    run: Callable
    reads: str  # "edges": (vertices, sources, targets); "rows": (vertices, rows), symmetric
    summary: str
    source: str
    options: tuple[str, ...] = ()  # whole numbers
    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)  # names, by option


METHODS = {
    "rem": Method(
        rem,
        "edges",
        "splicing union-find with compare-and-swap",
        "Hellås 2018, Alg. 2",
        ("iterations", "segments", "compress_between"),
    ),
    "rem-sequential": Method(rem_sequential, "edges", "the same on one core", "Hellås 2018, Alg. 1"),
    "hook": Method(
        hook, "edges", "plain hooks, then atomic hooks, compressing", "Hellås 2018, Alg. 3-7", ("iterations",)
    ),
    "hook-rem": Method(hook_rem, "edges", "one round of plain hooks, then Rem", "Hellås 2018, 6.3.1"),
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
    "propagate": Method(
        propagate,
        "rows",
        "take the least label of the neighbours until nothing changes",
        "Baltzakis, label propagation on GPU",
        choices={"rows": ROWS},
    ),
}


def connected_components(
    graph: Graph | SplitGraph,
    *,
    method: str = "auto",
    device: str | None = None,
    devices: str | Sequence[str] | None = None,
    merge: str = "auto",
    **options: int | str,
) -> Components:
    """Find the (weakly) connected components of a graph.

    Parameters
    ----------
    graph : Graph or SplitGraph
        A split graph is solved where it lies, by the devices that hold it.
    method : str
        A name in ``METHODS``, or ``"auto"``: chosen by density, locality of the ids and device.
    device : str, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default where the
        graph lies.
    devices : str or list of str, optional
        Several devices that share the edges: ``"all"`` (every GPU), ``"cpu+cuda"``, or devices such as
        ``["cuda:0", "cuda:1"]``; ``"cpu:0"``, ``"cpu:1"`` ... are workers on the CPU.
    merge : str
        How what several devices have found is put together: a name in ``MERGES``, or ``"auto"``.
    **options : int or str
        Options of the method: ``iterations`` of ``hook`` and ``rem``, ``segments`` and ``compress_between``
        of ``rem``, ``rounds`` of the methods that sample, ``rows`` of ``propagate``.

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
    if not isinstance(graph, Graph | SplitGraph):
        raise OptionError(
            f"a Graph is needed, not {type(graph).__name__}; see Graph.from_edges and from_frame"
        )
    if method != "auto" and method not in METHODS:
        raise OptionError(f"method {method!r} is unknown; use auto or one of {', '.join(METHODS)}")
    if method == "auto" and options:
        raise OptionError(
            f"auto has no option {next(iter(options))!r}; name the method it belongs to, if any"
        )
    _check_devices(graph, device, devices, merge)
    if devices is None:
        if device is None:
            return _solved(graph, method, merge, options)
        devices = arrays.resolve(device)
    team = device_team(devices)
    try:
        return _solved(placed(graph, team, merge), method, merge, options)
    except OutOfMemoryError:
        if graph.device != "cpu" or method not in ("auto", "rem") or options:
            raise
    return _by_segments(graph, team, merge)


def _check_devices(graph, device, devices, merge):
    split = isinstance(graph, SplitGraph)
    if device is not None and (devices is not None or split):
        raise OptionError("device= is for one device; use devices=, and neither for a split graph")
    if merge != "auto" and devices is None and not split:
        raise OptionError(f"merge={merge!r} is for several devices; add devices=")
    if split and devices is not None:
        raise OptionError("the graph is split over its devices already; leave out devices=")
    check_merge(merge, graph.by if split else None)


def _solved(graph, method, merge, options):
    """Solve a graph where it lies."""
    if isinstance(graph, SplitGraph):
        return _on_several(graph, method, merge, options)
    with arrays.guard(graph.device):
        name, run = _ready(graph, method, options)
        arrays.synchronize(graph.device)
        start = perf_counter()
        labels = run()
        arrays.synchronize(graph.device)
    return Components(graph, name, perf_counter() - start, labels)


def _by_segments(graph, team, merge):
    """Solve a graph whose edges are too many for the devices: they stay on the host and flow past."""
    start = perf_counter()
    merge = merge if merge in LABEL_MERGES else choose_label_merge(team)
    labels, segments = solve_by_segments(graph, team, merge)
    team.synchronize()
    seconds, name = perf_counter() - start, f"rem, in {segments} segments"
    if len(team) == 1:
        return Components(graph, name, seconds, labels)
    return Components(graph, name, seconds, labels, devices=team.names, merge=merge)


def _on_several(split, method, merge, options):
    """Solve a split graph."""
    merge = merge_for(split, merge)
    check_forest(merge, method, options)
    names, runs = [], []
    for part in split.parts:
        with arrays.guard(part.worker.device):
            name, run = _ready(part.graph, "rem" if merge == "forest" else method, options)
        names.append(name)
        runs.append(run)
    split.team.synchronize()
    start = perf_counter()
    labels = label_split(split, runs, merge)
    split.team.synchronize()
    seconds, name = perf_counter() - start, " and ".join(sorted(set(names)))
    devices = split.team.names if merge else ()
    return Components(split, name, seconds, labels, devices=devices, merge=merge)


def _ready(graph, method, options):
    """The method's name and a call that runs it, once it is chosen and has what it reads."""
    name = choose(graph) if method == "auto" else method
    found = METHODS[name]
    _check_options(found, name, options)
    views = (graph.sources, graph.targets) if found.reads == "edges" else (rows_of(graph),)
    return name, partial(found.run, graph.n_vertices, *views, **options)


def _check_options(method, name, options):
    for option, value in options.items():
        if option in method.choices:
            if value not in method.choices[option]:
                raise OptionError(
                    f"{option}={value!r} is unknown; use one of {', '.join(method.choices[option])}"
                )
            continue
        if option not in method.options:
            known = ", ".join((*method.options, *method.choices)) or "none"
            raise OptionError(f"method {name} has no option {option!r} (it has: {known})")
        if not isinstance(value, (int, np.integer)) or not 0 <= value < 2**31:
            raise OptionError(f"{option}={value!r} must be a whole number, 0 or more")
