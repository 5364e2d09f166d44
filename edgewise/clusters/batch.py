"""What a batch changes: only the trees that it touches are clustered again.

Pairs are removed and records deleted first; then records, pairs and decisions are added.  A tree is touched
by a pair in it that ceases to be active, a pair between two clusters that becomes active, a record that comes
or goes, a decision, and, if decisions divide it, another score of an active pair.  One scan finds the active
pairs of all trees that are touched.  Their components are the new trees.  A tree with two records that cannot
be together, or of one dataset that is linked one to one, is divided by Kruskal's rule
(:mod:`~edgewise.forest.constraints`): its active pairs come in descending order of their scores, and of equal
ones in that of their records, after the pairs that must be together.  What is too large then is cut at its
weakest pairs (:mod:`~edgewise.forest.split`).  Another ``max_size`` or ``one_to_one`` touches every tree.

All active pairs of such a tree count, and not only those of its spanning forest: if decisions part *b* from
*a* and from *c*, a weaker pair of *a* and *c* still joins these two, though a path leads over *b*.

A pair that is added inside of a cluster changes nothing there.  For when the pairs come in their order, at
any time the clusters with it contain those without it, and are within those of the end: a pair that has
joined two parts of a cluster without it finds no decision between them with it, and one that was refused
finds the same decision.  Datasets are decisions on all of their pairs.  Nor does the pair change where a
bound of the size cuts: up to the last pair that joins two parts of a cluster, none of its records is joined
to others, with the pair and without it, and after that the clusters are the same.

The scans read 16 bytes for each pair of the store and 14 for each record, and everything else is linear in
what is touched, up to sorting; all of it is done by all cores but for trees that decisions divide.  A
spanning forest that is kept from batch to batch would spare trees that lose none of its edges, but the forest
of a tree that does is as large as the tree, and so is what its replacement reads.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from edgewise.clusters.ids import StringIds
from edgewise.clusters.naming import Log, named, sizes_of
from edgewise.clusters.state import HALF, LOW_HALF, NO_CLUSTER, Delta, Facts, Moves, State, ends_of, keys_of
from edgewise.components import connected_components
from edgewise.device import device, each
from edgewise.errors import GraphError, argument
from edgewise.forest import minimum_spanning_forest
from edgewise.forest.constraints import Decisions, constrained, small_enough
from edgewise.graph import Graph
from edgewise.ingest.arrow import arrow_array
from edgewise.ingest.datasets import Datasets, datasets_in
from edgewise.ingest.default_columns import JOINT
from edgewise.primitives import filled
from edgewise.primitives.counting_sort import gather, marked, scatter, zeros
from edgewise.primitives.sorting import begins_of, ordered
from edgewise.result import counted

#: The score of a pair that is removed.
REMOVED = np.nan


class Request(NamedTuple):
    """What is asked of a store, by numbers of records.

    Attributes
    ----------
    facts : Facts
        Those before the batch, with its threshold, and the kind of ids and scores if it is the first.
    new_ids : pyarrow.Array or None
        Ids of records that the store has not had, as they are numbered; their numbers follow those before.
    removed, musts, cannots, withdrawn : (k,) uint64 arrays
        Keys of pairs, and of decisions to be added or withdrawn.
    deleted, records : (k,) int64 arrays
        Records to be deleted, and to be there in the end.
    added : (k,) uint64 array
        Keys of pairs, in any order.
    scores : (k,) float64 array or None
        Their scores.
    with_pairs : bool
        Whether pairs and decisions of deleted records are removed.
    """

    facts: Facts
    new_ids: Any
    removed: Any
    deleted: Any
    withdrawn: Any
    records: Any
    added: Any
    scores: Any
    musts: Any
    cannots: Any
    with_pairs: bool


class PairChanges(NamedTuple):
    """Pairs that were there, by row, with other scores, and new ones by key, ascending."""

    rows: Any
    scores: Any
    keys: Any
    new_scores: Any


class Pairs(NamedTuple):
    """Two records, with the smaller number first, and a score for each pair."""

    ones: Any
    others: Any
    scores: Any


class Records(NamedTuple):
    """What a batch does to the records, those included that are new with it.

    Attributes
    ----------
    trees, clusters : (n,) uint32 and int64 arrays
        Before the batch; a new record is a tree, and in no cluster.
    deleted, is_there : (n,) bool arrays
        Whether the batch deletes a record, and whether it is there in the end.
    is_divided, is_touched : (n,) bool arrays
        Of trees.
    """

    trees: Any
    clusters: Any
    deleted: Any
    is_there: Any
    is_divided: Any
    is_touched: Any


class Asked(NamedTuple):
    """A request with all that it removes, and what it does to records, pairs and decisions."""

    request: Request
    records: Records
    changes: PairChanges
    decisions: Any


class Touched(NamedTuple):
    """The part of a store that a batch touches; records are numbered by their positions in ``members``.

    Attributes
    ----------
    members : (n,) int64 array
        Records of the trees that are touched, ascending.
    pairs : Pairs
        Their active pairs after the batch; without scores unless a tree may be divided.
    musts, cannots : two (k,) uint32 arrays
    """

    members: Any
    pairs: Pairs
    musts: Any
    cannots: Any


class Limits(NamedTuple):
    """What a cluster may hold: so many records, and one of each of the members' datasets, or ``None``."""

    max_size: int | None
    datasets: Datasets | None


