"""The store of clusters, as users see it."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from edgewise.clusters.batch import refusal, worked_out
from edgewise.clusters.folder import Folder, create
from edgewise.clusters.history import Entry, MemoryHistory, log_schema, now
from edgewise.clusters.request import LookUp, checked_settings, ids_of, request_of
from edgewise.clusters.state import NO_CLUSTER, Facts, State, ends_of
from edgewise.components import connected_components
from edgewise.components.threshold_limits import checked
from edgewise.device.threads import few_steps
from edgewise.errors import GraphError, OptionError, argument
from edgewise.front import named
from edgewise.graph import Graph
from edgewise.ingest.arrow import arrow_array, numpy_array
from edgewise.method import is_number
from edgewise.result import counted

if TYPE_CHECKING:
    import pyarrow

    from edgewise.forest.explanation import Explanation


def _is_keep(value):
    return isinstance(value, str) and value == "keep"


def _said(name, value):
    """A setting in words."""
    return f"no {name}" if value is None else f"{name} {value}"


class ClusterStore:
    """Clusters of records, by pairs that come and go and by decisions of people; they keep their names.

    Two records are in one cluster if pairs whose scores reach the threshold join them, or a decision that
    they must be together.  Pairs count in the order of their scores, the best ones first, and one that would
    bring two records together that cannot be is left out.

    A name is a number that is never used again.  It passes to the cluster that holds the most of its members
    of before, and if that gets several names, the one with the most members there stays, of those with as
    many the oldest one.

    Without a folder (:meth:`create`, :meth:`open`) a store is in memory.

    Parameters
    ----------
    threshold : float, optional
        Least score of a pair that counts.  Other pairs are kept for a lower threshold.
    max_size : int, optional
        Largest number of records of a cluster.  A larger one loses the weakest pair that holds it together,
        and so do its parts, as in :meth:`SpanningForest.split`.
    one_to_one : list of str or 'all', optional
        Datasets without duplicates: no cluster has two records of one of them, as in :func:`best_links`.  Ids
        name their datasets: ``'crm-__-17'`` is of ``crm``.

    Raises
    ------
    OptionError
        The threshold is no number, the size no whole number from 1 on, or the datasets are no list.

    Notes
    -----
    A batch takes time for what it touches, the clusters with all of their pairs, and for a scan of the pairs;
    so many changes in one batch take much less time than one by one.  A store is not thread-safe.

    Examples
    --------
    >>> import edgewise as ew
    >>> store = ew.ClusterStore(threshold=0.5)
    >>> log = store.apply(add=[("ann", "anna", 0.9), ("anna", "hanna", 0.6), ("bob", "rob", 0.8)])
    >>> log.select(["change", "cluster", "size"]).to_pylist()
    [{'change': 'born', 'cluster': 0, 'size': 3}, {'change': 'born', 'cluster': 1, 'size': 2}]
    >>> log = store.apply(cannot=[("ann", "hanna")], cause="a reviewer")
    >>> log.select(["change", "before", "cluster", "size"]).to_pylist()  # doctest: +NORMALIZE_WHITESPACE
    [{'change': 'shrank', 'before': 0, 'cluster': 0, 'size': 2},
     {'change': 'split', 'before': 0, 'cluster': 2, 'size': 1}]
    >>> store.to_frame().to_pydict()["cluster"]
    [0, 0, 2, 1, 1]
    """

    def __init__(
        self,
        *,
        threshold: float | None = None,
        max_size: int | None = None,
        one_to_one: Sequence[str] | Literal["all"] | None = None,
    ):
        given = {"threshold": threshold, "max_size": max_size, "one_to_one": one_to_one}
        self._state = State(checked_settings(given, Facts()))
        self._history: Any = MemoryHistory()

    @classmethod
    def create(
        cls,
        path: str | PathLike,
        *,
        threshold: float | None = None,
        max_size: int | None = None,
        one_to_one: Sequence[str] | Literal["all"] | None = None,
    ) -> Self:
        """Create a store in a new folder.

        Parameters
        ----------
        path : path-like
            A folder that is not there, or empty.
        threshold, max_size, one_to_one : optional
            As for a store in memory.

        Raises
        ------
        FileError
            Something is there, or the folder cannot be written.
        OptionError
            A setting is not what it must be.
        """
        store = cls(threshold=threshold, max_size=max_size, one_to_one=one_to_one)
        store._history = create(path, store._state.facts.settings)
        return store

    @classmethod
    def open(cls, path: str | PathLike) -> Self:
        """Open the store in a folder, as it is after its last entry.

        Any number of processes can have a store open, and add entries to it in turn.  A store that is open
        does not see entries of others before it adds one itself.

        Raises
        ------
        FileError
            There is no store, or it is damaged, or of another version of edgewise or another user.
        """
        store = cls()
        store._history = Folder(path)
        store._state = store._history.load()
        return store

    def close(self) -> None:
        """Wait until the store has written all of its files.

        Every entry is on disk when :meth:`apply` returns.  The arrays by which a large store opens at once
        may be written after that; close the store before its folder is copied or removed.  It can be used
        afterwards, too.  ``with`` closes it at the end.
        """
        if isinstance(self._history, Folder):
            self._history.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def entry(self) -> int:
        """Number of the last entry; 0 for a store without any."""
        return self._state.facts.entry

    @property
    def threshold(self) -> float | None:
        """Least score of a pair that counts; ``None`` if all do."""
        return self._state.facts.threshold

    @property
    def max_size(self) -> int | None:
        """Largest number of records of a cluster; ``None`` if there is none."""
        return self._state.facts.max_size

    @property
    def one_to_one(self) -> list[str] | str | None:
        """Datasets of which a cluster has one record at most; ``None`` if there are none."""
        return self._state.facts.one_to_one

    @property
    def n_records(self) -> int:
        """Number of records."""
        return int(np.count_nonzero(self._state["clusters"] != NO_CLUSTER))

    @property
    def n_pairs(self) -> int:
        """Number of pairs, whatever their scores."""
        return int(np.count_nonzero(~np.isnan(self._state["scores"])))

    @property
    def n_clusters(self) -> int:
        """Number of clusters, those of single records included."""
        is_name = np.zeros(self._state.facts.n_names, bool)
        is_name[self._state["clusters"][self._state["clusters"] != NO_CLUSTER]] = True
        return int(np.count_nonzero(is_name))

    def __repr__(self) -> str:
        shown = [counted(self.n_records, "record"), counted(self.n_pairs, "pair")]
        return (
            f"<{type(self).__name__}: {', '.join(shown)}, {self.n_clusters:,} clusters at entry {self.entry}>"
        )

    @named
    def apply(
        self,
        *,
        add: Any = None,
        remove: Any = None,
        records: Any = None,
        delete: Any = None,
        must: Any = None,
        cannot: Any = None,
        withdraw: Any = None,
        threshold: float | Literal["keep"] | None = "keep",
        max_size: int | Literal["keep"] | None = "keep",
        one_to_one: Sequence[str] | Literal["all", "keep"] | None = "keep",
        with_pairs: bool = False,
        cause: str | None = None,
        source: str | Sequence[str] | None = None,
        target: str | Sequence[str] | None = None,
        score: str | None = None,
        vertex_id: str | None = None,
    ) -> pyarrow.Table:
        """Apply a batch of changes, as a whole or not at all, as the next entry.

        Pairs are removed, decisions withdrawn and records deleted first, and everything else is added then.
        Pairs come as a table, a file or several files as of :func:`edgewise.read`, a graph, or a list of
        tuples; their order within a pair does not matter.

        Parameters
        ----------
        add : pairs
            With scores, unless the store has none.  A pair that is there gets the new score; of a pair that
            occurs several times, the highest score counts.  Ids that are new become records.
        remove : pairs
            They must be there.
        records : ids or table
            Records, also those without pairs: a list or array of ids, or a table or file with a column of
            them.  Those that are there stay.
        delete : ids or table
            Records to be deleted.  No pair or decision may name them then.
        must, cannot : pairs
            Records that must be in one cluster, and that cannot be.
        withdraw : pairs
            Decisions to be withdrawn.
        threshold, max_size, one_to_one : optional
            Other settings, which hold from now on; ``None`` for none.
        with_pairs : bool
            Remove the pairs and decisions of deleted records, too.
        cause : str, optional
            What the log says of this entry; by default the settings that it changes.
        source, target, score : str, optional
            Columns of tables of pairs, as of :func:`edgewise.read`.
        vertex_id : str, optional
            Column of tables of records; by default ``id`` or ``unique_id``.

        Returns
        -------
        pyarrow.Table
            The rows of :meth:`log` for this entry.

        Raises
        ------
        GraphError
            A pair to be removed, a decision to be withdrawn or a record to be deleted is not there; a
            decision names no record; decisions contradict each other, or ``one_to_one``; deleted records are
            still named; a score is missing or NaN; ids are of another kind, or name no dataset.  The message
            says which.
        FileError
            A file cannot be read or written, or another process writes to the store.
        OptionError
            A setting is not what it must be; more records than ``max_size`` must be together.
        """
        given = {"add": add, "remove": remove, "records": records, "delete": delete, "must": must}
        given |= {"cannot": cannot, "withdraw": withdraw, "with_pairs": with_pairs}
        given = {name: value for name, value in given.items() if value is not None}
        settings = {"threshold": threshold, "max_size": max_size, "one_to_one": one_to_one}
        given |= {name: value for name, value in settings.items() if not _is_keep(value)}
        reading = {"source": source, "target": target, "score": score, "vertex_id": vertex_id}
        if cause is not None and not isinstance(cause, str):
            raise OptionError(f"{argument('cause', cause)} is no text")
        if not isinstance(self._history, Folder):
            return self._apply(given, reading, cause)
        with self._history.locked():
            if not self._history.is_current():
                self._state = self._history.load()
            return self._apply(given, reading, cause)

    def _apply(self, given, reading, cause):
        request, state = request_of(self._state, given, reading), self._state
        if cause is None:
            before, after = state.facts.settings, request.facts.settings
            cause = ", ".join(_said(*one) for one in after.items() if one not in before.items()) or None
        n_steps = state.n_records + state.n_pairs + len(request.added)
        with few_steps(n_steps):
            entry = Entry(request, *worked_out(state, request), now(), cause)
            try:
                return self._history.append(entry, state)
            except BaseException:
                self._state = self._history.load(state)
                raise

    def add(self, pairs: Any, **options: Any) -> pyarrow.Table:
        """Add pairs.

        Parameters
        ----------
        pairs : pairs
            As of :meth:`apply`.
        **options
            Other arguments of :meth:`apply`.
        """
        return self.apply(add=pairs, **options)

    def remove(self, pairs: Any, **options: Any) -> pyarrow.Table:
        """Remove pairs.

        Parameters
        ----------
        pairs : pairs
            As of :meth:`apply`.
        **options
            Other arguments of :meth:`apply`.
        """
        return self.apply(remove=pairs, **options)

    def to_frame(self) -> pyarrow.Table:
        """Return the records, in the order in which they came: columns ``id`` and ``cluster``."""
        return self._table(self._state["clusters"])

    def at(self, entry: int | None = None, *, thresholds: Sequence[float] | None = None) -> pyarrow.Table:
        """Return the records and clusters after an entry, or as they would be at higher thresholds.

        Parameters
        ----------
        entry : int, optional
            From 0 on, which is the empty store, to the last :attr:`entry`, which is the default.
        thresholds : list of float, optional
            In ascending order, none below the threshold of the store.

        Returns
        -------
        pyarrow.Table
            As of :meth:`to_frame`.  With thresholds ``id``, and for each of them a column such as
            ``cluster_0.95``: the id of the first record of the cluster that a record would be in.

        Raises
        ------
        OptionError
            There is no such entry; thresholds are no ascending numbers, too low, or of pairs without scores.
        """
        if thresholds is not None:
            return self._at_thresholds(thresholds, entry)
        if entry is None:
            return self.to_frame()
        if not is_number(entry, whole=True) or not 0 <= entry <= self.entry:
            raise OptionError(f"{argument('entry', entry)} is none; the entries are 0 to {self.entry}")
        clusters = np.full(self._state.n_records, NO_CLUSTER)
        for records, names in self._history.changed(int(entry)):
            clusters[records] = np.where(np.isnan(names), NO_CLUSTER, names)
        return self._table(clusters)

    def _at_thresholds(self, thresholds, entry):
        """The clusters at higher thresholds, which are parts of those of the store."""
        given, asked, facts = checked(thresholds), argument("thresholds"), self._state.facts
        if entry is not None:
            raise OptionError(f"{asked} is of the last entry; leave out it or {argument('entry')}")
        if not facts.is_scored:
            raise OptionError(f"{asked} needs scores, and the pairs of the store have none")
        if given[0] < facts.least:
            problem = f"{asked} holds {given[0]}, which is below the threshold of the store, {facts.least}"
            raise OptionError(f"{problem}; change that with apply, or leave it out")
        return connected_components(self._inside()[0], thresholds=given).to_frame("first")

    def log(self, *, cluster: int | None = None) -> pyarrow.Table:
        """Return what has become of all clusters, or of one: a row for each change, in their order.

        Parameters
        ----------
        cluster : int, optional
            A name.

        Returns
        -------
        pyarrow.Table
            ``entry``, ``time`` (UTC) and ``cause``; ``change``: ``'born'`` (of new records), ``'grew'`` (has
            new members), ``'shrank'`` (has lost members), ``'merged'`` (``before`` into ``cluster``),
            ``'split'`` (``cluster`` from ``before``) or ``'retired'`` (all members were deleted); ``before``
            and ``cluster``: names; ``size_before`` and ``size``.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        table = pa.concat_tables([log_schema().empty_table(), *self._history.log_tables()])
        if cluster is None:
            return table
        is_named = (pc.equal(table[name], cluster) for name in ("before", "cluster"))
        return table.filter(pc.or_kleene(*is_named))

    def pairs(self) -> pyarrow.Table:
        """Return all pairs: columns ``source``, ``target`` and, unless there are none, ``score``."""
        return self._pairs(np.flatnonzero(~np.isnan(self._state["scores"])))

    def decisions(self) -> pyarrow.Table:
        """Return the decisions: columns ``decision`` (``must`` or ``cannot``), ``source`` and ``target``."""
        import pyarrow as pa

        keys, kinds = self._state.musts, ["must"] * len(self._state.musts)
        ends = ends_of(np.concatenate([keys, self._state.cannots]))
        kinds += ["cannot"] * len(self._state.cannots)
        source, target = (self._ids(end) for end in ends)
        return pa.table({"decision": pa.array(kinds, pa.string()), "source": source, "target": target})

    def conflicts(self) -> pyarrow.Table:
        """Return the pairs that count, and that decisions or settings keep apart, as :meth:`pairs` does."""
        state = self._state
        ends, scores = (state["ones"], state["others"]), state["scores"]
        one, other = (state["clusters"][end] for end in ends)
        return self._pairs(np.flatnonzero((scores >= state.facts.least) & (one != other)))

    def why(self, source: Any, target: Any) -> Explanation:
        """Return why two records are in one cluster: the strongest path of pairs between them.

        A pair that must be together has an infinite score.

        Parameters
        ----------
        source, target : id

        Raises
        ------
        GraphError
            A record is not there, or the two are in different clusters.  If pairs join them all the same, the
            message names one that is refused, and the decision or the setting that refuses it.
        """
        from edgewise.forest import minimum_spanning_forest

        state = self._state
        numbers = LookUp(state, state.facts).find(ids_of([source, target], "records"), "records")
        one, other = state["clusters"][numbers]
        if one != other:
            between, problem = refusal(state, *numbers), "nothing joins them"
            if between is not None:
                ends = " and ".join(repr(self._ids(np.array([end]))[0].as_py()) for end in between[:2])
                score = f" ({between.score:g})" if state.facts.is_scored else ""
                problem = f"the pair of {ends}{score} is refused, since {between.reason}"
            raise GraphError(f"{source!r} is in cluster {one}, and {target!r} in {other}; {problem}")
        graph, _ = self._inside([one])
        return minimum_spanning_forest(graph, maximum=True).explain(source, target)

    def cohesion(self, count: int | None = None, *, clusters: Any = None) -> pyarrow.Table:
        """Return how well clusters hold together, as :meth:`Components.cohesion` does.

        Parameters
        ----------
        count : int, optional
            Number of clusters, those first that one wrong pair may part the most; all by default.
        clusters : list or array of int, optional
            Names of the clusters to look at, such as those in a log; all by default.  Names that no cluster
            has any more are left out.
        """
        return self._judged("cohesion", count, clusters)

    def review(self, count: int | None = None, *, clusters: Any = None) -> pyarrow.Table:
        """Return the pairs to look at first, as :meth:`Components.review` does.

        Parameters
        ----------
        count : int, optional
            Number of pairs, those first that alone hold the most together; all by default.
        clusters : list or array of int, optional
            As of :meth:`cohesion`.
        """
        return self._judged("review", count, clusters)

    def _judged(self, method, count, clusters):
        """What a method of the components says of some clusters, by their names."""
        graph, names = self._inside(clusters)
        table = getattr(connected_components(graph), method)(count, "row")
        place = table.column_names.index("cluster")
        return table.set_column(place, "cluster", arrow_array(names[table["cluster"].to_numpy()]))

    def _inside(self, names=None):
        """The graph of the pairs that count inside of some clusters, or of all, and the vertices' names."""
        state = self._state
        clusters, position = state["clusters"], np.empty(state.n_records, np.uint32)
        is_member = clusters != NO_CLUSTER
        if names is not None:
            names = np.asarray(names)
            if names.size and names.dtype.kind not in "iuf":
                raise OptionError(f"{argument('clusters')} holds other things than names; give whole numbers")
            is_member &= np.isin(clusters, names)
        members = np.flatnonzero(is_member)
        position[members] = np.arange(len(members))
        one, other = state["ones"], state["others"]
        rows = is_member[one] & (clusters[one] == clusters[other]) & (state["scores"] >= state.facts.least)
        musts = [end[is_member[end]] for end in ends_of(state.musts)]
        ends = [position[np.concatenate([end[rows], must])] for end, must in zip((one, other), musts)]
        weights = np.concatenate([state["scores"][rows], np.full(len(musts[0]), np.inf)])
        ids = self._ids(members)
        ids = numpy_array(ids) if state.ids is not None and state.ids.kind == "integers" else ids
        return Graph(len(members), edges=(*ends, weights), ids=ids), clusters[members]

    def _ids(self, records):
        import pyarrow as pa

        return pa.nulls(0, pa.string()) if self._state.ids is None else self._state.ids.column(records)

    def _pairs(self, rows):
        import pyarrow as pa

        ends = {
            name: self._ids(self._state[end][rows])
            for name, end in (("source", "ones"), ("target", "others"))
        }
        if self._state.facts.is_scored:
            ends["score"] = arrow_array(self._state["scores"][rows])
        return pa.table(ends)

    def _table(self, clusters):
        import pyarrow as pa

        records = np.flatnonzero(clusters != NO_CLUSTER)
        return pa.table({"id": self._ids(records), "cluster": arrow_array(clusters[records])})
