"""Keys of 64 bits in order, on all cores: splitters divide them, and each part is sorted byte by byte.

The splitters come from an even sample, so that the parts of keys that differ have similar sizes (samplesort:
W. D. Frazer and A. C. McKellar, "Samplesort: a sampling approach to minimal storage tree sorting", 1970).  A
key goes down a search tree of them without branches (P. Sanders and S. Winkel, "Super scalar sample sort",
2004).  A part stays in the caches, and bytes that its keys have in common need no pass.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device, each, threads
from edgewise.primitives.array_operations import part_of, tree_of
from edgewise.primitives.counting_sort import bounds_of, marked, starts_by_key

#: Keys of a part, up to twice as many, unless there are more parts than :data:`PARTS` then.
PART_KEYS = 1 << 13
#: Most parts, a power of two; each thread counts the keys of all of them.
PARTS = 1 << 10
#: Keys of the sample for each part.
SAMPLED = 32
#: Bits of a byte, bytes of a key, and values of a byte.
BITS, BYTES, VALUES = 8, 8, 256
BYTE = np.uint64(VALUES - 1)


class Keyed(NamedTuple):
    """Keys and their positions before.

    Attributes
    ----------
    keys : (n,) uint64 array
    positions : (n,) int64 array
    """

    keys: Any
    positions: Any


@partial(each, least_chunk=1)
def count_parts(block, bounds, keys, tree, parts, counts):
    """Find the parts of the keys of a block, and count the keys of each."""
    row = np.uint64(block * len(tree))
    for item in range(np.uint64(bounds[block]), np.uint64(bounds[block + 1])):
        part = part_of(keys[item], tree)
        parts[item] = part
        counts[row + part] += 1


@partial(each, least_chunk=1)
def move_to_parts(block, bounds, keys, parts, starts, moved):
    """Move the keys of a block, and their positions, to the starts of their parts, which move on."""
    row = np.uint64(block * (len(starts) // (len(bounds) - 1)))
    for item in range(np.uint64(bounds[block]), np.uint64(bounds[block + 1])):
        part = row + np.uint64(parts[item])
        place = np.uint64(starts[part])
        moved.keys[place], moved.positions[place] = keys[item], item
        starts[part] += 1


@device
def sort_by_byte(first, end, shift, source, target, starts):
    """Sort a part by the byte of its keys above ``shift``, with 256 ``starts``; equal ones keep order."""
    for byte in range(VALUES):
        starts[byte] = 0
    for item in range(np.uint64(first), np.uint64(end)):
        starts[source.keys[item] >> shift & BYTE] += 1
    start = first
    for byte in range(VALUES):
        start, starts[byte] = start + starts[byte], start
    for item in range(np.uint64(first), np.uint64(end)):
        byte = source.keys[item] >> shift & BYTE
        place = np.uint64(starts[byte])
        target.keys[place], target.positions[place] = source.keys[item], source.positions[item]
        starts[byte] += 1


@partial(each, least_chunk=1)
def sort_part(part, ends, moved, spare, counts):
    """Sort the keys of a part with their positions."""
    first, end = ends[part], ends[part + 1]
    differing = np.uint64(0)
    for item in range(first, end):
        differing |= moved.keys[item] ^ moved.keys[first]
    source, target, starts = moved, spare, counts[part * VALUES : (part + 1) * VALUES]
    n_passes = 0
    for byte in range(BYTES):
        shift = np.uint64(byte * BITS)
        if differing >> shift & BYTE:
            sort_by_byte(first, end, shift, source, target, starts)
            source, target = target, source
            n_passes += 1
    if n_passes % 2:
        for item in range(first, end):
            moved.keys[item], moved.positions[item] = source.keys[item], source.positions[item]


def ordered(keys):
    """(n,) uint64 keys in ascending order, and their int64 positions before; equal ones keep their order."""
    n, blocks = len(keys), threads.count()
    n_parts = min(PARTS, 1 << (n // PART_KEYS).bit_length() >> 1)
    if n_parts < 2:
        order = keys.argsort(kind="stable")
        return keys[order], order
    sample = np.sort(keys[bounds_of(n, SAMPLED * n_parts)[:-1]])
    tree = tree_of(sample[SAMPLED::SAMPLED])
    bounds, counts = bounds_of(n, blocks), np.zeros(blocks * n_parts, np.int64)
    parts = np.empty(n, np.uint16)
    count_parts(blocks, bounds, keys, tree, parts, counts)
    starts, ends = starts_by_key(counts, blocks)
    moved, spare = (Keyed(np.empty_like(keys), np.empty(n, np.int64)) for _ in range(2))
    move_to_parts(blocks, bounds, keys, parts, starts, moved)
    sort_part(n_parts, ends, moved, spare, np.empty(n_parts * VALUES, np.int64))
    return moved


@each
def _mark_begin(item, keys, marks):
    marks[item] = item == 0 or item == len(keys) or keys[item] != keys[item - 1]


def begins_of(keys):
    """Where each distinct key begins among (n,) ascending ones, and ``n``: (distinct + 1,) int64 array."""
    marks = np.empty(len(keys) + 1, bool)
    _mark_begin(len(marks), keys, marks)
    return marked(marks)