@each
def find_divided(record, records):
    """Mark the tree of a record that is in another cluster than the first record of the tree."""
    tree = records.trees[record]
    if records.clusters[record] != records.clusters[tree]:
        records.is_divided[tree] = True


@each
def mark_ends(pair, keys, marks):
    """Mark the two records of a pair."""
    marks[keys[pair] >> HALF] = True
    marks[keys[pair] & LOW_HALF] = True


@each
def see_record(record, records):
    """Find whether a record is there, unless it is added anyway; touch its tree if it comes or goes."""
    stays = records.clusters[record] != NO_CLUSTER and not records.deleted[record]
    if records.deleted[record] or (records.is_there[record] and not stays):
        records.is_touched[records.trees[record]] = True
    records.is_there[record] = records.is_there[record] or stays


@device
def touch(one, other, was_active, is_active, records):
    """Touch the trees of a pair that ceases to be active, joins clusters, or changes in a divided tree."""
    first, second = records.trees[one], records.trees[other]
    if was_active:
        matters = not is_active or records.is_divided[first]
    else:
        joins = first != second or records.clusters[one] != records.clusters[other]
        matters = is_active and joins
    if matters:
        records.is_touched[first] = True
        records.is_touched[second] = True


@each
def touch_changed(item, changes, pairs, bounds, records):
    """Touch the trees of a pair with another score."""
    row, (least, old_least) = changes.rows[item], bounds
    was_active, is_active = pairs.scores[row] >= old_least, changes.scores[item] >= least
    touch(pairs.ones[row], pairs.others[row], was_active, is_active, records)


@each
def touch_new(item, changes, least, records):
    """Touch the trees of a new pair."""
    key = changes.keys[item]
    touch(key >> HALF, key & LOW_HALF, False, changes.new_scores[item] >= least, records)


@each
def touch_flipped(pair, pairs, bounds, records):
    """Touch the trees of a pair between one threshold and the other."""
    least, old_least = bounds
    was_active, is_active = pairs.scores[pair] >= old_least, pairs.scores[pair] >= least
    if was_active != is_active:
        touch(pairs.ones[pair], pairs.others[pair], was_active, is_active, records)


@each
def find_missing(item, rows, scores, found):
    """Mark a pair to be removed that is not there."""
    found[item] = rows[item] < 0 or scores[rows[item]] != scores[rows[item]]


@each
def most_of(segment, begins, order, scores, best):
    """Find the highest score of a segment of items in order."""
    score = scores[order[begins[segment]]]
    for item in range(begins[segment] + 1, begins[segment + 1]):
        score = max(score, scores[order[item]])
    best[segment] = score


@each
def find_members(record, records, found):
    """Mark a record of a tree that is touched."""
    found[record] = records.is_touched[records.trees[record]]


@each
def find_active(pair, pairs, records, least, found):
    """Mark a pair that is active, in a tree that is touched."""
    found[pair] = pairs.scores[pair] >= least and records.is_touched[records.trees[pairs.ones[pair]]]


@each
def find_changed(item, changes, pairs, records, least, found):
    """Mark a pair with another score as :func:`find_active` does by the one before."""
    row = changes.rows[item]
    is_touched = records.is_touched[records.trees[pairs.ones[row]]]
    found[row] = changes.scores[item] >= least and is_touched


@each
def find_new(item, changes, records, least, found):
    """Mark a new pair that is active, in a tree that is touched."""
    is_touched = records.is_touched[records.trees[changes.keys[item] >> HALF]]
    found[item] = changes.new_scores[item] >= least and is_touched


