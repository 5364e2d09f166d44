"""Core numbers: how far into the dense parts of a graph each vertex belongs.

The ``k``-core is the largest subgraph in which every vertex has at least ``k`` neighbours.  The core number
of a vertex is the largest ``k`` whose core it belongs to; it is unique, so all methods, devices and numbers
of threads return the same.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import Unpack

from edgewise.cores.result import CoreNumbers
from edgewise.cores.simple_rows import bytes_of_rows_and, flags_of_rows, simple_rows
from edgewise.device import arrays
from edgewise.device.threads import few_steps
from edgewise.errors import GraphError
from edgewise.front import CallOptions, front
from edgewise.graph import Graph
from edgewise.method import Driver, Method, check_device, check_graph, check_method, on_device, worker_names
from edgewise.needs import Needs, size_of

__all__ = ["METHODS", "CoreNumbers", "core_numbers"]

#: ``run(rows)`` with :class:`~edgewise.cores.peel.Rows` returns the core numbers: an (n_vertices,) integer
#: array on the device of the rows.
METHODS = {
    "peel": Method(
        Driver("edgewise.cores.peel:peel"),
        "remove the least degrees level by level, in parallel",
        "Kabir & Madduri 2017",
        memory=lambda size, flags: bytes_of_rows_and(12 * size.vertices, size, *flags),
    ),
}


@front
def core_numbers(
    graph: Graph, *, method: str = "auto", device: str | None = None, **options: Unpack[CallOptions]
) -> CoreNumbers:
    """Find the core number of every vertex.

    Parameters
    ----------
    graph : Graph
        Undirected.  Self-loops do not count, and repeated edges count once.
    method : str
        A name in ``METHODS``, or ``"auto"``, which is ``"peel"``.
    device : str, optional
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default that of the
        graph.

    Returns
    -------
    CoreNumbers
        Its ``cores`` are the core numbers, int32.

    Raises
    ------
    GraphError
        The graph is directed.
    OptionError
        An unknown method.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "b", "c", "c"], ["b", "c", "a", "d"])
    >>> result = ew.core_numbers(graph)
    >>> result.cores.tolist(), result.largest
    ([2, 2, 2, 1], 2)
    >>> list(result.subgraph(2))
    ['a', 'b', 'c']
    """
    check_graph(graph)
    check_method(method, METHODS, {})
    if graph.directed:
        raise GraphError("the graph is directed; core_numbers(graph.undirected()) takes edges both ways")
    graph = on_device(graph, device)
    device = graph.device
    name = "peel" if method == "auto" else method
    check_device(name, device, METHODS)
    with arrays.guard(device), few_steps(graph.n_vertices + size_of(graph).entries):
        rows = simple_rows(graph)
        arrays.synchronize(device)
        start = perf_counter()
        cores = METHODS[name].run(rows)
        arrays.synchronize(device)
    return CoreNumbers(graph, name, perf_counter() - start, cores, devices=worker_names(device))


def needs(graph, *, method="auto", **options) -> Needs:
    """How a call would solve a graph on the host, for :meth:`Graph.estimate`."""
    check_graph(graph)
    check_method(method, METHODS, {})
    name = "peel" if method == "auto" else method
    term, flags = METHODS[name].memory, (True, False)
    if graph.has_rows:
        is_unread = arrays.is_one_number(graph._rows[1])  # rows of which only the size is known
        flags = (True, True) if is_unread else flags_of_rows(graph)
    return Needs(("rows",), name, term and partial(term, flags=flags), size_of(graph))
