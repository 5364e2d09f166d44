"""Sparse matrices of SciPy and CuPy, and graphs of python-igraph, as graphs, and graphs as matrices.

igraph is used by the methods of its graphs, and not imported.  The arrays of a matrix are checked before
SciPy converts it, because its compiled loops follow offsets and indices wherever they lead.
"""

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError, argument, one_of
from edgewise.ingest.edges import numbers, row_numbers, rows
from edgewise.ingest.symmetry import is_symmetric
from edgewise.primitives import pack

#: What the weights are called that are taken from a matrix without being asked for.
VALUES = "the values of the matrix"


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


def from_scipy(graph_class, matrix, directed, weight=None):
    """Make a graph of a square sparse matrix: see :meth:`edgewise.Graph.from_scipy`."""
    import scipy.sparse

    on_gpu = type(matrix).__module__.startswith("cupyx.")
    if not (on_gpu or scipy.sparse.issparse(matrix)):
        kind = type(matrix).__name__
        raise GraphError(f"a SciPy sparse matrix is needed, not {kind}; use scipy.sparse.coo_array(matrix)")
    if matrix.dtype.kind == "c":
        raise GraphError("the matrix is complex; take its real part or absolute values")
    sources, targets, values = _entries_on_gpu(matrix) if on_gpu else entries_of(matrix)
    weights = values if weight or (weight is None and values.dtype.kind != "b") else None
    if weights is not None and weights.dtype.kind == "b":
        weights = weights.astype(np.int64)
    with arrays.guard(arrays.device_of(sources)):
        symmetric = is_symmetric(sources, targets, weights)
        if directed is None:
            directed = not symmetric
        if not directed and symmetric:
            sources, targets, weights = pack(sources <= targets, sources, targets, weights)
    options = {"n_vertices": matrix.shape[0], "directed": directed}
    graph = graph_class.from_edges(sources, targets, weights=weights, **options)
    graph.assumed_weights = VALUES if weight is None and weights is not None else None
    return graph


def _entries_on_gpu(matrix):
    """Vertex numbers of row and column, and the value, of each entry of a matrix of CuPy."""
    n_rows, n_columns = matrix.shape
    if n_rows != n_columns:
        raise GraphError(f"the matrix has shape {matrix.shape}; an adjacency matrix is square")
    matrix = matrix.tocoo()
    with arrays.guard(arrays.device_of(matrix.data)):
        ends = (numbers(column, n_rows, name) for column, name in ((matrix.row, "row"), (matrix.col, "col")))
        return *ends, matrix.data


def to_scipy(graph):
    """The adjacency matrix of a graph as a SciPy array: see :meth:`edgewise.Graph.to_scipy`."""
    from scipy.sparse import csr_array

    offsets, neighbours = (arrays.move(array, "cpu") for array in (graph.offsets, graph.neighbours))
    weights = None if graph.csr_weights is None else arrays.move(graph.csr_weights, "cpu")
    n = graph.n_vertices
    small = max(n, len(neighbours)) < 2**31
    kind = np.int32 if small else np.int64
    values = np.ones(len(neighbours), np.int64) if weights is None else weights
    return csr_array((values, neighbours.astype(kind), offsets.astype(kind)), shape=(n, n))


def from_igraph(graph_class, graph, weight, ids):
    """Make a graph of an igraph graph: see :meth:`edgewise.Graph.from_igraph`."""
    for name in ("vcount", "get_edgelist", "is_directed", "vs", "es"):
        if not hasattr(graph, name):
            raise GraphError(f"an igraph.Graph is needed, not {type(graph).__name__}")
    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    if ids is None and "name" in graph.vs.attributes():
        ids = "name"
    made = graph_class.from_edges(
        ends[:, 0],
        ends[:, 1],
        weights=None if weight is None else _attribute(graph.es, "weight", weight),
        n_vertices=graph.vcount(),
        directed=graph.is_directed(),
    )
    if ids is not None:
        from edgewise.ingest.ids import ids_of_vertices

        made.ids = ids_of_vertices(_attribute(graph.vs, "ids", ids), made.n_vertices)
    made.weight_name = weight
    return made


def _attribute(items, option, name):
    """Values of an attribute of the vertices or edges."""
    if name not in items.attributes():
        known = items.attributes()
        remedy = one_of(name, known) if known else "the graph has no such attributes"
        raise GraphError(f"{argument(option, name)} is no attribute; {remedy}")
    return items[name]
