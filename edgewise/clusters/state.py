"""The state of a cluster store: records, pairs and decisions, and what a batch changes of them.

Records and pairs have consecutive numbers, in the order in which they came.  Records keep them: one that is
deleted has no cluster, and can come back.  A pair that is removed has the score NaN, and can come back, until
such pairs may be the most: then they are left out, and others get their rows.  A *tree* is a component of the
active pairs, those that reach the threshold, and of the pairs that must be together; a *cluster* is a tree,
or a part of one that decisions divide, or the settings ``max_size`` and ``one_to_one``.

A batch is first worked out as a :class:`Delta` (:mod:`~edgewise.clusters.batch`), which changes nothing, and
then taken in, so that it happens as a whole or not at all.  A store that is opened makes the deltas of its
last entries again, and takes them in in the same way.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.clusters.ids import SPARE, Ids, ids_of_kind
from edgewise.clusters.runs import ABSENT, HALF, Run, Runs
from edgewise.device import each
from edgewise.device.threads import few_steps
from edgewise.ingest.growing import Growing
from edgewise.primitives import filled
from edgewise.primitives.counting_sort import gather, marked, scatter

#: The second record in the key of a pair.
LOW_HALF = np.uint64(0xFFFFFFFF)
#: Name of the cluster of a record that is deleted, and where there is none.
NO_CLUSTER = -1
#: Parts of pairs: their two records, and their scores.
PAIRS = ("ones", "others", "scores")
#: Facts that people set.
SETTINGS = ("threshold", "max_size", "one_to_one")


@each
def _write_key(item, sources, targets, keys):
    one, other = np.uint64(sources[item]), np.uint64(targets[item])
    keys[item] = min(one, other) << HALF | max(one, other)


@each
def _write_ends(item, keys, ones, others):
    ones[item] = keys[item] >> HALF
    others[item] = keys[item] & LOW_HALF


def keys_of(sources, targets):
    """Keys of pairs, whose first record has the smaller number: (m,) uint64 array."""
    keys = np.empty(len(sources), np.uint64)
    with few_steps(len(keys)):
        _write_key(len(keys), sources, targets, keys)
    return keys


def ends_of(keys, ends=None):
    """The two records of pairs by their keys: two (m,) uint32 arrays, those in ``ends`` if there are some."""
    ends = ends or (np.empty(len(keys), np.uint32), np.empty(len(keys), np.uint32))
    with few_steps(len(keys)):
        _write_ends(len(keys), keys, *ends)
    return ends


class Facts(NamedTuple):
    """Numbers of a store.

    Attributes
    ----------
    entry : int
        Number of batches so far.
    threshold : float or None
        Least score of an active pair; ``None`` if all are.
    max_size : int or None
        Largest number of records of a cluster.
    one_to_one : list of str, 'all' or None
        Datasets of which a cluster has one record at most.
    is_scored : bool or None
        Whether pairs have scores; ``None`` before the first pair.
    n_names : int
        Number of names of clusters that were given so far.
    kind, type : str or None
        Kind of the ids, and the type in which they come out (:mod:`~edgewise.clusters.ids`).
    """

    entry: int = 0
    threshold: float | None = None
    is_scored: bool | None = None
    n_names: int = 0
    kind: str | None = None
    type: str | None = None
    max_size: int | None = None
    one_to_one: list[str] | str | None = None

    @property
    def settings(self) -> dict:
        """What people set, by name."""
        return {name: getattr(self, name) for name in SETTINGS}

    @property
    def rules(self) -> tuple:
        """The settings by which trees are divided."""
        return self.max_size, self.one_to_one

    @property
    def least(self) -> float:
        """Least score of an active pair, as a number."""
        return -np.inf if self.threshold is None else self.threshold


class Moves(NamedTuple):
    """Records with another tree or cluster, in ascending order, among them all new ones.

    Attributes
    ----------
    records, trees, clusters : (changed records,) int64, uint32 and int64 arrays
    """

    records: Any
    trees: Any
    clusters: Any


class Delta(NamedTuple):
    """What a batch changes.

    Attributes
    ----------
    facts : Facts
        Those after the batch.
    new_ids : pyarrow.Array or None
        Ids of new records, as they are numbered.
    keys, new_scores : (new pairs,) uint64 and float64 arrays
        New pairs, in the order of their keys.
    rows, scores : (changed pairs,) int64 and float64 arrays
        Pairs that were there, with new scores; NaN removes one.
    records, trees, clusters : (changed records,) int64, uint32 and int64 arrays
        As of :class:`Moves`.
    musts, cannots : (decisions,) uint64 arrays
        Keys of all decisions after the batch, ascending.
    """

    facts: Facts
    new_ids: Any
    keys: Any
    new_scores: Any
    rows: Any
    scores: Any
    records: Any
    trees: Any
    clusters: Any
    musts: Any
    cannots: Any


class State:
    """Records, pairs and decisions.

    Attributes
    ----------
    facts : Facts
    ids : Ids or None
        ``None`` before the first record.
    parts : dict of Growing
        ``ones``, ``others`` (uint32) and ``scores`` of pairs; ``trees`` (uint32, a member of each record's
        tree) and ``clusters`` (int64) of records.
    pair_runs : Runs
        From keys of pairs to pairs.
    musts, cannots : (decisions,) uint64 arrays
        Keys of decisions, ascending.
    n_removed : int
        How many pairs were removed since such pairs were left out, those included that came back.
    """

    def __init__(self, settings=None):
        self.facts = Facts(**(settings or {}))
        if self.facts.threshold is not None:
            self.facts = self.facts._replace(is_scored=True)
        self.ids: Ids | None = None
        kinds = {"ones": np.uint32, "others": np.uint32, "scores": np.float64}
        kinds |= {"trees": np.uint32, "clusters": np.int64}
        self.parts = {name: Growing(kind) for name, kind in kinds.items()}
        self.pair_runs = Runs()
        self.musts = self.cannots = np.empty(0, np.uint64)
        self.n_removed = 0

    def __getitem__(self, name):
        """The items of a part that are in use."""
        return self.parts[name].used_items()

    @property
    def n_records(self) -> int:
        """Number of records, deleted ones included."""
        return self.parts["trees"].used

    @property
    def n_pairs(self) -> int:
        """Number of pairs, removed ones included."""
        return self.parts["ones"].used

    def with_new(self, n_new):
        """Trees and clusters of all records and of new ones, which are trees and in no cluster yet."""
        n = self.n_records
        for name, new in (("trees", np.arange(n, n + n_new)), ("clusters", NO_CLUSTER)):
            self.parts[name].extend(n_new, n_new // SPARE)[:] = new
            self.parts[name].used = n
        return self.parts["trees"].array[: n + n_new], self.parts["clusters"].array[: n + n_new]

    def _leave_out_removed(self):
        """Leave out pairs that are removed."""
        kept, self.n_removed = marked(~np.isnan(self["scores"])), 0
        moved = filled(self.n_pairs, ABSENT, np.int64)
        scatter(moved, kept, np.arange(len(kept)))
        for name in PAIRS:
            values = gather(self[name], kept)
            self.parts[name] = Growing(values.dtype)
            self.parts[name].extend(len(values), len(values) // SPARE)[:] = values
        run = self.pair_runs.whole()
        rows = gather(moved, run.rows)
        found = marked(rows >= 0)
        self.pair_runs = Runs()
        self.pair_runs.add(Run(gather(run.keys, found), gather(rows, found).astype(np.uint32)))

    def set_ids(self):
        """Set the ids, without any yet, once their kind is known."""
        if self.ids is None and self.facts.kind is not None:
            self.ids = ids_of_kind(self.facts.kind, self.facts.type)

    def take(self, delta):
        """Take in what a batch changes."""
        self.musts, self.cannots, self.facts = delta.musts, delta.cannots, delta.facts
        self.set_ids()
        if self.ids is not None and delta.new_ids is not None:
            self.ids.extend(delta.new_ids)
            for name in ("trees", "clusters"):
                self.parts[name].extend(len(delta.new_ids), len(delta.new_ids) // SPARE)
        if len(delta.keys):
            rows = np.arange(self.n_pairs, self.n_pairs + len(delta.keys), dtype=np.uint32)
            self.pair_runs.add(Run(delta.keys, rows))
            new = [self.parts[name].extend(len(rows), len(rows) // SPARE) for name in PAIRS]
            ends_of(delta.keys, new[:2])
            new[2][:] = delta.new_scores
        scatter(self["scores"], delta.rows, delta.scores)
        scatter(self["trees"], delta.records, delta.trees)
        scatter(self["clusters"], delta.records, delta.clusters)
        self.n_removed += int(np.count_nonzero(np.isnan(delta.scores)))
        if 2 * self.n_removed > self.n_pairs:
            self._leave_out_removed()
