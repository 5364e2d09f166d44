"""The result of connected components.

A component's vertices are counted at its root, by all threads of a GPU or, if they are many, by all cores
(:mod:`~edgewise.components.sizes`), into numbers no wider than labels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from edgewise import tuning
from edgewise.cached_property import cached_property
from edgewise.components.sizes import ComponentSizes
from edgewise.components.threshold_limits import is_reached
from edgewise.device import arrays
from edgewise.errors import OptionError
from edgewise.index_type import as_labels
from edgewise.method import is_number
from edgewise.result import Result, cached_array, check_column, counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow

    from edgewise.components.cluster_table import ClusterTable
    from edgewise.ingest.frames import Frame, Kind

#: What a cluster is called; see :meth:`Components.to_frame`.
Name = Literal["first", "min", "row"]


class ClusterResult(Result):
    """Base of results with clusters: their table is made block by block, with names by a rule.

    A class derived from it implements :meth:`table`.
    """

    def table(self, name: Name | None = None, *, min_size: int = 1) -> ClusterTable:
        """Return the table of :meth:`to_frame`, which can be written block by block.

        Parameters
        ----------
        name, min_size
            As for :meth:`to_frame`.
        """
        raise NotImplementedError

    def to_reader(self, name: Name | None = None, *, min_size: int = 1) -> pyarrow.RecordBatchReader:
        """Return the table of :meth:`to_frame` as a reader, which makes its batches when they are read.

        Parameters
        ----------
        name, min_size
            As for :meth:`to_frame`.
        """
        return self.table(name, min_size=min_size).to_reader()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table of :meth:`to_frame` for any library that takes Arrow streams."""
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def write(self, path: str | Path, name: Name | None = None, *, min_size: int = 1) -> None:
        """Write the table of :meth:`to_frame` to a Parquet, CSV or Arrow file, whole or not at all.

        Parameters
        ----------
        path : path-like
        name, min_size
            As for :meth:`to_frame`.

        Raises
        ------
        FileError
            The suffix is unknown, or the file cannot be written.
        """
        from edgewise.files import by_format

        by_format.write(self.to_reader(name, min_size=min_size), path)

    def _arrow(self, rows=None):
        table = self.table()
        return table.to_frame() if rows is None else table.head(rows)


