"""A random order of ``0 .. count - 1`` that is computed, not stored.

An unbalanced Feistel network permutes ``0 .. 2**bits - 1``, the next power of two; numbers that leave
``0 .. count - 1`` go round again until they are back (cycle walking, Black and Rogaway 2002), on the
average less than once more.  Each round function is Philox's multiplication folded to 32 bits; Luby and
Rackoff (1988) need four rounds of a random function, twelve leave room for one that is merely good (Mitchell
et al., "Bandwidth-optimal random shuffling for GPUs", 2022).

The order is used both ways: ``shuffled`` says where a vertex goes, ``restored`` which one came there.  An
edge list that is generated vertex by vertex in the new order looks as if read from a file sorted by source.
"""

import numpy as np

from edgewise.device import device
from edgewise.generators.random import MASK, MULTIPLIER_0, ONE, SHUFFLE, WEYL_0, WORD, words

#: Pairs of rounds.
PAIRS = 6
#: Rounds draw their keys from a Weyl sequence that starts at the shuffle's key.
LAST = np.uint64(2 * PAIRS - 1)


def order(count: int, seed: int, wanted: bool = True) -> tuple[int, int]:
    """Return ``(bits, key)`` of a random order of ``count`` numbers; 0 bits leave all in their devices."""
    if not wanted:
        return 0, 0
    return max(count - 1, 0).bit_length(), int(words(seed, 0, 0, SHUFFLE)[0])


@device
def shuffled(number, count, bits, key):
    """New place of ``number``, as uint64."""
    here = np.uint64(number)
    if bits == 0:
        return here
    here = scramble(here, bits, key)
    while here >= np.uint64(count):
        here = scramble(here, bits, key)
    return here


@device
def restored(position, count, bits, key):
    """The number whose new place is ``position``, as uint64."""
    here = np.uint64(position)
    if bits == 0:
        return here
    here = unscramble(here, bits, key)
    while here >= np.uint64(count):
        here = unscramble(here, bits, key)
    return here


@device
def scramble(number, bits, key):
    """New place of ``number`` (uint64) among ``2**bits``; with 0 bits both masks are empty and it stays."""
    low_bits = np.uint64(bits // 2)
    low_mask, high_mask = (ONE << low_bits) - ONE, (ONE << np.uint64(bits - bits // 2)) - ONE
    low, high = number & low_mask, number >> low_bits
    round_key = np.uint64(key)
    for _ in range(PAIRS):
        high = high ^ (_fold(low, round_key) & high_mask)
        round_key = (round_key + WEYL_0) & MASK
        low = low ^ (_fold(high, round_key) & low_mask)
        round_key = (round_key + WEYL_0) & MASK
    return (high << low_bits) | low


@device
def unscramble(number, bits, key):
    """The number (uint64) whose new place among ``2**bits`` is ``number``: the rounds backwards."""
    low_bits = np.uint64(bits // 2)
    low_mask, high_mask = (ONE << low_bits) - ONE, (ONE << np.uint64(bits - bits // 2)) - ONE
    low, high = number & low_mask, number >> low_bits
    round_key = (np.uint64(key) + LAST * WEYL_0) & MASK
    for _ in range(PAIRS):
        low = low ^ (_fold(high, round_key) & low_mask)
        round_key = (round_key + (MASK ^ WEYL_0) + ONE) & MASK
        high = high ^ (_fold(low, round_key) & high_mask)
        round_key = (round_key + (MASK ^ WEYL_0) + ONE) & MASK
    return (high << low_bits) | low


@device
def _fold(half, round_key):
    product = MULTIPLIER_0 * (half ^ round_key)
    return (product >> WORD) ^ (product & MASK)
