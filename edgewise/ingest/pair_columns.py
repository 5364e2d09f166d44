"""Tables with one pair per row to edge lists, batch by batch: checked, filtered and numbered.

Of a batch only vertex numbers, weights and new ids are stored, so that tables may be larger than memory.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.errors import GraphError, OptionError, argument, one_of, warn
from edgewise.ingest.arrow import (
    ColumnNumbers,
    coded,
    integers,
    is_text,
    numpy_array,
    value_type,
    with_plain_nulls,
    without_views,
)
from edgewise.ingest.columns import EXACT, weight_type
from edgewise.ingest.default_columns import default_columns, listing
from edgewise.ingest.growing import Growing
from edgewise.ingest.id_types import (
    describe,
    is_plain,
    joint_type,
    plain_type,
    refusal,
    restored,
    to_plain,
    unless_plain,
)
from edgewise.ingest.ids import number_integers
from edgewise.primitives import copy_into
from edgewise.timer import timer

REFUSED = argument("weight", False)
CHOICE = f"{argument('source')} and {argument('target')}"


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

    ``batch`` has the needed columns of the rows that ``keep`` marks, all of them if that is ``None``, and
    ``ids`` those of ids, as they are taken in.
    ``left_out`` has the ranges of the condition's columns if no row has been kept yet, and ``missing`` the
    name of a column and the row, from 0 on, where it must not be null but is; else they are ``None``.
    ``unknown`` has the number of rows that the condition left out without a value of a column of numbers that
    it compares.
    """

    rows: int
    batch: Any
    ids: Any
    keep: Any
    left_out: Any
    missing: Any
    unknown: dict[str, int]


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
        if plain_type(kind) is None:
            problem = f"column {name!r} holds {refusal(kind)}"
            raise GraphError(f"{problem}, or choose others with {CHOICE}")
    known = [kind for kind in kinds if not types.is_null(kind)] or [pa.string()]
    left, right = (known[0] if types.is_null(kind) else kind for kind in kinds)
    try:
        joint_type(left, right)
    except ValueError:
        held = f"column {id_columns[0]!r} holds {describe(left)}, {id_columns[1]!r} holds {describe(right)}"
        raise GraphError(f"{held}; convert one to the other") from None
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
    #: Whether ids are taken in as what they are numbered as, and not as they came in.
    makes_plain = True
    #: Whether strings with a dictionary are taken in as :class:`~edgewise.ingest.arrow.Coded`.
    takes_coded = False

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
        given = id_types(schema, self.id_columns, self.columns)
        #: The type of the ids of both columns, and the types that they are numbered as.
        self.joint, self.kinds = joint_type(*given), tuple(map(plain_type, given))
        self.known_columns = frozenset(schema.names)
        self.rows = self.begun = 0
        self.kept_any = self.condition is None
        self.unknown: dict[str, int] = {}
        self._selected: Any = None
        self._ids: Any = None

    def begin(self, schema, row=0):
        """Begin a file, at a row of it; raise unless its schema agrees with the pairs taken in so far."""
        kinds = id_types(schema, self.id_columns, self.columns)
        for name, kind in zip(self.id_columns, kinds):
            try:
                joint = joint_type(self.joint, kind)
            except ValueError:
                problem = (
                    f"column {name!r} holds {describe(kind)}, but {describe(self.joint)} in the file before"
                )
                raise GraphError(f"{problem}; convert one of them") from None
            if str(self.joint).startswith("decimal"):  # one that holds all, or integers; other types remain
                self.joint = joint
        if self.unweighted:
            for field in schema:  # not by name, which two columns may share
                self.check_late(field.name, field.type)
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
        if self.condition is not None and not self.kept_any:
            self.kept_any = chosen.left_out is None
            if chosen.left_out is not None:
                self.condition.note(chosen.left_out)
        for name, count in chosen.unknown.items():
            self.unknown[name] = self.unknown.get(name, 0) + count
        if chosen.missing is not None:
            name, row = chosen.missing
            remedy = f"use {argument('null', 'drop')} to leave such rows out"
            raise GraphError(f"{name!r} is null in row {row + self.rows - self.begun + 1:,}; {remedy}")
        self._selected, self._ids = chosen.keep, chosen.ids
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
        unknown: dict[str, int] = {}
        if self.condition is not None:
            keep = self.condition.rows(batch)
            left_out = None if self.kept_any or keep.true_count else self.condition.ranges_of(batch)
            unknown = _count_unknown(batch, self.condition.columns, keep)
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
        batch = batch if keep is None else batch.filter(keep)
        batch = self._plain(batch)
        return Chosen(rows, batch, self._ids_of(batch), keep, left_out, missing, unknown)

    def _ids_of(self, batch):
        """The columns of ids, as they are taken in."""
        from pyarrow import types

        columns = [batch.column(name) for name in self.id_columns]
        are_coded = any(types.is_dictionary(one.type) and is_text(one.type) for one in columns)
        return coded(columns) if self.takes_coded and are_coded else columns

    def _plain(self, batch):
        """The batch with ids as what they are numbered as."""
        import pyarrow as pa

        ids = {name: batch.column(name) for name in self.id_columns}
        if not self.makes_plain or all(is_plain(column.type) for column in ids.values()):
            return batch
        kind = self.type_to_restore()
        ids = {name: to_plain(column, kind, f"column {name!r}") for name, column in ids.items()}
        columns = [ids.get(name, column) for name, column in zip(batch.schema.names, batch.columns)]
        return pa.RecordBatch.from_arrays(columns, batch.schema.names)

    def restored(self, ids, count):
        """Ids as they came in, out of those that were numbered."""
        return restored(ids, self.type_to_restore(), count)

    def type_to_restore(self):
        """The type in which ids come out, or ``None`` if they were numbered as they are."""
        return unless_plain(self.joint)

    def warn_if_empty(self):
        """Warn if there were rows, of which the condition kept none."""
        if self.condition is not None and self.rows and not self.kept_any:
            kept = f"the condition {self.condition.text!r} keeps none of {self.rows:,} rows"
            warn(f"{kept}; {self.condition.ranges()}")