@dataclass(frozen=True, eq=False, repr=False)
class Components(ClusterResult):
    """Connected components of a graph.

    ``len(result)`` is their number, ``result[0]`` are the ids in the first one, ``for ids in result`` goes
    over all, and ``id in result`` tells whether there is a vertex with that id.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`; ``seconds`` include the merge if several devices took part.
    merge : str or None
        How the labels of several devices were merged; ``None`` for one device.
    threshold : number or None
        The weight from which on edges of the graph count, if not all of them do.
    maximum : bool
        Whether large weights are strong, so that a threshold is the least weight rather than the largest.
    """

    _labels: Any
    merge: str | None = None
    threshold: Any = field(default=None, kw_only=True)
    maximum: bool = field(default=True, kw_only=True)

    def __len__(self) -> int:
        """Number of components, as :attr:`count`."""
        return self.count

    def __bool__(self) -> bool:
        return True  # also without components

    def __contains__(self, id: Any) -> bool:
        return id in self.graph

    # With __iter__, pandas.DataFrame(result) would be a table of the members, rather than an error.  Python
    # iterates by __getitem__, which type checkers do not know.
    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[np.ndarray | pyarrow.Array]: ...

    def __getitem__(self, number: int | np.integer) -> np.ndarray | pyarrow.Array:
        """The ids in a component, in vertex order; the components are in the order of the roots."""
        if not is_number(number, whole=True):
            raise TypeError(f"components are numbered by integers, not by {type(number).__name__}")
        if not -self.count <= number < self.count:
            raise IndexError(f"there is no component {number}; there are {self.count:,}")
        order, stops = self._grouped
        number = range(self.count)[number]
        return self.graph.ids_of(order[stops[number - 1] if number else 0 : stops[number]])

    @cached_property
    def _grouped(self):
        """The vertices by components, and where each component ends, on the host."""
        order = np.argsort(arrays.move(self._labels, "cpu"), kind="stable")
        return order, np.cumsum(arrays.move(self.sizes(), "cpu"))

    @property
    def _naming(self) -> Name:
        """What clusters are called where a name is needed."""
        return "first"

    @property
    def labels(self) -> np.ndarray:
        """Smallest vertex number of each vertex's component: (n_vertices,) int32 or int64 array."""
        return as_labels(self._labels)

    @cached_property
    def _gpu_sizes(self):
        """Roots and sizes on a GPU; ``None`` on the host."""
        return None if arrays.device_of(self._labels) == "cpu" else ComponentSizes(self._labels)

    @cached_array
    def _roots_and_sizes(self):
        with arrays.guard(arrays.device_of(self._labels)):
            if self._gpu_sizes is None:
                return component_sizes(self.labels)
            roots, sizes = self._gpu_sizes.members
            return roots.view(np.int32) if self.labels.dtype == np.int32 else roots.astype(np.int64), sizes

    @cached_property
    def count(self) -> int:
        """Number of components."""
        if self._gpu_sizes is None:
            return len(self._roots_and_sizes[0])
        with arrays.guard(arrays.device_of(self._labels)):
            return self._gpu_sizes.count

    @property
    def roots(self) -> np.ndarray:
        """Smallest vertex number of each component, ascending: (count,) array."""
        return self._roots_and_sizes[0]

    def sizes(self) -> np.ndarray:
        """Number of vertices of each component, in the order of :attr:`roots`: (count,) int64 array."""
        return self._roots_and_sizes[1]

    @property
    def largest(self) -> int:
        """Size of the largest component; 0 for the empty graph."""
        if self._gpu_sizes is None:
            return int(self.sizes().max()) if self.count else 0
        with arrays.guard(arrays.device_of(self._labels)):
            return self._gpu_sizes.largest

    def to_frame(self, name: Name | None = None, *, min_size: int = 1, kind: Kind | None = None) -> Frame:
        """Return a table with one row per vertex.

        Parameters
        ----------
        name : {'first', 'min', 'row'}, optional
            What a cluster is called: the id of the member that comes first, the least id of a member
            (strings by code points), or the row of the first member, counted from 0.  Only ``'min'`` is the
            same for every order of the input.  By default ``'first'`` if the graph has records.
        min_size : int
            Leave out the rows of clusters with fewer members.
        kind : {'arrow', 'pandas', 'polars'}, optional
            Library of the table; by default that of the table that the graph was made of
            (:meth:`Graph.from_frame`), otherwise ``'arrow'``.

        Returns
        -------
        pyarrow.Table, pandas.DataFrame or polars.DataFrame
            If the graph has no records and no name is given: ``id`` and ``component``, the number of the
            cluster's first vertex.  Otherwise the columns of the records, in their order, or ``id`` (in
            ascending order if the name is ``'min'``), then ``cluster``, and ``size``: the number of members,
            int64.

        Raises
        ------
        OptionError
            The name or the kind is unknown, or the size is not a whole number from 1 on.
        GraphError
            The records have changed, or have a column ``cluster`` or ``size``.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["d", "b", "c"], ["a", "e", "c"])
        >>> ew.connected_components(graph).to_frame("min", min_size=2).to_pydict()
        {'id': ['a', 'b', 'd', 'e'], 'cluster': ['a', 'b', 'a', 'b'], 'size': [2, 2, 2, 2]}
        """
        return self._framed(self.table(name, min_size=min_size).to_frame(), kind)

    def table(self, name: Name | None = None, *, min_size: int = 1) -> ClusterTable:
        """Return the table of :meth:`to_frame`, which can be written block by block.

        Parameters
        ----------
        name, min_size
            As for :meth:`to_frame`.
        """
        from edgewise.components.cluster_table import ClusterTable

        return ClusterTable(self, name, min_size)

    def top(self, count: int = 10, name: Name | None = None) -> Frame:
        """Return the largest clusters: columns ``cluster`` and ``size``, largest first.

        Parameters
        ----------
        count : int
            Number of clusters; of equal sizes the first ones come first.
        name : {'first', 'min', 'row'}, optional
            What a cluster is called, as for :meth:`to_frame`; ``'first'`` by default.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b", "d"], ["b", "c", "e"])
        >>> ew.connected_components(graph).top(1).to_pydict()
        {'cluster': ['a'], 'size': [3]}
        """
        from edgewise.components.cluster_table import top

        return self._framed(top(self, count, name or self._naming))

    def size_counts(self) -> Frame:
        """Return how many clusters have each size: columns ``size``, ascending, and ``clusters``.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "c", "d"], ["b", "d", "e"])
        >>> ew.connected_components(graph).size_counts().to_pydict()
        {'size': [2, 3], 'clusters': [1, 1]}
        """
        from edgewise.components.cluster_table import size_counts

        return self._framed(size_counts(self))

    def cohesion(self, count: int | None = None, name: Name | None = None, *, min_size: int = 2) -> Frame:
        """Return how well each cluster holds together, those first that one wrong pair may part the most.

        Parameters
        ----------
        count : int, optional
            Number of clusters; all by default.
        name : {'first', 'min', 'row'}, optional
            What a cluster is called, as for :meth:`to_frame`; ``'first'`` by default.
        min_size : int
            Leave out clusters with fewer members.

        Returns
        -------
        pyarrow.Table, pandas.DataFrame or polars.DataFrame
            ``cluster`` and ``size``; ``pairs``, the number of different pairs between its members that count;
            ``density``, their share of all that are possible; ``weakest``, if there are weights: the last
            threshold at which it is one cluster; ``bridges``, the number of pairs without any of which it
            falls apart; and ``parted``, the most pairs of members that one of these parts.

        Examples
        --------
        >>> import edgewise as ew
        >>> ends = ["a", "b", "c", "c", "d", "d", "x"], ["b", "c", "a", "d", "e", "f", "y"]
        >>> graph = ew.Graph.from_edges(*ends, weights=[0.9, 0.8, 0.7, 0.6, 0.9, 0.9, 0.5])
        >>> clusters = ew.connected_components(graph)
        >>> clusters.cohesion().to_pylist()[0]
        {'cluster': 'a', 'size': 6, 'pairs': 6, 'density': 0.4, 'weakest': 0.6, 'bridges': 3, 'parted': 9}
        """
        from edgewise.components.cohesion import cohesion

        return self._framed(cohesion(self, count, name or self._naming, min_size))

    def review(self, count: int | None = None, name: Name | None = None) -> Frame:
        """Return the pairs to look at first: those that alone hold the two parts of a cluster together.

        Parameters
        ----------
        count : int, optional
            Number of pairs; all by default.
        name : {'first', 'min', 'row'}, optional
            What a cluster is called, as for :meth:`to_frame`; ``'first'`` by default.

        Returns
        -------
        pyarrow.Table, pandas.DataFrame or polars.DataFrame
            ``source``, ``target`` and ``weight``, if there are weights, of each bridge; ``cluster`` and
            ``size``; and ``parted``: how many pairs of members are in one cluster by this pair alone.  Those
            that part the most come first, of equal ones the weakest.

        Examples
        --------
        >>> import edgewise as ew
        >>> ends = ["a", "b", "c", "c", "d", "d", "x"], ["b", "c", "a", "d", "e", "f", "y"]
        >>> graph = ew.Graph.from_edges(*ends, weights=[0.9, 0.8, 0.7, 0.6, 0.9, 0.9, 0.5])
        >>> ew.connected_components(graph).review(1).to_pylist()
        [{'source': 'c', 'target': 'd', 'weight': 0.6, 'cluster': 'a', 'size': 6, 'parted': 9}]
        """
        from edgewise.components.cohesion import review

        return self._framed(review(self, count, name or self._naming))

    def _counting_pairs(self):
        """Ends and weights, if there are any, of the pairs that count: (m,) arrays on the host."""
        graph = self.graph.to("cpu")
        if self.threshold is None or graph.weights is None:
            return graph.sources, graph.targets, graph.weights
        counts = is_reached(self.threshold, graph.weights, at_most=not self.maximum)
        return graph.sources[counts], graph.targets[counts], graph.weights[counts]

    def members(self, id: Any) -> np.ndarray | pyarrow.Array:
        """Return the ids in the cluster of an id, in vertex order: an array like :attr:`Graph.ids`.

        Parameters
        ----------
        id : id
            As in the input; a vertex number if the graph has no ids.

        Raises
        ------
        GraphError
            The id is not in the graph.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "c"], ["b", "d"])
        >>> ew.connected_components(graph).members("d").tolist()
        ['c', 'd']
        """
        labels = self.labels
        vertex = int(self.graph.vertices_of([id])[0])
        with arrays.guard(arrays.device_of(labels)):
            same = arrays.namespace(labels).flatnonzero(labels == labels[vertex])
        return self.graph.ids_of(same)

    def component_of(self, ids: Any, name: Name | None = None) -> Any:
        """Return the name of the cluster of an id, or the names of those of several ids.

        Parameters
        ----------
        ids : id or (k,) array-like of ids
            As in the input; vertex numbers if the graph has no ids.
        name : {'first', 'min', 'row'}, optional
            What a cluster is called, as for :meth:`to_frame`; ``'first'`` by default.

        Returns
        -------
        str, int or (k,) array
            The name for one id; for several a NumPy array of numbers, or an Arrow array of strings.

        Raises
        ------
        GraphError
            An id is not in the graph.
        OptionError
            The name is unknown.

        Examples
        --------
        >>> import edgewise as ew
        >>> result = ew.connected_components(ew.Graph.from_edges(["a", "c"], ["b", "d"]))
        >>> result.component_of("d"), result.component_of(["b", "d", "a"]).tolist()
        ('c', ['a', 'c', 'a'])
        """
        from pyarrow.types import is_integer

        from edgewise.ingest.ids import is_one_id

        table, is_one = self.table(name or self._naming), is_one_id(self.graph, ids)
        names = table.names_of(table.labels[self.graph.vertices_of([ids] if is_one else ids)])
        if is_one:
            return names[0].as_py()
        return names.to_numpy() if is_integer(names.type) else names

    def to_dict(self, column: str | None = None) -> dict[Any, Any]:
        """Return the name of the cluster of every id: the id of the member that comes first.

        Parameters
        ----------
        column : {'cluster', 'component', 'size'}, optional
            What the values are: the names, by default; the numbers of the first members; or the sizes.

        Raises
        ------
        OptionError
            There is no such column.

        Examples
        --------
        >>> import edgewise as ew
        >>> result = ew.connected_components(ew.Graph.from_edges(["a", "c"], ["b", "d"]))
        >>> result.to_dict()
        {'a': 'a', 'b': 'a', 'c': 'c', 'd': 'c'}
        >>> result.to_dict("component")
        {'a': 0, 'b': 0, 'c': 2, 'd': 2}
        """
        check_column(column, ("cluster", "component", "size"))
        table = self.table(self._naming)
        ids = self.graph.ids_of(np.arange(self.graph.n_vertices)).tolist()
        if column == "size":
            return dict(zip(ids, table.sizes[table.labels].tolist()))
        names = table.labels if column == "component" else table.names_of(table.labels)
        return dict(zip(ids, names.tolist()))

    def sets(self, *, min_size: int = 1) -> list[set]:
        """Return the clusters as sets of ids, in the order of their first members.

        Parameters
        ----------
        min_size : int
            Leave out clusters with fewer members.

        Raises
        ------
        OptionError
            The size is not a whole number from 1 on.

        Examples
        --------
        >>> import edgewise as ew
        >>> result = ew.connected_components(ew.Graph.from_edges(["a", "c", "d"], ["b", "d", "d"]))
        >>> [sorted(cluster) for cluster in result.sets()]
        [['a', 'b'], ['c', 'd']]
        """
        from edgewise.components.cluster_table import sets

        return sets(self, min_size)

    def _answer(self):
        clusters, vertices = counted(self.count, "cluster"), counted(self.graph.n_vertices, "vertex")
        return f"{clusters} of {vertices}, largest {self.largest:,}"

    def _columns(self):
        return {"component": self.labels}

    def _verify(self, graph):
        from edgewise.components.certificate import verify

        verify(graph, self._labels)

    def _certificate(self):
        if type(self) is not Components or self.threshold is not None:
            problem = "clusters that not all edges of the graph join have no certificate"
            raise OptionError(f"{problem}; leave the other edges out of the graph first")
        from edgewise.components.certificate import prove

        return prove(self.graph, self.labels)

    def _plot(self, path):
        from edgewise import plots

        labels = plots.Labels(self._title(), "vertices of a component", "components")
        plots.spans(self.on_host().sizes(), path, labels)

    def _title(self):
        if self.count == 0:
            return "no components: the graph is empty"
        noun = "component" if self.count == 1 else "components"
        share = f"{self.largest / self.graph.n_vertices:.1%} of the vertices"
        return f"{self.count:,} {noun}, the largest of {self.largest:,} ({share})"


def component_sizes(labels):
    """Roots of the components, ascending, and the int64 number of vertices of each, on their device."""
    if _are_many(labels):
        return ComponentSizes(labels).members
    roots = _roots_of_few(labels)
    sizes = np.bincount(labels, minlength=len(labels))[roots]
    return roots.astype(labels.dtype), sizes.astype(np.int64, copy=False)


def component_count(labels) -> int:
    """How many components there are."""
    return ComponentSizes(labels).count if _are_many(labels) else len(_roots_of_few(labels))


def _are_many(labels):
    return arrays.device_of(labels) != "cpu" or len(labels) >= tuning.CPU.components_counted


def _roots_of_few(labels):
    return np.flatnonzero(labels == np.arange(len(labels), dtype=labels.dtype))
