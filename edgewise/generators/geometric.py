"""Random geometric graphs and Delaunay triangulations: graphs of random points of the unit square.

The points are numbered cell by cell, so that close points have close ids.  Coordinates are 31-bit fixed-point
numbers: squared distances fit an int64 exactly, and all devices agree on every pair of points.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from edgewise.device import arrays, device, each
from edgewise.errors import OptionError
from edgewise.generators.emit import emit, emitted
from edgewise.generators.limits import check_fraction, check_memory, check_vertices, family
from edgewise.generators.random import MASK, ONE, POINTS, WORD, words
from edgewise.graph import Graph

#: Bits of a coordinate.
BITS = 31
UNIT = 2**BITS
SHIFT = np.uint64(BITS)
#: Mean number of points in a cell of a triangulation; there, cells only order the ids.
POINTS_PER_CELL = 2


class Points(NamedTuple):
    """Points sorted into square cells, which are numbered row by row.

    Attributes
    ----------
    xs, ys : (n,) uint32 arrays, coordinates in units of ``1 / UNIT``
    starts : (side * side + 1,) int64 array, first vertex of each cell
    """

    xs: Any
    ys: Any
    starts: Any


@device
def _point(seed, number):
    w0, w1, _, _ = words(seed, number, 0, POINTS)
    return w0 >> ONE, w1 >> ONE


@each
def _cell_key(point, seed, side, keys):
    """Key of a point: the number of its cell, among rows of ``side`` cells, and its own number."""
    at, cells = np.uint64(point), np.uint64(side)
    x, y = _point(seed, at)
    cell = ((y * cells) >> SHIFT) * cells + ((x * cells) >> SHIFT)
    keys[at] = (cell << WORD) | at


@each
def _locate(vertex, seed, keys, xs, ys):
    x, y = _point(seed, keys[vertex] & MASK)
    xs[vertex], ys[vertex] = x, y


def in_cells(n, side, seed, device):
    """Make ``n`` :class:`Points` and sort them into ``side`` times ``side`` cells."""
    check_memory(32 * n + 16 * side * side, device)
    keys = arrays.empty(n, np.uint64, device)
    _cell_key(n, seed, side, keys)
    keys.sort()
    xs, ys = arrays.empty(n, np.uint32, device), arrays.empty(n, np.uint32, device)
    _locate(n, seed, keys, xs, ys)
    xp = arrays.namespace(device)
    cells = xp.arange(side * side + 1, dtype=np.uint64) << WORD
    starts = xp.searchsorted(keys, cells).astype(np.int64, copy=False)
    return Points(xs, ys, arrays.move(starts, device))


@device
def _emit_near(slot, vertex, first, end, square, points, output):
    """Emit an edge to each of the vertices ``first .. end - 1`` within the radius of ``vertex``."""
    x, y = np.int64(points.xs[vertex]), np.int64(points.ys[vertex])
    for other in range(first, end):
        across, along = np.int64(points.xs[other]) - x, np.int64(points.ys[other]) - y
        if across * across + along * along <= square:
            slot = emit(slot, vertex, other, output)
    return slot


@each
def _join_near(vertex, side, square, points, output):
    """Compare a point with the later points of its own cell and of the four later cells that touch it."""
    row = (np.int64(points.ys[vertex]) * side) >> BITS
    column = (np.int64(points.xs[vertex]) * side) >> BITS
    left, right = max(column - 1, 0), min(column + 2, side)
    here, after = row * side, (row + 1) * side
    slot, end = output.slots[vertex], points.starts[here + right]
    slot = _emit_near(slot, vertex, vertex + 1, end, square, points, output)
    if row + 1 < side:
        first, end = points.starts[after + left], points.starts[after + right]
        slot = _emit_near(slot, vertex, first, end, square, points, output)
    output.slots[vertex] = slot


@family
def rgg(
    n: int,
    *,
    radius: float | None = None,
    mean_degree: float | None = None,
    seed: int = 0,
    device: str = "cpu",
) -> Graph:
    """Make a random geometric graph: random points of the unit square, joined where they are close.

    These are the rgg graphs of the 10th DIMACS Implementation Challenge.  The edges are in ascending order,
    each from the smaller vertex to the larger.

    Parameters
    ----------
    n : int
        Points.
    radius : float, optional
        Points at most this far apart are joined; by default ``0.55 * sqrt(log(n) / n)``, as in the DIMACS
        graphs, which leaves few points out of the large component.
    mean_degree : float, optional
        Choose the radius for this mean degree (a little less comes out, since borders cut circles off).

    Examples
    --------
    >>> import edgewise as ew
    >>> ew.generate.rgg(100, radius=1.0).n_vertices
    100
    """
    n = check_vertices("n", n)
    reach = int(_radius(n, radius, mean_degree) * UNIT)
    side = max(1, min(UNIT // max(reach, 1), math.isqrt(n)))
    points = in_cells(n, side, seed, device)  # cells are no narrower than the radius
    square = min(reach * reach, 2**63 - 1)
    sources, targets = emitted(_join_near, n, device, side, square, points)
    return Graph.from_edges(sources, targets, n_vertices=n)


def _radius(n, radius, mean_degree):
    if radius is not None and mean_degree is not None:
        raise OptionError("radius and mean_degree are both given; give one of them")
    if radius is not None:
        return check_fraction("radius", radius, most=2.0)
    if mean_degree is None:
        return 0.55 * math.sqrt(math.log(max(n, 2)) / max(n, 2))
    mean_degree = check_fraction("mean_degree", mean_degree, most=float(max(n, 1)))
    return math.sqrt(mean_degree / (math.pi * max(n, 1)))


@family
def delaunay(n: int, *, seed: int = 0, device: str = "cpu") -> Graph:
    """Make the Delaunay triangulation of ``n`` random points in the unit square.

    It is planar and has a mean degree just under 6.  SciPy's Qhull computes it on one CPU core, whatever the
    device (about ten seconds for a million points).  The edges are in ascending order, each from the smaller
    vertex to the larger.

    Parameters
    ----------
    n : int
        Points, numbered cell by cell.

    Examples
    --------
    >>> import edgewise as ew
    >>> ew.generate.delaunay(3).n_edges
    3
    """
    n = check_vertices("n", n)
    xs, ys, _ = in_cells(n, math.isqrt(n // POINTS_PER_CELL) + 1, seed, "cpu")
    keys = _triangulated(np.stack([xs, ys], axis=1) / UNIT) if n > 2 else _keys(np.arange(n - 1), 1)
    keys.sort()
    sources, targets = (keys >> 32).astype(np.uint32), (keys & 0xFFFFFFFF).astype(np.uint32)
    return Graph.from_edges(sources, targets, n_vertices=n).to(device)


def _triangulated(points):
    """Keys of the edges; an edge of two triangles is taken from the later of them."""
    from scipy.spatial import Delaunay

    triangulation = Delaunay(points)
    triangles = triangulation.simplices.astype(np.int64)
    later = triangulation.neighbors < np.arange(len(triangles))[:, None]
    edges = [(triangles[later[:, k], k - 1], triangles[later[:, k], k - 2]) for k in range(3)]
    return np.concatenate([_keys(np.minimum(u, v), np.abs(u - v)) for u, v in edges])


def _keys(smaller, apart):
    """One number for each edge, ascending by its smaller and then its larger endpoint."""
    return (smaller << 32) | (smaller + apart)