def _count_unknown(batch, names, keep):
    """Number of rows that are left out with null or NaN in a column of numbers, by column."""
    import pyarrow.compute as pc

    from edgewise.ingest.comparisons import column_of  # imports pyarrow.compute

    counts = {}
    for name in names if keep.true_count < len(keep) else ():
        column = column_of(batch, name)
        if _holds_numbers(column.type):
            unknown = pc.is_null(column, nan_is_null=True)
            counts[name] = pc.and_not(unknown, keep).true_count if unknown.true_count else 0
    return {name: count for name, count in counts.items() if count}


def _holds_numbers(kind):
    """Whether a type is one of numbers, or of nulls alone."""
    from pyarrow import types

    kinds = types.is_integer, types.is_floating, types.is_decimal, types.is_null
    return any(test(kind) for test in kinds)


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
        self.known, self.takes_coded = known, known is None
        self.numbers = (
            ColumnNumbers(self.kinds[0], self.kinds[1], expected) if text and known is None else None
        )
        numbered = text or known is not None
        kinds = [np.uint32 if numbered else integer_type(kind) for kind in self.kinds]
        self.sources, self.targets = (Growing(kind, expected) for kind in kinds)
        weight = self.weight
        self.weights = None if weight is None else Growing(weight_type(schema.field(weight)), expected)

    def _plain(self, batch):
        if self.known is not None and batch.num_rows:
            for name in self.id_columns:
                self.known.check_type(batch.column(name).type, name)
        return super()._plain(batch)

    def type_to_restore(self):
        return super().type_to_restore() if self.known is None else self.known.restore

    def prepare(self):
        """Load the loops that number strings, while the first rows are read."""
        if self.numbers is not None:
            with timer("load loops"):
                self.numbers.strings.prepare()

    def _take(self, batch):
        import pyarrow as pa

        left, right = self._ids
        sources, targets = self.sources.extend(len(left)), self.targets.extend(len(left))
        if self.known is not None:
            with timer("number ids"):
                self.known.number((left, right), (sources, targets), self.row_in_file)
        elif self.numbers is not None:
            with timer("number ids"):
                self.numbers.add(left, right, sources, targets)
        else:
            copy_into(sources, integers(left, sources.dtype))
            copy_into(targets, integers(right, targets.dtype))
        if self.weights is not None and len(left):
            weights = batch.column(self.weight)
            self._widen(self.weights, batch.schema.field(self.weight))
            room = self.weights.extend(len(left))
            kind = pa.from_numpy_dtype(room.dtype)
            try:  # a cast imports ``pyarrow.compute``, which takes as long as a small file
                copy_into(room, numpy_array(weights if weights.type == kind else weights.cast(kind)))
            except pa.ArrowInvalid as error:
                problem = f"column {self.weight!r} holds {weights.type}, with a number that {room.dtype}"
                raise GraphError(f"{problem} cannot hold; convert all weights to float64") from error

    def _widen(self, weights, field):
        """Make room for weights of another type, if one type holds them and those before exactly."""
        here, before = np.dtype(weight_type(field)), weights.array.dtype
        if not weights.used:
            weights.widen(here)
        elif here != before and before != np.float64:
            used = weights.used_items()
            if before == np.int64 and max(int(used.max()), -int(used.min())) > EXACT:
                problem = f"column {self.weight!r} holds {field.type}, but {before} beyond 2**53 before"
                raise GraphError(f"{problem}, which {field.type} cannot hold; convert one of them")
            weights.widen(np.float64)

    def finish(self):
        """Return sources and targets (vertex numbers), weights or ``None``, ids or ``None``, and count."""
        self.warn_if_empty()
        weights = None if self.weights is None else self.weights.used_items()
        sources, targets = self.sources.used_items(), self.targets.used_items()
        if self.known is not None:
            ids, count = self.known.finish(sources, targets)
        elif self.numbers is None:
            sources, targets, ids, count = number_integers(sources, targets)
            ids = self.restored(ids, count)
        else:
            ids = self.numbers.ids()
            count = len(ids)
            ids = self.restored(ids, count)
        return sources, targets, weights, ids, count


def _changed(batch, change):
    """The batch with ``change`` applied to each of its columns."""
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([change(column) for column in batch.columns], batch.schema.names)
