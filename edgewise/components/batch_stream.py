"""Connected components of edges that arrive in batches, joined in one parent array and not kept.

Every batch is one phase of splicing unions; queries and results are phases of their own, since a find that
shortens paths concurrently with a splicing union would break it (ConnectIt, Dhulipala, Hong & Shun 2020,
section 3.5: phase-concurrent).  Finds here only read.
"""

from __future__ import annotations

from os import PathLike
from time import perf_counter
from typing import Any

import numpy as np

from edgewise.components.batch_columns import batch_columns, is_single
from edgewise.components.edge_stream import EdgeStream, unsigned
from edgewise.components.parents import Parents
from edgewise.components.result import Components
from edgewise.components.streamed_graph import StreamedGraph
from edgewise.device import arrays, device, each
from edgewise.errors import GraphError
from edgewise.ingest.id_types import is_tuple_type
from edgewise.ingest.ids import is_one_tuple
from edgewise.ingest.string_table import MISSING
from edgewise.workers import device_team


@device
def root(parent, vertex):
    """Root of a vertex, found without writing."""
    while parent[vertex] != vertex:
        vertex = parent[vertex]
    return vertex


@each
def query(index, parent, ones, others, answers):
    """Write whether two vertices are in one tree."""
    number = parent.dtype.type
    answers[index] = root(parent, number(ones[index])) == root(parent, number(others[index]))


