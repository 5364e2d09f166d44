"""Strongly connected components: the largest sets of vertices with paths from each to every other.

Every method labels each vertex with the smallest vertex number of its component, so all methods, devices and
thread counts give identical labels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Unpack

import numpy as np

from edgewise import tuning
from edgewise.device import arrays
from edgewise.device.regions import workers
from edgewise.errors import GraphError
from edgewise.front import CallOptions, front
from edgewise.graph import Graph
from edgewise.method import Driver, Method, check_device, check_graph, check_method, on_device, worker_names
from edgewise.needs import Needs, Size, size_of
from edgewise.paths.csr import adjacency_of, bytes_with_incoming, takes_one_core
from edgewise.strong.result import StrongComponents

__all__ = ["METHODS", "StrongComponents", "strongly_connected_components"]


@dataclass(frozen=True)
class StrongMethod(Method):
    """A method for strongly connected components, which reads ``"edges"``, ``"rows"`` or ``"adjacency"``.

    ``run(n_vertices, sources, targets)`` with (m,) index arrays, ``run(n_vertices, offsets, neighbours)``
    with the rows of outgoing edges, or ``run(n_vertices, adjacency)`` with those of both directions as far as
    they are there, returns the smallest vertex of each vertex's component: an (n_vertices,) index array on
    the device of its arguments.
    """

    reads: str = field(kw_only=True)


def bytes_of_marks(size: Size) -> float:
    """Labels, marks, two lists of vertices, and a set of bits of each worker."""
    return (3 * size.width + 1 + size.threads / 8) * size.vertices


def bytes_among(size: Size) -> int:
    """What a depth-first search among the vertices that are left takes."""
    return (4 * size.width + 8) * size.vertices


def bytes_with_passes(size: Size) -> float:
    """What all takes if the passes over outgoing rows become so many that incoming ones are made."""
    return bytes_of_marks(size) + bytes_with_incoming(bytes_among, size)


METHODS = {
    "tarjan": StrongMethod(
        Driver("edgewise.strong.tarjan:tarjan"),
        "one depth-first search on one core",
        "Tarjan 1972; Pearce 2016",
        devices=("cpu",),
        reads="rows",
        memory=lambda size: (6 * size.width + 8) * size.vertices,
    ),
    "forward-backward": StrongMethod(
        Driver("edgewise.strong.forward_backward:forward_backward"),
        "the component of one pivot on all cores, then trimming",
        "Fleischer, Hendrickson & Pinar 2000; Slota et al. 2014",
        devices=("cpu",),
        reads="adjacency",
        memory=lambda size: bytes_of_marks(size) + bytes_among(size),
    ),
    "signatures": StrongMethod(
        Driver("edgewise.strong.signatures:signatures"),
        "least vertices before and after each, edge by edge; cycles of two edges contracted",
        "Alabandi et al. 2023",
        reads="edges",
        memory=lambda size: 4 * size.width * size.vertices + 4 * size.width * size.edges,
    ),
}


@front
def strongly_connected_components(
    graph: Graph, *, method: str = "auto", device: str | None = None, **options: Unpack[CallOptions]
) -> StrongComponents:
    """Find the strongly connected components of a directed graph.

    Two vertices are in one component if there are paths from each to the other.  Self-loops and repeated
    edges make no difference.

    Parameters
    ----------
    graph : Graph
        Directed.
    method : str
        A name in ``METHODS``, or ``"auto"``: ``"signatures"`` on a GPU; on the CPU ``"forward-backward"``
        with 8 threads or more, unless the graph is small, and ``"tarjan"`` otherwise.
    device : str, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default that of the
        graph.

    Returns
    -------
    StrongComponents
        Its ``labels`` are the smallest vertex number of each vertex's component.

    Raises
    ------
    GraphError
        The graph is undirected.
    OptionError
        An unknown method.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "b", "b"], ["b", "a", "c"], directed=True)
    >>> result = ew.strongly_connected_components(graph)
    >>> result.count, result.labels.tolist()
    (2, [0, 0, 2])
    """
    check_graph(graph)
    check_method(method, METHODS, {})
    if not graph.directed:
        raise GraphError("the graph is undirected; connected_components() finds its components")
    graph = on_device(graph, device)
    device = graph.device
    check_device(method, device, METHODS)
    with arrays.guard(device):
        name = method if method != "auto" else _usual_method(graph.device, _is_small(graph))
        form = _form_of(graph, METHODS[name].reads)
        arrays.synchronize(device)
        start = perf_counter()
        labels = METHODS[name].run(graph.n_vertices, *form)
        arrays.synchronize(device)
    return StrongComponents(graph, name, perf_counter() - start, labels, devices=worker_names(device))


def needs(graph, *, method="auto", **options) -> Needs:
    """How a call would solve a graph on the host, for :meth:`Graph.estimate`."""
    check_graph(graph)
    check_method(method, METHODS, {})
    size = size_of(graph)
    if method == "auto":
        method = _usual_method("cpu", takes_one_core(size.vertices, size.entries))
    form, term = "edges" if METHODS[method].reads == "edges" else "rows", METHODS[method].memory
    if METHODS[method].reads == "adjacency" and graph.directed and "searches" not in graph.prepared:
        term = bytes_with_passes
    return Needs((form,), method, term, size)


def _usual_method(device, is_small):
    """The name of the method for a graph if the user has no wish."""
    if device != "cpu":
        return "signatures"
    is_wide = workers() >= tuning.CPU.strong_threads and not is_small
    return "forward-backward" if is_wide else "tarjan"


def _is_small(graph):
    return graph.device == "cpu" and adjacency_of(graph).is_small


def _form_of(graph, reads):
    """What a method reads of a graph."""
    if reads == "edges":
        edges = graph.sources, graph.targets
        return *edges, *((graph.offsets, graph.neighbours) if graph.has_rows else _no_rows(edges[1]))
    return (adjacency_of(graph),) if reads == "adjacency" else (graph.offsets, graph.neighbours)


def _no_rows(targets):
    device = arrays.device_of(targets)
    return arrays.empty(0, np.int64, device), targets[:0]