@each
def write_ends(item, rows, pairs, position, ends):
    """Write the two ends of a pair by their positions among the members."""
    ends[0][item] = position[pairs.ones[rows[item]]]
    ends[1][item] = position[pairs.others[rows[item]]]


@each
def find_named(pair, pairs, deleted, found):
    """Mark a pair that names a record to be deleted, and is not removed."""
    score = pairs.scores[pair]
    found[pair] = score == score and (deleted[pairs.ones[pair]] or deleted[pairs.others[pair]])


@each
def leave_out_deleted(item, members, records, labels, labels_there):
    """Write the label of a member, or that it has none because it is deleted."""
    labels_there[item] = labels[item] if records.is_there[members[item]] else NO_CLUSTER


@each
def find_moved(item, members, labels, names, before, records, n_old, found):
    """Mark a member with another tree or name, or that is new."""
    is_other = names[item] != before[item] or members[labels[item]] != records.trees[members[item]]
    found[item] = is_other or members[item] >= n_old


def worked_out(state: State, request: Request) -> tuple[Delta, Callable[[], Log]]:
    """What a request changes, and a function that makes the log of it; GraphError if it cannot be done."""
    asked, name = _asked(state, request)
    request, records = asked[:2]
    _touch(state, asked)
    touched = _touched(state, asked)
    members, labels = touched.members, _tree_labels(touched)
    datasets = _datasets(state, request, members, records.is_there)
    limits = Limits(request.facts.max_size, datasets)
    clusters = _divided(labels, touched, limits, lambda one: name(members[one]))
    labels_there = np.empty(len(members), np.int64)
    leave_out_deleted(len(members), members, records, clusters, labels_there)
    before, is_new = gather(records.clusters, members), gather(records.deleted, members)
    names, n_names, log = named(before, labels_there, state.facts.n_names, is_new)
    moved = np.empty(len(members), bool)
    find_moved(len(members), members, labels, names, before, records, state.n_records, moved)
    moved = marked(moved)
    facts = request.facts._replace(entry=state.facts.entry + 1, n_names=n_names)
    trees = gather(members, gather(labels, moved)).astype(np.uint32)
    return _delta(asked, facts, Moves(gather(members, moved), trees, gather(names, moved))), log


def done_again(state: State, request: Request, facts: Facts, moves: Moves) -> Delta:
    """What a request changes that was worked out before; ``facts`` and ``moves`` are what came of it."""
    return _delta(_asked(state, request)[0], facts, moves)


def _asked(state, request):
    """What a request asks for, after a check, and a function that names a record in a message."""
    name, records = _names(state, request.new_ids), _records(state, request)
    request = _without_deleted(state, request, records.deleted, name)
    changes = _pair_changes(state, request, name)
    return Asked(request, records, changes, _decisions(state, request, records.is_there, name)), name


def _delta(asked, facts, moves):
    changes = asked.changes
    pairs = changes.keys, changes.new_scores, changes.rows, changes.scores
    return Delta._make((facts, asked.request.new_ids, *pairs, *moves, *asked.decisions))


def _records(state, request):
    """What a batch does to the records; trees are touched so far as records come and go."""
    trees, clusters = state.with_new(0 if request.new_ids is None else len(request.new_ids))
    n = len(trees)
    records = Records(trees, clusters, *(zeros(n, bool) for _ in Records._fields[2:]))
    records.deleted[request.deleted] = True
    records.is_there[request.records] = records.is_there[state.n_records :] = True
    mark_ends(len(request.added), request.added, records.is_there)
    see_record(n, records)
    return records


def _names(state, new_ids):
    """Function that tells what a record is called in a message."""

    def name(record):
        if record >= state.n_records:
            return repr(new_ids[int(record) - state.n_records].as_py())
        return repr(state.ids.column(np.array([record]))[0].as_py())

    return name


def _without_deleted(state, request, deleted, name):
    """The request with what names deleted records among what is removed; GraphError unless that is wanted."""
    if not len(request.deleted):
        return request
    found = np.zeros(state.n_pairs, bool)
    find_named(len(found), _pairs(state), deleted[: state.n_records], found)
    rows = np.flatnonzero(found)
    keys = np.setdiff1d(keys_of(state["ones"][rows], state["others"][rows]), request.removed)
    known = np.setdiff1d(np.concatenate([state.musts, state.cannots]), request.withdrawn)
    one, other = ends_of(known)
    left = known[deleted[one] | deleted[other]]
    if not request.with_pairs and (len(keys) or len(left)):
        counts = [
            counted(len(some), noun) for some, noun in ((keys, "pair"), (left, "decision")) if len(some)
        ]
        ends = ends_of(np.concatenate([keys, left])[:1])
        record = next(int(end[0]) for end in ends if deleted[end[0]])
        remedy = f"remove them, or use {argument('with_pairs', True)}"
        raise GraphError(
            f"records to delete, such as {name(record)}, are named by {' and '.join(counts)}; {remedy}"
        )
    removed = np.concatenate([request.removed, keys])
    return request._replace(removed=removed, withdrawn=np.concatenate([request.withdrawn, left]))


