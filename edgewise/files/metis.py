"""METIS and Chaco ``.graph`` (also the format of the 10th DIMACS challenge).

Line ``v`` lists the neighbours of vertex ``v``, counted from one, after a header ``n m [fmt [ncon]]``.  The
digits of ``fmt`` say, from the left, whether each line begins with a vertex size (read over), then ``ncon``
vertex weights, and whether every neighbour is followed by the weight of its edge.  See Karypis, "METIS, a
software package for partitioning unstructured graphs", version 5.1, section 4.1.
"""

from dataclasses import dataclass

import numpy as np

from edgewise.errors import FileError
from edgewise.files.record import Rows, numbered_from_one
from edgewise.files.rows import line_of_row, read_rows
from edgewise.files.symmetry import first_lonely, is_symmetric

COMMENTS = b"%"


@dataclass
class Header:
    """First row of the file: ``skip`` lines lie before the rows of the vertices."""

    vertices: int
    edges: int
    sizes: int
    vertex_weights: int
    edge_weights: bool
    skip: int


def read(source, options) -> Rows:
    """Read a METIS graph.

    A file with ``m`` entries in place of ``2 m``, each edge in one row only, is read as directed (some tools
    write such); a size digit that the rows contradict is ignored, as the challenge's own files need.
    """
    options.only("METIS", "weight")
    header = _header(source)
    fields, lengths = _fields(source, header)
    lengths = _one_row_each(source, header, lengths)
    for sizes in dict.fromkeys((header.sizes, 0)):
        header.sizes = sizes
        entries, starts, vertex_weights = _without_prefix(source, header, fields, lengths)
        if entries is not None and len(entries) in _promised(header):
            return _rows(source, header, options, entries, starts, vertex_weights)
    found = len(entries) // (1 + header.edge_weights)
    problem = f"{header.edges} edges need {2 * header.edges} entries, but {found} found"
    raise FileError(source.path, f"{problem}; the file is cut off or the header is wrong", header.skip)


def _header(source) -> Header:
    lines = source.lines(COMMENTS)
    skip = next(
        (i for i, line in enumerate(lines) if line.strip() and line[:1] not in COMMENTS), len(lines) - 1
    )
    words = lines[skip].split() if lines else []
    if not 2 <= len(words) <= 4 or not all(word.isdigit() for word in words):
        raise FileError(
            source.path, "the first row of METIS must be 'n m', 'n m fmt' or 'n m fmt ncon'", skip + 1
        )
    digits = words[2].decode().zfill(3) if len(words) > 2 else "000"
    if len(digits) > 3 or not set(digits) <= {"0", "1"}:
        raise FileError(
            source.path, f"fmt={digits} is unknown to METIS; use up to three digits 0 or 1", skip + 1
        )
    vertex_weights = int(digits[1]) * (int(words[3]) if len(words) > 3 else 1)
    return Header(int(words[0]), int(words[1]), int(digits[0]), vertex_weights, digits[2] == "1", skip + 1)


def _fields(source, header):
    import pyarrow as pa

    try:
        return read_rows(source, header.skip, COMMENTS, "int64")
    except pa.ArrowInvalid as error:
        raise _not_numeric(source, header, error) from error


def _not_numeric(source, header, error):
    import io

    import pyarrow as pa

    from edgewise.files.error_location import first_failing_line, shorten
    from edgewise.files.rows import Counter, parse_fields

    def fails(block):
        try:
            parse_fields(io.BytesIO(Counter(COMMENTS)(block)), "int64")
        except pa.ArrowInvalid:
            return True
        return False

    number, line = first_failing_line(source, fails, header.skip) or (header.skip, b"")
    return FileError(
        source.path, f"a field is not an integer: {shorten(line)}; METIS has whole numbers only", number
    )


def _one_row_each(source, header, lengths):
    """Lengths of exactly one row a vertex; blank lines at the end are no rows."""
    if len(lengths) < header.vertices:
        problem = (
            f"{header.vertices} vertices promised, but only {len(lengths)} rows found; the file is cut off"
        )
        raise FileError(source.path, problem, header.skip)
    extra = np.flatnonzero(lengths[header.vertices :])
    if len(extra):
        line = line_of_row(source, header.skip, COMMENTS, header.vertices + int(extra[0]))
        raise FileError(
            source.path, f"a row beyond the {header.vertices} vertices that the header promises", line
        )
    return lengths[: header.vertices]


def _without_prefix(source, header, fields, lengths):
    """Split the fields into neighbours (with their weights) and vertex weights."""
    prefix = header.sizes + header.vertex_weights
    starts = np.concatenate([[0], np.cumsum(lengths)])
    if not prefix:
        return fields, starts, None
    short = np.flatnonzero(lengths < prefix)
    if len(short) and header.sizes:
        return None, starts, None
    if len(short):
        line = line_of_row(source, header.skip, COMMENTS, int(short[0]))
        raise FileError(source.path, f"{prefix} vertex weights expected at the start of the row", line)
    devices = starts[:-1, None] + np.arange(prefix)
    entry = np.ones(len(fields), bool)
    entry[devices] = False
    weights = fields[devices[:, header.sizes :]] if header.vertex_weights else None
    if weights is not None and header.vertex_weights == 1:
        weights = weights[:, 0]
    return fields[entry], starts - prefix * np.arange(len(starts)), weights


def _promised(header):
    """Numbers of fields that the header allows: every edge in both rows, or in one."""
    each = 1 + header.edge_weights
    return 2 * header.edges * each, header.edges * each


def _rows(source, header, options, entries, starts, vertex_weights):
    weights = None
    if header.edge_weights:
        odd = np.flatnonzero(np.diff(starts) % 2)
        if len(odd):
            line = line_of_row(source, header.skip, COMMENTS, int(odd[0]))
            raise FileError(source.path, "a neighbour without the weight that fmt promises", line)
        entries, weights, starts = entries[::2], entries[1::2], starts // 2
    _check_range(source, header, entries, starts)
    ids = numbered_from_one(header.vertices)
    rows = Rows(starts, entries - 1, weights, len(entries) != 2 * header.edges, ids, vertex_weights)
    if not rows.directed and not options.directed:
        _check_symmetric(source, header, rows)
    if options.weight is False:
        rows.weights = None
    return rows


def _check_range(source, header, entries, starts):
    wrong = np.flatnonzero((entries < 1) | (entries > header.vertices))
    if len(wrong):
        row = int(np.searchsorted(starts, wrong[0], "right")) - 1
        line = line_of_row(source, header.skip, COMMENTS, row)
        problem = f"neighbour {entries[wrong[0]]} is not in 1 .. {header.vertices}; correct it or the header"
        raise FileError(source.path, problem, line)


def _check_symmetric(source, header, rows):
    sources = np.repeat(np.arange(header.vertices), np.diff(rows.offsets))
    if is_symmetric(sources, rows.neighbours, rows.weights):
        return
    row, neighbour = first_lonely(sources, rows.neighbours, rows.weights)
    line = line_of_row(source, header.skip, COMMENTS, row)
    alike = "" if rows.weights is None else " with the same weight"
    problem = f"vertex {row + 1} lists {neighbour + 1}, but not the other way round{alike}"
    raise FileError(source.path, f"{problem}; correct it, or pass directed=True", line)
