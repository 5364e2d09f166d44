"""Connected components of edges that come in batches.

All that is held is the parent array of :mod:`~edgewise.components.rem`.  A batch is joined where it lies in
the order it comes in, and may then be forgotten; every batch is one phase of splicing unions, every
question and every result a phase of its own, since a find that shortens paths beside a splicing union would
break it (ConnectIt, Dhulipala, Hong & Shun 2020, section 3.5: phase-concurrent).  Finds here only read.

Numbers are compared with the end of the parent array before anything is joined.  Taken as unsigned,
negative ones are the largest, so one maximum a column tells all.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from edgewise.components.parents import Parents
from edgewise.components.result import Components
from edgewise.components.streamed_graph import StreamedGraph
from edgewise.device import arrays, device, each
from edgewise.errors import GraphError, OptionError
from edgewise.ingest.edges import as_column

#: Attributes of arrays that NumPy alone would copy, or not know.
FOREIGN = ("__cuda_array_interface__", "__dlpack__", "chunks", "buffers")


@device
def root(parent, vertex):
    """Root of a vertex, found by reading alone."""
    while parent[vertex] != vertex:
        vertex = parent[vertex]
    return vertex


@each
def ask(question, parent, ones, others, answers):
    """Write whether two vertices are in one tree."""
    number = parent.dtype.type
    one, other = root(parent, number(ones[question])), root(parent, number(others[question]))
    answers[question] = one == other


class ComponentsStream:
    """Connected components of edges that are added batch by batch and not kept.

    Parameters
    ----------
    n_vertices : int, optional
        Number of vertices; each is in the result, with an edge or without, while
        :func:`stream_components` takes it for a bound and returns ids that occur.  By default the stream
        grows to the largest number it meets; that costs, for a moment, three times the memory when the
        parent array doubles.
    device : str
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"``: where the parents lie and the work is done.

    Raises
    ------
    OptionError
        ``n_vertices`` is no whole number, or negative.
    DeviceError, OutOfMemoryError
        The device is not there, or too small.

    Notes
    -----
    4 bytes a vertex (8 from 2**32 - 1 vertices on), whatever the number of edges.  A stream belongs to one
    thread at a time.

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
        where = arrays.resolve(device)
        self._most = None if n_vertices is None else as_count(n_vertices)
        self._parents = Parents(where, self._most)
        self._edges, self._seconds = 0, 0.0

    @property
    def n_vertices(self) -> int:
        """Number of vertices: as given, or one more than the largest number met."""
        return self._parents.count

    @property
    def edges(self) -> int:
        """Number of edges added."""
        return self._edges

    def add(self, sources: Any, targets: Any) -> None:
        """Join the ends of a batch of edges.

        Parameters
        ----------
        sources, targets : (m,) arrays of integers
            Vertex numbers, in any form that :meth:`Graph.from_edges` takes; a batch that lies elsewhere than
            the stream is moved, large ones from the host segment by segment.

        Raises
        ------
        GraphError
            The columns differ in length, or a value is no vertex number: it is negative, no integer, or not
            below ``n_vertices``.  Nothing of the batch is joined then.
        OutOfMemoryError
            There is no memory for as many vertices as the largest number asks for.
        """
        columns = _integers(sources, "sources"), _integers(targets, "targets")
        if len(columns[0]) != len(columns[1]):
            raise GraphError(
                f"{len(columns[0])} sources but {len(columns[1])} targets; give one of each for every edge"
            )
        start = perf_counter()
        self._parents.hold(self._checked(*columns, ("sources", "targets")) + 1)
        self._parents.join(*columns)
        self._edges += len(columns[0])
        self._seconds += perf_counter() - start

    def connected(self, u: Any, v: Any) -> Any:
        """Tell whether vertices are in one component by now.

        Parameters
        ----------
        u, v : int, or (k,) arrays of integers
            One number goes with all of the other side.  A number that no edge has named yet is a vertex of
            its own, unless ``n_vertices`` was given.

        Returns
        -------
        bool, or (k,) bool array
            An array on the host, unless the questions came on a GPU.

        Raises
        ------
        GraphError
            A value is no vertex number, or the arrays differ in length.
        """
        single = _is_number(u) and _is_number(v)
        ones, others = (
            _integers([one] if _is_number(one) else one, name) for one, name in ((u, "u"), (v, "v"))
        )
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
                answers[known] = self._ask(ones[known], others[known])
            else:
                answers = self._ask(ones, others)
            return bool(answers[0]) if single else answers

    def _ask(self, ones, others):
        self._parents.settle()
        device = self._parents.device
        with arrays.guard(device):
            there = [arrays.move(one, device) for one in (ones, others)]
            answers = arrays.empty(len(ones), np.bool_, device)
            ask(len(ones), self._parents.array, *there, answers)
            return arrays.move(answers, arrays.device_of(ones))

    def result(self) -> Components:
        """Return the components of all edges added so far; adding may go on.

        Returns
        -------
        Components
            In the place of the stream.  Its graph knows the vertices and the number of edges, not the edges:
            to verify, pass a graph that has them.
        """
        graph = StreamedGraph(self.n_vertices, self._edges, self._parents.device)
        return Components(graph=graph, method="rem", seconds=self._seconds, _labels=self._parents.labels())

    def _checked(self, one, other, names):
        """Largest number among two columns, after a look at every value; -1 if there is none."""
        most = -1
        for column, name in zip((one, other), names):
            beyond = self._most if self._most is not None else _smallest_negative(column.dtype)
            with arrays.on(arrays.device_of(column)):
                largest = largest_of(column)
                if largest >= beyond:
                    self._refuse(column, name, beyond)
            most = max(most, largest)
        return most

    def _refuse(self, column, name, beyond):
        position = int((unsigned(column) >= beyond).argmax())
        problem = f"{name}[{position}] is {int(column[position])}; vertex numbers run from 0"
        raise GraphError(f"{problem} on" if self._most is None else f"{problem} to {self._most - 1}")


