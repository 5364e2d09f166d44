"""Pairs of records found to be duplicates, with string ids and scores: the output of entity resolution.

Consecutive records form an entity, as in :mod:`~edgewise.generators.chains`.  A matching pair has two records
of one entity and scores at least 0.85; any other pair scores below 0.9.  The clusters of the pairs that score
0.9 or more therefore stay within the entities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from edgewise.device import arrays, device, each
from edgewise.errors import OptionError, argument
from edgewise.generators.chains import NONE, REACH, before
from edgewise.generators.limits import check_fraction, check_memory, check_vertices, check_whole, family
from edgewise.generators.random import NAMES, ONE, SCORES, WORD, below, threshold, words
from edgewise.generators.shuffle import order, scramble

if TYPE_CHECKING:
    import pyarrow

#: Records for each pair, where not given: about 6 million of them occur in 10 million pairs.
RECORDS = 0.64
#: Scores are drawn in thousandths, as whole numbers.
WHOLE = 1000
MIN_MATCH, MATCHES = 850, 151
MIN_OTHER, OTHERS = 300, 600
#: An id is an R and 16 hexadecimal digits.
LETTER, DIGITS, LENGTH = 82, 16, 17
#: Offsets of Arrow strings are int32 up to here.
MAX_TEXT = 2**31 - 1


@each
def _pair(pair, seed, records, cut, match, lefts, rights, scores):
    """Draw a record and an earlier one of its entity, or any other one with a lower score."""
    w0, w1, w2, w3 = words(seed, pair, 0, SCORES)
    one = below(w0, w1, records)
    earlier = before(one, REACH, seed, cut)
    v0, v1, v2, v3 = words(seed, pair, 1, SCORES)
    if earlier > NONE and w2 < np.uint64(match):
        other = one - ONE - below(v0, v1, earlier)
        score = MIN_MATCH + np.int64(below(v2, v3, MATCHES))
    else:
        other = below(v0, v1, records)
        height = np.int64(below(v2, v3, OTHERS))
        score = MIN_OTHER + height * height // OTHERS
    lefts[pair], rights[pair] = (one, other) if w3 & ONE else (other, one)
    scores[pair] = score


@device
def _name(record, seed, key):
    """64 bits that no other record has: a shuffle of 32-bit numbers makes the low half unique."""
    w0, _, _, _ = words(seed, record, 0, NAMES)
    return (w0 << WORD) | scramble(np.uint64(record), 32, key)


@each
def _spell(row, seed, key, records, text):
    """Write the id of a row's record into ``text``, ``LENGTH`` bytes a row."""
    name, first = _name(records[row], seed, key), row * LENGTH
    text[first] = LETTER
    for digit in range(DIGITS):
        value = np.int64((name >> np.uint64(4 * digit)) & np.uint64(15))
        text[first + DIGITS - digit] = 48 + value + (39 if value > 9 else 0)


@family
def pairs(
    m: int,
    *,
    records: int | None = None,
    mean_size: float = 3.0,
    matches: float = 0.9,
    seed: int = 0,
    device: str = "cpu",
) -> pyarrow.Table:
    """Make a table of scored pairs of records.

    Parameters
    ----------
    m : int
        Pairs.
    records : int, optional
        Records to draw from, ``0.64 * m`` by default; with many pairs nearly all of them occur.
    mean_size : float
        Mean number of records of an entity.
    matches : float
        Share of the pairs that are drawn within an entity, as far as the first record is not its entity's
        first.
    seed : int
    device : str
        Where the table is computed; it is always returned on the host.

    Returns
    -------
    pyarrow.Table
        Columns ``left_id`` and ``right_id``, strings of 17 characters, and ``score``, float64 from 0.3 to 1
        in steps of 0.001.

    Raises
    ------
    OptionError
        A number out of range.

    Examples
    --------
    >>> import edgewise as ew
    >>> table = ew.generate.pairs(1000)
    >>> table.column_names, len(table["left_id"][0].as_py())
    (['left_id', 'right_id', 'score'], 17)
    """
    m = check_whole("m", m)
    records = check_vertices("records", round(RECORDS * m) + 1 if records is None else records)
    if m and not records:
        raise OptionError(f"{argument('records', 0)} leave nothing to pair; give 1 or more")
    cut = threshold(1 / check_fraction("mean_size", mean_size, least=1.0, most=2.0**32))
    match = threshold(check_fraction("matches", matches))
    check_memory((12 + LENGTH) * m, device)
    lefts, rights = (arrays.empty(m, np.uint32, device) for _ in range(2))
    scores = arrays.empty(m, np.int32, device)
    _pair(m, seed, records, cut, match, lefts, rights, scores)
    return _table(_ids(lefts, seed, device), _ids(rights, seed, device), arrays.move(scores, "cpu") / WHOLE)


def _ids(records, seed, device):
    """Arrow strings of the ids of ``records``."""
    import pyarrow as pa

    count = len(records)
    text = arrays.empty(LENGTH * count, np.uint8, device)
    _, _, key = order(2**32, seed)
    _spell(count, seed, key, records, text)
    kind, width = (pa.string(), np.int32) if text.size <= MAX_TEXT else (pa.large_string(), np.int64)
    offsets = np.arange(count + 1, dtype=width) * LENGTH
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.asarray(arrays.move(text, "cpu")))]
    return pa.Array.from_buffers(kind, count, buffers)


def _table(left, right, scores):
    import pyarrow as pa

    return pa.table({"left_id": left, "right_id": right, "score": scores})
