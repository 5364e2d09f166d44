"""Updating clusters: a table of clusters and new pairs in, the new clusters and what has changed out.

The old clusters are joined as pairs of each row with the first row of its cluster, and the new pairs beside
them; the old pairs are not needed.  The names follow the same rule as before, so a cluster that no pair
touches keeps its name.  With names by the least id (``min``), updates in any number of steps give the same
names as all pairs at once.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.components import Components, connected_components
from edgewise.components.cluster_table import ADDED, ClusterTable
from edgewise.components.naming import check_name, name_givers
from edgewise.errors import GraphError, argument
from edgewise.files import read
from edgewise.files.records import records_of
from edgewise.front import CallOptions, front
from edgewise.graph import Graph
from edgewise.index_type import index_type
from edgewise.ingest.arrow import ColumnNumbers, arrow_array, is_text, value_type
from edgewise.ingest.frames import kind_of
from edgewise.ingest.id_types import (
    are_comparable,
    describe,
    is_plain,
    plain_type,
    restored,
    to_plain,
    unless_plain,
)
from edgewise.ingest.records import Records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from edgewise.components.result import Name
    from edgewise.ingest.frames import Frame

CLUSTER, SIZE = ADDED


@dataclass(frozen=True, eq=False, repr=False)
class UpdatedComponents(Components):
    """Connected components of old clusters and new pairs.

    Attributes
    ----------
    graph, method, seconds, devices, merge
        As in :class:`Components`; the graph has the new pairs, and an edge from each row of the old table to
        the first row of its cluster.
    naming : str
        The rule for the names of clusters, of the old table and of this one.
    """

    naming: Name = "min"
    _old: Any = None

    @property
    def _naming(self) -> Name:
        return self.naming

    def table(self, name: Name | None = None, *, min_size: int = 1) -> ClusterTable:
        """The table of the new clusters, by default with names by the same rule."""
        return ClusterTable(self, name or self.naming, min_size, self._old.records.id_column)

    def changes(self) -> Frame:
        """Return the clusters that have changed, a row for each old cluster, and those that are new.

        Returns
        -------
        pyarrow.Table, pandas.DataFrame or polars.DataFrame
            ``change``: ``'merged'`` (with other old clusters), ``'grown'`` (by new members) or ``'new'``;
            ``before``: the old name, null for a new cluster; ``cluster``: the new name; ``size_before`` and
            ``size``.  Clusters come in the order of their first members.

        Examples
        --------
        >>> import edgewise as ew
        >>> old = {"id": ["a", "b", "c"], "cluster": ["a", "a", "c"]}
        >>> pairs = {"left_id": ["c", "x"], "right_id": ["b", "y"]}
        >>> result = ew.update_components(old, pairs)
        >>> result.changes().select(["change", "before", "cluster", "size"]).to_pylist()[0]
        {'change': 'merged', 'before': 'a', 'cluster': 'a', 'size': 3}
        >>> result.changes()["before"].to_pylist(), result.changes()["cluster"].to_pylist()
        (['a', 'c', None], ['a', 'a', 'x'])
        """
        return self._framed(self._changes)

    @cached_property
    def _changes(self):
        return _changes(self, self._old.labels)


@front
def update_components(
    clusters: Any,
    pairs: Any,
    *,
    name: Name | None = None,
    vertices: Any = None,
    vertex_id: str | None = None,
    source: str | int | Sequence[str | int] | None = None,
    target: str | int | Sequence[str | int] | None = None,
    weight: str | int | bool | None = None,
    where: str | None = None,
    threshold: float | None = None,
    score: str | None = None,
    null: str | None = None,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
    directed: bool | None = None,
    one_based: bool | None = None,
    header: bool | None = None,
    ids: str | None = None,
    self_loops: str | None = None,
    repeated: str | None = None,
    method: str = "auto",
    device: str | None = None,
    devices: str | Sequence[str] | None = None,
    merge: str = "auto",
    **options: Unpack[CallOptions],
) -> UpdatedComponents:
    """Add pairs to clusters that were found before.

    Parameters
    ----------
    clusters : path or table
        A table of clusters as :meth:`Components.write` writes it with names: a column of ids, ``cluster``,
        and perhaps ``size`` and columns of records.
    pairs : path, list of paths, or table
        The new pairs.
    name : {'min', 'first', 'row'}, optional
        The rule by which the clusters are named, ``'min'`` by default.
    vertices : path or table, optional
        Records of ids that are not in ``clusters``, with the same columns.  They are needed if ``clusters``
        has columns of records; otherwise new ids become vertices by themselves.
    vertex_id : str, optional
        Column of ``clusters``, and of ``vertices``, with the ids; by default ``id`` or ``unique_id``.
    source, target, weight, where, threshold, score, null, sep, decimal, encoding, format, directed
        How the pairs are read, as in :func:`edgewise.read`.
    one_based, header, ids, self_loops, repeated
        As well.
    method, device, devices, merge
        How their components are found, as in :func:`connected_components`.

    Returns
    -------
    UpdatedComponents
        With the old rows first, and then the new ones.

    Raises
    ------
    FileError, GraphError
        A table cannot be read, the names do not follow the rule, an id is of another kind, is in both
        ``clusters`` and ``vertices``, or has no record.
    OptionError, DeviceError, OutOfMemoryError

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.Graph.from_edges(["b", "d"], ["a", "e"])
    >>> monday = ew.connected_components(graph).to_frame("min")
    >>> tuesday = ew.update_components(monday, {"left_id": ["e", "f"], "right_id": ["a", "g"]})
    >>> tuesday.to_frame().to_pydict()["cluster"]
    ['a', 'a', 'a', 'a', 'f', 'f']
    """
    check_name(name)
    reading = {"source": source, "target": target, "weight": weight, "where": where, "threshold": threshold}
    reading |= {"score": score, "null": null, "sep": sep, "decimal": decimal, "encoding": encoding}
    reading |= {"format": format, "directed": directed, "one_based": one_based, "header": header, "ids": ids}
    reading |= {"self_loops": self_loops, "repeated": repeated}
    old = read_clusters(clusters, name or "min", vertex_id)
    graph = old.with_pairs(pairs, vertices, {key: one for key, one in reading.items() if one is not None})
    graph.frame_kind = kind_of(clusters)
    how: Any = {"method": method, "device": device, "devices": devices, "merge": merge}
    return old.updated(connected_components(graph, **how))


@dataclass(frozen=True)
class OldClusters:
    """A table of clusters.

    Attributes
    ----------
    records : Records
        The table.
    naming : str
        The rule that the names follow.
    labels : (n,) int64 array
        First row of each row's cluster.
    """

    records: Records
    naming: Name
    labels: np.ndarray

    def with_pairs(self, pairs, vertices=None, reading=None) -> Graph:
        """The graph of the clusters and new pairs; the arguments are those of :func:`update_components`."""
        reading, old, before = reading or {}, self.records, self.labels
        own = [column for column in old.schema.names if column not in ADDED]
        together = _only(old, own)
        if vertices is not None:
            together = _joined(together, records_of(vertices, old.id_column, reading.get("encoding")))
        together = replace(together, grow=len(own) == 1 and vertices is None)
        graph: Graph
        if isinstance(pairs, str | bytes | os.PathLike | list | tuple):
            graph = read(pairs, vertices=together, **{"weight": False, **reading})
        else:
            graph = Graph.from_frame(pairs, vertices=together, **reading)
        rows: Any = np.flatnonzero(before != np.arange(len(before))).astype(index_type(graph.n_vertices))
        ends = (graph.sources, rows), (graph.targets, before[rows].astype(rows.dtype))
        sources, targets = (np.concatenate([one.astype(rows.dtype) for one in end]) for end in ends)
        whole = Graph(graph.n_vertices, edges=(sources, targets, None), ids=graph.ids)
        whole.records = together if len(own) > 1 else None
        return whole

    def updated(self, result) -> UpdatedComponents:
        """The components of that graph with what is known of the old clusters."""
        own = {one.name: getattr(result, one.name) for one in fields(Components)}
        return UpdatedComponents(**own, naming=self.naming, _old=self)


def read_clusters(clusters, naming="min", id_column=None) -> OldClusters:
    """Read a table of clusters, whose names must follow the rule."""
    records = records_of(clusters, id_column)
    labels = _labels(records)
    _check_names(records, labels, naming)
    return OldClusters(records, naming, labels)


def _column(records, name):
    """A column of records, with ids as they are numbered, as one Arrow array."""
    import pyarrow as pa

    kind = records.schema.field(name).type
    chunks = [batch.column(0) for batch in records.batches([name])]
    column = pa.chunked_array(chunks, kind).combine_chunks()
    if plain_type(kind) is not None:
        column = to_plain(column, unless_plain(kind), f"column {name!r} of {records.name}")
    return column.cast(value_type(column.type))


def _labels(old):
    """The first row of each row's cluster in a table of clusters: an (n,) int64 array."""
    if CLUSTER not in old.schema.names or old.id_column == CLUSTER:
        remedy = f"write it with {argument('name', 'min')}, or with records"
        raise GraphError(f"{old.name} has no column {CLUSTER!r}, as a table of named clusters has; {remedy}")
    names = _column(old, CLUSTER)
    if names.null_count:
        row = names.is_null().index(True).as_py() + 1
        raise GraphError(f"{CLUSTER!r} of {old.name} is null in row {row:,}; every row has a cluster")
    if is_text(names.type):
        numbers = ColumnNumbers(names.type, names.type, len(names)).add_column(names)
    else:
        numbers = np.unique(names.to_numpy(zero_copy_only=False), return_inverse=True)[1]
    first = np.zeros(int(numbers.max()) + 1 if len(numbers) else 0, np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)  # the last write stays
    return first[numbers]


