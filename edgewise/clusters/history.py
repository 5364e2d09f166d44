"""The entries of a store: the log of its clusters, and which records got another cluster, by entry."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from edgewise.clusters.batch import Request
from edgewise.clusters.naming import CHANGES, NONE, Log
from edgewise.clusters.state import Delta
from edgewise.ingest.arrow import arrow_array


class Entry(NamedTuple):
    """One batch: what was asked and what it changes, the log, the time in UTC, and the cause or ``None``."""

    request: Request
    delta: Delta
    log: Log
    time: datetime
    cause: str | None

    @property
    def number(self) -> int:
        """The entries of a store are numbered from 1 on."""
        return self.delta.facts.entry


def now() -> datetime:
    """The time of an entry."""
    return datetime.now(UTC)


def log_table(entry: Entry):
    """The log of an entry as a table of Arrow."""
    import pyarrow as pa

    log, count = entry.log, len(entry.log.change)

    def names(values):
        return arrow_array(values, values == NONE)

    rows = np.zeros(count, np.int64)
    changes = pa.array(CHANGES).take(arrow_array(log.change))
    times = pa.array([entry.time], pa.timestamp("us", "UTC")).take(arrow_array(rows))
    columns = {
        "entry": arrow_array(np.full(count, entry.number)),
        "time": times,
        "cause": pa.array([entry.cause], pa.string()).take(arrow_array(rows)),
        "change": changes,
        "before": names(log.before),
        "cluster": names(log.cluster),
        "size_before": arrow_array(log.size_before),
        "size": arrow_array(log.size),
    }
    return pa.table(columns)


class MemoryHistory:
    """The entries of a store that is on no disk."""

    def __init__(self):
        self.tables: list[Any] = []
        self.members: list[tuple] = []

    def append(self, entry: Entry, state=None):
        """Keep an entry."""
        self.tables.append(log_table(entry))
        self.members.append((entry.delta.records, entry.delta.clusters))

    def log_tables(self):
        """The log, a table for each entry."""
        return self.tables

    def changed(self, last):
        """Records and their clusters by entry, up to the ``last`` one."""
        return self.members[:last]
