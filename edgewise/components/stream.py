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
from edgewise.components.segments import Feeder, unite_numbers
from edgewise.components.streamed import StreamedGraph
from edgewise.components.trees import compress
from edgewise.device import arrays, device, each, streams
from edgewise.errors import GraphError, OptionError, OutOfMemoryError
from edgewise.graph import index_type
from edgewise.result import Components

#: Parents that a stream of unknown size begins with.
LEAST_PARENTS = 1 << 10
#: Share of the free memory that parents may take.
USABLE = 0.9


@each
def make_further_singletons(index, first, parent):
    """Make a vertex from ``first`` on a tree of its own."""
    parent[first + index] = first + index


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
        self._place = arrays.resolve(device)
        self._fixed = n_vertices is not None
        self._n, self._edges, self._seconds = 0, 0, 0.0
        self._feeder: Feeder | None = None
        with arrays.guard(self._place):
            self._parents = arrays.empty(0, np.uint32, self._place)
            self._hold(_whole(n_vertices) if self._fixed else 0)

    @property
    def n_vertices(self) -> int:
        """Number of vertices: as given, or one more than the largest number met."""
        return self._n

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
        most = self._checked(*columns, ("sources", "targets"))
        with arrays.guard(self._place):
            if most >= self._n:
                self._hold(most + 1)
            self._join(*columns)
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
        most = self._checked(ones, others, ("u", "v"))
        if most >= self._n:  # only where the stream grows, and only for a while
            known = (_unsigned(ones) < self._n) & (_unsigned(others) < self._n)
            answers = ones == others
            answers[known] = self._ask(ones[known], others[known])
        else:
            answers = self._ask(ones, others)
        return bool(answers[0]) if single else answers

    def _ask(self, ones, others):
        asked_from = arrays.place_of(ones)
        self._settle()
        with arrays.guard(self._place):
            there = [arrays.move(one, self._place) for one in (ones, others)]
            answers = arrays.empty(len(ones), np.bool_, self._place)
            ask(len(ones), self._parents, *there, answers)
            return arrays.move(answers, asked_from)

    def result(self) -> Components:
        """Return the components of all edges added so far; adding may go on.

        Returns
        -------
        Components
            In the place of the stream.  Its graph knows the vertices and the number of edges, not the edges:
            to verify, pass a graph that has them.
        """
        self._settle()
        with arrays.guard(self._place):
            labels = self._parents[: self._n].copy()
            compress(self._n, labels)
            arrays.synchronize(self._place)
        graph = StreamedGraph(self._n, self._edges, self._place)
        return Components(graph=graph, method="rem", seconds=self._seconds, _labels=labels)

    def _checked(self, one, other, names):
        """Largest number among two columns, after a look at every value."""
        most = -1
        for column, name in zip((one, other), names):
            if len(column):
                largest = int(_unsigned(column).max())
                limit = self._n if self._fixed else 1 << (8 * column.itemsize - (column.dtype.kind == "i"))
                if largest >= limit:
                    self._refuse(column, name, limit)
                most = max(most, largest)
        return most

    def _refuse(self, column, name, limit):
        position = int((_unsigned(column) >= limit).argmax())
        problem = f"{name}[{position}] is {int(column[position])}; vertex numbers run from 0"
        raise GraphError(f"{problem} to {self._n - 1}" if self._fixed else f"{problem} on")

    def _hold(self, count):
        """Let the vertices be ``0 .. count - 1``; the array doubles when it is full, if it can."""
        if count > len(self._parents):
            roomy = count if self._fixed else max(count, 2 * len(self._parents), LEAST_PARENTS)
            self.reserve(roomy if self._missing(roomy) is None else count)
        make_further_singletons(count - self._n, self._n, self._parents)
        self._n = count

    def _missing(self, count):
        """The bytes that parents of so many vertices take, if there are not as many."""
        needed = count * np.dtype(index_type(count)).itemsize
        return needed if needed > USABLE * arrays.free_memory(self._place) else None

    def reserve(self, count: int) -> None:
        """Make room for ``count`` vertices, so that growing up to there moves nothing.

        Raises
        ------
        OutOfMemoryError
        """
        if count <= len(self._parents):
            return
        missing = self._missing(count)
        if missing is not None:
            raise OutOfMemoryError(
                f"{self._place} has too little memory for vertices up to {count - 1:,}: {missing:,} bytes "
                f"needed, {arrays.free_memory(self._place):,} free; number ids that are so sparse "
                "(ew.stream_components does, and Graph.from_edges)"
            )
        self._settle()
        parents = arrays.empty(count, index_type(count), self._place)
        parents[: self._n] = self._parents[: self._n]
        self._parents, self._feeder = parents, None

    def _settle(self):
        """Wait for the batches that are still under way to a GPU."""
        if self._feeder is not None:
            self._feeder.settle()

    def _join(self, sources, targets):
        if self._place != "cpu" and arrays.place_of(sources) == arrays.place_of(targets) == "cpu":
            self._feeder = self._feeder or Feeder(self._parents)
            self._feeder.feed(sources, targets)
            if streams.is_pinned(sources) or streams.is_pinned(targets):
                self._settle()
            return
        columns = [arrays.move(column, self._place) for column in (sources, targets)]
        unite_numbers(len(columns[0]), self._parents, *columns)


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


def _unsigned(column):
    """The same bytes as unsigned numbers, among which negative ones are the largest."""
    return column.view(f"u{column.itemsize}")
