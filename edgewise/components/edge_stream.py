"""What streams of batches share: the checks of their ids, and their vertex numbers.

Numbers are checked before anything is done with them.  Taken as unsigned, negative numbers are the largest,
so one maximum per column suffices.  Strings are numbered on the host in order of first appearance, which does
not depend on how the edges are split into batches.
"""

from typing import Any

import numpy as np

from edgewise.components.batch_columns import batch_columns
from edgewise.device import arrays
from edgewise.errors import GraphError, OptionError, argument
from edgewise.method import is_number

ENDS = ("sources", "targets")


class EdgeStream:
    """Edges that are added batch by batch; ids are numbers, below ``n_vertices`` if given, or strings."""

    def __init__(self, n_vertices=None):
        self._limit = None if n_vertices is None else as_count(n_vertices)
        self._edges, self._seconds = 0, 0.0
        self._kind: str | None = None
        self._numbers: Any = None

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

    def _numbered(self, columns):
        """Yield pairs of columns of vertex numbers, the largest number, and the row where each begins."""
        if columns.kind == "integers":
            pair = columns.left, columns.right
            yield pair, self._checked(*pair, ENDS), 0
            return
        from edgewise.ingest.ids import aligned

        if self._numbers is None:
            self._kind, self._numbers = columns.kind, column_numbers(columns.kind)
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
            problem = (
                f"{argument('n_vertices', self._limit)} is for vertex numbers; {name} are {columns.kind}"
            )
            raise OptionError(f"{problem}, so leave it out")

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


def column_numbers(kind):
    """Numbers of strings, or of bytes."""
    import pyarrow as pa

    from edgewise.ingest.arrow import ColumnNumbers

    return ColumnNumbers(*[pa.string() if kind == "strings" else pa.binary()] * 2)


def as_count(n_vertices):
    """A number of vertices as an int; booleans are refused."""
    if not is_number(n_vertices, whole=True) or n_vertices < 0:
        raise OptionError(f"{argument('n_vertices', n_vertices)} must be a whole number, 0 or more")
    return int(n_vertices)


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
