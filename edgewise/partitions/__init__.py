"""Graph partitioning: parts of nearly equal weight with few edges between them.

The method is multilevel (:mod:`~edgewise.partitions.multilevel`), with refinement by Jet
(:mod:`~edgewise.partitions.refine`).  Small graphs have a method of their own
(:mod:`~edgewise.partitions.fiduccia_mattheyses`), for which nothing is compiled.  All weights are integers
and all ties are decided by numbers that are drawn from the seed, so there is one result for a seed, on every
device and for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, Unpack

import numpy as np

from edgewise import tuning
from edgewise.device import arrays
from edgewise.device.threads import FEW_STEPS, few_steps
from edgewise.errors import GraphError, ImbalanceWarning, OptionError, argument, one_of, warn
from edgewise.graph import Graph
from edgewise.method import (
    Driver,
    Method,
    check_graph,
    check_method,
    check_whole,
    is_number,
    on_device,
    worker_names,
)
from edgewise.needs import Needs, size_of
from edgewise.partitions.balance import Problem, limits_of
from edgewise.partitions.input import (
    checked_parts,
    level_of,
    positive,
    targets_of,
    total_weight,
    vertex_weights_of,
)
from edgewise.partitions.levels import cut_of, loads_of
from edgewise.partitions.presets import METHOD_OF, PRESETS, REGION_STEPS
from edgewise.partitions.result import Partition
from edgewise.result import counted
from edgewise.weights import WeightOptions, weighted_front

__all__ = [
    "METHODS",
    "PRESETS",
    "Partition",
    "partition",
]

#: A part is as much work for the method of small graphs as so many vertices or edges.
PART_STEPS = 64
#: Largest number of parts.
MAX_PARTS = 2**21 - 1


@dataclass(frozen=True)
class PartitionMethod(Method):
    """A method for partitions.

    ``run(level, limits, targets, settings, start)`` is documented at
    :func:`~edgewise.partitions.multilevel.multilevel`.

    Attributes
    ----------
    record : callable or None
        ``record()`` is a new :class:`~edgewise.partitions.transactional.Record` of transactions, which the
        driver also takes, as ``record``.
    """

    record: Callable[[], Any] | None = None


def _bytes_of_jet(size, kind=None, k=2):
    from edgewise.partitions.estimate import Kind, bytes_of

    return bytes_of(size, kind or Kind(), k)


METHODS = {
    "jet": PartitionMethod(
        Driver("edgewise.partitions.multilevel:multilevel"),
        "label propagation up and down a hierarchy, recursive bisection",
        "Gilbert et al. 2024",
        memory=_bytes_of_jet,
    ),
    "fiduccia-mattheyses": PartitionMethod(
        Driver("edgewise.partitions.fiduccia_mattheyses:fiduccia_mattheyses"),
        "single vertices up and down a hierarchy, in the interpreter; for small graphs",
        "Fiduccia and Mattheyses 1982",
        memory=lambda size: 1000 * size.vertices + 400 * size.entries,  # dictionaries
    ),
    "transactional": PartitionMethod(
        Driver("edgewise.partitions.transactional:transactional"),
        "heavy-edge matching and moves of positive gain, both by transactions",
        "Manoochehri 2017, chapter 4",
        baseline=True,
        record=Driver("edgewise.partitions.transactional:Record"),
    ),
}


@weighted_front
def partition(
    graph: Graph,
    parts: int,
    *,
    imbalance: float = 0.03,
    preset: str = "default",
    seed: int = 0,
    device: str | None = None,
    method: str = "auto",
    vertex_weights: Any = None,
    target_weights: Any = None,
    initial: Any = None,
    tries: int = 1,
    patience: int | None = None,
    contiguous: bool = False,
    scale: float | None = None,
    **options: Unpack[WeightOptions],
) -> Partition:
    """Divide the vertices of a graph into parts of nearly equal weight, with few edges between the parts.

    Parameters
    ----------
    graph : Graph
        Undirected.  The weights of its edges are integers of 0 or more, if it has weights; repeated edges
        count each, self-loops do not.
    parts : int
        Number of parts, 1 or more.
    imbalance : float
        By how much the weight of a part may exceed an even share, as a fraction: a part weighs at most
        ``floor((1 + imbalance) * ceil(total / parts))``.  The ``ufactor`` of METIS is 1000 times this.
    preset : str
        ``"fast"``, ``"default"`` or ``"strong"``: a smaller cut for more time; or ``"manoochehri-2017"``, the
        method ``"transactional"``.
    seed : int
        The same seed, 0 or more, gives the same parts on every device and for any number of threads, except
        by the method ``"transactional"``.
    device : str, optional
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default that of the
        graph.
    method : str
        A name in ``METHODS``, or ``"auto"``.
    vertex_weights : (n_vertices,) integers of 0 or more, optional
        By default those of the graph, or 1 for each vertex.
    target_weights : (parts,) positive numbers, optional
        Shares of the total weight that the parts are to have; by default all are equal.
    initial : (n_vertices,) integers, optional
        A partition to improve.
    tries : int
        Whole runs with different seeds, of which the best is returned.
    patience : int, optional
        Iterations of refinement without a smaller cut after which a search ends; by default 12.  More of
        them give a smaller cut for more time.
    contiguous : bool
        Whether the vertices of each part are to be connected inside of the part.  What is not connected to
        the rest of its part is moved to other parts.
    scale : float, optional
        Weights of edges that are floats are multiplied by this number and rounded, to 1 at least unless they
        are 0.

    Returns
    -------
    Partition
        No part is empty if there are at least as many vertices as parts.

    Raises
    ------
    GraphError
        A directed graph; a weight that is negative or no integer; weights whose sum is too large;
        several weights for each vertex; a graph that is not connected, where parts are to be contiguous.
    OptionError
        Fewer than one part, a negative imbalance, an unknown preset, method or option, target weights or a
        partition of another length.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Warns
    -----
    ImbalanceWarning
        A vertex is heavier than a part may be, there are more parts than vertices, or the balance was not
        reached, as of parts that are contiguous; the message says which.

    Examples
    --------
    >>> import edgewise as ew
    >>> result = ew.partition(ew.generate.grid(16, 16), 4)
    >>> result.k, result.is_balanced, len(result.parts)
    (4, True, 256)
    """
    check_graph(graph)
    check_method(method, METHODS, {})
    _check_numbers(parts, seed, tries, patience)
    _check_choices(imbalance, preset, contiguous, scale)
    k = int(parts)
    if graph.directed:
        raise GraphError("a partition needs an undirected graph; use Graph.undirected()")
    graph = on_device(graph, device)
    sizes, targets = vertex_weights_of(graph, vertex_weights), targets_of(target_weights, k)
    start = None if initial is None else checked_parts(graph, initial, k)
    name = _method(graph, k, method, preset, target_weights is None)
    taken = METHODS[name]
    record = taken.record() if taken.record else None
    if contiguous:
        from edgewise.partitions.contiguous import check_connected, make_contiguous

        check_connected(graph)
    counted, unit = positive(sizes)
    with arrays.guard(graph.device), few_steps(FEW_STEPS if name == "fiduccia-mattheyses" else np.inf):
        level, total, is_exact = level_of(graph, counted, scale, connects=contiguous)
        arrays.synchronize(graph.device)
        begin = perf_counter()
        settings = _settings(preset, int(seed), patience, total)
        if start is not None:
            start = arrays.move(start.astype(level.neighbours.dtype), graph.device)
            start = start, cut_of(level, start)
        run = partial(taken.run, record=record) if record else taken.run
        problem = Problem(run, settings, imbalance, tries, unit)
        found, limits = problem.solve(level, counted, targets, start)
        if contiguous:
            found = make_contiguous(level, found, limits)
        arrays.synchronize(graph.device)
        seconds = perf_counter() - begin
        cut = cut_of(level, found) if is_exact else _real_cut(graph, found)
        weights = loads_of(level.sizes if counted is sizes else arrays.move(sizes, graph.device), found, k)
    limits = limits_of(total_weight(sizes), targets, imbalance)
    _warn(sizes, weights, limits, "parts are to be contiguous" if contiguous else "weights are uneven")
    own = found, cut, weights, limits, preset, int(seed), vertex_weights
    transactions = record.finish() if record else None
    return Partition(
        graph, name, seconds, *own, devices=worker_names(graph.device), transactions=transactions
    )


def needs(graph, *, parts=2, method="auto", preset="default", **options) -> Needs:
    """How a call would solve a graph on the host, for :meth:`Graph.estimate`."""
    check_graph(graph)
    check_method(method, METHODS, {})
    name = _method(graph, parts, method, preset, options.get("target_weights") is None)
    term = METHODS[name].memory
    if name == "jet":
        from edgewise.partitions.estimate import kind_of

        term = partial(_bytes_of_jet, kind=kind_of(graph), k=parts)
    return Needs(("rows",), name, term, size_of(graph))


def _method(graph, k, given, preset, are_equal):
    """The name of the method of a call, whose parts have equal shares or others."""
    # Graph.n_edges takes memory if there are rows only
    has_edges = graph._rows is None or ("edges" in graph.made_of and graph.has_edges)
    n_edges = len(graph._edges[0]) if has_edges else len(graph._rows[1]) // 2
    is_small = graph.n_vertices + n_edges + PART_STEPS * k < tuning.CPU.partitions_small
    own = "fiduccia-mattheyses" if is_small and are_equal else "jet"
    taken = METHOD_OF.get(preset, given if given != "auto" else own)
    if given not in ("auto", taken):
        problem = f"{argument('preset', preset)} has the method {taken}"
        raise OptionError(f"{problem}; leave out {argument('method', given)}")
    return taken


def _settings(preset, seed, patience, total):
    """The settings of a preset, for a seed, a patience if one is given, and the total weight."""
    settings = PRESETS[preset]._replace(seed=seed, shift=max(0, total.bit_length() - 31))
    return settings if patience is None else settings._replace(patience=min(patience, REGION_STEPS))


def _check_numbers(parts, seed, tries, patience):
    """Check the options that are whole numbers."""
    for option, value, least in (("parts", parts, 1), ("seed", seed, 0), ("tries", tries, 1)):
        check_whole(option, value, least)
    if patience is not None:
        check_whole("patience", patience, 1)
    if parts > MAX_PARTS:
        raise OptionError(f"{argument('parts', parts)} is too many; the most is {MAX_PARTS}")


def _check_choices(imbalance, preset, contiguous, scale):
    """Check the options that are no whole numbers."""
    if not is_number(imbalance, False) or not 0 <= imbalance < np.inf:
        raise OptionError(f"{argument('imbalance', imbalance)} must be a number of 0 or more, such as 0.03")
    if preset not in PRESETS:
        raise OptionError(f"{argument('preset', preset)} is unknown; {one_of(preset, PRESETS)}")
    if contiguous not in (True, False):
        raise OptionError(f"{argument('contiguous', contiguous)} must be True or False")
    if scale is not None and not (is_number(scale, False) and 0 < scale < np.inf):
        raise OptionError(f"{argument('scale', scale)} must be a number larger than 0")


def _real_cut(graph, part):
    """Sum of the weights, which may be floats, of the edges of a graph between parts."""
    host, part = graph.to("cpu"), arrays.move(part, "cpu")
    kind = np.float64 if host.weights.dtype.kind == "f" else np.int64
    return host.weights[part[host.sources] != part[host.targets]].sum(dtype=kind).item()


def _warn(sizes, weights, limits, why):
    """Say why a partition is not as balanced as was asked for."""
    n, k, most = len(sizes), len(weights), int(weights.max(initial=0))
    if n < k:
        verb = "is" if k - n == 1 else "are"
        problem = f"{counted(k, 'part')} of {counted(n, 'vertex')}: {counted(k - n, 'part')} {verb} empty"
    elif (weights <= limits).all():
        return
    elif len(sizes) and sizes.max() > limits.max():
        heaviest = int(sizes.argmax())
        problem = (
            f"vertex {heaviest} weighs {sizes[heaviest]}, more than the {limits.max()} that a part may; "
            "it is alone in a part, and the other vertices share the other parts"
        )
    else:
        problem = f"a part weighs {most}, more than {int(limits[weights.argmax()])}, as the {why}"
    warn(problem, ImbalanceWarning)
