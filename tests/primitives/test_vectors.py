"""Arithmetic of vectors, compiled and in the interpreter."""

import numpy as np
import pytest

from edgewise.device import compiled
from edgewise.primitives.vectors import added, chosen, of_bytes, product, quotient, total, write

pytestmark = pytest.mark.interpreter
read, items = of_bytes(128)
N = items(np.float64)


@compiled
def compute(left, right, bits, result):
    """Write all results one behind the other; return a sum."""
    one, other = read(left, 0), read(right, 0)
    write(result, 0, added(one, other))
    write(result, N, product(one, other))
    write(result, 2 * N, quotient(one, other))
    write(result, 3 * N, chosen(one, bits[0]))
    write(result, 4 * N, chosen(one, ~bits[0]))
    return total(one)


@pytest.mark.parametrize("bits", [0, 1, 0b1010_0000_0000_0011, 2**16 - 1])
def test_items_are_those_of_arrays(bits):
    left, right = np.random.default_rng(bits).random((2, N))
    left[3], right[5] = np.inf, 0
    result, flags = np.empty(5 * N), (bits >> np.arange(N) & 1).astype(bool)
    found = compute(left, right, np.array([bits], np.uint16), result)
    with np.errstate(divide="ignore"):
        wanted = left + right, left * right, left / right, np.where(flags, left, 0), np.where(flags, 0, left)
    assert result.tobytes() == np.concatenate(wanted).tobytes() and found == np.inf


def test_sums_are_added_up_by_halves():
    values = np.random.default_rng(1).random(N)
    halves = values
    while len(halves) > 1:
        halves = halves[: len(halves) // 2] + halves[len(halves) // 2 :]
    found = compute(values, values, np.zeros(1, np.uint16), np.empty(5 * N))
    assert found == halves[0] == pytest.approx(values.sum())
