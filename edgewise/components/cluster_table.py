"""The table of the clusters: one row per vertex, with its records if the graph has them.

Without a rule for names the columns are ``id`` and ``component``, the row of the cluster's first member.
With one, or with records, they are all columns of the records, or ``id``, and then ``cluster`` and ``size``.
The table is made block by block, and the records are read again for this, so that it is never in memory as a
whole.
"""

from functools import partial
from typing import Any

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.components.naming import check_name, name_givers
from edgewise.device import arrays, threads
from edgewise.errors import GraphError
from edgewise.files.read_ahead import in_order, read_ahead
from edgewise.ingest.arrow import arrow_array
from edgewise.ingest.id_types import plain_ids
from edgewise.ingest.string_words import ascending_order, strings_of
from edgewise.method import check_whole

#: Rows of a block.
BLOCK = 1 << 20
#: Columns that are added to those of records, or to the ids.
ADDED = ("cluster", "size")


class ClusterTable:
    """The table of ``result`` (:class:`Components`), with names by the rule ``name``.

    Rows of clusters with fewer than ``min_size`` members are left out.  ``id_column`` is what the column of
    the ids is called, unless records have one.
    """

    added: tuple[str, ...] = ADDED
    block = BLOCK

    def __init__(self, result, name=None, min_size=1, id_column="id"):
        check_name(name)
        check_whole("min_size", min_size, 1)
        self.result, self.graph, self.min_size = result, result.graph, int(min_size)
        self.id_column = id_column
        self.records: Any = self.graph.records
        self.name = name or ("first" if self.records is not None else None)
        if self.records is not None:
            for column in self.added:
                if column in self.records.schema.names:
                    problem = f"{self.records.name} has a column {column!r} already"
                    raise GraphError(f"{problem}, and the table of clusters adds one; rename it")

    @cached_property
    def labels(self):
        """The roots of the vertices, on the host."""
        return arrays.move(self.result.labels, "cpu")

    @cached_property
    def sizes(self):
        """Number of members of each component, at its root."""
        return sizes_at_roots(self.result)

    @cached_property
    def name_givers(self):
        """The vertex that names a component, at its root; ``None`` if that is the root."""
        return name_givers(self.labels, self.graph.ids, self.name)

    @cached_property
    def order(self):
        """The order of the rows; ``None`` where it is that of the vertices."""
        return order_of_ids(self.graph.ids) if self.name == "min" and self.records is None else None

    def names_of(self, roots):
        """Names of components, given by their roots, as an Arrow array."""
        if self.name in (None, "row"):
            return arrow_array(roots)
        givers = roots if self.name_givers is None else self.name_givers[roots]
        return arrow_array(self.graph.ids_of(givers))

    def batches(self, first=0, last=None):
        """Yield record batches, at least one; with ``last`` only of the vertices from ``first`` up to it."""
        for start, stop, columns in self._own_columns(first, self.graph.n_vertices if last is None else last):
            part = slice(start, stop) if self.order is None else self.order[start:stop]
            batch = self._batch(columns | self._clusters(part))
            if self.min_size > 1:
                batch = batch.filter(_mask(self.sizes[self.labels[part]] >= self.min_size))
            yield batch

    def _clusters(self, part):
        """Columns of the clusters of some vertices."""
        roots = self.labels[part]
        if self.name is None:
            return {"component": arrow_array(roots)}
        return {"cluster": self.names_of(roots), "size": arrow_array(self.sizes[roots])}

    def _batch(self, columns):
        """Record batch of columns, among which the names and sizes of clusters are never null."""
        import pyarrow as pa

        fields = [pa.field(name, column.type, name not in self.added) for name, column in columns.items()]
        return pa.RecordBatch.from_arrays(list(columns.values()), schema=pa.schema(fields))

    def prepare(self):
        """Compute what is the same for all blocks, on the cores that the calling thread may use.

        Returns arrays by the names of attributes, without those that are ``None``.
        """
        found = {"labels": self.labels}
        if self.name is not None or self.min_size > 1:
            found["sizes"] = self.sizes
        if self.name is not None:
            found |= {"name_givers": self.name_givers, "order": self.order}
        return {name: array for name, array in found.items() if array is not None}

    def restore(self, found):
        """Take what :meth:`prepare` of the same table returned."""
        vars(self).update({"name_givers": None, "order": None} | found)

    def _own_columns(self, first, last):
        """Yield first and last row of a block, and the columns that do not depend on the clusters."""
        if self.records is not None:
            yield from self._columns_of_records()
            return
        for start in range(first, max(last, first + 1), self.block):
            stop = min(start + self.block, last)
            yield start, stop, {self.id_column: arrow_array(self._ids(start, stop))}

    def _ids(self, start, stop):
        """Ids of some rows."""
        if self.order is not None:
            return self.graph.ids_of(self.order[start:stop])
        if hasattr(type(self.graph), "ids_between"):  # makes the ids on request
            return self.graph.ids_between(start, stop)
        ids = self.graph.ids
        return np.arange(start, stop, dtype=np.int64) if ids is None else ids[start:stop]

    def _columns_of_records(self):
        names, start, ids = self.records.schema.names, 0, self._ids_in_memory()
        stored = [name for name in names if ids is None or name != self.records.id_column]
        for batch in self.records.batches(stored):
            stop = start + batch.num_rows
            if stop > self.graph.n_vertices:
                break
            columns = dict(zip(stored, batch.columns))
            if ids is not None:
                columns[self.records.id_column] = ids[start:stop]
            yield start, stop, {name: columns[name] for name in names}
            start = stop
        else:
            if start == self.graph.n_vertices:
                return
        raise GraphError(f"{self.records.name} has changed since its ids were read; read it again")

    def _ids_in_memory(self):
        """The column of ids where it need not be read again: the ids in the type that it has."""
        ids, schema = self.graph.ids, self.records.schema
        if ids is None or isinstance(ids, np.ndarray) or len(schema) == 1:
            return None
        return ids if ids.type == schema.field(self.records.id_column).type else None

    def to_reader(self):
        """A reader of the batches, which are made on request: several at once, unless they have records."""
        self.prepare()
        if self.records is not None:
            return self._reader(read_ahead(self.batches()))
        starts = range(0, max(self.graph.n_vertices, 1), self.block)
        make = partial(self._batch_from, rows=self.block)
        return self._reader(in_order(make, starts, threads.count(), "edgewise-table"))

    def makers_of_rows(self, rows):
        """Functions that make tables of so many rows each, in any order; None if that cannot be.

        So a thread that makes rows can encode them, too, while they are in its caches.
        """
        if self.records is not None or self.min_size > 1 or rows > self.block:
            return None
        self.prepare()
        starts = range(0, max(self.graph.n_vertices, 1), rows)
        return [partial(self._table_from, start, rows) for start in starts]

    def _table_from(self, start, rows):
        import pyarrow as pa

        return pa.Table.from_batches([self._batch_from(start, rows)])

    def _batch_from(self, start, rows):
        """The batch of the rows that begin at one, whose loops are this thread's alone."""
        stop = min(start + rows, self.graph.n_vertices)
        with threads.limited(1):
            return next(self.batches(start, stop))

    def _reader(self, batches):
        import pyarrow as pa

        first = next(batches, None)
        if first is None:  # records without rows
            first = self._without_rows()
        return pa.RecordBatchReader.from_batches(first.schema, _chained(first, batches))

    def _without_rows(self):
        import pyarrow as pa

        own = {field.name: pa.array([], field.type) for field in self.records.schema}
        return self._batch(own | self._clusters(slice(0, 0)))

    def rows(self) -> int:
        """Number of rows."""
        if self.min_size == 1:
            return self.graph.n_vertices
        return int(self.sizes[self.sizes >= self.min_size].sum())

    def head(self, rows):
        """The first rows, as a table."""
        import pyarrow as pa

        found, count = [], 0
        self.prepare()
        reader = self._reader(self.batches())
        for batch in reader:
            found.append(batch.slice(0, rows - count))
            count += found[-1].num_rows
            if count == rows:
                break
        return pa.Table.from_batches(found, reader.schema)

    def to_frame(self):
        """The whole table."""
        return self.to_reader().read_all()


