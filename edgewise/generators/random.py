"""Random numbers that are functions of (seed, index): the same on every device, in any order.

The generator is Philox-4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2,
3", SC 2011), which passes TestU01's BigCrush and has published test vectors.  Among counter-based generators
it was chosen because it multiplies 32-bit words only: no product or sum below exceeds 64 bits, so that
compilers, interpreter and simulator agree bit for bit without wrap-around, and a GPU needs one wide
multiplication for each.

All decisions are integer comparisons, since a GPU may contract floating-point operations that a CPU does
not.  Numbers stay ``np.uint64`` throughout: Numba turns a mix with int64 into float64.
"""

import numpy as np

from edgewise.device import device

#: Streams, one for each purpose; numbers of different streams are unrelated.
EDGES, POINTS, HOLES, BRANCHES, WEIGHTS, SHUFFLE, SCORES, NAMES = range(8)

ROUNDS = 10
#: The number 1 as uint64.
ONE = np.uint64(1)
#: Bits of a random word.
WORD = np.uint64(32)
MASK = np.uint64(0xFFFFFFFF)
#: Factor of the first word in each round of Philox.
MULTIPLIER_0 = np.uint64(0xD2511F53)
#: Factor of the third word in each round.
MULTIPLIER_1 = np.uint64(0xCD9E8D57)
#: Number that is added to the first word of the key after each round.
WEYL_0 = np.uint64(0x9E3779B9)
#: Number that is added to the second word of the key after each round.
WEYL_1 = np.uint64(0xBB67AE85)


@device
def words(seed, index, block, stream):
    """Four random 32-bit words, as uint64, for item ``index``; ``block`` numbers its groups of four words."""
    c0, c1 = np.uint64(index) & MASK, np.uint64(index) >> WORD
    c2, c3 = np.uint64(block), np.uint64(stream)
    k0, k1 = np.uint64(seed) & MASK, np.uint64(seed) >> WORD
    for _ in range(ROUNDS):
        p0, p1 = MULTIPLIER_0 * c0, MULTIPLIER_1 * c2
        c0, c1, c2, c3 = (p1 >> WORD) ^ c1 ^ k0, p1 & MASK, (p0 >> WORD) ^ c3 ^ k1, p0 & MASK
        k0, k1 = (k0 + WEYL_0) & MASK, (k1 + WEYL_1) & MASK
    return c0, c1, c2, c3


@device
def below(high, low, count):
    """Uniform uint64 below ``count`` (at most 2**32) from two random words: their 64-bit fraction of it."""
    whole = np.uint64(count)
    return (high * whole + ((low * whole) >> WORD)) >> WORD


def threshold(probability: float) -> int:
    """The number that a random word is below with this probability."""
    return round(probability * 2**32)
