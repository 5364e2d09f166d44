"""Edges in one argument: an array or tensor of two columns or two rows, or a list of pairs."""

import numpy as np

from edgewise.device import arrays
from edgewise.errors import GraphError, argument
from edgewise.ingest.columns import as_array


def two_columns(edges):
    """Sources and targets of edges of shape (m, 2) or (2, m), on their device; or of a list of pairs."""
    if isinstance(edges, list | tuple) and edges and all(isinstance(pair, tuple) for pair in edges):
        return _of_pairs(edges)
    if hasattr(edges, "__cuda_array_interface__"):
        edges = arrays.adopt(edges)
    elif not isinstance(edges, np.ndarray):
        edges = np.from_dlpack(edges) if hasattr(edges, "__dlpack__") else as_array(edges, "edges")
    shape = edges.shape
    if len(shape) != 2 or 2 not in shape:
        if shape == (0,):
            return edges, edges
        problem = f"edges have shape {shape}; two columns (m, 2) or two rows (2, m) are needed"
        raise GraphError(f"{problem}, or {argument('targets')}")
    if shape == (2, 2):
        problem = "edges of shape (2, 2) are two columns or two rows"
        raise GraphError(f"{problem}; give the two as {argument('sources')} and {argument('targets')}")
    return (edges[0], edges[1]) if shape[0] == 2 else (edges[:, 0], edges[:, 1])


def _of_pairs(pairs):
    wrong = next((position for position, pair in enumerate(pairs) if len(pair) != 2), None)
    if wrong is not None:
        problem = f"edge {wrong} is {pairs[wrong]!r}, not a pair of ids"
        raise GraphError(f"{problem}; give weights as {argument('weights')}, in a list of their own")
    return [source for source, _ in pairs], [target for _, target in pairs]
