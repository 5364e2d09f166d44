"""What becomes of the ids that stream past: vertex numbers for the workers, and at the end ids again.

:class:`WholeNumbers` takes integers for vertex numbers as they are.  :class:`SparseNumbers` numbers integers
that are negative or lie too far apart for that, :class:`Names` numbers strings.  Each knows what it must
put aside so that a later run can go on.
"""

import numpy as np

from edgewise.components.batch_stream import largest_of, unsigned
from edgewise.components.compact_ids import occurring
from edgewise.errors import GraphError
from edgewise.ingest.arrow import ColumnNumbers
from edgewise.ingest.integers import IntegerNumbers
from edgewise.ingest.pair_columns import integers

#: Distinct ids that are numbered again at a time.
BLOCK = 1 << 18


class Sparse(Exception):
    """An id is no vertex number, or too large for one."""


class WholeNumbers:
    """Integers that are vertex numbers.

    Parameters
    ----------
    crew : Crew
    dtype : type
        Of the ids.
    most : int or None
        The number of vertices, as the caller says.
    limit : int
        Ids from here on raise :class:`Sparse`.
    all_occur : bool
        Whether vertices without an edge are in the result, too.
    """

    def __init__(self, crew, dtype, most, limit, all_occur=False):
        self.crew, self.dtype, self.most, self.limit, self.all_occur = (
            crew,
            np.dtype(dtype),
            most,
            limit,
            all_occur,
        )
        self.marks = np.zeros(0, np.uint8)

    def take(self, left, right, row_of):
        """Join the pairs of two Arrow columns; ``row_of`` tells the row of a position."""
        columns = [integers(column, self.dtype) for column in (left, right)]
        largest = max(map(largest_of, columns))
        if largest >= self.limit:
            if self.most is not None:
                self._refuse(columns, row_of)
            raise Sparse
        loops = columns[0] == columns[1]
        if loops.any():
            self._mark(columns[0][loops])
        self.crew.join(columns, largest)

    def _refuse(self, columns, row_of):
        for column in columns:
            beyond = unsigned(column) >= self.most
            if beyond.any():
                position = int(beyond.argmax())
                raise GraphError(
                    f"id {int(column[position])} in row {row_of(position):,} is no vertex number, as these "
                    f"run from 0 to {self.most - 1}; correct n_vertices= or leave it out"
                )

    def _mark(self, vertices):
        needed = int(vertices.max()) + 1
        if needed > len(self.marks):
            self.marks = _lengthened(self.marks, max(needed, 2 * len(self.marks)))
        self.marks[vertices] = 1

    def finish(self):
        """Return the labels of the vertices and their ids."""
        if self.all_occur:
            self.crew.join((np.zeros(0, np.uint32),) * 2, self.most - 1)
            return self.crew.labels(last=True), None
        labels, marks = self.crew.labels(last=True), self.marks
        self.marks = None
        return occurring(labels, _lengthened(marks, len(labels)), self.dtype)

    def state(self):
        """What a later run needs, by name."""
        return {"marks": np.packbits(self.marks, bitorder="little")}

    def restore(self, state):
        """Take up what an earlier run has put aside."""
        self.marks = np.unpackbits(state["marks"], bitorder="little")


class SparseNumbers:
    """Integers that are numbered as they come.

    Parameters
    ----------
    crew : Crew
    dtype : type
        Of the ids.
    """

    def __init__(self, crew, dtype):
        self.crew, self.dtype, self.numbers = crew, np.dtype(dtype), IntegerNumbers(dtype)

    def take(self, left, right, row_of):
        """Join the pairs of two Arrow columns."""
        self.take_integers(*(integers(column, self.dtype) for column in (left, right)))

    def take_integers(self, left, right):
        """Join the pairs of two arrays."""
        for start in range(0, len(left), BLOCK):
            part = slice(start, start + BLOCK)
            self.crew.join(self.numbers.add(left[part], right[part]), self.numbers.count - 1)

    def finish(self):
        """Return the labels of the ids in ascending order, and these."""
        labels, ids = self.crew.labels(last=True), self.numbers.ids()
        self.numbers = None
        order = np.argsort(ids)
        ids, labels = ids[order], labels[order]
        least = np.empty(len(ids), labels.dtype)
        least[labels[::-1]] = np.arange(len(ids) - 1, -1, -1, dtype=labels.dtype)  # the last one stays
        plain = len(ids) == 0 or (int(ids[0]) == 0 and int(ids[-1]) == len(ids) - 1)
        return least[labels], None if plain else ids

    def state(self):
        """What a later run needs, by name."""
        return {"ids": self.numbers.ids()}

    def restore(self, state):
        """Take up what an earlier run has put aside; its labels serve as pairs, as numbers may differ."""
        ids, labels = state["ids"], state["labels"]
        self.take_integers(ids, ids[labels])


class Names:
    """Strings that are numbered in the order of their first appearance.

    Parameters
    ----------
    crew : Crew
    kinds : tuple of two pyarrow.DataType
    expected : int
        Number of rows, as far as is known.
    """

    def __init__(self, crew, kinds, expected):
        self.crew, self.numbers = crew, ColumnNumbers(*kinds, expected)

    def take(self, left, right, row_of):
        """Join the pairs of two Arrow columns."""
        columns = np.empty(len(left), np.uint32), np.empty(len(right), np.uint32)
        self.numbers.add(left, right, *columns)
        self.crew.join(columns, self.numbers.strings.count - 1)

    def finish(self):
        """Return the labels of the vertices and their ids."""
        return self.crew.labels(last=True), self.numbers.ids()

    def state(self):
        """What a later run needs, by name."""
        strings = self.numbers.strings
        return {"offsets": strings.offsets.used_items(), "arena": strings.arena.used_items()}

    def restore(self, state):
        """Take up what an earlier run has put aside."""
        offsets, arena = state["offsets"], state["arena"]
        for start in range(0, len(offsets) - 1, BLOCK):
            part = offsets[start : start + BLOCK + 1]
            self.numbers.strings.add(part - part[0], arena[part[0] : max(part[-1], part[0] + 1)], pairs=False)


def _lengthened(marks, length):
    """Marks for so many vertices; pages that nobody marks take up no memory."""
    if len(marks) >= length:
        return marks[:length]
    longer = np.zeros(length, np.uint8)
    longer[: len(marks)] = marks
    return longer
