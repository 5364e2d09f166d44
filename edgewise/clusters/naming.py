"""The names of clusters, which pass from the clusters before a batch to those after it, and the log of that.

A name passes to the new cluster that holds the most of its members of before; if several hold as many, to the
one with the least record among these members.  If several names pass to one cluster, the one with the most
members there stays, and of those with as many the oldest, which is the smallest number; the others are merged
into it.  A cluster to which no name passes gets the next number.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.clusters.state import HALF, NO_CLUSTER, ends_of
from edgewise.device import each, fetch_add, fetch_max, fetch_min
from edgewise.primitives import filled
from edgewise.primitives.counting_sort import gather, marked, scatter
from edgewise.primitives.sorting import begins_of, ordered

#: What can become of a cluster, in the order of the log.
CHANGES = ("born", "grew", "shrank", "merged", "split", "retired")
BORN, GREW, SHRANK, MERGED, SPLIT, RETIRED = range(len(CHANGES))


class Log(NamedTuple):
    """Changes of clusters.

    Attributes
    ----------
    change : (rows,) int8 array
        Position in :data:`CHANGES`.
    before, cluster : (rows,) int64 arrays
        Names; :data:`NO_CLUSTER` for a cluster that was born, or is retired.
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

    def chosen(self, positions):
        """Some of the overlaps."""
        chosen = Overlaps._make(np.empty(len(positions), column.dtype) for column in self)
        choose(len(positions), positions, self, chosen)
        return chosen


@each
def choose(item, positions, overlaps, chosen):
    """Copy one of the overlaps."""
    position = positions[item]
    chosen.olds[item], chosen.labels[item] = overlaps.olds[position], overlaps.labels[position]
    chosen.counts[item], chosen.firsts[item] = overlaps.counts[position], overlaps.firsts[position]


class Sizes(NamedTuple):
    """Names and sizes of clusters: before by their first records, and after by their labels.

    Attributes
    ----------
    before, name_of, size_before, size_of : (n,) int64 arrays
    """

    before: Any
    name_of: Any
    size_before: Any
    size_of: Any


@each
def forget(record, names, first):
    """Set the first record with a name to be beyond all."""
    if names[record] >= 0:
        first[names[record]] = len(names)


@each
def lower_first(record, names, first):
    """Lower the first record with a name to this one."""
    if names[record] >= 0:
        fetch_min(first, names[record], np.uint32(record))


@each
def write_first(record, names, first, olds):
    """Write the first record with the same name."""
    olds[record] = first[names[record]] if names[record] >= 0 else NO_CLUSTER


def first_records(before, n_names):
    """The first record with the same name, of each record; negative if it had none."""
    first, olds = np.empty(n_names, np.uint32), np.empty(len(before), np.int64)
    forget(len(before), before, first)
    lower_first(len(before), before, first)
    write_first(len(before), before, first, olds)
    return olds


@each
def least_of(segment, begins, values, least):
    """Find the least value of a segment."""
    value = values[begins[segment]]
    for item in range(begins[segment] + 1, begins[segment + 1]):
        value = min(value, values[item])
    least[segment] = value


@each
def mark_both(record, olds, labels, is_new, marks):
    """Mark a record that is in a cluster before and after, and was not deleted in the meantime."""
    marks[record] = olds[record] >= 0 and labels[record] >= 0 and not is_new[record]


@each
def write_key(item, records, olds, labels, keys):
    """Write the key of the two clusters of a record."""
    record = records[item]
    keys[item] = np.uint64(olds[record]) << HALF | np.uint64(labels[record])


def overlaps_of(olds, labels, is_new):
    """The overlaps of clusters: first records of before and after, negative where there is none."""
    marks = np.empty(len(olds), bool)
    mark_both(len(marks), olds, labels, is_new, marks)
    both = marked(marks)
    keys = np.empty(len(both), np.uint64)
    write_key(len(both), both, olds, labels, keys)
    keys, order = ordered(keys)
    both = gather(both, order)
    begins = begins_of(keys)
    firsts = np.empty(len(begins) - 1, np.int64)
    least_of(len(firsts), begins, both, firsts)
    before, after = ends_of(gather(keys, begins[:-1]))
    return Overlaps(before, after, np.diff(begins), firsts)


class Best(NamedTuple):
    """Keys of items, their counts and ties, and of each key the highest count and the least tie with it."""

    keys: Any
    counts: Any
    ties: Any
    most: Any
    least: Any


@each
def raise_most(item, best):
    """Raise the highest count of a key."""
    fetch_max(best.most, best.keys[item], best.counts[item])


@each
def lower_tie(item, best):
    """Lower the least tie of a key, if the count is the highest one."""
    if best.counts[item] == best.most[best.keys[item]]:
        fetch_min(best.least, best.keys[item], best.ties[item])


@each
def find_best(item, best, found):
    """Mark the item with the highest count and the least tie of its key."""
    key = best.keys[item]
    found[item] = best.counts[item] == best.most[key] and best.ties[item] == best.least[key]


