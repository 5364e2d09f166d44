"""A triangulation as words: the corner table.

Triangle ``t`` has the corners ``3 t``, ``3 t + 1`` and ``3 t + 2``, counterclockwise.  The word of a corner
has its vertex in the upper 32 bits, and in the lower ones the *twin* plus one: the corner of the neighbour
across the opposite edge, or 0 at the boundary.  So one word has all that a transaction needs of the
triangle behind an edge: its third vertex, and the place that points back.

J. Rossignac, A. Safonova and A. Szymczak, "3D compression made simple: Edgebreaker on a corner-table"
(2001).
"""

import numpy as np

from edgewise.device import device
from edgewise.errors import OptionError

#: Bits of a twin.
TWIN_BITS = 32
#: All bits of a twin.
TWINS = 2**TWIN_BITS - 1
#: Instead of a twin: the edge is on the boundary.
NO_TWIN = -1
#: Word of a corner without a triangle.
NO_WORD = -1


@device
def vertex_of(word):
    """The vertex of a corner; negative if there is no triangle."""
    return word >> np.int64(TWIN_BITS)


@device
def twin_of(word):
    """The twin of a corner, NO_TWIN at the boundary."""
    return (word & np.int64(TWINS)) - np.int64(1)


@device
def word_of(vertex, twin):
    """The word of a corner."""
    return np.int64(vertex) << np.int64(TWIN_BITS) | np.int64(twin + 1)


@device
def after(corner):
    """The next corner of a triangle."""
    return corner + 1 if corner % 3 < 2 else corner - 2


@device
def before(corner):
    """The previous corner of a triangle."""
    return corner - 1 if corner % 3 > 0 else corner + 2


def words_of(triangles):
    """Words (3 t,) of counterclockwise triangles, an int64 array of shape (t, 3) on the host."""
    starts = np.roll(triangles, -1, axis=1).ravel()
    ends = np.roll(triangles, 1, axis=1).ravel()
    keys = np.minimum(starts, ends) << TWIN_BITS | np.maximum(starts, ends)
    order = np.argsort(keys, kind="stable")
    same = keys[order[1:]] == keys[order[:-1]]
    one, other = order[:-1][same], order[1:][same]
    is_wrong = starts[one] != ends[other]
    is_wrong[1:] |= one[1:] == other[:-1]
    if is_wrong.any():
        where = np.argmax(is_wrong)
        numbers = f"triangles {one[where] // 3} and {other[where] // 3}"
        edge = f"the edge from vertex {starts[one[where]]} to {ends[one[where]]}"
        raise OptionError(f"{numbers} overlap at {edge}; give triangles that cover every place once")
    twins = np.full(len(keys), NO_TWIN, np.int64)
    twins[one], twins[other] = other, one
    return triangles.ravel() << TWIN_BITS | twins + 1
