"""The order of keys of 64 bits, on all cores: keys are divided by splitters, and NumPy sorts each part.

The splitters come from an even sample, so that the parts of keys that differ have similar sizes (samplesort:
W. D. Frazer and A. C. McKellar, "Samplesort: a sampling approach to minimal storage tree sorting", 1970).
"""

from functools import partial
from itertools import pairwise

import numpy as np

from edgewise.device import device, each, threads
from edgewise.primitives.counting_sort import bounds_of, marked, starts_by_key
from edgewise.primitives.thread_pool import ThreadPool

#: Keys of the smallest part.
PART_KEYS = 1 << 15
#: Parts for each thread, so that none waits long for the largest part.
PARTS = 2
#: Keys of the sample for each part.
SAMPLED = 32


@device
def part_of(key, splitters):
    """How many splitters are not above a key."""
    low, high = np.int64(0), np.int64(len(splitters))
    while low < high:
        middle = (low + high) >> np.int64(1)
        if splitters[middle] <= key:
            low = middle + np.int64(1)
        else:
            high = middle
    return low


@partial(each, least_chunk=1)
def count_parts(block, bounds, keys, splitters, counts):
    """Count the keys of a block by part."""
    row = block * (len(splitters) + 1)
    for item in range(bounds[block], bounds[block + 1]):
        counts[row + part_of(keys[item], splitters)] += 1


@partial(each, least_chunk=1)
def move_to_parts(block, bounds, keys, splitters, starts, moved, positions):
    """Move the keys of a block, and their positions, to the starts of their parts, which move on."""
    row = block * (len(splitters) + 1)
    for item in range(bounds[block], bounds[block + 1]):
        key = keys[item]
        part = row + part_of(key, splitters)
        moved[starts[part]] = key
        positions[starts[part]] = item
        starts[part] += 1


def order_of(keys):
    """Positions of (n,) uint64 keys in ascending order, as ``keys.argsort()``: (n,) int64 array.

    The order of equal keys is left open.
    """
    blocks = threads.count()
    n_parts = min(PARTS * blocks, len(keys) // PART_KEYS)
    if blocks == 1 or n_parts < 2:
        return keys.argsort()
    sample = np.sort(keys[bounds_of(len(keys), SAMPLED * n_parts)[:-1]])
    splitters = sample[SAMPLED::SAMPLED].copy()
    bounds, counts = bounds_of(len(keys), blocks), np.zeros(blocks * n_parts, np.int64)
    count_parts(blocks, bounds, keys, splitters, counts)
    starts, ends = starts_by_key(counts, blocks)
    moved, positions = np.empty_like(keys), np.empty(len(keys), np.int64)
    move_to_parts(blocks, bounds, keys, splitters, starts, moved, positions)
    calls = [(moved, positions, *between) for between in pairwise(ends.tolist())]
    ThreadPool(n_parts).starmap(_sort_part, calls)
    return positions


def _sort_part(keys, positions, first, end):
    positions[first:end] = positions[first:end][keys[first:end].argsort()]


@each
def _mark_begin(item, keys, marks):
    marks[item] = item == 0 or item == len(keys) or keys[item] != keys[item - 1]


def begins_of(keys):
    """Where each distinct key begins among (n,) ascending ones, and ``n``: (distinct + 1,) int64 array."""
    marks = np.empty(len(keys) + 1, bool)
    _mark_begin(len(marks), keys, marks)
    return marked(marks)
