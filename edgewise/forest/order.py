"""The order of the edges of a forest: by weight, then by position; so that there is one answer only.

A spanning forest of least weight is unique where no two edges are equal.  Edges of equal weight come in the
order of their positions in the edge list, and ``maximum=True`` reverses the weights, but not the positions.
Hence every method, device and number of threads finds the same edges.

A *key* is an int64 number in the order of the weights.  The bits of an integer are its key.  The bits of a
float are those of an integer that rises with the float, once the bits below the sign of a negative number are
inverted; -0.0 counts as 0.0.  Where the keys span fewer than 2**32 numbers and the positions too, a *word*
holds both, the key above and the position below, and one atomic minimum of words finds the first edge.
Otherwise a word is the key alone, and the position is compared apart.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, device

#: No word is larger, and a word of a key and a position is smaller.
LARGEST = 2**63 - 1
#: Bits of a position in a word, and the largest position there.
POSITION_BITS = 32
MAX_POSITION = 2**POSITION_BITS - 2


class Order(NamedTuple):
    """The order of the entries of a graph.

    Attributes
    ----------
    bits : (entries,) int32 or int64 array
        The weights, or what is in memory where they are floats.
    mask : int
        Bits that are inverted in a negative float; 0 for integers.
    base : int
        What is subtracted from a key.
    reversed : int
        1 if large weights come first, else 0.
    packed : int
        1 if a word holds a key and a position, else 0.
    """

    bits: Any
    mask: int
    base: int
    reversed: int
    packed: int


@device
def key_of(order, entry):
    """The key of an entry's weight."""
    key = np.int64(order.bits[entry])
    key ^= (key >> np.int64(63)) & np.int64(order.mask)
    if order.mask != 0 and key == np.int64(-1):  # -0.0
        key = np.int64(0)
    key -= np.int64(order.base)
    if order.reversed != 0:
        key = ~key
    return key


@device
def word_of(order, entry):
    """The word of an entry, by which entries are compared."""
    key = key_of(order, entry)
    if order.packed != 0:
        return (key << np.int64(POSITION_BITS)) | np.int64(entry)
    return key


def order_of(weights, maximum):
    """The order of entries by their weights, which contain no NaN."""
    is_float, wide = weights.dtype.kind == "f", weights.itemsize == 8
    bits = weights.view(np.int64 if wide else np.int32)
    mask = (2**63 - 1 if wide else 2**31 - 1) if is_float else 0
    base, fits = 0, not wide
    if wide and not is_float and len(weights):
        few = arrays.on_host_if_small(weights)
        least, largest = int(few.min()), int(few.max())
        fits = largest - least < 2**32
        base = least + 2**31 if fits else 0
        if fits and not -(2**63) <= base < 2**63:  # all weights are close to the largest number
            base, fits = 0, False
    return Order(bits, mask, base, int(maximum), int(fits and len(weights) <= MAX_POSITION))


def is_packed(weights):
    """Whether words hold positions; outlines, whose weights are one number in memory, say nothing of it."""
    if weights.itemsize < 8:
        return True
    return not arrays.is_one_number(weights) and order_of(weights, False).packed == 1


def words_of(order, positions=None):
    """The words of all entries of host arrays, or of those at some positions whose bits are given: int64."""
    positions = np.arange(len(order.bits)) if positions is None else positions
    keys = order.bits.astype(np.int64)
    if order.mask:
        keys ^= (keys >> 63) & order.mask
        keys[keys == -1] = 0
    keys -= order.base
    if order.reversed:
        np.invert(keys, out=keys)
    if order.packed:
        keys <<= POSITION_BITS
        keys |= positions
    return keys
