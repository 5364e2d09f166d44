"""Distances from some vertices to others, as a table.

Of a graph that is prepared for routes (:meth:`Graph.prepare`) the table comes from sweeps that are restricted
to the ranks of its hierarchy above the targets (:mod:`edgewise.paths.hierarchy.restriction`).  Otherwise the
distances from each source to all vertices are searched for, block by block, and the columns of the targets
are kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError, VerificationError, argument
from edgewise.files import checksum
from edgewise.front import reporter
from edgewise.graph import Graph
from edgewise.method import check_graph, check_method, worker_names
from edgewise.paths.apsp import METHODS
from edgewise.paths.apsp.driver import Job, Request
from edgewise.paths.apsp.result import DistanceMatrix
from edgewise.paths.apsp.search import memory_needed, rows_of_a_block
from edgewise.paths.method import flat
from edgewise.paths.sssp.weights import spread_in
from edgewise.result import counted
from edgewise.weights import WeightOptions, weighted_front

if TYPE_CHECKING:
    from edgewise.ingest.frames import Frame, Kind

#: Sources whose rows are verified.
SAMPLE = 8
#: Relative error of sums of floats that are added in another order.
TOLERANCE = {"float32": 1e-4, "float64": 1e-10}


@dataclass(frozen=True, eq=False, repr=False)
class DistanceTable(DistanceMatrix):
    """Distances from some vertices to others.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`; the time includes writing if there is an output.
    sources, targets : (k,) and (t,) int64 array
        Vertex number of each row's source and of each column's target, as they were given, on the host.
    weighted : bool
        Whether the weights of edges count; each edge counts one otherwise.
    distances : (k, t) array
        On the device of the graph, or that of a file, which is read when it is indexed.  int32 where edges
        count one, else in the type of the weights, or a wider one where that is too narrow.  Where no path
        leads: the largest value of an integer type, or infinity.
    """

    sources: np.ndarray
    targets: np.ndarray
    weighted: bool
    distances: np.ndarray

    @cached_property
    def _places(self):
        """The row of each source, and the column of each target, by vertex numbers."""
        return tuple({int(one): at for at, one in enumerate(ends)} for ends in (self.sources, self.targets))

    def distance(self, source: Any, target: Any) -> int | float:
        """Distance between two ids of the table; infinity where no path leads.

        Raises
        ------
        GraphError
            There is no such vertex, or it is not in the table.
        """
        row, column = (
            self._place_of(one, places, name)
            for one, places, name in zip((source, target), self._places, ("sources", "targets"), strict=True)
        )
        found = arrays.move(self.distances[row], "cpu")[column].item()
        return math.inf if found == self.unreached else found

    def _place_of(self, one, places, name):
        vertex = int(self.graph.vertices_of([one])[0])
        if vertex not in places:
            raise GraphError(f"{one!r} is not among the {name} of the table; add it to {argument(name)}")
        return places[vertex]

    def to_frame(self, *, kind: Kind | None = None, wide: bool = False) -> Frame:
        """Return a table with one row for each pair that a path joins, or with one for each source.

        Parameters
        ----------
        kind : {'arrow', 'pandas', 'polars'}, optional
            Library of the table, as for :meth:`edgewise.result.Result.to_frame`.
        wide : bool
            One row for each source, with a column for each target, whose name is its id; no value where no
            path leads.

        Returns
        -------
        pyarrow.Table, pandas.DataFrame or polars.DataFrame
            Columns ``source`` and ``target`` (ids as they came in) and ``distance``, source by source; or
            ``source`` and the targets.

        Raises
        ------
        OptionError
            Targets that are given twice have no columns of their own.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b"], ["b", "c"], weights=[5, 2])
        >>> table = ew.distance_table(graph, ["a", "b"], ["c"])
        >>> table.to_frame().to_pydict()
        {'source': ['a', 'b'], 'target': ['c', 'c'], 'distance': [7, 2]}
        >>> table.to_frame(wide=True).to_pydict()
        {'source': ['a', 'b'], 'c': [7, 2]}
        """
        return self._framed(self._wide(), kind) if wide else super().to_frame(kind=kind)

    def _wide(self):
        import pyarrow as pa

        from edgewise.ingest.arrow import arrow_array

        names = [str(one) for one in arrow_array(self.graph.ids_of(self.targets)).to_pylist()]
        if len(set(names) | {"source"}) <= len(names):
            raise OptionError(
                f"two columns would have one name; give every target once, or leave out {argument('wide')}"
            )
        distances = arrays.move(self.distances[:], "cpu")
        missing = distances == self.unreached
        columns = [pa.array(distances[:, at], mask=missing[:, at]) for at in range(len(names))]
        sources = arrow_array(self.graph.ids_of(self.sources))
        return pa.table([sources, *columns], names=["source", *names])

    def _targets_at(self, columns):
        return self.targets[columns]

    def _answer(self):
        sources, targets = counted(len(self.sources), "source"), counted(len(self.targets), "target")
        return f"distances from {sources} to {targets}"

    def _certificate(self):
        from edgewise.paths.route_certificate import prove_table

        ends = self.sources, self.targets
        return prove_table(self.graph, *ends, self.distances[:], weighted=self.weighted)

    def _verify(self, graph):
        """Compare the rows of a sample with verified searches from their sources."""
        from edgewise.paths.bfs import bfs
        from edgewise.paths.sssp import shortest_paths

        graph, kind, height = graph.to("cpu"), self.distances.dtype, len(self.sources)
        search: Any = bfs
        if self.weighted:
            signed = spread_in(graph).least < 0
            other = "bellman-ford" if signed else "delta-stepping"
            search = partial(shortest_paths, dtype=cast("Any", kind.name), method=other)
        rows = np.unique(np.linspace(0, height - 1, min(height, SAMPLE), dtype=np.int64))
        for row in rows:
            source = graph.ids_of(self.sources[row : row + 1])
            found = search(graph, source).verify()
            right = found.distances[self.targets]
            right = np.where(right == found.unreached, self.unreached, right)
            held = arrays.move(self.distances[row], "cpu")
            wrong = ~np.isclose(held, right, rtol=TOLERANCE.get(kind.name, 0), atol=0)
            if wrong.any():
                at = int(wrong.argmax())
                target = graph.ids_of(self.targets[at : at + 1]).tolist()[0]
                raise VerificationError(
                    f"the distance from {source.tolist()[0]!r} to {target!r} is {held[at]} in the table, but "
                    f"a search gives {right[at]}"
                )


class TableJob(Job):
    """A request for the distances to some vertices, ``targets`` (t,) int64."""

    def __init__(self, methods, graph, request, targets):
        self.targets = targets
        super().__init__(methods, graph, request)
        if self.search.method.by_routes:
            self.search.prepare = partial(self.search.method.run, targets=targets)

    @property
    def shape(self):
        """Rows and columns of the table."""
        return len(self.sources), len(self.targets)

    def _device_of_blocks(self, search):
        return search.graph.device

    def _memory_needed(self, full_matrix, dtype):
        """Bytes needed on each device: the table or a block of it, and the rows that are searched for."""
        (height, width), n, itemsize = self.shape, self.graph.n_vertices, np.dtype(dtype).itemsize
        device = self.graph.device
        kept = height if self.output is None else min(height, self.rows_at_a_time(dtype))
        is_restricted = self.search and self.search.method.by_routes
        rows = 0 if is_restricted else min(kept, rows_of_a_block(kept, n, dtype))
        needed = memory_needed(full_matrix, n, rows, itemsize, (device,))
        return {device: needed[device] + kept * width * itemsize}

    def _search(self, search, block, rows, values):
        if search.method.by_routes:
            return super()._search(search, block, rows, values)
        sources, device = self.sources[block * rows : (block + 1) * rows], self.device
        n = self.graph.n_vertices
        targets, width = arrays.move(self.targets, device), len(self.targets)
        some = rows_of_a_block(len(sources), n, search.dtype)
        whole = arrays.empty(min(some, len(sources)) * n, search.dtype, device)
        with arrays.guard(device), np.errstate(over="ignore"):
            for first in range(0, len(sources), some):
                part = sources[first : first + some]
                search.into(part, whole[: len(part) * n])
                columns = whole[: len(part) * n].reshape(-1, n)[:, targets]
                values[first * width : (first + len(part)) * width] = columns.reshape(-1)

    def _facts(self):
        """What the distances depend on, for the journal of an output."""
        facts = super()._facts()
        return {**facts, "targets": checksum.of_bytes([np.ascontiguousarray(self.targets)])}


@weighted_front
def distance_table(
    graph: Graph,
    sources: Sequence,
    targets: Sequence | None = None,
    *,
    method: str = "auto",
    device: str | None = None,
    dtype: Literal["int32", "int64", "float32", "float64"] | None = None,
    output: str | Path | None = None,
    **options: Unpack[WeightOptions],
) -> DistanceTable:
    """Compute the distances from some vertices to others.

    A graph that many tables are asked of is prepared once, by ``graph.prepare("routes")``: then a table takes
    a small part of the time of searches from all its sources (Delling, Goldberg and Werneck 2011).

    Parameters
    ----------
    graph : Graph
        With or without weights; without them every edge counts one, and infinite weights are no edges.  Edges
        of a directed graph lead one way.
    sources, targets : sequence of ids
        The rows and the columns of the table, in this order, also if an id is given twice.  By default the
        targets are the sources.
    method : str
        A name in ``edgewise.paths.apsp.METHODS``, or ``"auto"``: ``phast`` for a graph that is prepared for
        routes, restricted to what leads to the targets; otherwise as for :func:`all_pairs_shortest_paths`.
    device : str, optional
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"`` (a GPU if there is one); by default the device of
        the graph.
    dtype : {'int32', 'int64', 'float32', 'float64'}, optional
        Type of the distances; by default that of the weights, or a wider one where a distance needs it.
    output : path, optional
        File for a table that is too large for memory, as for :func:`all_pairs_shortest_paths`: a NumPy file
        (``.npy``) or a Zarr array (``.zarr``), written block by block.

    Returns
    -------
    DistanceTable
        Its ``distances`` are a (k, t) matrix.  Integers are exact.  ``phast`` adds floats in another order
        than a search, so each distance may be off by a unit in the last place for every edge of its path.

    Raises
    ------
    GraphError
        An unknown vertex, a weight that is NaN or minus infinity, a negative cycle, distances too large for
        any type.
    OptionError
        An unknown method or output; a method that does not take the weights or does not run on the device;
        sources or targets that are a table.
    DeviceError, OutOfMemoryError
        The device is not there, or the table does not fit.
    FileError
        The output cannot be written, or an interrupted run was of another job.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "a"], weights=[1, 2, 5])
    >>> table = ew.distance_table(graph, ["a", "b"], ["c", "a"])
    >>> table.distances.tolist()
    [[3, 0], [2, 1]]
    >>> table.distance("a", "c")
    3
    """
    check_graph(graph)
    check_method(method, METHODS, {})
    names = worker_names(graph.device if device is None else arrays.resolve(device))
    ends = flat(sources, "sources", graph), flat(sources if targets is None else targets, "targets", graph)
    request, columns = Request(method, ends[0], dtype, names, output, reporter()), graph.vertices_of(ends[1])
    job = TableJob(METHODS, graph, request, columns)
    distances, seconds = job.solved()
    facts = job.sources, columns, job.search.weighted, distances
    return DistanceTable(job.graph, job.search.name, seconds, *facts, devices=job.names)
