"""Counters of the rounds of a region, by name.

All workers of a region decide from the same counters, so none may be written while another worker still has
to read it.  There are three sets, which rounds use in turn: while one is written, the one before is read and
the one after is cleared, and one barrier a round is enough.  Counters are :data:`APART` words apart, so that
no two share a cache line.

A page names its counters in a record; :func:`places` gives their places, which are constants in compiled
code::

    class Counters(NamedTuple):
        queued: int
        removed: int


    AT = places(Counters)
    SETS = Rounds(0, words(Counters))
    ...
    turn = set_of(SETS, rounds)
    fetch_add(counters, turn + AT.queued, 1)
"""

from typing import NamedTuple

from edgewise.device import device

#: Words between counters: a cache line and its neighbour, of 8-byte words.
APART = 16


class Rounds(NamedTuple):
    """Three sets of counters."""

    first: int  # place of the first set
    words: int  # words of a set

    @property
    def end(self) -> int:
        """Place after the last set; not in compiled code."""
        return self.first + 3 * self.words


def words(record) -> int:
    """Words that the counters of a record take."""
    return len(record._fields) * APART


def places(record, first=0, apart=APART):
    """Places of the counters of a record, of which the first is at ``first``, and so many words apart."""
    return record(*range(first, first + len(record._fields) * apart, apart))


@device
def set_of(rounds, number):
    """Place of the set that round ``number`` uses."""
    return rounds.first + number % 3 * rounds.words


@device
def set_after(rounds, place):
    """Place of the set that is used after that at ``place``."""
    return rounds.first + (place - rounds.first + rounds.words) % (3 * rounds.words)


@device
def clear_set(rounds, counters, place):
    """Set the counters of a set to zero."""
    for counter in range(place, place + rounds.words, APART):
        counters[counter] = 0
