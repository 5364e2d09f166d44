"""A random order of ``0 .. count - 1`` that is computed, not stored.

An unbalanced Feistel network permutes ``0 .. 2**bits - 1``, the next power of two; a result outside
``0 .. count - 1`` is permuted again until it is inside (cycle walking, Black and Rogaway 2002), on average
less than once.  Each round function is Philox's multiplication folded to 32 bits; Luby and
Rackoff (1988) need four rounds of a random function, twelve leave room for one that is merely good (Mitchell
et al., "Bandwidth-optimal random shuffling for GPUs", 2022).

The order is used both ways: ``shuffled`` gives the new number of a vertex, ``restored`` the old one.  An
edge list that is generated vertex by vertex in the new order looks as if read from a file sorted by source.
"""

from typing import NamedTuple

import numpy as np

from edgewise.device import device
from edgewise.generators.random import MASK, MULTIPLIER_0, ONE, SHUFFLE, WEYL_0, WORD, words

#: Pairs of rounds.
PAIRS = 6
#: Rounds draw their keys from a Weyl sequence that starts at the shuffle's key.
LAST = np.uint64(2 * PAIRS - 1)


class Shuffle(NamedTuple):
    """A random order of ``0 .. count - 1``.

    Attributes
    ----------
    count : int
    bits : int, of the network's numbers; with 0 bits every number keeps its position
    key : int, of the network
    """

    count: int  # type: ignore[assignment]
    bits: int
    key: int


def order(count: int, seed: int, wanted: bool = True) -> Shuffle:
    """Random order of ``0 .. count - 1``, or the ascending order if none is wanted."""
    if not wanted:
        return Shuffle(count, 0, 0)
    return Shuffle(count, max(count - 1, 0).bit_length(), int(words(seed, 0, 0, SHUFFLE)[0]))


@device
def shuffled(number, shuffle):
    """New position of ``number``, as uint64."""
    here = np.uint64(number)
    if shuffle.bits == 0:
        return here
    here = scramble(here, shuffle.bits, shuffle.key)
    while here >= np.uint64(shuffle.count):
        here = scramble(here, shuffle.bits, shuffle.key)
    return here


@device
def restored(position, shuffle):
    """The number whose new position is ``position``, as uint64."""
    here = np.uint64(position)
    if shuffle.bits == 0:
        return here
    here = unscramble(here, shuffle.bits, shuffle.key)
    while here >= np.uint64(shuffle.count):
        here = unscramble(here, shuffle.bits, shuffle.key)
    return here


@device
def scramble(number, bits, key):
    """New position of ``number`` (uint64) among ``2**bits``; with 0 bits both masks are 0 and it stays."""
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
    """The number (uint64) whose new position among ``2**bits`` is ``number``: the rounds in reverse."""
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
