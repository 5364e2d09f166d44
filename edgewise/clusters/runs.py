"""Look-ups from keys to rows in sorted runs: those of ids, and those of pairs.

A run has ascending keys of 64 bits, and the row of each.  New keys become a run of their own.  A run that is
not much longer than the next one is merged with it, as in a binary counter, so there are few runs, and each
key is moved a few times only (the logarithmic method of J. L. Bentley and J. B. Saxe, "Decomposable searching
problems", 1980).  A run can be in a file that is mapped into memory: a look-up reads some pages of it.

The key of an integer is the integer.  Strings have their hash as the key, and those with equal keys are
compared by their bytes.  Hashes are spread evenly, so a look-up begins where the key would be if they were
spread perfectly, and corrects that twice by the distance to the key that is there (interpolation, as of
W. W. Peterson, "Addressing for random-access storage", 1957): it waits for memory three times, and bisection
for ten million keys ten times.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device, each
from edgewise.device.prefetch import prefetch
from edgewise.device.threads import few_steps
from edgewise.ingest.string_words import hash_bytes, same_bytes
from edgewise.primitives import filled
from edgewise.primitives.counting_sort import gather
from edgewise.primitives.sorting import order_of

#: What is found for keys that are not there.
ABSENT = -1
#: Bits of half a key.
HALF = np.uint64(32)
#: How often the place of a hash is corrected.
CORRECTIONS = 2
#: How many items ahead the first read of a look-up is started.
AHEAD = 16
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
def first_not_below(keys, key):
    """Position of the first key that is not below another one."""
    low, high = np.int64(0), np.int64(len(keys))
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
def first_hash_not_below(keys, key):
    """As :func:`first_not_below`, of at least one key; keys are spread evenly."""
    n, at = np.int64(len(keys)), np.int64(even_position(keys, key))
    for _ in range(CORRECTIONS):
        apart = np.int64(key >> HALF) - np.int64(keys[at] >> HALF)
        at = min(max(at + (apart * n >> np.int64(HALF)), np.int64(0)), n - np.int64(1))
    while at > 0 and keys[at - 1] >= key:
        at -= np.int64(1)
    while at < n and keys[at] < key:
        at += np.int64(1)
    return at


@each
def look_up(item, wanted, run, found):
    """Write the row of a key, if the run has it."""
    at = first_not_below(run.keys, wanted[item])
    if at < len(run.keys) and run.keys[at] == wanted[item]:
        found[item] = np.int64(run.rows[at])


@each
def look_up_hash(item, wanted, run, rows):
    """Write the first row of a hash, if the run has it."""
    prefetch(run.keys, even_position(run.keys, wanted[min(item + AHEAD, len(wanted) - 1)]))
    at = first_hash_not_below(run.keys, wanted[item])
    rows[item] = ABSENT
    if at < len(run.keys) and run.keys[at] == wanted[item]:
        rows[item] = np.int64(run.rows[at])


@device
def is_string(row, known, strings, item):
    """Whether a row of strings that are known has the same string as an item."""
    start, begin = np.int64(strings.starts[item]), np.int64(known.starts[row])
    length = np.int64(strings.starts[item + 1]) - start
    is_as_long = np.int64(known.starts[row + 1]) - begin == length
    return is_as_long and same_bytes(strings.text, start, known.text, begin, length)


@each
def compare_string(item, wanted, strings, run, known, rows, found):
    """Write the row of a string; ``rows`` are the first ones with the same hashes, ``known`` all strings."""
    last = np.int64(len(rows) - 1)
    ahead, far = rows[min(item + AHEAD, last)], rows[min(item + 2 * AHEAD, last)]
    if far >= 0:
        prefetch(known.starts, far)
    if ahead >= 0:
        prefetch(known.text, known.starts[ahead])
    row = rows[item]
    if row < 0:
        return
    if is_string(row, known, strings, item):
        found[item] = row
        return
    at = first_hash_not_below(run.keys, wanted[item])
    while at < len(run.keys) and run.keys[at] == wanted[item]:
        row = np.int64(run.rows[at])
        if is_string(row, known, strings, item):
            found[item] = row
        at += 1


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

    def __init__(self, runs=()):
        self.runs = list(runs)

    def find(self, wanted):
        """Rows of keys, (k,) uint64, as an int64 array; :data:`ABSENT` for others."""
        found = filled(len(wanted), ABSENT, np.int64)
        for run in self.runs:
            with few_steps(len(wanted) * len(run.keys).bit_length()):
                look_up(len(wanted), wanted, run, found)
        return found

    def find_strings(self, strings, known):
        """Rows of strings, of which ``known`` are those that are in the runs; both are of one type."""
        wanted = hashes_of(strings)
        rows = np.empty(len(wanted), np.int64)
        found = filled(len(wanted), ABSENT, np.int64)
        for run in self.runs:
            with few_steps(len(strings.text) + len(wanted) * len(run.keys).bit_length()):
                look_up_hash(len(wanted), wanted, run, rows)
                compare_string(len(wanted), wanted, strings, run, known, rows, found)
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
    order = order_of(keys)
    return Run(gather(keys, order), (order + first_row).astype(np.uint32))


def merged(one, other):
    """Two runs as one; a stable sort takes two ascending parts as they are."""
    keys = np.concatenate([one.keys, other.keys])
    order = np.argsort(keys, kind="stable")
    return Run(gather(keys, order), gather(np.concatenate([one.rows, other.rows]), order))
