"""Edges that arrive in batches and are not kept: their components, or their forest, at any time.

Of a batch, everything is checked before any edge is added.  Taken as unsigned, negative numbers are the
largest, so one maximum per column suffices.  Strings are numbered on the host in order of first appearance,
which does not depend on how the edges are split into batches.

Every batch of components is one phase of splicing unions; queries and results are phases of their own, since
a find that shortens paths concurrently with a splicing union would break it (ConnectIt, Dhulipala, Hong &
Shun 2020, section 3.5: phase-concurrent).  Finds here only read.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from os import PathLike
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from edgewise.components.result import Components
from edgewise.device import arrays, device, each
from edgewise.errors import FileError, GraphError, OptionError, argument
from edgewise.ingest.edges import weights_like
from edgewise.ingest.id_types import describe, is_tuple_type, of_ordered_bytes
from edgewise.ingest.ids import is_one_tuple
from edgewise.ingest.string_table import MISSING
from edgewise.method import check_whole, is_number
from edgewise.result import counted
from edgewise.streams.batch_columns import batch_columns, is_single
from edgewise.streams.checkpoint import check_labels, damage_reported, load_state, save_state
from edgewise.streams.graph import StreamedGraph
from edgewise.streams.ids import end_of_numbers, largest_of, unsigned
from edgewise.streams.union import Parents
from edgewise.workers import device_team

if TYPE_CHECKING:
    from edgewise.streams.forest import StreamedForest

ENDS = ("sources", "targets")
#: Version of the files that streams are saved in.
FORMAT = 1
KINDS = ("integers", "strings", "bytes")
DAMAGED = "holds no stream that was saved, or a damaged one; save it again"


class EdgeStream:
    """Edges that a reducer takes in batch by batch; ids are numbers, below ``limit`` if given, or strings.

    ``_FORMAT_NAME`` is the fact in a file that says which streams it is of, and their version.
    """

    _FORMAT_NAME = ""

    def __init__(self, limit, reducer):
        self._limit, self._reducer = limit, reducer
        self._edges, self._seconds = 0, 0.0
        self._kind: str | None = None
        self._numbers: Any = None
        #: The Arrow type of ids that are numbered as bytes, else ``None``.
        self._type: Any = None

    def __repr__(self) -> str:
        vertices, edges = counted(self.n_vertices, "vertex"), counted(self.edges, "edge")
        return f"<{type(self).__name__}: {vertices}, {edges} so far>"

    @property
    def n_vertices(self) -> int:
        """Number of vertices: as given, one more than the largest number added, or of distinct strings."""
        return self._reducer.count

    @property
    def edges(self) -> int:
        """Number of edges added."""
        return self._edges

    def _columns_of(self, sources, targets):
        """Columns of a batch, of equal length and the kind of those before."""
        columns = batch_columns(sources, targets, ENDS)
        counts = len(columns.left), len(columns.right)
        if counts[0] != counts[1]:
            raise GraphError(f"{counts[0]} sources but {counts[1]} targets; give one of each for every edge")
        if columns.kind is not None:
            self._check_kind(columns, "sources")
        return columns

    def _add(self, columns, part_of_weights=lambda rows: None):
        """Have the reducer take in a batch whose columns are checked."""
        if columns.kind is None:
            return
        start = perf_counter()
        for pair, largest, row in self._numbered(columns):
            self._reducer.join(pair, largest, part_of_weights(slice(row, row + len(pair[0]))))
        self._kind = columns.kind
        self._edges += len(columns.left)
        self._seconds += perf_counter() - start

    def _numbered(self, columns):
        """Yield pairs of columns of vertex numbers, the largest number, and the row where each begins."""
        if columns.kind == "integers":
            pair = columns.left, columns.right
            yield pair, self._checked(*pair, ENDS), 0
            return
        from edgewise.ingest.ids import aligned

        if self._numbers is None:
            self._kind, self._numbers = columns.kind, column_numbers(columns.kind)
            self._type = columns.type
        row = 0
        for left, right in aligned(columns.left, columns.right):
            pair = np.empty(len(left), np.uint32), np.empty(len(left), np.uint32)
            self._numbers.add(left, right, *pair)
            yield pair, self._numbers.strings.count - 1, row
            row += len(left)

    def _check_kind(self, columns, name):
        """Raise if the ids are of another kind than those before, or do not go with ``n_vertices``."""
        if self._kind not in (None, columns.kind):
            raise GraphError(f"{name} are {columns.kind}, and the ids so far are {self._kind}; convert them")
        if self._limit is not None and columns.kind != "integers":
            given = argument("n_vertices", self._limit)
            raise OptionError(f"{given} is for vertex numbers; {name} are {columns.kind}, so leave it out")

    def _checked(self, one, other, names):
        """Largest number of two columns whose values are all valid; -1 if they are empty."""
        maximum = -1
        for column, name in zip((one, other), names):
            limit = end_of_numbers(column, self._limit)
            with arrays.on(arrays.device_of(column)):
                maximum = max(maximum, largest := largest_of(column))
                if largest >= limit:
                    position = int((unsigned(column) >= limit).argmax())
                    problem = f"{name}[{position}] is {int(column[position])}; vertex numbers run from 0"
                    end = "on" if self._limit is None else f"to {self._limit - 1}"
                    raise GraphError(f"{problem} {end}")
        return maximum

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
        facts = self._facts() | {"kind": self._kind, "edges": self._edges, "limit": self._limit}
        facts["type"] = None if self._type is None else written_type(self._type)
        state = self._reducer.state()
        if self._numbers is not None:  # without strings that were numbered before memory ran out
            strings = self._numbers.state()
            offsets = strings["offsets"][: len(state["labels"]) + 1]
            state = state | {"offsets": offsets, "arena": strings["arena"][: offsets[-1]]}
        save_state(path, facts, state)

    @classmethod
    def load(cls, path: str | PathLike, *, device: str = "cpu") -> Self:
        """Return a stream that continues from a file of :meth:`save`.

        Parameters
        ----------
        path : path-like
            The file, which may have been saved on another device.
        device : str
            As for the stream itself.

        Returns
        -------
        ComponentsStream or ForestStream
            With the vertices, edges and ids that were saved.

        Raises
        ------
        FileError
            The file is not there, damaged, or of another version of edgewise.
        DeviceError, OutOfMemoryError
            The device is not there, or too small.
        """
        facts, state = load_state(path, DAMAGED)
        with damage_reported(path, DAMAGED):
            if (form := facts[cls._FORMAT_NAME]) != FORMAT:
                problem = f"is of another version of edgewise (format {form!r}, not {FORMAT})"
                raise FileError(path, f"{problem}; load it with that version")
            kind, edges, limit = (facts[name] for name in ("kind", "edges", "limit"))
            labels = state["labels"]
            check_labels(labels)
            counted = all(is_number(number, whole=True) and number >= 0 for number in (edges, limit or 0))
            numbered = limit is None or (len(labels) == limit and kind in (None, "integers"))
            found = None if facts.get("type") is None else type_written(facts["type"])
            known = kind in (None, *KINDS) if found is None else kind == describe(found)
            if not (counted and numbered and known) or (kind is None and edges):
                raise ValueError("facts that are no facts of a stream")
            stream = cls._restored(facts, state, device)
            stream._kind, stream._edges, stream._type = kind, edges, found
            if kind not in (None, "integers"):
                stream._numbers = column_numbers(kind)
                stream._numbers.restore(state, len(labels))
        return stream

    def _facts(self):
        """Facts in a file beside the ids and the number of edges."""
        return {self._FORMAT_NAME: FORMAT}

    @classmethod
    def _restored(cls, facts, state, device):
        """The stream in a file, without its ids and its number of edges."""
        raise NotImplementedError

    def _graph(self):
        """The vertices with their ids, as these came in, and the number of edges."""
        ids = None if self._numbers is None else self._numbers.ids(last=False)[: self.n_vertices]
        ids = ids if self._type is None else of_ordered_bytes(ids, self._type)
        return StreamedGraph(self.n_vertices, self._edges, self._reducer.device, ids)


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
        limit = as_count(n_vertices)
        super().__init__(limit, Parents(arrays.resolve(device), limit))

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
        self._add(self._columns_of(sources, targets))

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
        self._reducer.settle()
        device = self._reducer.device
        with arrays.guard(device):
            moved = [arrays.move(one, device) for one in (ones, others)]
            answers = arrays.empty(len(ones), np.bool_, device)
            query(len(ones), self._reducer.array, *moved, answers)
            return arrays.move(answers, arrays.device_of(ones))

    def result(self) -> Components:
        """Return the components of all edges added so far; more can be added later.

        Returns
        -------
        Components
            On the device of the stream.  Its graph has the vertices, their ids if these are strings, and the
            number of edges, but not the edges: to verify, pass a graph that has them.
        """
        devices = device_team(self._reducer.device).names
        return Components(self._graph(), "rem", self._seconds, self._reducer.labels(), devices=devices)

    @classmethod
    def _restored(cls, facts, state, device):
        stream = cls(facts["limit"], device=device)
        stream._reducer.restore(state)
        return stream


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
        from edgewise.streams.forest import ForestReducer  # the methods for forests are imported by it

        super().__init__(as_count(n_vertices), ForestReducer(arrays.resolve(device), maximum))
        self._reducer.grow_to(self._limit or 0)

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
        from edgewise.streams.forest import Weights

        columns = self._columns_of(sources, targets)
        if weights is None:
            raise GraphError(f"the edges have no weights; give {argument('weights')}")
        are_numbers = hasattr(columns.left, "dtype")
        values = weights_like(weights, columns.left if are_numbers else np.empty(len(columns.left), np.uint8))
        values = self._reducer.check(values, lambda edge: f"edge {edge} of the batch")
        self._add(columns, Weights(values, self._edges).part)

    def result(self) -> StreamedForest:
        """Return the forest of all edges added so far; more can be added later.

        Returns
        -------
        SpanningForest
            On the device of the stream, equal to that of a graph of all edges.  Its graph has the vertices,
            their ids if these are strings, and the number of edges, but not the edges: to verify, pass a
            graph that has them.
        """
        from edgewise.streams.forest import streamed_forest

        start = perf_counter()
        found = self._reducer.found()
        graph, seconds = self._graph(), self._seconds + perf_counter() - start
        return streamed_forest(graph, self._reducer, seconds, found, device_team(self._reducer.device).names)

    def _facts(self):
        return super()._facts() | {"maximum": self.maximum}

    @classmethod
    def _restored(cls, facts, state, device):
        from edgewise.streams.forest import check_forest

        check_forest(state, facts["edges"])
        stream = cls(facts["limit"], maximum=bool(facts["maximum"]), device=device)
        if facts["kind"] is not None:
            stream._reducer.restore(state)
        return stream


def written_type(kind):
    """An Arrow type as text, for a file."""
    import pyarrow as pa

    return b64encode(pa.schema([("id", kind)]).serialize().to_pybytes()).decode()


def type_written(text):
    """The Arrow type that :func:`written_type` wrote; ValueError if it is damaged."""
    import pyarrow as pa

    import edgewise.ingest.tuples  # noqa: F401 -- Arrow learns of their type

    return pa.ipc.read_schema(pa.py_buffer(b64decode(text, validate=True))).field(0).type


def column_numbers(kind):
    """Numbers of strings, or of bytes."""
    import pyarrow as pa

    from edgewise.ingest.arrow import ColumnNumbers

    return ColumnNumbers(*[pa.string() if kind == "strings" else pa.binary()] * 2)


def as_count(n_vertices):
    """A number of vertices as an int; booleans are refused."""
    if n_vertices is None:
        return None
    check_whole("n_vertices", n_vertices, 0)
    return int(n_vertices)
