"""SciPy sparse matrices to graphs."""

import numpy as np

from edgewise.errors import GraphError


def from_scipy(graph_class, matrix, directed):
    """Make a graph of a square sparse matrix: see :meth:`edgewise.Graph.from_scipy`."""
    import scipy.sparse

    if not scipy.sparse.issparse(matrix):
        raise GraphError(f"a SciPy sparse matrix is needed, not {type(matrix).__name__}")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"the matrix has shape {matrix.shape}; an adjacency matrix is square")
    if matrix.dtype.kind == "c":
        raise GraphError("the matrix is complex; take its real part or absolute values")
    entries = matrix.tocoo()
    weights = None if matrix.dtype.kind == "b" else _plain(entries.data)
    sources, targets = entries.row, entries.col
    symmetric = _is_symmetric(entries)
    if directed is None:
        directed = not symmetric
    if not directed and symmetric:
        upper = sources <= targets
        sources, targets = sources[upper], targets[upper]
        weights = None if weights is None else weights[upper]
    return graph_class.from_edges(
        sources, targets, weights=weights, n_vertices=matrix.shape[0], directed=directed
    )


def _plain(values):
    """Weights of a type edgewise knows."""
    if values.dtype.kind == "f":
        return values.astype(np.float64 if values.itemsize > 4 else np.float32, copy=False)
    return values


def _is_symmetric(entries):
    order = np.lexsort((entries.col, entries.row))
    back = np.lexsort((entries.row, entries.col))
    return (
        np.array_equal(entries.row[order], entries.col[back])
        and np.array_equal(entries.col[order], entries.row[back])
        and np.array_equal(entries.data[order], entries.data[back])
    )
