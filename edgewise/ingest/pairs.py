"""Batches of a table with one pair a row, checked, chosen and made into an edge list while they come.

Nothing is kept of a batch but vertex numbers, weights and ids not met before, so that a table larger than
memory can be read.
"""

import numpy as np

from edgewise.errors import GraphError, OptionError
from edgewise.ingest.arrow import BATCH_ROWS, ColumnNumbers, is_text, with_plain_nulls, without_views
from edgewise.ingest.growing import Growing
from edgewise.ingest.ids import number_integers
from edgewise.ingest.schema import ends_among, id_types, integer_type, weight_type
from edgewise.ingest.where import Condition
from edgewise.timer import timer


class PairBatches:
    """Batches of pairs, checked and chosen row by row; what becomes of them is up to :meth:`_take`.

    Parameters
    ----------
    schema : pyarrow.Schema
        Of the table.
    source, target : str, optional
        Columns with the ids of the ends; see :func:`~edgewise.ingest.schema.ends_among` for the default.
    weight : str, optional
        Column with the weights.
    where : str, optional
        Condition on the columns; other rows are left out.
    null : {'error', 'drop'}
        What to do with rows that lack an end or a weight.

    Attributes
    ----------
    columns : list of str
        Columns that are needed.
    rows : int
        Rows met so far, ``begun`` of them in the files before.

    Raises
    ------
    GraphError
        A column is missing or has a type that is no id, or no weight.
    OptionError
    """

    #: Rows that are looked at together, at most.
    batch_rows = BATCH_ROWS

    def __init__(self, schema, source=None, target=None, weight=None, where=None, null="error"):
        if null not in ("error", "drop"):
            raise OptionError(f"null={null!r} is unknown; use 'error' or 'drop'")
        self.ends = source, target = ends_among(schema, source, target)
        self.weight, self.null = weight, null
        self.condition = None if where is None else Condition(where)
        self.needed = [source, target] if weight is None else [source, target, weight]
        self.columns = list(
            dict.fromkeys([*self.needed, *(self.condition.columns if self.condition else ())])
        )
        self.kinds = id_types(schema, self.ends, self.columns)
        self.rows = self.begun = 0
        self._kept = None

    def begin(self, schema, row=0):
        """Begin with a file, at a row of it; raise unless its schema goes with the pairs met so far."""
        kinds = id_types(schema, self.ends, self.columns)
        for name, kind, before in zip(self.ends, kinds, self.kinds):
            if is_text(kind) != is_text(before):
                raise GraphError(
                    f"column {name!r} holds {kind}, but {before} in the file before; convert one of them"
                )
        self.begun = self.rows - row

    def add(self, batch):
        """Take in a record batch that has the needed columns.

        Raises
        ------
        GraphError
            An end, or a weight, is null.
        """
        batch = _with_columns(batch, with_plain_nulls)
        for start in range(0, batch.num_rows, self.batch_rows):
            part = batch.slice(start, self.batch_rows)
            self._take(self._chosen(part))
            self.rows += part.num_rows

    def _take(self, batch):
        """Take in rows that are complete."""
        raise NotImplementedError

    def row_in_file(self, position):
        """Row of the file, counted from 1, that the row at ``position`` of the batch being taken in is."""
        if self._kept is not None:
            position = int(np.flatnonzero(self._kept.to_numpy(zero_copy_only=False))[position])
        return self.rows - self.begun + position + 1

    def _chosen(self, batch):
        """The needed columns of the rows that meet the condition and are complete."""
        import pyarrow.compute as pc

        keep = None if self.condition is None else self.condition.rows(batch)
        for name in self.needed:
            if batch.column(name).null_count:
                here = batch.column(name).is_valid()
                if self.null == "error":
                    self._check_complete(name, here, keep)
                keep = here if keep is None else pc.and_(keep, here)
        batch = _with_columns(batch.select(self.needed), without_views)
        self._kept = None if keep is None or keep.true_count == len(keep) else keep
        return batch if self._kept is None else batch.filter(keep)

    def _check_complete(self, name, here, keep):
        """Raise unless the column ``name`` is there in every row to be kept."""
        import pyarrow.compute as pc

        missing = pc.invert(here) if keep is None else pc.and_not(keep, here)
        row = missing.index(True).as_py()
        if row >= 0:
            row += self.rows - self.begun + 1
            raise GraphError(f"{name!r} is null in row {row:,}; use null='drop' to leave such out")


class Pairs(PairBatches):
    """The pairs met so far, as an edge list.

    Parameters
    ----------
    expected : int
        Number of rows, as far as is known.

    Other parameters are those of :class:`PairBatches`.
    """

    def __init__(self, schema, source=None, target=None, weight=None, where=None, null="error", expected=0):
        super().__init__(schema, source, target, weight, where, null)
        text = is_text(self.kinds[0])
        self.numbers = ColumnNumbers(*self.kinds, expected) if text else None
        kinds = [np.uint32 if text else integer_type(kind) for kind in self.kinds]
        self.sources, self.targets = (Growing(kind, expected) for kind in kinds)
        self.weights = None if weight is None else Growing(weight_type(schema.field(weight)), expected)

    def _take(self, batch):
        left, right = (batch.column(name) for name in self.ends)
        sources, targets = self.sources.room(len(left)), self.targets.room(len(left))
        if self.numbers is not None:
            with timer("number ids"):
                self.numbers.add(left, right, sources, targets)
        else:
            sources[:], targets[:] = (
                integers(column, room.dtype) for column, room in ((left, sources), (right, targets))
            )
        if self.weights is not None:
            weights = batch.column(self.weight)
            room = self.weights.room(len(left))
            room[:] = weights.cast(_arrow_type(room.dtype)).to_numpy(zero_copy_only=False)

    def finish(self):
        """Return what has been taken in.

        Returns
        -------
        sources, targets : (m,) uint32 or int64 arrays
        weights : (m,) array or None
        ids : (n,) array or None
        n_vertices : int
        """
        weights = None if self.weights is None else self.weights.taken()
        sources, targets = self.sources.taken(), self.targets.taken()
        if self.numbers is None:
            sources, targets, ids, count = number_integers(sources, targets)
        else:
            ids = self.numbers.ids()
            count = len(ids)
        return sources, targets, weights, ids, count


def _with_columns(batch, change):
    """The batch with each of its columns changed."""
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([change(column) for column in batch.columns], batch.schema.names)


def integers(column, kind):
    """NumPy array of a column of integers, which must fit into ``kind``."""
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind != kind.kind and len(values):
        limit, least, most = np.iinfo(kind), int(values.min()), int(values.max())
        if least < limit.min or most > limit.max:
            raise GraphError(
                f"id {least if least < limit.min else most} does not fit into {np.dtype(kind)}, as which ids "
                "are kept here; store all of them as uint64, or as strings where some are negative"
            )
    return values


def _arrow_type(kind):
    import pyarrow as pa

    return pa.from_numpy_dtype(kind)
