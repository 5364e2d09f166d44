"""All pairs shortest paths: distances from every vertex to every vertex.

A method is prepared for the adjacency of a graph: ``run(adjacency)`` returns ``solve(sources, result)``,
which writes the distances from each of the (k,) int64 ``sources`` to the flat (k * n,) array ``result``, row
after row, and returns whether a distance was too large for its type.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from edgewise.device import arrays
from edgewise.front import reporter
from edgewise.graph import Graph
from edgewise.method import Driver, check_graph, check_method, check_one_or_several, worker_names
from edgewise.needs import Needs, size_of
from edgewise.paths.apsp.driver import Job, Request
from edgewise.paths.apsp.result import AllPairs
from edgewise.paths.apsp.search import choose, memory_needed, rows_of_a_block
from edgewise.paths.method import PathMethod
from edgewise.weights import WeightOptions, weighted_front

__all__ = ["METHODS", "AllPairs", "all_pairs_shortest_paths"]


METHODS = {
    "floyd-warshall-simple": PathMethod(
        Driver("edgewise.paths.apsp.floyd_warshall:floyd_warshall_simple"),
        "a loop over all pairs for every pivot",
        "Fusi; Harish and Narayanan 2007",
        weights="any",
        full_matrix=True,
        baseline=True,
    ),
    "floyd-warshall-rows": PathMethod(
        Driver("edgewise.paths.apsp.floyd_warshall:floyd_warshall_rows"),
        "a loop over all rows for every pivot",
        "Fusi; Harish and Narayanan 2007",
        weights="any",
        full_matrix=True,
        baseline=True,
    ),
    "floyd-warshall": PathMethod(
        Driver("edgewise.paths.apsp.floyd_warshall:floyd_warshall"),
        "the same in blocks that stay in caches and registers",
        "Venkataraman et al. 2003; Katz and Kider 2008",
        weights="any",
        memory=lambda size: 0,  # beside the matrix
        full_matrix=True,
    ),
    "sssp": PathMethod(
        Driver("edgewise.paths.apsp.many_sources:sssp"),
        "a search from every source, a vector of sources at a time",
        "Fusi; after Then et al. 2014",
        weights="not negative",
        memory=lambda size: 70 * size.threads * size.vertices,  # distances of 8 or 16 sources, and flags
    ),
    "multi-source": PathMethod(
        Driver("edgewise.paths.apsp.many_sources:multi_source"),
        "breadth-first search, 64 sources at a time",
        "Then et al. 2014",
        devices=("cpu",),
        memory=lambda size: 290 * size.threads * size.vertices,  # levels and three words for 64 sources
    ),
    "phast": PathMethod(
        Driver("edgewise.paths.hierarchy.phast:all_pairs"),
        "up a contraction hierarchy and down all of it, a vector of sources at a time",
        "Delling et al. 2011",
        weights="not negative",
        memory=lambda size: 270 * size.threads * size.vertices,  # distances of a vector, and places
        by_routes=True,
    ),
    "johnson": PathMethod(
        Driver("edgewise.paths.apsp.johnson:johnson"),
        "potentials make weights non-negative, then sssp",
        "Johnson 1977",
        weights="any",
    ),
}


class AllPairsOptions(WeightOptions, total=False):
    """Options of :func:`all_pairs_shortest_paths`: a client, and those of every public function."""

    client: Any


@weighted_front
def all_pairs_shortest_paths(
    graph: Graph,
    *,
    sources: Sequence | None = None,
    method: str = "auto",
    device: str | None = None,
    devices: str | Sequence[str] | None = None,
    dtype: Literal["int32", "int64", "float32", "float64"] | None = None,
    output: str | Path | None = None,
    **options: Unpack[AllPairsOptions],
) -> AllPairs:
    """Compute the distances from every vertex, or from chosen ones, to every vertex.

    Parameters
    ----------
    graph : Graph
        With or without weights; without them every edge counts one, and infinite weights are no edges.  Edges
        of a directed graph lead one way.
    sources : sequence of ids, optional
        The rows that are wanted; all vertices by default.  ``sssp``, ``multi-source`` and ``johnson`` search
        from these vertices only.  ``floyd-warshall`` and its kin compute the whole matrix
        and return rows of it: for one source they take as much time and memory as for all.
    method : str
        A name in ``METHODS``, or ``"auto"``: ``phast`` for a graph that is prepared for routes
        (:meth:`Graph.prepare`), else chosen by size, density and weights.
    device : str, optional
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default the device of
        the graph.
    devices : str or list of str, optional
        Several devices that share the sources, or the matrix: ``"all"`` (every GPU), or such as
        ``["cuda:0", "cuda:1"]``.  The distances are then put together on the host.
    dtype : {'int32', 'int64', 'float32', 'float64'}, optional
        Type of the distances; by default that of the weights, or a wider one where a distance needs it.
    output : path, optional
        File for distances that are too many for memory: a NumPy file (``.npy``), or a Zarr array (``.zarr``,
        needs the package zarr).  It is written block by block under a hidden name beside it; an interrupted
        run continues after the last block when it is run again.
    client : distributed.Client or concurrent.futures.Executor, optional
        Its workers share the sources, each with its own copy of the graph.  The distances are those of one
        process by the same method; ``"auto"`` takes none that keeps the whole matrix.

    Returns
    -------
    AllPairs
        Its ``distances`` are a (k, n_vertices) matrix with one row for each source.

    Raises
    ------
    GraphError
        An unknown source, a weight that is NaN or minus infinity, a negative cycle, distances too large for
        any type.
    OptionError
        An unknown method or output; a method that does not take the weights or does not run on the device;
        sources that are a table.
    DeviceError, OutOfMemoryError
        The device is not there, or the matrix does not fit.
    FileError
        The output cannot be written, or an interrupted run was of another job.
    WorkerError
        The workers of ``client`` cannot take part, have another version of edgewise, or were lost.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "a"], weights=[1, 2, 5])
    >>> result = ew.all_pairs_shortest_paths(graph)
    >>> result.distances.tolist()
    [[0, 1, 3], [1, 0, 2], [3, 2, 0]]
    >>> result.path("a", "c")
    ['a', 'b', 'c']
    """
    check_graph(graph)
    check_one_or_several(device, devices)
    check_method(method, METHODS, {})
    if (client := options.get("client")) is not None:
        from edgewise.paths.apsp.by_workers import WorkerJob, check_places, without_hierarchy

        check_places(device, devices)
        request = Request(method, sources, dtype, ("cpu",), output, reporter())
        return WorkerJob(without_hierarchy(METHODS, method), graph, request, client).run()
    if devices is None:
        names = worker_names(graph.device if device is None else arrays.resolve(device))
    else:
        from edgewise.workers import device_team

        names = device_team(devices).names
    return Job(METHODS, graph, Request(method, sources, dtype, names, output, reporter())).run()


def needs(graph, *, sources=None, method="auto", dtype=None, output=None, **options) -> Needs:
    """How a call would search a graph on the host, for :meth:`Graph.estimate`: the matrix, or a block of it.

    Weights are not read, so none counts as negative.
    """
    check_graph(graph)
    check_method(method, METHODS, {})
    size, height = size_of(graph), graph.n_vertices if sources is None else len(sources)
    if method == "auto":
        everything = 2 * height > graph.n_vertices
        method = choose(size.vertices, size.entries, "cpu", size.weight > 0, False, everything)
    kind = np.dtype(dtype or (graph.csr_weights.dtype if size.weight and graph.has_rows else np.int32))
    kind = kind if dtype or graph.has_rows or not size.weight else graph.weights.dtype
    rows = height if output is None else min(height, rows_of_a_block(height, size.vertices, kind))
    in_place = sources is None and rows == size.vertices
    matrix = memory_needed(
        METHODS[method].full_matrix, size.vertices, rows, kind.itemsize, ("cpu",), in_place
    )["cpu"]
    own = METHODS[method].memory
    return Needs(("rows",), method, None if own is None else lambda size: matrix + own(size), size)
