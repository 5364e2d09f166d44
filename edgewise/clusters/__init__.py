"""Clusters that live: a store of records, scored pairs and decisions, whose clusters keep their names.

A store takes batches: pairs and records that come and go, decisions of people, and another threshold.
:mod:`~edgewise.clusters.request` reads what is asked, :mod:`~edgewise.clusters.batch` works out what that
changes, :mod:`~edgewise.clusters.naming` passes the names on, and :mod:`~edgewise.clusters.state` takes the
changes in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.clusters.batch import worked_out
from edgewise.clusters.history import Entry, MemoryHistory, log_table, now
from edgewise.clusters.request import request_of
from edgewise.clusters.state import NO_CLUSTER, State
from edgewise.errors import OptionError, argument
from edgewise.ingest.arrow import arrow_array

if TYPE_CHECKING:
    import pyarrow

__all__ = ["ClusterStore"]


class ClusterStore:
    """Clusters that are kept up to date, in memory."""

    def __init__(self, *, threshold: float | None = None):
        self._state, self._history = State(), MemoryHistory()
        self._state = State(threshold)

    def apply(self, *, threshold: Any = "keep", cause: str | None = None, **given: Any) -> pyarrow.Table:
        state = self._state
        reading = {name: given.pop(name) for name in ("source", "target", "score") if name in given}
        given = {name: value for name, value in given.items() if value is not None}
        given["threshold"] = state.facts.threshold if threshold == "keep" else threshold
        request = request_of(state, given, reading)
        entry = Entry(request, *worked_out(state, request), now(), cause)
        self._history.append(entry, state)
        state.take(entry.delta)
        return log_table(entry)

    def to_frame(self):
        return self._table(self._state["clusters"])

    def at(self, entry: int):
        if not 0 <= entry <= self._state.facts.entry:
            raise OptionError(
                f"{argument('entry', entry)} is none; the last one is {self._state.facts.entry}"
            )
        clusters = np.full(self._state.n_records, NO_CLUSTER)
        for records, names in self._history.changed(entry):
            clusters[records] = names
        return self._table(clusters)

    def _table(self, clusters):
        import pyarrow as pa

        records = np.flatnonzero(clusters != NO_CLUSTER)
        ids = pa.nulls(0, pa.string()) if self._state.ids is None else self._state.ids.column(records)
        return pa.table({"id": ids, "cluster": arrow_array(clusters[records])})

    def log(self):
        import pyarrow as pa

        return pa.concat_tables(self._history.log_tables())
