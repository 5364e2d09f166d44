"""The graphs of a mesh: the dual graph of its elements and the nodal graph of its nodes."""

import re
from functools import reduce

import numpy as np

from edgewise.errors import GraphError, OptionError, argument
from edgewise.files.contents import check_room
from edgewise.graph import Graph

#: Dimension of each shape, and its faces by the corners, which are the first nodes of an element.
SHAPES: dict = {
    "vertex": (0, []),
    "line": (1, [(0,), (1,)]),
    "triangle": (2, [(0, 1), (1, 2), (2, 0)]),
    "quad": (2, [(0, 1), (1, 2), (2, 3), (3, 0)]),
    "tetra": (3, [(0, 1, 2), (0, 1, 3), (1, 2, 3), (0, 2, 3)]),
    "pyramid": (3, [(0, 1, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]),
    "wedge": (3, [(0, 1, 2), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)]),
    "hexahedron": (
        3,
        [(0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)],
    ),
}


def shape_of(kind) -> str:
    """The shape of a type of elements, such as ``triangle`` of ``triangle6``."""
    return re.sub(r"\d+$", "", kind.lower().removeprefix("vtk_lagrange_"))


def dimension_of(kind) -> int | None:
    """The dimension of a type of elements, or ``None`` if it is unknown."""
    shape = shape_of(kind)
    return 2 if shape == "polygon" else SHAPES[shape][0] if shape in SHAPES else None


def dual_by_faces(blocks, n_nodes) -> Graph:
    """The graph of the elements, with an edge where two of them have the same face.

    ``blocks`` are pairs of a type and the nodes of the elements, a matrix.
    """
    faces, owners, first = [], [], 0
    for kind, nodes in blocks:
        corners = nodes.shape[1]
        cycle = [(corner, (corner + 1) % corners) for corner in range(corners)]
        for face in cycle if shape_of(kind) == "polygon" else SHAPES[shape_of(kind)][1]:
            faces.append(np.sort(nodes[:, list(face)], axis=1))
            owners.append(np.arange(first, first + len(nodes)))
        first += len(nodes)
    width = max((face.shape[1] for face in faces), default=1)
    padded = [np.pad(face, ((0, 0), (width - face.shape[1], 0)), constant_values=-1) for face in faces]
    one, other = _pairs(np.concatenate([np.empty((0, width), np.int64), *padded]), owners, n_nodes)
    return _graph_of_pairs(one, other, first)


def _pairs(faces, owners, n_nodes):
    """Pairs of the owners of equal faces."""
    base = n_nodes + 1
    if base ** faces.shape[1] < 1 << 63:
        key = reduce(lambda key, column: key * base + column + 1, faces.T, np.zeros(len(faces), np.int64))
        order = np.argsort(key)
        change = np.diff(key[order]) != 0
    else:
        order = np.lexsort(faces.T)
        change = (np.diff(faces[order], axis=0) != 0).any(axis=1)
    run = np.concatenate([[0], np.cumsum(change)])[: len(faces)]
    owners = np.concatenate([np.empty(0, np.int64), *owners])[order]
    found = [(owners[:0], owners[:0])]
    for step in range(1, int(np.bincount(run).max(initial=0))):  # a face of several elements has all pairs
        same = run[step:] == run[:-step]
        found.append((owners[:-step][same], owners[step:][same]))
    return tuple(np.concatenate([pair[end] for pair in found]) for end in (0, 1))


def _graph_of_pairs(one, other, n):
    """The graph of pairs of vertices, of which some may be there twice or be loops."""
    low, high = np.minimum(one, other), np.maximum(one, other)
    key = np.sort((low * n + high)[low != high])
    key = key[np.diff(key, prepend=-1) != 0]
    return Graph.from_edges(key // max(n, 1), key % max(n, 1), n_vertices=n)


def dual_by_nodes(offsets, nodes, n_nodes, ncommon) -> Graph:
    """The graph of the elements, with an edge where two of them have ``ncommon`` nodes in common.

    As in METIS all nodes but one of the smaller element are enough.
    """
    check_ncommon(ncommon)
    incidence = _incidence(offsets, nodes, n_nodes)
    common = (incidence @ incidence.T).tocsr()
    rows = np.repeat(np.arange(common.shape[0]), np.diff(common.indptr))
    lengths = np.diff(offsets)
    enough = np.minimum(ncommon, np.minimum(lengths[rows], lengths[common.indices]) - 1)
    kept = (common.data >= np.maximum(enough, 1)) & (rows < common.indices)
    return Graph.from_edges(rows[kept], common.indices[kept].astype(np.int64), n_vertices=len(lengths))


def nodal(offsets, nodes, n_nodes) -> Graph:
    """The graph of the nodes, with an edge where two of them are nodes of one element."""
    incidence = _incidence(offsets, nodes, n_nodes)
    common = (incidence.T @ incidence).tocsr()
    rows = np.repeat(np.arange(n_nodes), np.diff(common.indptr))
    kept = rows < common.indices
    return Graph.from_edges(rows[kept], common.indices[kept].astype(np.int64), n_vertices=n_nodes)


def _incidence(offsets, nodes, n_nodes):
    """Matrix with a row for each element and a one for each of its nodes."""
    from scipy.sparse import csr_matrix

    check_room(n_nodes)
    ones = np.ones(len(nodes), np.int32)
    matrix = csr_matrix((ones, nodes, offsets), shape=(len(offsets) - 1, n_nodes))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def check_ncommon(ncommon):
    """Raise unless ``ncommon`` is a whole number of 1 or more."""
    if isinstance(ncommon, bool) or not isinstance(ncommon, int | np.integer) or ncommon < 1:
        raise OptionError(f"{argument('ncommon', ncommon)} must be a whole number of 1 or more")


def check_nodes(offsets, nodes, n_nodes):
    """Raise unless all nodes of all elements are in ``0 .. n_nodes - 1``."""
    wrong = np.flatnonzero((nodes < 0) | (nodes >= n_nodes))
    if len(wrong):
        element = int(np.searchsorted(offsets, wrong[0], "right")) - 1
        problem = f"element {element} has the node {nodes[wrong[0]]}, which is not in 0 .. {n_nodes - 1}"
        raise GraphError(f"{problem}; correct it")
