"""Sort the edges of lists on all cores, so that the first ones can be used while others are sorted.

The words of a sample divide the range of the words into *buckets* of similar size.  Groups of edges count how
many of theirs belong into each bucket and move them there, in the order of their positions; then NumPy sorts
one bucket after the other on other cores, while the caller uses those that are in order already.

Where words do not hold positions, an edge is moved as a number of the upper bits of its word, within the
range of the bucket, and its position.  Edges that differ in lower bits only are neighbours then, and the few
of them whose order is wrong are sorted again.
"""

from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device, each, threads
from edgewise.forest.order import POSITION_BITS, words_of
from edgewise.primitives.array_operations import exclusive_scan, part_of, tree_of
from edgewise.primitives.thread_pool import ThreadPool

#: Edges of a bucket.
BUCKET_EDGES = 1 << 17
#: Buckets of a long list; a power of two, as every number of buckets is.
N_BUCKETS = 128


class Buckets(NamedTuple):
    """How words are divided, and packed where they do not hold positions.

    Attributes
    ----------
    tree : (buckets,) int64 array
        The least words of all buckets but the first, as a search tree.
    least, largest : (buckets,) int64 arrays
        The range of the words of each bucket; words of the first and the last one may be beyond it.
    shifts : (buckets,) int64 array
        Lower bits that a packed word lacks.
    position_bits : int
        Bits of a position in a packed word; 0 if words hold positions, and nothing is packed.
    """

    tree: Any
    least: Any
    largest: Any
    shifts: Any
    position_bits: int


@device
def packed_word(word, entry, bucket, buckets):
    """The upper bits of a word within the range of its bucket, above the position."""
    least, shift = buckets.least[bucket], buckets.shifts[bucket]
    word = min(max(word, least), buckets.largest[bucket])
    return (((word >> shift) - (least >> shift)) << np.int64(buckets.position_bits)) | entry


@partial(each, least_chunk=1)
def count_buckets(group, lists, buckets, counts):
    """Count how many edges of a group belong into each bucket."""
    first, row = group * lists.capacity, group * len(buckets.least)
    for slot in range(first, first + lists.counts[group]):
        counts[row + np.int64(part_of(lists.words[slot], buckets.tree))] += 1


@partial(each, least_chunk=1)
def move_group(group, lists, buckets, starts, moved):
    """Move the edges of a group to the ``starts`` of its buckets, which move on."""
    first, row = group * lists.capacity, group * len(buckets.least)
    for slot in range(first, first + lists.counts[group]):
        word = lists.words[slot]
        bucket = np.int64(part_of(word, buckets.tree))
        place = starts[row + bucket]
        starts[row + bucket] = place + 1
        if buckets.position_bits != 0:
            word = packed_word(word, lists.entries[slot], bucket, buckets)
        moved[place] = word


def sorted_buckets(lists, sample, order):
    """Yield the positions of the edges of the lists in order: (k,) int64 for each bucket.

    ``sample`` holds similar words, ascending, and ``order`` is that of all entries.
    """
    n_groups, total, n_threads = len(lists.counts), int(lists.counts.sum()), threads.count()
    count = 1 if n_threads == 1 else min(max(n_threads, total // BUCKET_EDGES), N_BUCKETS, len(sample))
    count = 1 << max(count, 1).bit_length() - 1
    buckets = divided(sample, count, 0 if order.packed else len(order.bits).bit_length())
    n_buckets = len(buckets.least)
    counts = lists.counts
    if n_buckets > 1:
        counts = np.zeros(n_groups * n_buckets, np.int64)
        count_buckets(n_groups, lists, buckets, counts)
    offsets = exclusive_scan(counts.reshape(n_groups, n_buckets).T.flatten())
    starts = offsets[:-1].reshape(n_buckets, n_groups).T.flatten()
    moved = np.empty(total, np.int64)
    move_group(n_groups, lists, buckets, starts, moved)
    bounds = np.append(offsets[:-1:n_groups], total).tolist()
    calls = [(moved[first:end], order, buckets.position_bits) for first, end in pairwise(bounds)]
    yield from ThreadPool(n_buckets).ahead(_sorted_positions, calls)


def divided(sample, count, position_bits):
    """The :class:`Buckets` of words similar to those of a sample, which is ascending."""
    splitters = sample[np.arange(1, count) * len(sample) // count]
    first, last = (int(sample[0]), int(sample[-1])) if len(sample) else (0, 0)
    least, largest = np.append(first, splitters), np.append(splitters, last)
    shifts = [_shift(*ends, 63 - position_bits) for ends in zip(least.tolist(), largest.tolist())]
    return Buckets(tree_of(splitters), least, largest, np.array(shifts, np.int64), position_bits)


def _shift(least, largest, bits):
    """The number of lower bits without which numbers of a range, less the smallest, have so many bits."""
    shift = max(0, (largest - least).bit_length() - bits)
    return shift + ((largest >> shift) - (least >> shift) >= 1 << bits)


def _sorted_positions(words, order, position_bits):
    """Positions of the edges of one bucket in order, which may overwrite its words."""
    words.sort()
    if not position_bits:
        words &= (1 << POSITION_BITS) - 1
        return words
    uppers, positions = words >> position_bits, words & ((1 << position_bits) - 1)
    equal = uppers[1:] == uppers[:-1]
    among = np.flatnonzero(np.append(equal, False) | np.insert(equal, 0, False))
    uppers, tied = uppers[among], positions[among]
    exact = words_of(order._replace(bits=order.bits[tied]))
    if ((exact[1:] < exact[:-1]) & (uppers[1:] == uppers[:-1])).any():
        positions[among] = tied[np.lexsort((exact, uppers))]
    return positions
