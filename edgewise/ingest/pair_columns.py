"""Tables with one pair per row to edge lists, batch by batch: checked, filtered and numbered.

Of a batch only vertex numbers, weights and new ids are stored, so that tables may be larger than memory.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.errors import GraphError, OptionError, argument, check_names, one_of, warn
from edgewise.ingest.arrow import (
    ColumnNumbers,
    checked,
    is_text,
    is_utf8,
    numpy_array,
    value_type,
    with_plain_nulls,
    without_views,
)
from edgewise.ingest.columns import check_one_kind, is_arrow, kinds_of, weight_type
from edgewise.ingest.default_columns import choose_columns, default_columns, listing
from edgewise.ingest.frames import kind_of
from edgewise.ingest.growing import Growing
from edgewise.ingest.ids import number_integers
from edgewise.ingest.joined_columns import JoinedColumns
from edgewise.ingest.record_arrays import batches_of, schema_of
from edgewise.ingest.scores import Kept, weight_column
from edgewise.timer import timer

OBJECTS = np.dtype(object)
#: Floats hold integers up to this one exactly.
EXACT = 1 << 53
REFUSED = argument("weight", False)
CHOICE = f"{argument('source')} and {argument('target')}"
#: Arguments of :meth:`edgewise.Graph.from_frame` about the rows of the table.
FRAME_OPTIONS = ("source", "target", "weight", "null", "vertices", "vertex_id", *Kept._fields)


class PairColumns(NamedTuple):
    """Which columns of a table are read, and which of its rows; see :func:`edgewise.read`.

    ``unweighted`` tells that there seem to be no weights, though the caller has not said so: where rows or
    files further on have some, they are not dropped.
    """

    source: str | None = None
    target: str | None = None
    weight: str | None = None
    where: str | None = None
    null: str = "error"
    unweighted: bool = False


class Chosen(NamedTuple):
    """What is to be taken in of a batch of ``rows`` rows.

    ``batch`` has the needed columns of the rows that ``keep`` marks, all of them if that is ``None``.
    ``left_out`` is the batch as it was if the condition kept none of its rows, and ``missing`` the name of a
    column and the row, from 0 on, where it must not be null but is; else they are ``None``.
    """

    rows: int
    batch: Any
    keep: Any
    left_out: Any
    missing: Any


def as_text(schema):
    """The schema with the types in which text is read: the widest ones of numbers, which cut no digits."""
    import pyarrow as pa
    from pyarrow import types

    def wide(kind):
        if types.is_floating(kind):
            return pa.float64()
        return pa.int64() if types.is_integer(kind) and not types.is_uint64(kind) else kind

    return pa.schema([field.with_type(wide(field.type)) for field in schema])


def choose_id_columns(schema, source=None, target=None):
    """Names of the columns with the two ids of each pair: those given, or those that are taken by default."""
    if (source is None) != (target is None):
        raise OptionError(f"{CHOICE} belong together; give both or neither")
    if source is not None:
        check_distinct(source, target)
        return source, target
    return default_columns(schema.names, numbers_in(schema))[:2]


def numbers_in(schema):
    """Function that tells whether a column, by its position, holds numbers."""
    from pyarrow import types

    return lambda position: types.is_integer(kind := schema.field(position).type) or types.is_floating(kind)


def check_distinct(source, target, weight=None) -> None:
    """Refuse a column, given by name or position, that is chosen twice."""
    if source == target:
        raise OptionError(f"{CHOICE} are both {source!r}; name two columns")
    if weight is not None and weight in (source, target):
        raise OptionError(f"{argument('weight', weight)} is a column of ids; name another one")


def id_types(schema, id_columns, columns):
    """Types of the two columns of ids, once checked; a column of nulls takes the type of the other."""
    import pyarrow as pa
    from pyarrow import types

    for name in columns:
        if (count := schema.names.count(name)) != 1:
            problem = "is not there" if count == 0 else f"is there {count} times"
            raise GraphError(f"column {name!r} {problem} (columns: {listing(schema.names)})")
    kinds = [value_type(schema.field(name).type) for name in id_columns]
    for name, kind in zip(id_columns, kinds):
        if not (is_text(kind) or types.is_integer(kind) or types.is_null(kind)):
            problem = f"column {name!r} holds {kind}; ids are integers or strings"
            raise GraphError(f"{problem}, so convert it or choose others with {CHOICE}")
    known = [kind for kind in kinds if not types.is_null(kind)] or [pa.string()]
    left, right = (known[0] if types.is_null(kind) else kind for kind in kinds)
    if is_text(left) != is_text(right):
        held = f"column {id_columns[0]!r} holds {left}, {id_columns[1]!r} holds {right}"
        raise GraphError(f"{held}; convert one to the other")
    return left, right


def integer_type(kind):
    """NumPy type for a column of integer ids."""
    from pyarrow import types

    return np.uint64 if types.is_uint64(kind) else np.int64


class PairBatches:
    """Batches of pairs, checked and filtered row by row; :meth:`_take` of a subclass takes them in.

    ``wanted`` is :class:`PairColumns`.  ``columns`` are the names of those that are needed; ``rows`` were
    taken in so far, ``begun`` of them from the files before.
    """

    #: Largest number of rows that are checked together.
    batch_rows = 1 << 20

    def __init__(self, schema, wanted):
        weight, where, null = wanted.weight, wanted.where, wanted.null
        if null not in ("error", "drop"):
            raise OptionError(f"{argument('null', null)} is unknown; {one_of(null, ('error', 'drop'))}")
        self.id_columns = source, target = choose_id_columns(schema, wanted.source, wanted.target)
        check_distinct(source, target, weight)
        self.weight, self.null, self.unweighted = weight, null, wanted.unweighted
        self.condition = None
        if where is not None:
            from edgewise.ingest.where import Condition  # imports pyarrow.compute

            self.condition = Condition(where, schema.names)
        self.needed = [source, target] if weight is None else [source, target, weight]
        compared = self.condition.columns if self.condition else ()
        self.columns = list(dict.fromkeys([*self.needed, *compared]))
        self.kinds = id_types(schema, self.id_columns, self.columns)
        self.known_columns = frozenset(schema.names)
        self.rows = self.begun = 0
        self.kept_any = self.condition is None
        self._selected = None

    def begin(self, schema, row=0):
        """Begin a file, at a row of it; raise unless its schema agrees with the pairs taken in so far."""
        kinds = id_types(schema, self.id_columns, self.columns)
        for name, kind, before in zip(self.id_columns, kinds, self.kinds):
            if is_text(kind) != is_text(before):
                problem = f"column {name!r} holds {kind}, but {before} in the file before"
                raise GraphError(f"{problem}; convert one of them")
        if self.unweighted:
            for name in schema.names:
                self.check_late(name, schema.field(name).type)
        self.begun = self.rows - row

    def check_late(self, name, kind):
        """Raise if a column that the beginning does not have may hold the weights."""
        from pyarrow import types

        if name not in self.known_columns and (types.is_integer(kind) or types.is_floating(kind)):
            problem = f"the numbers in {name!r} may be weights, which the rows before do not have"
            raise GraphError(f"{problem}; name the column with {argument('weight')}, or pass {REFUSED}")

    def prepare(self):
        """Do what can be done before there are rows."""

    def add(self, batch):
        """Take in a record batch that has the needed columns."""
        for chosen in self.choose(batch):
            self.take(chosen)

    def choose(self, batch):
        """Yield what is to be taken in of a record batch (:class:`Chosen`); several threads may do so."""
        batch = _changed(batch, with_plain_nulls)
        for start in range(0, batch.num_rows, self.batch_rows):
            yield self._choose(batch.slice(start, self.batch_rows))

    def take(self, chosen):
        """Take in what was chosen of a batch, in the order of the rows."""
        if not self.kept_any:
            self.kept_any = chosen.left_out is None
            if chosen.left_out is not None:
                self.condition.note_range(chosen.left_out)
        if chosen.missing is not None:
            name, row = chosen.missing
            remedy = f"use {argument('null', 'drop')} to leave such rows out"
            raise GraphError(f"{name!r} is null in row {row + self.rows - self.begun + 1:,}; {remedy}")
        self._selected = chosen.keep
        self._take(chosen.batch)
        self.rows += chosen.rows

    def _take(self, batch):
        """Take in rows that are complete."""
        raise NotImplementedError

    def row_in_file(self, position):
        """Number, from 1 on, in its file of the row at ``position`` of the batch that is taken in."""
        if self._selected is not None:
            position = int(np.flatnonzero(self._selected.to_numpy(zero_copy_only=False))[position])
        return self.rows - self.begun + position + 1

    def _choose(self, batch):
        """The needed columns of the rows that meet the condition and are complete."""
        keep = left_out = missing = None
        if self.condition is not None:
            keep = self.condition.rows(batch)
            left_out = None if keep.true_count else batch
        for name in self.needed:
            if batch.column(name).null_count:
                import pyarrow.compute as pc

                here = batch.column(name).is_valid()
                if self.null == "error" and missing is None:
                    row = _first_missing(here, keep)
                    missing = None if row < 0 else (name, row)
                keep = here if keep is None else pc.and_(keep, here)
        if keep is not None and keep.true_count == len(keep):
            keep = None
        rows, batch = batch.num_rows, _changed(batch.select(self.needed), without_views)
        return Chosen(rows, batch if keep is None else batch.filter(keep), keep, left_out, missing)

    def warn_if_empty(self):
        """Warn if there were rows, of which the condition kept none."""
        if self.rows and not self.kept_any:
            kept = f"the condition {self.condition.text!r} keeps none of {self.rows:,} rows"
            warn(f"{kept}; {self.condition.ranges()}")


def _first_missing(here, keep):
    """The first row that is kept and not here, or -1."""
    import pyarrow.compute as pc

    missing = pc.invert(here) if keep is None else pc.and_not(keep, here)
    return missing.index(True).as_py()


class Pairs(PairBatches):
    """The pairs taken in so far, as an edge list.

    ``expected`` is the number of rows, as far as is known.  ``known`` are the ids of all vertices
    (:class:`~edgewise.ingest.known_ids.KnownIds`), if those are given beforehand.
    """

    def __init__(self, schema, wanted, expected=0, known=None):
        super().__init__(schema, wanted)
        text = is_text(self.kinds[0])
        self.known = known
        self.numbers = ColumnNumbers(*self.kinds, expected) if text and known is None else None
        numbered = text or known is not None
        kinds = [np.uint32 if numbered else integer_type(kind) for kind in self.kinds]
        self.sources, self.targets = (Growing(kind, expected) for kind in kinds)
        weight = self.weight
        self.weights = None if weight is None else Growing(weight_type(schema.field(weight)), expected)

    def prepare(self):
        """Load the loops that number strings, while the first rows are read."""
        if self.numbers is not None:
            with timer("load loops"):
                self.numbers.strings.prepare()

    def _take(self, batch):
        import pyarrow as pa

        left, right = (batch.column(name) for name in self.id_columns)
        sources, targets = self.sources.extend(len(left)), self.targets.extend(len(left))
        if self.known is not None:
            with timer("number ids"):
                self.known.number((left, right), (sources, targets), self.id_columns, self.row_in_file)
        elif self.numbers is not None:
            with timer("number ids"):
                self.numbers.add(left, right, sources, targets)
        else:
            sources[:], targets[:] = integers(left, sources.dtype), integers(right, targets.dtype)
        if self.weights is not None and len(left):
            weights = batch.column(self.weight)
            self._widen_weights(batch.schema.field(self.weight))
            room = self.weights.extend(len(left))
            try:
                room[:] = numpy_array(weights.cast(pa.from_numpy_dtype(room.dtype)))
            except pa.ArrowInvalid as error:
                problem = f"column {self.weight!r} holds {weights.type}, with a number that {room.dtype}"
                raise GraphError(f"{problem} cannot hold; convert all weights to float64") from error

    def _widen_weights(self, field):
        """Make room for weights of another type, if one type holds them and those before exactly."""
        here, before = np.dtype(weight_type(field)), self.weights.array.dtype
        if not self.weights.used:
            self.weights.widen(here)
        elif here != before and before != np.float64:
            used = self.weights.used_items()
            if before == np.int64 and max(int(used.max()), -int(used.min())) > EXACT:
                problem = f"column {self.weight!r} holds {field.type}, but {before} beyond 2**53 before"
                raise GraphError(f"{problem}, which {field.type} cannot hold; convert one of them")
            self.weights.widen(np.float64)

    def finish(self):
        """Return sources and targets (vertex numbers), weights or ``None``, ids or ``None``, and count."""
        self.warn_if_empty()
        weights = None if self.weights is None else self.weights.used_items()
        sources, targets = self.sources.used_items(), self.targets.used_items()
        if self.known is not None:
            ids, count = self.known.finish(sources, targets)
        elif self.numbers is None:
            sources, targets, ids, count = number_integers(sources, targets)
        else:
            ids = self.numbers.ids()
            count = len(ids)
        return sources, targets, weights, ids, count


def _changed(batch, change):
    """The batch with ``change`` applied to each of its columns."""
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([change(column) for column in batch.columns], batch.schema.names)


def integers(column, kind):
    """NumPy array of a column of integers, which must fit into ``kind``."""
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    values = numpy_array(column)
    if values.dtype.kind != kind.kind and len(values):
        limit, least, most = np.iinfo(kind), int(values.min()), int(values.max())
        if least < limit.min or most > limit.max:
            raise GraphError(
                f"id {least if least < limit.min else most} does not fit into {np.dtype(kind)}, the type "
                "of the other ids; store all of them as uint64, or as strings where some are negative"
            )
    return values


def from_frame(graph_class, frame, directed, given):
    """Make a graph of a table with one edge a row: see :meth:`edgewise.Graph.from_frame`.

    ``given`` is a dict of its other arguments.
    """
    check_names("from_frame", given, (*FRAME_OPTIONS, "directed"))
    table, records = arrow_table(frame), _records(given.get("vertices"), given.get("vertex_id"))
    try:
        names, ends = table.schema.names, [given.get(name) for name in ("source", "target")]
    except UnicodeDecodeError:
        raise GraphError("the name of a column is not UTF-8 text; rename it") from None
    if (ends[0] is None) != (ends[1] is None):
        raise OptionError(f"{CHOICE} belong together; give both or neither")
    weight, kept = given.get("weight"), Kept(*(given.get(name) for name in Kept._fields))
    columns = choose_columns(names, numbers_in(table.schema), *ends, weight_column(weight, kept.score, names))
    where = kept.beside(weight).condition(names)
    joined = JoinedColumns(columns[:2], names)
    known = None if records is None else records.known_ids()
    wanted = PairColumns(*columns[:3], where, given.get("null", "error"))
    pairs = Pairs(joined.schema(table.schema), wanted, table.num_rows, known)
    _check_values(frame, pairs, joined)
    needed = table.select(joined.stored(pairs.columns))
    for batch in checked(needed.to_batches()):
        pairs.add(joined.add_to(batch))
    sources, targets, weights, ids, count = pairs.finish()
    graph = graph_class(count, edges=(sources, targets, weights), directed=directed, ids=ids)
    graph.records, graph.frame_kind = records, kind_of(frame)
    graph.weight_name = columns.weight
    graph.assumed_weights = columns.weight if given.get("weight") is None else None
    graph.assumed_columns = columns[:2] if columns.assumed else None
    return graph


def _records(given, id_column):
    """The records in a table of vertices, if there is one."""
    from edgewise.ingest.records import Records, records_of_table

    if given is None and id_column is not None:
        raise OptionError(f"{argument('vertex_id')} is a column of {argument('vertices')}; give that too")
    if given is None or isinstance(given, Records):
        return given
    return records_of_table(arrow_table(given), id_column)


def _check_values(frame, pairs, joined):
    """Raise if the columns of ids hold Python values of several kinds, which Arrow may have made equal."""
    untyped = False
    for name in list(frame.keys()) if isinstance(frame, dict) or hasattr(frame, "iloc") else ():
        values = frame[name]
        typed = is_arrow(values) or getattr(values, "dtype", OBJECTS) != OBJECTS
        if str(name) in joined.stored(pairs.id_columns) and not typed:
            check_one_kind(kinds_of(values), f"column {name!r}")
            untyped = True
    left, right = pairs.kinds
    if untyped and is_text(left) and is_utf8(value_type(left)) != is_utf8(value_type(right)):
        held = f"column {pairs.id_columns[0]!r} holds {left}, {pairs.id_columns[1]!r} holds {right}"
        raise GraphError(f"{held}; convert one to the other")


def arrow_table(frame):
    """The Arrow table of anything with ``__arrow_c_stream__``, or of a dict of columns."""
    import pyarrow as pa

    if isinstance(frame, pa.Table):  # other ways lose the sizes of its buffers, which are checked
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if isinstance(frame, np.ndarray) and frame.dtype.names and not isinstance(frame, np.ma.MaskedArray):
        return pa.Table.from_batches(batches_of(frame), schema_of(frame.dtype))
    reader = isinstance(frame, pa.RecordBatchReader)
    if not (reader or hasattr(frame, "__arrow_c_stream__") or isinstance(frame, dict)):
        kind = type(frame).__name__
        hints = {"LazyFrame": "call .collect() first", "list": "a list of pairs is for Graph.from_edges"}
        hint = hints.get(kind, "pandas, polars and Arrow tables do")
        raise GraphError(
            f"{kind} is no table: it needs __arrow_c_stream__ or to be a dict of columns; {hint}"
        )
    try:
        return frame.read_all() if reader else pa.table(frame)
    except (pa.ArrowException, ArithmeticError, OSError, TypeError, ValueError) as error:
        raise GraphError(f"the table cannot be read as Arrow: {str(error).splitlines()[0]}") from None
