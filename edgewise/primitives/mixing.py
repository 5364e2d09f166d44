"""A permutation of the numbers of 32 bits, by which kernels draw at random without a state."""

import numpy as np

from edgewise.device import device

#: Mask of the 32 bits of a number that :func:`mix` permutes.
MASK = 0xFFFFFFFF
#: Multiplier of :func:`mix`, which is odd.
MULTIPLIER = 0x45D9F3B
#: Inverse of the multiplier modulo 2 ** 32.
INVERSE = pow(MULTIPLIER, -1, 2**32)


@device
def mix(number, salt):
    """Permute the numbers of 32 bits; the permutation depends on ``salt``, which is one of them."""
    code = np.int64(number) ^ np.int64(salt)
    code = ((code ^ (code >> 16)) * MULTIPLIER) & MASK
    code = ((code ^ (code >> 16)) * MULTIPLIER) & MASK
    return code ^ (code >> 16)


@device
def unmix(code, salt):
    """The number of which :func:`mix` is ``code``."""
    code = np.int64(code)
    for _ in range(2):
        code ^= code >> 16
        low, high = code * (INVERSE & 0xFFFF), (code * (INVERSE >> 16)) & 0xFFFF
        code = (low + (high << 16)) & MASK
    return code ^ (code >> 16) ^ np.int64(salt)