def _pair_changes(state, request, name):
    """The pairs that change."""
    removed, _ = _best(request.removed, None)
    rows, scores = state.pair_runs.find(removed), state["scores"]
    missing = np.empty(len(rows), bool)
    find_missing(len(rows), rows, scores, missing)
    if missing.any():
        one, other = (name(end[0]) for end in ends_of(removed[missing.argmax() :][:1]))
        count = f" ({missing.sum():,} such pairs)" if missing.sum() > 1 else ""
        raise GraphError(f"the pair of {one} and {other} is not in the store{count}; do not remove it")
    keys, new_scores = _best(request.added, request.scores)
    known = state.pair_runs.find(keys)
    again = marked(known >= 0)
    if not len(again):
        return PairChanges(rows, filled(len(rows), REMOVED, np.float64), keys, new_scores)
    known, new = gather(known, again), marked(known < 0)
    comes_again = zeros(len(scores), bool)
    scatter(comes_again, known, np.ones(len(known), bool))
    gone = gather(rows, marked(~gather(comes_again, rows)))
    changed = np.concatenate([gone, known])
    values = np.concatenate([np.full(len(gone), REMOVED), gather(new_scores, again)])
    return PairChanges(changed, values, gather(keys, new), gather(new_scores, new))


def _best(keys, scores):
    """Distinct keys, ascending, with the highest score of each; 1 without scores."""
    if not len(keys):
        return keys, np.empty(0)
    keys, order = ordered(keys)
    begins = begins_of(keys)
    best = filled(len(begins) - 1, 1.0, np.float64)
    if scores is not None:
        most_of(len(best), begins, order, scores, best)
    return keys if len(best) == len(keys) else gather(keys, begins[:-1]), best


def _decisions(state, request, is_there, name):
    """All decisions after a batch: the keys of pairs that must be together, and of those that cannot be."""
    withdrawn = np.unique(request.withdrawn)
    unknown = np.setdiff1d(withdrawn, np.concatenate([state.musts, state.cannots]))
    if len(unknown):
        one, other = (name(end[0]) for end in ends_of(unknown[:1]))
        raise GraphError(f"there is no decision on {one} and {other}; do not withdraw it")
    ends = np.concatenate(ends_of(np.concatenate([request.musts, request.cannots])))
    gone = ~is_there[ends]
    if gone.any():
        raise GraphError(
            f"a decision names {name(ends[gone.argmax()])}, which is deleted; add the record again"
        )
    both = np.intersect1d(request.musts, request.cannots)
    if len(both):
        one, other = (name(end[0]) for end in ends_of(both[:1]))
        raise GraphError(f"{one} and {other} are among 'must' and among 'cannot'; leave out one of the two")
    found = [(state.musts, request.musts), (state.cannots, request.cannots)]
    return tuple(np.union1d(np.setdiff1d(old, withdrawn), new) for old, new in found)


def _touch(state, asked):
    """Touch the trees that pairs and decisions change."""
    request, records, changes, (musts, cannots) = asked
    trees, pairs = records.trees, _pairs(state)
    if _divides(state.facts, state.cannots):
        find_divided(len(trees), records)
    bounds = request.facts.least, state.facts.least
    touch_changed(len(changes.rows), changes, pairs, bounds, records)
    touch_new(len(changes.keys), changes, bounds[0], records)
    if bounds[0] != bounds[1]:
        touch_flipped(state.n_pairs, pairs, bounds, records)
    for after, before in ((musts, state.musts), (cannots, state.cannots)):
        records.is_touched[trees[np.concatenate(ends_of(np.setxor1d(after, before)))]] = True
    if request.facts.rules != state.facts.rules:
        records.is_touched[:] = True


def _divides(facts, cannots):
    """Whether a tree may be divided."""
    return len(cannots) > 0 or facts.rules != (None, None)


def _pairs(state):
    return Pairs._make(state[name] for name in Pairs._fields)


