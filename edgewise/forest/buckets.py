"""Sort some of the edges on all cores: those whose words are in a range, and whose ends are in two trees.

Blocks of entries are read once.  A block writes its wanted edges behind each other, without a branch that
depends on the edge, and counts how many belong into each bucket; the words of a sample divide the range into
buckets of similar size.  Then the edges are moved to their buckets, in the order of their positions, and the
buckets are sorted by NumPy, several at a time.
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
    """Edges: (k,) int64 words and, if words do not hold them, (k,) int64 positions; else that is empty."""

    words: Any
    positions: Any


@device
def select(first, end, entries, wanted, selected):
    """Write the wanted edges among some entries from ``first`` on; return where they end."""
    order, parent, at = entries.order, wanted.parent, np.uint64(first)
    both, several, wide = entries.both != 0, len(parent) != 0, len(selected.positions) != 0
    for entry in range(np.uint64(first), np.uint64(end)):
        word, one, other = word_of(order, entry), entries.sources[entry], entries.targets[entry]
        is_wanted = (one != other) & (word <= wanted.up_to)
        if both:
            is_wanted &= one < other
        if several:
            is_wanted &= (word > wanted.above) & (parent[one] != parent[other])
        selected.words[at] = word
        if wide:
            selected.positions[at] = entry
        at += np.uint64(is_wanted)
    return np.int64(at)


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
def select_block(block, entries, wanted, selected, counts):
    """Select the wanted edges of a block, and count those of each bucket behind their whole number."""
    first, row = block * BLOCK, block * (len(wanted.splitters) + 2)
    end = select(first, min(first + BLOCK, len(entries.targets)), entries, wanted, selected)
    counts[row] = end - first
    for at in range(first, end):
        counts[row + 1 + bucket_of(selected.words[at], wanted.splitters)] += 1


@partial(each, least_chunk=1)
def move_block(block, selected, splitters, starts, moved):
    """Move the selected edges of a block to the ``starts`` of its buckets, which move on."""
    first, row = block * BLOCK, block * (len(splitters) + 2)
    for at in range(first, first + starts[row]):
        word = selected.words[at]
        bucket = row + 1 + bucket_of(word, splitters)
        slot = starts[bucket]
        starts[bucket] = slot + 1
        moved.words[slot] = word
        if len(moved.positions):
            moved.positions[slot] = selected.positions[at]


def sorted_positions(entries, wanted, sample):
    """Positions of the wanted edges in order: (k,) int64; ``sample`` holds some words, ascending."""
    wanted = wanted._replace(splitters=_splitters(wanted, sample))
    n_buckets, n_entries, packed = len(wanted.splitters) + 1, len(entries.targets), entries.order.packed
    blocks = -(-n_entries // BLOCK)
    selected, counts = _edges(n_entries + 1, packed), np.zeros((blocks, 1 + n_buckets), np.int64)
    select_block(blocks, entries, wanted, selected, counts.reshape(-1))
    offsets = exclusive_scan(counts[:, 1:].T.flatten())
    n_selected = int(offsets[-1])
    moved, bounds = _edges(n_selected, packed), np.append(offsets[: -1 : max(blocks, 1)], n_selected)
    counts[:, 1:] = offsets[:-1].reshape(n_buckets, blocks).T
    move_block(blocks, selected, wanted.splitters, counts.reshape(-1), moved)
    del selected
    ThreadPool(n_buckets).starmap(
        _sort_packed if packed else _sort_wide,
        [(slice(*ends), *moved) for ends in zip(bounds[:-1].tolist(), bounds[1:].tolist())],
    )
    return moved.words if packed else moved.positions


def _edges(count, packed):
    return Selected(np.empty(count, np.int64), np.empty(0 if packed else count, np.int64))


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
