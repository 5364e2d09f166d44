"""Connected components of edges that come in batches.

All that is held is the parent array of :mod:`~edgewise.components.rem`.  A batch is joined where it lies in
the order it comes in, and may then be forgotten; every batch is one phase of splicing unions, every
question and every result a phase of its own, since a find that shortens paths beside a splicing union would
break it (ConnectIt, Dhulipala, Hong & Shun 2020, section 3.5: phase-concurrent).  Finds here only read.

Numbers are compared with the end of the parent array before anything is joined.  Taken as unsigned,
negative ones are the largest, so one maximum a column tells all.
"""

from __future__ import annotations

import operator
from time import perf_counter
from typing import Any

import numpy as np

from edgewise.build.edges import as_column
from edgewise.components.parents import Parents
from edgewise.components.streamed import StreamedGraph
from edgewise.device import arrays, device, each
from edgewise.errors import GraphError, OptionError
from edgewise.result import Components


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
        Number of vertices.  By default the stream grows to the largest number it meets; that costs, for a
        moment, three times the memory when the parent array doubles.
    device : str
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"``: where the parents lie and the work is done.

    Raises
    ------
    OptionError
        ``n_vertices`` is no number.
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
        place = arrays.resolve(device)
        self._most = None if n_vertices is None else _whole(n_vertices)
        self._parents = Parents(place, self._most)
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
            A number that no edge has named yet is a vertex of its own, unless ``n_vertices`` was given.

        Returns
        -------
        bool, or (k,) bool array
            An array on the host, unless the questions came on a GPU.

        Raises
        ------
        GraphError
            A value is no vertex number.
        """
        single = _is_number(u) and _is_number(v)
        ones, others = (
            _integers([one] if _is_number(one) else one, name) for one, name in ((u, "u"), (v, "v"))
        )
        xp = arrays.namespace(ones)
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
        place = self._parents.place
        with arrays.guard(place):
            there = [arrays.move(one, place) for one in (ones, others)]
            answers = arrays.empty(len(ones), np.bool_, place)
            ask(len(ones), self._parents.array, *there, answers)
            return arrays.move(answers, arrays.place_of(ones))

    def result(self) -> Components:
        """Return the components of all edges added so far; adding may go on.

        Returns
        -------
        Components
            In the place of the stream.  Its graph knows the vertices and the number of edges, not the edges:
            to verify, pass a graph that has them.
        """
        graph = StreamedGraph(self.n_vertices, self._edges, self._parents.place)
        return Components(graph=graph, method="rem", seconds=self._seconds, _labels=self._parents.labels())

    def _checked(self, one, other, names):
        """Largest number among two columns, after a look at every value; -1 if there is none."""
        most = -1
        for column, name in zip((one, other), names):
            beyond = self._most if self._most is not None else _smallest_negative(column.dtype)
            largest = largest_of(column)
            if largest >= beyond:
                self._refuse(column, name, beyond)
            most = max(most, largest)
        return most

    def _refuse(self, column, name, beyond):
        position = int((unsigned(column) >= beyond).argmax())
        problem = f"{name}[{position}] is {int(column[position])}; vertex numbers run from 0"
        raise GraphError(f"{problem} on" if self._most is None else f"{problem} to {self._most - 1}")


def _whole(n_vertices):
    try:
        count = operator.index(n_vertices)
    except TypeError:
        raise OptionError(f"n_vertices={n_vertices!r} must be a whole number") from None
    if count < 0:
        raise OptionError(f"n_vertices={count} is negative")
    return count


def _is_number(value):
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _integers(values, name):
    """A contiguous array of integers out of whatever the caller has."""
    column = np.asarray(values) if isinstance(values, list | tuple) else values
    kind = getattr(getattr(column, "dtype", None), "kind", "i")
    if kind not in "iu" and column.ndim == 1 and len(column):
        whole = (isinstance(value, int | np.integer) for value in values)
        position = next((place for place, fine in enumerate(whole) if not fine), 0)
        raise GraphError(f"{name}[{position}] is {values[position]!r}; vertex numbers are integers")
    column = as_column(values, name)
    if getattr(getattr(column, "dtype", None), "kind", None) not in ("i", "u"):
        raise GraphError(f"{name} are no integers; vertex numbers are")
    return arrays.contiguous(
        column if column.dtype.isnative else column.astype(column.dtype.newbyteorder("="))
    )


def unsigned(column):
    """The same bytes as unsigned numbers, among which negative ones are the largest."""
    return column.view(f"u{column.itemsize}")


def largest_of(column):
    """Largest of the numbers taken as unsigned; -1 if there is none."""
    return int(unsigned(column).max()) if len(column) else -1


def _smallest_negative(kind):
    """The least number that is negative if its bytes are of this type."""
    return 1 << (8 * kind.itemsize - (kind.kind == "i"))