def _touched(state, asked):
    """The trees that are touched, with their active pairs and decisions after a batch."""
    request, records, changes, decisions = asked
    n, pairs, least = len(records.trees), _pairs(state), request.facts.least
    found = np.empty(n, bool)
    find_members(n, records, found)
    members, position = marked(found), np.empty(n, np.uint32)
    scatter(position, members, np.arange(len(members), dtype=np.uint32))
    found = np.empty(state.n_pairs, bool)
    find_active(len(found), pairs, records, least, found)
    find_changed(len(changes.rows), changes, pairs, records, least, found)
    rows = marked(found)
    found = np.empty(len(changes.keys), bool)
    find_new(len(found), changes, records, least, found)
    found = marked(found)
    new = Pairs._make((*ends_of(gather(changes.keys, found)), gather(changes.new_scores, found)))
    ends = np.empty((2, len(rows) + len(new.ones)), np.uint32)
    write_ends(len(rows), rows, pairs, position, (ends[0], ends[1]))
    ends[:, len(rows) :] = gather(position, new.ones), gather(position, new.others)
    is_touched = [[records.is_touched[records.trees[end]] for end in ends_of(keys)] for keys in decisions]
    musts, cannots = (
        tuple(position[end[of_one & of_other]] for end in ends_of(keys))
        for keys, (of_one, of_other) in zip(decisions, is_touched)
    )
    wanted = _divides(request.facts, cannots[0])
    scores = np.concatenate([_scores(pairs, rows, changes), new.scores]) if wanted else None
    return Touched(members, Pairs(ends[0], ends[1], scores), musts, cannots)


def _scores(pairs, rows, changes):
    """Scores after a batch of pairs in some rows, which are ascending."""
    scores, at = pairs.scores[rows], np.searchsorted(rows, changes.rows)
    is_among = at < len(rows)
    is_among[is_among] = rows[at[is_among]] == changes.rows[is_among]
    scores[at[is_among]] = changes.scores[is_among]
    return scores


def _tree_labels(touched):
    """The first member of each member's tree: (n,) int64."""
    ends = [np.concatenate(both) for both in zip(touched.pairs[:2], touched.musts)]
    graph = Graph(len(touched.members), edges=(*ends, None))
    return connected_components(graph).labels.astype(np.int64)


def _datasets(state, request, members, is_there):
    """The datasets of members that are linked one to one, as their ids name them; ``None`` if none is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    chosen, asked = request.facts.one_to_one, argument("one_to_one")
    if chosen is None or not len(members):
        return None
    if request.facts.kind != StringIds.kind:
        raise GraphError(
            f"{asked} needs ids that name a dataset, such as 'crm{JOINT}7', and these are no text"
        )
    there = np.flatnonzero(is_there[members])
    old, new = np.split(members[there], [np.searchsorted(members[there], state.n_records)])
    columns = [state.ids.column(old)] if len(old) else []
    if len(new):
        columns.append(request.new_ids.take(arrow_array(new - state.n_records)))
    column = pa.concat_arrays(
        [pa.nulls(0, pa.large_string()), *(one.cast(pa.large_string()) for one in columns)]
    )
    nameless = pc.index(pc.match_substring(column, JOINT), False).as_py()
    if nameless >= 0:
        remedy = f"write ids as 'crm{JOINT}7', or give two columns for each, the dataset first"
        raise GraphError(
            f"the id {column[nameless].as_py()!r} names no dataset, which {asked} needs; {remedy}"
        )
    found = datasets_in(column)
    names = found.names if chosen == "all" else [one for one in chosen if one in found.names]
    codes, place = np.full(len(members), -1), dict(zip(names, range(len(names))))
    codes[there] = np.array([place.get(one, -1) for one in found.names], np.int64)[found.codes]
    return Datasets(codes, names)


def _divided(labels, touched, limits, name):
    """The first member of each member's cluster: the trees, and the parts of those that are divided."""
    is_divided, pairs = _is_divided(labels, touched, limits), touched.pairs
    if not is_divided.any():
        return labels
    members = np.flatnonzero(is_divided[labels])
    position = np.empty(len(labels), np.uint32)
    position[members] = np.arange(len(members))
    edges = [column[is_divided[labels[pairs.ones]]] for column in pairs]
    _, order = ordered(keys_of(*edges[:2]))
    order = order[np.argsort(-edges[2][order], kind="stable")]
    musts, cannots = (
        tuple(position[end[is_divided[labels[ends[0]]] & is_divided[labels[ends[1]]]]] for end in ends)
        for ends in (touched.musts, touched.cannots)
    )
    ends, bits = [position[end[order]] for end in edges[:2]], None
    if limits.datasets is not None:
        bits = limits.datasets._replace(codes=limits.datasets.codes[members]).bits(limits.datasets.names)
    decisions = Decisions(musts, cannots)
    found = constrained(len(members), ends[0], ends[1], decisions, lambda one: name(members[one]), bits)
    parts = found.labels
    if limits.max_size is not None:
        kept = found.must_kept, found.kept
        ends = [np.concatenate([one[of] for one, of in zip(both, kept)]) for both in zip(musts, ends)]
        fits = small_enough(len(members), ends, np.count_nonzero(kept[0]), limits.max_size)
        graph = Graph(len(members), edges=(*(end[fits] for end in ends), None))
        parts = connected_components(graph).labels
    clusters = labels.copy()
    clusters[members] = members[parts]
    return clusters