class ComponentsStream(EdgeStream):
    """Connected components of edges that are added batch by batch and not kept.

    The first edges decide what the ids are: integers are vertex numbers; strings, or bytes, are numbered in
    order of first appearance, and are the ids of the result.

    Parameters
    ----------
    n_vertices : int, optional
        Number of vertices; all are in the result, while :func:`stream_components` takes it as a bound and
        returns ids that occur.  By default the stream grows to the largest number added; while the parent
        array doubles, this takes three times its memory.  Not for strings.
    device : str
        ``"cpu"``, ``"gpu"``, ``"cuda:1"`` or ``"auto"``: the device of the parents, which does the work.

    Raises
    ------
    OptionError
        ``n_vertices`` is not a whole number, or negative.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Notes
    -----
    Memory: 4 bytes per vertex (8 from 2**32 - 1 vertices on), whatever the number of edges.  Strings
    take, in addition, the bytes of the distinct ones and 15 to 26 bytes for each, on the host.  A stream is
    not thread-safe.

    Examples
    --------
    >>> import edgewise as ew
    >>> stream = ew.ComponentsStream(6)
    >>> stream.add([0, 1], [1, 2])
    >>> stream.connected(0, 2), stream.connected(0, 3)
    (True, False)
    >>> stream.add([2], [3])
    >>> stream.connected([0, 4], [3, 5]).tolist()
    [True, False]
    >>> stream.result().labels.tolist(), stream.edges
    ([0, 0, 0, 0, 4, 5], 3)
    >>> names = ew.ComponentsStream()
    >>> names.add(["ann", "bob"], ["bob", "eve"])
    >>> names.connected("ann", ["eve", "tom"]).tolist()
    [True, False]
    >>> names.result().labels.tolist(), list(names.result().graph)
    ([0, 0, 0], ['ann', 'bob', 'eve'])
    """

    _FORMAT_NAME = "stream"

    def __init__(self, n_vertices: int | None = None, *, device: str = "cpu"):
        super().__init__(n_vertices)
        self._parents = Parents(arrays.resolve(device), self._limit)

    @property
    def n_vertices(self) -> int:
        """Number of vertices: as given, one more than the largest number added, or of distinct strings."""
        return self._parents.count

    def add(self, sources: Any, targets: Any) -> None:
        """Join the endpoints of a batch of edges.

        Parameters
        ----------
        sources, targets : (m,) arrays of integers or strings
            Vertex numbers or strings, in any form that :meth:`Graph.from_edges` takes; a batch on another
            device than the stream is copied, from the host segment by segment.

        Raises
        ------
        GraphError
            The columns differ in length, hold other kinds of ids than those before, or a value is no id: it
            is null, or a number that is negative, not an integer, or not below ``n_vertices``.  No edge of
            the batch is joined then.
        OptionError
            There are strings, and ``n_vertices`` was given.
        OutOfMemoryError
            There is not enough memory for vertices up to the largest number.

        Examples
        --------
        >>> import edgewise as ew
        >>> stream = ew.ComponentsStream()
        >>> stream.add(["ann"], ["bob"])
        >>> stream.add([1], [2])
        Traceback (most recent call last):
        edgewise.errors.GraphError: sources are integers, and the ids so far are strings; convert them
        """
        columns = self._columns_of(sources, targets)
        if columns.kind is None:
            return
        start = perf_counter()
        for pair, largest, _ in self._numbered(columns):
            self._parents.add(pair, largest)
        self._kind = columns.kind
        self._edges += len(columns.left)
        self._seconds += perf_counter() - start

    def connected(self, u: Any, v: Any) -> Any:
        """Return whether vertices are in the same component.

        Parameters
        ----------
        u, v : int or str, or (k,) arrays of these
            A single id is compared with all of the other argument.  A number beyond those added, and a
            string that was not added, is a component of its own; with ``n_vertices``, such a number is an
            error.

        Returns
        -------
        bool, or (k,) bool array
            An array on the host, or on the GPU of the arguments.

        Raises
        ------
        GraphError
            A value is no id, or of another kind than those added, or the arrays differ in length.

        Examples
        --------
        >>> import edgewise as ew
        >>> stream = ew.ComponentsStream()
        >>> stream.add(["ann", "bob"], ["bob", "eve"])
        >>> stream.connected("ann", "eve"), stream.connected("ann", "tom")
        (True, False)
        >>> stream.connected(["ann", "tom", "tom"], ["bob", "tom", "pat"]).tolist()
        [True, True, False]
        """
        singles = [is_single(one) or self._is_tuple(one) for one in (u, v)]
        given = [[one] if single else one for one, single in zip((u, v), singles)]
        columns = batch_columns(given[0], given[1], ("u", "v"))
        ones, others, kind = columns[:3]
        if len(ones) != len(others) and 1 not in (len(ones), len(others)):
            raise GraphError(f"{len(ones)} ids in u but {len(others)} in v; give one of each to compare")
        if kind is not None:
            self._check_kind(columns, "u and v")
        compare = self._connected_numbers if kind in (None, "integers") else self._connected_strings
        answers = compare(ones, others)
        return bool(answers[0]) if all(singles) else answers

    def _is_tuple(self, ids):
        """Whether a value is one id that is a tuple."""
        return isinstance(ids, tuple) and is_tuple_type(self._type) and is_one_tuple(ids)

    def _connected_numbers(self, ones, others):
        device = next((one for one in map(arrays.device_of, (ones, others)) if one != "cpu"), "cpu")
        ones, others = (arrays.move(one, device) for one in (ones, others))
        with arrays.on(device):
            xp = arrays.namespace(device)
            ones, others = (xp.ascontiguousarray(one) for one in xp.broadcast_arrays(ones, others))
            if self._checked(ones, others, ("u", "v")) >= self.n_vertices:  # only where the stream grows
                known = (unsigned(ones) < self.n_vertices) & (unsigned(others) < self.n_vertices)
                answers = ones == others
                answers[known] = self._query(ones[known], others[known])
                return answers
            return self._query(ones, others)

    def _connected_strings(self, ones, others):
        import pyarrow as pa
        import pyarrow.compute as pc

        from edgewise.ingest.arrow import value_type
        from edgewise.ingest.ids import aligned

        rows = min(len(ones), len(others)) and max(len(ones), len(others))
        if rows == 0:
            return np.empty(0, np.bool_)
        first = pa.array(np.zeros(rows, np.int64))
        columns = (column if len(column) == rows else column.take(first) for column in (ones, others))
        answers = []
        for pair in aligned(*(column.cast(value_type(column.type)) for column in columns)):
            answers.append(pc.equal(*pair).to_numpy(zero_copy_only=False))
            if self._numbers is not None:
                numbers = [found.astype(np.int64) for found in self._numbers.find(*pair)]
                known = np.maximum(*numbers) < min(self.n_vertices, int(MISSING))
                answers[-1][known] = self._query(*(found[known] for found in numbers))
        return np.concatenate(answers)

    def _query(self, ones, others):
        self._parents.settle()
        device = self._parents.device
        with arrays.guard(device):
            moved = [arrays.move(one, device) for one in (ones, others)]
            answers = arrays.empty(len(ones), np.bool_, device)
            query(len(ones), self._parents.array, *moved, answers)
            return arrays.move(answers, arrays.device_of(ones))

    def result(self) -> Components:
        """Return the components of all edges added so far; more can be added later.

        Returns
        -------
        Components
            On the device of the stream.  Its graph has the vertices, their ids if these are strings, and the
            number of edges, but not the edges: to verify, pass a graph that has them.
        """
        graph = StreamedGraph(self.n_vertices, self._edges, self._parents.device, self._ids())
        devices = device_team(self._parents.device).names
        return Components(graph, "rem", self._seconds, self._parents.labels(), devices=devices)

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
        >>> stream = ew.ComponentsStream()
        >>> stream.add(["ann"], ["bob"])
        >>> stream.save(path)
        >>> stream = ew.ComponentsStream.load(path)
        >>> stream.add(["bob"], ["eve"])
        >>> stream.connected("ann", "eve"), stream.edges
        (True, 2)
        """
        self._save(path, {"labels": arrays.move(self._parents.labels(), "cpu")})

    @classmethod
    def load(cls, path: str | PathLike, *, device: str = "cpu") -> ComponentsStream:
        """Return a stream that continues from a file of :meth:`save`.

        Parameters
        ----------
        path : path-like
            The file, which may have been saved on another device.
        device : str
            As for the stream itself.

        Returns
        -------
        ComponentsStream
            With the vertices, edges and ids that were saved.

        Raises
        ------
        FileError
            The file is not there, damaged, or of another version of edgewise.
        DeviceError, OutOfMemoryError
            The device is not there, or too small.
        """

        def restored(facts, state):
            stream = cls(facts["limit"], device=device)
            stream._parents.restore(state["labels"])
            return stream

        return cls._load(path, restored)
