"""The entries of a store: the log of its clusters, and which records got another cluster, by entry."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from edgewise.clusters.batch import Request, done_again
from edgewise.clusters.ids import ids_of_kind
from edgewise.clusters.naming import CHANGES, Log
from edgewise.clusters.state import NO_CLUSTER, Delta, Moves, ends_of, keys_of
from edgewise.ingest.arrow import arrow_array, numpy_array
from edgewise.ingest.id_types import restored

#: Parts of a request, in the order in which they are done, and what they are called in a table.
OPERATIONS = {"removed": "remove", "withdrawn": "withdraw", "deleted": "delete", "records": "record"}
OPERATIONS |= {"added": "add", "musts": "must", "cannots": "cannot"}
#: Those that are of records.
SINGLE = ("deleted", "records")


@dataclass(frozen=True)
class Entry:
    """One batch.

    Attributes
    ----------
    request, delta : Request, Delta
        What was asked, and what it changes.
    log : function
        Returns what becomes of clusters; it can be called once.
    time : datetime
        In UTC.
    cause : str or None
    """

    request: Request
    delta: Delta
    log: Callable[[], Log]
    time: datetime
    cause: str | None

    @property
    def number(self) -> int:
        """The entries of a store are numbered from 1 on."""
        return self.delta.facts.entry

    def table(self):
        """The log as a table of Arrow, which can be made once; changes are codes of a dictionary."""
        import pyarrow as pa

        log = self.log()
        count, changes = len(log.change), _coded(log.change, CHANGES)
        times = pa.repeat(pa.scalar(self.time, pa.timestamp("us", "UTC")), count)
        causes = pa.repeat(pa.scalar(self.cause, pa.string()), count)
        names = (arrow_array(names, names == NO_CLUSTER) for names in (log.before, log.cluster))
        columns = arrow_array(np.full(count, self.number)), times, causes, changes
        sizes = arrow_array(log.size_before), arrow_array(log.size)
        return pa.Table.from_arrays([*columns, *names, *sizes], names=log_schema().names)


def _coded(codes, names):
    """A column of names by their codes, which Parquet keeps as they are."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(arrow_array(codes), pa.array(names))


def now() -> datetime:
    """The time of an entry."""
    return datetime.now(UTC)


def log_schema():
    """The columns of a log and their types."""
    import pyarrow as pa

    whole, text = pa.int64(), pa.string()
    kinds = {"entry": whole, "time": pa.timestamp("us", "UTC"), "cause": text, "change": text}
    return pa.schema(kinds | dict.fromkeys(("before", "cluster", "size_before", "size"), whole))


def asked_table(request: Request):
    """What was asked, by numbers of records, as a table of Arrow."""
    import pyarrow as pa

    parts = []
    for code, (name, operation) in enumerate(OPERATIONS.items()):
        values = getattr(request, name)
        if name in SINGLE:
            sources, targets = (
                values.astype(np.uint32),
                arrow_array(np.zeros(len(values), np.uint32), values >= 0),
            )
        else:
            sources, targets = ends_of(values)
        scores = np.full(len(values), np.nan)
        if operation == "add" and request.scores is not None:
            scores = request.scores
        operations = _coded(np.full(len(values), code, np.int8), list(OPERATIONS.values()))
        columns = {"operation": operations}
        columns |= {"source": arrow_array(sources), "target": arrow_array(targets)}
        parts.append(pa.table(columns | {"score": arrow_array(scores, np.isnan(scores))}))
    return pa.concat_tables(parts)


def ids_table(request: Request, n_before):
    """The new records with their ids, as a table of Arrow; there were ``n_before`` before."""
    import pyarrow as pa

    count = 0 if request.new_ids is None else len(request.new_ids)
    ids = pa.nulls(0, pa.string())
    if count:
        ids = restored(request.new_ids, ids_of_kind(request.facts.kind, request.facts.type).type, count)
    return pa.table(
        {"record": arrow_array(np.arange(n_before, n_before + count, dtype=np.uint32)), "id": ids}
    )


def members_table(delta: Delta):
    """The records with another cluster or tree, as a table of Arrow."""
    import pyarrow as pa

    numbers, clusters = arrow_array(delta.records.astype(np.uint32)), delta.clusters
    cluster = arrow_array(clusters, clusters == NO_CLUSTER)
    return pa.table({"record": numbers, "cluster": cluster, "tree": arrow_array(delta.trees)})


def request_in(asked, ids, facts, state) -> Request:
    """What was asked of a state, out of the tables of an entry; ``facts`` are those after it."""
    import pyarrow.compute as pc

    values = {}
    operations, sources, targets, scores = (asked[name].combine_chunks() for name in asked.column_names)
    for name, operation in OPERATIONS.items():
        rows = pc.equal(operations, operation)
        ends = (numpy_array(column.filter(rows)).astype(np.int64) for column in (sources, targets))
        values[name] = next(ends) if name in SINGLE else keys_of(*ends)
    added = scores.filter(pc.equal(operations, "add"))
    column, new_ids = ids["id"].combine_chunks(), None
    if len(column):
        own = ids_of_kind(facts.kind, facts.type)
        if own.type is not None:  # Parquet has no seconds
            column = column.cast(own.type)
        new_ids = own.plain(column, "id")
    before = facts._replace(entry=state.facts.entry, n_names=state.facts.n_names)
    values["scores"] = None if added.null_count or not facts.is_scored else numpy_array(added)
    return Request(facts=before, new_ids=new_ids, with_pairs=True, **values)


def delta_in(tables, facts, state) -> Delta:
    """What an entry changes in a state, out of its tables by name."""
    import pyarrow.compute as pc

    request, members = request_in(tables["asked"], tables["ids"], facts, state), tables["members"]
    records, trees = (numpy_array(members[name]) for name in ("record", "tree"))
    clusters = numpy_array(pc.fill_null(members["cluster"], NO_CLUSTER))
    return done_again(state, request, facts, Moves(records.astype(np.int64), trees, clusters))


class MemoryHistory:
    """The entries of a store that is on no disk."""

    def __init__(self):
        self.tables: list[Any] = []
        self.members: list[tuple] = []

    def append(self, entry: Entry, state):
        """Keep an entry, which a state takes in; return its log."""
        table = entry.table().cast(log_schema())
        state.take(entry.delta)
        self.tables.append(table)
        self.members.append((entry.delta.records, entry.delta.clusters))
        return table

    def load(self, state):
        """The state after the last entry, which is the one that is there."""
        return state

    def log_tables(self):
        """The log, a table for each entry."""
        return self.tables

    def changed(self, last):
        """Records and their clusters by entry, up to the ``last`` one."""
        return self.members[:last]
