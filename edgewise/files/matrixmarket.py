"""Matrix Market ``.mtx``, read by SciPy's parallel reader.

Row ``i`` and column ``j`` of an entry are the endpoints of an edge.  If the matrix is symmetric, declared
or not, the graph is undirected.  See Boisvert, Pozo, Remington, "The Matrix Market exchange formats", NISTIR
5935 (1996).
"""

import re

import numpy as np

from edgewise.errors import FileError
from edgewise.files.contents import Edges, matrix_edges, numbered_from_one
from edgewise.files.streams import one_line, reading
from edgewise.files.write_text import numbers_from_one, write_columns

LOCATED = re.compile(r"^Line (\d+): (.*)$", re.DOTALL)


def read(source, options) -> Edges:
    """Read a square matrix as a graph; stored zeros are edges, those of a dense matrix are not."""
    options.only("Matrix Market", "weight")
    matrix, field = _matrix(source)
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        size = " x ".join(str(extent) for extent in matrix.shape)
        raise source.error(f"the matrix is {size}; only a square matrix is a graph")
    sources, targets, weights = entries_of(source.path, matrix)
    if field == "pattern" or options.weight is False:
        weights = None
    ids = numbered_from_one(matrix.shape[0])
    return matrix_edges((sources, targets, weights), matrix.shape[0], ids, options.directed)


def _matrix(source):
    import scipy.io

    with source.open() as stream, reading(source.path, passing=(ValueError, OverflowError)):
        start = source.head.split(b"\n", 1)[0].decode("latin-1").split()
        field = start[3].lower() if len(start) > 3 else ""
        try:
            return scipy.io.mmread(Readable(stream), spmatrix=False), field
        except (ValueError, OverflowError) as error:
            raise _located(source.path, error) from error


class Readable:
    """A stream as SciPy's reader needs it.

    It ends in a line end, for without one a blank after the last value makes SciPy 1.17 read past its buffer;
    and once closed it is at its end, because the reader reads again when it is destroyed.
    """

    def __init__(self, stream):
        self.stream, self.ended = stream, False

    def read(self, count=-1):
        if self.stream.closed or self.ended:
            return b""
        content = self.stream.read(count)
        self.ended = not content
        return content or b"\n"


def _located(path, error):
    """The error with SciPy's message and line number."""
    located = LOCATED.match(str(error))
    text = one_line(located[2] if located else error).rstrip(".")
    remedy = "only a square matrix is a graph" if "Vector" in text else "correct the file or fetch it again"
    return FileError(path, f"{text}; {remedy}", int(located[1]) if located else None)


def entries_of(path, matrix):
    """Row, column and value of each entry of a matrix, whose values must be real."""
    import scipy.sparse

    matrix = scipy.sparse.coo_array(matrix)
    values = matrix.data
    if values.dtype.kind == "c":
        if values.imag.any():
            raise FileError(path, "the values are complex; write their absolute values")
        values = values.real
    return *matrix.coords, np.ascontiguousarray(values)


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
