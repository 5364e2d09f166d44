"""Matrix Market ``.mtx``: a banner, comments, a line of sizes, and a line for each entry or value.

Row ``i`` and column ``j`` of an entry are the endpoints of an edge.  If the matrix is symmetric, declared
or not, the graph is undirected.  The values of a dense matrix come column by column, those of a symmetric
one from the diagonal on.  See Boisvert, Pozo, Remington, "The Matrix Market exchange formats", NISTIR 5935
(1996).
"""

from dataclasses import dataclass, replace

import numpy as np

from edgewise.errors import argument
from edgewise.files.contents import Edges, from_one, matrix_edges, numbered_from_one
from edgewise.files.layout import Layout, count_in
from edgewise.files.text import line_of_row, read_columns, shorten
from edgewise.files.write_text import numbers_from_one, write_columns
from edgewise.index_type import index_type

COMMENTS = b"%"
#: Numbers in a line, and the type of the weights, of each kind of value.
FIELDS = {
    "pattern": (0, "int64"),
    "integer": (1, "int64"),
    "unsigned-integer": (1, "int64"),
    "real": (1, "float64"),
    "double": (1, "float64"),
    "complex": (2, "float64"),
}
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


@dataclass
class Header:
    """Banner and sizes; ``count`` lines are promised after the first ``skip``."""

    dense: bool
    field: str
    symmetry: str
    n: int
    count: int
    skip: int


def read(source, options) -> Edges:
    """Read a square matrix as a graph; stored zeros are edges, those of a dense matrix are not."""
    options.only("Matrix Market")
    header = header_of(source)
    ids = numbered_from_one(header.n)
    entries = _dense(source, header) if header.dense else _sparse(source, header, options.weight is not False)
    rows, columns, values = entries
    if options.weight is False:
        values = None
    if header.symmetry in ("symmetric", "hermitian") and not options.directed:
        return Edges(rows, columns, values, header.n, False, ids)
    if header.symmetry != "general":
        rows, columns, values = _both_triangles(rows, columns, values, header.symmetry)
    return matrix_edges((rows, columns, values), header.n, ids, options.directed)


def header_of(source) -> Header:
    """Banner and sizes of a file."""
    lines = source.lines(COMMENTS)
    banner = next((i for i, line in enumerate(lines) if line.strip()), 0)
    words = lines[banner].decode("latin-1").lower().split()
    form, field, symmetry = words[2:] if len(words) == 5 else ("", "", "")
    valid = words[0].lstrip("%") == "matrixmarket" and words[1:2] == ["matrix"]
    if not (valid and form in ("coordinate", "array") and field in FIELDS and symmetry in SYMMETRIES):
        expected = "'%%MatrixMarket matrix coordinate|array field symmetry' expected"
        raise source.error(f"{expected}, but found {shorten(lines[banner])}; correct the banner", banner + 1)
    dense = form == "array"
    if field == "pattern" and (dense or symmetry not in ("general", "symmetric")):
        raise source.error(f"a pattern has no values, so it cannot be {form} {symmetry}", banner + 1)
    rest = (i for i, line in enumerate(lines) if i > banner and line.strip()[:1] not in (b"", COMMENTS))
    skip = next(rest, len(lines) - 1) + 1
    words = lines[skip - 1].decode("latin-1").split() if skip > banner + 1 else []
    if len(words) != 3 - dense or not all(map(str.isdecimal, words)):
        expected = "rows columns" if dense else "rows columns entries"
        raise source.error(f"the line of sizes must be '{expected}'; correct it", skip)
    rows, columns, *entries = (count_in(source, word, skip) for word in words)
    if rows != columns:
        raise source.error(f"the matrix is {rows} x {columns}; only a square matrix is a graph")
    count = _dense_count(rows, symmetry) if dense else entries[0]
    return Header(dense, field, symmetry, rows, count, skip)


def _dense_count(n, symmetry):
    """Number of values of a dense matrix, of which the upper triangle may be left out."""
    if symmetry == "general":
        return n * n
    return n * (n - 1) // 2 if symmetry == "skew-symmetric" else n * (n + 1) // 2


def _sparse(source, header, weighted):
    """Row, column and value of each entry, from 0 on."""
    numbers, weights = FIELDS[header.field]
    layout = Layout(
        columns=2 + numbers,
        weight=2 if numbers and weighted else None,
        skip=header.skip,
        ids=index_type(header.n).__name__,
        weights=weights,
        whole=weights == "int64",
        comments=COMMENTS,
        min_id=1,
        max_id=header.n,
    )
    rows, columns, values = _columns(source, header, layout)
    return from_one(rows), from_one(columns), values


def _dense(source, header):
    """Row, column and value of each entry that is not zero."""
    numbers, weights = FIELDS[header.field]
    layout = Layout(
        columns=numbers,
        endpoints=(),
        weight=0,
        skip=header.skip,
        weights=weights,
        whole=weights == "int64",
        comments=COMMENTS,
        max_id=header.n,
    )
    (values,) = _columns(source, header, layout)
    places = np.flatnonzero(values)
    if header.symmetry == "general":
        columns, rows = np.divmod(places, header.n)
    else:
        above = int(header.symmetry == "skew-symmetric")
        columns, rows = (ends[places] for ends in np.triu_indices(header.n, above))
    return rows, columns, values[places]


def _columns(source, header, layout):
    """The columns of the layout, of as many lines as the header promises, and without imaginary parts."""
    columns = read_columns(source, layout)
    found = len(columns[0])
    if found > header.count:
        line = line_of_row(source, header.skip, COMMENTS, header.count, blank_rows=False)
        raise source.error(f"a line beyond the {header.count} that the header promises", line)
    if found < header.count:
        problem = f"{header.count} lines promised, but {found} found"
        raise source.error(f"{problem}; the file is cut off or the header is wrong", header.skip)
    if header.field == "complex" and layout.weight is not None:
        imaginary = replace(layout, endpoints=(), weight=layout.weight + 1)
        if read_columns(source, imaginary)[0].any():
            remedy = f"write their absolute values, or pass {argument('weight', False)}"
            raise source.error(f"the values are complex; {remedy}")
    return columns


def _both_triangles(rows, columns, values, symmetry):
    """The entries, and their mirror images."""
    mirrored = rows != columns
    if values is not None:
        image = values[mirrored]
        values = np.concatenate([values, -image if symmetry == "skew-symmetric" else image])
    ends = [rows, columns[mirrored]], [columns, rows[mirrored]]
    return *map(np.concatenate, ends), values


def write(graph, stream) -> None:
    """Write the adjacency matrix: of an undirected graph the lower triangle, declared symmetric."""
    field = "pattern" if graph.weights is None else "real" if graph.weights.dtype.kind == "f" else "integer"
    symmetry = "general" if graph.directed else "symmetric"
    size = f"{graph.n_vertices} {graph.n_vertices} {graph.n_edges}"
    stream.write(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n{size}\n".encode())

    def make(part):
        rows, columns = numbers_from_one(graph.sources[part]), numbers_from_one(graph.targets[part])
        if not graph.directed:
            rows, columns = np.maximum(rows, columns), np.minimum(rows, columns)
        return [rows, columns] if graph.weights is None else [rows, columns, graph.weights[part]]

    write_columns(stream, graph.n_edges, make, " ")
