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

from edgewise.device import cas, each
from edgewise.errors import OptionError, argument
from edgewise.ingest.string_order import precedes, strings_of

#: Rules, by name.
NAMES = ("first", "min", "row")


@each
def note_least(vertex, labels, strings, least):
    """Note a vertex at the root of its component, if its id precedes the one that is noted there."""
    root = labels[vertex]
    if root != vertex:
        number = least.dtype.type(vertex)
        noted = least[root]
        while precedes(strings, vertex, noted):
            before = cas(least, root, noted, number)
            if before == noted:
                break
            noted = before


def check_name(name):
    """Raise OptionError unless ``name`` is ``None`` or one of :data:`NAMES`."""
    if name is not None and name not in NAMES:
        raise OptionError(f"{argument('name', name)} is unknown; use one of {', '.join(NAMES)}")


def name_givers(labels, ids, name):
    """The vertex whose id names a component, at its root: an (n,) array for ``min``, else ``None``: the root.

    ``labels`` are on the host; ``ids`` are those of the graph, or ``None``.
    """
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
