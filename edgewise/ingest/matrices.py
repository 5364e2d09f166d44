"""Entries of sparse matrices of SciPy and CuPy.

The arrays of a matrix are checked before SciPy converts it, because its compiled loops follow offsets and
indices wherever they lead.
"""

from edgewise.device import arrays
from edgewise.errors import GraphError
from edgewise.ingest.edges import numbers, rows
from edgewise.primitives.rows import row_numbers


def entries_of(matrix):
    """Vertex numbers of row and column, and the value, of each entry of a square sparse matrix."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"the matrix has shape {matrix.shape}; an adjacency matrix is square")
    if matrix.dtype.kind not in "biufc":
        raise GraphError(f"the values of the matrix have type {matrix.dtype}; they must be numbers")
    if matrix.format in ("csr", "csc"):
        return _of_rows(matrix)
    try:
        if matrix.format == "bsr":
            matrix.check_format(full_check=True)
        matrix = matrix.tocoo()
        ends, values = matrix.coords, matrix.data
    except (ValueError, LookupError, TypeError) as error:
        raise GraphError(f"the matrix is damaged ({' '.join(str(error).split())}); build it again") from error
    _check_count(ends[0], ends[1], values)
    return *(numbers(column, matrix.shape[0], name) for column, name in zip(ends, ("row", "col"))), values


def _of_rows(matrix):
    """Entries of a matrix that is stored by rows, or by columns; SciPy allows more memory than they take."""
    _check_count(matrix.indices, matrix.data)
    if matrix.indptr.shape != (matrix.shape[0] + 1,) or matrix.indptr.dtype.kind not in "iu":
        given = f"{matrix.indptr.dtype} of shape {matrix.indptr.shape}"
        raise GraphError(f"the matrix is damaged: its offsets are {given}; build it again")
    count = max(0, int(matrix.indptr[-1]))
    offsets, minor = rows(matrix.indptr, matrix.indices[:count])
    ends = row_numbers(offsets, minor.dtype), minor
    return *(ends if matrix.format == "csr" else ends[::-1]), matrix.data[:count]


def _check_count(*columns):
    if len({column.shape for column in columns}) > 1 or columns[0].ndim != 1:
        shapes = ", ".join(str(column.shape) for column in columns)
        raise GraphError(f"the matrix is damaged: its arrays have the shapes {shapes}; build it again")


def real(values):
    """Values without imaginary parts, which must be zero."""
    if values.dtype.kind != "c":
        return values
    if values.imag.any():
        raise GraphError("the values are complex; take their absolute values")
    return values.real.copy()


def entries_on_gpu(matrix):
    """Vertex numbers of row and column, and the value, of each entry of a matrix of CuPy."""
    n_rows, n_columns = matrix.shape
    if n_rows != n_columns:
        raise GraphError(f"the matrix has shape {matrix.shape}; an adjacency matrix is square")
    matrix = matrix.tocoo()
    with arrays.guard(arrays.device_of(matrix.data)):
        ends = (numbers(column, n_rows, name) for column, name in ((matrix.row, "row"), (matrix.col, "col")))
        return *ends, matrix.data
