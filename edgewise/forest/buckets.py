"""Sort some of the edges on all cores: those whose words are in a range, and whose ends are in two trees.

The words of a sample divide the range into buckets of similar size.  Blocks of entries are read twice: the
first pass counts the edges of each bucket, the second one writes them behind each other, in the order of
their positions.  Then the buckets are sorted, several at a time, by NumPy.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device, each, threads
from edgewise.forest.order import POSITION_BITS, word_of
from edgewise.primitives.array_operations import exclusive_scan
from edgewise.primitives.thread_pool import ThreadPool

#: Entries of a block, and buckets for each thread.
BLOCK, BUCKETS_PER_THREAD = 1 << 15, 4


class Range(NamedTuple):
    """Which edges are wanted: words larger than ``above`` (if there are trees) and at most ``up_to``.

    Attributes
    ----------
    above, up_to : int
    parent : (n,) index array
        Compressed trees, whose edges inside are not wanted; empty if every vertex is a tree of its own.
    splitters : (k,) int64 array
        The largest words of all buckets but the last one, ascending.
    """

    above: int
    up_to: int
    parent: Any
    splitters: Any


class Selected(NamedTuple):
    """The wanted edges, bucket by bucket: (k,) int64 words and, if words do not hold them, positions."""

    words: Any
    positions: Any


@device
def is_wanted(entry, word, entries, wanted):
    """Whether an edge is in the range and joins two trees."""
    one, other = entries.sources[entry], entries.targets[entry]
    if one == other or word > wanted.up_to or (word <= wanted.above and len(wanted.parent) != 0):
        return False
    if entries.both != 0 and one > other:
        return False
    return len(wanted.parent) == 0 or wanted.parent[one] != wanted.parent[other]


@device
def bucket_of(word, splitters):
    """The bucket of a word: how many splitters are smaller."""
    low, high = np.int64(0), np.int64(len(splitters))
    while low < high:
        middle = (low + high) // 2
        if splitters[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low


@partial(each, least_chunk=1)
def count_block(block, entries, wanted, counts):
    """Count the wanted edges of a block in each bucket."""
    row = block * (len(wanted.splitters) + 1)
    for entry in range(block * BLOCK, min((block + 1) * BLOCK, len(entries.targets))):
        word = word_of(entries.order, entry)
        if is_wanted(entry, word, entries, wanted):
            counts[row + bucket_of(word, wanted.splitters)] += 1


@partial(each, least_chunk=1)
def write_block(block, entries, wanted, starts, selected):
    """Write the wanted edges of a block behind the ``starts`` of the buckets, which move on."""
    row = block * (len(wanted.splitters) + 1)
    for entry in range(block * BLOCK, min((block + 1) * BLOCK, len(entries.targets))):
        word = word_of(entries.order, entry)
        if is_wanted(entry, word, entries, wanted):
            at = row + bucket_of(word, wanted.splitters)
            selected.words[starts[at]] = word
            if len(selected.positions):
                selected.positions[starts[at]] = entry
            starts[at] += 1


def sorted_positions(entries, wanted, sample):
    """Positions of the wanted edges in order: (k,) int64; ``sample`` holds some words, ascending."""
    wanted = wanted._replace(splitters=_splitters(wanted, sample))
    n_buckets, blocks = len(wanted.splitters) + 1, -(-len(entries.targets) // BLOCK)
    counts = np.zeros(blocks * n_buckets, np.int64)
    count_block(blocks, entries, wanted, counts)
    offsets = exclusive_scan(counts.reshape(blocks, n_buckets).T.flatten())
    starts = offsets[:-1].reshape(n_buckets, blocks).T.flatten()
    n_selected, packed = int(offsets[-1]), entries.order.packed
    selected = Selected(np.empty(n_selected, np.int64), np.empty(0 if packed else n_selected, np.int64))
    write_block(blocks, entries, wanted, starts, selected)
    bounds = np.append(offsets[:-1:blocks], n_selected) if blocks else np.zeros(2, np.int64)
    ThreadPool(n_buckets).starmap(
        _sort_packed if packed else _sort_wide,
        [(slice(*ends), *selected) for ends in zip(bounds[:-1].tolist(), bounds[1:].tolist())],
    )
    return selected.words if packed else selected.positions


def _splitters(wanted, sample):
    """Words that divide the wanted ones of the sample evenly."""
    inside = sample[
        np.searchsorted(sample, wanted.above, "right") : np.searchsorted(sample, wanted.up_to, "right")
    ]
    count = min(BUCKETS_PER_THREAD * threads.count(), len(inside))
    return inside[np.arange(1, count) * len(inside) // max(count, 1)]


def _sort_packed(part, words, _):
    words[part].sort()
    words[part] &= 2**POSITION_BITS - 1


def _sort_wide(part, words, positions):
    positions[part] = positions[part][np.argsort(words[part], kind="stable")]