def sizes_at_roots(result):
    """Number of members of each component of ``result`` (:class:`Components`), at its root, on the host."""
    sizes = np.zeros(len(result.labels), np.int64)
    sizes[arrays.move(result.roots, "cpu")] = arrays.move(result.sizes(), "cpu")
    return sizes


def order_of_ids(ids):
    """The vertices in ascending order of their ids; ``None`` where they are in this order."""
    if ids is None:
        return None
    ids = plain_ids(ids)
    if isinstance(ids, np.ndarray):
        return None if bool((ids[1:] > ids[:-1]).all()) else np.argsort(ids, kind="stable")
    return ascending_order(strings_of(ids))


def top(result, count, name):
    """Table of the largest clusters; see :meth:`Components.top`."""
    import pyarrow as pa

    check_whole("count", count, 0)
    table = ClusterTable(result, name)
    roots, sizes = (arrays.move(column, "cpu") for column in (result.roots, result.sizes()))
    largest = np.argsort(-sizes, kind="stable")[:count]
    return pa.table({"cluster": table.names_of(roots[largest]), "size": arrow_array(sizes[largest])})


def sets(result, min_size):
    """Sets of the ids of clusters; see :meth:`Components.sets`."""
    table = ClusterTable(result, None, min_size)  # checks the size
    order = np.argsort(table.labels, kind="stable")
    ids = result.graph.ids_of(order).tolist()
    sizes = arrays.move(result.sizes(), "cpu")
    stops = np.cumsum(sizes)
    large = sizes >= table.min_size
    return [
        set(ids[start:stop]) for start, stop in zip((stops - sizes)[large].tolist(), stops[large].tolist())
    ]


def size_counts(result):
    """Table of the number of clusters of each size; see :meth:`Components.size_counts`."""
    import pyarrow as pa

    sizes, counts = np.unique(arrays.move(result.sizes(), "cpu"), return_counts=True)
    return pa.table({"size": arrow_array(sizes), "clusters": arrow_array(counts.astype(np.int64))})


def _chained(first, others):
    yield first
    yield from others


def _mask(flags):
    """Arrow array of booleans."""
    import pyarrow as pa

    bits = pa.py_buffer(np.packbits(flags, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(flags), [None, bits])
