"""Sort the edges of lists on all cores.

The words of a sample divide the range of the words into buckets of similar size, one for each thread.  Groups
of edges count how many of theirs belong into each bucket and move them there, in the order of their
positions; then NumPy sorts the buckets, all at the same time.

Where words do not hold positions, a bucket is sorted by numbers of the upper bits of a word and the place in
the bucket.  If words differ in lower bits only, a stable sort of the places repairs their order.
"""

from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device, each, threads
from edgewise.forest.order import POSITION_BITS
from edgewise.primitives.array_operations import exclusive_scan
from edgewise.primitives.thread_pool import ThreadPool


class Moved(NamedTuple):
    """Edges in buckets: (k,) int64 words, and (k,) int64 entries, which are empty if words hold them."""

    words: Any
    entries: Any


@device
def bucket_of(word, splitters):
    """The bucket of a word: how many splitters are smaller, by a bisection without branches."""
    low, left = np.int64(0), np.int64(len(splitters))
    while left > 0:
        half = (left + 1) >> np.int64(1)
        low += half * np.int64(splitters[low + half - 1] < word)
        left -= half
    return low


@partial(each, least_chunk=1)
def count_buckets(group, lists, splitters, counts):
    """Count how many edges of a group belong into each bucket."""
    first, row = group * lists.capacity, group * (len(splitters) + 1)
    for slot in range(first, first + lists.counts[group]):
        counts[row + bucket_of(lists.words[slot], splitters)] += 1


@partial(each, least_chunk=1)
def move_group(group, lists, splitters, starts, moved):
    """Move the edges of a group to the ``starts`` of its buckets, which move on."""
    first, row = group * lists.capacity, group * (len(splitters) + 1)
    for slot in range(first, first + lists.counts[group]):
        word = lists.words[slot]
        bucket = row + bucket_of(word, splitters)
        place = starts[bucket]
        starts[bucket] = place + 1
        moved.words[place] = word
        if len(moved.entries):
            moved.entries[place] = lists.entries[slot]


def sorted_positions(lists, sample):
    """Positions of the edges of the lists in order: (k,) int64; ``sample`` holds similar words, ascending."""
    count, packed = min(threads.count(), len(sample)), not len(lists.entries)
    splitters = sample[np.arange(1, count) * len(sample) // max(count, 1)]
    n_groups, n_buckets = len(lists.counts), len(splitters) + 1
    counts = np.zeros(n_groups * n_buckets, np.int64)
    count_buckets(n_groups, lists, splitters, counts)
    offsets = exclusive_scan(counts.reshape(n_groups, n_buckets).T.flatten())
    starts, total = offsets[:-1].reshape(n_buckets, n_groups).T.flatten(), int(offsets[-1])
    moved = Moved(np.empty(total, np.int64), np.empty(0 if packed else total, np.int64))
    move_group(n_groups, lists, splitters, starts, moved)
    bounds = np.append(offsets[:-1:n_groups], total).tolist()
    sort = _sort_packed if packed else _sort_wide
    ThreadPool(n_buckets).starmap(sort, [(slice(*ends), *moved) for ends in pairwise(bounds)])
    return moved.words if packed else moved.entries


def _sort_packed(part, words, _):
    words[part].sort()
    words[part] &= 2**POSITION_BITS - 1


def _sort_wide(part, words, entries):
    words, count = words[part], part.stop - part.start
    if not count:
        return
    bits, least = count.bit_length(), int(words.min())
    shift = max(0, (int(words.max()) - least).bit_length() + bits - 63)
    # differences of words fit into uint64, and their upper bits beside a place into int64
    keys = ((words.view(np.uint64) - np.uint64(least % 2**64)) >> np.uint64(shift)).view(np.int64)
    keys <<= bits
    keys |= np.arange(count)
    keys.sort()
    keys &= 2**bits - 1
    ordered = words[keys]
    if shift and (ordered[1:] < ordered[:-1]).any():
        keys = keys[np.argsort(ordered, kind="stable")]
    entries[part] = entries[part][keys]