def is_best(keys, n_keys, counts, ties):
    """Whether an item has the highest count of its key, and of several that do the least of ``ties``."""
    most, least = filled(n_keys, 0, np.int64), filled(n_keys, np.iinfo(np.int64).max, np.int64)
    best, found = Best(keys, counts, ties, most, least), np.empty(len(keys), bool)
    raise_most(len(keys), best)
    lower_tie(len(keys), best)
    find_best(len(keys), best, found)
    return found


@each
def find_nameless(record, labels, name_of, found):
    """Mark the first record of a cluster to which no name passes."""
    found[record] = labels[record] == record and name_of[record] < 0


@each
def write_name(record, labels, name_of, names):
    """Write the name of the cluster of a record."""
    names[record] = name_of[labels[record]] if labels[record] >= 0 else NO_CLUSTER


@each
def count_label(record, labels, sizes):
    """Count a record."""
    if labels[record] >= 0:
        fetch_add(sizes, labels[record], 1)


def sizes_of(labels):
    """How many records have each label, (n,) int64, of (n,) labels, negative where there is none."""
    sizes = filled(len(labels), 0, np.int64)
    count_label(len(labels), labels, sizes)
    return sizes


def named(before, labels, n_names, is_new):
    """Name clusters.

    Parameters
    ----------
    before : (n,) int64 array
        Names of the clusters that records were in, negative if they were in none.
    labels : (n,) int64 array
        The first record of each record's cluster, negative for records that are deleted.
    n_names : int
        Number of names that were given so far.
    is_new : (n,) bool array
        Records that count as no members of before, since they were deleted in the meantime.

    Returns
    -------
    names : (n,) int64 array
    n_names : int
    log : function
        Returns the :class:`Log`; it can be called once.
    """
    n, olds = len(labels), first_records(before, n_names)
    overlaps = overlaps_of(olds, labels, is_new)
    passing = overlaps.chosen(marked(is_best(overlaps.olds, n, overlaps.counts, overlaps.firsts)))
    stays = is_best(passing.labels, n, passing.counts, gather(before, passing.olds))
    staying, merging = passing.chosen(marked(stays)), passing.chosen(marked(~stays))
    name_of = filled(n, NO_CLUSTER, np.int64)
    scatter(name_of, staying.labels, gather(before, staying.olds))
    is_new_name, names = np.empty(n, bool), np.empty(n, np.int64)
    find_nameless(n, labels, name_of, is_new_name)
    nameless = marked(is_new_name)
    scatter(name_of, nameless, np.arange(n_names, n_names + len(nameless)))
    write_name(n, labels, name_of, names)

    def log():
        sizes = Sizes(before, name_of, sizes_of(olds), sizes_of(labels))
        return _log(sizes, overlaps, staying, merging, is_new_name)

    return names, n_names + len(nameless), log


@each
def write_change(item, first, change, olds, labels, sizes, log):
    """Write a row of the log: a cluster of before and one of after, unless there are none."""
    row = first + item
    log.change[row] = change
    log.before[row] = log.cluster[row] = NO_CLUSTER
    log.size_before[row] = log.size[row] = 0
    if len(olds) > 0:
        log.before[row], log.size_before[row] = sizes.before[olds[item]], sizes.size_before[olds[item]]
    if len(labels) > 0:
        log.cluster[row], log.size[row] = sizes.name_of[labels[item]], sizes.size_of[labels[item]]


def _log(sizes, overlaps, staying, merging, is_born):
    """The log, from overlaps by which names stay and merge; ``is_born`` marks labels with new names."""
    parts = overlaps.chosen(marked(gather(is_born, overlaps.labels)))
    names = gather(sizes.before, parts.olds)
    parts = parts.chosen(marked(is_best(parts.labels, len(is_born), parts.counts, names)))
    scatter(is_born, parts.labels, np.zeros(len(parts.labels), bool))
    grown = staying.chosen(marked(gather(sizes.size_of, staying.labels) > staying.counts))
    shrunk = staying.chosen(marked(gather(sizes.size_before, staying.olds) > staying.counts))
    is_retired = sizes.size_before > 0
    scatter(is_retired, overlaps.olds, np.zeros(len(overlaps.olds), bool))
    changes = {GREW: grown, SHRANK: shrunk, MERGED: merging, SPLIT: parts}
    none = np.empty(0, np.int64)
    clusters = {BORN: (none, marked(is_born))} | {change: one[:2] for change, one in changes.items()}
    clusters[RETIRED] = marked(is_retired), none
    counts = [max(map(len, both)) for both in clusters.values()]
    log = Log(np.empty(sum(counts), np.int8), *(np.empty(sum(counts), np.int64) for _ in range(4)))
    for (change, both), end, count in zip(clusters.items(), np.cumsum(counts).tolist(), counts):
        write_change(count, end - count, change, *both, sizes, log)
    return log
