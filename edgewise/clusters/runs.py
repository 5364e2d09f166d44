"""Look-ups from keys to rows in sorted runs: those of ids, and those of pairs.

A run has ascending keys of 64 bits, and the row of each.  New keys become a run of their own.  A run that is
not much longer than the next one is merged with it, as in a binary counter, so there are few runs, and each
key is moved a few times only (the logarithmic method of J. L. Bentley and J. B. Saxe, "Decomposable searching
problems", 1980).  A run can be in a file that is mapped into memory: a look-up reads some pages of it.

The key of an integer is the integer.  Strings have their hash as the key, and those with equal keys are
compared by their bytes.  Hashes are spread evenly, so a look-up begins where the key would be if they were
spread perfectly, and corrects that twice by the distance to the key that is there (interpolation, as of
W. W. Peterson, "Addressing for random-access storage", 1957): it reads three places, and bisection of ten
million keys ten.  Some keys take each of these steps together, so that they wait for memory at the same time.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device, each
from edgewise.device.prefetch import prefetch
from edgewise.device.threads import few_steps
from edgewise.ingest.string_words import hash_bytes, same_bytes
from edgewise.primitives import filled
from edgewise.primitives.counting_sort import bounds_of, n_blocks_of
from edgewise.primitives.sorting import ordered

#: What is found for keys that are not there.
ABSENT = -1
#: Bits of half a key.
HALF = np.uint64(32)
#: How often the place of a hash is corrected.
CORRECTIONS = 2
#: Hashes that go through the steps of a look-up together.
GROUP = 64
#: Blocks of keys for each core.
SHARES = 4
#: Groups that a core takes at a time, or more.
CHUNK = 8
#: A run is merged with the next one if it has less than so many times as many keys.
FACTOR = 2


class Run(NamedTuple):
    """Ascending keys and their rows.

    Attributes
    ----------
    keys : (k,) uint64 array
    rows : (k,) uint32 array
    """

    keys: Any
    rows: Any


@device
def first_not_below(keys, key, low, high):
    """Position of the first key that is not below another one, from ``low`` to ``high``."""
    while low < high:
        middle = (low + high) >> np.int64(1)
        if keys[middle] < key:
            low = middle + np.int64(1)
        else:
            high = middle
    return low


@device
def even_position(keys, key):
    """Where a key is among ascending keys, if these are spread evenly."""
    return (key >> HALF) * np.uint64(len(keys)) >> HALF


@device
def corrected(keys, key, at):
    """Where a key is, if keys are spread evenly from the one at a position on."""
    n = np.int64(len(keys))
    apart = np.int64(key >> HALF) - np.int64(keys[at] >> HALF)
    return min(max(at + (apart * n >> np.int64(HALF)), np.int64(0)), n - np.int64(1))


@device
def first_hash_not_below(keys, key, at):
    """As :func:`first_not_below`, from a position near it on."""
    while at > 0 and keys[at - 1] >= key:
        at -= np.int64(1)
    while at < len(keys) and keys[at] < key:
        at += np.int64(1)
    return at


@device
def next_not_below(keys, key, at):
    """As :func:`first_not_below`, sooner if it is at a position or soon after it."""
    if at > 0 and keys[at - 1] >= key:
        return first_not_below(keys, key, np.int64(0), at)
    step = np.int64(1)
    while at + step < len(keys) and keys[at + step] < key:
        at += step
        step += step
    return first_not_below(keys, key, at, min(at + step, np.int64(len(keys))))


@partial(each, least_chunk=1)
def look_up(block, bounds, wanted, run, found):
    """Write the rows of the keys of a block that no run before had, and this run has."""
    at = np.int64(0)
    for item in range(bounds[block], bounds[block + 1]):
        if found[item] < 0:
            at = next_not_below(run.keys, wanted[item], at)
            if at < len(run.keys) and run.keys[at] == wanted[item]:
                found[item] = np.int64(run.rows[at])


@device
def is_string(row, known, strings, item):
    """Whether a row of strings that are known has the same string as an item."""
    start, begin = np.int64(strings.starts[item]), np.int64(known.starts[row])
    length = np.int64(strings.starts[item + 1]) - start
    is_as_long = np.int64(known.starts[row + 1]) - begin == length
    return is_as_long and same_bytes(strings.text, start, known.text, begin, length)


@device
def locate(first, end, wanted, run, found, places):
    """Write where hashes from ``first`` to ``end`` are in a run; :data:`ABSENT` for those found before."""
    for item in range(first, end):
        places[item] = np.int64(even_position(run.keys, wanted[item])) if found[item] < 0 else ABSENT
        prefetch(run.keys, max(places[item], np.int64(0)))
    for _ in range(CORRECTIONS):
        for item in range(first, end):
            if places[item] >= 0:
                places[item] = corrected(run.keys, wanted[item], places[item])
                prefetch(run.keys, places[item])
    for item in range(first, end):
        if places[item] >= 0:
            at = first_hash_not_below(run.keys, wanted[item], places[item])
            places[item] = at if at < len(run.keys) and run.keys[at] == wanted[item] else ABSENT
            prefetch(run.rows, max(places[item], np.int64(0)))


@partial(each, least_chunk=CHUNK)
def look_up_strings(group, strings, wanted, run, known, found, places):
    """Write the rows of a group of strings, of which ``wanted`` are the hashes, and ``known`` all strings."""
    first, end = group * GROUP, min((group + 1) * GROUP, np.int64(len(wanted)))
    locate(first, end, wanted, run, found, places)
    for item in range(first, end):
        if places[item] >= 0:
            prefetch(known.starts, run.rows[places[item]])
    for item in range(first, end):
        if places[item] >= 0:
            prefetch(known.text, known.starts[run.rows[places[item]]])
    for item in range(first, end):
        at = places[item]
        while 0 <= at < len(run.keys) and run.keys[at] == wanted[item] and found[item] < 0:
            row = np.int64(run.rows[at])
            if is_string(row, known, strings, item):
                found[item] = row
            at += np.int64(1)


@each
def write_hash(item, strings, hashes):
    """Write the hash of a string, whose upper half is the better one."""
    code = hash_bytes(strings.text, strings.starts[item], strings.starts[item + 1])
    hashes[item] = code << HALF | code >> HALF


def hashes_of(strings):
    """Hashes of :class:`~edgewise.ingest.string_words.Strings`: (n,) uint64 array."""
    hashes = np.empty(len(strings.starts) - 1, np.uint64)
    with few_steps(len(strings.text)):
        write_hash(len(hashes), strings, hashes)
    return hashes


class Runs:
    """Runs from the longest to the shortest; no key and row are in two of them."""

    def __init__(self):
        self.runs = []

    def find(self, wanted):
        """Rows of keys, (k,) uint64, as an int64 array; :data:`ABSENT` for others.

        Keys in ascending order are found soonest.
        """
        found, blocks = filled(len(wanted), ABSENT, np.int64), SHARES * n_blocks_of(len(wanted))
        bounds = bounds_of(len(wanted), blocks)
        for run in self.runs:
            with few_steps(len(wanted) * len(run.keys).bit_length()):
                look_up(blocks, bounds, wanted, run, found)
        return found

    def find_strings(self, strings, known):
        """Rows of strings, of which ``known`` are those that are in the runs; both are of one type."""
        wanted = hashes_of(strings)
        places = np.empty(len(wanted), np.int64)
        found = filled(len(wanted), ABSENT, np.int64)
        for run in self.runs:
            with few_steps(len(strings.text) + len(wanted) * len(run.keys).bit_length()):
                look_up_strings(-(-len(wanted) // GROUP), strings, wanted, run, known, found, places)
        return found

    def add(self, run):
        """Enter a run of other keys."""
        if len(run.keys):
            self.runs.append(run)
        while len(self.runs) > 1 and len(self.runs[-2].keys) < FACTOR * len(self.runs[-1].keys):
            self.runs.append(merged(self.runs.pop(-2), self.runs.pop(-1)))

    def whole(self):
        """All runs as one."""
        while len(self.runs) > 1:
            self.runs.append(merged(self.runs.pop(-2), self.runs.pop(-1)))
        return self.runs[0] if self.runs else Run(np.empty(0, np.uint64), np.empty(0, np.uint32))


def run_of(keys, first_row):
    """The run of keys in any order, which have consecutive rows."""
    keys, order = ordered(keys)
    return Run(keys, (order + first_row).astype(np.uint32))


@device
def split_of(place, keys, others):
    """How many of the first keys of two runs together are of the one of ``keys``."""
    low, high = max(place - np.int64(len(others)), np.int64(0)), min(place, np.int64(len(keys)))
    while low < high:
        middle = (low + high) >> np.int64(1)
        if keys[middle] <= others[place - middle - np.int64(1)]:
            low = middle + np.int64(1)
        else:
            high = middle
    return low


@partial(each, least_chunk=1)
def merge_block(block, bounds, one, other, target):
    """Write a block of two runs as one."""
    left = split_of(bounds[block], one.keys, other.keys)
    right = bounds[block] - left
    for place in range(bounds[block], bounds[block + 1]):
        is_left = right == len(other.keys)
        if not is_left and left < len(one.keys):
            is_left = one.keys[left] <= other.keys[right]
        if is_left:
            target.keys[place], target.rows[place] = one.keys[left], one.rows[left]
            left += np.int64(1)
        else:
            target.keys[place], target.rows[place] = other.keys[right], other.rows[right]
            right += np.int64(1)


def merged(one, other):
    """Two runs as one; each block of it begins where bisection finds both (merge path)."""
    count = len(one.keys) + len(other.keys)
    target, blocks = Run(np.empty(count, np.uint64), np.empty(count, np.uint32)), n_blocks_of(count)
    with few_steps(count):
        merge_block(blocks, bounds_of(count, blocks), one, other, target)
    return target
