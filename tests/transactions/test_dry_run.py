"""The visibility of bodies for which it is known, on every engine."""

import os

import numpy as np
import pytest

from edgewise.device import arrays
from edgewise.device.target import SIMULATED
from edgewise.errors import OptionError
from edgewise.transactions import TransactionalMemory, read, retry, visibility, write

DEVICE = os.environ.get("EDGEWISE_TEST_PLACE", "cuda:0" if SIMULATED else "cpu")
pytestmark = [pytest.mark.interpreter, pytest.mark.simulator]


def access(tx, number, n_read, n_written, first_written):
    """Read some words, and write some, which may be the same ones."""
    for word in range(n_read):
        if read(tx, word) < 0:
            retry(tx)
    for word in range(first_written, first_written + n_written):
        write(tx, word, number)
        read(tx, word)  # of a value of its own, which is not in the memory


def memory_of(n_words, **options):
    return TransactionalMemory(arrays.move(np.arange(n_words), DEVICE), **options)


@pytest.mark.parametrize(
    ("accesses", "expected"),
    [
        ((4, 0, 0), 0),
        ((4, 4, 4), 0),
        ((4, 2, 0), 0.5),
        ((4, 4, 2), 0.5),
        ((4, 4, 0), 1),
        ((0, 4, 0), 0),
        ((50, 10, 0), 0.2),  # more than a log holds at first
    ],
)
def test_visibility(accesses, expected):
    memory = memory_of(60)
    assert visibility(memory, access, 20, *accesses) == expected
    assert arrays.move(memory.words, "cpu").tolist() == list(range(60))


def test_the_protocol_makes_no_difference():
    memory = memory_of(9, protocol="block-nonblocking", slots=2)
    assert visibility(memory, access, 20, 4, 3, 0) == 0.75


def one_of_two(tx, number, picks):
    """Every second transaction writes what it reads."""
    if number % 2:
        write(tx, picks[number], read(tx, picks[number]))
    else:
        read(tx, picks[number])


@pytest.mark.parametrize(("sample", "expected"), [(1, 0), (50, 0), (100, 0.5), (1000, 0.5)])
def test_samples(sample, expected):
    picks = arrays.move(np.arange(100) % 3, DEVICE)
    assert visibility(memory_of(3), one_of_two, 100, picks, sample=sample) == expected


def test_bodies_that_give_up_count():
    memory = TransactionalMemory(arrays.move(np.full(4, -1), DEVICE))
    assert visibility(memory, access, 3, 2, 2, 2) == 0


def test_no_transaction_and_bad_samples():
    assert visibility(memory_of(3), access, 0, 1, 1, 0) == 0
    with pytest.raises(OptionError, match="sample=0 must be a whole number, 1 or more"):
        visibility(memory_of(3), access, 3, 1, 1, 0, sample=0)
