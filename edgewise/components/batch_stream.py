"""Connected components of edges that arrive in batches, joined in one parent array and not kept.

Every batch is one phase of splicing unions; queries and results are phases of their own, since a find that
shortens paths concurrently with a splicing union would break it (ConnectIt, Dhulipala, Hong & Shun 2020,
section 3.5: phase-concurrent).  Finds here only read.

Numbers are checked before anything is joined.  Taken as unsigned, negative numbers are the largest, so one
maximum per column suffices.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from edgewise.components.parents import Parents
from edgewise.components.result import Components
from edgewise.components.streamed_graph import StreamedGraph
from edgewise.device import arrays, device, each
from edgewise.errors import GraphError, OptionError, argument
from edgewise.ingest.columns import as_column, unmasked
from edgewise.method import is_number
from edgewise.workers import device_team

#: Attributes of arrays of other libraries, which NumPy would copy or reject.
FOREIGN = ("__cuda_array_interface__", "__dlpack__", "chunks", "buffers")


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


class ComponentsStream:
    """Connected components of edges that are added batch by batch and not kept.

    Parameters
    ----------
    n_vertices : int, optional
        Number of vertices; all are in the result, while :func:`stream_components` takes it as a bound and
        returns ids that occur.  By default the stream grows to the largest number added; while the parent
        array doubles, this takes three times its memory.
    device : str
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"``: the device of the parents, which does the work.

    Raises
    ------
    OptionError
        ``n_vertices`` is not a whole number, or negative.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Notes
    -----
    Memory: 4 bytes per vertex (8 from 2**32 - 1 vertices on), whatever the number of edges.  A stream is not
    thread-safe.

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
    """

    def __init__(self, n_vertices: int | None = None, *, device: str = "cpu"):
        self._limit = None if n_vertices is None else as_count(n_vertices)
        self._parents = Parents(arrays.resolve(device), self._limit)
        self._edges, self._seconds = 0, 0.0

    @property
    def n_vertices(self) -> int:
        """Number of vertices: as given, or one more than the largest number added."""
        return self._parents.count

    @property
    def edges(self) -> int:
        """Number of edges added."""
        return self._edges

    def add(self, sources: Any, targets: Any) -> None:
        """Join the endpoints of a batch of edges.

        Parameters
        ----------
        sources, targets : (m,) arrays of integers
            Vertex numbers, in any form that :meth:`Graph.from_edges` takes; a batch on another device than
            the stream is copied, from the host segment by segment.

        Raises
        ------
        GraphError
            The columns differ in length, or a value is not a vertex number: it is negative, not an integer,
            or not below ``n_vertices``.  No edge of the batch is joined then.
        OutOfMemoryError
            There is not enough memory for vertices up to the largest number.
        """
        columns = _integers(sources, "sources"), _integers(targets, "targets")
        counts = tuple(map(len, columns))
        if counts[0] != counts[1]:
            raise GraphError(f"{counts[0]} sources but {counts[1]} targets; give one of each for every edge")
        start = perf_counter()
        self._parents.add(columns, self._checked(*columns, ("sources", "targets")))
        self._edges += len(columns[0])
        self._seconds += perf_counter() - start

    def connected(self, u: Any, v: Any) -> Any:
        """Return whether vertices are in the same component.

        Parameters
        ----------
        u, v : int, or (k,) arrays of integers
            A single number is compared with all of the other argument.  A number beyond those added is a
            component of its own, unless ``n_vertices`` was given.

        Returns
        -------
        bool, or (k,) bool array
            An array on the host, or on the GPU of the arguments.

        Raises
        ------
        GraphError
            A value is not a vertex number, or the arrays differ in length.
        """
        single = is_number(u, whole=True) and is_number(v, whole=True)
        given = (u, "u"), (v, "v")
        ones, others = (_integers([one] if is_number(one, whole=True) else one, name) for one, name in given)
        if len(ones) != len(others) and 1 not in (len(ones), len(others)):
            raise GraphError(f"{len(ones)} numbers in u but {len(others)} in v; give one of each to compare")
        device = next((one for one in map(arrays.device_of, (ones, others)) if one != "cpu"), "cpu")
        ones, others = (arrays.move(one, device) for one in (ones, others))
        with arrays.on(device):
            xp = arrays.namespace(device)
            ones, others = (xp.ascontiguousarray(one) for one in xp.broadcast_arrays(ones, others))
            if self._checked(ones, others, ("u", "v")) >= self.n_vertices:  # only where the stream grows
                known = (unsigned(ones) < self.n_vertices) & (unsigned(others) < self.n_vertices)
                answers = ones == others
                answers[known] = self._query(ones[known], others[known])
            else:
                answers = self._query(ones, others)
            return bool(answers[0]) if single else answers

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
            On the device of the stream.  Its graph has the vertices and the number of edges, but not the
            edges: to verify, pass a graph that has them.
        """
        graph = StreamedGraph(self.n_vertices, self._edges, self._parents.device)
        devices = device_team(self._parents.device).names
        return Components(graph, "rem", self._seconds, self._parents.labels(), devices=devices)

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


def as_count(n_vertices):
    """A number of vertices as an int; booleans are refused."""
    if not is_number(n_vertices, whole=True) or n_vertices < 0:
        raise OptionError(f"{argument('n_vertices', n_vertices)} must be a whole number, 0 or more")
    return int(n_vertices)


def _integers(values, name):
    """A contiguous array of integers from the caller's values."""
    column = as_column(_listed(values, name), name)
    if getattr(getattr(column, "dtype", None), "kind", None) not in ("i", "u"):
        raise GraphError(f"{name} are no integers; vertex numbers are")
    with arrays.on(arrays.device_of(column)):
        native = column if column.dtype.isnative else column.astype(column.dtype.newbyteorder("="))
        return arrays.contiguous(native)


def _listed(values, name):
    """Values for :func:`as_column`, which accepts any ids; values that are not integers are refused."""
    if not isinstance(values, np.ndarray) and any(hasattr(values, kind) for kind in FOREIGN):
        return values
    values = unmasked(values, name)
    try:
        column = np.asarray(values)
    except (TypeError, ValueError):
        raise GraphError(f"{name} cannot be made an array; give one whole number for each edge") from None
    if not isinstance(values, np.ndarray) and column.ndim == 0:
        raise GraphError(f"{name} is of type {type(values).__name__}; vertex numbers come as arrays or lists")
    if column.dtype.kind in "iu" or column.ndim != 1 or len(column) == 0:
        return values if isinstance(values, list | tuple) and len(values) else column
    listed = values if isinstance(values, list | tuple) else column.tolist()
    for position, value in enumerate(listed):
        if not is_number(value, whole=True):
            raise GraphError(f"{name}[{position}] is {value!r}; vertex numbers are integers")
    return list(listed)


def unsigned(column):
    """The same bytes as unsigned numbers, among which negative ones are the largest."""
    return column.view(f"u{column.itemsize}")


def end_of_numbers(column, limit=None):
    """The end of the vertex numbers below ``limit`` among unsigned numbers: negative ones begin there."""
    negative = 1 << (8 * column.itemsize - (column.dtype.kind == "i"))
    return negative if limit is None else min(limit, negative)


def largest_of(column):
    """Largest of the numbers taken as unsigned; -1 for an empty column."""
    return int(unsigned(column).max()) if len(column) else -1
