"""Edge lists and matrices whose first row counts: ``n m``, or ``rows columns entries`` (``.smat``).

Such a row looks like an edge.  It is taken for a count only if it fits exactly; where it could still be an
edge the file is refused until ``format=`` decides, because nobody would notice a wrong guess.
"""

import re
from dataclasses import replace

import numpy as np

from edgewise.errors import argument
from edgewise.files.contents import Edges, check_count, matrix_edges, numbered_from_one
from edgewise.files.layout import Sample, are_integers, lay_out, look
from edgewise.files.text import read_columns

#: In shorter lists a first edge looks like a count too easily.
MIN_EDGES = 16
#: A comment that counts edges, as SNAP writes them: then no row does.
DECLARED = re.compile(rb"^[#%].*Edges:\s*(\d+)", re.MULTILINE | re.IGNORECASE)


def read_smat(source, options) -> Edges:
    """Read a matrix known to begin with ``rows columns entries``, then ``row column [value]`` from 0 on."""
    options.only("a matrix", "weight", "null")
    sample = look(source)
    fields = sample.rows[0] if sample.rows else []
    line = sample.skip + 1
    if len(fields) != 3 or not all(field.isdecimal() for field in fields) or fields[0] != fields[1]:
        raise source.error("the first row must be 'n n m': a square matrix and its entries", line)
    vertices, _, count = (int(field) for field in fields)
    if count == 0:
        return Edges(np.empty(0, np.int64), np.empty(0, np.int64), None, vertices)
    layout = replace(lay_out(source, sample, options, first=1), min_id=0, max_id=vertices - 1)
    entries = read_columns(source, layout)
    check_count(source, count, len(entries[0]), line)
    return matrix_edges(entries, vertices, directed=options.directed)


def has_count(sample: Sample) -> bool:
    """Whether the first row has two numbers where all others have three fields: it can only be a count."""
    first, rest = sample.rows[0], sample.rows[1:]
    single = len(rest) == 1 and first[1:] != ["1"]
    return len(first) == 2 and are_integers(first) and not single and {*map(len, rest)} == {3}


def without_count(source, columns, form, header=None) -> Edges | None:
    """Take the first row away if it counts vertices and edges; ``None`` if it is an edge.

    ``form`` is the caller's word on the first row: ``'el'``, ``'el1'`` or ``None``.  ``header`` is the first
    row, if it is not among the columns because it alone has two fields.
    """
    sources, targets, weights = columns
    if header is not None:
        counts, rest = [int(field) for field in header], columns
    elif form == "el" or len(sources) == 0:
        return None
    else:
        counts = [int(sources[0]), int(targets[0])]
        rest = [None if column is None else column[1:] for column in columns]
    if form == "el1" or header is not None:
        check_count(source, counts[1], len(rest[0]), 1)
    elif weights is not None:
        return _refuse_smat(source, counts, weights)
    elif not _looks_counted(source, *counts, *rest[:2]):
        return None
    return _numbered(source, counts[0], *rest)


def _refuse_smat(source, endpoints, weights):
    """Refuse to guess whether a self-loop in the first row is the ``n n m`` of a matrix."""
    if (
        endpoints[0] == endpoints[1]
        and len(weights) > 1
        and weights[0] == len(weights) - 1
        and not DECLARED.search(source.head)
    ):
        row = f"{endpoints[0]} {endpoints[1]} {weights[0]:.0f}"
        raise _ambiguous(source, f"the row '{row}' may count entries or be an edge", "smat")


def _looks_counted(source, vertices, edges, sources, targets):
    """Whether the first row fits as a count; refuses to guess where it fits as an edge too."""
    if edges != len(sources) or edges == 0 or DECLARED.search(source.head):
        return False
    short = len(sources) < MIN_EDGES
    if _first_number(vertices, sources, targets, external=not short) is None:
        return False
    if short or (sources == edges).any() or (targets == edges).any():
        row = f"{vertices} {edges}"
        raise _ambiguous(source, f"the row '{row}' may count vertices and edges or be an edge", "el1")
    return True


def _ambiguous(source, problem, form):
    choice = f"{argument('format', form)} or {argument('format', 'el')}"
    return source.error(f"{problem}; say which with {choice}", 1)


def _first_number(vertices, sources, targets, external=True):
    """First vertex number if the endpoints are numbers, -1 if they are ``vertices`` ids, else ``None``."""
    if len(sources) == 0:
        return 0
    least, most = min(sources.min(), targets.min()), max(sources.max(), targets.max())
    if least >= 0 and most < vertices:
        return 0
    if least >= 1 and most <= vertices:
        return 1
    return -1 if external and len(np.unique(np.concatenate([sources, targets]))) == vertices else None


def _numbered(source, vertices, sources, targets, weights):
    first = _first_number(vertices, sources, targets)
    if first is None:
        problem = f"{vertices} vertices promised, but the ids are neither numbers up to that nor so many ids"
        raise source.error(f"{problem}; correct the header or take it out", 1)
    if first < 0:
        return Edges(sources, targets, weights)
    one = np.int64(first)
    ids = numbered_from_one(vertices) if first else None
    return Edges(sources - one, targets - one, weights, vertices, False, ids)
