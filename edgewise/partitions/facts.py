"""What is known of each vertex: its rating and its place in a refinement, side by side in memory.

Refinement looks at vertices here and there in a large graph, and takes as long as the memory does.  An array
for each fact would cost a cache line for each; the eight words of a vertex are in one line, or in two that
follow each other.  They are of 32 bits where all totals fit, else of 64.
"""

import numpy as np

from edgewise.device import arrays
from edgewise.device.target import inlined

#: Words of a vertex; one is not used.
WORDS = 8
#: Total to its own label, the strongest other label, and the total to that.
OWN, BEST, LINK = 0, 1, 2
#: In refinement: the gain of a candidate; the last free iteration in which it was moved, or 0; not 0 while it
#: is to be rated again; and bits of the lists that it is in.
GAIN, MOVED_IN, DIRTY, LISTS = 3, 4, 5, 6
#: Most vertices of narrow facts: a mark of each lane of a warp for each vertex fits into a word.
MOST_NARROW = 2**25


def new_facts(level):
    """Facts of the vertices of a level, of which nothing is known: (n * WORDS,) int32 or int64 zeros."""
    n = len(level.sizes)
    is_narrow = level.weights.dtype == np.int32 and n <= MOST_NARROW
    return arrays.zeros(n * WORDS, np.int32 if is_narrow else np.int64, arrays.device_of(level.offsets))


@inlined
def fact(facts, vertex, word):
    """One of the words of a vertex.  Indices are unsigned, as in :mod:`~edgewise.partitions.ratings`."""
    return np.int64(facts[np.uint64(vertex * WORDS + word)])


@inlined
def note(facts, vertex, word, value):
    """Write one of the words of a vertex."""
    facts[np.uint64(vertex * WORDS + word)] = value


@inlined
def note_rating(facts, vertex, own, best, link):
    """Note a rating; return by how much the total to its own label has grown."""
    growth = own - fact(facts, vertex, OWN)
    note(facts, vertex, OWN, own)
    note(facts, vertex, BEST, best)
    note(facts, vertex, LINK, link)
    return growth