def _is_divided(labels, touched, limits):
    """Whether a tree, by its first member, holds what no cluster may hold."""
    ones, others = touched.cannots
    found = np.zeros(len(labels), bool)
    found[labels[ones[labels[ones] == labels[others]]]] = True
    if limits.max_size is not None:
        found |= sizes_of(labels) > limits.max_size
    if limits.datasets is not None:
        of_one = np.flatnonzero(limits.datasets.codes >= 0)
        keys = np.sort(labels[of_one] << 32 | limits.datasets.codes[of_one])
        found[keys[1:][keys[1:] == keys[:-1]] >> 32] = True
    return found


class Refusal(NamedTuple):
    """A pair of records that is in no cluster though it counts, its score, and why."""

    source: Any
    target: Any
    score: float
    reason: str


def refusal(state: State, one: int, other: int) -> Refusal | None:
    """The weakest pair that is refused on the strongest path between two records, or ``None`` without a path.

    Decisions and datasets are about clusters before the size cuts them, so these are worked out again.
    """
    trees, clusters = state["trees"], state["clusters"]
    if trees[one] != trees[other]:
        return None
    none, keys = np.empty(0, np.int64), np.empty(0, np.uint64)
    request = Request(state.facts, None, keys, none, keys, none, keys, None, keys, keys, False)
    records = Records(trees, clusters, *(np.zeros(len(trees), bool) for _ in Records._fields[2:]))
    records.is_touched[trees[one]] = True
    changes = PairChanges(none, np.empty(0), keys, np.empty(0))
    touched = _touched(state, Asked(request, records, changes, (state.musts, state.cannots)))
    members, pairs = touched.members, touched.pairs
    ends = [np.concatenate(both) for both in zip(pairs[:2], touched.musts)]
    weights = np.concatenate([pairs.scores, np.full(len(touched.musts[0]), np.inf)])
    forest = minimum_spanning_forest(Graph(len(members), edges=(*ends, weights)), maximum=True)
    path = forest.explain(*np.searchsorted(members, [one, other])).path
    source, target, score = (path[name].to_numpy() for name in ("source", "target", "weight"))
    is_refused = clusters[members[source]] != clusters[members[target]]
    at = np.flatnonzero(is_refused)[score[is_refused].argmin()]
    datasets = _datasets(state, request, members, clusters != NO_CLUSTER)
    parts = _divided(_tree_labels(touched), touched, Limits(None, datasets), str)
    first, second = parts == parts[source[at]], parts == parts[target[at]]
    name = _names(state, None)
    reason = _reason(
        state.facts, touched, datasets, (first, second), lambda position: name(members[position])
    )
    return Refusal(members[source[at]], members[target[at]], float(score[at]), reason)


def _reason(facts, touched, datasets, parts, name):
    """Why two clusters, as masks of members, are not together; one cluster was cut for its size."""
    first, second = parts
    if first[second].any():
        size = f"{np.count_nonzero(first):,} records, more than {argument('max_size', facts.max_size)}"
        return f"their cluster would have {size}"
    ones, others = touched.cannots
    opposed = np.flatnonzero((first[ones] & second[others]) | (first[others] & second[ones]))
    if len(opposed):
        return f"{name(ones[opposed[0]])} and {name(others[opposed[0]])} cannot be together"
    code = np.intersect1d(datasets.codes[first], datasets.codes[second]).max()
    both = (name(np.flatnonzero(part & (datasets.codes == code))[0]) for part in parts)
    rule = argument("one_to_one", facts.one_to_one)
    return f"{' and '.join(both)} are both of {datasets.names[code]!r}, of which {rule} allows one"
