"""The names of clusters, which pass from the clusters before a batch to those after it, and the log of that.

A name passes to the new cluster that holds the most of its members of before; if several hold as many, to the
one with the least record among these members.  If several names pass to one cluster, the one with the most
members there stays, and of those with as many the oldest, which is the smallest number; the others are merged
into it.  A cluster to which no name passes gets the next number.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.clusters.state import HALF, NO_CLUSTER, ends_of

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
    olds, labels : (k,) uint32 arrays
        The first records of the cluster before, and of that after.
    counts, firsts : (k,) int64 arrays
        Common members, and the first of them.
    """

    olds: Any
    labels: Any
    counts: Any
    firsts: Any


def first_records(before, n_names):
    """The first record with the same name, of each record; negative if it had none."""
    named = np.flatnonzero(before >= 0)
    first = np.empty(n_names, np.int64)
    first[before[named[::-1]]] = named[::-1]  # of equal names, the last one is what stays
    olds = np.full(len(before), NONE)
    olds[named] = first[before[named]]
    return olds


def overlaps_of(olds, labels):
    """The overlaps of clusters: first records of before and after, negative where there is none."""
    both = np.flatnonzero((olds >= 0) & (labels >= 0))
    keys = olds[both].astype(np.uint64) << HALF | labels[both].astype(np.uint64)
    order = np.argsort(keys)
    keys, both = keys[order], both[order]
    is_first = np.ones(len(keys), bool)
    is_first[1:] = keys[1:] != keys[:-1]
    begins = np.flatnonzero(is_first)
    firsts = np.minimum.reduceat(both, begins) if len(both) else both
    before, after = ends_of(keys[begins])
    return Overlaps(before, after, np.diff(begins, append=len(keys)), firsts)


def first_of_each(keys, n_keys, counts, ties):
    """Positions of the item with the highest count of each key; of several, the least of ``ties`` decides."""
    most, least = np.zeros(n_keys, np.int64), np.full(n_keys, np.iinfo(np.int64).max)
    np.maximum.at(most, keys, counts)
    found = np.flatnonzero(counts == most[keys])
    np.minimum.at(least, keys[found], ties[found])
    return found[ties[found] == least[keys[found]]]


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
    n, olds = len(labels), first_records(before, n_names)
    overlaps = overlaps_of(olds, labels if is_new is None else np.where(is_new, NONE, labels))
    passing = first_of_each(overlaps.olds, n, overlaps.counts, overlaps.firsts)
    passed = before[overlaps.olds[passing]]
    staying = passing[first_of_each(overlaps.labels[passing], n, overlaps.counts[passing], passed)]
    roots = np.flatnonzero(labels == np.arange(len(labels)))
    name_of, size_of = np.full(len(labels), NONE), np.bincount(labels[labels >= 0], minlength=len(labels))
    name_of[overlaps.labels[staying]] = before[overlaps.olds[staying]]
    nameless = roots[name_of[roots] < 0]
    name_of[nameless] = np.arange(n_names, n_names + len(nameless))
    names = np.where(labels >= 0, name_of[labels], NONE)
    log = _log(before, olds, overlaps, (passing, staying), nameless, (name_of, size_of))
    return names, n_names + len(nameless), log


def _log(before, olds, overlaps, passed, nameless, found):
    """The log; ``passed`` are overlaps by which names pass, and stay; ``found`` names and sizes by label."""
    (passing, staying), (name_of, size_of) = passed, found
    size_before = np.bincount(olds[olds >= 0], minlength=len(olds))
    rows = []

    def add(change, sources, labels):
        """Add rows: clusters of before, ``None`` if there are none, and of after likewise."""
        none = np.zeros(len(labels if sources is None else sources), np.int64)
        was = (none + NONE, none) if sources is None else (before[sources], size_before[sources])
        now = (none + NONE, none) if labels is None else (name_of[labels], size_of[labels])
        order = np.argsort((now if change in (BORN, SPLIT) else was)[0])
        columns = np.full(len(none), change, np.int8), was[0], now[0], was[1], now[1]
        rows.append([column[order] for column in columns])

    main = first_of_each(overlaps.labels, len(name_of), overlaps.counts, before[overlaps.olds])
    sources, into = overlaps.olds[main], overlaps.labels[main]
    is_born = np.zeros(len(name_of), bool)
    is_born[nameless] = True
    is_split = is_born[into]
    is_born[into] = False
    add(BORN, None, np.flatnonzero(is_born))
    kept, ends, counts = (values[staying] for values in (overlaps.olds, overlaps.labels, overlaps.counts))
    has_grown, has_shrunk = size_of[ends] > counts, size_before[kept] > counts
    add(GREW, kept[has_grown], ends[has_grown])
    add(SHRANK, kept[has_shrunk], ends[has_shrunk])
    merged = np.setdiff1d(passing, staying, assume_unique=True)
    add(MERGED, overlaps.olds[merged], overlaps.labels[merged])
    add(SPLIT, sources[is_split], into[is_split])
    is_retired = size_before > 0
    is_retired[overlaps.olds] = False
    add(RETIRED, np.flatnonzero(is_retired), None)
    return Log(*map(np.concatenate, zip(*rows)))
