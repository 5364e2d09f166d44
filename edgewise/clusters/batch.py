"""What a batch changes: only the trees that it touches are clustered again.

Pairs are removed and records deleted first; then records, pairs and decisions are added.  A tree is touched
by a pair in it that ceases to be active, a pair between it and another one that becomes active, a record that
comes or goes, and a decision.  One scan finds the active pairs of all trees that are touched.  Their
components are the new trees.  A tree with two records that cannot be together is divided by Kruskal's rule
(:mod:`~edgewise.forest.constraints`): its active pairs come in descending order of their scores, and of equal
ones in that of their records, after the pairs that must be together.

All active pairs of such a tree count, and not only those of its spanning forest: if decisions part *b* from
*a* and from *c*, a weaker pair of *a* and *c* still joins these two, though a path leads over *b*.

The scan reads 16 bytes for each pair of the store, and everything else is linear in what is touched, up to
sorting.  A spanning forest that is kept from batch to batch would spare trees that lose none of its edges,
but the forest of a tree that does is as large as the tree, and so is what its replacement reads.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.clusters.naming import Log, named
from edgewise.clusters.state import NO_CLUSTER, Delta, Facts, State, ends_of, keys_of
from edgewise.components import connected_components
from edgewise.device import each
from edgewise.errors import GraphError, argument
from edgewise.forest.constraints import Decisions, constrained
from edgewise.graph import Graph
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


class Touched(NamedTuple):
    """The part of a store that a batch touches; records are numbered by their positions in ``members``.

    Attributes
    ----------
    members : (n,) int64 array
        Records of the trees that are touched, ascending.
    pairs : Pairs
        Their active pairs after the batch.
    musts, cannots : two (k,) uint32 arrays
    """

    members: Any
    pairs: Pairs
    musts: Any
    cannots: Any


@each
def find_active(pair, pairs, trees, is_touched, least, found):
    """Mark a pair that is active, in a tree that is touched."""
    found[pair] = pairs.scores[pair] >= least and is_touched[trees[pairs.ones[pair]]]


@each
def find_named(pair, pairs, marked, found):
    """Mark a pair that names a marked record and is not removed."""
    score = pairs.scores[pair]
    found[pair] = score == score and (marked[pairs.ones[pair]] or marked[pairs.others[pair]])


@each
def find_members(record, trees, is_touched, found):
    """Mark a record of a tree that is touched."""
    found[record] = is_touched[trees[record]]


def worked_out(state: State, request: Request) -> tuple[Delta, Log]:
    """What a request changes, and the log of it; GraphError if it cannot be done."""
    n_new = 0 if request.new_ids is None else len(request.new_ids)
    name = _names(state, request.new_ids)
    deleted = np.zeros(state.n_records + n_new, bool)
    deleted[request.deleted] = True
    present = np.zeros(len(deleted), bool)
    present[request.records] = present[state.n_records :] = True
    present[np.concatenate(ends_of(request.added))] = True
    request = _without_deleted(state, request, deleted, name)
    changes = _pair_changes(state, request, name)
    was_there = np.zeros(len(deleted), bool)
    was_there[: state.n_records] = state["clusters"] != NO_CLUSTER
    stays = was_there & ~deleted
    comes = present & ~stays
    decisions = _decisions(state, request, stays | comes, name)
    trees = state.trees_with(n_new)
    seeds = _seeds(state, request, changes, decisions, trees)
    touched = _touched(state, changes, decisions, trees, [*seeds, np.flatnonzero(deleted | comes)], request)
    labels = _tree_labels(touched)
    members, was = touched.members, state["clusters"]
    before = np.full(len(members), NO_CLUSTER)
    n_old = int(np.searchsorted(members, len(was)))
    before[:n_old] = was[members[:n_old]]
    is_there = (stays | comes)[members]
    clusters = np.where(is_there, _divided(labels, touched, lambda one: name(members[one])), NO_CLUSTER)
    names, n_names, log = named(before, clusters, state.facts.n_names, deleted[members])
    new_trees = members[labels].astype(np.uint32)
    changed = np.flatnonzero((names != before) | (new_trees != trees[members]) | (members >= len(was)))
    facts = request.facts._replace(entry=state.facts.entry + 1, n_names=n_names)
    new = (*ends_of(changes.keys), changes.new_scores)
    records = members[changed], new_trees[changed], names[changed]
    changed_pairs = changes.rows, changes.scores
    return Delta._make((facts, request.new_ids, *new, *changed_pairs, *records, *decisions)), log


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
    removed = _best(request.removed, None)[0]
    rows, scores = state.pair_runs.find(removed), state["scores"]
    missing = (rows < 0) | np.isnan(scores[rows]) if len(scores) else np.ones(len(rows), bool)
    if missing.any():
        one, other = (name(end[0]) for end in ends_of(removed[missing.argmax() :][:1]))
        count = f" ({missing.sum():,} such pairs)" if missing.sum() > 1 else ""
        raise GraphError(f"the pair of {one} and {other} is not in the store{count}; do not remove it")
    keys, new_scores = _best(request.added, request.scores)
    known = state.pair_runs.find(keys)
    there = known >= 0
    gone = np.setdiff1d(rows, known[there], assume_unique=True)
    changed = np.concatenate([gone, known[there]])
    values = np.concatenate([np.full(len(gone), REMOVED), new_scores[there]])
    return PairChanges(changed, values, keys[~there], new_scores[~there])


def _best(keys, scores):
    """Distinct keys, ascending, with the highest score of each; 1 without scores."""
    if scores is None:  # np.unique hashes, which takes longer than a sort
        keys, scores = np.sort(keys), np.ones(len(keys))
    else:
        order = np.argsort(keys)
        keys, scores = keys[order], scores[order]
    begins = (
        np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        if len(keys)
        else np.empty(0, np.int64)
    )
    return keys[begins], np.maximum.reduceat(scores, begins) if len(keys) else scores


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


def _seeds(state, request, changes, decisions, trees):
    """Records whose trees are touched by pairs and decisions: a list of arrays."""
    musts, cannots = decisions
    one, other = ends_of(np.union1d(cannots, state.cannots))
    divided = np.unique(trees[one][trees[one] == trees[other]])
    least, old_least = request.facts.least, state.facts.least
    ones, others, scores = _pairs(state)
    rows, new = changes.rows, ends_of(changes.keys)
    was, now = scores[rows], changes.scores
    ends = [(ones[rows], others[rows], was >= old_least, now >= least)]
    ends.append((*new, np.zeros(len(new[0]), bool), changes.new_scores >= least))
    if least != old_least:
        flipped = np.flatnonzero((scores >= min(least, old_least)) & (scores < max(least, old_least)))
        is_raised = np.full(len(flipped), least > old_least)
        ends.append((ones[flipped], others[flipped], is_raised, ~is_raised))
    seeds = []
    for first, second, was_active, is_active in ends:
        is_inside = (trees[first] == trees[second]) & ~np.isin(trees[first], divided)
        matters = (was_active & ~is_active) | (is_active & ~is_inside)
        seeds += [first[matters], second[matters]]
    seeds += ends_of(np.setxor1d(musts, state.musts))
    return [*seeds, *ends_of(np.setxor1d(cannots, state.cannots))]


def _pairs(state):
    return Pairs._make(state[name] for name in Pairs._fields)


def _touched(state, changes, decisions, trees, seeds, request):
    """The trees of some records with their active pairs and decisions after a batch."""
    is_touched, least = np.zeros(len(trees), bool), request.facts.least
    for records in seeds:
        is_touched[trees[records]] = True
    found, pairs = np.zeros(len(trees), bool), _pairs(state)
    find_members(len(trees), trees, is_touched, found)
    members = np.flatnonzero(found)
    position = np.empty(len(trees), np.uint32)
    position[members] = np.arange(len(members))
    found = np.zeros(state.n_pairs, bool)
    find_active(len(found), pairs, trees, is_touched, least, found)
    found[changes.rows] = False
    rows = np.flatnonzero(found)
    changed = Pairs(pairs.ones[changes.rows], pairs.others[changes.rows], changes.scores)
    new = Pairs._make((*ends_of(changes.keys), changes.new_scores))
    later = Pairs._make(map(np.concatenate, zip(changed, new)))
    counts = (later.scores >= least) & is_touched[trees[later.ones]]
    active = [np.concatenate([old[rows], more[counts]]) for old, more in zip(pairs, later)]
    musts, cannots = map(ends_of, decisions)
    musts = tuple(position[end[is_touched[trees[musts[0]]]]] for end in musts)
    both = is_touched[trees[cannots[0]]] & is_touched[trees[cannots[1]]]
    cannots = tuple(position[end[both]] for end in cannots)
    active[:2] = (position[end] for end in active[:2])
    return Touched(members, Pairs._make(active), musts, cannots)


def _tree_labels(touched):
    """The first member of each member's tree: (n,) int64."""
    ends = [np.concatenate(both) for both in zip(touched.pairs[:2], touched.musts)]
    graph = Graph(len(touched.members), edges=(*ends, None))
    return connected_components(graph).labels.astype(np.int64)


def _divided(labels, touched, name):
    """The first member of each member's cluster: the trees, and the parts of those that decisions divide."""
    (ones, others), pairs = touched.cannots, touched.pairs
    is_divided = np.zeros(len(labels), bool)
    is_divided[labels[ones[labels[ones] == labels[others]]]] = True
    if not is_divided.any():
        return labels
    members = np.flatnonzero(is_divided[labels])
    position = np.empty(len(labels), np.uint32)
    position[members] = np.arange(len(members))
    edges = [column[is_divided[labels[pairs.ones]]] for column in pairs]
    order = np.lexsort((edges[1], edges[0], -edges[2]))
    musts, cannots = (
        tuple(position[end[is_divided[labels[ends[0]]] & is_divided[labels[ends[1]]]]] for end in ends)
        for ends in (touched.musts, touched.cannots)
    )
    sources, targets = (position[end[order]] for end in edges[:2])
    decisions = Decisions(musts, cannots)
    found = constrained(len(members), sources, targets, decisions, lambda one: name(members[one]))
    clusters = labels.copy()
    clusters[members] = members[found.labels]
    return clusters
