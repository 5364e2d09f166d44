"""Families whose vertices form known components, and pairs of records that form such entities.

A component has consecutive vertices.  One begins at vertex 0 and at every vertex whose first random
word is below a threshold, so that the sizes of components are geometric.  A vertex that begins no component
is joined to an earlier vertex of its own.  The components are therefore known beforehand.

:func:`pairs` makes the output of entity resolution: pairs of records found to be duplicates, with string ids
and scores.  A matching pair has two records of one entity and scores at least 0.85; any other pair scores
below 0.9.  The clusters of the pairs that score 0.9 or more therefore stay within the entities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from edgewise.device import arrays, device, each
from edgewise.errors import OptionError, argument
from edgewise.generators.emit import emit, emitted
from edgewise.generators.limits import check_fraction, check_memory, check_vertices, check_whole, family
from edgewise.generators.random import BRANCHES, EDGES, NAMES, ONE, SCORES, WORD, below, threshold, words
from edgewise.generators.shuffle import order, restored, scramble, shuffled
from edgewise.graph import Graph

if TYPE_CHECKING:
    import pyarrow

#: Largest distance to an earlier vertex of the component.
REACH = np.uint64(64)
#: The number 0 as uint64: no steps, or no earlier vertex.
NONE = np.uint64(0)
#: The number 2 as uint64.
TWO = np.uint64(2)
#: Records for each pair, where not given: about 6 million of them occur in 10 million pairs.
RECORDS = 0.64
#: Scores are drawn in thousandths, as whole numbers.
WHOLE = 1000
#: Least score of a match, in thousandths.
MIN_MATCH = 850
#: Number of different scores of matches, which are uniform.
MATCHES = 151
#: Least score of other pairs, in thousandths.
MIN_OTHER = 300
#: Thousandths by which scores of other pairs may exceed their least score; low scores are more frequent.
OTHERS = 600
#: Byte with which an id begins: an R.
LETTER = 82
#: Hexadecimal digits of an id, after the R.
DIGITS = 16
#: Bytes of an id.
LENGTH = 17
#: Offsets of Arrow strings are int32 up to here.
MAX_TEXT = 2**31 - 1


@device
def before(vertex, reach, seed, cut):
    """Number of vertices directly before ``vertex`` (uint64) in its component, at most ``reach``."""
    steps, limit = NONE, np.uint64(cut)
    while steps < reach and steps < vertex and words(seed, vertex - steps, 0, EDGES)[0] >= limit:
        steps = steps + ONE
    return steps


@each
def _attach(vertex, seed, cut, shuffle, output):
    """Join a vertex to a random earlier one of its component."""
    here = restored(vertex, shuffle)
    earlier, slot = before(here, REACH, seed, cut), output.slots[vertex]
    if earlier > NONE:
        _, _, w2, w3 = words(seed, here, 0, EDGES)
        other = here - ONE - below(w2, w3, earlier)
        slot = emit(slot, vertex, shuffled(other, shuffle), output)
    output.slots[vertex] = slot


@family
def components(
    n: int, *, mean_size: float = 3.0, shuffle: bool = False, seed: int = 0, device: str = "cpu"
) -> Graph:
    """Make a graph of many small components, each a random tree; they are ``n_vertices - n_edges``.

    This is the shape of deduplicated records, most of which have no or few duplicates.

    Parameters
    ----------
    n : int
        Vertices.
    mean_size : float
        Mean number of vertices in a component; sizes are geometric, 1 being the most frequent.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.generate.components(3000)
    >>> 900 < graph.n_vertices - graph.n_edges < 1100
    True
    """
    n = check_vertices("n", n)
    cut = threshold(1 / check_fraction("mean_size", mean_size, least=1.0, most=2.0**32))
    edges = emitted(_attach, n, device, seed, cut, order(n, seed, shuffle))
    return Graph.from_edges(*edges, n_vertices=n)


@each
def _extend(vertex, seed, cut, branch, shuffle, output):
    """Join a vertex to the one before it on its path and, now and then, to one a little further back."""
    here, slot = restored(vertex, shuffle), output.slots[vertex]
    w0, _, w2, w3 = words(seed, here, 0, BRANCHES)
    branches = w0 < np.uint64(branch)
    earlier = before(here, REACH if branches else ONE, seed, cut)
    if earlier > NONE:
        slot = emit(slot, vertex, shuffled(here - ONE, shuffle), output)
    if branches and earlier > ONE:
        other = here - TWO - below(w2, w3, earlier - ONE)
        slot = emit(slot, vertex, shuffled(other, shuffle), output)
    output.slots[vertex] = slot


@family
def paths(
    n: int,
    *,
    mean_length: float = 1000.0,
    branches: float = 0.05,
    shuffle: bool = False,
    seed: int = 0,
    device: str = "cpu",
) -> Graph:
    """Make a graph of long paths, each a component, with a few branches that close small loops.

    This is the shape of the k-mer graphs of genome assembly; the mean degree is just over 2.

    Parameters
    ----------
    n : int
        Vertices.
    mean_length : float
        Mean number of vertices on a path; lengths are geometric.
    branches : float
        Share of the vertices with a further edge, to a vertex at most 64 back on the same path.

    Examples
    --------
    >>> import edgewise as ew
    >>> graph = ew.generate.paths(10_000, branches=0)
    >>> int(graph.degrees().max())
    2
    """
    n = check_vertices("n", n)
    cut = threshold(1 / check_fraction("mean_length", mean_length, least=1.0, most=2.0**32))
    branch = threshold(check_fraction("branches", branches))
    edges = emitted(_extend, n, device, seed, cut, branch, order(n, seed, shuffle))
    return Graph.from_edges(*edges, n_vertices=n)


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

    Returns
    -------
    pyarrow.Table
        Columns ``left_id`` and ``right_id``, strings of 17 characters, and ``score``, float64 from 0.3 to 1
        in steps of 0.001; always on the host, wherever it is computed.

    Examples
    --------
    >>> import edgewise as ew
    >>> table = ew.generate.pairs(1000)
    >>> table.column_names, len(table["left_id"][0].as_py())
    (['left_id', 'right_id', 'score'], 17)
    """
    import pyarrow as pa

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
    left, right = _ids(lefts, seed, device), _ids(rights, seed, device)
    return pa.table({"left_id": left, "right_id": right, "score": arrays.move(scores, "cpu") / WHOLE})


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
