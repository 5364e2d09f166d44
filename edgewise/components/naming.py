"""Names of clusters: the id of a member, chosen by a rule.

======  ==========================================================================================
first   the id of the member that comes first in the table
min     the least id of a member: strings by their bytes (the order of code points), integers by value
row     the row of the first member, counted from 0
======  ==========================================================================================

Only ``min`` is the same for every order of the input.  The least string of a cluster is found by all cores
at once: each member replaces the one that is noted at the root of its component, if it precedes that one.
The order of the threads changes nothing, since the least member always remains.
"""

import numpy as np

from edgewise.device import cas, device, each
from edgewise.errors import OptionError, argument
from edgewise.ingest.id_types import plain_ids
from edgewise.ingest.string_words import precedes, strings_of

#: Rules, by name.
NAMES = ("first", "min", "row")


@device
def note(giver, root, strings, least):
    """Note a vertex at a root, if its id precedes the one that is noted there."""
    noted = least[root]
    while precedes(strings, giver, noted):
        before = cas(least, root, noted, giver)
        if before == noted:
            break
        noted = before


@each
def note_least(vertex, labels, strings, least):
    """Note a vertex at the root of its component."""
    root = labels[vertex]
    if root != vertex:
        note(least.dtype.type(vertex), root, strings, least)


@each
def note_least_of_parts(vertex, parts, labels, strings, givers):
    """Note who names a part of a cluster at the cluster's root.

    ``givers`` are the vertices that name the ``parts``, at the roots of these, and a copy, for the clusters.
    """
    root = labels[vertex]
    if parts[vertex] == vertex and root != vertex:
        of_parts, least = givers
        note(of_parts[vertex], root, strings, least)


def check_name(name):
    """Raise OptionError unless ``name`` is ``None`` or one of :data:`NAMES`."""
    if name is not None and name not in NAMES:
        raise OptionError(f"{argument('name', name)} is unknown; use one of {', '.join(NAMES)}")


def name_givers(labels, ids, name):
    """The vertex whose id names a component, at its root: an (n,) array for ``min``, else ``None``: the root.

    ``labels`` are on the host; ``ids`` are those of the graph, or ``None``.
    """
    ids = plain_ids(ids)
    if name != "min" or ids is None:
        return None
    if not isinstance(ids, np.ndarray):
        least = np.arange(len(labels), dtype=labels.dtype)
        note_least(len(labels), labels, strings_of(ids), least)
        return least
    if bool((ids[1:] > ids[:-1]).all()):
        return None
    least, order = np.empty(len(labels), labels.dtype), np.argsort(ids, kind="stable")[::-1]
    least[labels[order]] = order  # the last write stays
    return least


def name_givers_of_levels(labels, ids, name):
    """The same for nested clusters: a list of such arrays, or ``None``.

    ``labels`` are a (levels, n) array on the host; the clusters of a level are unions of those of the next.
    Ids are compared once for each union, not once for each level.
    """
    ids = plain_ids(ids)
    finest = name_givers(labels[-1], ids, name)
    if finest is None:
        return None
    if isinstance(ids, np.ndarray):
        order = np.argsort(ids, kind="stable")[::-1]
        found = [np.empty(len(order), labels.dtype) for _ in labels]
        for least, of_level in zip(found, labels):
            least[of_level[order]] = order  # the last write stays
        return found
    strings, found = strings_of(ids), [finest]
    for parts, of_level in zip(labels[:0:-1], labels[-2::-1]):
        least = found[0].copy()
        note_least_of_parts(len(parts), parts, of_level, strings, (found[0], least))
        found.insert(0, least)
    return found