def as_count(n_vertices):
    """A number of vertices as an int; truth is no number."""
    if not _is_number(n_vertices) or n_vertices < 0:
        raise OptionError(f"n_vertices={n_vertices!r} must be a whole number, 0 or more")
    return int(n_vertices)


def _is_number(value):
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _integers(values, name):
    """A contiguous array of integers out of whatever the caller has."""
    column = as_column(_listed(values, name), name)
    if getattr(getattr(column, "dtype", None), "kind", None) not in ("i", "u"):
        raise GraphError(f"{name} are no integers; vertex numbers are")
    with arrays.on(arrays.device_of(column)):
        return arrays.contiguous(
            column if column.dtype.isnative else column.astype(column.dtype.newbyteorder("="))
        )


def _listed(values, name):
    """The same for :func:`as_column`, which takes any ids, after a look at what is no integer."""
    if not isinstance(values, np.ndarray) and any(hasattr(values, kind) for kind in FOREIGN):
        return values
    try:
        column = np.asarray(values)
    except (TypeError, ValueError):
        raise GraphError(f"{name} cannot be made an array; give one whole number for each edge") from None
    if not isinstance(values, np.ndarray) and column.ndim == 0:
        raise GraphError(f"{name} is of type {type(values).__name__}; vertex numbers come as arrays or lists")
    if column.dtype.kind in "iu" or column.ndim != 1 or len(column) == 0:
        return column
    listed = values if isinstance(values, list | tuple) else column.tolist()
    for position, value in enumerate(listed):
        if not _is_number(value):
            raise GraphError(f"{name}[{position}] is {value!r}; vertex numbers are integers")
    return list(listed)


def unsigned(column):
    """The same bytes as unsigned numbers, among which negative ones are the largest."""
    return column.view(f"u{column.itemsize}")


def largest_of(column):
    """Largest of the numbers taken as unsigned; -1 if there is none."""
    return int(unsigned(column).max()) if len(column) else -1


def _smallest_negative(kind):
    """The least number that is negative if its bytes are of this type."""
    return 1 << (8 * kind.itemsize - (kind.kind == "i"))
