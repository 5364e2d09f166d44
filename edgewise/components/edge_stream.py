"""What streams of batches share: the checks of their ids, their vertex numbers, and the files of their state.

Numbers are checked before anything is done with them.  Taken as unsigned, negative numbers are the largest,
so one maximum per column suffices.  Strings are numbered on the host in order of first appearance, which does
not depend on how the edges are split into batches.
"""

from base64 import b64decode, b64encode
from typing import Any

import numpy as np

from edgewise.components.batch_columns import batch_columns
from edgewise.components.checkpoint import check_labels, damage_reported, load_state, save_state
from edgewise.device import arrays
from edgewise.errors import FileError, GraphError, OptionError, argument
from edgewise.ingest.id_types import describe, of_ordered_bytes
from edgewise.method import check_whole, is_number
from edgewise.result import counted

ENDS = ("sources", "targets")
#: Version of the files that streams are saved in.
FORMAT = 1
KINDS = ("integers", "strings", "bytes")
DAMAGED = "holds no stream that was saved, or a damaged one; save it again"


class EdgeStream:
    """Edges that are added batch by batch; ids are numbers, below ``n_vertices`` if given, or strings.

    ``_FORMAT_NAME`` is the fact in a file that says which streams it is of, and their version.
    """

    _FORMAT_NAME = ""
    n_vertices: Any  # a property of each stream

    def __init__(self, n_vertices=None):
        self._limit = None if n_vertices is None else as_count(n_vertices)
        self._edges, self._seconds = 0, 0.0
        self._kind: str | None = None
        self._numbers: Any = None
        #: The Arrow type of ids that are numbered as bytes, else ``None``.
        self._type: Any = None

    def __repr__(self: Any) -> str:
        vertices, edges = counted(self.n_vertices, "vertex"), counted(self.edges, "edge")
        return f"<{type(self).__name__}: {vertices}, {edges} so far>"

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
            self._type = columns.type
        row = 0
        for left, right in aligned(columns.left, columns.right):
            pair = np.empty(len(left), np.uint32), np.empty(len(left), np.uint32)
            self._numbers.add(left, right, *pair)
            yield pair, self._numbers.strings.count - 1, row
            row += len(left)

    def _ids(self):
        """The ids so far, as they came in; ``None`` if they are vertex numbers."""
        ids = None if self._numbers is None else self._numbers.ids(last=False)[: self.n_vertices]
        return ids if self._type is None else of_ordered_bytes(ids, self._type)

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

    def _save(self, path, state, **facts):
        """Write facts and arrays to a file; ``labels`` is one of these."""
        facts |= {self._FORMAT_NAME: FORMAT, "kind": self._kind, "edges": self._edges, "limit": self._limit}
        facts["type"] = None if self._type is None else written_type(self._type)
        if self._numbers is not None:  # without strings that were numbered before memory ran out
            strings = self._numbers.state()
            offsets = strings["offsets"][: len(state["labels"]) + 1]
            state = state | {"offsets": offsets, "arena": strings["arena"][: offsets[-1]]}
        save_state(path, facts, state)

    @classmethod
    def _load(cls, path, restored):
        """A stream from a file: ``restored(facts, state)`` makes one without its ids and number of edges."""
        facts, state = load_state(path, DAMAGED)
        with damage_reported(path, DAMAGED):
            if facts[cls._FORMAT_NAME] != FORMAT:
                problem = (
                    f"is of another version of edgewise (format {facts[cls._FORMAT_NAME]!r}, not {FORMAT})"
                )
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
            stream = restored(facts, state)
            stream._kind, stream._edges, stream._type = kind, edges, found
            if kind not in (None, "integers"):
                stream._numbers = column_numbers(kind)
                stream._numbers.restore(state, len(labels))
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
    check_whole("n_vertices", n_vertices, 0)
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
