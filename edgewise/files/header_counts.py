"""Edge lists and matrices whose first row counts: ``n m``, or ``rows columns entries`` (``.smat``).

Such a row looks like an edge.  It is taken for a count only if it fits exactly; where it could still be an
edge the file is refused until ``format=`` says which, because a wrong guess would go unnoticed.
"""

import re
from dataclasses import replace

import numpy as np

from edgewise.errors import FileError
from edgewise.files.record import Edges, numbered_from_one
from edgewise.files.symmetry import is_symmetric

#: In shorter lists a first edge looks like a count too easily.
FEWEST = 16
#: A comment that counts edges, as SNAP writes them: then no row does.
DECLARED = re.compile(rb"^[#%].*Edges:\s*(\d+)", re.MULTILINE | re.IGNORECASE)


def read_el1(source, options) -> Edges:
    """Read a list known to begin with ``n m``."""
    from edgewise.files import edgelist

    return edgelist.read(source, options)


def read_smat(source, options) -> Edges:
    """Read a matrix known to begin with ``rows columns entries``, then ``row column [value]`` from 0 on."""
    from edgewise.files.columns import read_columns
    from edgewise.files.edgelist import lay_out, look

    options.only("a matrix", "weight", "null")
    sample = look(source)
    fields = sample.rows[0] if sample.rows else []
    if len(fields) != 3 or not all(field.isdecimal() for field in fields) or fields[0] != fields[1]:
        raise FileError(
            source.path, "the first row must be 'n n m': a square matrix and its entries", sample.skip + 1
        )
    vertices, _, count = (int(field) for field in fields)
    if count == 0:
        return Edges(np.empty(0, np.int64), np.empty(0, np.int64), None, vertices)
    layout = replace(lay_out(source, sample, options, first=1), least=0, most=vertices - 1)
    sources, targets, weights = read_columns(source, layout)
    check_count(source, count, len(sources), sample.skip + 1)
    return matrix_edges(sources, targets, weights, vertices, directed=options.directed)


def matrix_edges(sources, targets, weights, vertices, ids=None, directed=None) -> Edges:
    """Entries of a square matrix, or arcs, as edges.

    If every one stands in both directions with the same weight, and the caller did not ask for ``directed``,
    the graph is undirected and has each edge once.
    """
    if directed or not is_symmetric(sources, targets, weights):
        return Edges(sources, targets, weights, vertices, True, ids)
    lower = sources >= targets
    weights = None if weights is None else weights[lower]
    return Edges(sources[lower], targets[lower], weights, vertices, False, ids)


def check_count(source, promised: int, found: int, line: int) -> None:
    """Raise unless the file holds as many edges as its header promises."""
    if promised != found:
        problem = f"{promised} edges promised, but {found} found; the file is cut off or the header is wrong"
        raise FileError(source.path, problem, line)


def without_count(source, sources, targets, weights, form, header=None) -> Edges | None:
    """Take the first row away if it counts vertices and edges.

    Parameters
    ----------
    form : {'el', 'el1', None}
        What the caller says about the first row.
    header : list of two str, optional
        The first row, if it is not among the arrays because it alone has two fields.

    Returns
    -------
    Edges or None
        ``None`` if the first row is an edge.
    """
    if header is not None:
        counts, rest = [int(field) for field in header], (sources, targets, weights)
    elif form == "el" or len(sources) == 0:
        return None
    else:
        counts = [int(sources[0]), int(targets[0])]
        rest = sources[1:], targets[1:], None if weights is None else weights[1:]
    if form == "el1" or header is not None:
        check_count(source, counts[1], len(rest[0]), 1)
    elif weights is not None:
        return _refuse_smat(source, counts, weights)
    elif not _looks_counted(source, *counts, *rest[:2]):
        return None
    return _numbered(source, counts[0], *rest)


def _refuse_smat(source, ends, weights):
    """Refuse to guess whether a self-loop in the first row is the ``n n m`` of a matrix."""
    if (
        ends[0] == ends[1]
        and len(weights) > 1
        and weights[0] == len(weights) - 1
        and not DECLARED.search(source.head)
    ):
        problem = f"the row '{ends[0]} {ends[1]} {weights[0]:.0f}' may count entries or be an edge"
        raise FileError(source.path, f"{problem}; say which with format='smat' or format='el'", 1)


def _looks_counted(source, vertices, edges, sources, targets):
    """Whether the first row fits as a count; refuses to guess where it fits as an edge too."""
    if edges != len(sources) or edges == 0 or DECLARED.search(source.head):
        return False
    short = len(sources) < FEWEST
    if _numbering(vertices, sources, targets, external=not short) is None:
        return False
    if short or (sources == edges).any() or (targets == edges).any():
        problem = f"the row '{vertices} {edges}' may count vertices and edges or be an edge"
        raise FileError(source.path, f"{problem}; say which with format='el1' or format='el'", 1)
    return True


def _numbering(vertices, sources, targets, external=True):
    """First vertex number if the ends are vertex numbers, -1 if they are ``vertices`` ids, else ``None``."""
    if len(sources) == 0:
        return 0
    least, most = min(sources.min(), targets.min()), max(sources.max(), targets.max())
    if least >= 0 and most < vertices:
        return 0
    if least >= 1 and most <= vertices:
        return 1
    return -1 if external and len(np.unique(np.concatenate([sources, targets]))) == vertices else None


def _numbered(source, vertices, sources, targets, weights):
    first = _numbering(vertices, sources, targets)
    if first is None:
        problem = f"{vertices} vertices promised, but the ends are neither numbers up to that nor so many ids"
        raise FileError(source.path, f"{problem}; correct the header or take it out", 1)
    if first < 0:
        return Edges(sources, targets, weights)
    one = np.int64(first)
    ids = numbered_from_one(vertices) if first else None
    return Edges(sources - one, targets - one, weights, vertices, False, ids)
