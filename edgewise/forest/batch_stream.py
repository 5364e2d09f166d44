"""Spanning forests of edges that arrive in batches and are not kept: a forest at any time.

The edges are reduced to their forest when enough of them have been collected
(:mod:`~edgewise.forest.reduction`).  Of a batch, everything is checked before any edge is added.
"""

from __future__ import annotations

from os import PathLike
from time import perf_counter
from typing import Any

from edgewise.components.edge_stream import EdgeStream
from edgewise.components.streamed_graph import StreamedGraph
from edgewise.device import arrays
from edgewise.errors import GraphError, argument
from edgewise.forest.streamed import StreamedForest, StreamReducer, check_forest, edges_of, streamed_forest
from edgewise.ingest.edges import weights_like
from edgewise.workers import device_team


class ForestStream(EdgeStream):
    """The minimum spanning forest of edges that are added batch by batch and not kept.

    The first edges decide what the ids are: integers are vertex numbers; strings, or bytes, are numbered in
    order of first appearance, and are the ids of the result.  The first weights decide their type.

    Parameters
    ----------
    n_vertices : int, optional
        Number of vertices; all are in the result.  By default the stream grows to the largest number added.
        Not for strings.
    maximum : bool
        Find the forest of largest weight instead, as for scores, where more is nearer.
    device : str
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"``: the device that does the work.

    Raises
    ------
    OptionError
        ``n_vertices`` is not a whole number, or negative.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Notes
    -----
    Memory: up to five times as many edges as there are vertices are held (17 times on a GPU; four million at
    least), at about 60 bytes each; fewer where memory is scarce, down to half as many as there are vertices.
    Strings take, in addition, what they take in a :class:`~edgewise.ComponentsStream`.  A stream is not
    thread-safe.

    Examples
    --------
    >>> import edgewise as ew
    >>> stream = ew.ForestStream(maximum=True)
    >>> stream.add(["ann", "bob"], ["bob", "carl"], weights=[0.9, 0.4])
    >>> stream.add(["ann"], ["carl"], weights=[0.8])
    >>> forest = stream.result()
    >>> forest.edges.tolist(), forest.to_frame().to_pydict()["weight"]
    ([0, 2], [0.9, 0.8])
    """

    _FORMAT_NAME = "forest"

    def __init__(self, n_vertices: int | None = None, *, maximum: bool = False, device: str = "cpu"):
        super().__init__(n_vertices)
        self._reducer = StreamReducer(arrays.resolve(device), maximum)
        self._reducer.grow_to(self._limit or 0)

    @property
    def n_vertices(self) -> int:
        """Number of vertices: as given, one more than the largest number added, or of distinct strings."""
        return self._reducer.count

    @property
    def maximum(self) -> bool:
        """Whether it is the forest of largest weight."""
        return self._reducer.maximum

    def add(self, sources: Any, targets: Any, *, weights: Any) -> None:
        """Add a batch of edges.

        Parameters
        ----------
        sources, targets : (m,) arrays of integers or strings
            Vertex numbers or strings, in any form that :meth:`Graph.from_edges` takes.
        weights : (m,) array of integers or floats
            None of them NaN, of a type that the type of the first weights holds exactly.

        Raises
        ------
        GraphError
            The columns differ in length or kind, a value is no id, or a weight is NaN or of another type than
            those before.  No edge of the batch is added then.
        OptionError
            There are strings, and ``n_vertices`` was given.
        OutOfMemoryError
            There is not enough memory for vertices up to the largest number.

        Examples
        --------
        >>> import edgewise as ew
        >>> stream = ew.ForestStream()
        >>> stream.add([0], [1], weights=None)
        Traceback (most recent call last):
        edgewise.errors.GraphError: the edges have no weights; give weights=
        """
        columns = self._columns_of(sources, targets)
        weights = _weights_of(weights, columns.left)
        weights = self._reducer.check(weights, lambda edge: f"edge {edge} of the batch")
        if columns.kind is None:
            return
        start = perf_counter()
        for pair, largest, row in self._numbered(columns):
            part = weights[row : row + len(pair[0])]
            self._reducer.add(pair, part, self._edges + row, largest)
        self._kind = columns.kind
        self._edges += len(columns.left)
        self._seconds += perf_counter() - start

    def result(self) -> StreamedForest:
        """Return the forest of all edges added so far; more can be added later.

        Returns
        -------
        SpanningForest
            On the device of the stream, equal to that of a graph of all edges.  Its graph has the vertices,
            their ids if these are strings, and the number of edges, but not the edges: to verify, pass a
            graph that has them.
        """
        start = perf_counter()
        found = self._reducer.found()
        where = self._reducer.device
        graph = StreamedGraph(self.n_vertices, self._edges, where, self._ids())
        seconds = self._seconds + perf_counter() - start
        how = self._reducer.method, self.maximum
        return streamed_forest(graph, how, seconds, found, device_team(where).names)

    def save(self, path: str | PathLike) -> None:
        """Write the stream to a file, from which :meth:`load` continues; more can be added to this one too.

        Parameters
        ----------
        path : path-like
            An ``.npz`` file, which is written whole or not at all.

        Raises
        ------
        FileError
            The file cannot be written.

        Examples
        --------
        >>> import edgewise as ew, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "monday.npz")
        >>> stream = ew.ForestStream()
        >>> stream.add([0, 1], [1, 2], weights=[3, 5])
        >>> stream.save(path)
        >>> stream = ew.ForestStream.load(path)
        >>> stream.add([0], [2], weights=[4])
        >>> stream.result().edges.tolist()
        [0, 2]
        """
        self._save(path, self._reducer.state(), maximum=self.maximum)

    @classmethod
    def load(cls, path: str | PathLike, *, device: str = "cpu") -> ForestStream:
        """Return a stream that continues from a file of :meth:`save`.

        Parameters
        ----------
        path : path-like
            The file, which may have been saved on another device.
        device : str
            As for the stream itself.

        Raises
        ------
        FileError
            The file is not there, damaged, or of another version of edgewise.
        DeviceError, OutOfMemoryError
            The device is not there, or too small.
        """

        def restored(facts, state):
            forest, labels = edges_of(state), state["labels"]
            check_forest(forest, labels)
            if len(forest.positions) and int(forest.positions[-1]) >= facts["edges"]:
                raise ValueError("an edge that was not added")
            stream = cls(facts["limit"], maximum=bool(facts["maximum"]), device=device)
            if facts["kind"] is not None:
                stream._reducer.continue_from(forest, labels)
            return stream

        return cls._load(path, restored)


def _weights_of(weights, beside):
    """The weights of a batch, of the types that a graph has."""
    if weights is None:
        raise GraphError(f"the edges have no weights; give {argument('weights')}")
    if hasattr(beside, "dtype") and not isinstance(beside, list):
        return weights_like(weights, beside)
    import numpy as np

    return weights_like(weights, np.empty(len(beside), np.uint8))
