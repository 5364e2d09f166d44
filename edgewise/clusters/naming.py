"""The names of clusters, which pass from the clusters before a batch to those after it, and the log of that.

A name passes to the new cluster that holds the most of its members of before; if several hold as many, to the
one with the least record among these members.  If several names pass to one cluster, the one with the most
members there stays, and of those with as many the oldest, which is the smallest number; the others are merged
into it.  A cluster to which no name passes gets the next number.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.clusters.state import NO_CLUSTER

#: What can become of a cluster, in the order of the log.
CHANGES = ("born", "grew", "shrank", "merged", "split", "retired")
BORN, GREW, SHRANK, MERGED, SPLIT, RETIRED = range(len(CHANGES))
#: A name where there is none.
NONE = NO_CLUSTER


class Log(NamedTuple):
    """Changes of clusters.

    Attributes
    ----------
    change : (rows,) int8 array
        Position in :data:`CHANGES`.
    before, cluster : (rows,) int64 arrays
        Names; :data:`NONE` for a cluster that was born, or is retired.
    size_before, size : (rows,) int64 arrays
    """

    change: Any
    before: Any
    cluster: Any
    size_before: Any
    size: Any


class Overlaps(NamedTuple):
    """How many members clusters of before and after have in common: an item for each two that have some.

    Attributes
    ----------
    names, labels, counts, firsts : (k,) int64 arrays
        Name of before, label of after, common members and the position of the first of them.
    """

    names: Any
    labels: Any
    counts: Any
    firsts: Any


def overlaps_of(before, labels):
    """The overlaps of clusters; ``before`` and ``labels`` are those of records, negative if there is none."""
    both = np.flatnonzero((before >= 0) & (labels >= 0))
    names, found = before[both], labels[both]
    order = np.lexsort((found, names))  # stable, so equal ones are in the order of records
    names, found = names[order], found[order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = (names[1:] != names[:-1]) | (found[1:] != found[:-1])
    begins = np.flatnonzero(is_first)
    counts = np.diff(begins, append=len(order))
    return Overlaps(names[begins], found[begins], counts, both[order[begins]])


def first_of_each(keys, *order):
    """Positions of the first item of each key in an ``order``: values, the most important ones first."""
    sort = np.lexsort((*order[::-1], keys))
    sorted_keys = keys[sort]
    is_first = np.ones(len(sort), bool)
    is_first[1:] = sorted_keys[1:] != sorted_keys[:-1]
    return sort[is_first]


def named(before, labels, n_names, is_new=None):
    """Name clusters.

    Parameters
    ----------
    before : (n,) int64 array
        Names of the clusters that records were in, negative if they were in none.
    labels : (n,) int64 array
        The first record of each record's cluster, negative for records that are deleted.
    n_names : int
        Number of names that were given so far.
    is_new : (n,) bool array, optional
        Records that count as no members of before, since they were deleted in the meantime.

    Returns
    -------
    names : (n,) int64 array
    n_names : int
    log : Log
    """
    overlaps = overlaps_of(before if is_new is None else np.where(is_new, NONE, before), labels)
    passing = first_of_each(overlaps.names, -overlaps.counts, overlaps.firsts)
    labels_of_passing, counts = overlaps.labels[passing], overlaps.counts[passing]
    staying = passing[first_of_each(labels_of_passing, -counts, overlaps.names[passing])]
    roots = np.flatnonzero(labels == np.arange(len(labels)))
    name_of, size_of = np.full(len(labels), NONE), np.bincount(labels[labels >= 0], minlength=len(labels))
    name_of[overlaps.labels[staying]] = overlaps.names[staying]
    nameless = roots[name_of[roots] < 0]
    name_of[nameless] = np.arange(n_names, n_names + len(nameless))
    names = np.where(labels >= 0, name_of[labels], NONE)
    log = _log(before, overlaps, (passing, staying), nameless, (name_of, size_of))
    return names, n_names + len(nameless), log


def _log(before, overlaps, passed, nameless, found):
    """The log; ``passed`` are overlaps by which names pass, and stay; ``found`` names and sizes by label."""
    (passing, staying), (name_of, size_of) = passed, found
    old, sizes = np.unique(before[before >= 0], return_counts=True)

    def size_before(names):
        return sizes[np.searchsorted(old, names)] if len(old) else np.zeros(len(names), np.int64)

    rows = []

    def add(change, names, labels):
        """Add rows; ``labels`` are ``None`` for clusters that are no more."""
        gone = np.zeros(len(names), np.int64)
        now = (gone + NONE, gone) if labels is None else (name_of[labels], size_of[labels])
        was = gone if change == BORN else size_before(names)
        order = np.argsort(now[0] if change in (BORN, SPLIT) else names, kind="stable")
        columns = np.full(len(names), change, np.int8), names, now[0], was, now[1]
        rows.append([column[order] for column in columns])

    sources = overlaps.labels[main := first_of_each(overlaps.labels, -overlaps.counts, overlaps.names)]
    is_born = np.zeros(len(name_of), bool)
    is_born[nameless] = True
    is_split = is_born[sources]
    is_born[sources] = False
    born = np.flatnonzero(is_born)
    add(BORN, np.full(len(born), NONE), born)
    names, labels, counts = (values[staying] for values in (overlaps.names, overlaps.labels, overlaps.counts))
    has_grown, has_shrunk = size_of[labels] > counts, size_before(names) > counts
    add(GREW, names[has_grown], labels[has_grown])
    add(SHRANK, names[has_shrunk], labels[has_shrunk])
    merged = np.setdiff1d(passing, staying, assume_unique=True)
    add(MERGED, overlaps.names[merged], overlaps.labels[merged])
    add(SPLIT, overlaps.names[main[is_split]], sources[is_split])
    add(RETIRED, np.setdiff1d(old, overlaps.names[passing], assume_unique=True), None)
    return Log(*map(np.concatenate, zip(*rows)))
