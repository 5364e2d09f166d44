"""What every public function returns: a record that knows its graph's ids and can check itself."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.device import arrays
from edgewise.errors import EdgewiseError, GraphError, OptionError, VerificationError, argument, one_of
from edgewise.ingest.frames import as_kind
from edgewise.ingest.representation import weights_in_words
from edgewise.printable import SHOWN_ROWS, html_of, in_html, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Self

    import pyarrow

    from edgewise.certificates import Certificate, GraphArrays
    from edgewise.ingest.frames import Frame, Kind


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Base of all results.

    A problem's result is a frozen dataclass (``@dataclass(frozen=True, eq=False, repr=False)``) that adds its
    arrays, and implements ``_answer`` (the answer in a few words), ``_columns`` (columns of the table beside
    the ids) or ``_arrow`` (the table), ``_verify`` and ``_plot``.

    Attributes
    ----------
    graph : Graph
        The graph of the call.
    method : str
        Name of the method that ran.
    seconds : float
        Time of the method alone.
    devices : tuple of str
        Names of the workers that took part: ``"cpu:0"``, ``"cuda:0"``, ``"cuda:1"`` ...
    """

    #: Column of :meth:`to_dict`; by default the first beside the ids.
    _main: ClassVar[str | None] = None
    #: Columns of ids, which come first, and whether those of two are the keys of dictionaries, or one key.
    _n_ids: ClassVar[int] = 1
    _nested: ClassVar[bool] = False

    graph: Any
    method: str
    seconds: float
    devices: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            vars(self)[name] = readonly(value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        Result.__post_init__(self)  # pickled arrays are writable again

    def __str__(self) -> str:
        """The answer, the weights, the method, its time, and the devices if they are not the CPU alone."""
        where = "" if self.devices in ((), ("cpu:0",)) else f" on {', '.join(self.devices)}"
        return printable(f"{self._answer()}{self._along()}; {self.method}, {duration(self.seconds)}{where}")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_html_(self) -> str:
        """The answer, and the first rows of the table, for a notebook."""
        line = f"<p><b>{type(self).__name__}</b>: {in_html(self)}</p>"
        try:
            head = self._arrow(SHOWN_ROWS + 1)
        except (EdgewiseError, OSError):  # records in a file that is not there any more
            return line
        return line + html_of(head)

    def to_frame(self, *, kind: Kind | None = None) -> Frame:
        """Return a table, with one row per vertex in vertex order unless the class says otherwise.

        Parameters
        ----------
        kind : {'arrow', 'pandas', 'polars'}, optional
            Library of the table; by default that of the table that the graph was made of
            (:meth:`Graph.from_frame`), otherwise ``'arrow'``.

        Returns
        -------
        pyarrow.Table, pandas.DataFrame or polars.DataFrame
            Column ``id`` (as it came in), and the columns that the class describes; or the rows and columns
            that it describes.

        Raises
        ------
        OptionError
            The kind is unknown, or its library is not installed.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "a"])
        >>> ew.cycle_counts(graph, 3).to_frame(kind="pandas")["cycles"].tolist()
        [1, 1, 1]
        """
        return self._framed(self._arrow(), kind)

    def _framed(self, table: pyarrow.Table, kind: Kind | None = None) -> Frame:
        """A table in the library of the table that the graph was made of, or in another one."""
        return as_kind(table, self.graph.frame_kind if kind is None else kind)

    def to_dict(self, column: str | None = None) -> dict[Any, Any]:
        """Return the values by id; those of a table with two columns of ids by both.

        Distances between sources and targets are by source and then by target, the weights of a forest and
        the lengths of routes by pairs.

        Parameters
        ----------
        column : str, optional
            Column of :meth:`to_frame`; by default the main one.

        Raises
        ------
        OptionError
            There is no such column.

        Examples
        --------
        >>> import edgewise as ew
        >>> graph = ew.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
        >>> ew.bfs(graph, "b").to_dict()
        {'a': 1, 'b': 0, 'c': 1, 'd': 2}
        >>> ew.all_pairs_shortest_paths(graph, sources=["a"]).to_dict()
        {'a': {'a': 0, 'b': 1, 'c': 2, 'd': 3}}
        >>> ew.minimum_spanning_forest(graph.with_weights([3, 5, 4])).to_dict()
        {('a', 'b'): 3, ('b', 'c'): 5, ('c', 'd'): 4}
        """
        table = self._arrow()
        names = table.column_names[self._n_ids :]
        check_column(column, names)
        values = table[column or self._main or names[0]].to_pylist()
        ids = [one.to_pylist() for one in table.columns[: self._n_ids]]
        if not self._nested:
            return dict(zip(ids[0] if self._n_ids == 1 else zip(*ids), values))
        found: dict[Any, dict] = {}
        for first, second, value in zip(*ids, values):
            found.setdefault(first, {})[second] = value
        return found

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table of :meth:`to_frame` for any library that takes Arrow streams."""
        return self._arrow().__arrow_c_stream__(requested_schema)

    def write(self, path: str | Path) -> None:
        """Write the table of :meth:`to_frame` to a Parquet, CSV or Arrow file, whole or not at all.

        Parameters
        ----------
        path : path-like

        Raises
        ------
        FileError
            The suffix is unknown, or the file cannot be written.
        """
        from edgewise.files import by_format

        by_format.write(self, path, None)

    def verify(self, graph: Any = None) -> Self:
        """Check the result against the graph, without solving again, and return it.

        Parameters
        ----------
        graph : Graph, optional
            By default the one that the result came from.

        Raises
        ------
        GraphError
            The graph has another number of vertices.
        VerificationError
            The result is wrong; the message names a vertex or an edge.
        """
        graph = self.graph if graph is None else graph
        check_same_graph(graph, self.graph.n_vertices, "the result")
        with errors_with_ids(graph):
            self._verify(graph)
        return self

    def certificate(self) -> Certificate:
        """Return the answer together with a proof that is checked in one pass, without trust in edgewise.

        Returns
        -------
        Certificate
            :meth:`~edgewise.certificates.Certificate.save` keeps it in a file, which
            ``edgewise check GRAPH FILE`` checks.

        Raises
        ------
        OptionError
            Results of this kind have no certificate.
        VerificationError
            The result is wrong, so that there is no proof of it.

        Examples
        --------
        >>> import edgewise as ew
        >>> from edgewise.certificates import check
        >>> result = ew.connected_components(ew.Graph.from_edges([0, 1], [1, 2]))
        >>> check(edge_arrays(result.graph), result.certificate())
        """
        return self._certificate()

    def plot(self, path: str | Path) -> None:
        """Draw the distribution of the values into a picture file (needs matplotlib).

        Parameters
        ----------
        path : path-like
            Its suffix says the kind of picture: ``.png``, ``.svg``, ``.pdf``.
        """
        self._plot(path)

    def on_host(self) -> Self:
        """Return the result with its arrays, and its graph, on the host."""
        moved = {
            one.name: arrays.move(getattr(self, one.name), "cpu")
            for one in fields(self)
            if getattr(getattr(self, one.name), "ndim", 0)
        }
        return replace(self, graph=self.graph.to("cpu"), **moved)

    def _answer(self) -> str:
        """The answer in a few words, without the method and its time."""
        return f"result for {counted(self.graph.n_vertices, 'vertex')}"

    def _uses_weights(self) -> bool:
        """Whether the answer depends on the weights of the graph."""
        return getattr(self, "weighted", False)

    def _along(self) -> str:
        """What the weights are, behind a comma; empty if none were used."""
        return f", {words}" if self._uses_weights() and (words := weights_in_words(self.graph)) else ""

    def _arrow(self, rows: int | None = None) -> pyarrow.Table:
        """The table, or its first rows."""
        import pyarrow as pa

        from edgewise.ingest.arrow import arrow_array

        stop = self.graph.n_vertices if rows is None else min(rows, self.graph.n_vertices)
        columns = {}
        for name, values in self._columns().items():
            with arrays.guard(arrays.device_of(values)):
                columns[name] = arrow_array(arrays.move(values[:stop], "cpu"))
        ids = self.graph.ids
        ids = np.arange(stop, dtype=np.int64) if ids is None else ids[:stop]
        return pa.table({"id": arrow_array(ids), **columns})

    def _columns(self) -> dict[str, Any]:
        """Columns of the table beside the ids, by name: (n_vertices,) arrays on any device."""
        raise NotImplementedError

    def _verify(self, graph: Any) -> None:
        """Raise VerificationError unless the result holds for ``graph``."""
        raise NotImplementedError

    def _certificate(self) -> Certificate:
        """The answer and its proof."""
        problem = f"results of the kind {type(self).__name__} have no certificate"
        raise OptionError(f"{problem}; verify() checks them")

    def _plot(self, path: Any) -> None:
        """Draw the result into a file."""
        raise NotImplementedError


def edge_arrays(graph: Any) -> GraphArrays:
    """Return the edges of a graph as plain arrays on the host, which checkers of certificates take.

    Examples
    --------
    >>> import edgewise as ew
    >>> edge_arrays(ew.Graph.from_edges([0, 1], [1, 2])).n_vertices
    3
    """
    from edgewise.certificates.record import GraphArrays

    host = graph.to("cpu")
    edges = host.sources, host.targets, host.weights
    return GraphArrays(host.n_vertices, *edges, host.directed, host.vertex_weights)


@contextmanager
def errors_with_ids(graph: Any) -> Iterator[None]:
    """Context whose errors of verification also tell the ids of the vertices that they name by numbers."""
    try:
        yield
    except VerificationError as error:
        found = re.findall(r"\b(?:vertex|vertices|root) (\d+)(?: (?:and|to vertex|to) (\d+))?", str(error))
        numbers = [int(one) for pair in found for one in pair if one and int(one) < graph.n_vertices]
        if graph.ids is None or not numbers:
            raise
        ids = graph.ids_of(np.array(numbers)).tolist()
        named = dict.fromkeys(f"vertex {number} is {one!r}" for number, one in zip(numbers, ids))
        raise VerificationError(f"{error}; {', '.join(named)}") from error


def readonly(values: Any) -> Any:
    """A view of a NumPy array that cannot be written to, also in a tuple; all else itself."""
    if type(values) is tuple:
        return tuple(map(readonly, values))
    if isinstance(values, np.ndarray) and values.flags.writeable:
        values = values.view()
        values.flags.writeable = False
    return values


if TYPE_CHECKING:  # type checkers know the value of this one
    cached_array = cached_property
else:

    class cached_array(cached_property):
        """A cached property that is an array, or a tuple of arrays; those of NumPy are read-only."""

        def __init__(self, function):
            def found(result):
                return readonly(function(result))

            super().__init__(update_wrapper(found, function))


def check_column(column: str | None, names: Sequence[str]) -> None:
    """Refuse a name that is not among those of the columns."""
    if column not in (None, *names):
        raise OptionError(f"{argument('column', column)} is unknown; {one_of(column, names)}")


def counted(number: int, noun: str) -> str:
    """A number and its noun.

    Examples
    --------
    >>> counted(1, "vertex"), counted(2000, "vertex"), counted(0, "edge")
    ('1 vertex', '2,000 vertices', '0 edges')
    """
    plural = {"vertex": "vertices"}.get(noun, f"{noun}s")
    return f"{number:,} {noun if number == 1 else plural}"


def duration(seconds: float) -> str:
    """Seconds, or milliseconds if there are few.

    Examples
    --------
    >>> duration(0.0416), duration(0.00031), duration(61.2)
    ('0.04 s', '0.31 ms', '61 s')
    """
    if seconds < 0.01:
        return f"{1000 * seconds:.2g} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:,.0f} s"


def check_same_graph(graph: Any, count: int, what: str) -> None:
    """Raise :class:`GraphError` unless ``graph`` has ``count`` vertices, as a result of it must."""
    if graph.n_vertices != count:
        raise GraphError(
            f"{what} has {count} vertices, the graph {graph.n_vertices}; pass the graph it came from"
        )