def _check_names(old, labels, name):
    """Raise unless the names of the old clusters follow the rule."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kinds = [old.schema.field(column).type for column in (old.id_column, CLUSTER)]
    if name != "row" and not (all(map(is_plain, kinds)) or are_comparable(*kinds)):
        held = f"column {CLUSTER!r} of {old.name} holds {describe(kinds[1])}, column {old.id_column!r} "
        raise GraphError(f"{held}{describe(kinds[0])}; clusters are named by the id of a member")
    ids, given = _column(old, old.id_column), _column(old, CLUSTER)
    plain = ids if is_text(ids.type) else np.ascontiguousarray(ids.to_numpy(zero_copy_only=False))
    expected = arrow_array(labels)
    if name != "row":
        givers = name_givers(labels, plain, name)
        expected = ids.take(arrow_array(labels if givers is None else givers[labels]))
    try:
        same = pc.equal(given.cast(expected.type), expected)
    except pa.ArrowInvalid:
        held = f"column {CLUSTER!r} of {old.name} holds {given.type}, column {old.id_column!r} {ids.type}"
        raise GraphError(f"{held}; clusters are named by the id of a member") from None
    row = same.index(False).as_py()
    if row >= 0:
        shown = [
            restored(column.slice(row, 1), None if name == "row" else unless_plain(kinds[0]), 1)[0].as_py()
            for column in (given, expected)
        ]
        problem = f"the cluster of row {row + 1:,} of {old.name} is {shown[0]!r}"
        rule = f"by the rule {name!r} it is {shown[1]!r}"
        raise GraphError(f"{problem}, but {rule}; say how the clusters are named with {argument('name')}")


def _only(records, columns) -> Records:
    """The records with some of their columns."""
    import pyarrow as pa

    return replace(records, schema=pa.schema([records.schema.field(column) for column in columns]))


def _joined(old, new) -> Records:
    """Old records and then new ones with the same columns."""
    missing = [name for name in old.schema.names if name not in new.schema.names]
    more = [name for name in new.schema.names if name not in old.schema.names]
    if missing or more:
        which, where = (missing[0], new) if missing else (more[0], old)
        raise GraphError(
            f"{where.name} has no column {which!r}, unlike the other records; give both the same"
        )
    for one, other in ((old.schema.field(name), new.schema.field(name)) for name in old.schema.names):
        if one.type != other.type:
            problem = f"column {one.name!r} holds {one.type} in {old.name}, but {other.type} in {new.name}"
            raise GraphError(f"{problem}; convert one to the other")

    def batches(columns):
        return chain(old.batches(columns), new.batches(columns))

    rows = None if None in (old.rows, new.rows) else old.rows + new.rows
    return replace(old, batches=batches, name=f"{old.name} and {new.name}", rows=rows)


def _changes(result, before):
    """The table of :meth:`UpdatedComponents.changes`; ``before`` are the labels of the old clusters."""
    import pyarrow as pa

    table = result.table()
    labels = table.labels.astype(np.int64, copy=False)
    sizes_before = np.bincount(before, minlength=len(labels))
    old = np.flatnonzero(before == np.arange(len(before)))
    now = labels[old]
    parts = np.bincount(now, minlength=len(labels))
    merged = parts[now] > 1
    touched = merged | (table.sizes[now] > sizes_before[old])
    new = np.flatnonzero((labels == np.arange(len(labels))) & (parts == 0))
    roots = np.concatenate([now[touched], new])
    firsts = np.concatenate([old[touched], new])
    kinds = np.concatenate([np.where(merged[touched], 0, 1), np.full(len(new), 2)])
    order = np.lexsort((firsts, roots))
    roots, firsts, kinds = roots[order], firsts[order], kinds[order]
    is_new = kinds == 2
    columns = {
        "change": pa.array(["merged", "grown", "new"]).take(arrow_array(kinds)),
        "before": _names_before(result, before, np.where(is_new, 0, firsts), is_new),
        "cluster": table.names_of(roots),
        "size_before": arrow_array(np.where(is_new, 0, sizes_before[firsts]).astype(np.int64)),
        "size": arrow_array(table.sizes[roots]),
    }
    return pa.table(columns)


def _names_before(result, before, firsts, is_new):
    """Names that old clusters had, given by their first rows; null for new ones."""
    ids, names = result.graph.ids, arrow_array(firsts)
    if result.naming != "row":
        least = name_givers(before, ids[: len(before)] if ids is not None else None, result.naming)
        givers = firsts if least is None or not len(least) else least[firsts]
        names = arrow_array(result.graph.ids_of(givers))
    return names.take(arrow_array(np.arange(len(names)), nulls=is_new))
