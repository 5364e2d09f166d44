"""Bits of vectors: the compiled operations are those of the Python bodies."""

import numpy as np
import pytest

from edgewise.device import compiled
from edgewise.primitives.vectors import any_bit, count_bits, of_bytes, union, without, write

pytestmark = pytest.mark.interpreter
read, items = of_bytes(64)


@compiled
def operate(left, right, united, rest, counts):
    """Each operation, on vectors of eight words."""
    for at in range(0, len(left), 8):
        one, other = read(left, at), read(right, at)
        write(united, at, union(one, other))
        write(rest, at, without(one, other))
        counts[at] = count_bits(one)
        counts[at + 1] = 1 if any_bit(one) else 0


def test_bits_of_eight_words():
    assert items(np.uint64) == 8
    draw = np.random.default_rng(1)
    left, right = draw.integers(0, 2**64, (2, 96), dtype=np.uint64)
    left[8:16], left[16:24], right[24:32] = 0, 2**64 - 1, 2**64 - 1
    left[32:40], left[39] = 0, 1 << 63
    united, rest, counts = np.zeros(96, np.uint64), np.zeros(96, np.uint64), np.zeros(96, np.int64)
    operate(left, right, united, rest, counts)
    assert united.tolist() == (left | right).tolist() and rest.tolist() == (left & ~right).tolist()
    for at in range(0, 96, 8):
        assert counts[at] == sum(word.bit_count() for word in left[at : at + 8].tolist())
        assert counts[at + 1] == left[at : at + 8].any()
